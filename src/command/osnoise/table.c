/* SPDX-License-Identifier: MIT */
#include "osnoise/table.h"

#include <inttypes.h>
#include <limits.h>

#include "common/grid.h"
#include "headroom/clock.h"
#include "osnoise/latency.h"

#define HISTOGRAM_COLUMNS 4

/* Names are truncated, as a table's line should fit a terminal. */
#define NAME_WIDTH 40

/* @param error  0 if the share is known. @param share  in 100,000ths of a percent. */
static void add_share(struct grid *grid, int error, uint64_t share)
{
    if (error == 0)
        grid_cell(grid, "%" PRIu64 ".%05" PRIu64, share / 100000, share % 100000);
    else
        grid_cell(grid, "-");
}

/* --- CPUs ----------------------------------------------------------------- */

static const char *const cpu_headings[][2] = {
    {"", "CPU"},        {"", "PERIODS"},      {"RUNTIME", "us"},    {"NOISE", "us"},
    {"AVAILABLE", "%"}, {"SINGLE", "max us"}, {"PERIOD", "max us"}, {"", "HW"},
    {"", "NMI"},        {"", "IRQ"},          {"SOFT", "IRQ"},      {"", "THREAD"},
    {"", "LOST"},
};

#define CPU_COLUMNS (sizeof(cpu_headings) / sizeof(cpu_headings[0]))

static void add_cpu(struct grid *grid, const struct osnoise_row *row)
{
    const struct hr_osnoise_cpu *sums = &row->cpu->sums;
    const uint64_t times[] = {sums->runtime_us, sums->noise_us};
    const uint64_t rest[] = {sums->max_single_us, sums->max_period_us, sums->hw_count,
                             sums->nmi_count,     sums->irq_count,     sums->softirq_count,
                             sums->thread_count};
    bool known = sums->sample_count > 0;
    uint64_t share = 0;

    grid_cell(grid, "%s", row->label);
    grid_cell(grid, "%" PRIu64, sums->sample_count);
    for (size_t i = 0; i < 2; i++)
        grid_cell(grid, known ? "%" PRIu64 : "-", times[i]);
    int status = osnoise_available(sums, &share);
    add_share(grid, status, share);
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
        grid_cell(grid, known ? "%" PRIu64 : "-", rest[i]);
    grid_cell(grid, "%" PRIu64, sums->lost_count);
}

static int print_cpus(FILE *file, const struct osnoise_rows *rows)
{
    struct grid grid = {0};
    grid_headings(&grid, cpu_headings, CPU_COLUMNS);
    for (size_t i = 0; i < rows->count; i++)
        add_cpu(&grid, &rows->rows[i]);
    return grid_print(&grid, file);
}

/* --- Sources -------------------------------------------------------------- */

static void add_sum(struct grid *grid, const struct osnoise_cpu_total *cpu,
                    enum hr_osnoise_mode mode, uint64_t count, uint64_t duration_ns)
{
    uint64_t share = 0;
    grid_cell(grid, "%" PRIu64, count);
    grid_cell(grid, "%.1f", (double)duration_ns / HR_NS_PER_US);
    if (count > 0)
        grid_cell(grid, "%.1f", (double)duration_ns / HR_NS_PER_US / (double)count);
    else
        grid_cell(grid, "-");
    int status = osnoise_share(cpu, mode, duration_ns, &share);
    add_share(grid, status, share);
}

static void add_source(struct grid *grid, const struct osnoise_report *report,
                       const struct osnoise_cpu_total *cpu, const struct hr_osnoise_source *source)
{
    char name[HR_OSNOISE_NAME];
    label_fit(source->name, NAME_WIDTH, report->charset, name, sizeof(name));
    grid_cell(grid, "%u", cpu->sums.cpu);
    grid_cell(grid, "%s %s", hr_osnoise_kind_name(source->kind), name);
    add_sum(grid, cpu, report->options->mode, source->count, source->duration_ns);
}

static void add_all(struct grid *grid, const struct osnoise_report *report,
                    const struct osnoise_row *row)
{
    if (!row->cpu->has_sources)
        return;
    grid_cell(grid, "%s", row->label);
    grid_cell(grid, "all");
    add_sum(grid, row->cpu, report->options->mode, row->sources.count, row->sources.duration_ns);
}

static void add_other(struct grid *grid, const struct osnoise_report *report,
                      const struct osnoise_cpu_total *cpu, const struct osnoise_sum *other)
{
    grid_cell(grid, "%u", cpu->sums.cpu);
    if (cpu->rest.count > 0)
        grid_cell(grid, "other (more than %" PRIu64 ")", other->source_count);
    else
        grid_cell(grid, "other (%" PRIu64 ")", other->source_count);
    add_sum(grid, cpu, report->options->mode, other->count, other->duration_ns);
}

static void add_sources(struct grid *grid, const struct osnoise_report *report,
                        const struct osnoise_cpu_total *cpu)
{
    const struct hr_osnoise_source *first;
    struct osnoise_sum other;
    size_t count = osnoise_totals_top(report->totals, cpu, report->sources, &first, &other);

    for (size_t i = 0; i < count; i++)
        add_source(grid, report, cpu, &first[i]);
    if (other.count > 0 || other.duration_ns > 0)
        add_other(grid, report, cpu, &other);
}

static int print_sources(FILE *file, const struct osnoise_report *report,
                         const struct osnoise_rows *rows)
{
    bool no_workload = report->options->mode == HR_OSNOISE_SOURCES;
    const char *const headings[][2] = {
        {"", "CPU"},     {"", "SOURCE"}, {"", "COUNT"},
        {"NOISE", "us"}, {"EACH", "us"}, {no_workload ? "OF TIME" : "OF RUNTIME", "%"},
    };
    struct grid grid = {.left = 1 << 1};

    grid_headings(&grid, headings, sizeof(headings) / sizeof(headings[0]));
    size_t empty = grid.cell_count;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].is_sum)
            add_all(&grid, report, &rows->rows[i]);
        else
            add_sources(&grid, report, rows->rows[i].cpu);
    bool none = grid.cell_count == empty && !grid.failed;
    int status = grid_print(&grid, file);
    if (none)
        fputs("  - none was seen\n", file);
    return status;
}

/* --- By duration ---------------------------------------------------------- */

static int print_buckets(FILE *file, const struct osnoise_totals *totals)
{
    static const char *const headings[HISTOGRAM_COLUMNS][2] = {
        {"", "CPU"}, {"ABOVE", "us"}, {"UP TO", "us"}, {"SINGLE", "NOISES"}};
    struct grid grid = {0};

    grid_headings(&grid, headings, HISTOGRAM_COLUMNS);
    size_t empty = grid.cell_count;
    for (size_t i = 0; i < totals->cpu_count; i++)
        for (int power = 0; power < OSNOISE_BUCKETS; power++) {
            uint64_t lower_ns = UINT64_C(1) << power, count = totals->cpus[i].buckets[power];
            if (count == 0)
                continue;
            grid_cell(&grid, "%u", totals->cpus[i].sums.cpu);
            grid_cell(&grid, "%.3f", (double)lower_ns / HR_NS_PER_US);
            grid_cell(&grid, "%.3f", 2 * (double)lower_ns / HR_NS_PER_US);
            grid_cell(&grid, "%" PRIu64, count);
        }
    bool none = grid.cell_count == empty && !grid.failed;
    int status = grid_print(&grid, file);
    if (none)
        fputs("  - none was seen\n", file);
    return status;
}

void osnoise_table_add_percentiles(struct grid *grid, const uint64_t *buckets)
{
    static const unsigned per_mille[] = {500, 990, 999};
    uint64_t duration_ns;

    for (size_t i = 0; i < sizeof(per_mille) / sizeof(per_mille[0]); i++)
        if (osnoise_percentile(buckets, per_mille[i], &duration_ns) == 0)
            grid_cell(grid, "%.3f", (double)duration_ns / HR_NS_PER_US);
        else
            grid_cell(grid, "-");
}

static int print_percentiles(FILE *file, const struct osnoise_totals *totals)
{
    static const char *const headings[][2] = {
        {"", "CPU"}, {"50 %", "<= us"}, {"99 %", "<= us"}, {"99.9 %", "<= us"}};
    struct grid grid = {0};
    uint64_t duration_ns;

    grid_headings(&grid, headings, sizeof(headings) / sizeof(headings[0]));
    size_t empty = grid.cell_count;
    for (size_t i = 0; i < totals->cpu_count; i++) {
        if (osnoise_percentile(totals->cpus[i].buckets, 1, &duration_ns) < 0)
            continue;
        grid_cell(&grid, "%u", totals->cpus[i].sums.cpu);
        osnoise_table_add_percentiles(&grid, totals->cpus[i].buckets);
    }
    if (grid.cell_count > empty || grid.failed)
        putc('\n', file);
    else
        grid.cell_count = 0;
    return grid_print(&grid, file);
}

/* --- What is missing ------------------------------------------------------ */

struct note {
    const char *text;
    bool (*concerns)(const struct osnoise_report *report, const struct hr_osnoise_cpu *sums);
};

static bool is_offline(const struct osnoise_report *report, const struct hr_osnoise_cpu *sums)
{
    (void)report;
    return sums->state == HR_OSNOISE_CPU_OFFLINE;
}

static bool is_timerlat(const struct osnoise_report *report)
{
    return report->options->mode == HR_OSNOISE_TIMERLAT;
}

static bool is_silent(const struct osnoise_report *report, const struct hr_osnoise_cpu *sums)
{
    return !is_timerlat(report) && sums->state == HR_OSNOISE_CPU_SILENT;
}

static bool lacks_timers(const struct osnoise_report *report, const struct hr_osnoise_cpu *sums)
{
    return is_timerlat(report) && sums->state == HR_OSNOISE_CPU_SILENT;
}

static bool is_early(const struct osnoise_report *report, const struct hr_osnoise_cpu *sums)
{
    return sums->state == HR_OSNOISE_CPU_FINE && sums->sample_count == 0 &&
           report->options->mode != HR_OSNOISE_SOURCES && !report->totals->lacks_samples;
}

static bool has_lost(const struct osnoise_report *report, const struct hr_osnoise_cpu *sums)
{
    return !is_timerlat(report) && sums->lost_count > 0;
}

static bool has_lost_latencies(const struct osnoise_report *report,
                               const struct hr_osnoise_cpu *sums)
{
    return is_timerlat(report) && sums->lost_count > 0;
}

static const struct note notes[] = {
    {"offline", is_offline},
    {"silent: online, but no sample has come for three periods", is_silent},
    {"silent: online, but no thread of timerlat has run for three seconds", lacks_timers},
    {"no period has ended yet", is_early},
    {"records were lost: the sums lack some noise", has_lost},
    {"records were lost: the longest latency may be among them", has_lost_latencies},
};

/* "CPUs 3,5: offline" */
static void print_note(FILE *file, const struct osnoise_report *report, const struct note *note)
{
    const struct osnoise_totals *totals = report->totals;
    struct hr_cpu_set set = {{0}};
    char list[1024];
    for (size_t i = 0; i < totals->cpu_count; i++)
        if (note->concerns(report, &totals->cpus[i].sums))
            hr_cpu_set_add(&set, totals->cpus[i].sums.cpu);
    size_t count = hr_cpu_set_count(&set);
    if (count == 0)
        return;
    if (hr_cpu_set_format(&set, list, sizeof(list)) != 0)
        fprintf(file, "%zu CPUs: %s\n", count, note->text);
    else
        fprintf(file, "CPU%s %s: %s\n", count > 1 ? "s" : "", list, note->text);
}

static void print_notes(FILE *file, const struct osnoise_report *report)
{
    const struct osnoise_totals *totals = report->totals;
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        print_note(file, report, &notes[i]);
    if (totals->lacks_samples)
        fputs("no samples: before Linux 6.15 only the program that runs the tracer has them\n",
              file);
    if (totals->dropped_count > 0)
        fprintf(file,
                "%" PRIu64
                " noises are counted in other, not by name: the kernel's tables were full\n",
                totals->dropped_count);
    if (report->sources > 0 && totals->missing_count > 0)
        fprintf(file, "%" PRIu64 " of %" PRIu64 " readings have no sources\n",
                totals->missing_count, totals->reading_count);
}

/* --- All ------------------------------------------------------------------ */

static void print_workload(FILE *file, const struct hr_osnoise_options *options)
{
    fprintf(file, "gaps of at least %.6g us in %.6g s of each %.6g s",
            (double)options->threshold_us, (double)options->runtime_us / HR_US_PER_S,
            (double)options->period_us / HR_US_PER_S);
    if (options->mode == HR_OSNOISE_HARDWARE)
        fputs(", interrupts off", file);
}

static void print_timers(FILE *file, const struct hr_osnoise_options *options)
{
    char rank[16];

    fprintf(file, "a timer each %.6g s for %s, latencies in us",
            (double)options->timerlat.period_us / HR_US_PER_S,
            hr_priority_format(&options->timerlat.priority, rank));
}

static bool is_one_cpu(const struct hr_cpu_choice *cpus)
{
    return cpus->words == 0 && hr_cpu_set_count(&cpus->list) == 1;
}

static void print_headline(FILE *file, const struct osnoise_report *report)
{
    const struct hr_osnoise_options *options = report->options;
    fprintf(file, "Mode %s, ", hr_osnoise_mode_name(options->mode));
    if (report->cpus != NULL)
        fprintf(file, "CPU%s %s, ", is_one_cpu(&options->cpus) ? "" : "s", report->cpus);
    else
        fputs(options->mode == HR_OSNOISE_SOURCES ? "all CPUs, " : "CPUs of the other run, ", file);
    switch (options->mode) {
    case HR_OSNOISE_WORKLOAD:
    case HR_OSNOISE_HARDWARE:
        print_workload(file, options);
        break;
    case HR_OSNOISE_SOURCES:
        fputs("whatever interrupts or takes a CPU, without a workload", file);
        break;
    case HR_OSNOISE_ATTACH:
        fputs("attached to it", file);
        break;
    case HR_OSNOISE_TIMERLAT:
        print_timers(file, options);
        break;
    case HR_OSNOISE_MODE_COUNT:
        break;
    }
    fprintf(file, "; %.1f s\n", (double)report->totals->elapsed_ns / HR_NS_PER_S);
}

static int print_tables(FILE *file, const struct osnoise_report *report,
                        const struct osnoise_rows *rows)
{
    const struct hr_osnoise_options *options = report->options;
    bool samples = options->mode != HR_OSNOISE_SOURCES;
    int status = 0;

    if (samples) {
        putc('\n', file);
        status = is_timerlat(report) ? osnoise_latency_print_tables(file, report, rows)
                                     : print_cpus(file, rows);
        print_notes(file, report);
    }
    if (status == 0 && report->sources > 0) {
        putc('\n', file);
        status = print_sources(file, report, rows);
    }
    if (status == 0 && options->histogram && !is_timerlat(report)) {
        putc('\n', file);
        status = print_buckets(file, report->totals);
        if (status == 0)
            status = print_percentiles(file, report->totals);
    }
    if (!samples)
        print_notes(file, report);
    return status;
}

int osnoise_table_print(FILE *file, const struct osnoise_report *report)
{
    struct osnoise_rows rows = {0};

    osnoise_totals_sort(report->totals);
    int status = osnoise_rows_make(report->totals, report->order, report->numa, &rows);
    if (status != 0)
        return status;
    print_headline(file, report);
    status = print_tables(file, report, &rows);
    osnoise_rows_free(&rows);
    return status;
}

/* --- Single noises -------------------------------------------------------- */

static void print_functions(FILE *file, const struct hr_osnoise_part *part,
                            enum label_charset charset)
{
    char name[HR_OSNOISE_NAME], sender[HR_OSNOISE_SENDER];
    if (part->function_count == 0)
        return;
    for (size_t i = 0; i < part->function_count; i++) {
        label_fit(part->functions[i], INT_MAX, charset, name, sizeof(name));
        label_fit(part->senders[i], INT_MAX, charset, sender, sizeof(sender));
        fprintf(file, "%s%s%s%s", i > 0 ? ", " : " (", name, sender[0] != '\0' ? " for " : "",
                sender);
    }
    fprintf(file, "%s)", part->has_more_functions ? " and more" : "");
}

static void print_part(FILE *file, const struct hr_osnoise_part *part, enum label_charset charset)
{
    char name[HR_OSNOISE_NAME];
    label_fit(part->name, INT_MAX, charset, name, sizeof(name));
    fprintf(file, "%s %s", hr_osnoise_kind_name(part->kind), name);
    if (part->kind == HR_OSNOISE_THREAD)
        fprintf(file, "[%d]", part->number);
    print_functions(file, part, charset);
    fprintf(file, " %.1f us", (double)part->duration_ns / HR_NS_PER_US);
    if (part->count > 1)
        fprintf(file, " (%" PRIu64 " times)", part->count);
}

static void print_parts(FILE *file, const struct hr_osnoise_single_noise *single_noise,
                        enum label_charset charset)
{
    uint64_t left_ns = hr_osnoise_unexplained_ns(single_noise);
    for (size_t i = 0; i < single_noise->part_count; i++) {
        if (i > 0)
            fputs(", ", file);
        print_part(file, &single_noise->parts[i], charset);
    }
    if (!single_noise->parts_are_all)
        fputs(", and more", file);
    /* Less would be printed as 0.0. */
    if (left_ns >= 50)
        fprintf(file, "; %.1f us unexplained", (double)left_ns / HR_NS_PER_US);
}

void osnoise_single_noise_print(FILE *file, const struct osnoise_timed_noise *seen,
                                enum label_charset charset)
{
    const struct hr_osnoise_single_noise *single_noise = &seen->single_noise;
    char clock[16];
    struct tm local;
    localtime_r(&seen->time.tv_sec, &local);
    strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    fprintf(file, "%s CPU %u: %.1f us: ", clock, single_noise->cpu,
            (double)single_noise->duration_ns / HR_NS_PER_US);
    if (single_noise->part_count > 0)
        print_parts(file, single_noise, charset);
    else
        fputs(single_noise->interference_count == 0 ? "the hardware" : "cause unknown", file);
    putc('\n', file);
}
