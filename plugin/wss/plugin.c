/* SPDX-License-Identifier: MIT */
/*
 * wss/plugin.c - the plugin wss: working sets of processes, of cgroups and of the system.
 */
#include "collectd.h"

#include "plugin.h"

#include "common/log.h"
#include "common/missing.h"
#include "common/open_files.h"
#include "common/options.h"
#include "common/selection.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "utils/common/common.h"
#include "wss/overlap.h"
#include "wss/targets.h"
#include "wss/values.h"
#include "wss/worker.h"

#define PLUGIN "wss"

/* The longest that the option Window takes. */
#define LONGEST_WINDOW_S 3600

static struct {
    uint64_t max_scan_us;
    uint64_t max_rss_bytes;
    char *root;
} config = {
    .max_scan_us = 50000,
    .max_rss_bytes = UINT64_C(64) << 30,
};

static struct selection *selection;
static struct wss_targets targets;
static struct hr_root *root;
static struct wss_values *values;
static struct wss_worker *worker; /* NULL if there is nothing to measure */
static bool is_started;

static const char *root_path(void)
{
    return config.root != NULL ? config.root : "/";
}

/* --- Configuration -------------------------------------------------------- */

static int configure_option(const oconfig_item_t *item)
{
    if (strcasecmp(item->key, "MaxScanTime") == 0)
        return option_seconds(PLUGIN, item, &config.max_scan_us);
    if (strcasecmp(item->key, "MaxRSS") == 0)
        return option_bytes(PLUGIN, item, &config.max_rss_bytes);
    if (strcasecmp(item->key, "Root") == 0)
        return option_root(PLUGIN, item, &config.root);

    int status = selection_option(selection, item);
    if (status > 0)
        status = wss_targets_option(&targets, item);
    if (status > 0)
        option_warn_unknown(PLUGIN, item);
    return status < 0 ? -1 : 0;
}

static int add_patterns(void)
{
    const char *pattern;

    for (size_t i = 0; (pattern = selection_pattern(selection, i)) != NULL; i++)
        if (wss_targets_add_pattern(&targets, i, pattern) < 0)
            return -1;
    return 0;
}

static int check_windows(void)
{
    struct hr_root *tried;

    if (hr_root_open(root_path(), &tried) < 0)
        return 0; /* reported at the start */
    int status = wss_targets_check_windows(&targets, tried);
    hr_root_close(tried);
    return status;
}

static int wss_config(oconfig_item_t *block)
{
    for (int i = 0; i < block->children_num; i++)
        if (configure_option(&block->children[i]) < 0)
            return -1;
    if (add_patterns() < 0 || wss_overlap_check(&targets) < 0)
        return -1;
    return check_windows();
}

/* --- Callbacks ------------------------------------------------------------ */

static int wss_read(__attribute__((unused)) user_data_t *data)
{
    missing_end_overdue_alarms(TIME_T_TO_CDTIME_T(LONGEST_WINDOW_S));
    wss_values_publish(values);
    return 0;
}

static void stop_worker(void)
{
    wss_worker_stop(worker);
    worker = NULL;
    wss_values_free(values);
    values = NULL;
    hr_root_close(root);
    root = NULL;
    is_started = false;
}

static int wss_shutdown(void)
{
    missing_close();
    stop_worker();
    wss_targets_free(&targets);
    selection_free(selection);
    selection = NULL;
    free(config.root);
    config.root = NULL;
    return 0;
}

static int start_worker(void)
{
    values = wss_values_new();
    if (values == NULL)
        return -ENOMEM;
    int status = hr_root_open(root_path(), &root);
    if (status < 0)
        return status;
    if (hr_wss_recover(root))
        INFO(PLUGIN ": switched DAMON off, as a run that was killed had left it on.");
    const struct wss_worker_options options = {
        .root = root,
        .selection = selection,
        .targets = &targets,
        .values = values,
        .max_scan_ns = config.max_scan_us * HR_NS_PER_US,
        .max_rss_bytes = config.max_rss_bytes,
        .interval_ns = CDTIME_T_TO_NS(plugin_get_interval()),
    };
    return wss_worker_start(&options, &worker);
}

static int wss_init(void)
{
    if (is_started)
        return 0; /* collectd may call again */
    if (targets.block_count == 0 && targets.pattern_count == 0) {
        WARNING(PLUGIN ": there is nothing to measure, as there is no Process, Cgroup or System.");
        is_started = true;
        return 0;
    }
    open_files_raise_limit(PLUGIN, 0);
    int status = start_worker();
    if (status < 0) {
        log_start_failure(PLUGIN, status, root == NULL ? root_path() : NULL);
        stop_worker();
        return -1;
    }
    is_started = true;
    return plugin_register_complex_read(NULL, PLUGIN, wss_read, 0, NULL);
}

void module_register(void)
{
    selection = selection_new(PLUGIN, NULL);
    if (selection == NULL) {
        ERROR(PLUGIN ": out of memory.");
        return;
    }
    selection_on_option(selection, wss_targets_pattern_option, &targets);
    plugin_register_complex_config(PLUGIN, wss_config);
    plugin_register_init(PLUGIN, wss_init);
    plugin_register_shutdown(PLUGIN, wss_shutdown);
    missing_register(PLUGIN);
}
