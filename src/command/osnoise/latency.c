/* SPDX-License-Identifier: MIT */
#include "osnoise/latency.h"

#include <inttypes.h>

#include "common/grid.h"
#include "common/json.h"
#include "headroom/clock.h"
#include "osnoise/json.h"
#include "osnoise/table.h"

/* --- Tables --------------------------------------------------------------- */

static const char *const cpu_headings[][2] = {
    {"", "CPU"},       {"", "PERIODS"},   {"IRQ", "last"},    {"IRQ", "min"},
    {"IRQ", "avg"},    {"IRQ", "max"},    {"THREAD", "last"}, {"THREAD", "min"},
    {"THREAD", "avg"}, {"THREAD", "max"}, {"", "LOST"},
};

static const char *const bucket_headings[][2] = {
    {"", "CPU"}, {"ABOVE", "us"}, {"UP TO", "us"}, {"", "IRQ"}, {"", "THREAD"},
};

static const char *const percentile_headings[][2] = {
    {"", "CPU"},
    {"IRQ 50 %", "<= us"},
    {"IRQ 99 %", "<= us"},
    {"IRQ 99.9 %", "<= us"},
    {"THREAD 50 %", "<= us"},
    {"THREAD 99 %", "<= us"},
    {"THREAD 99.9 %", "<= us"},
};

#define COUNT(headings) (unsigned)(sizeof(headings) / sizeof((headings)[0]))

static double in_us(uint64_t ns)
{
    return (double)ns / HR_NS_PER_US;
}

static double average_ns(const struct hr_osnoise_latency *latency)
{
    return (double)latency->sum_ns / (double)latency->count;
}

/* Of several CPUs it isn't known which was the last. */
static void add_latency(struct grid *grid, const struct hr_osnoise_latency *latency, bool is_sum)
{
    if (latency->count == 0) {
        for (int i = 0; i < 4; i++)
            grid_cell(grid, "-");
        return;
    }
    if (is_sum)
        grid_cell(grid, "-");
    else
        grid_cell(grid, "%.1f", in_us(latency->last_ns));
    grid_cell(grid, "%.1f", in_us(latency->min_ns));
    grid_cell(grid, "%.1f", average_ns(latency) / HR_NS_PER_US);
    grid_cell(grid, "%.1f", in_us(latency->max_ns));
}

static int print_cpus(FILE *file, const struct osnoise_rows *rows)
{
    struct grid grid = {0};

    grid_headings(&grid, cpu_headings, COUNT(cpu_headings));
    for (size_t i = 0; i < rows->count; i++) {
        const struct osnoise_cpu_total *cpu = rows->rows[i].cpu;
        grid_cell(&grid, "%s", rows->rows[i].label);
        grid_cell(&grid, "%" PRIu64, cpu->sums.sample_count);
        for (int context = 0; context < HR_OSNOISE_CONTEXT_COUNT; context++)
            add_latency(&grid, &cpu->latencies[context], rows->rows[i].is_sum);
        grid_cell(&grid, "%" PRIu64, cpu->sums.lost_count);
    }
    return grid_print(&grid, file);
}

static void add_bucket(struct grid *grid, const struct osnoise_cpu_total *cpu, int power)
{
    const uint64_t irqs = cpu->latencies[HR_OSNOISE_TIMER_IRQ].buckets[power];
    const uint64_t threads = cpu->latencies[HR_OSNOISE_TIMER_THREAD].buckets[power];

    if (irqs == 0 && threads == 0)
        return;
    grid_cell(grid, "%u", cpu->sums.cpu);
    grid_cell(grid, "%.3f", in_us(UINT64_C(1) << power));
    grid_cell(grid, "%.3f", 2 * in_us(UINT64_C(1) << power));
    grid_cell(grid, "%" PRIu64, irqs);
    grid_cell(grid, "%" PRIu64, threads);
}

static int print_buckets(FILE *file, const struct osnoise_totals *totals)
{
    struct grid grid = {0};

    grid_headings(&grid, bucket_headings, COUNT(bucket_headings));
    for (size_t i = 0; i < totals->cpu_count; i++)
        for (int power = 0; power < HR_OSNOISE_LATENCY_BUCKETS; power++)
            add_bucket(&grid, &totals->cpus[i], power);
    return grid_print(&grid, file);
}

static int print_percentiles(FILE *file, const struct osnoise_totals *totals)
{
    struct grid grid = {0};

    grid_headings(&grid, percentile_headings, COUNT(percentile_headings));
    for (size_t i = 0; i < totals->cpu_count; i++) {
        const struct hr_osnoise_latency *latencies = totals->cpus[i].latencies;
        if (latencies[HR_OSNOISE_TIMER_IRQ].count + latencies[HR_OSNOISE_TIMER_THREAD].count == 0)
            continue;
        grid_cell(&grid, "%u", totals->cpus[i].sums.cpu);
        for (int context = 0; context < HR_OSNOISE_CONTEXT_COUNT; context++)
            osnoise_table_add_percentiles(&grid, latencies[context].buckets);
    }
    return grid_print(&grid, file);
}

/* "CPU 3: a thread latency of 87.2 us, above 50 us" */
static void print_exceeded(FILE *file, const struct osnoise_report *report,
                           const struct osnoise_cpu_total *cpu)
{
    for (int context = 0; context < HR_OSNOISE_CONTEXT_COUNT; context++)
        if (cpu->latencies[context].max_ns > report->max_latency_ns)
            fprintf(file, "CPU %u: %s latency of %.1f us, above %.6g us\n", cpu->sums.cpu,
                    hr_osnoise_context_name(context), in_us(cpu->latencies[context].max_ns),
                    in_us(report->max_latency_ns));
}

int osnoise_latency_print_tables(FILE *file, const struct osnoise_report *report,
                                 const struct osnoise_rows *rows)
{
    const struct osnoise_totals *totals = report->totals;
    int status = print_cpus(file, rows);

    if (status == 0 && report->options->histogram) {
        putc('\n', file);
        status = print_buckets(file, totals);
        putc('\n', file);
        if (status == 0)
            status = print_percentiles(file, totals);
    }
    for (size_t i = 0; report->max_latency_ns > 0 && i < totals->cpu_count; i++)
        print_exceeded(file, report, &totals->cpus[i]);
    return status;
}

/* --- JSON ----------------------------------------------------------------- */

static void print_histogram(FILE *file, const struct hr_osnoise_latency *latency)
{
    const char *separator = "";

    fputs(",\"histogram\":[", file);
    for (int power = 0; power < HR_OSNOISE_LATENCY_BUCKETS; power++) {
        if (latency->buckets[power] == 0)
            continue;
        fprintf(file, "%s{\"lower_ns\":%" PRIu64 ",\"count\":%" PRIu64 "}", separator,
                UINT64_C(1) << power, latency->buckets[power]);
        separator = ",";
    }
    putc(']', file);
}

static void print_latency(FILE *file, const struct hr_osnoise_latency *latency, bool histogram)
{
    const bool known = latency->count > 0;

    json_print_count(file, "{\"count\":", true, latency->count);
    json_print_count(file, ",\"last_ns\":", known, latency->last_ns);
    json_print_count(file, ",\"min_ns\":", known, latency->min_ns);
    json_print_number(file, ",\"avg_ns\":", known, "%.1f", known ? average_ns(latency) : 0);
    json_print_count(file, ",\"max_ns\":", known, latency->max_ns);
    if (histogram)
        print_histogram(file, latency);
    else
        fputs(",\"histogram\":null", file);
    osnoise_json_print_percentiles(file, histogram ? latency->buckets : NULL);
    putc('}', file);
}

void osnoise_latency_print_json(FILE *file, const struct osnoise_report *report,
                                const struct osnoise_cpu_total *cpu)
{
    if (report->options->mode != HR_OSNOISE_TIMERLAT) {
        fputs(",\"latency\":null", file);
        return;
    }
    for (int context = 0; context < HR_OSNOISE_CONTEXT_COUNT; context++) {
        fprintf(file, "%s\"%s\":", context == 0 ? ",\"latency\":{" : ",",
                hr_osnoise_context_name(context));
        print_latency(file, &cpu->latencies[context], report->options->histogram);
    }
    putc('}', file);
}
