/* SPDX-License-Identifier: MIT */
#include "headroom/waiters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "headroom/taskstats.h"
#include "headroom/utf8.h"
#include "process/task_list.h"
#include "process/task_sample.h"

/* Groups usually have a process or more. More directories than this would be a tree of empty ones,
 * which must not take long to read. */
#define DIRECTORIES_PER_TASK 4
#define MIN_DIRECTORIES      64

/* A process starts before its group lists it; forking a big one takes some time. */
#define FORK_US 10000

#define AGE_TRIES 3

/* 2^64 / 1.618…, whose multiples are evenly distributed. */
#define GOLDEN_RATIO UINT64_C(0x9e3779b97f4a7c15)

#define BIT(delay) (1u << (delay))

/* The delays that count as waiting for a resource, as bits. */
static const unsigned counted_delays[HR_PSI_RESOURCE_COUNT] = {
    [HR_PSI_CPU] = BIT(HR_DELAY_CPU),
    [HR_PSI_MEMORY] = BIT(HR_DELAY_SWAPIN) | BIT(HR_DELAY_FREEPAGES) | BIT(HR_DELAY_THRASHING) |
                      BIT(HR_DELAY_COMPACT) | BIT(HR_DELAY_WPCOPY),
    [HR_PSI_IO] = BIT(HR_DELAY_BLKIO),
    [HR_PSI_IRQ] = BIT(HR_DELAY_IRQ),
};

/* The total is unknown, as the task ended or its reply was lost. */
#define UNKNOWN UINT64_MAX

/* How long a process waited between the samples. */
struct wait {
    pid_t process;
    uint64_t ns;
};

struct waits {
    struct wait *entries;
    size_t count;
    size_t capacity;
};

struct hr_waiters {
    const struct hr_root *root;
    struct hr_taskstats *taskstats;
    unsigned counted; /* delays, as bits */
    size_t limit;
    int dirfd;                    /* the group's directory; -1: the system */
    uint64_t begun_ns;            /* the start of the first sample */
    struct hr_task_list first;    /* all tasks listed for the first sample */
    struct hr_task_sample sample; /* of these */
    uint64_t *totals;             /* the wait of each since its start, or UNKNOWN */
    size_t sampled_count;         /* threads of which it is known */
};

static int append_wait(struct waits *waits, pid_t process, uint64_t ns)
{
    if (HR_ARRAY_RESERVE(waits->entries, waits->capacity, waits->count + 1) < 0)
        return -ENOMEM;
    waits->entries[waits->count++] = (struct wait){process, ns};
    return 0;
}

/* --- Requirements --------------------------------------------------------- */

int hr_waiters_check(const struct hr_root *root, enum hr_psi_resource resource)
{
    char text[8];
    size_t length;

    if (resource == HR_PSI_CPU)
        return 0;
    int fd = hr_root_openat(root, "proc/sys/kernel/task_delayacct", O_RDONLY);
    int status = hr_text_read_and_close(fd, text, sizeof(text), &length);
    if (status < 0)
        return status == -ENOENT ? 0 : status; /* before Linux 5.14 it is set at boot only */
    return length > 0 && text[0] == '0' ? -EOPNOTSUPP : 0;
}

/* taskstats and cgroup.procs use the PIDs of our PID namespace; in another namespace's /proc the
 * same PIDs are other tasks. There, "self" leads to our PID in that namespace.
 * @return 0, -EXDEV, or another negative errno. */
static int check_namespace(const struct hr_root *root)
{
    char target[16];
    int fd = hr_root_openat(root, "proc/self", O_PATH | O_NOFOLLOW);

    if (fd < 0)
        return fd == -ENOENT ? 0 : fd; /* without /proc, there are no names */
    ssize_t length = readlinkat(fd, "", target, sizeof(target) - 1);
    close(fd);
    if (length < 0)
        return errno == ENOENT ? -EXDEV : -errno; /* we have no PID in that namespace */
    target[length] = '\0';
    return strtol(target, NULL, 10) == getpid() ? 0 : -EXDEV;
}

/* --- One task ------------------------------------------------------------- */

/* A task that has ended meanwhile, or whose reply was lost, is skipped; other errors would recur
 * for all tasks. */
static bool is_transient(int status)
{
    return status == -ESRCH || status == -EAGAIN || status == -ENOBUFS;
}

/* @return the sum of the delays that count, UNKNOWN if they couldn't be read, or an error. */
static int sum_delays(const struct hr_waiters *waiters, const struct hr_taskstats_query *query,
                      uint64_t *total_ns)
{
    *total_ns = UNKNOWN;
    if (query->status != 0)
        return is_transient(query->status) ? 0 : query->status;
    if ((query->delays.known & waiters->counted) == 0)
        return -ENODATA;
    *total_ns = 0;
    for (int i = 0; i < HR_DELAY_COUNT; i++)
        if (waiters->counted & BIT(i))
            *total_ns += query->delays.ns[i];
    return 0;
}

/* @param count  of HR_TASKSTATS_BATCH at most. */
static int read_batch(const struct hr_waiters *waiters, const struct hr_sampled_task *tasks,
                      size_t count, uint64_t *totals)
{
    struct hr_taskstats_query queries[HR_TASKSTATS_BATCH];

    for (size_t i = 0; i < count; i++) {
        queries[i].id = tasks[i].id;
        queries[i].is_thread = tasks[i].is_thread;
    }
    int status = hr_taskstats_read_batch(waiters->taskstats, queries, count);
    for (size_t i = 0; i < count && status == 0; i++)
        status = sum_delays(waiters, &queries[i], &totals[i]);
    return status;
}

/* @param totals  receives each task's wait since its start, or UNKNOWN; the caller frees them, even
 *                on failure. */
static int read_totals(const struct hr_waiters *waiters, const struct hr_task_sample *sample,
                       uint64_t **totals)
{
    int status = 0;

    *totals = calloc(sample->count + 1, sizeof(**totals));
    if (*totals == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < sample->count && status == 0; i += HR_TASKSTATS_BATCH) {
        size_t count = sample->count - i;
        if (count > HR_TASKSTATS_BATCH)
            count = HR_TASKSTATS_BATCH;
        status = read_batch(waiters, &sample->entries[i], count, &(*totals)[i]);
    }
    return status;
}

/* @return the largest age of a task that is new since the first sample. */
static uint64_t get_max_new_age_us(const struct hr_waiters *waiters)
{
    return (hr_clock_ns() - waiters->begun_ns) / HR_NS_PER_US + FORK_US;
}

/* Whether a task was started after the first sample, rather than moved here. Its age is read
 * between two reads of the clock: if these disagree, as we were preempted in between, it is read
 * again. In the end it counts as moved, which reports nothing, rather than as new.
 * @return 1, 0, or a negative errno. */
static int is_new_task(const struct hr_waiters *waiters, pid_t id)
{
    struct hr_task_delays delays;

    for (int i = 0; i < AGE_TRIES; i++) {
        uint64_t before_us = get_max_new_age_us(waiters);
        int status = hr_taskstats_read_thread(waiters->taskstats, id, &delays);
        if (status < 0)
            return status;
        if (delays.elapsed_us <= before_us)
            return 1;
        if (delays.elapsed_us > get_max_new_age_us(waiters))
            return 0;
    }
    return 0;
}

/* Opens a file of a process or thread. */
static int open_task_file(const struct hr_root *root, pid_t id, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/%s", (int)id, name);
    return hr_root_openat(root, path, O_RDONLY);
}

/* @return the process of a thread, 0 if that has ended. It is among the first lines of
 * /proc/TID/status: "Name:\tx\n…Tgid:\t4711\n". */
static pid_t read_process_id(const struct hr_root *root, pid_t thread)
{
    char buffer[512];
    uint64_t pid;
    int fd = open_task_file(root, thread, "status");

    if (fd < 0)
        return 0;
    ssize_t got = pread(fd, buffer, sizeof(buffer), 0);
    close(fd);
    struct hr_text text = {buffer, got > 0 ? (size_t)got : 0};
    do {
        if (hr_text_skip(&text, "Tgid:\t"))
            return hr_text_u64(&text, &pid) && pid <= INT32_MAX ? (pid_t)pid : 0;
    } while (hr_text_skip_line(&text));
    return 0;
}

/* --- Listing -------------------------------------------------------------- */

/* Kernel threads are of the system only. Some groups have their own (vhost), which count. */
static int list_system(const struct hr_root *root, struct hr_task_list *list)
{
    int status = hr_task_list_read_system(root, list);

    return status < 0 ? status : hr_task_list_drop_kernel_threads(root, list);
}

static int list_tasks(const struct hr_waiters *waiters, struct hr_task_list *list)
{
    size_t directories = DIRECTORIES_PER_TASK * waiters->limit + MIN_DIRECTORIES;

    if (waiters->dirfd < 0)
        return list_system(waiters->root, list);
    return hr_task_list_read_group(waiters->dirfd, directories, list);
}

/* Chooses up to the limit. Each report begins elsewhere, so that none leaves out the same tasks. */
static int choose_tasks(const struct hr_waiters *waiters, const struct hr_task_list *list,
                        struct hr_task_sample *sample)
{
    uint64_t seed = waiters->begun_ns * GOLDEN_RATIO >> 32;

    return hr_task_sample_choose(waiters->root, list, waiters->limit, seed, sample);
}

/* --- The first sample ----------------------------------------------------- */

static int read_first_sample(struct hr_waiters *waiters)
{
    waiters->begun_ns = hr_clock_ns();
    int status = list_tasks(waiters, &waiters->first);
    if (status == 0)
        status = choose_tasks(waiters, &waiters->first, &waiters->sample);
    if (status == 0)
        status = read_totals(waiters, &waiters->sample, &waiters->totals);
    for (size_t i = 0; i < waiters->sample.count && status == 0; i++)
        if (waiters->totals[i] != UNKNOWN)
            waiters->sampled_count += waiters->sample.entries[i].threads;
    return status;
}

int hr_waiters_open(const struct hr_root *root, const struct hr_cgroup *group,
                    struct hr_taskstats *taskstats, enum hr_psi_resource resource, size_t limit,
                    struct hr_waiters **waiters)
{
    int status = hr_waiters_check(root, resource);

    if (status == 0)
        status = check_namespace(root);
    if (status < 0)
        return status;
    int dirfd = group != NULL ? hr_cgroup_openat(group, ".", O_RDONLY | O_DIRECTORY) : -1;
    if (group != NULL && dirfd < 0)
        return dirfd;
    struct hr_waiters *opened = calloc(1, sizeof(*opened));
    if (opened == NULL) {
        hr_descriptor_close(&dirfd);
        return -ENOMEM;
    }
    opened->root = root;
    opened->taskstats = taskstats;
    opened->counted = counted_delays[resource];
    opened->limit = limit;
    opened->dirfd = dirfd;
    status = read_first_sample(opened);
    if (status < 0) {
        hr_waiters_close(opened);
        return status;
    }
    *waiters = opened;
    return 0;
}

size_t hr_waiters_sampled_count(const struct hr_waiters *waiters)
{
    return waiters->sampled_count;
}

void hr_waiters_close(struct hr_waiters *waiters)
{
    if (waiters == NULL)
        return;
    hr_descriptor_close(&waiters->dirfd);
    hr_task_list_free(&waiters->first);
    hr_task_sample_free(&waiters->sample);
    free(waiters->totals);
    free(waiters);
}

/* --- The second sample ---------------------------------------------------- */

/* Computes the wait of a task since the first sample. A total that decreased is that of another
 * task that got the PID of one that ended.
 * @param before_ns  the total in the first sample, or UNKNOWN if it wasn't there. */
static int measure_wait(const struct hr_waiters *waiters, const struct hr_sampled_task *task,
                        uint64_t before_ns, uint64_t total_ns, uint64_t *waited_ns)
{
    *waited_ns = 0;
    if (total_ns == UNKNOWN || total_ns == 0)
        return 0;
    if (before_ns <= total_ns) {
        *waited_ns = total_ns - before_ns;
        return 0;
    }
    int began = is_new_task(waiters, task->id);
    if (began > 0)
        *waited_ns = total_ns;
    return began < 0 && !is_transient(began) ? began : 0;
}

/* @return the process of a task, 0 if that has ended. */
static pid_t find_process(const struct hr_waiters *waiters, const struct hr_sampled_task *task)
{
    return waiters->first.of_threads ? read_process_id(waiters->root, task->id) : task->listed;
}

static int append_wait_of(const struct hr_waiters *waiters, const struct hr_sampled_task *task,
                          uint64_t before_ns, uint64_t total_ns, struct waits *waits)
{
    uint64_t waited_ns;

    int status = measure_wait(waiters, task, before_ns, total_ns, &waited_ns);
    if (status < 0 || waited_ns == 0)
        return status;
    pid_t process = find_process(waiters, task);
    return process != 0 ? append_wait(waits, process, waited_ns) : 0;
}

/* Those that are still there. Tasks that couldn't be read in the first sample stay unknown. */
static int measure_sampled(const struct hr_waiters *waiters, const struct hr_task_list *list,
                           struct waits *waits)
{
    const struct hr_task_sample *sample = &waiters->sample;
    const uint64_t *before = waiters->totals;
    uint64_t *totals = NULL;

    int status = read_totals(waiters, sample, &totals);
    for (size_t i = 0; i < sample->count && status == 0; i++)
        if (before[i] != UNKNOWN && hr_task_list_has(list, sample->entries[i].listed))
            status = append_wait_of(waiters, &sample->entries[i], before[i], totals[i], waits);
    free(totals);
    return status;
}

/* New tasks, up to the limit. @param list  all tasks; those of the first sample are removed. */
static int measure_new(const struct hr_waiters *waiters, struct hr_task_list *list,
                       struct waits *waits)
{
    struct hr_task_sample sample = {0};
    uint64_t *totals = NULL;

    hr_task_list_drop(list, &waiters->first);
    int status = choose_tasks(waiters, list, &sample);
    if (status == 0)
        status = read_totals(waiters, &sample, &totals);
    for (size_t i = 0; i < sample.count && status == 0; i++)
        status = append_wait_of(waiters, &sample.entries[i], UNKNOWN, totals[i], waits);
    free(totals);
    hr_task_sample_free(&sample);
    return status;
}

/* --- Ranking -------------------------------------------------------------- */

static int compare_processes(const void *a, const void *b)
{
    const struct wait *left = a, *right = b;

    return (left->process > right->process) - (left->process < right->process);
}

/* Adds up the waits of each process's threads. */
static void sum_by_process(struct waits *waits)
{
    struct wait *entries = waits->entries;
    size_t kept = 0;

    if (waits->count < 2)
        return;
    qsort(entries, waits->count, sizeof(*entries), compare_processes);
    for (size_t i = 1; i < waits->count; i++) {
        if (entries[i].process == entries[kept].process)
            entries[kept].ns += entries[i].ns;
        else
            entries[++kept] = entries[i];
    }
    waits->count = kept + 1;
}

/* The longest wait first; of equal ones, the lower PID first. */
static int compare_waits(const void *a, const void *b)
{
    const struct wait *left = a, *right = b;

    if (left->ns != right->ns)
        return left->ns < right->ns ? 1 : -1;
    return compare_processes(a, b);
}

/* /proc/PID/comm has the name and a newline. The name may contain any byte, even a newline. */
static void read_task_name(const struct hr_root *root, pid_t pid, char name[HR_PROCESS_NAME_SIZE])
{
    char text[128];
    size_t length = 0;

    if (hr_text_read_and_close(open_task_file(root, pid, "comm"), text, sizeof(text), &length) < 0)
        length = 0;
    if (length > 0 && text[length - 1] == '\n')
        length--;
    if (length > HR_PROCESS_NAME_SIZE - 1)
        length = HR_PROCESS_NAME_SIZE - 1; /* names of kernel threads may be longer */
    for (size_t i = 0; i < length; i++)
        name[i] = text[i] != '\0' ? text[i] : '?';
    name[length] = '\0';
    hr_utf8_make_safe(name);
    if (length == 0)
        strcpy(name, "?");
}

static size_t rank_waiters(const struct hr_waiters *waiters, struct waits *waits,
                           struct hr_waiter *top, size_t max)
{
    sum_by_process(waits);
    size_t count = waits->count < max ? waits->count : max;
    if (waits->count > 1)
        qsort(waits->entries, waits->count, sizeof(*waits->entries), compare_waits);
    for (size_t i = 0; i < count; i++) {
        top[i].pid = waits->entries[i].process;
        top[i].waited_ns = waits->entries[i].ns;
        read_task_name(waiters->root, top[i].pid, top[i].name);
    }
    return count;
}

int hr_waiters_read(struct hr_waiters *waiters, struct hr_waiter *top, size_t max,
                    struct hr_waiters_report *report)
{
    struct hr_task_list list = {0};
    struct waits waits = {0};

    int status = list_tasks(waiters, &list);
    if (status == -ENODEV)
        status = 0; /* removed: it has no tasks */
    /* A group that became threaded, or ceased to be, has other PIDs now. */
    else if (status == 0 && list.of_threads == waiters->first.of_threads) {
        status = measure_sampled(waiters, &list, &waits);
        if (status == 0)
            status = measure_new(waiters, &list, &waits);
    }
    if (status == 0)
        *report = (struct hr_waiters_report){
            .count = rank_waiters(waiters, &waits, top, max),
            .sampled_count = waiters->sampled_count,
            .skipped_count = waiters->sample.skipped_count,
            .elapsed_ns = hr_clock_ns() - waiters->begun_ns,
        };
    free(waits.entries);
    hr_task_list_free(&list);
    return status;
}
