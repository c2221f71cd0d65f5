/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/fake_perf.h - a fake of the kernel's perf events: descriptors, groups of events
 * and their counts, controlled by a test. It is strict: calls that the kernel would refuse, or that
 * the collector shouldn't make, end the program with a message.
 *
 * There is one per process, as the calls carry no context. Descriptors aren't real ones.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_PERF_FAKE_PERF_H
#define HEADROOM_TESTS_COLLECTORS_PERF_FAKE_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/perf.h"

/* A target: the inode number of a cgroup's directory, or the machine. */
#define FAKE_MACHINE UINT64_C(0)

/* Which calls of open fail. All members other than 0 must match. */
struct fake_refusal {
    int error;                   /* a negative errno */
    bool in_cgroups, in_machine; /* in one scope only */
    bool on_cpu;                 /* on this CPU only: */
    int cpu;
    bool of_type; /* of this PMU only: */
    uint32_t type;
    bool of_config; /* of this event only: */
    uint64_t config;
    size_t group_size; /* only events that would make the group this large, or larger */
    unsigned after;    /* number of matching calls that succeed first */
    unsigned count;    /* number of calls that fail then; 0: all */
};

/* The calls so far. */
struct fake_perf_log {
    unsigned opens; /* including failed ones */
    unsigned enables;
    unsigned reads;
    unsigned closes;
    size_t open; /* current descriptors */
    size_t most; /* maximum of `open` */
};

extern const struct hr_perf_calls fake_perf_calls;

/* Resets everything; nothing may be open. Call it at the end of a test, too. */
void fake_perf_reset(void);

struct fake_perf_log fake_perf_log(void);

/* The number of descriptors of a target on a CPU. */
size_t fake_perf_open_on(uint64_t target, unsigned cpu);

/* Adds a refusal; fake_perf_allow() removes all. */
void fake_perf_refuse(struct fake_refusal refusal);
void fake_perf_allow(void);

/* Makes the next call of enable fail. */
void fake_perf_refuse_enabling(int error);

/* Sets a function that is called before each open, with its number from 1; NULL: none. */
void fake_perf_on_open(void (*function)(unsigned number));

/* Sets the count of the open event with this config. */
void fake_perf_set_count(uint64_t target, unsigned cpu, uint64_t config, uint64_t count);
void fake_perf_add_count(uint64_t target, unsigned cpu, uint64_t config, uint64_t count);

/* Sets the times of the group that this event leads. */
void fake_perf_set_times(uint64_t target, unsigned cpu, uint64_t leader, uint64_t enabled_ns,
                         uint64_t running_ns);
void fake_perf_add_times(uint64_t target, unsigned cpu, uint64_t leader, uint64_t enabled_ns,
                         uint64_t running_ns);

/* Advances the clock (PERF_COUNT_SW_CPU_CLOCK) that must be the last event of that group. */
void fake_perf_add_clock(uint64_t target, unsigned cpu, uint64_t leader, uint64_t time_ns);

/* The number of clocks of a target on a CPU. */
size_t fake_perf_clocks_on(uint64_t target, unsigned cpu);

/* Makes reading that group fail in this way, until it is closed. */
enum fake_perf_trouble {
    FAKE_PERF_ENDED,    /* no bytes: the kernel's error state */
    FAKE_PERF_SHORT,    /* one count too few */
    FAKE_PERF_FAILS,    /* -EIO */
    FAKE_PERF_MISCOUNT, /* complete, but with a wrong number of events */
};
void fake_perf_break(uint64_t target, unsigned cpu, uint64_t leader,
                     enum fake_perf_trouble trouble);

/* Takes a CPU offline: groups are detached, so that the leader's times and count can still be read,
 * while the others' counts read as 0; and nothing can be opened there. */
void fake_perf_take_cpu_away(unsigned cpu);
/* Then the leader reports itself alone, as Linux 6.12 has it. */
void fake_perf_report_leaders_alone(void);
/* Events can be opened there again. */
void fake_perf_bring_cpu_back(unsigned cpu);

/* Opening anything on this CPU ends the program. */
void fake_perf_leave_alone(unsigned cpu);

/* The type of the open event with this config. */
uint32_t fake_perf_type(uint64_t target, unsigned cpu, uint64_t config);

#endif
