/*
 * psi/arming.h - what to say of triggers that can't be armed, or not by the kernel.
 */
#ifndef HEADROOM_PLUGIN_PSI_ARMING_H
#define HEADROOM_PLUGIN_PSI_ARMING_H

#include "common/complaint.h"
#include "psi/notification.h"

/** What was said of a rule; all zeros: nothing. */
struct psi_arming {
    bool is_refusal_told;
    struct complaint of_system;
    struct tally of_groups;
    size_t unarmed_groups; /**< failing at the moment */
};

/** The kernel refuses, so the trigger is polled. */
void psi_arming_tell_refusal(struct psi_arming *arming, const struct psi_rule *rule, int status);

/** The trigger can't be armed (again); unarmed_groups is up to date. */
void psi_arming_tell_failure(struct psi_arming *arming, const struct psi_subject *subject,
                             int status);

/** The trigger is armed. */
void psi_arming_tell_success(struct psi_arming *arming, const struct psi_subject *subject);

#endif
