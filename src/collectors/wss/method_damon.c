/* SPDX-License-Identifier: MIT */
/*
 * wss/method_damon.c - the damon method: adds up the regions of memory that the kernel found
 * accessed.
 *
 * The addresses are divided into some 1000 regions of equal size. At each sampling DAMON checks one
 * page of each, chosen at random; a region counts as a whole if any page checked within the window
 * was accessed. That costs the same however large the memory is. Errors:
 *
 * - up to a region at both ends of a touched range: a thousandth of the addresses;
 * - too high where only some pages of a region are touched: half of them count as all;
 * - too low where pages are touched only once or so in the window, between samplings.
 *
 * For processes the result is limited to their resident memory, of which what they may share counts
 * once: DAMON looks at each process by itself, and finds what all touch as often as there are
 * processes. What they map meanwhile becomes a part of the region beside it, however large it is,
 * and so counts as a whole if any of it is touched.
 *
 * The plan asks for this number of regions from the start. DAMON by itself would begin with a few
 * large ones and divide them after each window; so the first reading is as exact as any. A
 * measurement is one aggregation interval, and one window.
 *
 * Windows below 0.3 s are refused, and before Linux 6.9 those above 5 s: there a reading, and
 * stopping the thread that reads, may have to wait for the length of a window once more.
 *
 * Sources: see memory/damon_sysfs.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file_text.h"
#include "base/release.h"
#include "headroom/capability.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "memory/damon_sysfs.h"
#include "memory/damon_user.h"
#include "wss/damon_owner.h"
#include "wss/method.h"
#include "wss/resident.h"

/* The number of regions, and up to how many processes each has that number. */
#define REGIONS          1000
#define MAX_PER_REGIONS  4
#define MIN_OF_A_PROCESS 100

/* With fewer than ten samplings DAMON merges only regions that were accessed equally often. Long
 * windows have more, so that reading doesn't wait long for the next sampling. */
#define SAMPLINGS     8
#define MAX_SAMPLE_US 500000

/* Updating the sums takes the kernel 0.1 s: no two intervals may end within that. */
#define MIN_WINDOW_NS (300 * HR_NS_PER_MS)

/* Up to Linux 6.8 it takes until the end of the interval, and not even a signal interrupts that
 * wait: so it is kept short. */
#define BLOCKING_MAX_WINDOW_NS (5 * HR_NS_PER_S)

/* The interval ends a little before the window, so that a reading needn't wait for its end. */
#define PERCENT_OF_WINDOW 95

/* How late an interval may end: so many intervals plus so much time. */
#define LATE_INTERVALS 3
#define LATE_NS        (2 * HR_NS_PER_S)

/* The shortest line of memory in /proc/iomem: "0-0 : System RAM\n" */
#define IOMEM_LINE_MIN 17

/* Waiting for the end of an interval. */
struct wait {
    uint64_t until_ns; /* at most; 0: it hasn't begun */
    bool is_second;    /* one has ended, with these sums: */
    uint64_t before_bytes, touched_bytes;
};

struct damon {
    const struct hr_root *root;
    uint64_t tag;         /* 0: no measurement */
    uint64_t next_number; /* of a measurement, for its tag */
    bool is_blocking;     /* sums are updated only at the ends of intervals */
    uint64_t sample_us, aggregation_us;
    uint64_t started_ns;
    uint64_t resident_bytes; /* at the beginning: see wss/resident.h */
    struct wait wait;
};

static int damon_open(const struct hr_wss_subject *subject, void **state)
{
    struct damon *damon = calloc(1, sizeof(*damon));

    if (damon == NULL)
        return -ENOMEM;
    damon->root = subject->root;
    damon->next_number = hr_clock_ns(); /* those of other objects are likely to be others */
    *state = damon;
    return 0;
}

static void damon_end(void *state)
{
    struct damon *damon = state;

    if (damon->tag != 0)
        hr_damon_stop(damon->root, damon->tag);
    damon->tag = 0;
}

static void damon_close(void *state)
{
    damon_end(state);
    free(state);
}

void hr_wss_interrupt(const struct hr_root *root)
{
    uint64_t tag;

    if (hr_damon_read_tag(root, &tag) == 0 && hr_damon_is_own_tag(tag))
        hr_damon_switch_off(root);
}

/* --- Obstacles ------------------------------------------------------------ */

static int explain_busy(const struct hr_root *root, struct hr_reason *reason)
{
    const struct hr_damon_part *part = hr_damon_find_part(root);

    if (part != NULL)
        return hr_reason_set(reason, -EBUSY,
                             "the kernel itself uses DAMON (%s): echo N >%s, or choose another "
                             "method",
                             part->name, part->path);
    return hr_reason_set(reason, -EBUSY,
                         "another program uses DAMON (" HR_DAMON_KDAMONDS "/nr_kdamonds isn't 0): "
                         "stop that program, or if none runs: cd " HR_DAMON_KDAMONDS
                         "; echo off > 0/state; echo 0 > nr_kdamonds");
}

/* Trying would block as long as what is to be avoided, so the release decides. A distribution may
 * have the change in an older one: short windows do no harm there. An unknown release counts as a
 * later one. */
static bool is_blocking(const struct hr_root *root)
{
    struct hr_release release;

    return hr_release_read(root, &release) == 0 &&
           (release.major < 6 || (release.major == 6 && release.minor < 9));
}

static int damon_check_window(const struct hr_root *root, uint64_t window_ns,
                              struct hr_reason *reason)
{
    if (window_ns < MIN_WINDOW_NS)
        return hr_reason_set(reason, -EINVAL,
                             "a window of %.3f s is too short, as reading from DAMON takes 0.1 s: "
                             "use windows of %.1f s or more, or another method",
                             (double)window_ns / 1e9, (double)MIN_WINDOW_NS / 1e9);
    if (window_ns > BLOCKING_MAX_WINDOW_NS && is_blocking(root))
        return hr_reason_set(reason, -EINVAL,
                             "before Linux 6.9 DAMON answers only at the end of an interval, and "
                             "the thread that reads can't be interrupted until then: use windows "
                             "of up to %.0f s, or another method",
                             (double)BLOCKING_MAX_WINDOW_NS / 1e9);
    return 0;
}

static int explain_start(const struct hr_root *root, int status, const struct hr_damon_plan *plan,
                         struct hr_reason *reason)
{
    if (status == -EBUSY)
        return explain_busy(root, reason);
    if (status == -ENOENT)
        return hr_reason_set(reason, status,
                             "DAMON can't monitor that kind of memory: the kernel needs "
                             "CONFIG_DAMON_%s=y",
                             plan->pids != NULL ? "VADDR" : "PADDR");
    return hr_reason_set(reason, status, "DAMON can't be started (%s)", strerror(-status));
}

/* --- Planning ------------------------------------------------------------- */

static void plan_intervals(struct damon *damon, uint64_t window_ns)
{
    uint64_t interval_us = window_ns / HR_NS_PER_US * PERCENT_OF_WINDOW / 100;
    uint64_t samplings = SAMPLINGS;

    if (interval_us / samplings > MAX_SAMPLE_US)
        samplings = (interval_us + MAX_SAMPLE_US - 1) / MAX_SAMPLE_US;
    damon->sample_us = interval_us / samplings;
    damon->aggregation_us = damon->sample_us * samplings;
}

/* The maximum is twice the initial number, or else DAMON would divide regions once more. */
static struct hr_damon_plan make_plan(const struct damon *damon, size_t process_count)
{
    uint64_t each = REGIONS, all = process_count;

    if (process_count > MAX_PER_REGIONS)
        each = (uint64_t)REGIONS * MAX_PER_REGIONS / process_count;
    if (each < MIN_OF_A_PROCESS)
        each = MIN_OF_A_PROCESS;
    return (struct hr_damon_plan){
        .sample_us = damon->sample_us,
        .aggregation_us = damon->aggregation_us,
        .min_regions = each,
        .max_regions = 2 * each * (all > 0 ? all : 1),
        .tag = damon->tag,
    };
}

/* --- Processes ------------------------------------------------------------ */

/* Finds the processes that still exist. @return their number. */
static size_t find_living(const struct hr_process_list *list, pid_t *pids, uint64_t *resident_bytes)
{
    struct hr_wss_resident resident = {0};
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        if (hr_wss_resident_add(&resident, &list->items[i]) == 0)
            pids[count++] = list->items[i].tid;
    *resident_bytes = hr_wss_resident_bytes(&resident);
    return count;
}

/* A PID may have been reused before DAMON got it; not if the process still exists afterwards. */
static int start_processes(struct damon *damon, const struct hr_process_list *list, pid_t *pids,
                           struct hr_reason *reason)
{
    size_t count = find_living(list, pids, &damon->resident_bytes), before;

    do {
        before = count;
        if (count == 0)
            return -ESRCH;
        struct hr_damon_plan plan = make_plan(damon, count);
        plan.pids = pids;
        plan.pid_count = count;
        int status = hr_damon_start(damon->root, &plan);
        if (status < 0)
            return explain_start(damon->root, status, &plan, reason);
        count = find_living(list, pids, &damon->resident_bytes);
        if (count != before)
            hr_damon_stop(damon->root, damon->tag);
    } while (count != before);
    return 0;
}

static int begin_processes(struct damon *damon, const struct hr_process_list *list,
                           struct hr_reason *reason)
{
    pid_t *pids = calloc(list->count + 1, sizeof(*pids));

    if (pids == NULL)
        return -ENOMEM;
    int status = start_processes(damon, list, pids, reason);
    free(pids);
    return status;
}

/* --- The system ----------------------------------------------------------- */

/* Finds the ranges of memory; the caller frees them. */
static int find_memory(const struct hr_root *root, struct hr_damon_region **ranges, size_t *count)
{
    struct hr_file_text text = {0};

    int status = hr_file_text_read(root, "proc/iomem", &text);
    size_t max = text.length / IOMEM_LINE_MIN;
    *ranges = calloc(max + 1, sizeof(**ranges));
    if (status == 0 && *ranges == NULL)
        status = -ENOMEM;
    if (status == 0)
        status = hr_damon_parse_iomem(text.start, text.length, *ranges, max, count);
    free(text.start);
    return status;
}

/* Divides memory into regions; the caller frees them. */
static int divide_memory(const struct hr_root *root, struct hr_damon_region **regions,
                         size_t *count)
{
    struct hr_damon_region *ranges = NULL;
    size_t range_count = 0;

    int status = find_memory(root, &ranges, &range_count);
    if (status == 0)
        status = hr_damon_divide_ranges(ranges, range_count, REGIONS,
                                        (uint64_t)sysconf(_SC_PAGESIZE), regions, count);
    free(ranges);
    return status;
}

static int explain_memory(int status, struct hr_reason *reason)
{
    char remedy[HR_REMEDY_SIZE];

    if (status == -EACCES)
        return hr_reason_set(reason, status, "/proc/iomem hides the addresses of memory: %s",
                             hr_capability_remedy(HR_CAP_SYS_ADMIN, remedy));
    return hr_reason_set(reason, status, "can't read the addresses of memory from /proc/iomem: %s",
                         strerror(-status));
}

/* Without CAP_SYS_ADMIN addresses read 0. */
static int probe_memory(const struct hr_root *root, struct hr_reason *reason)
{
    struct hr_damon_region *regions = NULL;
    size_t region_count = 0;

    int status = divide_memory(root, &regions, &region_count);
    free(regions);
    return status < 0 ? explain_memory(status, reason) : 0;
}

static int begin_system(struct damon *damon, struct hr_reason *reason)
{
    struct hr_damon_region *regions;
    size_t region_count = 0;

    int status = divide_memory(damon->root, &regions, &region_count);
    if (status < 0)
        return explain_memory(status, reason);
    struct hr_damon_plan plan = make_plan(damon, 0);
    plan.regions = regions;
    plan.region_count = region_count;
    plan.max_regions = 2 * region_count;
    status = hr_damon_start(damon->root, &plan);
    free(regions);
    return status < 0 ? explain_start(damon->root, status, &plan, reason) : 0;
}

/* --- Requirements --------------------------------------------------------- */

static int damon_probe(const struct hr_root *root, enum hr_wss_scope scope, bool aging,
                       struct hr_reason *reason)
{
    struct hr_damon_found found;

    (void)aging;
    int fd = hr_root_openat(root, HR_DAMON_KDAMONDS "/nr_kdamonds", O_RDWR);
    if (fd >= 0)
        close(fd);
    int status = fd < 0 ? fd : hr_damon_find_owner(root, &found);
    if (status < 0)
        return hr_damon_explain_files(status, reason);
    if ((found.owner != HR_DAMON_OWNER_NONE && found.owner != HR_DAMON_OWNER_DEAD) ||
        hr_damon_find_part(root) != NULL)
        return explain_busy(root, reason);
    return scope == HR_WSS_SYSTEM ? probe_memory(root, reason) : 0;
}

/* --- Measuring ------------------------------------------------------------ */

static int damon_begin(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                       struct hr_reason *reason)
{
    struct damon *damon = state;

    damon->is_blocking = is_blocking(damon->root);
    int status = damon_check_window(damon->root, window_ns, reason);
    if (status == 0)
        status = damon_probe(damon->root, subject->scope, subject->aging, reason);
    if (status < 0)
        return status;
    hr_wss_recover(damon->root);
    damon->tag = hr_damon_make_tag(damon->next_number++);
    plan_intervals(damon, window_ns);
    status = subject->scope == HR_WSS_SYSTEM ? begin_system(damon, reason)
                                             : begin_processes(damon, subject->processes, reason);
    if (status < 0)
        damon->tag = 0;
    damon->started_ns = hr_clock_ns();
    damon->wait = (struct wait){0};
    return status;
}

/* Looks whether an aggregation interval has ended: then the sum of all regions has grown. @return
 * -EAGAIN: not yet. */
static int look_for_sums(struct damon *damon, uint64_t bytes[HR_DAMON_SCHEME_COUNT])
{
    struct wait *wait = &damon->wait;

    if (wait->until_ns == 0)
        wait->until_ns =
            hr_clock_ns() + LATE_INTERVALS * damon->aggregation_us * HR_NS_PER_US + LATE_NS;
    int status = hr_damon_read_sums(damon->root, bytes);
    if (status < 0)
        return status;
    if (bytes[HR_DAMON_ALL] <= wait->before_bytes)
        return hr_clock_ns() > wait->until_ns ? -ETIME : -EAGAIN;
    wait->until_ns = 0;
    return 0;
}

/* The sums are those of all intervals so far. Before two can have passed, that is one. Otherwise
 * the number is unknown: wait for the next interval and take its difference. A kernel that answers
 * at the end of an interval does so before it adds that one. */
static int read_interval(struct damon *damon, uint64_t *touched_bytes)
{
    uint64_t bytes[HR_DAMON_SCHEME_COUNT] = {0};
    uint64_t intervals = damon->is_blocking ? 3 : 2;
    struct wait *wait = &damon->wait;

    int status = look_for_sums(damon, bytes);
    if (status < 0)
        return status;
    if (!wait->is_second &&
        hr_clock_ns() - damon->started_ns >= intervals * damon->aggregation_us * HR_NS_PER_US) {
        *wait = (struct wait){.is_second = true,
                              .before_bytes = bytes[HR_DAMON_ALL],
                              .touched_bytes = bytes[HR_DAMON_TOUCHED]};
        return -EAGAIN;
    }
    *touched_bytes = bytes[HR_DAMON_TOUCHED] - wait->touched_bytes;
    return 0;
}

/* Counts the remaining processes, adds up their resident memory, and limits the result to it. */
static int add_processes(const struct damon *damon, const struct hr_process_list *list,
                         struct hr_wss_sample *sample)
{
    struct hr_wss_resident resident = {0};
    uint64_t bound_bytes = damon->resident_bytes;

    for (size_t i = 0; i < list->count; i++)
        if (hr_wss_resident_add(&resident, &list->items[i]) == 0)
            sample->process_count++;
        else
            sample->ended_count++;
    if (sample->process_count == 0)
        return -ESRCH;
    sample->has_rss = true;
    sample->rss_bytes = resident.sum_bytes;
    if (bound_bytes < hr_wss_resident_bytes(&resident))
        bound_bytes = hr_wss_resident_bytes(&resident);
    if (sample->referenced_bytes > bound_bytes)
        sample->referenced_bytes = bound_bytes;
    return 0;
}

static bool is_any_left(const struct hr_wss_subject *subject)
{
    uint64_t rss_bytes;

    if (subject->scope == HR_WSS_SYSTEM)
        return true;
    for (size_t i = 0; i < subject->processes->count; i++)
        if (hr_process_read_rss(&subject->processes->items[i], &rss_bytes) == 0)
            return true;
    return false;
}

static int explain_reading(int status, const struct hr_wss_subject *subject,
                           struct hr_reason *reason)
{
    if (status == -ETIME)
        return hr_reason_set(reason, status,
                             "DAMON didn't reach the end of its interval in time, as the machine "
                             "is overloaded: use a longer window");
    if (status == -ESRCH && is_any_left(subject))
        return hr_reason_set(reason, -EBUSY,
                             "another program switched DAMON off: let only one use it at a time");
    return status;
}

static int damon_read(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                      struct hr_wss_sample *sample, struct hr_reason *reason)
{
    struct damon *damon = state;

    (void)window_ns;
    if (!hr_damon_is_ours(damon->root, damon->tag)) {
        damon->tag = 0;
        return hr_reason_set(reason, -EBUSY,
                             "another program took over DAMON: let only one use it at a time");
    }
    int status = read_interval(damon, &sample->referenced_bytes);
    if (status == -EAGAIN)
        return status;
    damon->wait = (struct wait){0};
    if (status == 0 && subject->scope == HR_WSS_PROCESSES)
        status = add_processes(damon, subject->processes, sample);
    sample->window_ns = damon->aggregation_us * HR_NS_PER_US;
    return explain_reading(status, subject, reason);
}

const struct hr_wss_ops hr_wss_damon_ops = {
    .method = HR_WSS_DAMON,
    .scopes = {[HR_WSS_PROCESSES] = true, [HR_WSS_SYSTEM] = true},
    .max_windows = 1,
    .max_windows_passive = 1,
    .probe = damon_probe,
    .check_window = damon_check_window,
    .open = damon_open,
    .begin = damon_begin,
    .read = damon_read,
    .end = damon_end,
    .close = damon_close,
};
