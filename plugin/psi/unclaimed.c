/* SPDX-License-Identifier: MIT */
#include "psi/unclaimed.h"

static bool has_rule(const struct psi_rule_list *configured, const struct open_alarm *alarm)
{
    for (size_t i = 0; i < configured->count; i++)
        if (psi_open_alarm_is_by(alarm, &configured->rules[i]))
            return true;
    return false;
}

void psi_unclaimed_explain(const struct open_alarms *alarms, const struct open_alarm *alarm,
                           const struct psi_rule_list *configured, const struct hr_root *root,
                           char *reason, size_t size)
{
    char unconfigured[128];
    struct psi_rule rule;

    psi_open_alarm_rule(alarm, &rule);
    snprintf(unconfigured, sizeof(unconfigured), "the trigger \"%s\" is no longer configured",
             rule.name);
    snprintf(reason, size, "%s",
             open_alarms_explain(alarms, alarm, root,
                                 has_rule(configured, alarm) ? NULL : unconfigured,
                                 "its cgroup is no longer selected"));
}
