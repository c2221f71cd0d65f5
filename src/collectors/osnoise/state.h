/* SPDX-License-Identifier: MIT */
/*
 * osnoise/state.h - the state file: what to restore after a run of the tracer, should the run not
 * be able to.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_STATE_H
#define HEADROOM_COLLECTORS_OSNOISE_STATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "osnoise/settings.h"

/** The prefix of the names of instances; digits and "_" follow: the PID, and a number. */
#define HR_OSNOISE_INSTANCE_PREFIX "headroom_osnoise_"

#define HR_OSNOISE_INSTANCE 64

struct hr_osnoise_state {
    char
        boot_id[40]; /**< /proc/sys/kernel/random/boot_id; the settings are lost at the next boot */
    pid_t pid;       /**< the process of the run */
    uint64_t started_ticks;                    /**< when that process started, as PIDs are reused */
    char instance[HR_OSNOISE_INSTANCE];        /**< with the prefix, as it is going to be removed */
    struct hr_osnoise_settings ours, original; /**< both have the same settings */
};

/** Which process a state belongs to. */
enum hr_osnoise_owner {
    HR_OSNOISE_OWNER_SELF,
    HR_OSNOISE_OWNER_ALIVE,      /**< another process, which is alive */
    HR_OSNOISE_OWNER_DEAD,       /**< a process that has ended */
    HR_OSNOISE_OWNER_OTHER_BOOT, /**< the machine was rebooted since: nothing is left of it */
};

/** Fills in boot_id, pid and started_ticks for this process. @return 0 or a negative errno. */
int hr_osnoise_state_sign(struct hr_osnoise_state *state);

enum hr_osnoise_owner hr_osnoise_state_owner(const struct hr_osnoise_state *state);

/** Parses the file's text. @return 0 or -EBADMSG: also if it is truncated. */
int hr_osnoise_state_parse(const char *text, size_t length, struct hr_osnoise_state *state);

/** Reads the file. @return 0; -ENOENT: there is none; -EBADMSG; or another negative errno. */
int hr_osnoise_state_read(const char *path, struct hr_osnoise_state *state);

/** Writes the file atomically, also in case of a crash; only the user may write it, and a symbolic
 * link in its place isn't followed. @return 0 or a negative errno. */
int hr_osnoise_state_write(const char *path, const struct hr_osnoise_state *state);

/** Removes the file, if it is there. @return 0 or a negative errno. */
int hr_osnoise_state_remove(const char *path);

#endif
