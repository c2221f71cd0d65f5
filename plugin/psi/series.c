/* SPDX-License-Identifier: MIT */
#include "psi/series.h"

#include "common/submit.h"
#include "headroom/clock.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

/* A group's missing file is checked again so often; the system's at each interval. */
#define CGROUP_RETRY_NS (60 * HR_NS_PER_S)

/* --- Opening -------------------------------------------------------------- */

static struct hr_psi_options make_options(const struct psi_series_options *options,
                                          uint64_t retry_ns)
{
    struct hr_psi_options made = {.retry_ns = retry_ns};

    memcpy(made.resources, options->resources, sizeof(made.resources));
    return made;
}

int psi_series_open_system(struct psi_series *series, const struct psi_series_options *options,
                           const struct hr_root *root)
{
    const struct hr_psi_options made = make_options(options, 0);

    return hr_psi_open_system(root, &made, &series->psi);
}

int psi_series_open_cgroup(struct psi_series *series, const struct psi_series_options *options,
                           const struct hr_cgroup *group)
{
    const struct hr_psi_options made = make_options(options, CGROUP_RETRY_NS);

    return hr_psi_open_cgroup(group, &made, &series->psi);
}

void psi_series_close(struct psi_series *series)
{
    hr_psi_close(series->psi);
    series->psi = NULL;
    series->has_previous = series->has_latest = false;
}

/* --- Values --------------------------------------------------------------- */

/* The type instances, by resource and level. */
#define LEVELS(resource) resource "-some", resource "-full"
static const char *const type_instances[HR_PSI_RESOURCE_COUNT][HR_PSI_LEVEL_COUNT] = {
    [HR_PSI_CPU] = {LEVELS("cpu")},
    [HR_PSI_MEMORY] = {LEVELS("memory")},
    [HR_PSI_IO] = {LEVELS("io")},
    [HR_PSI_IRQ] = {LEVELS("irq")},
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

/* "full" first: where both are beyond a threshold, the alarm of the worse one is then the first,
 * and handlers that report a cause once needn't report the other. */
static void submit_resource(const struct submission *submission,
                            const struct psi_series_options *options, enum hr_psi_resource resource,
                            const struct hr_psi_sample *before, const struct hr_psi_sample *now)
{
    for (int level = HR_PSI_LEVEL_COUNT - 1; level >= 0; level--) {
        const struct hr_psi_stall *stall = &now->stall[level];
        const char *type_instance = type_instances[resource][level];
        double pct;

        if (!stall->present)
            continue;
        if (options->reports[PSI_REPORT_TOTAL])
            submit_derive(submission, "total_time_in_ms", type_instance,
                          (int64_t)(stall->total_us / 1000));
        if (options->reports[PSI_REPORT_PERCENT] && before != NULL &&
            hr_psi_delta(before, now, level, &pct) == 0)
            submit_gauge(submission, "percent", type_instance, pct);
        if (options->averages)
            submit_averages(submission, type_instance, stall);
    }
}

void psi_series_read(struct psi_series *series)
{
    series->previous = series->latest;
    series->has_previous = series->has_latest;
    hr_psi_read(series->psi, &series->latest);
    series->read_ns = hr_clock_ns();
    series->has_latest = true;
}

void psi_series_submit(const struct psi_series *series, const struct psi_series_options *options,
                       cdtime_t time)
{
    const struct submission submission = {
        .plugin = PLUGIN, .instance = series->instance, .time = time};

    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++) {
        const bool continued = series->has_previous && series->previous.status[i] == 0;
        if (series->latest.status[i] == 0)
            submit_resource(&submission, options, i, continued ? &series->previous.sample[i] : NULL,
                            &series->latest.sample[i]);
    }
}

void psi_series_sample_last(struct psi_series *series, const struct psi_series_options *options)
{
    const bool is_short = hr_clock_ns() - series->read_ns < HR_NS_PER_S;

    psi_series_read(series);
    if (is_short)
        series->has_previous = false;
    psi_series_submit(series, options, cdtime());
}

void psi_series_sample_idle(const struct psi_series_options *options, const struct hr_root *root,
                            cdtime_t time, struct hr_stall_machine_cpus *previous)
{
    const struct submission submission = {.plugin = PLUGIN, .instance = "system", .time = time};
    struct hr_stall_machine_cpus now = {0};
    double pct;

    if (!options->resources[HR_PSI_CPU] || !options->reports[PSI_REPORT_PERCENT])
        return;
    if (hr_machine_cpus_read(root, &now) == 0 && hr_machine_cpus_idle(previous, &now, &pct) == 0)
        submit_gauge(&submission, "percent", "cpu-idle", pct);
    *previous = now;
}
