/* SPDX-License-Identifier: MIT */
/*
 * osnoise/run.h - one run of `headroom osnoise`: it is read each second, and restores everything at
 * the end, whatever ends it.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_RUN_H
#define HEADROOM_COMMAND_OSNOISE_RUN_H

#include "headroom/osnoise.h"

/** What the user requests. */
struct osnoise_request {
    const char *title; /**< the prefix of messages */
    struct hr_osnoise_options options;
    const char *cpus;        /**< the list of CPUs, as it was written; NULL: none */
    uint64_t total_ns;       /**< the duration; 0: without end */
    size_t sources;          /**< the number of sources of each CPU to print */
    uint64_t max_latency_ns; /**< the limit of latencies in the timerlat mode; 0: none */
    bool json;
};

/**
 * Measures.
 *
 * @return an enum command_status. If a signal other than Ctrl-C came, it prints what was measured,
 * and lets the signal end the process.
 */
int osnoise_run(const struct osnoise_request *request);

#endif
