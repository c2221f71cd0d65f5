/*
 * bench.h - what the benchmarks share: giving up, clocks, medians.
 */
#ifndef HEADROOM_TESTS_BENCH_H
#define HEADROOM_TESTS_BENCH_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Ends the program, telling errno, unless a condition holds. */
static inline void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/** The order of doubles, for qsort(3). */
static inline int by_value(const void *a, const void *b)
{
    const double *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

/** The median; the values are sorted. */
static inline double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

#endif
