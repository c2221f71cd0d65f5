/* SPDX-License-Identifier: MIT */
/*
 * headroom/stalls.h - splits the stall of each interval by its causes, those of headroom/
 * stall_cause.h, and submits the parts.
 *
 * That of a CPU by what the psi plugin measures of the group, for how long each of its tasks waited
 * for whom, where it does; else, as all others, by counters of the kernel, which say less of others
 * and the group itself. What the counters are is read while tasks are stalled only: by them a stall
 * is split from its second interval on. An interval is split in one of the two ways; its parts add
 * up to the stall either way. A cause that was seen once goes on to be submitted, with 0 where
 * there is none.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_STALLS_H
#define HEADROOM_PLUGIN_HEADROOM_STALLS_H

#include "common/submit.h"
#include "headroom/room.h"
#include "headroom/stall_cause.h"
#include "headroom/taken_cpus.h"

/** What is kept of a resource. */
struct stall {
    struct hr_stall_counters *before; /**< NULL: tasks aren't stalled */
    unsigned quiet_count;             /**< intervals without a stall */
    unsigned seen;                    /**< a bit for each cause */
};

/** What is kept of one group, or of the system; all zeros: nothing. */
struct stalls {
    struct stall of[HR_PSI_IRQ];
    double cpu_by_itself_pct; /**< of the last interval, as far as that is known */
};

/** Frees what is kept. */
void stalls_clear(struct stalls *stalls);

/** Explains, submits, and adds to what is kept of the last hour. @param source  of which the
 * reading is. @param group  NULL: the system. @param taken  of this interval. */
void stalls_submit(struct stalls *stalls, struct hr_room_source *source, const struct hr_root *root,
                   const struct hr_cgroup *group, const struct hr_room_reading *reading,
                   struct taken_cpus *taken, const struct submission *submission);

#endif
