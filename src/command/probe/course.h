/* SPDX-License-Identifier: MIT */
/*
 * probe/course.h - what a probe does next, and what it has found; no input, no output.
 */
#ifndef HEADROOM_COMMAND_PROBE_COURSE_H
#define HEADROOM_COMMAND_PROBE_COURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/reclaim.h"

#define PROBE_STEP_S      6    /* between two steps */
#define PROBE_STEP_PCT    1.0  /* of what can be taken */
#define PROBE_STALLED_PCT 0.1  /* of the time, at which it ends */
#define PROBE_STEP_LEAST  4096 /* bytes */

/** Why a probe has ended. */
enum probe_end {
    PROBE_GOES_ON,
    PROBE_STALLED,      /**< tasks wait for memory or I/O */
    PROBE_EXHAUSTED,    /**< the kernel could take less than it was asked for */
    PROBE_NOTHING_LEFT, /**< all that could be taken is */
    PROBE_TIME_IS_UP,
    PROBE_INTERRUPTED, /**< by a signal, or nothing reads what is printed */
    PROBE_FAILED       /**< a message has the cause */
};

struct probe_course {
    struct hr_reclaim_state before, now; /**< at the first step, and when it was read last */
    size_t step_count;
    uint64_t taken_bytes; /**< in these */
    uint64_t time_ns;     /**< since the first */
    enum probe_end end;
    enum hr_psi_resource stalled; /**< what tasks wait for, at PROBE_STALLED */
};

/** How many bytes the next step takes; 0: there is nothing left. */
uint64_t probe_step_bytes(const struct hr_reclaim_state *state);

/** Whether tasks wait so much that nothing may be taken. @param resource  receives for what, the
 * longer wait. */
bool probe_is_stalled(const struct hr_reclaim_state *state, enum hr_psi_resource *resource);

/** Begins with a first reading, which may end it. */
void probe_course_begin(struct probe_course *course, const struct hr_reclaim_state *state);

/** Takes a reading while it waits for the next step, which may end it. */
void probe_course_note(struct probe_course *course, const struct hr_reclaim_state *state);

/** Takes the reading after a step. */
void probe_course_add_step(struct probe_course *course, const struct hr_reclaim_state *state);

/** How many pages were read again since the first step. */
uint64_t probe_refault_count(const struct probe_course *course);

#endif
