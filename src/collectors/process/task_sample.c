/* SPDX-License-Identifier: MIT */
#include "process/task_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/descriptor.h"
#include "headroom/array.h"
#include "headroom/root.h"
#include "process/task_list.h"

#define GOLDEN_RATIO 0.6180339887498949

/* --- An even order -------------------------------------------------------- */

/* Every index of a list once, in steps of the golden ratio: the first few, however many, are
 * evenly distributed over the list. */
struct order {
    size_t count, step, next;
};

static size_t find_common_divisor(size_t a, size_t b)
{
    while (b != 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static struct order begin_order(size_t count, uint64_t seed)
{
    size_t step = (size_t)((double)count * GOLDEN_RATIO);

    if (count == 0)
        return (struct order){0};
    while (find_common_divisor(step, count) != 1)
        step++;
    return (struct order){count, step, (size_t)(seed % count)};
}

static size_t take_next(struct order *order)
{
    size_t taken = order->next;

    order->next = (taken + order->step) % order->count;
    return taken;
}

/* --- Threads -------------------------------------------------------------- */

/* @param proc_fd  /proc. @return 1 if the number is unknown. */
static unsigned count_threads(int proc_fd, pid_t pid)
{
    struct stat stat;
    char path[32];

    snprintf(path, sizeof(path), "%d/task", (int)pid);
    if (fstatat(proc_fd, path, &stat, 0) < 0 || stat.st_nlink <= 2)
        return 1;
    return (unsigned)stat.st_nlink - 2;
}

static int append_task(struct hr_task_sample *sample, const struct hr_sampled_task *task)
{
    if (HR_ARRAY_RESERVE(sample->entries, sample->capacity, sample->count + 1) < 0)
        return -ENOMEM;
    sample->entries[sample->count++] = *task;
    return 0;
}

/* Appends threads of a process, up to a limit. One that ends meanwhile has none. */
static int append_threads(const struct hr_root *root, pid_t process, size_t limit, uint64_t seed,
                          struct hr_task_sample *sample)
{
    struct hr_task_list threads = {0};

    int status = hr_task_list_read_threads(root, process, &threads);
    struct order order = begin_order(threads.count, seed);
    for (size_t i = 0; i < threads.count && i < limit && status == 0; i++) {
        pid_t id = threads.ids[take_next(&order)];
        status = append_task(sample, &(struct hr_sampled_task){process, id, true, 1});
    }
    hr_task_list_free(&threads);
    return status == -ENOENT || status == -ESRCH ? 0 : status;
}

/* --- The choice ----------------------------------------------------------- */

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many threads of the next process may be chosen: all but one for each process that remains,
 * or half of what is left, whichever is more. */
static size_t share_of(size_t left, size_t remaining)
{
    size_t beside_others = left - min_size(left, remaining);
    size_t half = (left + 1) / 2;

    return beside_others > half ? beside_others : half;
}

/* Appends a process, or threads of it. @param share  the largest number of threads. */
static int append_process(const struct hr_root *root, struct hr_sampled_task *task, size_t share,
                          uint64_t seed, struct hr_task_sample *sample)
{
    if (task->threads <= min_size(share, HR_TASK_SAMPLE_MAX_THREADS))
        return append_task(sample, task);
    size_t taken = min_size(task->threads, share);
    sample->skipped_count += task->threads - taken;
    task->threads = (unsigned)taken;
    return append_threads(root, task->id, taken, seed, sample);
}

int hr_task_sample_choose(const struct hr_root *root, const struct hr_task_list *list, size_t limit,
                          uint64_t seed, struct hr_task_sample *sample)
{
    struct order order = begin_order(list->count, seed);
    size_t left = limit, examined = 0;
    int status = 0;

    int proc_fd = list->of_threads ? -1 : hr_root_openat(root, "proc", O_PATH | O_DIRECTORY);
    for (; examined < list->count && left > 0 && status == 0; examined++) {
        pid_t id = list->ids[take_next(&order)];
        struct hr_sampled_task task = {id, id, list->of_threads, 1};
        if (proc_fd >= 0) /* else the numbers of threads are unknown */
            task.threads = count_threads(proc_fd, id);
        size_t share = share_of(left, list->count - examined - 1);
        status = append_process(root, &task, share, seed, sample);
        left -= task.threads;
    }
    hr_descriptor_close(&proc_fd);
    sample->skipped_count += list->count - examined;
    if (status < 0)
        hr_task_sample_free(sample);
    return status;
}

void hr_task_sample_free(struct hr_task_sample *sample)
{
    free(sample->entries);
    *sample = (struct hr_task_sample){0};
}
