/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/perf_live.h - common parts of the tests of headroom/perf.h on the running kernel:
 * handmade events that every kernel counts, cgroups, and a worker process.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_PERF_PERF_LIVE_H
#define HEADROOM_TESTS_COLLECTORS_PERF_PERF_LIVE_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
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

/* Why these tests can't run here; NULL if they can. Also checks for the TSC. */
const char *live_obstacle(void);

/* The same, and by BPF. */
const char *live_bpf_obstacle(void);

/* Cycles of constant frequency, by the PMU "msr". */
bool live_has_tsc(void);

/* Makes this the only event, LIVE_TASK_CLOCK by number, from the next set-up on. */
void live_count(struct hr_perf_event *event);

/* Makes LIVE_FAULTS a line of its own that BPF programs can't read, from the next set-up on. Few
 * kernels still have a PMU with such events (those with a method `count`); all refuse in the same
 * way an event that children inherit, which means nothing for one of a CPU. */
void live_make_exception(void);

/* Opens and closes all of the above; by descriptors, or by BPF, which must not have an obstacle. */
void live_set_up(void);
void live_set_up_bpf(void);
void live_tear_down(void);

/* Closes all targets, and opens `perf` again, by descriptors. */
void live_open_again(void);

/* Exchanges `perf` for another one, which counts by descriptors, or back. */
void live_swap(void);

/* Opens a target of `perf`: a group below our own, or the machine (NULL). live_tear_down() closes
 * it, if live_close() hasn't. */
struct hr_perf_target *live_open(const char *name);
void live_close(struct hr_perf_target *target);

/* Reads a target and returns its counts. */
struct live_counts {
    uint64_t of[LIVE_EVENT_COUNT];
};
struct live_counts live_read(struct hr_perf_target *target);

/* Reads a target and returns the counts since then. */
struct live_counts live_read_since(struct hr_perf_target *target, const struct live_counts *before);

/* The CPU time of a process so far, in nanoseconds. */
uint64_t live_cpu_time_ns(pid_t pid);

/* Reading counts and a clock takes some microseconds; longer where others run in between, and on
 * slow machines: of so many tries the shortest is taken. */
#define LIVE_SHORT_NS 300000
#define LIVE_TRIES    100

/* Sleeps so long; but where reading took longer than that, longer by the same factor, so that it is
 * no larger share of what is measured. */
void live_nap(unsigned ms, uint64_t took_ns);

/* Work for the worker: */
struct live_work {
    unsigned spin_ms; /* of CPU time */
    unsigned pages;   /* number of new pages to touch */
    unsigned sleeps;
    unsigned signals; /* to itself, which it ignores */
};

/* Starts a process in a group, which waits for work. */
pid_t live_start_worker(const char *name);

/* Makes it work, and waits until it is done and sleeps. */
void live_work(const struct live_work *work);

#endif
