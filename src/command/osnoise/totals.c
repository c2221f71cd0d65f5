/* SPDX-License-Identifier: MIT */
#include "osnoise/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/array.h"
#include "headroom/hash.h"

#define SHARE_WHOLE 10000000 /* 100 %, in 100,000ths of a percent */

/* --- CPUs ----------------------------------------------------------------- */

/* The index of a CPU, or where to insert it. */
static size_t find_place(const struct osnoise_totals *totals, unsigned cpu)
{
    return HR_ARRAY_FIND_FIRST(totals->cpu_count, i, totals->cpus[i].sums.cpu < cpu);
}

static struct osnoise_cpu_total *find_or_add_cpu(struct osnoise_totals *totals, unsigned cpu)
{
    size_t place = find_place(totals, cpu);
    if (place < totals->cpu_count && totals->cpus[place].sums.cpu == cpu)
        return &totals->cpus[place];
    if (HR_ARRAY_RESERVE(totals->cpus, totals->cpu_capacity, totals->cpu_count + 1) < 0)
        return NULL;
    struct osnoise_cpu_total *total = &totals->cpus[place];
    memmove(total + 1, total, (totals->cpu_count - place) * sizeof(*total));
    *total = (struct osnoise_cpu_total){.sums = {.cpu = cpu}};
    totals->cpu_count++;
    return total;
}

static uint64_t larger_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_sums(struct hr_osnoise_cpu *sums, const struct hr_osnoise_cpu *cpu)
{
    sums->sample_count += cpu->sample_count;
    sums->runtime_us += cpu->runtime_us;
    sums->noise_us += cpu->noise_us;
    sums->max_single_us = larger_of(sums->max_single_us, cpu->max_single_us);
    sums->max_period_us = larger_of(sums->max_period_us, cpu->max_period_us);
    sums->hw_count += cpu->hw_count;
    sums->nmi_count += cpu->nmi_count;
    sums->irq_count += cpu->irq_count;
    sums->softirq_count += cpu->softirq_count;
    sums->thread_count += cpu->thread_count;
    sums->lost_count += cpu->lost_count;
    sums->single_count += cpu->single_count;
}

static void add_cpu(struct osnoise_cpu_total *total, const struct hr_osnoise_cpu *cpu,
                    const struct hr_osnoise_reading *reading)
{
    total->sums.state = cpu->state;
    add_sums(&total->sums, cpu);
    if (cpu->state == HR_OSNOISE_CPU_OFFLINE)
        return;
    total->elapsed_ns += reading->elapsed_ns;
    if (!reading->has_sources)
        return;
    total->has_sources = true;
    total->sources_runtime_us += cpu->runtime_us;
    total->sources_elapsed_ns += reading->elapsed_ns;
}

static void add_latencies(struct osnoise_cpu_total *total,
                          const struct hr_osnoise_cpu_latencies *latencies)
{
    for (int context = 0; context < HR_OSNOISE_CONTEXT_COUNT; context++)
        hr_osnoise_latency_add(&total->latencies[context], &latencies->of[context]);
}

void osnoise_cpu_total_add(struct osnoise_cpu_total *sum, const struct osnoise_cpu_total *cpu)
{
    add_sums(&sum->sums, &cpu->sums);
    sum->elapsed_ns += cpu->elapsed_ns;
    sum->sources_runtime_us += cpu->sources_runtime_us;
    sum->sources_elapsed_ns += cpu->sources_elapsed_ns;
    sum->has_sources |= cpu->has_sources;
    sum->rest.source_count += cpu->rest.source_count;
    sum->rest.count += cpu->rest.count;
    sum->rest.duration_ns += cpu->rest.duration_ns;
    for (int power = 0; power < OSNOISE_BUCKETS; power++)
        sum->buckets[power] += cpu->buckets[power];
    for (int context = 0; context < HR_OSNOISE_CONTEXT_COUNT; context++)
        hr_osnoise_latency_add(&sum->latencies[context], &cpu->latencies[context]);
}

static int add_cpus(struct osnoise_totals *totals, const struct hr_osnoise_reading *reading)
{
    for (size_t i = 0; i < reading->cpu_count; i++) {
        struct osnoise_cpu_total *total = find_or_add_cpu(totals, reading->cpus[i].cpu);
        if (total == NULL)
            return -ENOMEM;
        add_cpu(total, &reading->cpus[i], reading);
        if (reading->latencies != NULL)
            add_latencies(total, &reading->latencies[i]);
    }
    return 0;
}

static int add_buckets(struct osnoise_totals *totals, const struct hr_osnoise_reading *reading)
{
    for (size_t i = 0; i < reading->bucket_count; i++) {
        const struct hr_osnoise_bucket *bucket = &reading->buckets[i];
        struct osnoise_cpu_total *total = find_or_add_cpu(totals, bucket->cpu);
        if (total == NULL)
            return -ENOMEM;
        /* The lower limit is a power of two; 0 is counted with 1. */
        int power = bucket->lower_ns > 0 ? 63 - __builtin_clzll(bucket->lower_ns) : 0;
        total->buckets[power] += bucket->count;
    }
    return 0;
}

/* --- Sources -------------------------------------------------------------- */

static uint32_t hash_source(const struct hr_osnoise_source *source)
{
    uint32_t sum = hr_hash_number(HR_HASH_EMPTY, source->cpu);
    sum = hr_hash_number(sum, source->kind);
    return hr_hash_slot(hr_hash_text(sum, source->name));
}

static bool is_same(const struct hr_osnoise_source *a, const struct hr_osnoise_source *b)
{
    return a->cpu == b->cpu && a->kind == b->kind && strcmp(a->name, b->name) == 0;
}

/* The slot of a source, or a free one. There always is one: at most half are used. */
static uint32_t *find_slot(const struct osnoise_totals *totals,
                           const struct hr_osnoise_source *source)
{
    size_t mask = totals->slot_count - 1;
    for (size_t i = hash_source(source) & mask;; i = (i + 1) & mask)
        if (totals->slots[i] == 0 || is_same(&totals->sources[totals->slots[i] - 1], source))
            return &totals->slots[i];
}

static void fill_slots(struct osnoise_totals *totals)
{
    memset(totals->slots, 0, totals->slot_count * sizeof(*totals->slots));
    for (size_t i = 0; i < totals->source_count; i++)
        *find_slot(totals, &totals->sources[i]) = (uint32_t)(i + 1);
}

static int grow_slots(struct osnoise_totals *totals)
{
    if (2 * (totals->source_count + 1) <= totals->slot_count)
        return 0;
    size_t count = totals->slot_count > 0 ? 2 * totals->slot_count : 256;
    uint32_t *slots = reallocarray(totals->slots, count, sizeof(*slots));
    if (slots == NULL)
        return -ENOMEM;
    totals->slots = slots;
    totals->slot_count = count;
    fill_slots(totals);
    return 0;
}

static int add_to_rest(struct osnoise_totals *totals, const struct hr_osnoise_source *source)
{
    struct osnoise_cpu_total *total = find_or_add_cpu(totals, source->cpu);
    if (total == NULL)
        return -ENOMEM;
    total->rest.count += source->count;
    total->rest.duration_ns += source->duration_ns;
    return 0;
}

static int add_new_source(struct osnoise_totals *totals, const struct hr_osnoise_source *source)
{
    if (totals->source_count == OSNOISE_SOURCES_MAX || source->name[0] == '\0')
        return add_to_rest(totals, source);
    if (HR_ARRAY_RESERVE(totals->sources, totals->source_capacity, totals->source_count + 1) < 0)
        return -ENOMEM;
    totals->sources[totals->source_count++] = *source;
    *find_slot(totals, source) = (uint32_t)totals->source_count;
    return 0;
}

static int add_sources(struct osnoise_totals *totals, const struct hr_osnoise_reading *reading)
{
    for (size_t i = 0; i < reading->source_count; i++) {
        const struct hr_osnoise_source *source = &reading->sources[i];
        if (grow_slots(totals) != 0)
            return -ENOMEM;
        uint32_t slot = *find_slot(totals, source);
        if (slot > 0) {
            totals->sources[slot - 1].count += source->count;
            totals->sources[slot - 1].duration_ns += source->duration_ns;
        } else if (add_new_source(totals, source) != 0) {
            return -ENOMEM;
        }
    }
    totals->dropped_count += reading->dropped_count;
    totals->missing_count += !reading->has_sources;
    return 0;
}

/* --- Single noises -------------------------------------------------------- */

static int add_single_noise(struct osnoise_totals *totals,
                            const struct hr_osnoise_single_noise *single_noise,
                            const struct timespec *time)
{
    const struct osnoise_timed_noise seen = {.time = *time, .single_noise = *single_noise};
    if (totals->single_noise_count == OSNOISE_SINGLE_NOISES_MAX) {
        totals->single_noises[totals->single_noise_first] = seen;
        totals->single_noise_first = (totals->single_noise_first + 1) % OSNOISE_SINGLE_NOISES_MAX;
        return 0;
    }
    if (HR_ARRAY_RESERVE(totals->single_noises, totals->single_noise_capacity,
                         totals->single_noise_count + 1) < 0)
        return -ENOMEM;
    totals->single_noises[totals->single_noise_count++] = seen;
    return 0;
}

static int add_single_noises(struct osnoise_totals *totals,
                             const struct hr_osnoise_reading *reading, const struct timespec *time)
{
    for (size_t i = 0; i < reading->single_noise_count; i++)
        if (add_single_noise(totals, &reading->single_noises[i], time) != 0)
            return -ENOMEM;
    totals->single_noise_total += reading->single_noise_count + reading->single_noise_more_count;
    return 0;
}

const struct osnoise_timed_noise *osnoise_totals_single_noise(const struct osnoise_totals *totals,
                                                              size_t index)
{
    return &totals
                ->single_noises[(totals->single_noise_first + index) % totals->single_noise_count];
}

/* --- All ------------------------------------------------------------------ */

int osnoise_totals_add(struct osnoise_totals *totals, const struct hr_osnoise_reading *reading,
                       const struct timespec *time)
{
    totals->reading_count++;
    totals->lacks_samples = reading->lacks_samples;
    totals->elapsed_ns += reading->elapsed_ns;
    int status = add_cpus(totals, reading);
    if (status == 0)
        status = add_sources(totals, reading);
    if (status == 0)
        status = add_buckets(totals, reading);
    if (status == 0)
        status = add_single_noises(totals, reading, time);
    return status;
}

void osnoise_totals_free(struct osnoise_totals *totals)
{
    free(totals->cpus);
    free(totals->sources);
    free(totals->slots);
    free(totals->single_noises);
    *totals = (struct osnoise_totals){0};
}

bool osnoise_totals_sampled(const struct osnoise_totals *totals)
{
    for (size_t i = 0; i < totals->cpu_count; i++)
        if (totals->cpus[i].sums.sample_count > 0)
            return true;
    return false;
}

uint64_t osnoise_totals_max_latency(const struct osnoise_totals *totals)
{
    uint64_t max_ns = 0;
    for (size_t i = 0; i < totals->cpu_count; i++)
        for (int context = 0; context < HR_OSNOISE_CONTEXT_COUNT; context++)
            max_ns = larger_of(max_ns, totals->cpus[i].latencies[context].max_ns);
    return max_ns;
}

/* --- The largest sources -------------------------------------------------- */

static int compare_sources(const void *left, const void *right)
{
    const struct hr_osnoise_source *a = left, *b = right;
    if (a->cpu != b->cpu)
        return a->cpu < b->cpu ? -1 : 1;
    if (a->duration_ns != b->duration_ns)
        return a->duration_ns > b->duration_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return strcmp(a->name, b->name);
}

void osnoise_totals_sort(struct osnoise_totals *totals)
{
    if (totals->source_count == 0)
        return;
    qsort(totals->sources, totals->source_count, sizeof(*totals->sources), compare_sources);
    fill_slots(totals);
}

/* The index of the first source of a CPU, or of one above it. */
static size_t find_first_source(const struct osnoise_totals *totals, unsigned cpu)
{
    return HR_ARRAY_FIND_FIRST(totals->source_count, i, totals->sources[i].cpu < cpu);
}

size_t osnoise_totals_top(const struct osnoise_totals *totals, const struct osnoise_cpu_total *cpu,
                          size_t most, const struct hr_osnoise_source **first,
                          struct osnoise_sum *other)
{
    size_t begin = find_first_source(totals, cpu->sums.cpu), count = 0;
    *first = totals->sources != NULL ? totals->sources + begin : NULL;
    *other = cpu->rest;
    for (size_t i = begin; i < totals->source_count; i++) {
        const struct hr_osnoise_source *source = &totals->sources[i];
        if (source->cpu != cpu->sums.cpu)
            break;
        if (count < most) {
            count++;
            continue;
        }
        other->source_count++;
        other->count += source->count;
        other->duration_ns += source->duration_ns;
    }
    return count;
}

/* --- Shares --------------------------------------------------------------- */

/* 64 bits would overflow after three weeks of microseconds. */
static uint64_t share_of(uint64_t part, unsigned __int128 whole)
{
    return (uint64_t)((unsigned __int128)part * SHARE_WHOLE / whole);
}

int osnoise_available(const struct hr_osnoise_cpu *sums, uint64_t *share)
{
    if (sums->runtime_us == 0)
        return -ENODATA;
    uint64_t noise_us = sums->noise_us < sums->runtime_us ? sums->noise_us : sums->runtime_us;
    *share = share_of(sums->runtime_us - noise_us, sums->runtime_us);
    return 0;
}

int osnoise_share(const struct osnoise_cpu_total *cpu, enum hr_osnoise_mode mode,
                  uint64_t duration_ns, uint64_t *share)
{
    unsigned __int128 whole_ns = mode == HR_OSNOISE_SOURCES
                                     ? cpu->sources_elapsed_ns
                                     : (unsigned __int128)1000 * cpu->sources_runtime_us;
    if (whole_ns == 0)
        return -ENODATA;
    *share = share_of(duration_ns, whole_ns);
    return 0;
}

/* --- Percentiles ---------------------------------------------------------- */

int osnoise_percentile(const uint64_t buckets[OSNOISE_BUCKETS], unsigned per_mille,
                       uint64_t *duration_ns)
{
    const int power = hr_osnoise_percentile(buckets, OSNOISE_BUCKETS, per_mille);

    if (power < 0)
        return power;
    *duration_ns = power < OSNOISE_BUCKETS - 1 ? UINT64_C(2) << power : UINT64_MAX;
    return 0;
}
