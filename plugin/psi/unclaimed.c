/* SPDX-License-Identifier: MIT */
#include "psi/unclaimed.h"

#include <errno.h>

#include "headroom/cgroup.h"

static bool has_rule(const struct psi_rule_list *configured, const struct psi_open_alarm *alarm)
{
    for (size_t i = 0; i < configured->count; i++)
        if (psi_open_alarm_is_by(alarm, &configured->rules[i]))
            return true;
    return false;
}

void psi_unclaimed_explain(const struct psi_open_alarms *alarms, const struct psi_open_alarm *alarm,
                           const struct psi_rule_list *configured, const struct hr_root *root,
                           char *reason, size_t size)
{
    const int status = alarm->path != NULL ? hr_cgroup_find(root, alarm->path) : 0;

    if (status == -ENOENT)
        snprintf(reason, size, "%s",
                 psi_open_alarms_has_rebooted(alarms)
                     ? "its cgroup is gone since the machine was rebooted"
                     : "its cgroup is gone since collectd was restarted");
    else if (!has_rule(configured, alarm))
        snprintf(reason, size, "the trigger \"%s\" is no longer configured", alarm->rule.name);
    else if (status == 0)
        snprintf(reason, size, "its cgroup is no longer selected");
    else
        snprintf(reason, size, "its cgroup is gone, or no longer selected");
}
