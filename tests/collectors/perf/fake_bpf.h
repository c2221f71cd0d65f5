/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/fake_bpf.h - a fake of the BPF programs that count: their slots, to which a
 * test adds. It is strict: calls that the kernel would refuse, or that the collector shouldn't
 * make, end the program with a message.
 *
 * There is one per process.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_PERF_FAKE_BPF_H
#define HEADROOM_TESTS_COLLECTORS_PERF_FAKE_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf/bpf_calls.h"

/* What no selected group does. */
#define FAKE_REST UINT64_C(0)

/* The calls so far. */
struct fake_bpf_log {
    size_t selected; /* groups that are */
    size_t events;   /* set_event() */
    size_t flushes;
    size_t slots_read; /* on a CPU */
};

extern const struct hr_perf_bpf_calls fake_bpf_calls;

/* Resets everything; nothing may be loaded. Its CPUs are `possible`. */
void fake_bpf_reset(size_t possible);

struct fake_bpf_log fake_bpf_log(void);

/* What is counted at the next switch on a CPU: for a selected group, by its id. */
void fake_bpf_add(uint64_t id, unsigned cpu, size_t event, uint64_t count, uint64_t enabled_ns,
                  uint64_t running_ns);
/* The same, but when the CPU is flushed; lost if the group isn't selected by then. */
void fake_bpf_add_by_flush(uint64_t id, unsigned cpu, size_t event, uint64_t count,
                           uint64_t time_ns);
/* The same to the slot that a group had, though it isn't selected any more. */
void fake_bpf_add_late(uint64_t id, unsigned cpu, size_t event, uint64_t count, uint64_t time_ns);

/* Calls that name this CPU end the program. */
void fake_bpf_leave_alone(unsigned cpu);

/* Makes programs unable to read an event: setting it fails; or they fail, on this CPU. */
void fake_bpf_make_unreadable(size_t event);
void fake_bpf_misread(unsigned cpu, size_t event);

/* Events that are set on a CPU. */
size_t fake_bpf_count_set(void);

void fake_bpf_set_idle(unsigned cpu, bool idle);

/* Makes a call fail from now on; 0: no more. */
enum fake_bpf_call { FAKE_LOAD, FAKE_ATTACH, FAKE_SET_EVENT, FAKE_SELECT, FAKE_FLUSH, FAKE_CALLS };
void fake_bpf_refuse(enum fake_bpf_call call, int error);

#endif
