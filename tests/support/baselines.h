/* SPDX-License-Identifier: MIT */
/*
 * support/baselines.h - how others estimate how much memory a group needs, or when it will have
 * too little, so that ours can be compared with it.
 */
#ifndef HEADROOM_TESTS_SUPPORT_BASELINES_H
#define HEADROOM_TESTS_SUPPORT_BASELINES_H

#include <stdbool.h>
#include <stddef.h>

/* --- When a level will reach its limit --------------------------------------------- */

#define LEAST_SQUARES_SAMPLES 60

/** The usual forecast: least squares over the latest samples. All zeros at first. */
struct least_squares {
    double levels[LEAST_SQUARES_SAMPLES];
    size_t count;
};

/** Adds a level. @return how many samples are left until the limit; INFINITY: it doesn't grow, or
 * too few samples are known. */
double least_squares_left(struct least_squares *past, double level, double limit);

/** The same. @return whether the limit is expected within four times the time of the samples. */
bool least_squares_expects(struct least_squares *past, double level, double limit);

/* --- How much a group needs -------------------------------------------------------- */

#define BASELINE_PEAKS 2048

/** The peaks of parts of the time, from the oldest; the last part isn't over. All zeros at first,
 * but for part_s. */
struct baseline_peaks {
    double part_s;
    double peaks[BASELINE_PEAKS];
    size_t count;
};

/** Adds what was used at a time, in seconds since the first. */
void baseline_peaks_add(struct baseline_peaks *past, double t, double bytes);

/**
 * The recommendation of Kubernetes' vertical-pod-autoscaler by its defaults: peaks of days, of
 * which each counts twice as much as that of the day before, in buckets of which each is 5 % wider
 * than the one before; their 90th percentile, and 15 %. Peaks are of days: see part_s.
 *
 * Source: kubernetes/autoscaler, vertical-pod-autoscaler/pkg/recommender.
 */
double baseline_vpa(const struct baseline_peaks *days);

/**
 * A recommendation as Autopilot's moving windows make it for memory: peaks of 5 minutes, which
 * count half after 48 hours; their 98th percentile, and 15 %.
 *
 * Source: doi 10.1145/3342195.3387524 (Rzadca et al., 2020).
 */
double baseline_autopilot(const struct baseline_peaks *parts);

#endif
