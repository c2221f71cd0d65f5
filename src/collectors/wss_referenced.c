/*
 * The method referenced: clears the referenced bits of processes, and adds up which came back.
 *
 * Clearing holds the lock of a process's memory map for as long as it walks the page tables, and
 * the process waits whenever it needs a new page. Hence the care before: what it will take is
 * foretold by what it took before, or else by what reading takes, which is harmless.
 *
 * Sources: Documentation/filesystems/proc.rst (clear_refs), fs/proc/task_mmu.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "descriptor.h"
#include "headroom/root.h"
#include "smaps.h"
#include "task_list.h"
#include "wss_method.h"

/* Clearing takes longer than reading: measured up to 1.6 times, of 2 GiB in pages of 4 KiB. */
#define CLEAR_PER_READ 2

#define NS_PER_MS 1000000

/* How many processes a probe tries at most. */
#define TRIED_MAX 256

struct referenced {
    /* The slowest look at memory so far, to foretell the next; 0: none was taken. */
    uint64_t look_ns, look_rss_bytes;
};

static int open_state(const struct hr_wss_subject *subject, void **state)
{
    struct referenced *referenced = calloc(1, sizeof(*referenced));

    (void)subject;
    if (referenced == NULL)
        return -ENOMEM;
    *state = referenced;
    return 0;
}

/* --- What it needs -------------------------------------------------------- */

static int try_file(const struct hr_process *process, const char *name, int flags)
{
    int fd = hr_process_openat(process, name, flags);

    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

/* Opens what is needed of a process, which does nothing to it. */
static int try_process(const struct hr_root *root, pid_t pid)
{
    struct hr_process process;

    int status = hr_process_open(root, pid, &process);
    if (status < 0)
        return status;
    status = try_file(&process, "clear_refs", O_WRONLY);
    if (status == 0) {
        status = try_file(&process, "smaps_rollup", O_RDONLY);
        if (status == -ENOENT)
            status = try_file(&process, "smaps", O_RDONLY);
    }
    hr_process_close(&process);
    return status;
}

static bool is_of_other_user(const struct hr_root *root, pid_t pid)
{
    struct stat stat;
    char path[32];

    snprintf(path, sizeof(path), "proc/%d", (int)pid);
    int dirfd = hr_root_openat(root, path, O_PATH | O_DIRECTORY);
    bool is_other = dirfd >= 0 && fstat(dirfd, &stat) == 0 && stat.st_uid != geteuid();
    hr_descriptor_close(&dirfd);
    return is_other;
}

/* Where the first process is guarded, as within some containers, others may not be. For root all
 * others will do; for anybody else those of other users. @return 0, or the first one's status. */
static int try_others(const struct hr_root *root, int status)
{
    struct hr_task_list tasks = {0};

    if (hr_task_list_read_system(root, &tasks) < 0)
        return status;
    for (size_t i = 0, tried = 0; i < tasks.count && status < 0 && tried < TRIED_MAX; i++) {
        pid_t pid = tasks.ids[i];
        if (pid == getpid() || (geteuid() != 0 && !is_of_other_user(root, pid)))
            continue;
        int tried_status = try_process(root, pid);
        if (tried_status == 0)
            status = 0;
        /* Threads of the kernel have no memory that could be refused. */
        tried += tried_status != -ENXIO;
    }
    hr_task_list_free(&tasks);
    return status;
}

static int probe(const struct hr_root *root, enum hr_wss_scope scope, struct hr_wss_reason *reason)
{
    (void)scope;
    int status = try_process(root, 1);
    if (status == -EACCES || status == -EPERM)
        status = try_others(root, status);
    if (status == -ENOENT)
        return hr_wss_because(reason, status,
                              "/proc/PID/clear_refs and smaps are missing: the kernel needs "
                              "CONFIG_PROC_PAGE_MONITOR=y");
    if (status == -EACCES || status == -EPERM)
        return hr_wss_because(reason, status,
                              "no permission to look at the memory of other users' processes: run "
                              "as root, or add CAP_SYS_PTRACE and CAP_DAC_OVERRIDE");
    if (status < 0)
        return hr_wss_because(reason, status, "/proc/1/clear_refs or smaps_rollup: %s",
                              strerror(-status));
    return 0;
}

/* --- Limits --------------------------------------------------------------- */

static void learn(struct referenced *referenced, uint64_t look_ns, uint64_t rss_bytes)
{
    __uint128_t learnt = (__uint128_t)referenced->look_ns * (rss_bytes + 1);
    __uint128_t seen = (__uint128_t)look_ns * (referenced->look_rss_bytes + 1);

    if (referenced->look_ns > 0 && seen < learnt)
        return;
    referenced->look_ns = look_ns;
    referenced->look_rss_bytes = rss_bytes;
}

/* @return nanoseconds; 0: nothing is known yet. */
static uint64_t foretell(const struct referenced *referenced, uint64_t rss_bytes)
{
    return (uint64_t)((__uint128_t)referenced->look_ns * (rss_bytes + 1) /
                      (referenced->look_rss_bytes + 1));
}

static int too_long(const struct hr_process *process, uint64_t look_ns, uint64_t max_ns,
                    struct hr_wss_reason *reason)
{
    return hr_wss_because(reason, -ETIME,
                          "a look at the memory of %s[%d] takes %" PRIu64 " ms, and %" PRIu64
                          " ms are allowed: raise the limit, or choose another method",
                          process->name, (int)process->pid, look_ns / NS_PER_MS,
                          max_ns / NS_PER_MS);
}

/* Tells whether clearing a process's bits is too long a look, without clearing them. */
static int check_time(struct referenced *referenced, const struct hr_process *process,
                      uint64_t max_ns, struct hr_wss_reason *reason)
{
    struct hr_smaps sums;
    uint64_t rss_bytes;

    if (max_ns == 0)
        return 0;
    int status = hr_process_read_rss(process, &rss_bytes);
    if (status < 0)
        return status;
    uint64_t look_ns = foretell(referenced, rss_bytes);
    if (look_ns > 0 && look_ns <= max_ns)
        return 0;
    /* It may have shrunk, or have got huge pages, which take next to no time. */
    uint64_t from = hr_clock_ns();
    status = hr_smaps_read(process, &sums);
    look_ns = CLEAR_PER_READ * (hr_clock_ns() - from);
    if (status < 0)
        return status;
    *referenced = (struct referenced){look_ns, sums.rss_bytes};
    return look_ns > max_ns ? too_long(process, look_ns, max_ns, reason) : 0;
}

/* --- Marking -------------------------------------------------------------- */

static int clear_bits(const struct hr_process *process)
{
    int fd = hr_process_openat(process, "clear_refs", O_WRONLY);
    if (fd < 0)
        return fd;
    int status = write(fd, "1", 1) < 0 ? -errno : 0;
    hr_descriptor_close(&fd);
    return status;
}

static int mark(struct referenced *referenced, const struct hr_process *process, uint64_t max_ns)
{
    uint64_t from = hr_clock_ns(), rss_bytes = 0;

    int status = clear_bits(process);
    uint64_t look_ns = hr_clock_ns() - from;
    if (status == 0 && max_ns > 0 && hr_process_read_rss(process, &rss_bytes) == 0)
        learn(referenced, look_ns, rss_bytes);
    return status;
}

static bool is_of_one_process(int status)
{
    return status == -ESRCH || status == -EACCES || status == -EPERM;
}

static int begin(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                 struct hr_wss_reason *reason)
{
    const struct hr_process_list *processes = subject->processes;
    size_t marked = 0;
    int last = 0;

    (void)window_ns;
    for (size_t i = 0; i < processes->count; i++) {
        int status = check_time(state, &processes->items[i], subject->max_scan_ns, reason);
        if (status < 0 && !is_of_one_process(status))
            return status;
    }
    for (size_t i = 0; i < processes->count; i++) {
        int status = mark(state, &processes->items[i], subject->max_scan_ns);
        if (status < 0 && !is_of_one_process(status))
            return status;
        if (status < 0)
            last = status;
        else
            marked++;
    }
    return marked > 0 ? 0 : last;
}

/* --- Counting ------------------------------------------------------------- */

static void add(struct hr_wss_sample *sample, const struct hr_smaps *sums)
{
    sample->referenced_bytes += sums->referenced_bytes;
    sample->rss_bytes += sums->rss_bytes;
    sample->pss_bytes += sums->pss_bytes;
    sample->has_rss = true;
    sample->has_pss = sums->has_pss && (sample->has_pss || sample->process_count == 0);
    sample->process_count++;
}

static int count_process(struct referenced *referenced, const struct hr_process *process,
                         uint64_t max_ns, struct hr_wss_sample *sample)
{
    struct hr_smaps sums;
    uint64_t from = hr_clock_ns();

    int status = hr_smaps_read(process, &sums);
    if (status == 0 && !sums.has_referenced)
        return -ENOENT;
    if (status == 0) {
        add(sample, &sums);
        if (max_ns > 0)
            learn(referenced, hr_clock_ns() - from, sums.rss_bytes);
    } else if (status == -ESRCH) {
        sample->ended_count++;
    } else if (is_of_one_process(status)) {
        sample->left_count++;
    } else {
        return status;
    }
    return 0;
}

static int read_sample(void *state, const struct hr_wss_subject *subject, uint64_t window_ns,
                       struct hr_wss_sample *sample, struct hr_wss_reason *reason)
{
    const struct hr_process_list *processes = subject->processes;

    (void)window_ns;
    for (size_t i = 0; i < processes->count; i++) {
        int status = count_process(state, &processes->items[i], subject->max_scan_ns, sample);
        if (status == -ENOENT)
            return hr_wss_because(reason, status,
                                  "smaps tells of no referenced memory: the kernel needs "
                                  "CONFIG_PROC_PAGE_MONITOR=y");
        if (status < 0)
            return status;
    }
    if (sample->process_count > 0)
        return 0;
    return sample->ended_count > 0 ? -ESRCH : -EACCES;
}

const struct hr_wss_ops hr_wss_referenced_ops = {
    .method = HR_WSS_REFERENCED,
    .scopes = {[HR_WSS_PROCESSES] = true, [HR_WSS_CGROUP] = true},
    .wants_processes = true,
    .walks_memory = true,
    .needs_no_rights = true,
    .probe = probe,
    .open = open_state,
    .begin = begin,
    .read = read_sample,
    .close = free,
};
