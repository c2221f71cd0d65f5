#include "wss/overlap.h"

#include <errno.h>
#include <limits.h>

#define PLUGIN "wss"

/* --- In the configuration ------------------------------------------------- */

/* Whether a path is another or lies below it; "" is the top. */
static bool is_within(const char *path, const char *other)
{
    size_t length = strlen(other);

    return length == 0 ||
           (strncmp(path, other, length) == 0 && (path[length] == '\0' || path[length] == '/'));
}

static bool is_same_choice(const struct wss_target *a, const struct wss_target *b)
{
    const struct hr_process_choice *one = &a->processes, *other = &b->processes;

    if (a->scope != HR_WSS_PROCESSES || b->scope != HR_WSS_PROCESSES || one->by != other->by)
        return false;
    return one->by == HR_PROCESS_BY_PID ? one->pid == other->pid
                                        : strcmp(one->text, other->text) == 0;
}

/* Paths, not patterns: two of these may overlap or not. */
static bool are_nested_paths(const struct wss_target *a, const struct wss_target *b)
{
    static const char wildcards[] = "*?[";

    if (a->scope != HR_WSS_CGROUP || b->scope != HR_WSS_CGROUP ||
        strpbrk(a->label, wildcards) != NULL || strpbrk(b->label, wildcards) != NULL)
        return false;
    /* One path twice is one group. */
    return strcmp(a->label, b->label) != 0 &&
           (is_within(a->label, b->label) || is_within(b->label, a->label));
}

/* @return why two targets can't be measured together; NULL: they can, as far as can be seen. */
static const char *find_overlap(const struct wss_target *a, const struct wss_target *b)
{
    if (is_same_choice(a, b))
        return "they are the same process";
    if (!wss_target_disturbs(a) || !wss_target_disturbs(b))
        return NULL;
    if (a->method == HR_WSS_DAMON && b->method == HR_WSS_DAMON)
        return "the kernel serves one user of the method damon at a time";
    if (a->scope == HR_WSS_SYSTEM || b->scope == HR_WSS_SYSTEM)
        return "the system has the memory of all others, and each would take the other's evidence";
    if (are_nested_paths(a, b))
        return "one lies within the other, and each would take the other's evidence";
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

static int refuse(const struct wss_target *a, const struct wss_target *b, const char *why)
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
            return refuse(&others[i], target, why);
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

static int append_path(struct wss_claim *claim, const char *path)
{
    size_t length = strlen(path) + 1;

    if (claim->paths_length + length > claim->paths_size) {
        size_t size = 2 * (claim->paths_length + length);
        char *grown = realloc(claim->paths, size);
        if (grown == NULL)
            return -ENOMEM;
        claim->paths = grown;
        claim->paths_size = size;
    }
    memcpy(claim->paths + claim->paths_length, path, length);
    claim->paths_length += length;
    return 0;
}

static int append_member(struct wss_claim *claim, const struct hr_process *process)
{
    if (claim->member_count == claim->member_capacity) {
        size_t capacity = claim->member_capacity > 0 ? 2 * claim->member_capacity : 8;
        void *grown = reallocarray(claim->members, capacity, sizeof(*claim->members));
        if (grown == NULL)
            return -ENOMEM;
        claim->members = grown;
        claim->member_capacity = capacity;
    }
    claim->members[claim->member_count++] =
        (struct wss_member){process->pid, process->started_ticks};
    return 0;
}

static int add_process(struct wss_claim *claim, const struct hr_process *process)
{
    char path[PATH_MAX];

    if (hr_process_read_cgroup(process, path, sizeof(path)) < 0)
        strcpy(path, "?");
    int status = append_member(claim, process);
    return status < 0 ? status : append_path(claim, path);
}

/* What goes wrong, measuring tells. */
static void find_processes(struct wss_ground *ground, struct wss_claim *claim)
{
    claim->member_count = claim->paths_length = 0;
    int status = hr_process_list_find(ground->root, claim->processes, &ground->list);
    for (size_t i = 0; i < ground->list.count && status == 0; i++)
        status = add_process(claim, &ground->list.items[i]);
    hr_process_list_release(&ground->list);
}

/* Sums up who is there and where, so that a change is seen. */
static uint64_t sum_up(const struct wss_claim *claim)
{
    uint64_t sum = 14695981039346656037u;

    for (size_t i = 0; i < claim->member_count; i++) {
        const struct wss_member *member = &claim->members[i];
        sum ^= (uint64_t)member->pid ^ member->started_ticks << 22;
        sum *= 1099511628211u;
    }
    for (size_t i = 0; i < claim->paths_length; i++)
        sum = (sum ^ (unsigned char)claim->paths[i]) * 1099511628211u;
    return sum;
}

/* --- While it runs -------------------------------------------------------- */

static bool have_process_in_common(const struct wss_claim *a, const struct wss_claim *b)
{
    for (size_t i = 0; i < a->member_count; i++)
        for (size_t j = 0; j < b->member_count; j++)
            if (a->members[i].pid == b->members[j].pid &&
                a->members[i].started_ticks == b->members[j].started_ticks)
                return true;
    return false;
}

static bool have_process_within(const struct wss_claim *claim, const struct wss_claim *group)
{
    const char *end = claim->paths + claim->paths_length;

    for (const char *path = claim->paths; path < end; path += strlen(path) + 1)
        if (is_within(path, group->path))
            return true;
    return false;
}

static bool do_overlap(const struct wss_claim *a, const struct wss_claim *b)
{
    if (a->scope == HR_WSS_SYSTEM || b->scope == HR_WSS_SYSTEM)
        return true;
    if (a->scope == HR_WSS_CGROUP && b->scope == HR_WSS_CGROUP)
        return is_within(a->path, b->path) || is_within(b->path, a->path);
    if (a->scope == HR_WSS_CGROUP)
        return have_process_within(b, a);
    return b->scope == HR_WSS_CGROUP ? have_process_within(a, b) : have_process_in_common(a, b);
}

void wss_ground_init(struct wss_ground *ground, const struct hr_root *root, bool contested)
{
    *ground = (struct wss_ground){.root = root, .contested = contested, .state = 1};
    TAILQ_INIT(&ground->held);
}

static void look_up(struct wss_ground *ground, struct wss_claim *claim)
{
    if (claim->scope != HR_WSS_PROCESSES)
        return;
    uint64_t before = sum_up(claim);
    find_processes(ground, claim);
    if (sum_up(claim) != before)
        claim->checked = 0;
    if (claim->checked == 0 && claim->held)
        ground->state++;
}

static void hold(struct wss_ground *ground, struct wss_claim *claim)
{
    if (!claim->held) {
        TAILQ_INSERT_TAIL(&ground->held, claim, link);
        claim->held = true;
        ground->state++;
    }
    claim->checked = ground->state;
}

const struct wss_claim *wss_ground_take(struct wss_ground *ground, struct wss_claim *claim)
{
    const struct wss_claim *other;

    if (!ground->contested)
        return NULL;
    look_up(ground, claim);
    if (claim->held && claim->checked == ground->state)
        return NULL;
    TAILQ_FOREACH(other, &ground->held, link)
    if (other != claim && do_overlap(claim, other)) {
        wss_ground_leave(ground, claim);
        return other;
    }
    hold(ground, claim);
    return NULL;
}

void wss_ground_leave(struct wss_ground *ground, struct wss_claim *claim)
{
    if (!claim->held)
        return;
    TAILQ_REMOVE(&ground->held, claim, link);
    claim->held = false;
    ground->state++;
}

void wss_ground_explain(const struct wss_claim *claim, const struct wss_claim *other,
                        struct hr_reason *reason)
{
    const char *how = "it is in the memory that is measured of";

    if (claim->scope == HR_WSS_CGROUP && other->scope == HR_WSS_CGROUP)
        how = is_within(claim->path, other->path) ? "it lies within the cgroup"
                                                  : "it has within it the cgroup";
    else if (claim->scope == HR_WSS_CGROUP && other->scope == HR_WSS_PROCESSES)
        how = "it has within it a process of";
    else if (claim->scope == HR_WSS_PROCESSES && other->scope == HR_WSS_CGROUP)
        how = "a process of it lies within the cgroup";
    else if (claim->scope == HR_WSS_PROCESSES && other->scope == HR_WSS_PROCESSES)
        how = "a process of it is also one of";
    reason->error = -EEXIST;
    snprintf(reason->text, sizeof(reason->text),
             "%s %.200s, which is measured already, and each would take the other's evidence: "
             "choose one of them",
             how, other->label);
}

void wss_claim_end(struct wss_ground *ground, struct wss_claim *claim)
{
    wss_ground_leave(ground, claim);
    free(claim->members);
    free(claim->paths);
    claim->members = NULL;
    claim->paths = NULL;
}

void wss_ground_end(struct wss_ground *ground)
{
    hr_process_list_free(&ground->list);
}
