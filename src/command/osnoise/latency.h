/* SPDX-License-Identifier: MIT */
/*
 * osnoise/latency.h - the latencies of timers, for people and as JSON.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_LATENCY_H
#define HEADROOM_COMMAND_OSNOISE_LATENCY_H

#include <stdio.h>

#include "osnoise/report.h"

/** Prints the table of CPUs, those of latencies by length, if requested, and which CPUs had one
 * above the limit, if there is one. @return 0 or -ENOMEM. */
int osnoise_latency_print_tables(FILE *file, const struct osnoise_report *report,
                                 const struct osnoise_rows *rows);

/** Prints the member "latency" of a CPU: an object with one for each context; null in other modes.
 */
void osnoise_latency_print_json(FILE *file, const struct osnoise_report *report,
                                const struct osnoise_cpu_total *cpu);

#endif
