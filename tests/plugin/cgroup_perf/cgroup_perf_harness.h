/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup_perf/cgroup_perf_harness.h - what tests of the plugin cgroup_perf share, on top of
 * plugin_harness.h: a tree in which the kernel really counts, on any machine.
 *
 * The tree has this machine's CPUs, and PMUs that are the kernel's software events by other names:
 *
 *     cpu/cpu-cycles/, cpu/instructions/             both run with the clock: a ratio of 1
 *     cpu/cache-references/, cpu/cache-misses/       minor page faults: all of them
 *     cpu/LLC-loads/, cpu/LLC-load-misses/           minor ones; major ones: hardly any
 *     msr/tsc/                                       runs with the clock
 *     package/energy/                                likewise, of a PMU that belongs to no CPU
 *     nothing/any/                                   is known, but nothing counts it
 *
 * Its cgroups, if they are asked for, are the kernel's, too: those of a groups.h, mounted there.
 */
#ifndef HEADROOM_TESTS_PLUGIN_CGROUP_PERF_CGROUP_PERF_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_CGROUP_PERF_CGROUP_PERF_HARNESS_H

#include "support/plugin_harness.h"

#include "support/groups.h"

/** The groups of the test that runs. */
extern struct groups *groups;

/** Beginning and end without cgroups. */
void perf_set_up(void);
void perf_tear_down(void);

/** Likewise with cgroups. The process gets mounts of its own. */
void perf_set_up_with_groups(void);
void perf_tear_down_with_groups(void);

/** Why tests can't count here, nor make groups if these are wanted; NULL: they can. Under
 * HEADROOM_REQUIRE_ALL they have to. */
const char *perf_obstacle(bool with_groups);

/** How many CPUs are online. */
size_t perf_cpus(void);

/** How many descriptors of perf events are open. */
size_t perf_descriptors(void);

/** The number of a value of the system, by its identifier without the instance:
 * "perf-task-clock". */
double perf_of_system(const char *identifier);

/** Likewise of a group. */
double perf_of(const char *group, const char *identifier);

/** Reads until so many values match a pattern: the kernel tells of a group's population a little
 * later. */
void perf_read_until(const char *pattern, size_t count);

/** Writes to so many pages that no process has touched. */
void perf_touch(size_t pages);

/** From now on a system call fails, for the rest of the process; if an argument is given (from 0),
 * only where it has one of these bits. */
void perf_make_fail(unsigned call, unsigned error, int argument, unsigned bits);

/** A process in a group. */
struct perf_worker {
    pid_t pid;
    int line;
};

/** Starts a process in a group; it sleeps, but for what it is told to do. */
struct perf_worker perf_start(const char *group);

/** Lets it touch so many new pages, then use so much time on a CPU; waits until it has. */
void perf_work(const struct perf_worker *worker, size_t pages, unsigned busy_ms);

/** Ends it. */
void perf_end(struct perf_worker *worker);

#endif
