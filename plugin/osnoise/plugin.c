/* SPDX-License-Identifier: MIT */
/*
 * osnoise/plugin.c - the plugin osnoise: operating system noise of CPUs.
 */
#include "collectd.h"

#include "plugin.h"

#include "common/log.h"
#include "common/missing.h"
#include "common/open_files.h"
#include "common/options.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "osnoise/config.h"
#include "osnoise/values.h"
#include "osnoise/worker.h"
#include "utils/common/common.h"

#define PLUGIN     "osnoise"
#define STATE_FILE "headroom-osnoise.state"

/* Delays until a run is retried; see osnoise/worker.h. */
#define RETRY_NS     (10 * HR_NS_PER_S)
#define MAX_RETRY_NS (600 * HR_NS_PER_S)

/* How long alarms of the previous run are kept that can't go on, as those of headroom. */
#define CLAIM_NS (30 * HR_NS_PER_S)

static struct osnoise_config config;
static char *state_path;
static struct hr_root *root;
static struct osnoise_values *values;
static struct osnoise_worker *worker;   /* NULL if nothing is measured */
static struct osnoise_alert *left_open; /* then: alarms of the previous run; NULL: none */
static bool is_started;

static int osnoise_config(oconfig_item_t *block)
{
    return osnoise_config_read(&config, block);
}

static const char *root_path(void)
{
    return config.root != NULL ? config.root : "/";
}

/* --- The state file ------------------------------------------------------- */

/* @return 0 or a negative errno. */
static int find_state_path(void)
{
    free(state_path);
    state_path = option_state_path(config.state_path, STATE_FILE);
    config.run.state_path = state_path;
    return state_path != NULL ? 0 : -errno;
}

/* --- Callbacks ------------------------------------------------------------ */

static int osnoise_read(__attribute__((unused)) user_data_t *data)
{
    missing_end_overdue_alarms(0);
    if (worker != NULL)
        osnoise_values_publish(values);
    else
        osnoise_alert_update(left_open, NULL);
    return 0;
}

static void stop_plugin(void)
{
    osnoise_worker_stop(worker);
    worker = NULL;
    osnoise_alert_close(left_open);
    left_open = NULL;
    osnoise_values_free(values);
    values = NULL;
    hr_root_close(root);
    root = NULL;
    free(state_path);
    state_path = NULL;
    is_started = false;
}

static int osnoise_shutdown(void)
{
    missing_close();
    stop_plugin();
    osnoise_config_end(&config);
    return 0;
}

/* The interval of samples, in whole intervals of the plugin, if it is longer than one; else 0. */
static cdtime_t sample_interval(void)
{
    const cdtime_t interval = plugin_get_interval();
    const cdtime_t period = US_TO_CDTIME_T(hr_osnoise_period_us(&config.run));

    if (config.run.mode == HR_OSNOISE_ATTACH || period <= interval)
        return 0;
    return (period + interval - 1) / interval * interval;
}

static int start_worker(struct hr_reason *reason)
{
    const uint64_t interval_ns = CDTIME_T_TO_NS(plugin_get_interval());
    const struct osnoise_values_options of_values = {
        .has_samples = config.run.mode != HR_OSNOISE_SOURCES,
        .has_latencies = config.run.mode == HR_OSNOISE_TIMERLAT,
        .histogram = config.run.histogram,
        .by_source = config.run.by_source,
        .top = config.top,
        .sample_interval = sample_interval(),
    };

    values = osnoise_values_new(&of_values);
    if (values == NULL)
        return -ENOMEM;
    const struct osnoise_worker_options of_worker = {
        .root = root,
        .osnoise = &config.run,
        .values = values,
        .rule = config.rule,
        .claim_ns = CLAIM_NS,
        .read_ns = interval_ns < HR_NS_PER_S ? interval_ns : HR_NS_PER_S,
        .retry_ns = RETRY_NS,
        .max_retry_ns = MAX_RETRY_NS,
    };
    open_files_raise_limit(PLUGIN, 0);
    return osnoise_worker_start(&of_worker, &worker, reason);
}

/* Nothing is measured, but a process that was killed may have left something to restore, and any
 * open alarms. */
static int start_without_cpus(void)
{
    const struct osnoise_alert_options of_alert = {
        .rule = config.rule, .osnoise = &config.run, .claim_ns = CLAIM_NS};
    struct hr_reason reason = {0};

    WARNING(PLUGIN ": the workload isn't started, as option CPUs is missing: it takes time from "
                   "all else that runs on these CPUs. Choose them, as in CPUs \"2-7\".");
    if (hr_osnoise_recover(root, state_path, &reason) < 0)
        WARNING(PLUGIN ": settings left by a collectd that was killed aren't restored: %s.",
                reason.text);
    return osnoise_alert_open(&of_alert, &left_open);
}

static int start_plugin(struct hr_reason *reason)
{
    int status = find_state_path();

    if (status == 0)
        status = hr_root_open(root_path(), &root);
    if (status < 0)
        return status;
    return osnoise_config_is_idle(&config) ? start_without_cpus() : start_worker(reason);
}

static void log_failure(int status, const struct hr_reason *reason)
{
    if (reason->text[0] != '\0')
        ERROR(PLUGIN ": can't start: %s.", reason->text);
    else
        log_start_failure(PLUGIN, status, root == NULL && state_path != NULL ? root_path() : NULL);
}

static int osnoise_init(void)
{
    struct hr_reason reason = {0};

    if (is_started)
        return 0; /* collectd may call again */
    if (!config.has_defaults) {
        const oconfig_item_t none = {0};
        if (osnoise_config_read(&config, &none) < 0) /* no block was configured */
            return -1;
    }
    int status = start_plugin(&reason);
    if (status < 0) {
        log_failure(status, &reason);
        stop_plugin();
        return -1;
    }
    is_started = true;
    if (worker == NULL && left_open == NULL)
        return 0;
    return plugin_register_complex_read(NULL, PLUGIN, osnoise_read, 0, NULL);
}

void module_register(void)
{
    plugin_register_complex_config(PLUGIN, osnoise_config);
    plugin_register_init(PLUGIN, osnoise_init);
    plugin_register_shutdown(PLUGIN, osnoise_shutdown);
    missing_register(PLUGIN);
}
