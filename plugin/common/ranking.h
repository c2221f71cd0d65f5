/* SPDX-License-Identifier: MIT */
/*
 * common/ranking.h - which of many names have a series of their own, and the counters of these and
 * of all others.
 *
 * What a name did within an interval is added to its own counter if it is among the top names of
 * that interval, and to the counter of the others if it isn't: so no counter goes back, and their
 * sum is all. The rank is by a decaying sum, so that series don't come and go with each interval.
 *
 * The number of names that are kept is limited. A name that had a series, left, and was dropped
 * begins at 0 again when it is back.
 */
#ifndef HEADROOM_PLUGIN_COMMON_RANKING_H
#define HEADROOM_PLUGIN_COMMON_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Longer names are truncated: as collectd's type instances. */
#define RANKING_NAME 128

/** A name with a series of its own. */
struct ranked_name {
    const char *text;
    uint64_t counted_ns, counted_before_ns; /**< now, and before the interval that ended */
    bool is_new;                            /**< it had none in the interval before */
};

struct ranking;

/** @param top  the number of names with a series. @return NULL if memory is short. */
struct ranking *ranking_new(size_t top);

/** NULL is allowed. */
void ranking_free(struct ranking *ranking);

/** Adds time to a name in the current interval. */
void ranking_add(struct ranking *ranking, const char *text, uint64_t duration_ns);

/** Adds time to the others. */
void ranking_add_other(struct ranking *ranking, uint64_t duration_ns);

/** Ends the interval. @param ranked  receives the top names, until the next call. @return their
 * number. */
size_t ranking_end(struct ranking *ranking, const struct ranked_name **ranked);

/** The counter of all others. */
uint64_t ranking_other_ns(const struct ranking *ranking);

#endif
