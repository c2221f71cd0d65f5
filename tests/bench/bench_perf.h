/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_perf.h - what the benchmarks of counting perf events share: two lines of two events,
 * and cgroups that are counted as the plugin does it.
 */
#ifndef HEADROOM_TESTS_BENCH_PERF_H
#define HEADROOM_TESTS_BENCH_PERF_H

#include <stdbool.h>
#include <stddef.h>

#include "headroom/perf.h"

struct hr_cgroup_set;
struct hr_root;

/** Four software events, in two lines. */
#define BENCH_LINES  2
#define BENCH_EVENTS 4
extern struct hr_perf_event_group bench_lines[BENCH_LINES];

/** "/". */
extern struct hr_root *bench_root;

/** What counts some groups. */
struct bench_counting {
    bool by_bpf;
    const struct hr_perf_options *options;
    struct hr_perf *perf;
    struct hr_cgroup_set *set;
};

/** Which groups. */
struct bench_selection {
    const char *const *patterns;
    size_t pattern_count;
    size_t count; /* of groups that they select, all with a process */
};

/** Opens the counters of all, as `by_bpf` and `options` say. */
void bench_open_counting(struct bench_counting *counting, const struct hr_root *root,
                         const struct bench_selection *selection);

/** Reads as the plugin does. @return how many values were counted. */
size_t bench_read_counting(const struct bench_counting *counting);

void bench_close_counting(struct bench_counting *counting);

/** Prints, of cgroups of this machine, the CPU time of reading all counters. */
void bench_perf_reading(void);

/** Prints the same of 256 CPUs, but for the kernel's part. */
void bench_perf_large(void);

/** Prints what a switch between tasks of two cgroups takes. */
void bench_perf_switches(void);

#endif
