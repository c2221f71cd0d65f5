/* SPDX-License-Identifier: MIT */
/*
 * osnoise/internal.h - a run of the osnoise tracer, which osnoise/osnoise.c begins and ends and
 * osnoise/read.c reads.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_INTERNAL_H
#define HEADROOM_COLLECTORS_OSNOISE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/osnoise.h"
#include "osnoise/affinity.h"
#include "osnoise/cause_events.h"
#include "osnoise/guard.h"
#include "osnoise/instance.h"
#include "osnoise/pipe.h"
#include "osnoise/records.h"
#include "osnoise/running.h"
#include "osnoise/single_noise.h"
#include "osnoise/sources.h"
#include "osnoise/state.h"
#include "osnoise/timerlat.h"
#include "osnoise/tracefs.h"
#include "osnoise/traces.h"

/** What is known of a CPU besides its row of a reading. */
struct hr_osnoise_cpu_tracking {
    uint64_t last_active_ns; /**< time of its last sample, or when it came online */
    bool was_offline;
    bool is_awaited;   /**< isn't listed, and was never online: not reported */
    bool lacks_buffer; /**< wasn't online at the beginning, so that its buffer isn't sized */
    unsigned settling_readings; /**< for so many more readings its sources aren't reported: see
                                   osnoise/read.c */
};

struct hr_osnoise {
    const struct hr_root *root;
    struct hr_osnoise_options options;
    char *state_path;

    bool runs;
    bool needs_restore; /**< settings or an instance of this object are in the kernel, and in the
                           state file */
    struct hr_osnoise_state state;
    int instance_lock; /**< see osnoise/owner.h; -1: none */
    int tracer_lock;   /**< while a run begins or ends; -1: none */
    bool is_unranked;  /**< the workload's threads weren't found: they keep their rank */
    struct hr_osnoise_guard guard; /**< where the kernel doesn't stop the workload by itself */

    struct hr_osnoise_affinity affinity; /**< of the thread that begins and reads */

    /* While there is a run: */
    struct hr_tracefs tracefs;
    bool lacks_samples;              /**< ATTACH: the kernel has no event of samples */
    struct hr_osnoise_settings seen; /**< the settings that the readings are of */
    struct hr_cpu_set cpus;          /**< those that are measured, once they are online */
    struct hr_cpu_set online;        /**< at the beginning */
    struct hr_osnoise_plan plan;     /**< of its instance */
    struct hr_osnoise_decoder *decoder;
    struct hr_osnoise_pipe *pipe;
    struct hr_osnoise_sources *sources; /**< NULL if nothing is counted */
    struct hr_osnoise_running *running; /**< SOURCES; else NULL */
    uint64_t sources_ns;                /**< when sources were read last, or of the beginning */
    struct hr_osnoise_single_noises *single_noises;   /**< NULL if none are reported */
    struct hr_osnoise_function_names *function_names; /**< NULL without causes */
    struct hr_osnoise_timerlat *timerlat;             /**< TIMERLAT; else NULL */
    struct hr_osnoise_traces *traces;                 /**< NULL if none are kept */
    struct hr_osnoise_cpu *rows;                      /**< one for each of the CPUs, by number */
    struct hr_osnoise_cpu *reported;                  /**< those of them in the last reading */
    struct hr_osnoise_cpu_tracking *tracking;
    size_t cpu_count;
    uint64_t read_ns; /**< time of the last reading, or of the beginning */
};

/** The kernel's tracer of a mode. */
const char *hr_osnoise_tracer_name(enum hr_osnoise_mode mode);

/** Gives the workload's threads their rank, if this run has any. @return 0, also if there are no
 * threads to be seen; or a negative errno, with the reason. */
int hr_osnoise_set_rank(struct hr_osnoise *osnoise, struct hr_reason *reason);

/** Ends a run that failed or could not begin; adds to the reason what can't be restored. @return
 * error. */
int hr_osnoise_give_up(struct hr_osnoise *osnoise, int error, struct hr_reason *reason);

#endif
