/*
 * osnoise/state.h - what a run of the tracer must put back, kept in a file, in case that it can't
 * do so itself.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_STATE_H
#define HEADROOM_COLLECTORS_OSNOISE_STATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "osnoise/settings.h"

/** What the names of our instances begin with; digits and "_" follow: the PID, and a number. */
#define HR_OSNOISE_INSTANCE_PREFIX "headroom_osnoise_"

#define HR_OSNOISE_INSTANCE 64

struct hr_osnoise_state {
    char boot_id[40];       /**< /proc/sys/kernel/random/boot_id; the settings end with the boot */
    pid_t pid;              /**< whose run it is */
    uint64_t started_ticks; /**< when that process started: PIDs come again */
    char instance[HR_OSNOISE_INSTANCE]; /**< always one of ours, as it is going to be removed */
    struct hr_osnoise_settings ours, original; /**< both have the same knobs */
};

/** Who a state belongs to. */
enum hr_osnoise_owner {
    HR_OSNOISE_OWNER_SELF,
    HR_OSNOISE_OWNER_ALIVE,      /**< another process, which runs */
    HR_OSNOISE_OWNER_DEAD,       /**< one that has ended */
    HR_OSNOISE_OWNER_OTHER_BOOT, /**< the machine was started since: nothing is left of it */
};

/** Fills in boot_id, pid and started_ticks for this process. @return 0 or a negative errno. */
int hr_osnoise_state_sign(struct hr_osnoise_state *state);

enum hr_osnoise_owner hr_osnoise_state_owner(const struct hr_osnoise_state *state);

/** Parses the file's text. @return 0 or -EBADMSG: also if it isn't whole. */
int hr_osnoise_state_parse(const char *text, size_t length, struct hr_osnoise_state *state);

/** Reads the file. @return 0; -ENOENT: there is none; -EBADMSG; or another negative errno. */
int hr_osnoise_state_read(const char *path, struct hr_osnoise_state *state);

/** Writes the file so that it is there whole or not at all, even after a crash; nobody but the user
 * may write it, and a link in its place isn't followed. @return 0 or a negative errno. */
int hr_osnoise_state_write(const char *path, const struct hr_osnoise_state *state);

/** Removes the file, if it is there. @return 0 or a negative errno. */
int hr_osnoise_state_remove(const char *path);

#endif
