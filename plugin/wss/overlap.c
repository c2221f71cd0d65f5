/* SPDX-License-Identifier: MIT */
#include "wss/overlap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "common/log.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"

#define PLUGIN "wss"

/* --- The rule ------------------------------------------------------------- */

enum overlap {
    APART,
    SAME_PROCESS, /* by their configuration */
    BOTH_DAMON,
    SYSTEM,
    NESTED,            /* one cgroup lies within the other */
    PROCESS_IN_CGROUP, /* of one in that of the other */
    SHARED_PROCESS,
};

static bool is_same_choice(const struct wss_target *a, const struct wss_target *b)
{
    const struct hr_process_choice *one = &a->processes, *other = &b->processes;

    if (a->scope != HR_WSS_PROCESSES || b->scope != HR_WSS_PROCESSES || one->by != other->by)
        return false;
    return one->by == HR_PROCESS_BY_PID ? one->pid == other->pid
                                        : strcmp(one->text, other->text) == 0;
}

static bool has_process(const struct wss_overlap_entry *entry, pid_t pid, uint64_t started_ticks)
{
    for (size_t i = 0; i < entry->member_count; i++)
        if (entry->members[i].pid == pid && entry->members[i].started_ticks == started_ticks)
            return true;
    return false;
}

static bool have_process_in_common(const struct wss_overlap_entry *a,
                                   const struct wss_overlap_entry *b)
{
    for (size_t i = 0; i < a->member_count; i++)
        if (has_process(b, a->members[i].pid, a->members[i].started_ticks))
            return true;
    return false;
}

static bool have_process_within(const struct wss_overlap_entry *entry,
                                const struct wss_overlap_entry *group)
{
    const char *end = entry->paths + entry->paths_length;

    for (const char *path = entry->paths; path < end; path += strlen(path) + 1)
        if (group->path != NULL && hr_cgroup_is_within(path, group->path))
            return true;
    return false;
}

/* The same, as the group's files have it. */
static bool lists_process_of(const struct hr_root *root, const struct wss_overlap_entry *group,
                             const struct wss_overlap_entry *entry)
{
    struct hr_process_list list = {0};
    bool found = false;
    int dirfd = group->cgroup != NULL ? hr_cgroup_openat(group->cgroup, ".", O_RDONLY | O_DIRECTORY)
                                      : -ENOENT;

    if (dirfd < 0)
        return false;
    hr_process_list_find_in_cgroup(root, dirfd, &list);
    for (size_t i = 0; i < list.count && !found; i++)
        found = has_process(entry, list.items[i].pid, list.items[i].started_ticks);
    hr_process_list_free(&list);
    close(dirfd);
    return found;
}

static bool is_process_in_cgroup(const struct hr_root *namespaced,
                                 const struct wss_overlap_entry *entry,
                                 const struct wss_overlap_entry *group)
{
    return namespaced != NULL ? lists_process_of(namespaced, group, entry)
                              : have_process_within(entry, group);
}

static bool are_nested(const struct wss_overlap_entry *a, const struct wss_overlap_entry *b)
{
    return a->path != NULL && b->path != NULL &&
           (hr_cgroup_is_within(a->path, b->path) || hr_cgroup_is_within(b->path, a->path));
}

static bool disturbs(const struct wss_overlap_entry *entry)
{
    return wss_target_disturbs(entry->target, entry->method);
}

/* Whether two targets spoil each other, as far as what they have is known: of patterns it isn't
 * their paths, of the configuration not their processes. `namespaced` is the guard's. */
static enum overlap find_overlap(const struct hr_root *namespaced,
                                 const struct wss_overlap_entry *a,
                                 const struct wss_overlap_entry *b)
{
    const enum hr_wss_scope one = a->target->scope, other = b->target->scope;

    if (is_same_choice(a->target, b->target))
        return SAME_PROCESS;
    if (!disturbs(a) || !disturbs(b))
        return APART;
    if (a->method == HR_WSS_DAMON && b->method == HR_WSS_DAMON)
        return BOTH_DAMON;
    if (one == HR_WSS_SYSTEM || other == HR_WSS_SYSTEM)
        return SYSTEM;
    if (one == HR_WSS_CGROUP && other == HR_WSS_CGROUP)
        return are_nested(a, b) ? NESTED : APART;
    if (one == HR_WSS_PROCESSES && other == HR_WSS_PROCESSES)
        return have_process_in_common(a, b) ? SHARED_PROCESS : APART;
    return is_process_in_cgroup(namespaced, one == HR_WSS_CGROUP ? b : a,
                                one == HR_WSS_CGROUP ? a : b)
               ? PROCESS_IN_CGROUP
               : APART;
}

/* --- In the configuration ------------------------------------------------- */

#define EACH_CLEARS "each would clear the accessed bits that the other counts"

static const char *const causes[] = {
    [SAME_PROCESS] = "they are the same process",
    [BOTH_DAMON] = "the kernel can serve only one user of DAMON at a time",
    [SYSTEM] = "the system includes the memory of all others, and " EACH_CLEARS,
    [NESTED] = "one lies within the other, and " EACH_CLEARS,
};

/* One path twice is one group. */
static const char *explain_overlap(const struct wss_target *a, const struct wss_target *b)
{
    static const char wildcards[] = "*?[";
    const struct wss_overlap_entry one = {
        .target = a,
        .method = a->method,
        .path = strpbrk(a->label, wildcards) == NULL ? a->label : NULL,
    };
    const struct wss_overlap_entry other = {
        .target = b,
        .method = b->method,
        .path = strpbrk(b->label, wildcards) == NULL && strcmp(a->label, b->label) != 0 ? b->label
                                                                                        : NULL,
    };

    return causes[find_overlap(NULL, &one, &other)];
}

static void print_block(const struct wss_target *target, char *buffer, size_t size)
{
    if (target->scope == HR_WSS_SYSTEM)
        snprintf(buffer, size, "<System>");
    else
        snprintf(buffer, size, "<%s \"%s\">", target->scope == HR_WSS_CGROUP ? "Cgroup" : "Process",
                 target->label);
}

static int log_refusal(const struct wss_target *a, const struct wss_target *b, const char *why)
{
    char one[256], other[256];

    print_block(a, one, sizeof(one));
    print_block(b, other, sizeof(other));
    ERROR(PLUGIN ": %s and %s can't both be measured: %s. Remove one of them.", one, other, why);
    return -1;
}

static int check_against(const struct wss_target *target, const struct wss_target *others,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *why = explain_overlap(&others[i], target);
        if (why != NULL)
            return log_refusal(&others[i], target, why);
    }
    return 0;
}

int wss_overlap_check(const struct wss_targets *targets)
{
    for (size_t i = 0; i < targets->block_count; i++)
        if (check_against(&targets->blocks[i], targets->blocks, i) < 0)
            return -1;
    for (size_t i = 0; i < targets->pattern_count; i++)
        if (check_against(&targets->patterns[i], targets->blocks, targets->block_count) < 0 ||
            check_against(&targets->patterns[i], targets->patterns, i) < 0)
            return -1;
    return 0;
}

/* --- Processes and where they are ----------------------------------------- */

static int append_path(struct wss_overlap_entry *entry, const char *path)
{
    size_t length = strlen(path) + 1;

    if (HR_ARRAY_RESERVE(entry->paths, entry->paths_capacity, entry->paths_length + length) < 0)
        return -ENOMEM;
    memcpy(entry->paths + entry->paths_length, path, length);
    entry->paths_length += length;
    return 0;
}

static int append_member(struct wss_overlap_entry *entry, const struct hr_process *process)
{
    if (HR_ARRAY_RESERVE(entry->members, entry->member_capacity, entry->member_count + 1) < 0)
        return -ENOMEM;
    entry->members[entry->member_count++] =
        (struct wss_member){process->pid, process->started_ticks};
    return 0;
}

static int add_process(const struct wss_overlap_guard *guard, struct wss_overlap_entry *entry,
                       const struct hr_process *process)
{
    char path[PATH_MAX] = "";

    int status = append_member(entry, process);
    if (status < 0 || !guard->has_cgroups)
        return status;
    status = hr_process_read_cgroup(process, path, sizeof(path));
    /* One outside shows by its path, at least, when it has changed. */
    bool is_known = status == 0 || (guard->namespaced != NULL && status == -ENOENT);
    return is_known ? append_path(entry, path) : 0;
}

/* Hashes the processes and their cgroups, to detect changes. */
static uint64_t hash_processes(const struct wss_overlap_entry *entry)
{
    uint64_t sum = 14695981039346656037u;

    for (size_t i = 0; i < entry->member_count; i++) {
        const struct wss_member *member = &entry->members[i];
        sum ^= (uint64_t)member->pid ^ member->started_ticks << 22;
        sum *= 1099511628211u;
    }
    for (size_t i = 0; i < entry->paths_length; i++)
        sum = (sum ^ (unsigned char)entry->paths[i]) * 1099511628211u;
    return sum;
}

/* --- At runtime ----------------------------------------------------------- */

/* In a cgroup namespace, as containers have, /proc names all groups from its top: that of init,
 * which is in no container, lies outside. */
static bool is_in_namespace(const struct hr_root *root)
{
    struct hr_process init;
    char path[PATH_MAX];

    if (hr_process_open(root, 1, &init) < 0)
        return false;
    int status = hr_process_read_cgroup(&init, path, sizeof(path));
    hr_process_close(&init);
    return status == -ENOENT;
}

void wss_overlap_guard_init(struct wss_overlap_guard *guard, const struct hr_root *root,
                            bool has_several_targets, bool has_cgroups)
{
    *guard = (struct wss_overlap_guard){
        .has_several_targets = has_several_targets, .has_cgroups = has_cgroups, .generation = 1};
    if (has_several_targets && has_cgroups && is_in_namespace(root))
        guard->namespaced = root;
    TAILQ_INIT(&guard->entries);
}

void wss_overlap_set_processes(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry,
                               const struct hr_process_list *processes)
{
    if (!guard->has_several_targets)
        return;
    uint64_t before = hash_processes(entry);
    entry->member_count = entry->paths_length = 0;
    for (size_t i = 0; i < processes->count; i++)
        if (add_process(guard, entry, &processes->items[i]) < 0)
            break; /* it is compared by those that there was memory for */
    if (hash_processes(entry) == before)
        return;
    entry->checked = 0;
    if (entry->is_entered)
        guard->generation++;
}

static void insert_entry(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry)
{
    if (!entry->is_entered) {
        TAILQ_INSERT_TAIL(&guard->entries, entry, link);
        entry->is_entered = true;
        guard->generation++;
    }
    entry->checked = guard->generation;
}

const struct wss_overlap_entry *wss_overlap_enter(struct wss_overlap_guard *guard,
                                                  struct wss_overlap_entry *entry)
{
    const struct wss_overlap_entry *other;

    if (!guard->has_several_targets || (entry->is_entered && entry->checked == guard->generation))
        return NULL;
    TAILQ_FOREACH(other, &guard->entries, link)
    if (other != entry && find_overlap(guard->namespaced, entry, other) != APART) {
        wss_overlap_leave(guard, entry);
        return other;
    }
    insert_entry(guard, entry);
    return NULL;
}

void wss_overlap_leave(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry)
{
    if (!entry->is_entered)
        return;
    TAILQ_REMOVE(&guard->entries, entry, link);
    entry->is_entered = false;
    guard->generation++;
}

int wss_overlap_explain(const struct wss_overlap_guard *guard,
                        const struct wss_overlap_entry *entry,
                        const struct wss_overlap_entry *other, struct hr_reason *reason)
{
    const char *how = "it is part of the memory of";

    switch (find_overlap(guard->namespaced, entry, other)) {
    case BOTH_DAMON:
        snprintf(reason->text, sizeof(reason->text),
                 "DAMON can serve only one target, which is %.200s: choose another method",
                 other->label);
        return reason->error = -EEXIST;
    case NESTED:
        how = hr_cgroup_is_within(entry->path, other->path) ? "it lies within the cgroup"
                                                            : "it contains the cgroup";
        break;
    case PROCESS_IN_CGROUP:
        how = entry->target->scope == HR_WSS_CGROUP ? "it contains a process of"
                                                    : "one of its processes lies within the cgroup";
        break;
    case SAME_PROCESS:
    case SHARED_PROCESS:
        how = "one of its processes is also one of";
        break;
    case APART:
    case SYSTEM:
        break;
    }
    snprintf(reason->text, sizeof(reason->text),
             "%s %.200s, which is measured already, and " EACH_CLEARS ": choose one of them", how,
             other->label);
    return reason->error = -EEXIST;
}

void wss_overlap_entry_free(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry)
{
    wss_overlap_leave(guard, entry);
    free(entry->members);
    free(entry->paths);
    entry->members = NULL;
    entry->paths = NULL;
}
