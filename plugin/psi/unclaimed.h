/* SPDX-License-Identifier: MIT */
/*
 * psi/unclaimed.h - why an alarm of the previous run, which no alert has claimed, can't go on.
 */
#ifndef HEADROOM_PLUGIN_PSI_UNCLAIMED_H
#define HEADROOM_PLUGIN_PSI_UNCLAIMED_H

#include "psi/open_alarms.h"

struct hr_root;

/** The configured rules. */
struct psi_rule_list {
    const struct psi_rule *rules;
    size_t count;
};

/** Fills in the reason for psi_notification_write_unwatched(): the group, or the rule, is gone.
 * Where both are, it is the group: then there is no stall any more. */
void psi_unclaimed_explain(const struct open_alarms *alarms, const struct open_alarm *alarm,
                           const struct psi_rule_list *configured, const struct hr_root *root,
                           char *reason, size_t size);

#endif
