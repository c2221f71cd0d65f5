/* SPDX-License-Identifier: MIT */
/*
 * perf/bpf_state.h - struct hr_perf_bpf, shared by perf/bpf_counting.c (beginning, reading),
 * perf/bpf_events.c (the events of each CPU) and perf/bpf_targets.c (which group has which slot).
 */
#ifndef HEADROOM_COLLECTORS_PERF_BPF_STATE_H
#define HEADROOM_COLLECTORS_PERF_BPF_STATE_H

#include "perf/bpf_counting.h"
#include "perf/target.h"

/* A CPU that was adding when a group ended, and was held up, has an interval at least to end that.
 */
#define HR_PERF_BPF_LAST_READINGS 2

struct hr_perf_bpf_slot {
    bool used;
    unsigned last_readings;        /* until it is free, as its group ended; 0: it didn't */
    struct hr_perf_target *target; /* for which it counts; NULL: none */
};

/* Of a CPU, indexed like struct hr_perf_cpus. */
struct hr_perf_bpf_cpu {
    bool open;
    bool was_open;     /* before the last read */
    unsigned epoch;    /* when its events were opened, or failed to open */
    int failed;        /* why they aren't open; 0 */
    uint64_t tried_ns; /* 0: never */
};

struct hr_perf_bpf {
    const struct hr_perf_bpf_calls *calls;
    void *object;
    int status;
    bool read_failed;    /* the last one */
    unsigned generation; /* of the probe, when the events were opened */
    size_t *columns;     /* of each group that isn't an exception when it begins: the number of its
                            first event here */
    size_t event_count;  /* of these */
    /* Of each group: an event of it that was found to be unreadable; NULL: none. */
    const struct hr_perf_event **unreadable;
    size_t possible; /* CPUs that are possible */
    size_t *places;  /* of each CPU's number: its place among the possible ones */
    struct count_cpu *cpu_states;
    struct hr_perf_bpf_cpu *cpus;
    size_t cpu_count, cpu_capacity;
    struct hr_perf_bpf_slot *slots;
    size_t slot_max, slot_count;    /* numbers of slots that were ever used are below */
    struct count_value *before;     /* of each slot, possible CPU and event: as it was read */
    bool *changed;                  /* of each slot, at the last read */
    struct hr_perf_target *machine; /* the newest of those; NULL: none */
};

/** A counter of the whole machine may be a device's, whose driver may wake up tasks: that must not
 * be done where the scheduler holds the run queue, as at each switch. @return NULL: there is none.
 */
const struct hr_perf_event *hr_perf_bpf_find_whole_machine(const struct hr_perf_event_group *group);

/** Opens the events of CPUs that came online, and those that failed when that is due. @return 0, or
 * why they aren't open on one of them. */
int hr_perf_bpf_open_missing_cpus(struct hr_perf *perf);

/** Makes the groups with events that were found to be unreadable exceptions, whose events are open
 * here no more. */
void hr_perf_bpf_except_unreadable(struct hr_perf *perf);

/** Makes each CPU whose task goes on count what it has done so far; those that idle are left alone.
 */
int hr_perf_bpf_flush_cpus(struct hr_perf *perf);

/** Adds to its target and those above what a slot has counted since that was called last. @return
 * 0 or -ENOMEM. */
int hr_perf_bpf_read_slot(struct hr_perf *perf, size_t slot);

#endif
