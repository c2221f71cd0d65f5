/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/waiters_harness.h - two samples of tasks, with the kernel's replies made up:
 * groups and /proc are a tree of files. To be linked with --wrap of clock_gettime() and
 * hr_taskstats_read_thread().
 */
#ifndef HEADROOM_TESTS_COLLECTORS_PSI_WAITERS_HARNESS_H
#define HEADROOM_TESTS_COLLECTORS_PSI_WAITERS_HARNESS_H

#include <check.h>
#include <stdint.h>
#include <sys/types.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "headroom/waiters.h"
#include "support/fake_taskstats.h"
#include "support/tree.h"

#define MAX   8
#define LIMIT 1000

/** The age of a task that started before the first sample, and of one that started after it. */
#define OLD_US   UINT64_C(3600000000)
#define YOUNG_US UINT64_C(1000)

/** The time that a test has skipped; the delay of the next reply about a thread; and the sum of
 * such delays, by which threads are older. */
extern uint64_t skipped_us, delay_us, delayed_us;

extern struct tree *tree;
extern struct hr_root *root;
extern struct hr_cgroup_set *set;
extern struct hr_cgroup *group; /**< "a", without processes at first */
extern struct fake_taskstats *fake;
extern struct hr_taskstats *taskstats;

/** What take_second_sample() found. */
extern struct hr_waiter top[MAX];
extern struct hr_waiters_report report;

/** Has each test begin with a new tree. */
void add_waiters_fixture(TCase *tests);

/** Sets the processes of a group: "5\n6\n". */
void set_processes(const char *name, const char *pids);

void set_name(pid_t pid, const char *name);

/** Sets a process's wait for the CPU, and its first thread's age. */
void set_waited(pid_t pid, uint64_t ns, uint64_t elapsed_us);

void end_process(pid_t pid);

/** Starts processes in "a" with PIDs from 100 on, of which nothing but the PID is known. */
void set_many(int count);

/** @param of  NULL: of the system. */
struct hr_waiters *take_first_sample(const struct hr_cgroup *of, size_t limit);

/** Closes the waiters. */
void take_second_sample(struct hr_waiters *waiters, size_t max);

void require_waiter(size_t i, pid_t pid, uint64_t waited_ns);

#endif
