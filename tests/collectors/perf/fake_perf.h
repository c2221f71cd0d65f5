/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/fake_perf.h - stands in for the kernel's perf events: descriptors, groups of
 * events and what they read, all made up by a test. It is strict with who calls it: whatever the
 * kernel would refuse, or the collector shouldn't do, ends the program with a message.
 *
 * An event that counts nothing (PERF_COUNT_SW_DUMMY) is accepted, not logged and never refused: it
 * must be open while groups are enabled in a cgroup, as the kernel would not keep their time
 * otherwise.
 *
 * There is one per process, as the calls carry no context. Descriptors aren't real ones.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_PERF_FAKE_PERF_H
#define HEADROOM_TESTS_COLLECTORS_PERF_FAKE_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/perf.h"

/* Who is counted: a cgroup, by its directory's inode number, or the machine. */
#define FAKE_MACHINE UINT64_C(0)

/* Which calls of open fail. All that is given must match; 0 in the others matches any. */
struct fake_refusal {
    int error;                   /* a negative errno */
    bool in_cgroups, in_machine; /* of one scope only */
    bool on_cpu;                 /* of this CPU only: */
    int cpu;
    bool of_type; /* of this PMU only: */
    uint32_t type;
    bool of_config; /* of this event only: */
    uint64_t config;
    size_t group_size; /* only events that would make a group so large, or larger */
    unsigned after;    /* so many matching calls are let through first */
    unsigned count;    /* and then so many fail; 0: all */
};

/* What happened so far. */
struct fake_perf_log {
    unsigned opens; /* also those that failed */
    unsigned enables;
    unsigned reads;
    unsigned closes;
    size_t open; /* descriptors at the moment */
    size_t most; /* the most there ever were */
};

extern const struct hr_perf_calls fake_perf_calls;

/* Begins anew; nothing may be open. To be called at the end, too. */
void fake_perf_reset(void);

struct fake_perf_log fake_perf_log(void);

/* How many descriptors a target has on a CPU. */
size_t fake_perf_open_on(uint64_t target, unsigned cpu);

/* Adds a refusal; fake_perf_allow() ends them all. */
void fake_perf_refuse(struct fake_refusal refusal);
void fake_perf_allow(void);

/* The next call of enable fails. */
void fake_perf_refuse_enabling(int error);

/* Called before each open, with its number from 1; NULL: not. */
void fake_perf_on_open(void (*function)(unsigned number));

/* What the open event, told by its config, reads from now on. */
void fake_perf_set_count(uint64_t target, unsigned cpu, uint64_t config, uint64_t count);
void fake_perf_add_count(uint64_t target, unsigned cpu, uint64_t config, uint64_t count);

/* The times of the group which this event leads. */
void fake_perf_set_times(uint64_t target, unsigned cpu, uint64_t leader, uint64_t enabled_ns,
                         uint64_t running_ns);
void fake_perf_add_times(uint64_t target, unsigned cpu, uint64_t leader, uint64_t enabled_ns,
                         uint64_t running_ns);

/* How reading that group goes wrong from now on, until it is closed. */
enum fake_perf_trouble {
    FAKE_PERF_ENDED,    /* no bytes: the kernel's error state */
    FAKE_PERF_SHORT,    /* a count less than there are events */
    FAKE_PERF_FAILS,    /* -EIO */
    FAKE_PERF_MISCOUNT, /* as long as it should be, but telling of another number of events */
};
void fake_perf_break(uint64_t target, unsigned cpu, uint64_t leader,
                     enum fake_perf_trouble trouble);

/* As when a CPU goes offline: groups fall apart, so that the leader's times and count go on to be
 * read, while the others' counts read as 0; and nothing can be opened there. */
void fake_perf_take_cpu_away(unsigned cpu);
/* It can be opened there again. */
void fake_perf_bring_cpu_back(unsigned cpu);

/* The type of the event, by its config, that is open there. */
uint32_t fake_perf_type(uint64_t target, unsigned cpu, uint64_t config);

#endif
