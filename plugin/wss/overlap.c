/* SPDX-License-Identifier: MIT */
#include "wss/overlap.h"

#include <errno.h>
#include <limits.h>

#include "common/log.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"

#define PLUGIN "wss"

/* --- In the configuration ------------------------------------------------- */

static bool is_same_choice(const struct wss_target *a, const struct wss_target *b)
{
    const struct hr_process_choice *one = &a->processes, *other = &b->processes;

    if (a->scope != HR_WSS_PROCESSES || b->scope != HR_WSS_PROCESSES || one->by != other->by)
        return false;
    return one->by == HR_PROCESS_BY_PID ? one->pid == other->pid
                                        : strcmp(one->text, other->text) == 0;
}

/* Only for paths: whether patterns overlap shows at runtime. */
static bool are_nested_paths(const struct wss_target *a, const struct wss_target *b)
{
    static const char wildcards[] = "*?[";

    if (a->scope != HR_WSS_CGROUP || b->scope != HR_WSS_CGROUP ||
        strpbrk(a->label, wildcards) != NULL || strpbrk(b->label, wildcards) != NULL)
        return false;
    /* One path twice is one group. */
    return strcmp(a->label, b->label) != 0 &&
           (hr_cgroup_is_within(a->label, b->label) || hr_cgroup_is_within(b->label, a->label));
}

/* @return why two targets can't be measured together; NULL: they can, as far as is known here. */
static const char *find_overlap(const struct wss_target *a, const struct wss_target *b)
{
    if (is_same_choice(a, b))
        return "they are the same process";
    if (!wss_target_disturbs(a) || !wss_target_disturbs(b))
        return NULL;
    if (a->method == HR_WSS_DAMON && b->method == HR_WSS_DAMON)
        return "the kernel can serve only one user of DAMON at a time";
    if (a->scope == HR_WSS_SYSTEM || b->scope == HR_WSS_SYSTEM)
        return "the system includes the memory of all others, and each would clear the accessed "
               "bits "
               "that the other counts";
    if (are_nested_paths(a, b))
        return "one lies within the other, and each would clear the accessed bits that the other "
               "counts";
    return NULL;
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
        const char *why = find_overlap(&others[i], target);
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

static int add_process(struct wss_overlap_entry *entry, const struct hr_process *process)
{
    char path[PATH_MAX];

    if (hr_process_read_cgroup(process, path, sizeof(path)) < 0)
        strcpy(path, "?");
    int status = append_member(entry, process);
    return status < 0 ? status : append_path(entry, path);
}

/* Errors are left to measuring, which reports them. */
static void find_processes(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry)
{
    entry->member_count = entry->paths_length = 0;
    int status = hr_process_list_find(guard->root, entry->processes, &guard->list);
    for (size_t i = 0; i < guard->list.count && status == 0; i++)
        status = add_process(entry, &guard->list.items[i]);
    hr_process_list_release(&guard->list);
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

static bool have_process_in_common(const struct wss_overlap_entry *a,
                                   const struct wss_overlap_entry *b)
{
    for (size_t i = 0; i < a->member_count; i++)
        for (size_t j = 0; j < b->member_count; j++)
            if (a->members[i].pid == b->members[j].pid &&
                a->members[i].started_ticks == b->members[j].started_ticks)
                return true;
    return false;
}

static bool have_process_within(const struct wss_overlap_entry *entry,
                                const struct wss_overlap_entry *group)
{
    const char *end = entry->paths + entry->paths_length;

    for (const char *path = entry->paths; path < end; path += strlen(path) + 1)
        if (hr_cgroup_is_within(path, group->path))
            return true;
    return false;
}

static bool do_overlap(const struct wss_overlap_entry *a, const struct wss_overlap_entry *b)
{
    if (a->scope == HR_WSS_SYSTEM || b->scope == HR_WSS_SYSTEM)
        return true;
    if (a->scope == HR_WSS_CGROUP && b->scope == HR_WSS_CGROUP)
        return hr_cgroup_is_within(a->path, b->path) || hr_cgroup_is_within(b->path, a->path);
    if (a->scope == HR_WSS_CGROUP)
        return have_process_within(b, a);
    return b->scope == HR_WSS_CGROUP ? have_process_within(a, b) : have_process_in_common(a, b);
}

void wss_overlap_guard_init(struct wss_overlap_guard *guard, const struct hr_root *root,
                            bool has_several_targets)
{
    *guard = (struct wss_overlap_guard){
        .root = root, .has_several_targets = has_several_targets, .generation = 1};
    TAILQ_INIT(&guard->entries);
}

static void refresh_processes(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry)
{
    if (entry->scope != HR_WSS_PROCESSES)
        return;
    uint64_t before = hash_processes(entry);
    find_processes(guard, entry);
    if (hash_processes(entry) != before)
        entry->checked = 0;
    if (entry->checked == 0 && entry->is_entered)
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

    if (!guard->has_several_targets)
        return NULL;
    refresh_processes(guard, entry);
    if (entry->is_entered && entry->checked == guard->generation)
        return NULL;
    TAILQ_FOREACH(other, &guard->entries, link)
    if (other != entry && do_overlap(entry, other)) {
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

void wss_overlap_explain(const struct wss_overlap_entry *entry,
                         const struct wss_overlap_entry *other, struct hr_reason *reason)
{
    const char *how = "it is part of the memory of";

    if (entry->scope == HR_WSS_CGROUP && other->scope == HR_WSS_CGROUP)
        how = hr_cgroup_is_within(entry->path, other->path) ? "it lies within the cgroup"
                                                            : "it contains the cgroup";
    else if (entry->scope == HR_WSS_CGROUP && other->scope == HR_WSS_PROCESSES)
        how = "it contains a process of";
    else if (entry->scope == HR_WSS_PROCESSES && other->scope == HR_WSS_CGROUP)
        how = "one of its processes lies within the cgroup";
    else if (entry->scope == HR_WSS_PROCESSES && other->scope == HR_WSS_PROCESSES)
        how = "one of its processes is also one of";
    reason->error = -EEXIST;
    snprintf(reason->text, sizeof(reason->text),
             "%s %.200s, which is measured already, and each would clear the accessed bits that "
             "the other counts: choose one of them",
             how, other->label);
}

void wss_overlap_entry_free(struct wss_overlap_guard *guard, struct wss_overlap_entry *entry)
{
    wss_overlap_leave(guard, entry);
    free(entry->members);
    free(entry->paths);
    entry->members = NULL;
    entry->paths = NULL;
}

void wss_overlap_guard_free(struct wss_overlap_guard *guard)
{
    hr_process_list_free(&guard->list);
}
