/* SPDX-License-Identifier: MIT */
/*
 * wss/method_lru_gen.c - the lru_gen method: counts the pages in the generations that were created
 * within the window.
 *
 * Without aging it reads the existing generations by their ages. The kernel creates new ones only
 * when it is short of memory, so they may not cover a window.
 *
 * With aging, a generation is created at time zero, in each group on each node. Pages touched
 * before are in older ones then. A reading creates the next generation: that walk finds the pages
 * touched since, and moves them to the generation of time zero or a later one. Pages touched again
 * move to the younger generation, so each reading has all that was touched since the beginning. Two
 * readings are possible: a third would need a fifth generation, and untouched pages would be merged
 * into the generation of time zero.
 *
 * The kernel skips a process that holds the lock of its memory map for writing at that moment: the
 * pages it touched are missing then.
 *
 * Sources: see memory/lru_gen.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/deadline.h"
#include "headroom/array.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "memory/lru_gen.h"
#include "memory/lru_gen_file.h"
#include "memory/lru_gen_table.h"
#include "wss/method.h"

/* How many readings there is room for: see above. */
#define MAX_AGED_WINDOWS (HR_LRU_GEN_MAX - 2)

/* How often aging is tried while another program ages the same group, and the first pause; each
 * further one is twice as long. */
#define AGING_TRIES    6
#define AGING_PAUSE_NS (2 * HR_NS_PER_MS)

/** A generation of a group on a node: the one created at time zero, or one to be created. */
struct generation {
    uint64_t memcg_id;
    unsigned node;
    bool exists;
    bool is_gone; /* the kernel has no such group any more, though it still prints it */
    uint64_t seq;
};

struct generations {
    struct generation *items;
    size_t count, capacity;
};

/** How long the kernel walks the page tables of the target. */
struct walk {
    uint64_t ns;      /* CPU time of all commands together */
    size_t commanded; /* generations that were; 0: nothing is known */
};

struct lru_gen {
    uint64_t page_bytes;
    struct hr_lru_gen_table *table; /* shared, or: */
    struct hr_lru_gen_table own;    /* within a call only: it has all groups of the machine */
    uint64_t least_reads;           /* of the table: since what was commanded last */
    bool has_ended;                 /* the window that is to be read */
    struct generations beginning;   /* sorted; the generations of time zero */
    struct generations wanted;      /* sorted; those to be created */
    struct walk walk;               /* the latest, from one measurement to the next */
};

static int lru_gen_open(const struct hr_wss_subject *subject, void **state)
{
    struct lru_gen *lru_gen = calloc(1, sizeof(*lru_gen));

    if (lru_gen == NULL)
        return -ENOMEM;
    lru_gen->table = subject->lru_gen != NULL ? subject->lru_gen : &lru_gen->own;
    lru_gen->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    *state = lru_gen;
    return 0;
}

static void lru_gen_close(void *state)
{
    struct lru_gen *lru_gen = state;

    free(lru_gen->beginning.items);
    free(lru_gen->wanted.items);
    free(lru_gen);
}

static int lru_gen_probe(const struct hr_root *root, enum hr_wss_scope scope, bool aging,
                         struct hr_reason *reason)
{
    (void)scope;
    return hr_lru_gen_file_probe(root, aging, reason);
}

/* --- The target's lists --------------------------------------------------- */

/* Its memory isn't free yet, but is no longer touched, and the kernel accepts no command for it. */
static bool is_removed(const struct hr_lru_gen_list *list)
{
    return list->memcg_id == 0 && list->path.length > 0;
}

static const char *group_of(const struct hr_wss_subject *subject)
{
    return subject->scope == HR_WSS_CGROUP ? subject->cgroup_path : "/";
}

/* The lists of the target that are left to look at. */
struct lists {
    const struct hr_lru_gen_list *next;
    size_t count;
};

static struct lists lists_of(const struct lru_gen *lru_gen, const struct hr_wss_subject *subject)
{
    struct lists lists;

    lists.next = hr_lru_gen_table_find(lru_gen->table, group_of(subject), &lists.count);
    return lists;
}

/* @return NULL: there are no more. */
static const struct hr_lru_gen_list *take_list(struct lists *lists,
                                               const struct hr_wss_subject *subject)
{
    while (lists->count > 0) {
        const struct hr_lru_gen_list *list = lists->next++;
        lists->count--;
        if (hr_lru_gen_is_below(list, group_of(subject)))
            return list;
    }
    return NULL;
}

/* @param number  of its list; 0: any. */
static bool is_listed(const struct lru_gen *lru_gen, const struct hr_wss_subject *subject,
                      uint64_t number)
{
    struct lists lists = lists_of(lru_gen, subject);
    const struct hr_lru_gen_list *list;

    while ((list = take_list(&lists, subject)) != NULL)
        if (hr_lru_gen_is_of(list, group_of(subject)) && (number == 0 || list->memcg_id == number))
            return true;
    return false;
}

/* A group without a memory cgroup of its own isn't in the text. */
static bool has_own_memory(const struct hr_wss_subject *subject)
{
    return subject->scope == HR_WSS_CGROUP &&
           faccessat(subject->cgroup_dirfd, "memory.stat", F_OK, AT_EACCESS) == 0;
}

static int explain_absence(const struct hr_wss_subject *subject, struct hr_reason *reason)
{
    if (subject->scope != HR_WSS_CGROUP)
        return hr_reason_set(reason, -EBADMSG, HR_LRU_GEN_FILE " lists no group at all");
    if (has_own_memory(subject))
        return hr_reason_set(reason, -EBUSY,
                             HR_LRU_GEN_FILE " doesn't list the cgroup, as others were created or "
                                             "removed while the kernel printed it: try again");
    return hr_reason_set(reason, -EOPNOTSUPP,
                         "the memory controller isn't enabled for the cgroup, so its memory isn't "
                         "accounted separately: write +memory to cgroup.subtree_control of the "
                         "groups above it");
}

/* What was read for another target within this time will do for this one. Commands that follow
 * from it have no effect in groups that were aged meanwhile, which then have younger generations.
 */
#define SHARED_NS (HR_NS_PER_S + HR_NS_PER_S / 2)

/* A group just removed is still in the text for a moment. */
static int read_table(struct lru_gen *lru_gen, const struct hr_wss_subject *subject)
{
    const uint64_t now_ns = hr_clock_ns();

    if (subject->scope == HR_WSS_CGROUP &&
        faccessat(subject->cgroup_dirfd, "cgroup.procs", F_OK, AT_EACCESS) < 0)
        return -ENODEV;
    return hr_lru_gen_table_read(lru_gen->table, subject->root, lru_gen->least_reads,
                                 now_ns > SHARED_NS ? now_ns - SHARED_NS : 0);
}

static int explain_text(int status, struct hr_reason *reason)
{
    if (status == -EBADMSG)
        return hr_reason_set(reason, status, HR_LRU_GEN_FILE " can't be parsed");
    return status;
}

/* Reads again if the target isn't listed: what was read for others may be older than the group, and
 * the kernel may leave out groups while others are created or removed. */
static int ensure_listed(struct lru_gen *lru_gen, const struct hr_wss_subject *subject,
                         struct hr_reason *reason)
{
    if (is_listed(lru_gen, subject, 0))
        return 0;
    if (has_own_memory(subject)) {
        lru_gen->least_reads = lru_gen->table->reads + 1;
        int status = read_table(lru_gen, subject);
        if (status < 0)
            return explain_text(status, reason);
    }
    return is_listed(lru_gen, subject, 0) ? 0 : explain_absence(subject, reason);
}

static int read_target(struct lru_gen *lru_gen, const struct hr_wss_subject *subject,
                       struct hr_reason *reason)
{
    int status = read_table(lru_gen, subject);

    return status < 0 ? explain_text(status, reason) : ensure_listed(lru_gen, subject, reason);
}

/* --- Looking back --------------------------------------------------------- */

/* Since Linux 7.0 a list has the number of its cgroup's inode, and that of a removed group, too:
 * only the number shows which of the same path the target is. @return 0: they have others. */
static uint64_t find_number(const struct lru_gen *lru_gen, const struct hr_wss_subject *subject)
{
    struct stat stat = {0};

    fstat(subject->cgroup_dirfd, &stat); /* the system has none */
    return is_listed(lru_gen, subject, stat.st_ino) ? stat.st_ino : 0;
}

static int sum_generations(struct lru_gen *lru_gen, const struct hr_wss_subject *subject,
                           uint64_t window_ms, struct hr_lru_gen_window_sum *sum,
                           struct hr_reason *reason)
{
    const struct hr_lru_gen_list *list;

    int status = read_target(lru_gen, subject, reason);
    if (status < 0)
        return status;
    const uint64_t number = find_number(lru_gen, subject);
    struct lists lists = lists_of(lru_gen, subject);
    while ((list = take_list(&lists, subject)) != NULL)
        if (number == 0 || list->memcg_id == number || !hr_lru_gen_is_of(list, group_of(subject)))
            hr_lru_gen_sum_window(list, window_ms, sum);
    return 0;
}

/* Each group on each node has generations of its own. Lists that don't cover the window may have up
 * to a tenth of the target's memory, which then is the most that can be missing. */
static int read_passive(struct lru_gen *lru_gen, const struct hr_wss_subject *subject,
                        uint64_t window_ns, struct hr_wss_sample *sample, struct hr_reason *reason)
{
    struct hr_lru_gen_window_sum sum = {0};

    int status = sum_generations(lru_gen, subject, window_ns / HR_NS_PER_MS, &sum, reason);
    if (status < 0)
        return status;
    if (sum.window_ms == 0 || sum.known_pages < sum.all_pages - sum.all_pages / 10)
        return hr_reason_set(reason, -ENODATA,
                             "the kernel created no generations within the last %.0f s for %s: "
                             "use aging, or a longer window",
                             (double)window_ns / 1e9,
                             sum.known_pages > 0 ? "part of the memory" : "this memory");
    sample->referenced_bytes = sum.touched_pages * lru_gen->page_bytes;
    sample->window_ns = sum.window_ms * HR_NS_PER_MS;
    return 0;
}

/* --- Aging ---------------------------------------------------------------- */

static int compare_generations(const void *left, const void *right)
{
    const struct generation *a = left, *b = right;

    if (a->memcg_id != b->memcg_id)
        return a->memcg_id < b->memcg_id ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static struct generation *find_generation(const struct generations *generations,
                                          const struct hr_lru_gen_list *list)
{
    struct generation key = {.memcg_id = list->memcg_id, .node = list->node};

    if (generations->count == 0)
        return NULL;
    return bsearch(&key, generations->items, generations->count, sizeof(key), compare_generations);
}

static int append_generation(struct generations *generations, struct generation generation)
{
    if (HR_ARRAY_RESERVE(generations->items, generations->capacity, generations->count + 1) < 0)
        return -ENOMEM;
    generations->items[generations->count++] = generation;
    return 0;
}

/* Whether a list belongs to a group that was removed: since Linux 7.0 only a command shows it. */
static bool is_gone(const struct lru_gen *lru_gen, const struct hr_lru_gen_list *list)
{
    const struct generation *before = find_generation(&lru_gen->beginning, list);
    const struct generation *now = find_generation(&lru_gen->wanted, list);

    return is_removed(list) || (before != NULL && before->is_gone) || (now != NULL && now->is_gone);
}

/* Lists the next generation of each group and node of the target that can be aged. Groups created
 * since time zero need no aging, as all their pages were touched since. */
static int list_wanted(struct lru_gen *lru_gen, const struct hr_wss_subject *subject,
                       const struct generations *only)
{
    struct lists lists = lists_of(lru_gen, subject);
    struct generations *wanted = &lru_gen->wanted;
    const struct hr_lru_gen_list *list;

    wanted->count = 0;
    while ((list = take_list(&lists, subject)) != NULL) {
        if (is_removed(list))
            continue;
        const struct generation *known = only != NULL ? find_generation(only, list) : NULL;
        if (only != NULL && (known == NULL || known->is_gone))
            continue;
        if (append_generation(wanted, (struct generation){.memcg_id = list->memcg_id,
                                                          .node = list->node,
                                                          .seq = hr_lru_gen_youngest(list) + 1}) <
            0)
            return -ENOMEM;
    }
    if (wanted->count > 0)
        qsort(wanted->items, wanted->count, sizeof(*wanted->items), compare_generations);
    return 0;
}

static int write_commands(int fd, const struct generations *wanted, uint64_t max_ns,
                          struct walk *walk)
{
    for (size_t i = 0; i < wanted->count; i++) {
        struct generation *generation = &wanted->items[i];
        if (generation->exists || generation->is_gone)
            continue;
        if (max_ns > 0 && walk->ns > max_ns)
            return -ETIME;
        uint64_t from = hr_clock_thread_ns();
        int status =
            hr_lru_gen_file_age(fd, generation->memcg_id, generation->node, generation->seq - 1);
        walk->ns += hr_clock_thread_ns() - from;
        walk->commanded += walk->commanded < i + 1; /* retries were counted before */
        generation->is_gone = status == -EINVAL;
        /* Another program may have come first: reading again shows it. */
        if (status < 0 && status != -EINVAL && status != -EEXIST && status != -EINTR)
            return status;
    }
    return 0;
}

/* Marks the generations that exist. @return how many don't; those of removed groups don't count. */
static int count_missing(const struct lru_gen *lru_gen, const struct hr_wss_subject *subject,
                         const struct generations *generations)
{
    struct lists lists = lists_of(lru_gen, subject);
    const struct hr_lru_gen_list *list;
    int missing = 0;

    while ((list = take_list(&lists, subject)) != NULL) {
        struct generation *generation = find_generation(generations, list);
        if (generation == NULL || generation->is_gone || is_removed(list))
            continue;
        generation->exists = hr_lru_gen_youngest(list) >= generation->seq;
        missing += !generation->exists;
    }
    return missing;
}

/* Commands the wanted generations; what the table has is older then. */
static int command(struct lru_gen *lru_gen, const struct hr_wss_subject *subject)
{
    int fd = hr_root_openat(subject->root, HR_LRU_GEN_FILE, O_WRONLY);
    if (fd < 0)
        return fd;
    int status = write_commands(fd, &lru_gen->wanted, subject->max_scan_ns, &lru_gen->walk);
    close(fd);
    lru_gen->least_reads = lru_gen->table->reads + 1;
    return status;
}

/* Sees that the wanted generations exist: a command has no effect while another program ages the
 * group, or just did. */
static int ensure_wanted(struct lru_gen *lru_gen, const struct hr_wss_subject *subject)
{
    struct timespec pause = {.tv_nsec = AGING_PAUSE_NS};

    for (int i = 0; i < AGING_TRIES; i++) {
        int status = 0;
        if (i > 0) {
            nanosleep(&pause, NULL);
            pause.tv_nsec *= 2;
            status = command(lru_gen, subject);
        }
        if (status == 0)
            status = read_table(lru_gen, subject);
        if (status == 0)
            status = count_missing(lru_gen, subject, &lru_gen->wanted);
        if (status <= 0)
            return status;
    }
    return -EBUSY;
}

/* --- The limit ------------------------------------------------------------ */

/* Estimates the walk from the last one, in proportion to the number of groups and nodes. */
static uint64_t estimate_walk_ns(const struct walk *walk, size_t generations)
{
    return walk->commanded > 0 ? (uint64_t)((__uint128_t)walk->ns * generations / walk->commanded)
                               : 0;
}

static int explain_too_long(uint64_t walk_ns, uint64_t max_ns, struct hr_reason *reason)
{
    return hr_reason_set(reason, -ETIME,
                         "walking the target's page tables takes the kernel %" PRIu64
                         " ms, above the limit of %" PRIu64
                         " ms: raise the limit, or do without aging",
                         walk_ns / HR_NS_PER_MS, max_ns / HR_NS_PER_MS);
}

/* What takes too long is forgotten: the next call tries, as only that shows whether it takes less
 * by then. */
static int check_time(struct lru_gen *lru_gen, uint64_t max_ns, struct hr_reason *reason)
{
    uint64_t all_ns = estimate_walk_ns(&lru_gen->walk, lru_gen->wanted.count);

    if (max_ns == 0 || all_ns <= max_ns)
        return 0;
    lru_gen->walk.commanded = 0;
    return explain_too_long(all_ns, max_ns, reason);
}

static int explain_aging(struct lru_gen *lru_gen, const struct hr_wss_subject *subject, int status,
                         struct hr_reason *reason)
{
    if (status == -ETIME)
        return check_time(lru_gen, subject->max_scan_ns, reason);
    if (status == -EBUSY)
        return hr_reason_set(reason, status,
                             "the kernel didn't create a generation, as another program ages the "
                             "same memory: try again");
    return explain_text(status, reason);
}

/* Begins to create the wanted generations. Aging that takes too long is given up. */
static int age_target(struct lru_gen *lru_gen, const struct hr_wss_subject *subject,
                      struct hr_reason *reason)
{
    int status = check_time(lru_gen, subject->max_scan_ns, reason);
    if (status < 0)
        return status;
    lru_gen->walk = (struct walk){0};
    status = command(lru_gen, subject);
    return status == 0 ? check_time(lru_gen, subject->max_scan_ns, reason)
                       : explain_aging(lru_gen, subject, status, reason);
}

/* --- Measuring with aging ------------------------------------------------- */

/* Where the table is shared, whether the generations exist is seen when the window ends, by what
 * was read for others meanwhile. */
static int begin_aged(struct lru_gen *lru_gen, const struct hr_wss_subject *subject,
                      struct hr_reason *reason)
{
    lru_gen->has_ended = false;
    int status = hr_lru_gen_file_probe(subject->root, true, reason);
    if (status == 0)
        status = read_target(lru_gen, subject, reason);
    if (status == 0)
        status = list_wanted(lru_gen, subject, NULL);
    if (status == 0)
        status = age_target(lru_gen, subject, reason);
    if (status == 0 && lru_gen->table == &lru_gen->own)
        status = explain_aging(lru_gen, subject, ensure_wanted(lru_gen, subject), reason);
    if (status < 0)
        return status;
    struct generations now = lru_gen->wanted;
    lru_gen->wanted = lru_gen->beginning;
    lru_gen->beginning = now;
    return 0;
}

/* The kernel moves what was touched to where it counts. */
static int end_aged_window(struct lru_gen *lru_gen, const struct hr_wss_subject *subject,
                           struct hr_reason *reason)
{
    int status = read_target(lru_gen, subject, reason);
    if (status == 0 && count_missing(lru_gen, subject, &lru_gen->beginning) > 0)
        status = explain_aging(lru_gen, subject, -EBUSY, reason);
    if (status == 0)
        status = list_wanted(lru_gen, subject, &lru_gen->beginning);
    if (status == 0)
        status = age_target(lru_gen, subject, reason);
    lru_gen->has_ended = status == 0;
    return status;
}

/* Adds up the pages in the generations of time zero and later. */
static int sum_since(struct lru_gen *lru_gen, const struct hr_wss_subject *subject, uint64_t *pages,
                     struct hr_reason *reason)
{
    struct lists lists = lists_of(lru_gen, subject);
    const struct hr_lru_gen_list *list;
    uint64_t sum = 0;

    while ((list = take_list(&lists, subject)) != NULL) {
        const struct generation *generation = find_generation(&lru_gen->beginning, list);
        if (is_gone(lru_gen, list))
            continue;
        if (generation != NULL && hr_lru_gen_youngest(list) > generation->seq + MAX_AGED_WINDOWS)
            return hr_reason_set(reason, -EBUSY,
                                 "another program, or the kernel, short of memory, created "
                                 "generations meanwhile in %.*s: try again with a shorter window",
                                 list->path.length < 100 ? (int)list->path.length : 100,
                                 list->path.start);
        sum += hr_lru_gen_pages_since(list, generation != NULL ? generation->seq : 0);
    }
    *pages = sum;
    return 0;
}

static int read_aged(struct lru_gen *lru_gen, const struct hr_wss_subject *subject,
                     struct hr_wss_sample *sample, struct hr_reason *reason)
{
    uint64_t pages = 0;

    int status = lru_gen->has_ended ? 0 : end_aged_window(lru_gen, subject, reason);
    lru_gen->has_ended = false;
    if (status == 0)
        status = explain_aging(lru_gen, subject, ensure_wanted(lru_gen, subject), reason);
    if (status == 0)
        status = ensure_listed(lru_gen, subject, reason);
    if (status == 0)
        status = sum_since(lru_gen, subject, &pages, reason);
    if (status < 0)
        return status;
    sample->referenced_bytes = pages * lru_gen->page_bytes;
    return 0;
}

/* --- The method ----------------------------------------------------------- */

static void free_own(struct lru_gen *lru_gen)
{
    hr_lru_gen_table_free(&lru_gen->own);
}

static int lru_gen_begin(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                         struct hr_reason *reason)
{
    (void)window_ns;
    int status = subject->aging ? begin_aged(state, subject, reason) : 0;
    free_own(state);
    return status;
}

static int lru_gen_end_window(void *state, const struct hr_wss_subject *subject,
                              struct hr_reason *reason)
{
    int status = subject->aging ? end_aged_window(state, subject, reason) : 0;
    free_own(state);
    return status;
}

static int lru_gen_read(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                        struct hr_wss_sample *sample, struct hr_reason *reason)
{
    int status = subject->aging ? read_aged(state, subject, sample, reason)
                                : read_passive(state, subject, window_ns, sample, reason);
    free_own(state);
    return status;
}

const struct hr_wss_ops hr_wss_lru_gen_ops = {
    .method = HR_WSS_LRU_GEN,
    .scopes = {[HR_WSS_CGROUP] = true, [HR_WSS_SYSTEM] = true},
    .max_windows = MAX_AGED_WINDOWS,
    .max_windows_passive = 0,
    .looks_back_passive = true,
    .probe = lru_gen_probe,
    .open = lru_gen_open,
    .begin = lru_gen_begin,
    .end_window = lru_gen_end_window,
    .read = lru_gen_read,
    .close = lru_gen_close,
};
