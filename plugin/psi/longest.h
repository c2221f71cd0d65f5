/* SPDX-License-Identifier: MIT */
/*
 * psi/longest.h - which of the selected groups waited longest while the system stalled: its trigger
 * says that tasks wait somewhere, not where.
 */
#ifndef HEADROOM_PLUGIN_PSI_LONGEST_H
#define HEADROOM_PLUGIN_PSI_LONGEST_H

#include <stdint.h>

#include "headroom/instance.h"

struct hr_psi_trigger_options;
struct psi_groups;

/** The group that waited longest, of those that were read. */
struct psi_longest {
    uint64_t stalled_us; /**< since an earlier read of the group's values */
    uint64_t elapsed_us; /**< since then: a window of the trigger at least, if possible */
    char instance[HR_INSTANCE_SIZE]; /**< of its values */
    char path[];
};

/**
 * Reads the pressure of each group once, and compares it with what was read for its values before
 * the stall. Of nested groups of which one waited for more than half of what the one above did, it
 * is the inner one.
 *
 * Takes set_lock, so the caller must not have alerts_lock.
 *
 * @return the group, to be freed; NULL if none is known to have waited.
 */
struct psi_longest *psi_longest_find(struct psi_groups *groups,
                                     const struct hr_psi_trigger_options *trigger);

#endif
