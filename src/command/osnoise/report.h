/* SPDX-License-Identifier: MIT */
/*
 * osnoise/report.h - what `headroom osnoise` prints, in any format.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_REPORT_H
#define HEADROOM_COMMAND_OSNOISE_REPORT_H

#include "common/label.h"
#include "osnoise/order.h"

struct osnoise_report {
    const struct hr_osnoise_options *options;
    const char *cpus;              /**< the list of CPUs, as the user wrote it; NULL: none */
    enum osnoise_order order;      /**< of tables' CPUs; JSON has them by number */
    const struct hr_numa *numa;    /**< for sums of nodes; NULL: not known */
    size_t sources;                /**< the number of sources of each CPU */
    uint64_t max_latency_ns;       /**< the limit of latencies; 0: none */
    struct osnoise_totals *totals; /**< its sources are sorted by printing */
    struct timespec begin, end;    /**< since 1970 */
    const char *ended;             /**< why the run ended by itself; NULL: it didn't */
    const char *warning;           /**< the last warning of the collector; NULL: none */
    enum label_charset charset;    /**< for names in text; JSON is always UTF-8 */
};

#endif
