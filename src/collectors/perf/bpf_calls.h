/* SPDX-License-Identifier: MIT */
/*
 * perf/bpf_calls.h - libbpf's calls: the BPF programs that count, and their maps.
 */
#ifndef HEADROOM_COLLECTORS_PERF_BPF_CALLS_H
#define HEADROOM_COLLECTORS_PERF_BPF_CALLS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf/bpf_shared.h"

/** The calls return 0 or a negative errno. An object is what load() returned. */
struct hr_perf_bpf_calls {
    /** @param slots  how many; numbers are below it. @param possible  how many CPUs are. @return
     * -ENXIO, too: so many aren't possible; -ENOPKG: built without BPF. */
    int (*load)(const struct count_settings *settings, size_t slots, size_t possible,
                void **object);
    void (*unload)(void *object);
    /** Begins to count at switches. */
    int (*attach)(void *object);
    /** Counts an event on a CPU from now on, in place of another; the programs keep it open.
     * @return -EOPNOTSUPP if BPF programs can't read it. */
    int (*set_event)(void *object, size_t event, unsigned cpu, int fd);
    /** Counts it no more, and closes it; nothing if it isn't set. */
    void (*unset_event)(void *object, size_t event, unsigned cpu);
    /** Counts a group, by its id, in a slot; or for the selected group above. */
    int (*select)(void *object, uint64_t id, __u32 slot);
    int (*deselect)(void *object, uint64_t id);
    /** @param cpus  receives the state of each possible CPU, in the order of their numbers. */
    int (*read_cpus)(void *object, struct count_cpu *cpus);
    /** Counts what a CPU has done since its last switch. @return -ENXIO: it is offline. */
    int (*flush)(void *object, unsigned cpu);
    /** Begins a reading: what is added from now on is found by the next ones, too. */
    int (*begin_reading)(void *object);
    /** Finds the slots that may have been added to since the reading before.
     * @param changed  receives it, of each slot below `count`. */
    void (*find_changed)(void *object, __u32 count, bool *changed);
    /** Whether a possible CPU may have added to a slot since the reading before. */
    bool (*is_changed)(const void *object, __u32 slot, unsigned cpu);
    /** @param values  receives, of a slot and a possible CPU, that of each event. */
    void (*read)(const void *object, __u32 slot, unsigned cpu, struct count_value *values);
};

/** Those of libbpf, for the running kernel. */
extern const struct hr_perf_bpf_calls hr_perf_kernel_bpf_calls;

#endif
