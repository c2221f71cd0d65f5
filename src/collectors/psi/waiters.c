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

/* Groups usually have a process or more. More directories than this would be a tree of empty ones,
 * which must not take long to read. */
#define DIRECTORIES_PER_TASK 4
#define MIN_DIRECTORIES      64

/* A process starts before its group lists it; forking a big one takes some time. */
#define FORK_US 10000

#define AGE_TRIES 3

#define BIT(delay) (1u << (delay))

/* The delays that count as waiting for a resource, as bits. */
static const unsigned counted_delays[HR_PSI_RESOURCE_COUNT] = {
    [HR_PSI_CPU] = BIT(HR_DELAY_CPU),
    [HR_PSI_MEMORY] = BIT(HR_DELAY_SWAPIN) | BIT(HR_DELAY_FREEPAGES) | BIT(HR_DELAY_THRASHING) |
                      BIT(HR_DELAY_COMPACT) | BIT(HR_DELAY_WPCOPY),
    [HR_PSI_IO] = BIT(HR_DELAY_BLKIO),
    [HR_PSI_IRQ] = BIT(HR_DELAY_IRQ),
};

/* The total wait of a task since its start. */
struct task {
    pid_t id;
    uint64_t waited_ns;
};

/* Tasks with their totals, or with their waits between the samples. */
struct tasks {
    struct task *entries;
    size_t count;
    size_t capacity;
};

struct hr_waiters {
    const struct hr_root *root;
    struct hr_taskstats *taskstats;
    unsigned counted; /* delays, as bits */
    size_t limit;
    int dirfd;                 /* the group's directory; -1: the system */
    uint64_t begun_ns;         /* the start of the first sample */
    struct hr_task_list first; /* all tasks listed for the first sample */
    struct tasks sampled;      /* of these, the sampled ones, in ascending order */
};

static int append_task(struct tasks *tasks, pid_t id, uint64_t waited_ns)
{
    if (HR_ARRAY_RESERVE(tasks->entries, tasks->capacity, tasks->count + 1) < 0)
        return -ENOMEM;
    tasks->entries[tasks->count++] = (struct task){id, waited_ns};
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

/* taskstats and cgroup.procs use the PIDs of our pid namespace; in another namespace's /proc the
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

/* @param of_threads  whether the PID is a thread's, rather than a process's. */
static int read_waited(const struct hr_waiters *waiters, bool of_threads, pid_t id,
                       uint64_t *waited_ns)
{
    struct hr_task_delays delays;
    uint64_t sum = 0;

    int status = of_threads ? hr_taskstats_read_thread(waiters->taskstats, id, &delays)
                            : hr_taskstats_read_process(waiters->taskstats, id, &delays);
    if (status < 0)
        return status;
    if ((delays.known & waiters->counted) == 0)
        return -ENODATA;
    for (int i = 0; i < HR_DELAY_COUNT; i++)
        if (waiters->counted & BIT(i))
            sum += delays.ns[i];
    *waited_ns = sum;
    return 0;
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

/* --- Listing -------------------------------------------------------------- */

static int list_tasks(const struct hr_waiters *waiters, struct hr_task_list *list)
{
    size_t directories = DIRECTORIES_PER_TASK * waiters->limit + MIN_DIRECTORIES;

    if (waiters->dirfd < 0)
        return hr_task_list_read_system(waiters->root, list);
    return hr_task_list_read_group(waiters->dirfd, directories, list);
}

/* --- The first sample ----------------------------------------------------- */

static int read_first_sample(struct hr_waiters *waiters)
{
    const struct hr_task_list *list = &waiters->first;

    waiters->begun_ns = hr_clock_ns();
    int status = list_tasks(waiters, &waiters->first);
    size_t first = list->count > waiters->limit ? list->count - waiters->limit : 0;
    for (size_t i = first; i < list->count && status == 0; i++) {
        uint64_t waited_ns;
        status = read_waited(waiters, list->of_threads, list->ids[i], &waited_ns);
        if (status == 0)
            status = append_task(&waiters->sampled, list->ids[i], waited_ns);
        else if (is_transient(status))
            status = 0;
    }
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
    return waiters->sampled.count;
}

void hr_waiters_close(struct hr_waiters *waiters)
{
    if (waiters == NULL)
        return;
    hr_descriptor_close(&waiters->dirfd);
    hr_task_list_free(&waiters->first);
    free(waiters->sampled.entries);
    free(waiters);
}

/* --- The second sample ---------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
    const struct task *left = a, *right = b;

    return (left->id > right->id) - (left->id < right->id);
}

static const struct task *find_sampled(const struct hr_waiters *waiters, pid_t id)
{
    const struct task key = {.id = id};

    if (waiters->sampled.count == 0)
        return NULL;
    return bsearch(&key, waiters->sampled.entries, waiters->sampled.count, sizeof(key),
                   compare_ids);
}

/* Computes the wait of a task since the first sample. A total that decreased is that of another
 * task that got the PID of one that ended.
 * @param before  the task in the first sample, NULL if it wasn't there. */
static int measure_wait(const struct hr_waiters *waiters, bool of_threads, pid_t id,
                        const struct task *before, uint64_t *waited_ns)
{
    uint64_t total_ns;

    int status = read_waited(waiters, of_threads, id, &total_ns);
    if (status < 0)
        return status;
    if (before != NULL && total_ns >= before->waited_ns) {
        *waited_ns = total_ns - before->waited_ns;
        return 0;
    }
    int began = total_ns > 0 ? is_new_task(waiters, id) : 0;
    if (began < 0)
        return began;
    *waited_ns = began ? total_ns : 0;
    return 0;
}

/* Tasks skipped in the first sample stay so, and new ones are sampled up to the limit. */
static int read_second_sample(const struct hr_waiters *waiters, const struct hr_task_list *list,
                              struct tasks *waited)
{
    size_t new_count = 0;
    int status = 0;

    for (size_t i = 0; i < list->count && status == 0; i++) {
        pid_t id = list->ids[i];
        const struct task *before = find_sampled(waiters, id);
        uint64_t waited_ns;
        if (before == NULL &&
            (hr_task_list_has(&waiters->first, id) || new_count++ >= waiters->limit))
            continue;
        status = measure_wait(waiters, list->of_threads, id, before, &waited_ns);
        if (status == 0 && waited_ns > 0)
            status = append_task(waited, id, waited_ns);
        else if (is_transient(status))
            status = 0;
    }
    return status;
}

/* --- From threads to processes -------------------------------------------- */

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

/* Replaces threads by their processes, each with the sum of its threads. */
static void sum_by_process(const struct hr_root *root, struct tasks *waited)
{
    size_t kept = 0;

    for (size_t i = 0; i < waited->count; i++) {
        waited->entries[i].id = read_process_id(root, waited->entries[i].id);
        if (waited->entries[i].id != 0)
            waited->entries[kept++] = waited->entries[i];
    }
    waited->count = kept;
    if (kept < 2)
        return;
    qsort(waited->entries, kept, sizeof(*waited->entries), compare_ids);
    kept = 0;
    for (size_t i = 1; i < waited->count; i++) {
        if (waited->entries[i].id == waited->entries[kept].id)
            waited->entries[kept].waited_ns += waited->entries[i].waited_ns;
        else
            waited->entries[++kept] = waited->entries[i];
    }
    waited->count = kept + 1;
}

/* --- Ranking -------------------------------------------------------------- */

/* The longest wait first; of equal ones, the lower PID first. */
static int compare_waits(const void *a, const void *b)
{
    const struct task *left = a, *right = b;

    if (left->waited_ns != right->waited_ns)
        return left->waited_ns < right->waited_ns ? 1 : -1;
    return compare_ids(a, b);
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

static size_t rank_waiters(const struct hr_waiters *waiters, const struct tasks *waited,
                           struct hr_waiter *top, size_t max)
{
    size_t count = waited->count < max ? waited->count : max;

    if (waited->count > 1)
        qsort(waited->entries, waited->count, sizeof(*waited->entries), compare_waits);
    for (size_t i = 0; i < count; i++) {
        top[i].pid = waited->entries[i].id;
        top[i].waited_ns = waited->entries[i].waited_ns;
        read_task_name(waiters->root, top[i].pid, top[i].name);
    }
    return count;
}

int hr_waiters_read(struct hr_waiters *waiters, struct hr_waiter *top, size_t max,
                    struct hr_waiters_report *report)
{
    struct hr_task_list list = {0};
    struct tasks waited = {0};

    int status = list_tasks(waiters, &list);
    if (status == -ENODEV)
        status = 0; /* removed: it has no tasks */
    /* A group that became threaded, or ceased to be, has other PIDs now. */
    else if (status == 0 && list.of_threads == waiters->first.of_threads)
        status = read_second_sample(waiters, &list, &waited);
    if (status == 0 && list.of_threads)
        sum_by_process(waiters->root, &waited);
    if (status == 0)
        *report = (struct hr_waiters_report){
            .count = rank_waiters(waiters, &waited, top, max),
            .sampled_count = waiters->sampled.count,
            .skipped_count =
                waiters->first.count > waiters->limit ? waiters->first.count - waiters->limit : 0,
        };
    free(waited.entries);
    hr_task_list_free(&list);
    return status;
}
