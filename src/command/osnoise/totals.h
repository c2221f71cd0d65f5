/* SPDX-License-Identifier: MIT */
/*
 * osnoise/totals.h - readings of operating system noise, added up.
 *
 * Sums have 64 bits: in microseconds and nanoseconds enough for centuries.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_TOTALS_H
#define HEADROOM_COMMAND_OSNOISE_TOTALS_H

#include <time.h>

#include "headroom/osnoise.h"

/** Sources beyond this number are counted without a name: threads come and go under new ones. */
#define OSNOISE_SOURCES_MAX 32768

/** The number of single noises that are kept, the last ones. */
#define OSNOISE_SINGLE_NOISES_MAX 1000

#define OSNOISE_BUCKETS HR_OSNOISE_LATENCY_BUCKETS

/** Noise of several sources together. */
struct osnoise_sum {
    uint64_t source_count; /**< the number of sources, where known */
    uint64_t count;
    uint64_t duration_ns;
};

struct osnoise_cpu_total {
    struct hr_osnoise_cpu sums; /**< maxima are maxima, and the state is the last */
    uint64_t elapsed_ns;        /**< while it wasn't offline */
    /** Of the readings that have sources: what the sources' shares refer to. */
    uint64_t sources_runtime_us, sources_elapsed_ns;
    bool has_sources;        /**< at least one reading has them */
    struct osnoise_sum rest; /**< of sources beyond OSNOISE_SOURCES_MAX, or without a name */
    /** The number of single noises above 2^i ns, up to twice that. */
    uint64_t buckets[OSNOISE_BUCKETS];
    struct hr_osnoise_latency latencies[HR_OSNOISE_CONTEXT_COUNT];
};

/** A single noise, and when it was read. */
struct osnoise_timed_noise {
    struct timespec time;
    struct hr_osnoise_single_noise single_noise;
};

/** All zeros is empty. Members are read-only for users. */
struct osnoise_totals {
    uint64_t reading_count;
    bool lacks_samples; /**< as the readings say */
    uint64_t elapsed_ns;
    struct osnoise_cpu_total *cpus; /**< by number */
    size_t cpu_count, cpu_capacity;
    uint64_t dropped_count;
    uint64_t missing_count; /**< readings without sources though they are counted */
    struct hr_osnoise_source *sources;
    size_t source_count, source_capacity;
    uint32_t *slots; /**< a hash table of indices into sources, plus 1 */
    size_t slot_count;
    struct osnoise_timed_noise *single_noises; /**< a ring */
    size_t single_noise_count, single_noise_first, single_noise_capacity;
    uint64_t single_noise_total; /**< all of them, even those that weren't kept */
};

/**
 * Adds a reading.
 *
 * @param time  when it was read.
 * @return 0 or -ENOMEM, with a part of it added.
 */
int osnoise_totals_add(struct osnoise_totals *totals, const struct hr_osnoise_reading *reading,
                       const struct timespec *time);

/** Frees what it holds, and empties it. */
void osnoise_totals_free(struct osnoise_totals *totals);

/** @return a single noise that is kept, the oldest first. */
const struct osnoise_timed_noise *osnoise_totals_single_noise(const struct osnoise_totals *totals,
                                                              size_t index);

/** Adds a CPU to others, as one. The number and the state of the sum are left. */
void osnoise_cpu_total_add(struct osnoise_cpu_total *sum, const struct osnoise_cpu_total *cpu);

/** Whether any CPU had a sample. */
bool osnoise_totals_sampled(const struct osnoise_totals *totals);

/** @return the longest latency of all CPUs, in any context; 0: there was none. */
uint64_t osnoise_totals_max_latency(const struct osnoise_totals *totals);

/** Sorts the sources: by CPU, on each the longest first; among equals by kind and name. */
void osnoise_totals_sort(struct osnoise_totals *totals);

/**
 * Finds the sources of a CPU with the most noise. To be called after osnoise_totals_sort().
 *
 * @param most   the maximum number.
 * @param first  receives the first of them; the others follow it.
 * @param other  receives the sum of all others.
 * @return their number.
 */
size_t osnoise_totals_top(const struct osnoise_totals *totals, const struct osnoise_cpu_total *cpu,
                          size_t most, const struct hr_osnoise_source **first,
                          struct osnoise_sum *other);

/**
 * Computes how much of the time in which the kernel looked for noise was without noise, in
 * 100,000ths of a percent, rounded down as the kernel does, so that 100 % is no noise at all.
 *
 * @return 0, or -ENODATA if there was no such time.
 */
int osnoise_available(const struct hr_osnoise_cpu *sums, uint64_t *share);

/**
 * Computes the share of a source, in 100,000ths of a percent: of the time in which the kernel
 * looked for noise, or without a workload, of all time.
 *
 * @return 0, or -ENODATA if that time is unknown.
 */
int osnoise_share(const struct osnoise_cpu_total *cpu, enum hr_osnoise_mode mode,
                  uint64_t duration_ns, uint64_t *share);

/**
 * Finds what so many of a thousand durations don't exceed: as their histogram has it, the least
 * power of two.
 *
 * @param buckets    [i]: how many were above 2^i ns, up to twice that.
 * @param per_mille  1 to 1000.
 * @return 0, or -ENODATA if there was none.
 */
int osnoise_percentile(const uint64_t buckets[OSNOISE_BUCKETS], unsigned per_mille,
                       uint64_t *duration_ns);

#endif
