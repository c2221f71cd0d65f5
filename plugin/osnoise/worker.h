/*
 * osnoise/worker.h - the thread that begins a run of the tracer, reads it, tells of noises, begins
 * again when the run has ended, and restores all at the end.
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
    struct osnoise_values *values; /**< where readings go */
    struct osnoise_rule rule;
    /** How often it is read: first after half of that or of the period, whichever is shorter; or
     * later, as long as the kernel looks for noise. */
    uint64_t read_ns;
    /** How long until a run that couldn't begin is tried again, and how long at most once runs end
     * early again and again. A run as long as the latter forgets that. */
    uint64_t retry_ns, max_retry_ns;
};

/**
 * Starts the thread. It keeps off the CPUs of `osnoise`, if it may run on others.
 *
 * @param options  copied; what it points to must outlive the thread.
 * @param worker   receives it; ended by osnoise_worker_stop().
 * @param reason   of hr_osnoise_open(), if that fails; else empty.
 * @return 0 or a negative errno.
 */
int osnoise_worker_start(const struct osnoise_worker_options *options,
                         struct osnoise_worker **worker, struct hr_reason *reason);

/** Ends the thread, waiting for it, with all restored. NULL is allowed. */
void osnoise_worker_stop(struct osnoise_worker *worker);

#endif
