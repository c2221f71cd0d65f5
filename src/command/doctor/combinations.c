/* SPDX-License-Identifier: MIT */
/*
 * doctor/combinations.c - options that are accepted each, but not together, by what the plugin
 * itself goes by when it starts.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "doctor/checks.h"
#include "headroom/option_value.h"
#include "headroom/psi_trigger.h"

int doctor_word(const char *plugin, const char *key, const struct config_item *block,
                const char *option, int otherwise)
{
    const struct config_item *item = config_find(block, option);

    if (item == NULL)
        return otherwise;
    const struct hr_option_value value = config_value(item, 0);
    return hr_option_find_word(&(struct hr_option){plugin, key, option, &value, 1}, 0);
}

uint64_t doctor_us(const struct config_item *block, const char *option, uint64_t otherwise)
{
    const struct config_item *item = config_find(block, option);

    return item != NULL ? (uint64_t)(config_number(item, 0) * 1e6 + 0.5) : otherwise;
}

void doctor_add_combination(struct findings *findings, const struct config_item *block,
                            const char *cause, const char *remedy)
{
    char feature[80], where[256], correction[256];

    snprintf(feature, sizeof(feature), "<%s \"%.60s\">", block->key, config_text(block));
    snprintf(where, sizeof(where), "invalid combination: %s, in line %u of %.80s", cause,
             block->line, block->path);
    snprintf(correction, sizeof(correction), "%s: collectd doesn't start with this",
             remedy != NULL ? remedy : "correct it");
    findings_add(findings, FINDING_WRONG, feature, where, correction);
}

/* --- psi ---------------------------------------------------------------------- */

static void check_trigger(const struct config_item *block, struct findings *findings)
{
    static const char plugin[] = "psi", key[] = "Trigger";
    const struct hr_psi_trigger_options options = {
        .resource = doctor_word(plugin, key, block, "Resource", HR_PSI_CPU),
        .level = doctor_word(plugin, key, block, "Level", HR_PSI_SOME),
        .mode = doctor_word(plugin, key, block, "Mode", HR_PSI_TRIGGER_AUTO),
        .stall_us = doctor_us(block, "Stall", 0),
        .window_us = doctor_us(block, "Window", HR_PSI_TRIGGER_WINDOW_DEFAULT_US),
    };
    const bool of_system = doctor_word(plugin, key, block, "Scope", 0) == 0;
    const char *reason;
    char why[160];

    if (hr_psi_trigger_check(&options, of_system, &reason) == 0)
        return;
    snprintf(why, sizeof(why), "%s (Stall %.6g, Window %.6g)", reason,
             (double)options.stall_us / 1e6, (double)options.window_us / 1e6);
    doctor_add_combination(findings, block, why, NULL);
}

static void check_triggers(const struct config_item *plugin, struct findings *findings)
{
    for (size_t i = 0; i < plugin->child_count; i++)
        if (config_is(&plugin->children[i], "Trigger"))
            check_trigger(&plugin->children[i], findings);
}

/* --- All ---------------------------------------------------------------------- */

const struct config_item *doctor_next_block(const struct usage *usage, const char *plugin,
                                            size_t *next)
{
    while (*next < usage->config.child_count) {
        const struct config_item *item = &usage->config.children[(*next)++];
        if (config_is(item, "Plugin") && strcasecmp(config_text(item), plugin) == 0)
            return item;
    }
    return NULL;
}

void doctor_check_combinations(const struct usage *usage, const char *plugin,
                               struct findings *findings)
{
    const struct config_item *block;
    size_t next = 0;

    if (strcmp(plugin, "osnoise") == 0)
        doctor_check_osnoise_options(usage, findings);
    while (strcmp(plugin, "psi") == 0 && (block = doctor_next_block(usage, plugin, &next)) != NULL)
        check_triggers(block, findings);
}
