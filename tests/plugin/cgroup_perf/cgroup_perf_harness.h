/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup_perf/cgroup_perf_harness.h - common parts of the tests of the plugin
 * cgroup_perf, on top of plugin_harness.h: a tree in which the kernel really counts, on any
 * machine.
 *
 * The tree has this machine's CPUs, and PMUs whose events are the kernel's software events:
 *
 *     cpu/cpu-cycles/, cpu/instructions/             both count time: a ratio of 1
 *     cpu/cache-references/, cpu/cache-misses/       minor page faults: all of them
 *     cpu/LLC-loads/, cpu/LLC-load-misses/           minor ones; major ones: few
 *     msr/tsc/                                       counts time
 *     package/energy/                                counts time, on a PMU of a package
 *     nothing/any/                                   known, but nothing counts it
 *
 * Its cgroups, if requested, are the kernel's, too: those of support/groups.h, mounted there.
 */
#ifndef HEADROOM_TESTS_PLUGIN_CGROUP_PERF_CGROUP_PERF_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_CGROUP_PERF_CGROUP_PERF_HARNESS_H

#include "support/plugin_harness.h"

#include "support/groups.h"

/** The groups of the current test. */
extern struct groups *groups;

/** Fixture without cgroups. */
void perf_set_up(void);
void perf_tear_down(void);

/** Fixture with cgroups. The process gets a mount namespace of its own. */
void perf_set_up_with_groups(void);
void perf_tear_down_with_groups(void);

/** As harness_begin(), by descriptors. */
void perf_begin(const char *options);

/** Why tests can't count here, or can't make groups if these are requested; NULL: they can, or must
 * (HEADROOM_REQUIRE_ALL). */
const char *perf_obstacle(bool with_groups);

/** The number of online CPUs. */
size_t perf_cpus(void);

/** The number of open descriptors of perf events. */
size_t perf_descriptors(void);

/** A value of the system, by its identifier without the instance: "perf-task-clock". */
double perf_of_system(const char *identifier);

/** A value of a group. */
double perf_of(const char *group, const char *identifier);

/** Reads until `count` values match a pattern: the kernel reports a group's population with a
 * delay. */
void perf_read_until(const char *pattern, size_t count);

/** Touches this many new pages. */
void perf_touch(size_t pages);

/** Makes a system call fail for the rest of the process; if an argument is given (from 0), only
 * where it has one of these bits. */
void perf_make_fail(unsigned call, unsigned error, int argument, unsigned bits);

/** A process in a group. */
struct perf_worker {
    pid_t pid;
    int line;
};

/** Starts a process in a group, which sleeps until perf_work(). */
struct perf_worker perf_start(const char *group);

/** Makes it touch new pages, then use CPU time; waits until it has. */
void perf_work(const struct perf_worker *worker, size_t pages, unsigned busy_ms);

/** Ends it. */
void perf_end(struct perf_worker *worker);

/** Lets fifty groups come and go, which are counted while they are there, and asserts that no
 * memory stays with them. */
void perf_let_groups_come_and_go(void);

#endif
