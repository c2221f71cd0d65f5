/* SPDX-License-Identifier: MIT */
/*
 * osnoise/probe.h - whether the osnoise tracer can be used, and whether another program uses it.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_PROBE_H
#define HEADROOM_COLLECTORS_OSNOISE_PROBE_H

#include "headroom/osnoise.h"
#include "osnoise/tracefs.h"

/** Checks for the tracer, for what the mode needs, and for permissions. @return 0; -ENOENT;
 * -EOPNOTSUPP; -EACCES, -EPERM; … With the reason. */
int hr_osnoise_probe_kernel(const struct hr_tracefs *tracefs, enum hr_osnoise_mode mode,
                            struct hr_reason *reason);

/** Checks for other users of tracers, and for dangerous settings of theirs. @param except  the
 * instance of this run, which is ignored; may be NULL. @return 0; -EBUSY; ATTACH: -EAGAIN without a
 * user; … With the reason. */
int hr_osnoise_probe_users(const struct hr_tracefs *tracefs, enum hr_osnoise_mode mode,
                           const char *except, struct hr_reason *reason);

#endif
