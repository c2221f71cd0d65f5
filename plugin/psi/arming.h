/* SPDX-License-Identifier: MIT */
/*
 * psi/arming.h - logs triggers that can't be armed, or that the kernel refuses.
 */
#ifndef HEADROOM_PLUGIN_PSI_ARMING_H
#define HEADROOM_PLUGIN_PSI_ARMING_H

#include "common/complaint.h"
#include "psi/notification.h"

/** What was logged of a rule; all zeros: nothing. */
struct psi_arming {
    struct complaint of_system;
    struct tally of_groups;
    size_t unarmed_groups; /**< that fail at the moment */
};

/** Logs that the kernel refuses triggers of the system, so that they are polled. @param refusal  of
 * all rules, as they have one cause. */
void psi_arming_log_refusal(struct complaint *refusal, const struct psi_rule *rule, int status);

/** Logs that the trigger can't be armed; unarmed_groups must be up to date. */
void psi_arming_log_failure(struct psi_arming *arming, const struct psi_subject *subject,
                            int status);

/** Logs that the trigger is armed, if a failure was logged. */
void psi_arming_log_success(struct psi_arming *arming, const struct psi_subject *subject);

#endif
