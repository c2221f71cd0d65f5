/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/perf_harness.h - common parts of the tests of headroom/perf.h: a tree with CPUs
 * and cgroups, handmade events, and the fake kernel.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_PERF_PERF_HARNESS_H
#define HEADROOM_TESTS_COLLECTORS_PERF_PERF_HARNESS_H

#include <check.h>

#include "collectors/perf/fake_perf.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/perf.h"
#include "headroom/perf_event.h"
#include "headroom/reason.h"
#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"

/* Events are identified by their config, 1 to 9. */
#define MAX_CONFIG 9

/* Retry interval in tests that wait for a retry: longer than any test takes. */
#define RETRY_S  1000
#define RETRY_NS (RETRY_S * HR_NS_PER_S)

/* Kernels whose running time of cgroups is right, and wrong. */
#define RIGHT_RELEASE "7.3.0"
#define WRONG_RELEASE "6.12.114"

extern struct tree *tree;
extern struct hr_root *root;
extern struct hr_perf *perf;
extern struct hr_perf_options perf_options; /* for open_perf(), except for the groups */

/* Creates a tree with CPUs 0 and 1 and a right release; every event is a hardware event and counts
 * on each CPU. */
void set_up(void);

/* Closes all targets; nothing may be left open. */
void tear_down(void);

/* Makes an event count on these CPUs only, by a PMU of this type; call it again to add CPUs with
 * another PMU. */
void count_on(uint64_t config, uint32_t type, const char *cpus);

/* Makes it an event of a PMU that counts for the whole machine. */
void count_for_the_machine(uint64_t config);

/* Makes it one of hr_perf_event_new_unknown(), until count_on(). */
void make_unknown(uint64_t config);

/* Replaces the CPUs of an event of count_on(), as hr_perf_event_update() does. */
void move_to(uint64_t config, const char *cpus);

/* Makes it a generic event, with that PMU's type in the upper half of its config. */
void make_extended(uint64_t config, uint32_t pmu);

/* Sets the groups of events in the options, written as their configs ("12 3"). */
void set_groups(const char *groups);
/* Calls set_groups() and opens. */
void open_perf(const char *groups);
/* The same by BPF, with the fake of fake_bpf.h in the options. @return its status */
int open_perf_bpf(const char *groups, struct hr_reason *reason);
/* Closes all targets and `perf`. */
void close_perf(void);

/* CPUs. */
void set_online(const char *cpus);
void add_cpu(unsigned cpu);
/* Adds CPUs from 0, all online. */
void add_cpus(unsigned count);
/* Recreates the CPU's topology, as after being offline. */
void renew_cpu(unsigned cpu);

/* The kernel's; before open_perf(). */
void set_release(const char *release);

/* Targets. */
struct hr_perf_target *open_machine(void);
/* Creates the cgroup if there is none. */
struct hr_perf_target *open_cgroup(const char *path);
uint64_t id_of(const char *path);
void close_target(struct hr_perf_target *target);

/* Calls hr_perf_read(), which must succeed, and hr_perf_target_read(). */
int read_target(struct hr_perf_target *target);

/* Adds to the count of an event, and to both times of the group that it leads. */
void add_counted(uint64_t target, unsigned cpu, uint64_t leader, uint64_t count, uint64_t time_ns);

/* Stops the clock, which only goes on by advance_clock(), until the end of the test. */
void stop_clock(void);
void advance_clock(uint64_t ns);

/* Advances it without CPU time of ours. */
void let_others_run(uint64_t ns);

/* Advances the clock so that failed opens are retried. */
void wait_for_retry(void);

int status_of(enum hr_perf_scope scope, size_t group, size_t event);

void check_value(const struct hr_perf_value *value, bool counted, uint64_t total, uint64_t delta,
                 const char *file, int line);

#define assert_value(target, group, event, total, delta)                                           \
    do {                                                                                           \
        struct hr_perf_value value_ = hr_perf_target_value(target, group, event);                  \
        check_value(&value_, true, total, delta, __FILE__, __LINE__);                              \
    } while (0)

/* There is a total, but it isn't up to date. */
#define assert_absent(target, group, event, total)                                                 \
    do {                                                                                           \
        struct hr_perf_value value_ = hr_perf_target_value(target, group, event);                  \
        check_value(&value_, false, total, value_.delta, __FILE__, __LINE__);                      \
    } while (0)

#define assert_cpu_value(target, index, group, event, total, delta)                                \
    do {                                                                                           \
        struct hr_perf_value value_ = hr_perf_target_cpu_value(target, index, group, event);       \
        check_value(&value_, true, total, delta, __FILE__, __LINE__);                              \
    } while (0)

#endif
