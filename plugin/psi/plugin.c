/* SPDX-License-Identifier: MIT */
/*
 * psi/plugin.c - the plugin psi: pressure stall information of the system and of cgroups.
 */
#include "collectd.h"

#include "plugin.h"

#include "common/log.h"
#include "common/open_files.h"
#include "common/options.h"
#include "common/selection.h"
#include "common/submit.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/psi.h"
#include "headroom/root.h"
#include "psi/alerts.h"
#include "psi/trouble.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

/* A group's missing file is checked again so often; the system's at each interval. */
#define CGROUP_RETRY_NS (60 * HR_NS_PER_S)

/* What is published of one group, or of the system. */
struct series {
    const char *instance;
    struct hr_psi *psi; /* NULL while the group is empty */
    struct hr_psi_snapshot previous;
    bool has_previous;
};

/* The kinds of series that the option Report chooses of. */
enum report { REPORT_PERCENT, REPORT_TOTAL, REPORT_COUNT };

static struct {
    bool system;
    bool averages;
    bool reports[REPORT_COUNT];
    bool reports_given;
    bool resources[HR_PSI_RESOURCE_COUNT];
    bool resources_given;
    char *root;
} config = {
    .system = true,
    .reports = {true, true},
    .resources = {true, true, true, true},
};

static struct selection *selection;
static struct hr_root *root;
static struct hr_cgroup_set *groups; /* NULL without a Cgroup option */
static struct psi_alerts *alerts;
static struct series whole_system = {.instance = "system"};
static struct psi_trouble system_trouble, cgroup_trouble;

/* --- Configuration -------------------------------------------------------- */

static const char *report_name(int report)
{
    return report == REPORT_PERCENT ? "percent" : "total";
}

static const char *resource_name(int resource)
{
    return hr_psi_resource_name(resource);
}

/* What an option with a list of names chooses of. */
struct choices {
    const char *accepted;
    const char *(*name)(int choice);
    int count;
    bool *chosen;
    bool *given; /* all are chosen until the option is first given */
};

static int choose(const struct choices *choices, const char *name)
{
    for (int i = 0; i < choices->count; i++)
        if (strcasecmp(name, choices->name(i)) == 0) {
            choices->chosen[i] = true;
            return 0;
        }
    return -1;
}

static int configure_choices(const oconfig_item_t *item, const struct choices *choices)
{
    if (option_texts(PLUGIN, item, choices->accepted) < 0)
        return -1;
    if (!*choices->given)
        memset(choices->chosen, 0, (size_t)choices->count * sizeof(*choices->chosen));
    *choices->given = true;
    for (int i = 0; i < item->values_num; i++)
        if (choose(choices, item->values[i].value.string) < 0)
            return option_refuse(PLUGIN, item, choices->accepted);
    return 0;
}

static int configure_resources(const oconfig_item_t *item)
{
    static const struct choices choices = {"one or more of \"cpu\", \"memory\", \"io\" and \"irq\"",
                                           resource_name, HR_PSI_RESOURCE_COUNT, config.resources,
                                           &config.resources_given};

    return configure_choices(item, &choices);
}

static int configure_reports(const oconfig_item_t *item)
{
    static const struct choices choices = {"one or both of \"percent\" and \"total\"", report_name,
                                           REPORT_COUNT, config.reports, &config.reports_given};

    return configure_choices(item, &choices);
}

static int configure_option(const oconfig_item_t *item)
{
    if (strcasecmp(item->key, "System") == 0)
        return option_boolean(PLUGIN, item, &config.system);
    if (strcasecmp(item->key, "Resource") == 0)
        return configure_resources(item);
    if (strcasecmp(item->key, "Report") == 0)
        return configure_reports(item);
    if (strcasecmp(item->key, "ReportAverages") == 0)
        return option_boolean(PLUGIN, item, &config.averages);
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

/* --- Values --------------------------------------------------------------- */

/* The type instances, by resource and level. */
#define LEVELS(resource)                                                                           \
    {                                                                                              \
        resource "-some", resource "-full"                                                         \
    }
static const char *const type_instances[HR_PSI_RESOURCE_COUNT][HR_PSI_LEVEL_COUNT] = {
    [HR_PSI_CPU] = LEVELS("cpu"),
    [HR_PSI_MEMORY] = LEVELS("memory"),
    [HR_PSI_IO] = LEVELS("io"),
    [HR_PSI_IRQ] = LEVELS("irq"),
};

static void submit_averages(const struct submission *submission, const char *type_instance,
                            const struct hr_psi_stall *stall)
{
    char name[DATA_MAX_NAME_LEN];

    snprintf(name, sizeof(name), "%s-avg10", type_instance);
    submit_gauge(submission, "percent", name, stall->avg10_pct);
    snprintf(name, sizeof(name), "%s-avg60", type_instance);
    submit_gauge(submission, "percent", name, stall->avg60_pct);
    snprintf(name, sizeof(name), "%s-avg300", type_instance);
    submit_gauge(submission, "percent", name, stall->avg300_pct);
}

static void submit_resource(const struct submission *submission, enum hr_psi_resource resource,
                            const struct hr_psi_sample *before, const struct hr_psi_sample *now)
{
    for (int level = 0; level < HR_PSI_LEVEL_COUNT; level++) {
        const struct hr_psi_stall *stall = &now->stall[level];
        const char *type_instance = type_instances[resource][level];
        double pct;

        if (!stall->present)
            continue;
        if (config.reports[REPORT_TOTAL])
            submit_derive(submission, "total_time_in_ms", type_instance,
                          (int64_t)(stall->total_us / 1000));
        if (config.reports[REPORT_PERCENT] && before != NULL &&
            hr_psi_delta(before, now, level, &pct) == 0)
            submit_gauge(submission, "percent", type_instance, pct);
        if (config.averages)
            submit_averages(submission, type_instance, stall);
    }
}

/* Reads and publishes one group, or the system. */
static void sample_series(struct series *series, cdtime_t time, struct hr_psi_snapshot *snapshot)
{
    const struct submission submission = {
        .plugin = PLUGIN, .instance = series->instance, .time = time};

    hr_psi_read(series->psi, snapshot);
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++) {
        const bool continued = series->has_previous && series->previous.status[i] == 0;
        if (snapshot->status[i] == 0)
            submit_resource(&submission, i, continued ? &series->previous.sample[i] : NULL,
                            &snapshot->sample[i]);
    }
    series->previous = *snapshot;
    series->has_previous = true;
}

/* --- Callbacks ------------------------------------------------------------ */

/* Most kernels have no irq pressure: that is reported only if Resource names irq. */
static void hide_missing_irq(struct hr_psi_snapshot *snapshot)
{
    int *status = &snapshot->status[HR_PSI_IRQ];

    if (!config.resources_given && (*status == -ENOENT || *status == -EOPNOTSUPP))
        *status = -ECANCELED;
}

static void read_system(cdtime_t time)
{
    struct hr_psi_snapshot snapshot;

    sample_series(&whole_system, time, &snapshot);
    hide_missing_irq(&snapshot);
    psi_trouble_add(&system_trouble, NULL, &snapshot);
    psi_trouble_log_system(&system_trouble);
}

static void read_cgroups(cdtime_t time)
{
    struct hr_psi_snapshot snapshot;

    if (groups == NULL)
        return;
    selection_read(selection, groups);
    for (struct hr_cgroup *group = NULL; (group = hr_cgroup_set_next(groups, group)) != NULL;) {
        struct series *series = group->data;
        if (series == NULL || series->psi == NULL)
            continue; /* memory was short, which was logged */
        sample_series(series, time, &snapshot);
        hide_missing_irq(&snapshot);
        /* What the kernel lacks as a whole was logged of the system. */
        for (int i = 0; config.system && i < HR_PSI_RESOURCE_COUNT; i++)
            if (snapshot.status[i] != 0 && snapshot.status[i] == whole_system.previous.status[i])
                snapshot.status[i] = -ECANCELED;
        psi_trouble_add(&cgroup_trouble, group->path, &snapshot);
    }
    psi_trouble_log_cgroups(&cgroup_trouble);
}

static int psi_read(__attribute__((unused)) user_data_t *data)
{
    cdtime_t time = cdtime();

    if (config.system)
        read_system(time);
    read_cgroups(time);
    psi_alerts_publish(alerts, time);
    return 0;
}

static void add_series(struct hr_cgroup *group)
{
    const char *instance = selection_name(selection, group);
    struct series *series = instance != NULL ? calloc(1, sizeof(*series)) : NULL;

    if (series == NULL) {
        selection_unname(selection, instance);
        return;
    }
    series->instance = instance;
    group->data = series;
}

static void remove_series(struct hr_cgroup *group)
{
    struct series *series = group->data;

    if (series == NULL)
        return;
    selection_unname(selection, series->instance);
    free(series);
}

static struct hr_psi_options make_options(uint64_t retry_ns)
{
    struct hr_psi_options options = {.retry_ns = retry_ns};

    memcpy(options.resources, config.resources, sizeof(options.resources));
    return options;
}

static void handle_group_event(struct hr_cgroup *group, enum hr_cgroup_event event,
                               __attribute__((unused)) void *context)
{
    const struct hr_psi_options cgroup_options = make_options(CGROUP_RETRY_NS);
    struct series *series = group->data;

    switch (event) {
    case HR_CGROUP_ADDED:
        add_series(group);
        break;
    case HR_CGROUP_POPULATED:
        if (series != NULL && hr_psi_open_cgroup(group, &cgroup_options, &series->psi) < 0)
            ERROR(PLUGIN ": cgroup %s is left out: out of memory.", group->path);
        break;
    case HR_CGROUP_EMPTIED:
        if (series != NULL) {
            hr_psi_close(series->psi);
            series->psi = NULL;
            series->has_previous = false;
        }
        break;
    case HR_CGROUP_REMOVED:
        remove_series(group);
        break;
    }
}

static int psi_shutdown(void)
{
    psi_alerts_free(alerts);
    alerts = NULL;
    hr_cgroup_set_close(groups);
    groups = NULL;
    selection_free(selection);
    selection = NULL;
    hr_psi_close(whole_system.psi);
    whole_system.psi = NULL;
    hr_root_close(root);
    root = NULL;
    free(config.root);
    config.root = NULL;
    return 0;
}

static int psi_init(void)
{
    const struct hr_psi_options system_options = make_options(0);
    const char *path = config.root != NULL ? config.root : "/";

    if (root != NULL)
        return 0; /* collectd may call this again */
    open_files_raise_limit(PLUGIN, 0);
    int status = hr_root_open(path, &root);
    if (status == 0 && config.system)
        status = hr_psi_open_system(root, &system_options, &whole_system.psi);
    if (status == 0)
        status = selection_open(selection, root, handle_group_event, NULL, &groups);
    if (status < 0) {
        ERROR(PLUGIN ": can't use %s as root directory: %s.", path, STRERROR(-status));
        hr_root_close(root);
        root = NULL;
        return -1;
    }
    if (!config.system && selection_is_empty(selection) && psi_alerts_is_empty(alerts))
        WARNING(PLUGIN ": there is nothing to sample: System is false and there is no Cgroup.");
    psi_alerts_start(alerts, root, selection);
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
}
