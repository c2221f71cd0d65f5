/*
 * psi/rule.h - the blocks <Trigger …> of the plugin psi: what is an alert.
 */
#ifndef HEADROOM_PLUGIN_PSI_RULE_H
#define HEADROOM_PLUGIN_PSI_RULE_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/psi_trigger.h"

/** One block. */
struct psi_rule {
    char name[65];
    char type_instance[80]; /**< "trigger_NAME" */
    bool of_system;         /**< Scope: the system; else every selected cgroup */
    struct hr_psi_trigger_options trigger;
    int severity; /**< NOTIF_WARNING or NOTIF_FAILURE */
    size_t quiet; /**< windows without an event until all is well */
    size_t top_tasks;
    uint64_t top_tasks_window_us;
    size_t top_tasks_limit; /**< tasks looked at per second */
};

#define PSI_TOP_TASKS_MAX 10

/** Takes a block. @return 0, or -1, and logged. */
int psi_rule_read(struct psi_rule *rule, const oconfig_item_t *item);

#endif
