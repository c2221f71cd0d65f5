/* SPDX-License-Identifier: MIT */
/*
 * wss/method_referenced.c - the referenced method: clears the referenced bits of processes, and
 * adds up which are set again.
 *
 * Clearing holds the lock of a process's memory map while it walks the page tables, and the process
 * blocks whenever it needs a new page. So the duration is estimated first: from the last clearing,
 * or else from reading, which is harmless.
 *
 * Sources: Documentation/filesystems/proc.rst (clear_refs), fs/proc/task_mmu.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/descriptor.h"
#include "headroom/capability.h"
#include "headroom/clock.h"
#include "memory/charge.h"
#include "memory/damon_user.h"
#include "memory/smaps.h"
#include "process/probe.h"
#include "wss/guests.h"
#include "wss/method.h"
#include "wss/touched.h"

/* Clearing takes longer than reading: up to 1.6 times was measured, with 2 GiB in 4 KiB pages. */
#define CLEAR_PER_READ 2

/* What is written to clear_refs. */
#define CLEAR_ACCESSED   "1"
#define CLEAR_SOFT_DIRTY "4"

/* Scans of a process's memory, kept from one measurement to the next. */
struct scan {
    pid_t pid;
    uint64_t started_ticks;
    bool is_marked; /* in this measurement */
    uint64_t ns,
        rss_bytes; /* CPU time of the latest scan, 0: there was none; and how large it was */
};

struct referenced {
    struct scan *scans; /* of the processes of this measurement, in their order */
    size_t count;
    bool flushes_tlbs; /* see clear_bits() */
    bool times_locks;  /* see write_locked() */
    struct hr_wss_lock worst_lock;
};

static int referenced_open(const struct hr_wss_subject *subject, void **state)
{
    struct referenced *referenced = calloc(1, sizeof(*referenced));

    if (referenced == NULL)
        return -ENOMEM;
    referenced->flushes_tlbs = !hr_smaps_has_soft_dirty(subject->root);
    referenced->times_locks = hr_wss_scans_are_throttled(subject->root);
    *state = referenced;
    return 0;
}

static void referenced_close(void *state)
{
    struct referenced *referenced = state;

    free(referenced->scans);
    free(referenced);
}

/* Sets the processes of a measurement, and keeps the earlier scans of those known already. Both
 * lists are sorted by PID. */
static int set_processes(struct referenced *referenced, const struct hr_process_list *processes)
{
    struct scan *scans = calloc(processes->count + 1, sizeof(*scans));
    size_t old = 0;

    if (scans == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < processes->count; i++) {
        const struct hr_process *process = &processes->items[i];
        while (old < referenced->count && referenced->scans[old].pid < process->pid)
            old++;
        if (old < referenced->count && referenced->scans[old].pid == process->pid &&
            referenced->scans[old].started_ticks == process->started_ticks)
            scans[i] = referenced->scans[old];
        scans[i].pid = process->pid;
        scans[i].started_ticks = process->started_ticks;
        scans[i].is_marked = false;
    }
    free(referenced->scans);
    referenced->scans = scans;
    referenced->count = processes->count;
    return 0;
}

/* --- Requirements --------------------------------------------------------- */

/* Opens the files needed, which has no effect on the process. */
static int probe_files(const struct hr_process *process)
{
    int status = hr_process_try_file(process, "clear_refs", O_WRONLY);

    if (status == 0) {
        status = hr_process_try_file(process, "smaps_rollup", O_RDONLY);
        if (status == -ENOENT)
            status = hr_process_try_file(process, "smaps", O_RDONLY);
    }
    return status;
}

static int referenced_probe(const struct hr_root *root, enum hr_wss_scope scope, bool aging,
                            struct hr_reason *reason)
{
    char remedy[HR_REMEDY_SIZE];

    (void)scope;
    (void)aging;
    int status = hr_process_probe(root, probe_files);
    if (status == -ESRCH)
        return hr_reason_set(reason, -EACCES,
                             "other users' processes are hidden: mount /proc without hidepid, or "
                             "%s",
                             hr_capability_remedy(HR_CAP_SYS_PTRACE, remedy));
    if (status == -ENOENT)
        return hr_reason_set(reason, status,
                             "/proc/PID/clear_refs and smaps are missing: the kernel needs "
                             "CONFIG_PROC_PAGE_MONITOR=y");
    if (status < 0 && status != -EACCES && status != -EPERM)
        return hr_reason_set(reason, status,
                             "/proc/1/clear_refs or smaps_rollup can't be used (%s)",
                             strerror(-status));
    return status;
}

/* --- Limits --------------------------------------------------------------- */

/* @return nanoseconds; 0: there was no scan yet. */
static uint64_t estimate_scan_ns(const struct scan *scan, uint64_t rss_bytes)
{
    return (uint64_t)((__uint128_t)scan->ns * (rss_bytes + 1) / (scan->rss_bytes + 1));
}

static int explain_too_long(const struct hr_process *process, uint64_t scan_ns, uint64_t max_ns,
                            struct hr_reason *reason)
{
    return hr_reason_set(
        reason, -ETIME,
        "scanning the memory of %s[%d] takes %" PRIu64 " ms, above the limit of %" PRIu64
        " ms: raise the limit, or choose another method",
        process->name, (int)process->pid, scan_ns / HR_NS_PER_MS, max_ns / HR_NS_PER_MS);
}

/* Estimates the duration of clearing by reading. */
static int measure_by_reading(struct scan *scan, const struct hr_process *process)
{
    struct hr_smaps sums;
    uint64_t from = hr_clock_thread_ns();

    int status = hr_smaps_read(process, &sums);
    if (status < 0)
        return status;
    scan->ns = CLEAR_PER_READ * (hr_clock_thread_ns() - from);
    scan->rss_bytes = sums.rss_bytes;
    return 0;
}

/* Checks whether clearing a process's bits would take too long, without clearing them. */
static int check_time(struct scan *scan, const struct hr_process *process, uint64_t max_ns,
                      struct hr_reason *reason)
{
    uint64_t rss_bytes;

    if (max_ns == 0)
        return 0;
    int status = hr_process_read_rss(process, &rss_bytes);
    if (status < 0)
        return status;
    uint64_t scan_ns = estimate_scan_ns(scan, rss_bytes);
    /* Scanning may have become fast since, as with huge pages. */
    if (scan_ns == 0 || scan_ns > max_ns) {
        status = measure_by_reading(scan, process);
        scan_ns = scan->ns;
    }
    if (status < 0)
        return status;
    return scan_ns > max_ns ? explain_too_long(process, scan_ns, max_ns, reason) : 0;
}

/* --- Marking -------------------------------------------------------------- */

/* How often this thread has blocked: not as its time was up, or others were to run. */
static long count_waits(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

/* One in which the thread had to wait is what there may be to mend. */
static bool is_worse(const struct hr_wss_lock *lock, const struct hr_wss_lock *than)
{
    const bool waited = hr_wss_lock_waited(lock);

    return waited != hr_wss_lock_waited(than) ? waited : lock->held_ns > than->held_ns;
}

static int write_word(int fd, const char *what)
{
    return write(fd, what, 1) < 0 ? -errno : 0;
}

/* The kernel holds the lock while it clears. By the clock that is longer than the CPU time where
 * collectd's own limit is used up meanwhile; where that doesn't stop a thread in the kernel, it
 * does right after, and so may others that get the CPU: then it isn't known for how long the lock
 * was held. A write that has blocked had to wait for the lock first, which the process itself held:
 * that can't be distinguished from holding it. */
static int write_locked(struct referenced *referenced, const struct hr_process *process, int fd,
                        const char *what)
{
    if (!referenced->times_locks)
        return write_word(fd, what);
    const long waits = count_waits();
    const uint64_t from = hr_clock_ns(), cpu_from = hr_clock_thread_ns();
    int status = write_word(fd, what);
    struct hr_wss_lock lock = {.cpu_ns = hr_clock_thread_ns() - cpu_from,
                               .held_ns = hr_clock_ns() - from,
                               .pid = process->pid};
    const bool has_blocked = count_waits() != waits;

    if (status == 0 && !has_blocked && is_worse(&lock, &referenced->worst_lock)) {
        memcpy(lock.name, process->name, sizeof(lock.name));
        referenced->worst_lock = lock;
    }
    return status;
}

/* Clearing accessed bits leaves the TLBs as they are, and a page gets no new bit as long as a CPU
 * has it in its TLB: all that a process touches, if that fits, and nothing else runs on the CPU.
 * Clearing soft-dirty bits flushes them. Where the kernel has no such bits, that is all that it
 * does, and takes a tenth of the time of the other; where it has, each page is then written with a
 * fault, which is no price to have a process pay. */
static int clear_bits(struct referenced *referenced, const struct hr_process *process)
{
    int fd = hr_process_openat(process, "clear_refs", O_WRONLY);
    if (fd < 0)
        return fd;
    int status = write_locked(referenced, process, fd, CLEAR_ACCESSED);
    if (status == 0 && referenced->flushes_tlbs)
        status = write_locked(referenced, process, fd, CLEAR_SOFT_DIRTY);
    hr_descriptor_close(&fd);
    return status;
}

/* If clearing took too long, the measurement is given up, and reading precedes the next one. */
static int mark_process(struct referenced *referenced, size_t index,
                        const struct hr_process *process, uint64_t max_ns, struct hr_reason *reason)
{
    struct scan *scan = &referenced->scans[index];
    uint64_t from = hr_clock_thread_ns(), rss_bytes;

    int status = clear_bits(referenced, process);
    uint64_t scan_ns = hr_clock_thread_ns() - from;
    if (status < 0)
        return status;
    scan->is_marked = true;
    if (max_ns == 0)
        return 0;
    status = hr_process_read_rss(process, &rss_bytes);
    if (status < 0)
        return status;
    scan->ns = scan_ns;
    scan->rss_bytes = rss_bytes;
    return scan_ns > max_ns ? explain_too_long(process, scan_ns, max_ns, reason) : 0;
}

static int referenced_begin(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                            struct hr_reason *reason)
{
    const struct hr_process_list *processes = subject->processes;
    struct referenced *referenced = state;
    size_t marked_count = 0;
    int last = 0;

    (void)window_ns;
    referenced->worst_lock = (struct hr_wss_lock){0};
    int status = hr_wss_refuse_guests(subject->root, subject->scope, processes, reason);
    if (status == 0)
        status = set_processes(referenced, processes);
    for (size_t i = 0; i < processes->count && status == 0; i++) {
        status =
            check_time(&referenced->scans[i], &processes->items[i], subject->max_scan_ns, reason);
        status = hr_wss_is_of_one_process(status) ? 0 : status;
    }
    for (size_t i = 0; i < processes->count && status == 0; i++) {
        status = mark_process(referenced, i, &processes->items[i], subject->max_scan_ns, reason);
        marked_count += status == 0;
        last = status < 0 ? status : last;
        status = hr_wss_is_of_one_process(status) ? 0 : status;
    }
    if (status < 0)
        return status;
    return marked_count > 0 ? 0 : last;
}

/* --- Counting ------------------------------------------------------------- */

/* What a reading adds up. */
struct reading {
    struct hr_wss_touched touched;
    struct hr_smaps sums; /* of the process that is being read */
    bool is_shared;       /* there are several processes, which may have memory in common */
};

static int add_mapping(const struct hr_smaps_mapping *mapping, void *context)
{
    struct reading *reading = context;
    struct hr_smaps *sums = &reading->sums;

    sums->has_rss = true;
    sums->has_pss = sums->has_pss || mapping->sums.has_pss;
    sums->has_referenced = sums->has_referenced || mapping->sums.has_referenced;
    sums->rss_bytes += mapping->sums.rss_bytes;
    sums->pss_bytes += mapping->sums.pss_bytes;
    sums->referenced_bytes += mapping->sums.referenced_bytes;
    return hr_wss_touched_add(&reading->touched, mapping);
}

/* One process is read as a whole, which costs less. */
static int read_process(struct reading *reading, const struct hr_process *process)
{
    reading->sums = (struct hr_smaps){0};
    int status = reading->is_shared ? hr_smaps_read_mappings(process, add_mapping, reading) : 1;

    if (status != 1 && status != -ENOENT)
        return status;
    status = hr_smaps_read(process, &reading->sums);
    if (status == 0)
        reading->touched.own_bytes += reading->sums.referenced_bytes;
    return status;
}

static void add_sums(struct hr_wss_sample *sample, const struct hr_smaps *sums)
{
    sample->rss_bytes += sums->rss_bytes;
    sample->pss_bytes += sums->pss_bytes;
    sample->has_rss = true;
    sample->has_pss = sums->has_pss && (sample->has_pss || sample->process_count == 0);
    sample->process_count++;
}

/* A process counts only if it was marked, or is a newcomer. */
static int count_process(struct reading *reading, bool counts, const struct hr_process *process,
                         struct hr_wss_sample *sample)
{
    uint64_t rss_bytes;

    int status = counts ? read_process(reading, process) : hr_process_read_rss(process, &rss_bytes);
    if (status == -ESRCH) {
        sample->ended_count++;
        return 0;
    }
    if (hr_wss_is_of_one_process(status) || (status == 0 && !counts)) {
        sample->left_count++;
        return 0;
    }
    if (status == 0 && !reading->sums.has_referenced)
        return -ENOENT;
    if (status == 0)
        add_sums(sample, &reading->sums);
    return status;
}

static int count_processes(const struct referenced *referenced,
                           const struct hr_wss_subject *subject, struct reading *reading,
                           struct hr_wss_sample *sample)
{
    const struct hr_process_list *processes = subject->processes, *newcomers = subject->newcomers;
    int status = 0;

    for (size_t i = 0; i < processes->count && status == 0; i++)
        status =
            count_process(reading, referenced->scans[i].is_marked, &processes->items[i], sample);
    for (size_t i = 0; i < newcomers->count && status == 0; i++)
        status = count_process(reading, true, &newcomers->items[i], sample);
    return status;
}

/* Without the memory controller nothing is known about the group's memory. */
static uint64_t limit_to_charge(const struct hr_wss_subject *subject, uint64_t bytes)
{
    const uint64_t charge_bytes =
        subject->scope == HR_WSS_CGROUP ? hr_charge_read(subject->cgroup_dirfd) : 0;

    return charge_bytes > 0 && bytes > charge_bytes ? charge_bytes : bytes;
}

static int referenced_read(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                           struct hr_wss_sample *sample, struct hr_reason *reason)
{
    struct referenced *referenced = state;
    struct reading reading = {
        .is_shared = subject->processes->count + subject->newcomers->count > 1,
    };

    (void)window_ns;
    sample->damon_path = hr_damon_find_user(subject->root);
    int status = count_processes(referenced, subject, &reading, sample);
    sample->referenced_bytes = limit_to_charge(subject, hr_wss_touched_bytes(&reading.touched));
    hr_wss_touched_free(&reading.touched);
    if (status == -ENOENT)
        return hr_reason_set(reason, status,
                             "smaps has no line Referenced: the kernel needs "
                             "CONFIG_PROC_PAGE_MONITOR=y");
    if (status < 0)
        return status;
    if (sample->process_count == 0)
        return sample->left_count > 0 ? -EACCES : -ESRCH;
    sample->worst_lock = referenced->worst_lock;
    referenced->worst_lock = (struct hr_wss_lock){0};
    return 0;
}

const struct hr_wss_ops hr_wss_referenced_ops = {
    .method = HR_WSS_REFERENCED,
    .scopes = {[HR_WSS_PROCESSES] = true, [HR_WSS_CGROUP] = true},
    .wants_processes = true,
    .counts_newcomers = true,
    .walks_memory = true,
    .needs_no_rights = true,
    .probe = referenced_probe,
    .open = referenced_open,
    .begin = referenced_begin,
    .read = referenced_read,
    .close = referenced_close,
};
