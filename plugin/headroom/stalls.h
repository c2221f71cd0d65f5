/* SPDX-License-Identifier: MIT */
/*
 * headroom/stalls.h - splits the stall of each interval by its causes, those of headroom/
 * stall_cause.h, and submits the parts.
 *
 * What the causes come from is read while tasks are stalled only: a stall is split from its
 * second interval on. A cause that was seen once goes on to be submitted, with 0 where there is
 * none.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_STALLS_H
#define HEADROOM_PLUGIN_HEADROOM_STALLS_H

#include "common/submit.h"
#include "headroom/room.h"
#include "headroom/stall_cause.h"

/** What is kept of a resource. */
struct stall {
    struct hr_stall_counters *before; /**< NULL: tasks aren't stalled */
    unsigned quiet_count;             /**< intervals without a stall */
    unsigned seen;                    /**< a bit for each cause */
};

/** What is kept of one group, or of the system; all zeros: nothing. */
struct stalls {
    struct stall of[HR_PSI_IRQ];
};

/** Frees what is kept. */
void stalls_clear(struct stalls *stalls);

/** Explains, submits, and adds to what is kept of the last hour. @param source  of which the
 * reading is. @param group  NULL: the system. */
void stalls_submit(struct stalls *stalls, struct hr_room_source *source, const struct hr_root *root,
                   const struct hr_cgroup *group, const struct hr_room_reading *reading,
                   const struct submission *submission);

#endif
