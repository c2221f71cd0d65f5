/* SPDX-License-Identifier: MIT */
/*
 * psi/cause_history.h - the counters that show the causes of a stall, as they were a window or two
 * ago: taken while pressure moves only, so that groups without any cost nothing.
 */
#ifndef HEADROOM_PLUGIN_PSI_CAUSE_HISTORY_H
#define HEADROOM_PLUGIN_PSI_CAUSE_HISTORY_H

#include "headroom/psi_trigger.h"
#include "headroom/stall_cause.h"

/** What is compared, and when; all zeros: nothing was taken yet. */
struct psi_cause_history {
    struct hr_stall_counters *older, *newer; /**< NULL: none */
};

/** Frees what was taken. */
void psi_cause_history_clear(struct psi_cause_history *history);

/** Whether nothing was taken. */
bool psi_cause_history_is_empty(const struct psi_cause_history *history);

/** Takes the counters of a group, or of the system (NULL). If memory is short, nothing happens. */
void psi_cause_history_take(struct psi_cause_history *history, const struct hr_root *root,
                            const struct hr_cgroup *group, enum hr_psi_resource resource);

/**
 * Compares the older counters with those of now.
 *
 * @param event   the stall; that between the two reads is taken to be of the same rate.
 * @param causes  always filled in; their times are parts of the event's stall, or of that between
 * the reads if it is shorter.
 */
void psi_cause_history_attribute(const struct psi_cause_history *history,
                                 const struct hr_root *root, const struct hr_cgroup *group,
                                 enum hr_psi_resource resource, const struct hr_psi_event *event,
                                 struct hr_stall_causes *causes);

#endif
