/* SPDX-License-Identifier: MIT */
/*
 * perf/bpf_counting.h - counting by BPF: one set of events a CPU for all targets.
 *
 * A selected group has a slot, to which the programs add what its tasks, and those of groups below
 * that aren't selected, have counted. What a slot has counted since it was read last is added to
 * the target and to those above.
 *
 * A slot is used again only when no CPU adds to it any more: when each CPU has been flushed since,
 * or was idle, which is in no slot of a group.
 *
 * Groups of events that BPF programs can't read are exceptions: descriptors count them for the same
 * targets, as perf/opening.h does where there is no BPF. Which are, is known when it begins; later,
 * where a CPU comes, or events that could not be opened before.
 */
#ifndef HEADROOM_COLLECTORS_PERF_BPF_COUNTING_H
#define HEADROOM_COLLECTORS_PERF_BPF_COUNTING_H

#include "perf/bpf_calls.h"
#include "perf/internal.h"

struct hr_perf_bpf;
struct hr_reason;

/** Loads the programs, opens the events and begins to count for all targets, whose descriptors, if
 * there are any, are read a last time when that begins on their CPU, but for those of exceptions.
 * @param perf  its CPUs are known; receives the object as `bpf`, also on failure: then the
 * descriptors are as they were. */
int hr_perf_bpf_open(struct hr_perf *perf, struct hr_reason *reason);

/** Frees `bpf`, which may be NULL, and makes it NULL. */
void hr_perf_bpf_close(struct hr_perf *perf);

/** Adds to all targets what has been counted; opens the events of CPUs that came online. */
void hr_perf_bpf_read(struct hr_perf *perf);

/** @return 0, or why the last hr_perf_bpf_read() failed. */
int hr_perf_bpf_status(const struct hr_perf *perf);

/** @return a number that is another one each time that other events are opened; the machine's probe
 * may have found more since. */
unsigned hr_perf_bpf_generation(const struct hr_perf *perf);

/** @return of a group of events that BPF counts: a bit mask of those that can be counted, as of
 * that generation. */
uint32_t hr_perf_bpf_usable(const struct hr_perf *perf, size_t group);

/** Whether events are open on a CPU, or were until the last hr_perf_bpf_read(). */
bool hr_perf_bpf_was_open(const struct hr_perf *perf, size_t index);

/** Adds a target, below the nearest one above; its group isn't selected yet. */
void hr_perf_bpf_add_target(struct hr_perf_target *target);

/** Deselects the group of a target, and removes it. */
void hr_perf_bpf_remove_target(struct hr_perf_target *target);

/** Selects the group of a target. @return 0, also if it is; -ENOSPC if there are too many. */
int hr_perf_bpf_select_group(struct hr_perf_target *target);

/** Deselects it if it is, and adds what it has counted last. */
void hr_perf_bpf_deselect_group(struct hr_perf_target *target);

#endif
