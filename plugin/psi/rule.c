/* SPDX-License-Identifier: MIT */
#include "psi/rule.h"

#include "common/log.h"
#include "common/options.h"
#include "headroom/clock.h"

#define PLUGIN "psi"

/* A block while it is read. */
struct block {
    struct psi_rule *rule;
    const char *title; /* "psi: <Trigger "x">" */
    bool has_resource, has_stall;
    int resource, level, scope, mode;
};

static int read_option(struct block *block, const oconfig_item_t *item)
{
    struct psi_rule *rule = block->rule;
    struct hr_psi_trigger_options *trigger = &rule->trigger;
    const char *key = item->key;

    if (strcasecmp(key, "Resource") == 0) {
        block->has_resource = true;
        return option_word(block->title, item, &block->resource);
    }
    if (strcasecmp(key, "Stall") == 0) {
        block->has_stall = true;
        return option_seconds(block->title, item, &trigger->stall_us);
    }
    if (strcasecmp(key, "Window") == 0)
        return option_seconds(block->title, item, &trigger->window_us);
    if (strcasecmp(key, "Level") == 0)
        return option_word(block->title, item, &block->level);
    if (strcasecmp(key, "Scope") == 0)
        return option_word(block->title, item, &block->scope);
    if (strcasecmp(key, "Severity") == 0)
        return option_severity(block->title, item, &rule->severity);
    if (strcasecmp(key, "Mode") == 0)
        return option_word(block->title, item, &block->mode);
    if (strcasecmp(key, "Quiet") == 0)
        return option_seconds(block->title, item, &rule->quiet_us);
    if (strcasecmp(key, "Repeat") == 0)
        return option_seconds(block->title, item, &rule->repeat_us);
    if (strcasecmp(key, "TopTasks") == 0)
        return option_count(block->title, item, &rule->top_tasks);
    if (strcasecmp(key, "TopTasksWindow") == 0)
        return option_seconds(block->title, item, &rule->top_tasks_window_us);
    if (strcasecmp(key, "TopTasksLimit") == 0)
        return option_count(block->title, item, &rule->top_tasks_limit);
    option_warn_unknown(block->title, item);
    return 0;
}

static int read_name(struct psi_rule *rule, const oconfig_item_t *item)
{
    const char *name;

    if (option_text(PLUGIN, item, &name) < 0)
        return -1;
    snprintf(rule->name, sizeof(rule->name), "%s", name);
    snprintf(rule->type_instance, sizeof(rule->type_instance), "trigger_%s", name);
    return 0;
}

static int check_rule(struct block *block)
{
    struct psi_rule *rule = block->rule;
    const char *reason;

    if (!block->has_resource || !block->has_stall) {
        ERROR("%s: option %s is missing.", block->title,
              block->has_resource ? "Stall" : "Resource");
        return -1;
    }
    rule->trigger.resource = block->resource;
    rule->trigger.level = block->level;
    rule->trigger.mode = block->mode;
    rule->of_system = block->scope == 0;
    /* At least a window and a quarter, as triggers are read a little less often than once per
     * window where nothing happens. */
    if (rule->quiet_us < rule->trigger.window_us * 5 / 4)
        rule->quiet_us = rule->trigger.window_us * 5 / 4;
    if (hr_psi_trigger_check(&rule->trigger, rule->of_system, &reason) == 0)
        return 0;
    ERROR("%s: invalid combination: %s (Stall %.6g, Window %.6g).", block->title, reason,
          (double)rule->trigger.stall_us / 1e6, (double)rule->trigger.window_us / 1e6);
    return -1;
}

int psi_rule_read(struct psi_rule *rule, const oconfig_item_t *item)
{
    char title[128];
    struct block block = {
        .rule = rule,
        .title = title,
        .level = HR_PSI_SOME,
        .mode = HR_PSI_TRIGGER_AUTO,
    };

    *rule = (struct psi_rule){
        .trigger = {.window_us = HR_PSI_TRIGGER_WINDOW_DEFAULT_US},
        .severity = NOTIF_WARNING,
        .quiet_us = 30 * HR_US_PER_S,
        .top_tasks_window_us = 100000,
        .top_tasks_limit = 2000,
    };
    if (read_name(rule, item) < 0)
        return -1;
    snprintf(title, sizeof(title), PLUGIN ": <Trigger \"%s\">", rule->name);
    for (int i = 0; i < item->children_num; i++)
        if (read_option(&block, &item->children[i]) < 0)
            return -1;
    return check_rule(&block);
}
