/* SPDX-License-Identifier: MIT */
/*
 * wss/marks.h - what a chart of a working set is compared with: how much memory is resident, and
 * how much the cgroup may have.
 */
#ifndef HEADROOM_COMMAND_WSS_MARKS_H
#define HEADROOM_COMMAND_WSS_MARKS_H

#include "common/chart.h"
#include "headroom/wss.h"

struct hr_root;

/** In MiB, as the points. */
struct wss_marks {
    struct chart_mark list[2];
    size_t count;
    char names[2][40];
    char beyond[88]; /**< those so far above the points that these would lie on the axis: ", limit
                          2048 MiB"; "" for none */
};

/**
 * Finds them: resident memory as it was read last, and the tightest limit of a cgroup's memory, its
 * own or that of one above. What isn't known has no mark.
 *
 * @param sample  the last.
 * @param points  of which at least one.
 */
void wss_marks_find(const struct hr_root *root, const struct hr_wss_target *target,
                    const struct hr_wss_sample *sample, const struct point *points, size_t count,
                    struct wss_marks *marks);

#endif
