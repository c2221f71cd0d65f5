/* SPDX-License-Identifier: MIT */
/*
 * osnoise/source_series.h - names of the series of sources of noise.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_SOURCE_SERIES_H
#define HEADROOM_PLUGIN_OSNOISE_SOURCE_SERIES_H

#include "headroom/osnoise.h"

/** Longer names of series are truncated: some receivers of collectd's values take no more than 63
 * bytes. */
#define OSNOISE_SERIES 64

/** Prints the type instance of a source: "irq_local_timer_us", "softirq_net_rx_us", "nmi_all_us".
 * Of a thread's name a final "/3" is left out on CPU 3, and all after "kworker", as these come and
 * go. Characters other than letters, digits and "_" become "_". A name that is too long ends in
 * "_", 8 hexadecimal digits of its hash, and "_us". */
void osnoise_source_series(const struct hr_osnoise_source *source, char series[OSNOISE_SERIES]);

#endif
