/*
 * osnoise/run.h - one run of `headroom osnoise`: it begins, is read each second, ends, and all is
 * put back, whatever ends it.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_RUN_H
#define HEADROOM_COMMAND_OSNOISE_RUN_H

#include "headroom/osnoise.h"

/** What the user asks for. */
struct osnoise_request {
    const char *title; /**< what messages begin with */
    struct hr_osnoise_options options;
    const char *cpus;  /**< the list of CPUs, as it was written; NULL: none */
    uint64_t total_ns; /**< how long; 0: without end */
    size_t sources;    /**< how many of each CPU are told */
    bool json;
};

/**
 * Measures.
 *
 * @return an enum command_status. If a signal other than Ctrl-C came, it tells what was measured,
 *         and lets the signal end the process.
 */
int osnoise_run(const struct osnoise_request *request);

/**
 * Only puts back what a run that was killed has left behind.
 *
 * @param state_path  NULL: either of the usual ones.
 * @return an enum command_status.
 */
int osnoise_restore(const char *title, const char *state_path);

#endif
