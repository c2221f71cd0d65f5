/* SPDX-License-Identifier: MIT */
#include "room/trend.h"

#include <errno.h>
#include <math.h>

#define PAIRS (HR_TREND_POINTS * (HR_TREND_POINTS - 1) / 2)

/* Of the normal distribution, for a two-sided interval of 90 %. */
#define QUANTILE_95 1.6449

/* Of the points, how many lie below the level. */
#define ENVELOPE 0.9

/* --- Order statistics ------------------------------------------------------- */

static void swap(double *a, double *b)
{
    double kept = *a;

    *a = *b;
    *b = kept;
}

/* Reorders, so that the value at an index is the one that sorting would put there (Wirth). */
static double select_at(double *values, size_t count, size_t index)
{
    ptrdiff_t first = 0, last = (ptrdiff_t)count - 1, wanted = (ptrdiff_t)index;

    while (first < last) {
        const double pivot = values[wanted];
        ptrdiff_t up = first, down = last;
        while (up <= down) {
            while (values[up] < pivot)
                up++;
            while (values[down] > pivot)
                down--;
            if (up <= down)
                swap(&values[up++], &values[down--]);
        }
        if (down < wanted)
            first = up;
        if (wanted < up)
            last = down;
    }
    return values[index];
}

static double median(double *values, size_t count)
{
    double upper = select_at(values, count, count / 2);

    return count % 2 == 1 ? upper : (upper + select_at(values, count, count / 2 - 1)) / 2;
}

/* --- Slopes ------------------------------------------------------------------ */

/* @param known  receives the number of points. @return the number of slopes. */
static size_t list_slopes(const float *points, size_t count, double slopes[PAIRS], size_t *known)
{
    size_t listed = 0;

    *known = 0;
    for (size_t i = 0; i < count; i++) {
        *known += !isnan(points[i]);
        for (size_t j = i + 1; j < count && !isnan(points[i]); j++)
            if (!isnan(points[j]))
                slopes[listed++] = ((double)points[j] - (double)points[i]) / (double)(j - i);
    }
    return listed;
}

static int check_count(size_t known, size_t count)
{
    return known < 2 || 3 * known < 2 * count ? -ENODATA : 0;
}

int hr_trend_slope(const float *points, size_t count, double *slope)
{
    double slopes[PAIRS];
    size_t known, listed = list_slopes(points, count, slopes, &known);

    if (check_count(known, count) < 0)
        return -ENODATA;
    *slope = median(slopes, listed);
    return 0;
}

/* --- Interval and level -------------------------------------------------------- */

/* Sen's: as many slopes to either side of the median as Kendall's tau of n points without a trend
 * would differ from 0 in nine of ten cases. */
static void bound_slope(double *slopes, size_t listed, size_t points, struct hr_trend *trend)
{
    double n = (double)points;
    double differ = QUANTILE_95 * sqrt(n * (n - 1) * (2 * n + 5) / 18);
    double low = floor(((double)listed - differ) / 2), high = ceil(((double)listed + differ) / 2);

    trend->low = select_at(slopes, listed, low > 0 ? (size_t)low : 0);
    trend->high = select_at(slopes, listed, high < (double)listed ? (size_t)high : listed - 1);
}

static double level_at_end(const float *points, size_t count, double slope)
{
    double levels[HR_TREND_POINTS];
    size_t known = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(points[i]))
            levels[known++] = (double)points[i] + slope * (double)(count - 1 - i);
    return select_at(levels, known, (size_t)(ENVELOPE * (double)(known - 1) + 0.5));
}

int hr_trend_fit(const float *points, size_t count, struct hr_trend *trend)
{
    double slopes[PAIRS];
    size_t known, listed = list_slopes(points, count, slopes, &known);

    if (check_count(known, count) < 0)
        return -ENODATA;
    trend->slope = median(slopes, listed);
    bound_slope(slopes, listed, known, trend);
    trend->level = level_at_end(points, count, trend->slope);
    return 0;
}
