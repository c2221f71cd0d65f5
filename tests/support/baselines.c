/* SPDX-License-Identifier: MIT */
#include "support/baselines.h"

#include <math.h>
#include <stdlib.h>

#define MARGIN 1.15

/* --- When a level will reach its limit --------------------------------------------- */

double least_squares_left(struct least_squares *past, double level, double limit)
{
    const size_t samples = LEAST_SQUARES_SAMPLES;
    const double middle = (double)(samples - 1) / 2;
    double sum = 0, weighted = 0, squares = 0;

    past->levels[past->count++ % samples] = level;
    if (past->count < samples)
        return INFINITY;
    for (size_t i = 0; i < samples; i++) {
        const double x = (double)i - middle, y = past->levels[(past->count + i) % samples];
        sum += y;
        weighted += x * y;
        squares += x * x;
    }
    const double slope = weighted / squares;
    const double end = sum / (double)samples + slope * middle;
    if (slope <= 0)
        return INFINITY;
    return fmax((limit - end) / slope, 0);
}

bool least_squares_expects(struct least_squares *past, double level, double limit)
{
    return least_squares_left(past, level, limit) <= 4.0 * LEAST_SQUARES_SAMPLES;
}

/* --- How much a group needs -------------------------------------------------------- */

void baseline_peaks_add(struct baseline_peaks *past, double t, double bytes)
{
    const size_t part = (size_t)(t / past->part_s);

    if (part >= BASELINE_PEAKS)
        abort();
    past->count = part + 1;
    past->peaks[part] = fmax(past->peaks[part], bytes);
}

struct weighted {
    double value, weight;
};

static int by_value(const void *a, const void *b)
{
    const struct weighted *left = a, *right = b;

    return (left->value > right->value) - (left->value < right->value);
}

/* Of which each part of the half-life doubles the weight. */
static double percentile(const struct baseline_peaks *past, double half_life_s, double share)
{
    static struct weighted sorted[BASELINE_PEAKS];
    double all = 0, below = 0;

    for (size_t i = 0; i < past->count; i++) {
        sorted[i] = (struct weighted){past->peaks[i], exp2((double)i * past->part_s / half_life_s)};
        all += sorted[i].weight;
    }
    qsort(sorted, past->count, sizeof(sorted[0]), by_value);
    for (size_t i = 0; i < past->count; i++) {
        below += sorted[i].weight;
        if (below >= share * all)
            return sorted[i].value;
    }
    return past->count > 0 ? sorted[past->count - 1].value : 0;
}

/* The end of a value's bucket; the first has 10^7 bytes. */
static double bucket_end(double bytes)
{
    double end = 0, width = 1e7;

    for (; end <= bytes; width *= 1.05)
        end += width;
    return end;
}

double baseline_vpa(const struct baseline_peaks *days)
{
    return MARGIN * bucket_end(percentile(days, days->part_s, 0.9));
}

double baseline_autopilot(const struct baseline_peaks *parts)
{
    return MARGIN * percentile(parts, 48 * 3600.0, 0.98);
}
