/* SPDX-License-Identifier: MIT */
/*
 * wss/method_idle.c - the idle method: marks the pages of processes or a cgroup idle, and counts
 * which no longer are.
 *
 * Counted are, of the pages that the target has at the reading:
 *   - those that were marked and aren't idle any more;
 *   - those that it didn't have at the beginning, unless they are idle, as pages are that were only
 *     migrated;
 * each once, however often it is mapped. The bit of a folio stands for all its pages that the
 * target has. Pages that were on no LRU list at the beginning (such as those just faulted in, some
 * dozen per CPU) can't be marked, those that are on none now can't be read: neither is counted.
 * Hugetlb and pages that aren't memory are never counted.
 *
 * A cgroup has what its processes have mapped, as far as it is charged for that: those are found by
 * what the processes have, as looking for all pages of a group would mean reading about all memory
 * of the machine. So page cache that no process of it has mapped is never counted.
 *
 * Only pages that the target has are marked. A page shared with others is the target's, too, and
 * which of them touched it isn't known. Within the few ms between finding a page and marking it, it
 * may be freed and reused by another process: harmless but for other programs that use the bitmap.
 *
 * Nothing has to be restored: a mark has no effect of its own, and the kernel itself keeps the
 * cleared referenced bits for reclaim (PG_young).
 *
 * This holds for the lists of active and inactive pages. The multi-gen LRU doesn't maintain idle
 * bits, see wss/method_idle_probe.h: nothing is measured while it is enabled.
 *
 * As with clearing referenced bits, the TLB isn't flushed: windows below some 100 ms read low.
 *
 * A scan makes no process wait, unlike clearing referenced bits. So it may take a tenth of the
 * longest window where that is more than the limit, but at most ten times the limit.
 *
 * Sources: Documentation/admin-guide/mm/idle_page_tracking.rst, mm/page_idle.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/descriptor.h"
#include "cgroup/inodes.h"
#include "headroom/capability.h"
#include "headroom/clock.h"
#include "memory/kpage.h"
#include "memory/page_cgroup.h"
#include "memory/page_idle.h"
#include "memory/page_set.h"
#include "memory/pagemap.h"
#include "wss/method.h"
#include "wss/method_idle_probe.h"

/* A tenth of the longest window, and ten times the limit. */
#define PART_OF_WINDOW 10
#define TIMES_LIMIT    10

/* The state of a measurement. */
struct idle {
    uint64_t max_scan_ns;          /* 0: none */
    struct hr_page_set marked;     /* pages of the target whose folio was marked */
    struct hr_page_set unmarkable; /* pages of the target that couldn't be marked */
    int *outcomes;                 /* of marking each process: 0 or a negative errno */
};

/* Pages counted by a scan. */
struct counts {
    uint64_t touched, resident;
};

/* The kernel's files, open for one scan. */
struct scan {
    int bitmap;
    struct hr_kpage *flags, *cgroups; /* the latter for a cgroup only, as are these: */
    struct hr_cgroup_inodes inodes;
    uint64_t deadline_ns;
    struct counts counts;
    struct hr_page_chunk heads, idle; /* of the current chunk */
    uint16_t head_of[HR_PAGE_CHUNK_PAGES];
};

static int idle_open(const struct hr_wss_subject *subject, void **state)
{
    struct idle *idle = calloc(1, sizeof(*idle));

    (void)subject;
    if (idle == NULL)
        return -ENOMEM;
    *state = idle;
    return 0;
}

static void idle_end(void *state)
{
    struct idle *idle = state;

    hr_page_set_free(&idle->marked);
    hr_page_set_free(&idle->unmarkable);
    free(idle->outcomes);
    idle->outcomes = NULL;
}

static void idle_close(void *state)
{
    idle_end(state);
    free(state);
}

/* --- The files ------------------------------------------------------------ */

static void close_scan(struct scan *scan)
{
    hr_cgroup_inodes_free(&scan->inodes);
    hr_kpage_close(scan->cgroups);
    hr_kpage_close(scan->flags);
    hr_descriptor_close(&scan->bitmap);
    free(scan);
}

static int open_groups(const struct hr_wss_subject *subject, struct scan *scan)
{
    if (subject->scope != HR_WSS_CGROUP)
        return 0;
    int status = hr_cgroup_inodes_read(subject->cgroup_dirfd, &scan->inodes);
    return status < 0 ? status : hr_kpage_open_cgroups(subject->root, &scan->cgroups);
}

static int open_scan(const struct idle *idle, const struct hr_wss_subject *subject,
                     struct scan **scan)
{
    struct scan *opened = malloc(sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->flags = opened->cgroups = NULL;
    opened->inodes = (struct hr_cgroup_inodes){0};
    opened->counts = (struct counts){0};
    opened->deadline_ns = hr_deadline_in(idle->max_scan_ns);
    opened->bitmap = hr_page_idle_open(subject->root);
    int status = opened->bitmap < 0 ? opened->bitmap : 0;
    if (status == 0)
        status = hr_kpage_open_flags(subject->root, &opened->flags);
    if (status == 0)
        status = open_groups(subject, opened);
    if (status < 0) {
        close_scan(opened);
        return status;
    }
    *scan = opened;
    return 0;
}

/* Fills in the reason for errors of a whole scan. */
static int explain_scan(const struct idle *idle, int status, struct hr_reason *reason)
{
    char remedy[HR_REMEDY_SIZE];

    if (status == -ETIME)
        return hr_reason_set(reason, status,
                             "scanning the target's memory takes longer than the %" PRIu64
                             " ms allowed: raise the limit, or choose another method",
                             idle->max_scan_ns / HR_NS_PER_MS);
    if (status == -EACCES || status == -EPERM)
        return hr_reason_set(
            reason, status, "no permission to access the memory of processes: %s",
            hr_capability_remedy(HR_CAP_SYS_ADMIN | HR_CAP_SYS_PTRACE | HR_CAP_DAC_OVERRIDE,
                                 remedy));
    return status;
}

/* --- The target's pages --------------------------------------------------- */

/* @return 0 if at least one process was read. */
static int find_pages_of_processes(struct idle *idle, const struct hr_wss_subject *subject,
                                   const struct scan *scan, struct hr_page_set *pages)
{
    const struct hr_process_list *processes = subject->processes;
    int last = -ESRCH;
    bool has_one = false;

    idle->outcomes = calloc(processes->count, sizeof(*idle->outcomes));
    if (idle->outcomes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < processes->count; i++) {
        int status = hr_pagemap_read(&processes->items[i], scan->deadline_ns, pages);
        if (status < 0 && !hr_wss_is_of_one_process(status))
            return status;
        idle->outcomes[i] = status;
        if (status == 0)
            has_one = true;
        else
            last = status;
    }
    return has_one ? 0 : last;
}

/* --- Chunks of pages ------------------------------------------------------ */

/* Moves to a chunk of pages, and removes those that others than the target are charged for. */
static int begin_chunk(struct scan *scan, uint64_t first_pfn, struct hr_page_chunk *pages)
{
    memset(&scan->heads, 0, sizeof(scan->heads));
    int status = hr_kpage_move_window(scan->flags, first_pfn, pages);
    if (status < 0 || scan->cgroups == NULL)
        return status;
    return hr_page_cgroup_keep_charged(scan->cgroups, scan->flags, &scan->inodes, first_pfn, pages);
}

static void add_head(struct scan *scan, unsigned index, unsigned head)
{
    scan->head_of[index] = (uint16_t)head;
    hr_page_chunk_add(&scan->heads, head);
}

/* Scans all chunks of a set, in the time allowed. */
static int scan_chunks(struct idle *idle, struct scan *scan, const struct hr_page_set *set,
                       int (*scan_chunk)(struct idle *idle, struct scan *scan, uint64_t first_pfn,
                                         struct hr_page_chunk *pages))
{
    struct hr_page_chunk *pages;
    int status = 0;

    for (uint64_t pfn = 0; status == 0 && (pages = hr_page_set_next(set, &pfn)) != NULL;
         pfn += HR_PAGE_CHUNK_PAGES) {
        status = scan_chunk(idle, scan, pfn, pages);
        if (status == 0 && hr_deadline_has_passed(scan->deadline_ns))
            status = -ETIME;
    }
    return status;
}

/* --- Marking -------------------------------------------------------------- */

/* Moves a page from a chunk of the marked set to the unmarkable set. */
static int move_to_unmarkable(struct idle *idle, uint64_t first_pfn, struct hr_page_chunk *pages,
                              unsigned index)
{
    hr_page_chunk_remove(pages, index);
    return hr_page_set_add(&idle->unmarkable, first_pfn + index);
}

/* Finds the heads of the folios; pages without a valid bit become unmarkable. */
static int find_heads_to_mark(struct idle *idle, struct scan *scan, uint64_t first_pfn,
                              struct hr_page_chunk *pages)
{
    enum hr_page_kind kind;
    unsigned head;
    int status = begin_chunk(scan, first_pfn, pages);

    for (unsigned i = 0; status == 0 && hr_page_chunk_next(pages, &i); i++) {
        status = hr_kpage_classify(scan->flags, i, &head, &kind);
        if (status == 0 && kind == HR_PAGE_TRACKED)
            add_head(scan, i, head);
        else if (status == 0)
            status = move_to_unmarkable(idle, first_pfn, pages, i);
    }
    return status;
}

static int mark_chunk(struct idle *idle, struct scan *scan, uint64_t first_pfn,
                      struct hr_page_chunk *pages)
{
    int status = find_heads_to_mark(idle, scan, first_pfn, pages);

    if (status == 0)
        status = hr_page_idle_mark(scan->bitmap, first_pfn, &scan->heads);
    for (unsigned i = 0; status == 0 && hr_page_chunk_next(pages, &i); i++)
        if (!hr_page_chunk_has(&scan->heads, scan->head_of[i]))
            status = move_to_unmarkable(idle, first_pfn, pages, i);
    return status;
}

static int mark_pages(struct idle *idle, const struct hr_wss_subject *subject, struct scan *scan)
{
    int status = find_pages_of_processes(idle, subject, scan, &idle->marked);

    return status < 0 ? status : scan_chunks(idle, scan, &idle->marked, mark_chunk);
}

/* A group without the memory controller isn't charged: the group above it is. */
static int idle_check_target(const struct hr_wss_subject *subject, struct hr_reason *reason)
{
    if (subject->scope != HR_WSS_CGROUP)
        return 0;
    if (faccessat(subject->cgroup_dirfd, "cgroup.procs", F_OK, AT_EACCESS) < 0)
        return errno == ENOENT ? -ENODEV : -errno;
    if (faccessat(subject->cgroup_dirfd, "memory.stat", F_OK, AT_EACCESS) < 0)
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "the memory controller isn't enabled for the cgroup, so its memory "
                             "isn't accounted separately: write +memory to cgroup.subtree_control "
                             "of the group above it, or choose another method");
    return 0;
}

/* @return what a scan may take; 0: there is no limit. */
static uint64_t find_limit(uint64_t limit_ns, uint64_t part_ns)
{
    const uint64_t most_ns = TIMES_LIMIT * limit_ns;

    if (part_ns > most_ns)
        part_ns = most_ns;
    return part_ns > limit_ns ? part_ns : limit_ns;
}

static int idle_begin(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                      struct hr_reason *reason)
{
    struct idle *idle = state;
    struct scan *scan;

    idle_end(state);
    idle->max_scan_ns = find_limit(subject->max_scan_ns, window_ns / PART_OF_WINDOW);
    int status = hr_idle_check_lru(subject->root, subject->scope, reason);
    if (status == 0)
        status = open_scan(state, subject, &scan);
    if (status < 0)
        return status;
    status = mark_pages(state, subject, scan);
    close_scan(scan);
    if (status == 0)
        return 0;
    idle_end(state);
    return explain_scan(state, status, reason);
}

/* --- Counting ------------------------------------------------------------- */

/* Finds the heads of folios with a valid bit; pages that are decided without one are removed. */
static int find_heads_to_count(const struct idle *idle, struct scan *scan, uint64_t first_pfn,
                               struct hr_page_chunk *pages)
{
    enum hr_page_kind kind;
    unsigned head;
    int status = begin_chunk(scan, first_pfn, pages);

    for (unsigned i = 0; status == 0 && hr_page_chunk_next(pages, &i); i++) {
        status = hr_kpage_classify(scan->flags, i, &head, &kind);
        if (status < 0)
            break;
        scan->counts.resident += kind != HR_PAGE_EXCLUDED;
        bool was_there = hr_page_set_has(&idle->unmarkable, first_pfn + i);
        if (kind == HR_PAGE_TRACKED && !was_there) {
            add_head(scan, i, head);
            continue;
        }
        hr_page_chunk_remove(pages, i);
        was_there = was_there || hr_page_set_has(&idle->marked, first_pfn + i);
        scan->counts.touched += kind == HR_PAGE_UNTRACKED && !was_there;
    }
    return status;
}

static int count_chunk(struct idle *idle, struct scan *scan, uint64_t first_pfn,
                       struct hr_page_chunk *pages)
{
    int status = find_heads_to_count(idle, scan, first_pfn, pages);

    if (status == 0)
        status = hr_page_idle_read(scan->bitmap, first_pfn, &scan->heads, &scan->idle);
    for (unsigned i = 0; status == 0 && hr_page_chunk_next(pages, &i); i++)
        scan->counts.touched += !hr_page_chunk_has(&scan->idle, scan->head_of[i]);
    return status;
}

/* A process that can't be accessed any more is only counted. */
static int find_pages_of_process(const struct hr_process *process, int outcome,
                                 const struct scan *scan, struct hr_page_set *pages,
                                 struct hr_wss_sample *sample)
{
    uint64_t rss_bytes;

    int status = outcome < 0 ? outcome : hr_process_read_rss(process, &rss_bytes);
    if (status == 0)
        status = hr_pagemap_read(process, scan->deadline_ns, pages);
    if (status == 0) {
        sample->process_count++;
        sample->has_rss = true;
        sample->rss_bytes += rss_bytes;
    } else if (status == -ESRCH) {
        sample->ended_count++;
    } else if (hr_wss_is_of_one_process(status)) {
        sample->left_count++;
    } else {
        return status;
    }
    return 0;
}

/* What newcomers of a cgroup have is new, or was marked as that of others. */
static int find_pages(const struct idle *idle, const struct hr_wss_subject *subject,
                      const struct scan *scan, struct hr_page_set *pages,
                      struct hr_wss_sample *sample)
{
    const struct hr_process_list *processes = subject->processes, *newcomers = subject->newcomers;
    int status = 0;

    for (size_t i = 0; i < processes->count && status == 0; i++)
        status =
            find_pages_of_process(&processes->items[i], idle->outcomes[i], scan, pages, sample);
    for (size_t i = 0; i < newcomers->count && status == 0; i++)
        status = find_pages_of_process(&newcomers->items[i], 0, scan, pages, sample);
    if (status < 0 || sample->process_count > 0)
        return status;
    return sample->ended_count > 0 ? -ESRCH : -EACCES;
}

static int idle_read(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                     struct hr_wss_sample *sample, struct hr_reason *reason)
{
    struct hr_page_set pages = {0};
    struct scan *scan;

    (void)window_ns;
    int status = open_scan(state, subject, &scan);
    if (status < 0)
        return status;
    status = find_pages(state, subject, scan, &pages, sample);
    if (status == 0)
        status = scan_chunks(state, scan, &pages, count_chunk);
    struct counts counts = scan->counts;
    close_scan(scan);
    hr_page_set_free(&pages);
    if (status == 0) /* the multi-gen LRU may have been enabled meanwhile */
        status = hr_idle_check_lru(subject->root, subject->scope, reason);
    if (status < 0)
        return explain_scan(state, status, reason);
    uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
    sample->referenced_bytes = counts.touched * page_size;
    if (subject->scope == HR_WSS_CGROUP)
        sample->rss_bytes = counts.resident * page_size; /* each once, unlike the sum */
    return 0;
}

const struct hr_wss_ops hr_wss_idle_ops = {
    .method = HR_WSS_IDLE,
    .scopes = {[HR_WSS_PROCESSES] = true, [HR_WSS_CGROUP] = true},
    .wants_processes = true,
    .counts_newcomers = true,
    .counts_moved = true,
    .walks_memory = true,
    .probe = hr_idle_probe,
    .check_target = idle_check_target,
    .open = idle_open,
    .begin = idle_begin,
    .read = idle_read,
    .end = idle_end,
    .close = idle_close,
};
