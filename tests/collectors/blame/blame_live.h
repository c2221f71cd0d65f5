/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/blame_live.h - measuring on the running kernel, beside the kernel's own sums of
 * the same tasks in /proc/PID/schedstat.
 *
 * What else the machine does is in the measurement, as `other`, and delays the test itself: sums
 * are read before and after each reading of the matrix, so that it must be between two bounds.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_BLAME_BLAME_LIVE_H
#define HEADROOM_TESTS_COLLECTORS_BLAME_BLAME_LIVE_H

#include <sys/types.h>

#include "headroom/blame.h"
#include "support/groups.h"

#define LIVE_TASKS 16

/** How far what is measured may be off. */
#define LIVE_TAKEN_PCT 2.0
#define LIVE_SUM_PCT   1.0
#define LIVE_EDGE_MS   15.0

/** A task's sums since it began, and when they were read. */
struct live_sums {
    double ran_ms, waited_ms, at_ms;
};

struct live_task {
    const char *group;
    pid_t pid;
    struct live_sums before[2], after[2]; /**< around both readings */
    double began_ms;                      /**< when it began to want a CPU all the time */
};

struct live {
    struct groups *groups;
    struct hr_blame *blame;
    struct live_task tasks[LIVE_TASKS];
    size_t task_count;
    struct hr_blame_matrix before, after, delta;
    /** Another sum of the kernel's, in ms, that is read as those of tasks are; NULL: none. */
    double (*other_sum)(const struct live *live);
    double other_before[2], other_after[2];
};

struct live_bounds {
    double least_ms, most_ms;
};

/** @return whether waits can be measured, in groups of our own; else it prints why not, as TAP. */
bool live_can_measure(void);

/** The last CPU that may be used. */
int live_last_cpu(void);

/** Starts a process in a group that spins for some milliseconds on one CPU, and sleeps for others,
 * with the priority of real time. The caller ends it. */
pid_t live_start_real_time(struct groups *groups, const char *group, int cpu, long busy_ms,
                           long idle_ms);

/** Reads the sums of a task, also of one that has ended but wasn't waited for. */
struct live_sums live_read_sums(pid_t pid);

/** Waits until a task has run, or has waited, for so long since it began. */
void live_await_run(pid_t pid, double ms);
void live_await_wait(pid_t pid, double ms);

/** Counts for how long a task has a CPU, by the CPU's clock. What the kernel says that it ran lacks
 * what a hypervisor took meanwhile, and where that has stopped the CPU it is as old as the last
 * tick there; reading a counter asks the CPU. @return a descriptor, for the caller to close. */
int live_count_time(pid_t pid);

/** @return what was counted, in ms. */
double live_read_time(int counter);

/** Opens the measurement, or prints why it can't be and ends the program, as skipped. */
void live_open(struct live *live, const struct hr_blame_options *options, struct groups *groups);
void live_close(struct live *live);

/** Adds a task, to be measured beside, once it spins in its group. */
void live_add(struct live *live, const char *group, pid_t pid);

/** Watches groups; NULL ends the list. */
void live_watch(struct live *live, ...);

/** The same, of which the waits of so many are measured, the first. */
void live_watch_first(struct live *live, size_t measured, ...);

/** The id of a group. */
uint64_t live_id(const struct live *live, const char *group);

/** Reads the matrix, and the kernel's sums around it. @param which  0: before, 1: after. */
void live_read(struct live *live, int which);

/** The same by hr_blame_peek(). */
void live_peek(struct live *live, int which);

/** Measures for so long: live->delta has the matrix. */
void live_measure(struct live *live, unsigned ms);

/** What the kernel says that the tasks of a group have waited for, and have run, meanwhile. */
struct live_bounds live_waited(const struct live *live, const char *group);
struct live_bounds live_ran(const struct live *live, const char *group);

struct live_bounds live_other(const struct live *live);

/** How long the waits of a group had lasted that had not ended at a reading: by it, they count
 * nowhere. Of tasks that want one CPU all the time. */
double live_under_way(const struct live *live, const char *group, int which);

/** For how long the group "limited" was throttled by its limit, in ms, as far as that has ended. */
double live_read_throttled(const struct live *live);

/** What was measured; group is of the taker, for HR_BLAME_GROUP. */
double live_cell(const struct live *live, const char *waiter, enum hr_blame_taker taker,
                 const char *group);
double live_total(const struct live *live, const char *waiter);

/** The same by ids, of groups that may be gone. */
double live_cell_by_id(const struct live *live, uint64_t waiter, enum hr_blame_taker taker,
                       uint64_t group);
double live_total_by_id(const struct live *live, uint64_t waiter);

/** Prints what was measured, for whoever reads a failure. */
void live_print(const struct live *live);

/** Checks that a measured time is within bounds, widened by some percent, and a time: waits count
 * when they end, what others ran counts at once. */
void live_expect(const char *what, double ms, struct live_bounds bounds, double pct,
                 double edge_ms);

/** Checks that all waits of a group are what the kernel says, and who took the CPU is known. */
void live_expect_sum(const struct live *live, const char *group);

/** Checks that tasks of a group that want one CPU all the time waited for another group for as long
 * as that one ran. */
void live_expect_taken(const struct live *live, const char *waiter, const char *taker);

/** The same of a time that was measured otherwise. */
void live_expect_ran(const struct live *live, const char *waiter, const char *taker, double ms);

#endif
