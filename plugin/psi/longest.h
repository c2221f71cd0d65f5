/* SPDX-License-Identifier: MIT */
/*
 * psi/longest.h - which of the selected groups waited longest while the system stalled: its trigger
 * says that tasks wait somewhere, not where.
 */
#ifndef HEADROOM_PLUGIN_PSI_LONGEST_H
#define HEADROOM_PLUGIN_PSI_LONGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "headroom/instance.h"

struct hr_psi_trigger_options;
struct psi_groups;

/** The group that waited longest, of those that were read. */
struct psi_longest {
    uint64_t stalled_us; /**< since an earlier read of the group's values, or since it was found */
    uint64_t excess_us;  /**< of that, what is more than usual */
    uint64_t elapsed_us; /**< since then: a window of the trigger at least, if possible */
    /** For how long the system stalled since then, or for somewhat longer; UINT64_MAX: not known.
     */
    uint64_t system_us;
    char instance[HR_INSTANCE_SIZE]; /**< of its values */
    char path[];
};

/**
 * Reads the pressure of each group once, and compares it with what was read for its values before
 * the stall. A wait that is usual for a group doesn't explain a new stall: only what exceeds it
 * counts. When the alarm is reported again (lasts), the whole wait counts. Of nested groups the
 * inner one is named if its wait is more than half of the outer one's.
 *
 * Only tries set_lock, as an alert doesn't wait for values; the caller must not have alerts_lock.
 *
 * @param lasts  whether the alarm is reported again.
 * @return the group, to be freed; NULL if none is known to have waited, or values are being read.
 */
struct psi_longest *psi_longest_find(struct psi_groups *groups,
                                     const struct hr_psi_trigger_options *trigger, bool lasts);

#endif
