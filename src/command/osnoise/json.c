/* SPDX-License-Identifier: MIT */
#include "osnoise/json.h"

#include <inttypes.h>

#include "common/json.h"
#include "headroom/clock.h"
#include "osnoise/latency.h"

static void print_seconds(FILE *file, const char *before, bool known, double seconds)
{
    json_print_number(file, before, known, "%.6f", seconds);
}

/* @param share  in 100,000ths of a percent. @param error  0 if it is known. */
static void print_share(FILE *file, const char *before, int error, uint64_t share)
{
    json_print_number(file, before, error == 0, "%" PRIu64 ".%05" PRIu64, share / 100000,
                      share % 100000);
}

static void print_time(FILE *file, const char *before, const struct timespec *time)
{
    fprintf(file, "%s%lld.%03d", before, (long long)time->tv_sec, (int)(time->tv_nsec / 1000000));
}

/* --- A CPU ---------------------------------------------------------------- */

static void print_sums(FILE *file, const struct osnoise_report *report,
                       const struct hr_osnoise_cpu *sums)
{
    static const char *const states[] = {
        [HR_OSNOISE_CPU_FINE] = "fine",
        [HR_OSNOISE_CPU_SILENT] = "silent",
        [HR_OSNOISE_CPU_OFFLINE] = "offline",
    };
    bool known = sums->sample_count > 0 && report->options->mode != HR_OSNOISE_TIMERLAT;
    uint64_t share = 0;
    int status = osnoise_available(sums, &share);

    fprintf(file, "{\"cpu\":%u,\"state\":\"%s\"", sums->cpu, states[sums->state]);
    json_print_count(file, ",\"sample_count\":", true, sums->sample_count);
    json_print_count(file, ",\"runtime_us\":", known, sums->runtime_us);
    json_print_count(file, ",\"noise_us\":", known, sums->noise_us);
    print_share(file, ",\"available_pct\":", status, share);
    json_print_count(file, ",\"max_single_us\":", known, sums->max_single_us);
    json_print_count(file, ",\"max_period_us\":", known, sums->max_period_us);
    json_print_count(file, ",\"hw_count\":", known, sums->hw_count);
    json_print_count(file, ",\"nmi_count\":", known, sums->nmi_count);
    json_print_count(file, ",\"irq_count\":", known, sums->irq_count);
    json_print_count(file, ",\"softirq_count\":", known, sums->softirq_count);
    json_print_count(file, ",\"thread_count\":", known, sums->thread_count);
    json_print_count(file, ",\"lost_count\":", true, sums->lost_count);
}

static void print_sum_members(FILE *file, const struct osnoise_report *report,
                              const struct osnoise_cpu_total *cpu, uint64_t count,
                              uint64_t duration_ns)
{
    uint64_t share = 0;
    int status = osnoise_share(cpu, report->options->mode, duration_ns, &share);
    json_print_count(file, ",\"count\":", true, count);
    json_print_count(file, ",\"duration_ns\":", true, duration_ns);
    print_share(file, ",\"share_pct\":", status, share);
    putc('}', file);
}

static void print_sources(FILE *file, const struct osnoise_report *report,
                          const struct osnoise_cpu_total *cpu)
{
    const struct hr_osnoise_source *first;
    struct osnoise_sum other;

    if (report->sources == 0 || !cpu->has_sources) {
        fputs(",\"sources\":null,\"other\":null", file);
        return;
    }
    size_t count = osnoise_totals_top(report->totals, cpu, report->sources, &first, &other);
    fputs(",\"sources\":[", file);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%s{\"kind\":\"%s\",\"name\":", i > 0 ? "," : "",
                hr_osnoise_kind_name(first[i].kind));
        json_print_string(file, first[i].name);
        print_sum_members(file, report, cpu, first[i].count, first[i].duration_ns);
    }
    json_print_count(file, "],\"other\":{\"source_count\":", cpu->rest.count == 0,
                     other.source_count);
    print_sum_members(file, report, cpu, other.count, other.duration_ns);
}

void osnoise_json_print_percentiles(FILE *file, const uint64_t *buckets)
{
    static const struct {
        const char *before;
        unsigned per_mille;
    } percentiles[] = {{",\"p50_ns\":", 500}, {",\"p99_ns\":", 990}, {",\"p999_ns\":", 999}};

    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
        uint64_t duration_ns = 0;
        const bool is_known =
            buckets != NULL &&
            osnoise_percentile(buckets, percentiles[i].per_mille, &duration_ns) == 0;
        json_print_count(file, percentiles[i].before, is_known, duration_ns);
    }
}

static void print_buckets(FILE *file, const struct osnoise_report *report,
                          const struct osnoise_cpu_total *cpu)
{
    const char *separator = "";
    if (!report->options->histogram || report->options->mode == HR_OSNOISE_TIMERLAT) {
        fputs(",\"histogram\":null", file);
        osnoise_json_print_percentiles(file, NULL);
        return;
    }
    fputs(",\"histogram\":[", file);
    for (int power = 0; power < OSNOISE_BUCKETS; power++) {
        if (cpu->buckets[power] == 0)
            continue;
        fprintf(file, "%s{\"lower_ns\":%" PRIu64 ",\"count\":%" PRIu64 "}", separator,
                UINT64_C(1) << power, cpu->buckets[power]);
        separator = ",";
    }
    putc(']', file);
    osnoise_json_print_percentiles(file, cpu->buckets);
}

static void print_cpus(FILE *file, const struct osnoise_report *report)
{
    const struct osnoise_totals *totals = report->totals;
    osnoise_totals_sort(report->totals);
    fputs(",\"cpus\":[", file);
    for (size_t i = 0; i < totals->cpu_count; i++) {
        if (i > 0)
            putc(',', file);
        print_sums(file, report, &totals->cpus[i].sums);
        print_sources(file, report, &totals->cpus[i]);
        print_buckets(file, report, &totals->cpus[i]);
        osnoise_latency_print_json(file, report, &totals->cpus[i]);
        putc('}', file);
    }
    putc(']', file);
}

/* --- Single noises -------------------------------------------------------- */

static void print_functions(FILE *file, const struct hr_osnoise_part *part)
{
    fputs(",\"functions\":[", file);
    for (size_t i = 0; i < part->function_count; i++) {
        if (i > 0)
            putc(',', file);
        json_print_string(file, part->functions[i]);
    }
    fputs("],\"senders\":[", file);
    for (size_t i = 0; i < part->function_count; i++) {
        if (i > 0)
            putc(',', file);
        if (part->senders[i][0] != '\0')
            json_print_string(file, part->senders[i]);
        else
            fputs("null", file);
    }
    fprintf(file, "],\"more_functions\":%s", part->has_more_functions ? "true" : "false");
}

static void print_part(FILE *file, const struct hr_osnoise_part *part)
{
    bool numbered = part->kind != HR_OSNOISE_NMI;
    fprintf(file, "{\"kind\":\"%s\",\"name\":", hr_osnoise_kind_name(part->kind));
    json_print_string(file, part->name);
    fputs(",\"number\":", file);
    if (numbered)
        fprintf(file, "%d", part->number);
    else
        fputs("null", file);
    print_functions(file, part);
    json_print_count(file, ",\"count\":", true, part->count);
    json_print_count(file, ",\"duration_ns\":", true, part->duration_ns);
    putc('}', file);
}

static void print_single_noise(FILE *file, const struct osnoise_timed_noise *seen)
{
    const struct hr_osnoise_single_noise *single_noise = &seen->single_noise;
    print_time(file, "{\"time_s\":", &seen->time);
    fprintf(file, ",\"cpu\":%u", single_noise->cpu);
    json_print_count(file, ",\"duration_ns\":", true, single_noise->duration_ns);
    json_print_count(file, ",\"interference_count\":", true, single_noise->interference_count);
    fputs(",\"parts\":[", file);
    for (size_t i = 0; i < single_noise->part_count; i++) {
        if (i > 0)
            putc(',', file);
        print_part(file, &single_noise->parts[i]);
    }
    fprintf(file, "],\"parts_are_all\":%s}", single_noise->parts_are_all ? "true" : "false");
}

static void print_single_noises(FILE *file, const struct osnoise_report *report)
{
    const struct osnoise_totals *totals = report->totals;
    if (report->options->max_single_ns == 0) {
        fputs(",\"singles\":null,\"single_count\":null", file);
        return;
    }
    fputs(",\"singles\":[", file);
    for (size_t i = 0; i < totals->single_noise_count; i++) {
        if (i > 0)
            putc(',', file);
        print_single_noise(file, osnoise_totals_single_noise(totals, i));
    }
    json_print_count(file, "],\"single_count\":", true, totals->single_noise_total);
}

/* --- All ------------------------------------------------------------------ */

void osnoise_json_print(FILE *file, const struct osnoise_report *report)
{
    const struct hr_osnoise_options *options = report->options;
    const struct osnoise_totals *totals = report->totals;
    bool workload = options->mode == HR_OSNOISE_WORKLOAD || options->mode == HR_OSNOISE_HARDWARE;
    bool timerlat = options->mode == HR_OSNOISE_TIMERLAT;

    print_time(file, "{\"begin_s\":", &report->begin);
    print_time(file, ",\"end_s\":", &report->end);
    print_seconds(file, ",\"elapsed_s\":", true, (double)totals->elapsed_ns / HR_NS_PER_S);
    json_print_text(file, ",\"mode\":", hr_osnoise_mode_name(options->mode));
    print_seconds(file, ",\"period_s\":", workload || timerlat,
                  (double)hr_osnoise_period_us(options) / HR_US_PER_S);
    print_seconds(file, ",\"runtime_s\":", workload, (double)options->runtime_us / HR_US_PER_S);
    print_seconds(file, ",\"threshold_s\":", workload, (double)options->threshold_us / HR_US_PER_S);
    print_seconds(file, ",\"max_single_s\":", options->max_single_ns > 0,
                  (double)options->max_single_ns / HR_NS_PER_S);
    print_seconds(file, ",\"max_latency_s\":", report->max_latency_ns > 0,
                  (double)report->max_latency_ns / HR_NS_PER_S);
    print_cpus(file, report);
    json_print_count(file, ",\"dropped_count\":", report->sources > 0, totals->dropped_count);
    print_single_noises(file, report);
    json_print_text(file, ",\"ended\":", report->ended);
    json_print_text(file, ",\"warning\":", report->warning);
    fputs("}\n", file);
}
