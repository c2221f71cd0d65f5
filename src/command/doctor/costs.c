/* SPDX-License-Identifier: MIT */
#include "doctor/costs.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/output.h"

/* Where what follows from the table begins. */
#define NOTE_INDENT 14

/* A file of whisper with the retentions of contrib/dashboards/storage-schemas.conf, and one of the
 * plugin rrdtool by default, in bytes. */
#define WHISPER_BYTES 1356532
#define RRD_BYTES     148000

/* A line of the plugin csv, "1795420800.000,12.500000". */
#define CSV_BYTES 25

/* How many series a minute carbon creates by default, as Debian configures it, and where it says
 * so. */
#define CARBON_CREATES 50
#define CARBON_CONF    "etc/carbon/carbon.conf"

/* What collectd takes for a value in all, to read it and to hand it on to a writer: 50, 300 and
 * 1,000 groups were seen to take 0.3, 1.6 and 4.6 % of a slow CPU, with psi, cgroup_perf, headroom
 * and csv. */
#define CPU_US_PER_VALUE 35

/* What the plugin rrdtool takes of a CPU to write a value to its file at once, which it does
 * without CacheTimeout: 300 groups, of 540 values a second, were seen to take a third of one; on
 * another machine, where all files stayed in memory, a twentieth of that. And how much of a CPU is
 * too much. */
#define RRD_US_PER_WRITE_LEAST 30
#define RRD_US_PER_WRITE       600
#define RRD_MUCH_CPU_PCT       5

/* How many files it makes in no time: 7,000 were seen to take 11 s of two CPUs. */
#define RRD_FEW_FILES 1000

/* referenced, duration of window and scan; and with several windows two of each */
#define SERIES_OF_TARGET 3
#define SERIES_OF_WINDOW 2

/* lost and other; with a workload also the shares, maxima, sums, and counts of interferences; or
 * lost, maxima, sums and counts of latencies. */
#define SERIES_OF_CPU        2
#define SERIES_OF_LOADED_CPU 11
#define SERIES_OF_TIMED_CPU  7

/* Four shares, CPUs, three sizes of memory, a time, and kills; and what a stall of cpu, memory or
 * io can be due to. */
#define SERIES_OF_ROOM  10
#define SERIES_OF_STALL (6 + 3 + 3)

/* Three of pressure; and four of memory, one of CPU time, and the group's directory. */
#define FILES_OF_SYSTEM_ROOM 3
#define FILES_OF_ROOM        9

/* --- Each plugin ---------------------------------------------------------- */

static double per_second(size_t values, double interval)
{
    return interval > 0 ? (double)values / interval : 0;
}

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

/* How many have series: with TopGroups the worst, and as many that were it lately. */
static size_t psi_most_groups(const struct usage_psi *psi)
{
    return psi->top_groups > 0 ? 2 * psi->top_groups : SIZE_MAX;
}

static struct costs cost_psi(const struct usage_psi *psi, const struct costs_of_machine *machine)
{
    const bool has_irq = machine->has_irq_pressure;
    const size_t groups = machine->psi_groups, most = psi_most_groups(psi);
    struct costs costs = {.plugin = "psi", .groups = groups < most ? groups : most};

    costs.series_per_group = psi_series(psi, has_irq, false);
    costs.series =
        costs.groups * costs.series_per_group + (psi->system ? psi_series(psi, has_irq, true) : 0);
    costs.values_per_s = per_second(costs.series, psi->interval);
    costs.files = groups * (1 + psi_files(psi, has_irq, false)) + /* and the directory */
                  (psi->system ? psi_files(psi, has_irq, true) : psi->system_trigger_count);
    return costs;
}

static bool counts(const struct usage_texts *events, const char *event)
{
    for (size_t i = 0; i < events->count; i++)
        if (strcmp(events->list[i], event) == 0)
            return true;
    return false;
}

/* "1.4 MB" */
static void format_bytes(double bytes, char *text, size_t size)
{
    const char *units[] = {"kB", "MB", "GB", "TB"};
    size_t unit = 0;

    for (bytes /= 1000; bytes >= 1000 && unit < 3; unit++)
        bytes /= 1000;
    snprintf(text, size, "%.*f %s", bytes < 10 ? 1 : 0, bytes, units[unit]);
}

/* "cgroup_perf counts by BPF, in 120 kB of the kernel's memory: REASON", or "cgroup_perf counts by
 * descriptors, though REASON, as BPF can't be used: CAUSE: REMEDY" */
static void describe_counting(const struct costs_of_machine *machine, char *text, size_t size)
{
    const struct hr_perf_choice *choice = machine->perf_choice;
    const bool by_bpf = choice->counting == HR_PERF_BPF;
    char memory[64] = "", bytes[32], files[80] = "";

    if (machine->perf_obstacle->text[0] != '\0') {
        snprintf(text, size, "cgroup_perf counts by descriptors, %s%s%sas BPF can't be used: %s",
                 choice->why[0] != '\0' ? "though " : "", choice->why,
                 choice->why[0] != '\0' ? ", " : "", machine->perf_obstacle->text);
        return;
    }
    if (!by_bpf && choice->why[0] == '\0')
        return;
    format_bytes((double)machine->perf_bpf_bytes, bytes, sizeof(bytes));
    if (by_bpf)
        snprintf(memory, sizeof(memory), ", in %s of the kernel's memory", bytes);
    if (machine->perf_exception_files > 0)
        snprintf(files, sizeof(files), ", and with %zu descriptors what BPF can't count",
                 machine->perf_exception_files);
    snprintf(text, size, "cgroup_perf counts by %s%s%s%s%s", by_bpf ? "BPF" : "descriptors", memory,
             files, choice->why[0] != '\0' ? ": " : "", choice->why);
}

static struct costs cost_perf(const struct usage_perf *perf, const struct costs_of_machine *machine)
{
    const size_t events = machine->perf_events.count, groups = machine->perf_groups;
    const bool has_ipc =
        counts(&machine->perf_events, "cycles") && counts(&machine->perf_events, "instructions");
    struct costs costs = {.plugin = "cgroup_perf", .groups = groups};

    costs.series_per_group =
        (events * (1 + perf->running) + has_ipc) * (perf->per_cpu ? 1 + machine->perf_cpus : 1);
    costs.series = (groups + perf->system) * costs.series_per_group;
    costs.values_per_s = per_second(costs.series, perf->interval);
    costs.files = groups;
    costs.files += machine->perf_exception_files;
    if (machine->perf_choice->counting == HR_PERF_DESCRIPTORS)
        costs.files += groups * machine->perf_clocks * machine->perf_cpus +
                       (groups + perf->system) * events * machine->perf_cpus;
    describe_counting(machine, costs.counting, sizeof(costs.counting));
    return costs;
}

static size_t target_series(const struct usage_wss_target *target)
{
    const bool of_processes = target->scope == HR_WSS_PROCESSES;
    const bool has_pss = target->method == HR_WSS_REFERENCED;
    const bool has_rss = has_pss || target->method == HR_WSS_IDLE ||
                         (target->method == HR_WSS_DAMON && of_processes);

    return SERIES_OF_TARGET + has_rss + has_pss + of_processes +
           (target->window_count > 1 ? target->window_count * SERIES_OF_WINDOW : 0);
}

/* The next measurement begins when the longest window is over, in whole intervals. */
static double target_interval(const struct usage_wss_target *target, double interval)
{
    return target->longest_s > interval && interval > 0
               ? ceil(target->longest_s / interval) * interval
               : interval;
}

static struct costs cost_wss(const struct usage_wss *wss, const struct costs_of_machine *machine)
{
    struct costs costs = {.plugin = "wss"};

    for (size_t i = 0; i < machine->wss_target_count; i++) {
        const struct costs_of_target *of = &machine->wss_targets[i];
        const size_t each = target_series(&of->target), series = of->count * each;
        costs.series += series;
        costs.values_per_s += per_second(series, target_interval(&of->target, wss->interval));
        if (of->target.scope != HR_WSS_CGROUP || of->count == 0)
            continue;
        costs.groups += of->count;
        costs.files += of->count;
        if (each > costs.series_per_group)
            costs.series_per_group = each;
    }
    return costs;
}

static struct costs cost_headroom(const struct usage_headroom *headroom,
                                  const struct costs_of_machine *machine)
{
    const size_t groups = machine->headroom_groups;
    struct costs costs = {
        .plugin = "headroom", .groups = groups, .series_per_group = SERIES_OF_ROOM};

    costs.series = (groups + headroom->system) * SERIES_OF_ROOM;
    costs.values_per_s = per_second(costs.series, headroom->interval);
    costs.files = groups * FILES_OF_ROOM + headroom->system * FILES_OF_SYSTEM_ROOM;
    return costs;
}

static struct costs cost_osnoise(const struct usage_osnoise *osnoise,
                                 const struct costs_of_machine *machine)
{
    const size_t of_cpu = osnoise->modes[HR_OSNOISE_SOURCES]    ? SERIES_OF_CPU
                          : osnoise->modes[HR_OSNOISE_TIMERLAT] ? SERIES_OF_TIMED_CPU
                                                                : SERIES_OF_LOADED_CPU;
    struct costs costs = {.plugin = "osnoise"};

    costs.series = machine->cpus * (of_cpu + osnoise->sources);
    costs.values_per_s = per_second(costs.series, osnoise->interval);
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
    if (usage->headroom.loaded)
        costs[4] = cost_headroom(&usage->headroom, machine);
}

/* --- Printing ------------------------------------------------------------- */

static void print_row(FILE *out, const struct costs *costs)
{
    fprintf(out, "%-12s%8zu%16zu%9zu%10.1f%7zu\n", costs->plugin, costs->groups,
            costs->series_per_group, costs->series, costs->values_per_s, costs->files);
}

/* What follows from the table. */
struct note {
    FILE *out;
    size_t width;
};

__attribute__((format(printf, 3, 4))) static void
print_note(const struct note *note, const char *what, const char *format, ...)
{
    char text[COSTS_NOTE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(note->out, "%-*s", NOTE_INDENT, what);
    output_fold(note->out, text, NOTE_INDENT, note->width);
}

/* What all plugins take together. */
struct sums {
    size_t series, of_new_group; /* 0: no group has any */
    double values_per_s;
    bool has_stalls;
};

static void print_disk(const struct note *note, const char *what, const struct sums *sums,
                       double each)
{
    char of_one[32], of_all[32], of_group[32], added[80] = "";

    format_bytes(each, of_one, sizeof(of_one));
    format_bytes(each * (double)sums->series, of_all, sizeof(of_all));
    format_bytes(each * (double)sums->of_new_group, of_group, sizeof(of_group));
    if (sums->of_new_group > 0)
        snprintf(added, sizeof(added), "each new group adds up to %s, and ", of_group);
    print_note(note, what,
               "%s per series, %s of disk for headroom's, not collectd's others; %sthose of "
               "removed groups stay",
               of_one, of_all, added);
}

static void print_csv(const struct note *note, double values_per_s)
{
    char of_a_day[32];

    format_bytes(values_per_s * 86400 * CSV_BYTES, of_a_day, sizeof(of_a_day));
    print_note(note, "csv",
               "about %d bytes a value: %s of disk a day for headroom's, which nothing removes",
               CSV_BYTES, of_a_day);
}

/* By the option CacheTimeout; without it each value is written at once. */
static bool gathers_for_rrdtool(const struct config_item *config)
{
    return config_number(config_find_of_plugin(config, "rrdtool", "CacheTimeout"), 0) > 0;
}

static void print_rrdtool(const struct note *note, const struct usage *usage,
                          const struct sums *sums)
{
    const double cpu_pct = sums->values_per_s * RRD_US_PER_WRITE / 1e4;

    print_disk(note, "rrdtool", sums, RRD_BYTES);
    if (cpu_pct >= RRD_MUCH_CPU_PCT && !gathers_for_rrdtool(&usage->config))
        print_note(note, "rrdtool",
                   "writes each value to its file at once, as it has no CacheTimeout: %.2g to "
                   "%.0f %% of a CPU, by how much of its files stays in memory; set CacheTimeout "
                   "120 and CacheFlush 900 in <Plugin rrdtool>, or, if another writer has the "
                   "values, remove its LoadPlugin",
                   cpu_pct * RRD_US_PER_WRITE_LEAST / RRD_US_PER_WRITE, cpu_pct);
}

/* In the threads that hand on values, unless it has CreateFilesAsync. */
static void print_rrdtool_files(const struct note *note, const struct usage *usage, size_t series)
{
    if (series > RRD_FEW_FILES &&
        !config_boolean(config_find_of_plugin(&usage->config, "rrdtool", "CreateFilesAsync"),
                        false))
        print_note(note, "rrdtool",
                   "makes %zu files at its first start, for which all other values wait: set "
                   "CreateFilesAsync true in <Plugin rrdtool>",
                   series);
}

/* How many series a minute carbon creates by its configuration, which may be another machine's;
 * INFINITY: all. @return whether that is known. */
static bool read_carbon(const struct hr_root *root, double *creates)
{
    const int fd = hr_root_openat(root, CARBON_CONF, O_RDONLY);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    char line[256], *end;
    bool found = false;

    if (file == NULL) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        int name_end = 0;
        sscanf(line, " MAX_CREATES_PER_MINUTE = %n", &name_end);
        if (name_end == 0)
            continue;
        *creates = strtod(line + name_end, &end);
        found = end > line + name_end && *creates > 0;
    }
    fclose(file);
    return found;
}

static void print_carbon(const struct note *note, const struct hr_root *root, size_t series)
{
    double creates = CARBON_CREATES;
    char limit[96], remedy[48] = "";

    if (read_carbon(root, &creates))
        snprintf(limit, sizeof(limit), "MAX_CREATES_PER_MINUTE = %g of /%s", creates, CARBON_CONF);
    else
        snprintf(limit, sizeof(limit), "its default of %d, if that is MAX_CREATES_PER_MINUTE there",
                 CARBON_CREATES);
    const double minutes = ceil((double)series / creates);
    if (minutes > 2)
        snprintf(remedy, sizeof(remedy), ": raise it to %zu", series);
    print_note(note, "carbon", "creates headroom's series within %.0f min, at %s%s", minutes, limit,
               remedy);
}

/* --- Sums ----------------------------------------------------------------- */

static void add_up(const struct costs costs[COSTS_PLUGINS], struct sums *sums)
{
    for (size_t i = 0; i < COSTS_PLUGINS; i++) {
        if (costs[i].plugin == NULL)
            continue;
        sums->series += costs[i].series;
        sums->values_per_s += costs[i].values_per_s;
        sums->has_stalls |= strcmp(costs[i].plugin, "headroom") == 0;
        if (costs[i].groups > 0)
            sums->of_new_group += costs[i].series_per_group;
    }
}

static void print_sums(const struct note *note, const struct hr_root *root,
                       const struct usage *usage, const struct sums *sums)
{
    print_note(note, "CPU",
               "about %.1f %% of a CPU in all, to read %.0f values a second and hand them on",
               sums->values_per_s * CPU_US_PER_VALUE / 1e4, sums->values_per_s);
    if (sums->has_stalls)
        print_note(note, "stalls",
                   "up to %d more series of the headroom plugin for each group with stalls",
                   SERIES_OF_STALL);
    if (usage->graphite) {
        print_disk(note, "Graphite", sums, WHISPER_BYTES);
        print_carbon(note, root, sums->series);
    }
    if (usage->rrdtool) {
        print_rrdtool(note, usage, sums);
        print_rrdtool_files(note, usage, sums->series);
    }
    if (usage->csv)
        print_csv(note, sums->values_per_s);
}

void costs_print(FILE *out, const struct hr_root *root, const struct usage *usage,
                 const struct costs costs[COSTS_PLUGINS], size_t width)
{
    const struct note note = {out, width};
    struct sums sums = {.series = 0};

    fprintf(out, "%-12s%8s%16s%9s%10s%7s\n", "costs", "groups", "series a group", "series",
            "values/s", "files");
    for (size_t i = 0; i < COSTS_PLUGINS; i++)
        if (costs[i].plugin != NULL)
            print_row(out, &costs[i]);
    for (size_t i = 0; i < COSTS_PLUGINS; i++)
        if (costs[i].counting[0] != '\0')
            print_note(&note, "counting", "%s", costs[i].counting);
    add_up(costs, &sums);
    print_sums(&note, root, usage, &sums);
}
