/* SPDX-License-Identifier: MIT */
#include "doctor/costs.h"

#include <string.h>

/* A file of whisper with the retentions of contrib/dashboards/storage-schemas.conf, and one of the
 * plugin rrdtool by default, in bytes. */
#define WHISPER_BYTES 1356532
#define RRD_BYTES     148000

/* What collectd takes to hand a value on, with a writer; tests/bench/bench_psi.c, with csv. */
#define CPU_US_PER_VALUE 10

/* referenced, rss, pss, duration of window and scan */
#define SERIES_OF_TARGET 5

/* lost and other; with a workload also the shares, maxima, sums, and counts of interferences. */
#define SERIES_OF_CPU        2
#define SERIES_OF_LOADED_CPU 11

/* --- Each plugin ---------------------------------------------------------- */

/* Of the system, or of a group. The system has the share of idle CPUs, too. */
static size_t psi_series(const struct usage_psi *psi, bool has_irq, bool is_system)
{
    size_t levels = 0;

    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++) {
        if (!psi->resources[i] || (i == HR_PSI_IRQ && !has_irq))
            continue;
        levels += i == HR_PSI_IRQ || (i == HR_PSI_CPU && is_system) ? 1 : 2;
    }
    return levels * (psi->reports + 3 * psi->averages) +
           (is_system ? psi->system_trigger_count : psi->group_trigger_count) +
           (is_system && psi->resources[HR_PSI_CPU] && psi->percents);
}

/* Pressure files, and one for each trigger that isn't polled with those of all groups. */
static size_t psi_files(const struct usage_psi *psi, bool has_irq, bool is_system)
{
    size_t files =
        is_system ? psi->system_trigger_count : psi->group_triggers * psi->group_trigger_count;

    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        files += psi->resources[i] && (i != HR_PSI_IRQ || has_irq);
    return files;
}

static struct costs cost_psi(const struct usage_psi *psi, const struct costs_of_machine *machine)
{
    const bool has_irq = machine->has_irq_pressure;
    const size_t groups = machine->psi_groups;
    struct costs costs = {"psi", groups, .interval = psi->interval};

    costs.series_per_group = psi_series(psi, has_irq, false);
    costs.series =
        groups * costs.series_per_group + (psi->system ? psi_series(psi, has_irq, true) : 0);
    costs.values = costs.series;
    costs.files = groups * (1 + psi_files(psi, has_irq, false)) + /* and the directory */
                  (psi->system ? psi_files(psi, has_irq, true) : psi->system_trigger_count);
    return costs;
}

static bool counts(const struct usage_perf *perf, const char *event)
{
    for (size_t i = 0; i < perf->events.count; i++)
        if (strcmp(perf->events.list[i], event) == 0)
            return true;
    return false;
}

static struct costs cost_perf(const struct usage_perf *perf, const struct costs_of_machine *machine)
{
    const size_t events = perf->events.count, groups = machine->perf_groups;
    const bool has_ipc = counts(perf, "cycles") && counts(perf, "instructions");
    struct costs costs = {"cgroup_perf", groups, .interval = perf->interval};

    costs.series_per_group =
        (events * (1 + perf->running) + has_ipc) * (perf->per_cpu ? 1 + machine->cpus : 1);
    costs.series = (groups + perf->system) * costs.series_per_group;
    costs.values = costs.series;
    costs.files = groups + groups * machine->perf_clocks * machine->cpus +
                  (groups + perf->system) * events * machine->cpus;
    return costs;
}

static struct costs cost_wss(const struct usage_wss *wss, const struct costs_of_machine *machine)
{
    struct costs costs = {"wss", machine->wss_groups, .interval = wss->interval};

    costs.series_per_group = machine->wss_groups > 0 ? SERIES_OF_TARGET : 0;
    costs.series = costs.values =
        (machine->wss_groups + wss->blocks) * SERIES_OF_TARGET + wss->processes;
    costs.files = machine->wss_groups;
    return costs;
}

static struct costs cost_osnoise(const struct usage_osnoise *osnoise,
                                 const struct costs_of_machine *machine)
{
    const size_t of_cpu = osnoise->modes[HR_OSNOISE_SOURCES] ? SERIES_OF_CPU : SERIES_OF_LOADED_CPU;
    struct costs costs = {"osnoise", 0, .interval = osnoise->interval};

    costs.series = costs.values = machine->cpus * (of_cpu + osnoise->sources);
    return costs;
}

void costs_calculate(const struct usage *usage, const struct costs_of_machine *machine,
                     struct costs costs[COSTS_PLUGINS])
{
    memset(costs, 0, COSTS_PLUGINS * sizeof(*costs));
    if (usage->psi.loaded)
        costs[0] = cost_psi(&usage->psi, machine);
    if (usage->perf.loaded)
        costs[1] = cost_perf(&usage->perf, machine);
    if (usage->wss.loaded)
        costs[2] = cost_wss(&usage->wss, machine);
    if (usage->osnoise.loaded)
        costs[3] = cost_osnoise(&usage->osnoise, machine);
}

/* --- Printing ------------------------------------------------------------- */

static double values_per_second(const struct costs *costs)
{
    return costs->interval > 0 ? (double)costs->values / costs->interval : 0;
}

static void print_row(FILE *out, const struct costs *costs)
{
    fprintf(out, "%-12s%8zu%16zu%9zu%10.1f%7zu\n", costs->plugin, costs->groups,
            costs->series_per_group, costs->series, values_per_second(costs), costs->files);
}

/* "1.4 MB" */
static void print_bytes(FILE *out, double bytes)
{
    const char *units[] = {"kB", "MB", "GB", "TB"};
    size_t unit = 0;

    for (bytes /= 1000; bytes >= 1000 && unit < 3; unit++)
        bytes /= 1000;
    fprintf(out, "%.*f %s", bytes < 10 ? 1 : 0, bytes, units[unit]);
}

static void print_disk(FILE *out, const char *what, size_t series, double each)
{
    fprintf(out, "%-14s", what);
    print_bytes(out, each);
    fputs(" a series: ", out);
    print_bytes(out, each * (double)series);
    fputs(" of disk, more for each group that ever was\n", out);
}

static void print_sums(FILE *out, const struct usage *usage, size_t series, double values)
{
    fprintf(out, "%-14sabout %.1f %% of one, to hand on %.0f values a second\n", "CPU",
            values * CPU_US_PER_VALUE / 1e4, values);
    if (usage->graphite)
        print_disk(out, "Graphite", series, WHISPER_BYTES);
    if (usage->graphite)
        fprintf(out, "%-14sall after %zu min: raise MAX_CREATES_PER_MINUTE from 50 to %zu\n",
                "carbon", (series + 49) / 50, series);
    if (usage->rrdtool)
        print_disk(out, "rrdtool", series, RRD_BYTES);
}

void costs_print(FILE *out, const struct usage *usage, const struct costs costs[COSTS_PLUGINS])
{
    size_t series = 0;
    double values = 0;

    fprintf(out, "%-12s%8s%16s%9s%10s%7s\n", "costs", "groups", "series a group", "series",
            "values/s", "files");
    for (size_t i = 0; i < COSTS_PLUGINS; i++) {
        if (costs[i].plugin == NULL)
            continue;
        print_row(out, &costs[i]);
        series += costs[i].series;
        values += values_per_second(&costs[i]);
    }
    print_sums(out, usage, series, values);
}
