/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/perf_live.h - what the tests of perf.h on the running kernel have in common:
 * events, made by hand, of kinds that every kernel counts; cgroups; and a process that does what it
 * is told to.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_PERF_PERF_LIVE_H
#define HEADROOM_TESTS_COLLECTORS_PERF_PERF_LIVE_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "headroom/cgroup.h"
#include "headroom/perf.h"
#include "headroom/perf_event.h"
#include "headroom/root.h"
#include "support/groups.h"
#include "support/suite.h"

/* The events, in one group; the last only where the machine has it, see live_has_tsc(). */
enum { LIVE_TASK_CLOCK, LIVE_SWITCHES, LIVE_FAULTS, LIVE_TSC, LIVE_EVENT_COUNT };

extern struct groups *groups;
extern struct hr_root *root;
extern struct hr_perf *perf;

/* Why these tests can't run here; NULL if they can. Also finds out about the TSC. */
const char *live_obstacle(void);

/* Cycles of constant frequency, by the PMU "msr". */
bool live_has_tsc(void);

/* Opens all of the above, and closes it. */
void live_set_up(void);
void live_tear_down(void);

/* A target of a group below our own, or, NULL, of the machine; closed by live_tear_down(). */
struct hr_perf_target *live_open(const char *name);

/* Reads it and tells what it has counted. */
struct live_counts {
    uint64_t of[LIVE_EVENT_COUNT];
};
struct live_counts live_read(struct hr_perf_target *target);

/* What it has counted since. */
struct live_counts live_read_since(struct hr_perf_target *target, const struct live_counts *before);

/* The CPU time that a process got so far, in nanoseconds. */
uint64_t live_cpu_time_ns(pid_t pid);

uint64_t live_now_ns(void);

/* What the worker does: */
struct live_work {
    unsigned spin_ms; /* of CPU time */
    unsigned pages;   /* so many new ones are touched */
    unsigned sleeps;
};

/* Starts a process in a group that waits for work. */
pid_t live_start_worker(const char *name);

/* Lets it work, and waits until it is done and sleeps. */
void live_work(const struct live_work *work);

#endif
