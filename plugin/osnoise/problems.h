/* SPDX-License-Identifier: MIT */
/*
 * osnoise/problems.h - logs what prevents measuring noise, and what the values lack: once, with a
 * remedy; and when it is over. Used by the thread that reads.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_PROBLEMS_H
#define HEADROOM_PLUGIN_OSNOISE_PROBLEMS_H

#include "common/complaint.h"
#include "headroom/osnoise.h"

/** What was logged; see osnoise_problems_init(). */
struct osnoise_problems {
    bool is_attached, has_alert; /**< the remedies depend on these */
    bool is_timerlat;            /**< and messages on this */
    struct complaint run, warning, absent, lost, restoring;
    struct hr_reason warned; /**< the last warning */
    struct tally lost_tally, dropped_tally;
    uint64_t without_loss_ns;
};

/** Nothing was logged yet. @param options  what is measured; not kept. */
void osnoise_problems_init(struct osnoise_problems *problems,
                           const struct hr_osnoise_options *options);

/** Logs that nothing is measured. @param retry_ns  the delay until the next attempt; for messages.
 */
void osnoise_problems_log_stopped(struct osnoise_problems *problems, const struct hr_reason *reason,
                                  uint64_t retry_ns);

/** Logs that noise is measured again. */
void osnoise_problems_log_running(struct osnoise_problems *problems);

/** Logs what is new in a reading. */
void osnoise_problems_log_reading(struct osnoise_problems *problems,
                                  const struct hr_osnoise_reading *reading);

/** Logs that settings of this run, or of an earlier one, aren't restored. */
void osnoise_problems_log_unrestored(struct osnoise_problems *problems,
                                     const struct hr_reason *reason);

#endif
