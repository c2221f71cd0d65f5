/*
 * osnoise/probe.h - whether the tracer osnoise can be used, and whether somebody uses it.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_PROBE_H
#define HEADROOM_COLLECTORS_OSNOISE_PROBE_H

#include "headroom/osnoise.h"
#include "osnoise/tracefs.h"

/** Looks for the tracer, for what the mode needs, and for the right to use it. @return 0; -ENOENT;
 * -EOPNOTSUPP; -EACCES, -EPERM; … With the reason. */
int hr_osnoise_probe_kernel(const struct hr_tracefs *tracefs, enum hr_osnoise_mode mode,
                            struct hr_reason *reason);

/** Looks for other users, and for settings of theirs that are dangerous. @param except  our own
 * instance, which is none; may be NULL. @return 0; -EBUSY; ATTACH: -EAGAIN without a user; … With
 * the reason. */
int hr_osnoise_probe_users(const struct hr_tracefs *tracefs, enum hr_osnoise_mode mode,
                           const char *except, struct hr_reason *reason);

#endif
