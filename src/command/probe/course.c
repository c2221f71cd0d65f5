/* SPDX-License-Identifier: MIT */
#include "probe/course.h"

uint64_t probe_step_bytes(const struct hr_reclaim_state *state)
{
    const uint64_t bytes = (uint64_t)((double)state->takeable_bytes * PROBE_STEP_PCT / 100);

    if (state->takeable_bytes < PROBE_STEP_LEAST)
        return 0;
    return bytes > PROBE_STEP_LEAST ? bytes : PROBE_STEP_LEAST;
}

bool probe_is_stalled(const struct hr_reclaim_state *state, enum hr_psi_resource *resource)
{
    const double *pct = state->stalled_pct;

    *resource = pct[HR_PSI_IO] > pct[HR_PSI_MEMORY] ? HR_PSI_IO : HR_PSI_MEMORY;
    return pct[*resource] >= PROBE_STALLED_PCT;
}

void probe_course_begin(struct probe_course *course, const struct hr_reclaim_state *state)
{
    *course = (struct probe_course){.before = *state};
    probe_course_note(course, state);
}

void probe_course_note(struct probe_course *course, const struct hr_reclaim_state *state)
{
    course->now = *state;
    if (probe_is_stalled(state, &course->stalled))
        course->end = PROBE_STALLED;
    else if (probe_step_bytes(state) == 0)
        course->end = PROBE_NOTHING_LEFT;
}

void probe_course_add_step(struct probe_course *course, const struct hr_reclaim_state *state)
{
    const uint64_t before_bytes = course->now.current_bytes;

    course->step_count++;
    /* Meanwhile the group may have used more than was taken. */
    if (before_bytes > state->current_bytes)
        course->taken_bytes += before_bytes - state->current_bytes;
    probe_course_note(course, state);
}

uint64_t probe_refault_count(const struct probe_course *course)
{
    const uint64_t before = course->before.refault_count, now = course->now.refault_count;

    return now > before ? now - before : 0;
}
