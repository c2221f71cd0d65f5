/* SPDX-License-Identifier: MIT */
#include "osnoise/values.h"

#include "common/complaint.h"
#include "common/ranking.h"
#include "common/submit.h"
#include "headroom/array.h"
#include "osnoise/buckets.h"
#include "osnoise/latency_series.h"
#include "osnoise/source_series.h"
#include "utils/common/common.h"

#define PLUGIN "osnoise"

/* Counters of a CPU in a reading, whose series need samples. */
static const struct {
    const char *type, *series;
    size_t offset; /* in struct hr_osnoise_cpu */
} counters[] = {
    {"derive", "runtime_us", offsetof(struct hr_osnoise_cpu, runtime_us)},
    {"derive", "noise_us", offsetof(struct hr_osnoise_cpu, noise_us)},
    {"total_operations", "hw", offsetof(struct hr_osnoise_cpu, hw_count)},
    {"total_operations", "nmi", offsetof(struct hr_osnoise_cpu, nmi_count)},
    {"total_operations", "irq", offsetof(struct hr_osnoise_cpu, irq_count)},
    {"total_operations", "softirq", offsetof(struct hr_osnoise_cpu, softirq_count)},
    {"total_operations", "thread", offsetof(struct hr_osnoise_cpu, thread_count)},
};

#define COUNTERS STATIC_ARRAY_SIZE(counters)

struct cpu {
    unsigned cpu;
    char instance[16]; /* "cpu3" */

    /* Of the current interval. */
    bool was_read;    /* was part of a reading */
    bool was_online;  /* in one of the readings */
    bool has_sources; /* a reading had sources */
    uint64_t sample_count, runtime_us, noise_us, max_single_us, max_period_us;

    /* Since the beginning. */
    uint64_t totals[COUNTERS];
    uint64_t lost_count;
    struct osnoise_buckets buckets;
    struct ranking *ranking;                  /* NULL: not by source */
    struct osnoise_latency_series *latencies; /* NULL: none */
};

struct osnoise_values {
    struct osnoise_values_options options;
    pthread_mutex_t lock;
    struct cpu **cpus; /* by number */
    size_t cpu_count, cpu_capacity;
    bool lacks_samples; /* as the last reading said */
    struct complaint shortage;
};

struct osnoise_values *osnoise_values_new(const struct osnoise_values_options *options)
{
    struct osnoise_values *values = calloc(1, sizeof(*values));

    if (values == NULL)
        return NULL;
    values->options = *options;
    pthread_mutex_init(&values->lock, NULL);
    return values;
}

static void free_cpu(struct cpu *cpu)
{
    ranking_free(cpu->ranking);
    free(cpu->latencies);
    free(cpu);
}

void osnoise_values_free(struct osnoise_values *values)
{
    if (values == NULL)
        return;
    for (size_t i = 0; i < values->cpu_count; i++)
        free_cpu(values->cpus[i]);
    free(values->cpus);
    pthread_mutex_destroy(&values->lock);
    free(values);
}

/* --- CPUs ----------------------------------------------------------------- */

/* The index of a CPU, or where to insert it. */
static size_t find_place(const struct osnoise_values *values, unsigned number)
{
    return HR_ARRAY_FIND_FIRST(values->cpu_count, i, values->cpus[i]->cpu < number);
}

static struct cpu *find_cpu(const struct osnoise_values *values, unsigned number)
{
    size_t place = find_place(values, number);

    return place < values->cpu_count && values->cpus[place]->cpu == number ? values->cpus[place]
                                                                           : NULL;
}

static struct cpu *create_cpu(const struct osnoise_values *values, unsigned number)
{
    const struct osnoise_values_options *options = &values->options;
    struct cpu *cpu = calloc(1, sizeof(*cpu));

    if (cpu == NULL)
        return NULL;
    cpu->cpu = number;
    snprintf(cpu->instance, sizeof(cpu->instance), "cpu%u", number);
    if (options->by_source)
        cpu->ranking = ranking_new(options->top);
    if (options->has_latencies)
        cpu->latencies = calloc(1, sizeof(*cpu->latencies));
    if ((cpu->ranking != NULL) == options->by_source &&
        (cpu->latencies != NULL) == options->has_latencies)
        return cpu;
    free_cpu(cpu);
    return NULL;
}

static struct cpu *insert_cpu(struct osnoise_values *values, unsigned number)
{
    const size_t place = find_place(values, number);
    struct cpu *cpu = create_cpu(values, number);

    if (cpu == NULL ||
        HR_ARRAY_RESERVE(values->cpus, values->cpu_capacity, values->cpu_count + 1) < 0) {
        if (cpu != NULL)
            free_cpu(cpu);
        complaint_log(&values->shortage, LOG_ERR, 1,
                      PLUGIN ": some CPUs are left out: out of memory.");
        return NULL;
    }
    struct cpu **at = &values->cpus[place];
    memmove(at + 1, at, (values->cpu_count - place) * sizeof(*at));
    *at = cpu;
    values->cpu_count++;
    return cpu;
}

/* --- Adding --------------------------------------------------------------- */

static uint64_t larger_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_cpu(struct osnoise_values *values, const struct hr_osnoise_cpu *of,
                    bool has_sources)
{
    struct cpu *cpu = find_cpu(values, of->cpu);

    if (cpu == NULL)
        cpu = insert_cpu(values, of->cpu);
    if (cpu == NULL)
        return;
    cpu->was_read = true;
    cpu->was_online = cpu->was_online || of->state != HR_OSNOISE_CPU_OFFLINE;
    cpu->has_sources = cpu->has_sources || has_sources;
    cpu->sample_count += of->sample_count;
    cpu->runtime_us += of->runtime_us;
    cpu->noise_us += of->noise_us;
    cpu->max_single_us = larger_of(cpu->max_single_us, of->max_single_us);
    cpu->max_period_us = larger_of(cpu->max_period_us, of->max_period_us);
    cpu->lost_count += of->lost_count;
    for (size_t i = 0; i < COUNTERS; i++)
        cpu->totals[i] += *(const uint64_t *)((const char *)of + counters[i].offset);
}

static void add_source(struct osnoise_values *values, const struct hr_osnoise_source *source)
{
    struct cpu *cpu = find_cpu(values, source->cpu);
    char series[OSNOISE_SERIES];

    if (cpu == NULL || cpu->ranking == NULL)
        return;
    if (source->name[0] == '\0') {
        ranking_add_other(cpu->ranking, source->duration_ns);
        return;
    }
    osnoise_source_series(source, series);
    ranking_add(cpu->ranking, series, source->duration_ns);
}

static void add_bucket(struct osnoise_values *values, const struct hr_osnoise_bucket *bucket)
{
    struct cpu *cpu = find_cpu(values, bucket->cpu);

    if (cpu != NULL)
        osnoise_buckets_add(&cpu->buckets, bucket->lower_ns, bucket->count);
}

static void add_latencies(struct osnoise_values *values,
                          const struct hr_osnoise_cpu_latencies *latencies)
{
    struct cpu *cpu = find_cpu(values, latencies->cpu);

    if (cpu != NULL && cpu->latencies != NULL)
        osnoise_latency_series_add(cpu->latencies, latencies);
}

void osnoise_values_add(struct osnoise_values *values, const struct hr_osnoise_reading *reading)
{
    pthread_mutex_lock(&values->lock);
    values->lacks_samples = reading->lacks_samples;
    for (size_t i = 0; i < reading->cpu_count; i++)
        add_cpu(values, &reading->cpus[i], reading->has_sources);
    for (size_t i = 0; i < reading->source_count; i++)
        add_source(values, &reading->sources[i]);
    for (size_t i = 0; i < reading->bucket_count; i++)
        add_bucket(values, &reading->buckets[i]);
    for (size_t i = 0; reading->latencies != NULL && i < reading->cpu_count; i++)
        add_latencies(values, &reading->latencies[i]);
    pthread_mutex_unlock(&values->lock);
}

/* --- Publishing ----------------------------------------------------------- */

static void submit_samples(const struct submission *submission, const struct cpu *cpu)
{
    const double available = (double)cpu->runtime_us - (double)cpu->noise_us;

    if (cpu->runtime_us > 0)
        submit_gauge(submission, "percent", "available",
                     available > 0 ? 100 * available / (double)cpu->runtime_us : 0);
    submit_gauge(submission, "duration", "max_single", (double)cpu->max_single_us / 1e6);
    submit_gauge(submission, "duration", "max_period", (double)cpu->max_period_us / 1e6);
    for (size_t i = 0; i < COUNTERS; i++)
        submit_derive(submission, counters[i].type, counters[i].series, (int64_t)cpu->totals[i]);
}

static void submit_sources(const struct submission *submission, struct cpu *cpu)
{
    const struct ranked_name *ranked;
    const size_t count = ranking_end(cpu->ranking, &ranked);

    for (size_t i = 0; i < count; i++)
        submit_derive(submission, "derive", ranked[i].text, (int64_t)(ranked[i].counted_ns / 1000));
    submit_derive(submission, "derive", "other_us",
                  (int64_t)(ranking_other_ns(cpu->ranking) / 1000));
}

static void reset_interval(struct cpu *cpu)
{
    cpu->was_online = cpu->has_sources = false;
    cpu->sample_count = cpu->runtime_us = cpu->noise_us = 0;
    cpu->max_single_us = cpu->max_period_us = 0;
}

static void publish_cpu(const struct osnoise_values *values, struct cpu *cpu, cdtime_t now)
{
    const bool has_samples = values->options.has_samples && !values->lacks_samples;
    struct submission submission = {
        .plugin = PLUGIN,
        .instance = cpu->instance,
        .time = now,
    };

    if (!cpu->was_read)
        return;
    cpu->was_read = false;
    submit_derive(&submission, "total_operations", "lost", (int64_t)cpu->lost_count);
    if (has_samples ? cpu->sample_count == 0 : !cpu->was_online)
        return; /* the sources are added to the next values */
    submission.interval = values->options.sample_interval;
    if (cpu->latencies != NULL)
        osnoise_latency_series_submit(cpu->latencies, &submission, values->options.histogram);
    else if (has_samples)
        submit_samples(&submission, cpu);
    osnoise_buckets_submit(&cpu->buckets, &submission, "noise");
    if (cpu->ranking != NULL && cpu->has_sources)
        submit_sources(&submission, cpu);
    reset_interval(cpu);
}

/* Publishing only adds values to collectd's queue, so that the lock isn't held for long. */
void osnoise_values_publish(struct osnoise_values *values)
{
    const cdtime_t now = cdtime();

    pthread_mutex_lock(&values->lock);
    for (size_t i = 0; i < values->cpu_count; i++)
        publish_cpu(values, values->cpus[i], now);
    pthread_mutex_unlock(&values->lock);
}
