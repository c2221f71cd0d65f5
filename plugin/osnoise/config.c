/* SPDX-License-Identifier: MIT */
#include "osnoise/config.h"

#include "common/log.h"
#include "common/options.h"
#include "headroom/clock.h"

#define PLUGIN "osnoise"
#define ALERT  PLUGIN ": <Alert>"

#define DEFAULT_TOP 5 /* of mode sources */

static const struct osnoise_config defaults = {
    .has_defaults = true,
    .rule = {.severity = NOTIF_WARNING, .quiet_ns = 60 * UINT64_C(1000000000), .kept_traces = 10},
};

/* --- Single options ------------------------------------------------------- */

/* In addition to those of other lines. */
static int read_cpus(struct osnoise_config *config, const oconfig_item_t *item)
{
    struct hr_cpu_choice cpus;

    if (option_cpus(PLUGIN, item, &cpus) < 0)
        return -1;
    hr_cpu_choice_add(&config->run.cpus, &cpus);
    return 0;
}

static int read_mode(struct osnoise_config *config, const oconfig_item_t *item)
{
    int word;

    if (option_word(PLUGIN, item, &word) < 0)
        return -1;
    config->run.mode = word;
    return 0;
}

/* Whichever the mode turns out to be. */
static int read_period(struct osnoise_config *config, const oconfig_item_t *item)
{
    if (option_seconds(PLUGIN, item, &config->run.period_us) < 0)
        return -1;
    config->run.timerlat.period_us = config->run.period_us;
    return 0;
}

static int read_priority(struct osnoise_config *config, const oconfig_item_t *item)
{
    const char *text;

    if (option_text(PLUGIN, item, &text) < 0 || hr_priority_parse(text, &config->run.priority) < 0)
        return -1;
    config->run.timerlat.priority = config->run.priority;
    return 0;
}

static int read_top(struct osnoise_config *config, const oconfig_item_t *item)
{
    config->has_top = true;
    return option_count(PLUGIN, item, &config->top);
}

/* --- Alert ---------------------------------------------------------------- */

static int read_alert_option(struct osnoise_config *config, const oconfig_item_t *item)
{
    struct osnoise_rule *rule = &config->rule;
    uint64_t us;

    if (strcasecmp(item->key, "Severity") == 0)
        return option_severity(ALERT, item, &rule->severity);
    if (strcasecmp(item->key, "Causes") == 0)
        return option_boolean(ALERT, item, &config->run.causes);
    if (strcasecmp(item->key, "KeepTraces") == 0)
        return option_count(ALERT, item, &rule->kept_traces);
    if (strcasecmp(item->key, "MaxSingle") == 0) {
        if (option_seconds(ALERT, item, &us) < 0)
            return -1;
        rule->max_single_ns = us * 1000;
    } else if (strcasecmp(item->key, "Quiet") == 0) {
        if (option_seconds(ALERT, item, &us) < 0)
            return -1;
        rule->quiet_ns = us * 1000;
    } else if (strcasecmp(item->key, "Repeat") == 0) {
        if (option_seconds(ALERT, item, &us) < 0)
            return -1;
        rule->repeat_ns = us * 1000;
    } else {
        option_warn_unknown(ALERT, item);
    }
    return 0;
}

static int read_alert(struct osnoise_config *config, const oconfig_item_t *block)
{
    if (option_check(PLUGIN, block) < 0)
        return -1;
    if (config->has_alert) {
        ERROR(PLUGIN ": there is more than one block <Alert>; remove the others.");
        return -1;
    }
    config->has_alert = true;
    for (int i = 0; i < block->children_num; i++)
        if (read_alert_option(config, &block->children[i]) < 0)
            return -1;
    if (config->rule.max_single_ns == 0) {
        ERROR(ALERT ": option MaxSingle is missing: the limit in seconds above which a noise is "
                    "reported, as in MaxSingle 0.000050.");
        return -1;
    }
    return 0;
}

/* --- Whole block ---------------------------------------------------------- */

static int read_option(struct osnoise_config *config, const oconfig_item_t *item)
{
    struct hr_osnoise_options *run = &config->run;
    const char *key = item->key;

    if (strcasecmp(key, "CPUs") == 0)
        return read_cpus(config, item);
    if (strcasecmp(key, "Mode") == 0)
        return read_mode(config, item);
    if (strcasecmp(key, "Period") == 0)
        return read_period(config, item);
    if (strcasecmp(key, "Runtime") == 0)
        return option_seconds(PLUGIN, item, &run->runtime_us);
    if (strcasecmp(key, "Threshold") == 0)
        return option_seconds(PLUGIN, item, &run->threshold_us);
    if (strcasecmp(key, "MaxDuty") == 0)
        return option_number(PLUGIN, item, &run->max_duty_pct);
    if (strcasecmp(key, "Priority") == 0)
        return read_priority(config, item);
    if (strcasecmp(key, "Sources") == 0)
        return read_top(config, item);
    if (strcasecmp(key, "Histogram") == 0)
        return option_boolean(PLUGIN, item, &run->histogram);
    if (strcasecmp(key, "BufferSize") == 0)
        return option_bytes(PLUGIN, item, &run->buffer_bytes);
    if (strcasecmp(key, "StateFile") == 0)
        return option_state_file(PLUGIN, item, &config->state_path);
    if (strcasecmp(key, "Root") == 0)
        return option_root(PLUGIN, item, &config->root);
    if (strcasecmp(key, "Alert") == 0)
        return read_alert(config, item);
    option_warn_unknown(PLUGIN, item);
    return 0;
}

bool osnoise_config_is_idle(const struct osnoise_config *config)
{
    return hr_osnoise_has_workload(config->run.mode) && hr_cpu_choice_is_all(&config->run.cpus);
}

/* Sets options that follow from several others. */
static void derive_options(struct osnoise_config *config)
{
    const bool is_sources = config->run.mode == HR_OSNOISE_SOURCES;

    if (!config->has_top)
        config->top = is_sources ? DEFAULT_TOP : 0;
    config->run.by_source = is_sources || config->top > 0;
    config->run.max_single_ns = config->rule.max_single_ns;
    config->run.traces = config->rule.kept_traces > 0;
}

static int check_options(const struct osnoise_config *config)
{
    struct hr_osnoise_options run = config->run;
    struct hr_reason reason;

    /* Missing CPUs are reported at the start, and the default state file isn't known yet. */
    if (osnoise_config_is_idle(config))
        hr_cpu_set_add(&run.cpus.list, 0);
    run.state_path = config->state_path != NULL ? config->state_path : "/" PLUGIN;
    if (hr_osnoise_check(&run, &reason) == 0)
        return 0;
    ERROR(PLUGIN ": invalid combination: %s.", reason.text);
    return -1;
}

int osnoise_config_read(struct osnoise_config *config, const oconfig_item_t *block)
{
    if (!config->has_defaults) {
        *config = defaults;
        config->run = hr_osnoise_defaults;
        config->run.causes = true;
    }
    for (int i = 0; i < block->children_num; i++)
        if (read_option(config, &block->children[i]) < 0)
            return -1;
    derive_options(config);
    return check_options(config);
}

void osnoise_config_end(struct osnoise_config *config)
{
    free(config->state_path);
    free(config->root);
    *config = (struct osnoise_config){0};
}
