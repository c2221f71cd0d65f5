/* SPDX-License-Identifier: MIT */
/*
 * osnoise/state.h - the state file: what to restore after a run of the tracer, should the run not
 * be able to.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_STATE_H
#define HEADROOM_COLLECTORS_OSNOISE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "osnoise/settings.h"

#define HR_OSNOISE_INSTANCE 64

struct hr_osnoise_state {
    char
        boot_id[40]; /**< /proc/sys/kernel/random/boot_id; the settings are lost at the next boot */
    /** The process of the run, and the inode number of its PID namespace, 0 if the kernel has none:
     * for messages, as whether it is alive is seen from its instance, see osnoise/owner.h. */
    pid_t pid;
    uint64_t pid_namespace;
    char instance[HR_OSNOISE_INSTANCE];        /**< with the prefix, as it is going to be removed */
    struct hr_osnoise_settings ours, original; /**< both have the same settings */
};

/** Fills in boot_id, pid and pid_namespace for this process. @return 0 or a negative errno. */
int hr_osnoise_state_sign(struct hr_osnoise_state *state);

/** Whether it has the ID of another boot. Then nothing is left of the run, unless its instance is
 * there: that of a container with an ID of its own. */
bool hr_osnoise_state_is_past(const struct hr_osnoise_state *state);

/** Whether this process has signed it. */
bool hr_osnoise_state_is_own(const struct hr_osnoise_state *state);

/** Prints the process for messages: "process 4711", and "of the PID namespace 4026532456" if that
 * isn't ours. */
void hr_osnoise_state_print_process(const struct hr_osnoise_state *state, char *text, size_t size);

/** Parses the file's text. @return 0 or -EBADMSG: also if it is truncated. */
int hr_osnoise_state_parse(const char *text, size_t length, struct hr_osnoise_state *state);

/** Reads the file. Root also trusts that of collectd's user: the one to whom /var/lib/collectd
 * belongs, and only in there. @return 0; -ENOENT: there is none; -EPERM: it isn't trusted;
 * -EBADMSG; or another negative errno. */
int hr_osnoise_state_read(const char *path, struct hr_osnoise_state *state);

/** Writes the file atomically, also in case of a crash; only the user may write it, and a symbolic
 * link in its place isn't followed. @return 0 or a negative errno. */
int hr_osnoise_state_write(const char *path, const struct hr_osnoise_state *state);

/** Removes the file, if it is there. @return 0 or a negative errno. */
int hr_osnoise_state_remove(const char *path);

#endif
