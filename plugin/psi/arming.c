/* SPDX-License-Identifier: MIT */
#include "psi/arming.h"

#include "common/complaint.h"
#include "common/log.h"

#define PLUGIN "psi"

void psi_arming_log_refusal(struct complaint *refusal, const struct psi_rule *rule, int status)
{
    struct hr_reason reason;

    hr_psi_trigger_explain(status, rule->trigger.resource, true, &reason);
    complaint_log(refusal, LOG_NOTICE, status,
                  PLUGIN ": triggers of the system, such as %s, are polled, up to %d times per "
                         "window, as the kernel doesn't accept them: %s.",
                  rule->name, HR_PSI_TRIGGER_POLLS, reason.text);
}

void psi_arming_log_failure(struct psi_arming *arming, const struct psi_subject *subject,
                            int status)
{
    const struct psi_rule *rule = subject->rule;
    struct hr_reason reason;

    hr_psi_trigger_explain(status, rule->trigger.resource, rule->of_system, &reason);
    if (subject->path == NULL)
        complaint_log(&arming->of_system, LOG_ERR, status,
                      PLUGIN ": trigger %s can't be armed, retrying every 10 s: %s.", rule->name,
                      reason.text);
    else if (tally_should_log(&arming->of_groups, arming->unarmed_groups))
        ERROR(PLUGIN ": trigger %s can't be armed for %zu of the cgroups, such as %s, retrying "
                     "every 10 s: %s.",
              rule->name, arming->unarmed_groups, subject->path, reason.text);
}

void psi_arming_log_success(struct psi_arming *arming, const struct psi_subject *subject)
{
    if (subject->path == NULL)
        complaint_resolve(&arming->of_system, PLUGIN ": trigger %s is armed.", subject->rule->name);
    else if (arming->unarmed_groups == 0)
        tally_should_log(&arming->of_groups, 0);
}
