/* SPDX-License-Identifier: MIT */
/*
 * osnoise/ranking.h - which sources of noise of a CPU have a series of their own, and the counters
 * of these and of all others.
 *
 * What a source did within an interval is added to its own counter if it is among the top sources
 * of that interval, and to the counter of the others if it isn't: so no counter goes back, and
 * their sum is all noise. The rank is by a decaying sum, so that series don't come and go with each
 * interval.
 *
 * The number of names that are kept is limited. A name that had a series, left, and was dropped
 * begins at 0 again when it is back.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_RANKING_H
#define HEADROOM_PLUGIN_OSNOISE_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/osnoise.h"

/** Longer names of series are truncated: some receivers of collectd's values take no more than 63
 * bytes. */
#define OSNOISE_SERIES 64

/** Prints the type instance of a source: "irq_local_timer_us", "softirq_net_rx_us", "nmi_all_us".
 * Of a thread's name a final "/3" is left out on CPU 3, and all after "kworker", as these come and
 * go. Characters other than letters, digits and "_" become "_". A name that is too long ends in
 * "_", 8 hexadecimal digits of its hash, and "_us". */
void osnoise_source_series(const struct hr_osnoise_source *source, char series[OSNOISE_SERIES]);

/** A source with a series of its own. */
struct osnoise_ranked {
    const char *series;
    uint64_t counted_ns;
};

struct osnoise_ranking;

/** @param top  the number of sources with a series. @return NULL if memory is short. */
struct osnoise_ranking *osnoise_ranking_new(size_t top);

/** NULL is allowed. */
void osnoise_ranking_free(struct osnoise_ranking *ranking);

/** Adds noise of the current interval. */
void osnoise_ranking_add(struct osnoise_ranking *ranking, const char *series, uint64_t duration_ns);

/** Ends the interval. @param ranked  receives the top sources, until the next call. @return their
 * number. */
size_t osnoise_ranking_end(struct osnoise_ranking *ranking, const struct osnoise_ranked **ranked);

/** The counter of all others. */
uint64_t osnoise_ranking_other_ns(const struct osnoise_ranking *ranking);

#endif
