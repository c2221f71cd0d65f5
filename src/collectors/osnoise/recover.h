/* SPDX-License-Identifier: MIT */
/* osnoise/recover.h - restoring the tracer: removing the instance of a run, and restoring settings.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_RECOVER_H
#define HEADROOM_COLLECTORS_OSNOISE_RECOVER_H

#include "headroom/osnoise.h"
#include "headroom/reason.h"
#include "headroom/root.h"
#include "osnoise/state.h"
#include "osnoise/tracefs.h"

/*
 * All of these are called with the tracer's lock, see osnoise/owner.h.
 */

/**
 * Stops and removes a run's instance, restores the settings that still have the run's values, and
 * then removes the state file.
 *
 * If another program has joined the tracer meanwhile, the settings stay: with the defaults the
 * workload would take all of every CPU. Except for the options that switch interrupts or preemption
 * off: they are restored even if the instance can't be removed. If it is gone already, those who
 * have the tracer now came later, and have chosen them themselves.
 *
 * @param lock  that of the instance, which is released before it is removed; NULL: the run isn't
 *              this process's.
 * @return 0; -EBUSY: another program reads the instance, or has joined: the state file stays; or
 *         another negative errno. With the reason.
 */
int hr_osnoise_restore(const struct hr_root *root, const struct hr_tracefs *tracefs,
                       const struct hr_osnoise_state *state, int *lock, const char *state_path,
                       struct hr_reason *reason);

/** hr_osnoise_recover() with tracefs open. */
int hr_osnoise_recover_in(const struct hr_root *root, const struct hr_tracefs *tracefs,
                          const char *state_path, struct hr_reason *reason);

/** hr_osnoise_remove_left_behind() with tracefs open. */
int hr_osnoise_remove_left_behind_in(const struct hr_root *root, const struct hr_tracefs *tracefs,
                                     const struct hr_osnoise_visitor *visitor,
                                     struct hr_reason *reason);

#endif
