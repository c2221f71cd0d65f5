/* SPDX-License-Identifier: MIT */
/*
 * osnoise/guard.h - a process that stops the tracer of an instance once this process has ended, for
 * whatever reason.
 *
 * Before Linux 6.5, and that of timerlat in any, a workload runs on as long as an instance has the
 * tracer, even if none records, so that no trigger can end it. A container's end ends this process,
 * too: see osnoise/owner.h.
 *
 * The process waits at a socket, whose other end this process has open. It ignores signals, as
 * those that end a service or a job come to it, too; it has a session of its own, and no other
 * files.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_GUARD_H
#define HEADROOM_COLLECTORS_OSNOISE_GUARD_H

#include <sys/types.h>

#include "osnoise/tracefs.h"

struct hr_osnoise_guard {
    pid_t pid;
    int fd; /**< -1: there is none */
};

/**
 * Starts it. Then it has no file of this process open any more.
 *
 * @param instance  its name: its current_tracer becomes "nop".
 * @param guard     receives it; ended by hr_osnoise_guard_end().
 * @return 0, or a negative errno of socketpair(2) or fork(2); -ESRCH: it ended at once.
 */
int hr_osnoise_guard_start(const struct hr_tracefs *tracefs, const char *instance,
                           struct hr_osnoise_guard *guard);

/** Ends it, if there is one, without stopping the tracer. */
void hr_osnoise_guard_end(struct hr_osnoise_guard *guard);

#endif
