/* SPDX-License-Identifier: MIT */
/*
 * osnoise/leader.h - the other program's run that an attached run reads, and when it ends.
 *
 * While an attached run records, the kernel's workload goes on even if the leader has ended; and
 * the leader restores settings with which the workload may take all of every CPU. So its end must
 * be noticed at once: current_tracer and tracing_on of the leader's instance are watched for
 * writing and removal (inotify(7)).
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_LEADER_H
#define HEADROOM_COLLECTORS_OSNOISE_LEADER_H

#include "osnoise/tracefs.h"
#include "osnoise/users.h"

struct hr_osnoise_leader {
    int fd;         /**< of inotify; -1 */
    int watches[2]; /**< of current_tracer and tracing_on; -1 */
    struct hr_osnoise_user user;
};

/** @return 0 or a negative errno: then leaders are found, but not watched. */
int hr_osnoise_leader_open(struct hr_osnoise_leader *leader);

void hr_osnoise_leader_close(struct hr_osnoise_leader *leader);

/**
 * Finds another program's run of the tracer, and watches it: the descriptor is readable once the
 * run may have ended, until this is called again.
 *
 * @param except  the instance of this run.
 * @return 1, 0 if there is none, or a negative errno.
 */
int hr_osnoise_leader_find(struct hr_osnoise_leader *leader, const struct hr_tracefs *tracefs,
                           const char *except);

#endif
