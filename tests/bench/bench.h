/* SPDX-License-Identifier: MIT */
/*
 * bench/bench.h - what the benchmarks share: failures, clocks, sleeping, scenarios, medians.
 */
#ifndef HEADROOM_TESTS_BENCH_H
#define HEADROOM_TESTS_BENCH_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/** Ends the program with the text of errno unless a condition holds. */
static inline void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/** Reads a clock: CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID. */
static inline double read_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static inline double read_ms(clockid_t clock)
{
    return read_us(clock) / 1e3;
}

/** Sleeps until a time of CLOCK_MONOTONIC, in ns. */
static inline void sleep_until(uint64_t time_ns)
{
    const struct timespec time = {(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

/** Whether a scenario is among the arguments, behind the first; without any only the usual one is
 * wanted. */
static inline bool is_wanted(const char *name, int argc, char **argv, const char *usual)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc <= 2 && strcmp(name, usual) == 0;
}

/** The order of doubles, for qsort(3). */
static inline int by_value(const void *a, const void *b)
{
    const double *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

/** The median; sorts the values. */
static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

#endif
