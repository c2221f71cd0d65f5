/* SPDX-License-Identifier: MIT */
/*
 * psi/plugin.c - the plugin psi: pressure stall information of the system and of cgroups.
 */
#include "collectd.h"

#include "plugin.h"

#include "common/log.h"
#include "common/missing.h"
#include "common/open_files.h"
#include "common/options.h"
#include "common/selection.h"
#include "headroom/cgroup.h"
#include "headroom/root.h"
#include "psi/alerts.h"
#include "psi/groups.h"
#include "psi/problems.h"
#include "psi/series.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

static struct {
    bool system;
    char *root;
    struct psi_series_options series;
} config = {
    .system = true,
    .series = {.reports = {true, true}, .resources = {true, true, true, true}},
};

static struct selection *selection;
static struct hr_root *root;
static struct psi_alerts *alerts;
static struct psi_series whole_system = {.instance = "system"};
static struct hr_stall_machine_cpus machine_cpus;
static struct psi_problems system_problems, cgroup_problems;

/* --- Configuration -------------------------------------------------------- */

/* All are chosen until the option is first given. */
static int configure_choices(const oconfig_item_t *item, bool *chosen, size_t size, bool *given)
{
    if (option_check(PLUGIN, item) < 0)
        return -1;
    if (!*given)
        memset(chosen, 0, size);
    *given = true;
    return option_words(PLUGIN, item, chosen);
}

static int configure_option(const oconfig_item_t *item)
{
    struct psi_series_options *series = &config.series;

    if (strcasecmp(item->key, "System") == 0)
        return option_boolean(PLUGIN, item, &config.system);
    if (strcasecmp(item->key, "Resource") == 0)
        return configure_choices(item, series->resources, sizeof(series->resources),
                                 &series->resources_given);
    if (strcasecmp(item->key, "Report") == 0)
        return configure_choices(item, series->reports, sizeof(series->reports),
                                 &series->reports_given);
    if (strcasecmp(item->key, "ReportAverages") == 0)
        return option_boolean(PLUGIN, item, &series->averages);
    if (strcasecmp(item->key, "TopGroups") == 0)
        return psi_top_option(&series->top, item);
    if (strcasecmp(item->key, "Root") == 0)
        return option_root(PLUGIN, item, &config.root);

    int status = selection_option(selection, item);
    if (status > 0)
        status = psi_alerts_option(alerts, item);
    if (status > 0)
        option_warn_unknown(PLUGIN, item);
    return status < 0 ? -1 : 0;
}

static int psi_config(oconfig_item_t *block)
{
    for (int i = 0; i < block->children_num; i++)
        if (configure_option(&block->children[i]) < 0)
            return -1;
    return 0;
}

/* --- Callbacks ------------------------------------------------------------ */

/* Most kernels have no irq pressure: that is reported only if Resource names irq. */
static void hide_missing_irq(struct hr_psi_snapshot *snapshot)
{
    int *status = &snapshot->status[HR_PSI_IRQ];

    if (!config.series.resources_given && (*status == -ENOENT || *status == -EOPNOTSUPP))
        *status = -ECANCELED;
}

static void read_system(cdtime_t time)
{
    psi_series_read(&whole_system);
    psi_series_submit(&whole_system, &config.series, time);
    struct hr_psi_snapshot snapshot = whole_system.latest;
    psi_series_sample_idle(&config.series, root, time, &machine_cpus);
    hide_missing_irq(&snapshot);
    psi_problems_add(&system_problems, NULL, &snapshot);
    psi_problems_log_system(&system_problems);
}

static void read_cgroup(const struct hr_cgroup *group, struct psi_series *series)
{
    psi_series_read(series);
    struct hr_psi_snapshot snapshot = series->latest;
    hide_missing_irq(&snapshot);
    /* What the kernel lacks as a whole was logged of the system. */
    for (int i = 0; config.system && i < HR_PSI_RESOURCE_COUNT; i++)
        if (snapshot.status[i] != 0 && snapshot.status[i] == whole_system.latest.status[i])
            snapshot.status[i] = -ECANCELED;
    psi_problems_add(&cgroup_problems, group->path, &snapshot);
}

/* All are read before any is submitted, as it takes all to know which wait most. */
static void read_cgroups(struct psi_groups *groups, cdtime_t time)
{
    struct hr_cgroup *group = NULL;

    while ((group = hr_cgroup_set_next(groups->set, group)) != NULL)
        if (psi_group_is_read(group))
            read_cgroup(group, &((struct psi_group *)group->data)->series);
    psi_problems_log_cgroups(&cgroup_problems);
    psi_groups_choose_series(groups, time);
    while ((group = hr_cgroup_set_next(groups->set, group)) != NULL) {
        const struct psi_group *of_group = group->data;
        if (!psi_group_is_read(group) || !of_group->standing.is_top)
            continue;
        psi_series_submit(&of_group->series, &config.series, time);
        psi_alerts_publish_group(group, time);
    }
}

/* The time is taken after the groups are up to date: what one did last before it emptied is older
 * than what another does under the same name. */
static int psi_read(__attribute__((unused)) user_data_t *data)
{
    struct psi_groups *groups = psi_alerts_groups(alerts);

    missing_end_overdue_alarms(0);
    pthread_mutex_lock(&groups->set_lock);
    if (groups->set != NULL)
        psi_alerts_read_groups(alerts);
    cdtime_t time = cdtime();
    if (config.system)
        read_system(time);
    psi_alerts_publish_system(alerts, time);
    if (groups->set != NULL)
        read_cgroups(groups, time);
    psi_alerts_publish_takers(alerts, time);
    if (groups->set != NULL)
        psi_alerts_begin_series(alerts);
    pthread_mutex_unlock(&groups->set_lock);
    return 0;
}

static int psi_shutdown(void)
{
    missing_close();
    psi_alerts_free(alerts);
    alerts = NULL;
    selection_free(selection);
    selection = NULL;
    psi_series_close(&whole_system);
    machine_cpus.known = false;
    hr_root_close(root);
    root = NULL;
    free(config.root);
    config.root = NULL;
    return 0;
}

static int psi_init(void)
{
    const char *path = config.root != NULL ? config.root : "/";

    if (root != NULL)
        return 0; /* collectd may call this again */
    if (!config.system && selection_is_empty(selection) && psi_alerts_is_empty(alerts))
        WARNING(PLUGIN ": there is nothing to sample: System is false and there is no Cgroup.");
    const char *unsampled = psi_top_find_unsampled(&config.series.top, config.series.resources);
    if (unsampled != NULL) {
        ERROR(PLUGIN ": TopGroups can't choose groups by \"%s\", as the option Resource leaves it "
                     "out: add it there, or remove it from TopGroups.",
              unsampled);
        return -1;
    }
    open_files_raise_limit(PLUGIN, 0);
    int status = hr_root_open(path, &root);
    if (status == 0 && config.system)
        status = psi_series_open_system(&whole_system, &config.series, root);
    if (status == 0)
        status = psi_alerts_start(alerts, root, selection, &config.series, &whole_system);
    if (status < 0) {
        log_start_failure(PLUGIN, status, root == NULL ? path : NULL);
        hr_root_close(root);
        root = NULL;
        return -1;
    }
    return plugin_register_complex_read(NULL, PLUGIN, psi_read, 0, NULL);
}

void module_register(void)
{
    selection = selection_new(PLUGIN, NULL);
    alerts = psi_alerts_new();
    if (selection == NULL || alerts == NULL) {
        ERROR(PLUGIN ": out of memory.");
        return;
    }
    plugin_register_complex_config(PLUGIN, psi_config);
    plugin_register_init(PLUGIN, psi_init);
    plugin_register_shutdown(PLUGIN, psi_shutdown);
    missing_register(PLUGIN);
}
