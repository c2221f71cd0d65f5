/* SPDX-License-Identifier: MIT */
/*
 * process/task_sample.h - which tasks of a long list to examine.
 *
 * A limit counts threads: taskstats adds up the threads of a process with interrupts disabled
 * (fill_stats_for_tgid() in kernel/taskstats.c), so that a process of thousands costs as much as a
 * hundred others, and delays interrupts meanwhile. Such a process is examined thread by thread.
 */
#ifndef HEADROOM_COLLECTORS_PROCESS_TASK_SAMPLE_H
#define HEADROOM_COLLECTORS_PROCESS_TASK_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hr_root;
struct hr_task_list;

/** A process of more threads is examined thread by thread. Adding up one took 0.05 to 0.2 us. */
#define HR_TASK_SAMPLE_MAX_THREADS 128

/** A process, or one thread. */
struct hr_sampled_task {
    pid_t
        listed; /**< its PID in the list: the process's, or the thread's if the list has threads */
    pid_t id;
    bool is_thread;
    unsigned threads; /**< that it has; 1 for a thread, or if unknown */
};

/** All zeros is an empty sample. */
struct hr_task_sample {
    struct hr_sampled_task *entries;
    size_t count;
    size_t capacity;
    size_t skipped_count; /**< threads left out; a process that wasn't examined counts as one */
};

/**
 * Chooses tasks of a list, with as many threads as the limit allows, evenly distributed over it.
 * Where not all fit, a process read by threads takes half of what is left at most.
 *
 * The number of a process's threads is that of links of /proc/PID/task, less two.
 *
 * @param limit   the largest number of threads.
 * @param seed    where in the list to begin: of different seeds each task has the same chance.
 * @param sample  an empty one; freed by hr_task_sample_free().
 * @return 0; -ENOMEM; or the negative errno of open(2). The sample is empty on failure.
 */
int hr_task_sample_choose(const struct hr_root *root, const struct hr_task_list *list, size_t limit,
                          uint64_t seed, struct hr_task_sample *sample);

/** Frees the sample's memory and leaves an empty one. */
void hr_task_sample_free(struct hr_task_sample *sample);

#endif
