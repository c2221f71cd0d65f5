/* SPDX-License-Identifier: MIT */
/*
 * psi/top_groups.h - which groups have series where the option TopGroups limits their number: those
 * that wait most, and those that did lately.
 *
 * They are ranked by the kernel's average over 60 seconds: it decays, so that one short stall
 * changes little, and it is there from the first read on.
 */
#ifndef HEADROOM_PLUGIN_PSI_TOP_GROUPS_H
#define HEADROOM_PLUGIN_PSI_TOP_GROUPS_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/psi.h"

/** The resources and levels by which groups can be ranked: all but irq "some". */
#define PSI_TOP_RANKS 7

/** How long a group has series after it was last among those that wait most. */
#define PSI_TOP_HOLD_S 600

/** How many groups there are of each rank; 0: they aren't ranked so. All zeros: all have series. */
struct psi_top_options {
    size_t most[PSI_TOP_RANKS];
};

/** What is known of one group. All zeros is a new one. */
struct psi_top_standing {
    cdtime_t
        worst_time[PSI_TOP_RANKS]; /**< when it was last among those that wait most; 0: never */
    bool is_top;                   /**< it has series */
    bool was_top;                  /**< it had, before psi_top_choose() */
};

/** A group that was read in this interval. */
struct psi_top_candidate {
    const struct hr_psi_snapshot *snapshot; /**< what was read */
    struct psi_top_standing *standing;
};

/** Reads the option TopGroups. @return 0; -1: refused, and logged. */
int psi_top_option(struct psi_top_options *options, const oconfig_item_t *item);

/** Whether the option was given. */
bool psi_top_is_limited(const struct psi_top_options *options);

/** Finds what groups are to be ranked by, though it isn't sampled. @return such as "cpu-some";
 * NULL: there is none. */
const char *psi_top_find_unsampled(const struct psi_top_options *options,
                                   const bool sampled[HR_PSI_RESOURCE_COUNT]);

/**
 * Decides which groups have series: of each rank the groups with the highest average above 0, and
 * up to as many more of those that were among them within PSI_TOP_HOLD_S, the latest first.
 *
 * @param candidates  are put into another order.
 * @param time        of this interval.
 */
void psi_top_choose(const struct psi_top_options *options, struct psi_top_candidate *candidates,
                    size_t count, cdtime_t time);

#endif
