/*
 * osnoise/recover.h - leaving the tracer as it was found: the instance goes, the settings come
 * back.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_RECOVER_H
#define HEADROOM_COLLECTORS_OSNOISE_RECOVER_H

#include "headroom/reason.h"
#include "osnoise/state.h"
#include "osnoise/tracefs.h"

/**
 * Removes a run's instance, puts back the settings that still are the run's, and then removes the
 * state file.
 *
 * Where somebody else has joined the tracer meanwhile, the settings stay: the defaults would have
 * the workload take all of every CPU. Not so the options that switch interrupts or preemption off:
 * they always go back, even if the instance can't be removed.
 *
 * @return 0; -EBUSY: somebody else reads the instance, or has joined: what is left is still in the
 *         file; or another negative errno. With the reason.
 */
int hr_osnoise_restore(const struct hr_tracefs *tracefs, const struct hr_osnoise_state *state,
                       const char *state_path, struct hr_reason *reason);

/** hr_osnoise_recover() where tracefs is open. */
int hr_osnoise_recover_in(const struct hr_tracefs *tracefs, const char *state_path,
                          struct hr_reason *reason);

#endif
