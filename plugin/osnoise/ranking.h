/*
 * osnoise/ranking.h - which sources of noise of a CPU have a series of their own, and what these
 * and the one of all others have counted.
 *
 * What a source did within an interval goes to its own counter if it is among the first then, and
 * to the others' if it isn't: so no counter goes back, and all of them together are all noise. Who
 * is first is told by a sum that decays, so that names don't come and go with each interval.
 *
 * The names that are remembered are limited. A name that had a series, left, and was forgotten
 * begins again at 0 when it is back.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_RANKING_H
#define HEADROOM_PLUGIN_OSNOISE_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/osnoise.h"

/** Longer names of series are cut: some readers of collectd's values take no more than 63 bytes. */
#define OSNOISE_SERIES 64

/**
 * Makes the type instance of a source: "irq_local_timer_us", "softirq_net_rx_us", "nmi_all_us". Of
 * a thread's name a "/3" at its end is left out on CPU 3, and all behind "kworker": these come and
 * go. Whatever is no letter, digit or "_" becomes "_". What is too long ends in "_", 8 hexadecimal
 * digits of a hash of the name, and "_us".
 */
void osnoise_source_series(const struct hr_osnoise_source *source, char series[OSNOISE_SERIES]);

/** A source with a series of its own. */
struct osnoise_ranked {
    const char *series;
    uint64_t counted_ns;
};

struct osnoise_ranking;

/** @param top  how many sources have a series. @return NULL if memory is short. */
struct osnoise_ranking *osnoise_ranking_new(size_t top);

/** NULL is allowed. */
void osnoise_ranking_free(struct osnoise_ranking *ranking);

/** Adds noise of the interval under way. */
void osnoise_ranking_add(struct osnoise_ranking *ranking, const char *series, uint64_t duration_ns);

/** Ends the interval. @param ranked  receives the first, until the next call. @return how many. */
size_t osnoise_ranking_end(struct osnoise_ranking *ranking, const struct osnoise_ranked **ranked);

/** What all others have counted. */
uint64_t osnoise_ranking_other_ns(const struct osnoise_ranking *ranking);

#endif
