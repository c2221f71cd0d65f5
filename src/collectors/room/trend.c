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

static void swap_values(double *a, double *b)
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
                swap_values(&values[up++], &values[down--]);
        }
        if (down < wanted)
            first = up;
        if (wanted < up)
            last = down;
    }
    return values[index];
}

static double find_largest(const double *values, size_t count)
{
    double found = values[0];

    for (size_t i = 1; i < count; i++)
        found = values[i] > found ? values[i] : found;
    return found;
}

/* Leaves what is smaller in the first half, and the rest in the other. */
static double find_median(double *values, size_t count)
{
    const double upper = select_at(values, count, count / 2);

    return count % 2 == 1 ? upper : (upper + find_largest(values, count / 2)) / 2;
}

/* --- Slopes ------------------------------------------------------------------ */

/* @param known  receives the number of points. @return the number of slopes. */
static size_t list_slopes(const float *points, size_t count, double slopes[PAIRS], size_t *known)
{
    size_t places[HR_TREND_POINTS], listed = 0, found = 0;

    for (size_t i = 0; i < count; i++) {
        if (isnan(points[i]))
            continue;
        for (size_t j = 0; j < found; j++)
            slopes[listed++] =
                ((double)points[i] - (double)points[places[j]]) / (double)(i - places[j]);
        places[found++] = i;
    }
    *known = found;
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
    *slope = find_median(slopes, listed);
    return 0;
}

/* --- Interval and level -------------------------------------------------------- */

/* Sen's: as many slopes to either side of the median as Kendall's tau of n points without a trend
 * would differ from 0 in nine of ten cases. @param slopes  as find_median() left them. */
static void bound_slope(double *slopes, size_t listed, size_t points, struct hr_trend *trend)
{
    double n = (double)points;
    double differ = QUANTILE_95 * sqrt(n * (n - 1) * (2 * n + 5) / 18);
    double low = floor(((double)listed - differ) / 2), high = ceil(((double)listed + differ) / 2);

    const size_t half = listed / 2, at_low = low > 0 ? (size_t)low : 0;
    const size_t at_high = high < (double)listed ? (size_t)high : listed - 1;

    trend->low = select_at(slopes, at_low < half ? half : listed, at_low);
    trend->high = select_at(slopes + half, listed - half, at_high - half);
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
    trend->slope = find_median(slopes, listed);
    bound_slope(slopes, listed, known, trend);
    trend->level = level_at_end(points, count, trend->slope);
    return 0;
}
