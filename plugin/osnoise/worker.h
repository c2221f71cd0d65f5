/* SPDX-License-Identifier: MIT */
/*
 * osnoise/worker.h - the thread that begins a run of the tracer, reads it, notifies of noises,
 * retries when the run has ended, and restores everything at the end.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_WORKER_H
#define HEADROOM_PLUGIN_OSNOISE_WORKER_H

#include "osnoise/alert.h"
#include "osnoise/values.h"

struct hr_root;
struct osnoise_worker;

struct osnoise_worker_options {
    const struct hr_root *root;
    const struct hr_osnoise_options *osnoise;
    struct osnoise_values *values; /**< where readings are added */
    struct osnoise_rule rule;
    uint64_t claim_ns; /**< see osnoise/alert.h */
    /** The interval of readings. The first is after half of it or of the period, whichever is
     * shorter; or later, while the kernel looks for noise. */
    uint64_t read_ns;
    /** The delay until a run that couldn't begin is retried, and the maximum delay when runs end
     * early repeatedly. A run as long as the latter resets the delay. */
    uint64_t retry_ns, max_retry_ns;
};

/**
 * Starts the thread. It moves off the CPUs of `osnoise`, if it may run on others.
 *
 * @param options  copied; what it points to must outlive the thread.
 * @param worker   receives it; to be stopped by osnoise_worker_stop().
 * @param reason   of hr_osnoise_open(), if that fails; else empty.
 * @return 0 or a negative errno.
 */
int osnoise_worker_start(const struct osnoise_worker_options *options,
                         struct osnoise_worker **worker, struct hr_reason *reason);

/** Ends the thread, and waits until it has restored everything. NULL is allowed. */
void osnoise_worker_stop(struct osnoise_worker *worker);

#endif
