/*
 * osnoise/leader.h - whose run of the tracer is read along with, and when it ends.
 *
 * While we are part of a run it goes on though its leader has left; and the leader puts back
 * settings by which the workload may take all of every CPU. So its leaving must be seen at once:
 * current_tracer and tracing_on of the leader's instance are watched for writing and removal
 * (inotify(7)).
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

/** @return 0 or a negative errno: leaders are looked for, but not watched. */
int hr_osnoise_leader_open(struct hr_osnoise_leader *leader);

void hr_osnoise_leader_close(struct hr_osnoise_leader *leader);

/**
 * Looks for somebody else who runs the tracer osnoise, and watches that one: the descriptor is
 * readable once they may have left, until this is called again.
 *
 * @param except  our own instance.
 * @return 1, 0 if there is nobody, or a negative errno.
 */
int hr_osnoise_leader_find(struct hr_osnoise_leader *leader, const struct hr_tracefs *tracefs,
                           const char *except);

#endif
