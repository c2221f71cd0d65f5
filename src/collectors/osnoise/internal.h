/*
 * osnoise/internal.h - a run of the tracer osnoise: what osnoise/osnoise.c begins and ends, and
 * osnoise/read.c reads.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_INTERNAL_H
#define HEADROOM_COLLECTORS_OSNOISE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/osnoise.h"
#include "osnoise/leader.h"
#include "osnoise/pipe.h"
#include "osnoise/records.h"
#include "osnoise/single_noise.h"
#include "osnoise/sources.h"
#include "osnoise/state.h"
#include "osnoise/tracefs.h"

/** What is known of a CPU besides its row. */
struct hr_osnoise_cpu_tracking {
    uint64_t last_active_ns; /**< when a sample came last, or the CPU came online */
    bool was_offline;
    unsigned
        settling_readings; /**< so many readings more its sources aren't told: see osnoise/read.c */
};

struct hr_osnoise {
    const struct hr_root *root;
    struct hr_osnoise_options options;
    char *state_path;

    bool runs;
    bool needs_restore; /**< something of ours is left in the kernel, and in the state file */
    struct hr_osnoise_state state;

    /* While it runs: */
    struct hr_tracefs tracefs;
    struct hr_osnoise_leader leader; /**< ATTACH: whose run it is */
    struct hr_osnoise_settings seen; /**< the settings that the numbers are of */
    struct hr_cpu_set cpus;          /**< those that are measured */
    struct hr_osnoise_decoder *decoder;
    struct hr_osnoise_pipe *pipe;
    struct hr_osnoise_sources *sources;             /**< NULL if nothing is counted */
    struct hr_osnoise_single_noises *single_noises; /**< NULL if none are told */
    struct hr_osnoise_cpu *rows;                    /**< by place among the CPUs, upwards */
    struct hr_osnoise_cpu_tracking *tracking;
    size_t cpu_count;
    uint64_t read_ns; /**< when it was read last, or began */
};

/** Reads which CPUs are "online" or "possible". @return 0 or a negative errno. */
int hr_osnoise_read_cpus(const struct hr_root *root, const char *which, struct hr_cpu_set *cpus);

/** Ends a run that can't go on, or can't begin; what then can't be put back is told as well.
 * @return error. */
int hr_osnoise_give_up(struct hr_osnoise *osnoise, int error, struct hr_reason *reason);

#endif
