/* SPDX-License-Identifier: MIT */
/*
 * psi/rule.h - the blocks <Trigger …> of the plugin psi: which stalls are reported, and how.
 */
#ifndef HEADROOM_PLUGIN_PSI_RULE_H
#define HEADROOM_PLUGIN_PSI_RULE_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/option_value.h"
#include "headroom/psi_trigger.h"

/** One block. */
struct psi_rule {
    char name[HR_OPTION_NAME_MAX + 1];
    char type_instance[80]; /**< "trigger_NAME" */
    bool of_system;         /**< Scope: the system; else every selected cgroup */
    struct hr_psi_trigger_options trigger;
    int severity;       /**< NOTIF_WARNING or NOTIF_FAILURE */
    uint64_t quiet_us;  /**< without an event until the alarm is over */
    uint64_t repeat_us; /**< until an alarm that lasts is reported again; 0: never */
    size_t top_tasks;
    uint64_t top_tasks_window_us;
    size_t top_tasks_limit; /**< tasks sampled per second */
};

#define PSI_TOP_TASKS_MAX 10

/** Reads a block. @return 0; -1: refused, and logged. */
int psi_rule_read(struct psi_rule *rule, const oconfig_item_t *item);

#endif
