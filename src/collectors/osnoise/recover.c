/* SPDX-License-Identifier: MIT */
#include "osnoise/recover.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/reason.h"
#include "headroom/osnoise.h"
#include "osnoise/instance.h"
#include "osnoise/rank.h"
#include "osnoise/users.h"

/* --- Restoring ------------------------------------------------------------ */

static int remove_instance(const struct hr_tracefs *tracefs, const char *name,
                           struct hr_reason *reason)
{
    int status = hr_osnoise_instance_remove(tracefs, name);

    if (status == -EBUSY)
        return hr_reason_set(reason, status,
                             "can't remove the trace instance %s, as a program reads it: end the "
                             "program that has files of /sys/kernel/tracing/instances/%s open",
                             name, name);
    if (status < 0)
        return hr_reason_set(reason, status, "can't remove the trace instance %s (%s)", name,
                             strerror(-status));
    return 0;
}

/* Whether a setting still has the run's value, and had another one before. */
static bool has_settings_to_restore(const struct hr_osnoise_state *state,
                                    const struct hr_osnoise_settings *now)
{
    for (int setting = 0; setting < HR_OSNOISE_SETTING_COUNT; setting++) {
        struct hr_osnoise_settings one = {.cpus = state->ours.cpus};

        if (!state->ours.has[setting])
            continue;
        one.has[setting] = true;
        one.numbers[setting] = state->ours.numbers[setting];
        if (hr_osnoise_settings_differ(&one, now) == HR_OSNOISE_SETTING_COUNT &&
            hr_osnoise_settings_differ(&one, &state->original) != HR_OSNOISE_SETTING_COUNT)
            return true;
    }
    return false;
}

/* A program that has joined didn't choose these, and with its own runtime they may stop the
 * machine: so they are restored at once. */
static int restore_disruptive(const struct hr_tracefs *tracefs,
                              const struct hr_osnoise_state *state)
{
    struct hr_osnoise_settings disruptive = {0};

    for (int setting = 0; setting < HR_OSNOISE_SETTING_COUNT; setting++) {
        disruptive.has[setting] =
            state->ours.has[setting] && hr_osnoise_setting_is_disruptive(setting);
        disruptive.numbers[setting] = state->ours.numbers[setting];
    }
    return hr_osnoise_settings_restore(tracefs, &disruptive, &state->original);
}

/* A program whose workload the settings affect. */
static int find_joined_user(const struct hr_tracefs *tracefs, const struct hr_osnoise_state *state,
                            struct hr_osnoise_user *user)
{
    int status = hr_osnoise_users_find(tracefs, "osnoise", state->instance, user);

    return status != 0 ? status : hr_osnoise_users_find(tracefs, "timerlat", state->instance, user);
}

static int explain_restore_error(struct hr_reason *reason, int error)
{
    return hr_reason_set(reason, error, "can't restore settings of the osnoise tracer (%s)",
                         strerror(-error));
}

/* The other settings wait until the program that has joined ends. */
static int restore_settings(const struct hr_tracefs *tracefs, const struct hr_osnoise_state *state,
                            struct hr_reason *reason)
{
    struct hr_osnoise_settings now = {0};
    struct hr_osnoise_user user;
    char who[300];
    int status = hr_osnoise_settings_read(tracefs, &now, reason);

    if (status < 0)
        return status;
    if (!has_settings_to_restore(state, &now))
        return 0;
    status = find_joined_user(tracefs, state, &user);
    if (status > 0) {
        hr_osnoise_user_print(&user, who, sizeof(who));
        return hr_reason_set(
            reason, -EBUSY,
            "%s runs the %s tracer with this run's settings, so they aren't restored now: the next "
            "start after it has ended restores them, or headroom osnoise --restore",
            who, user.tracer);
    }
    if (status == 0)
        status = hr_osnoise_settings_restore(tracefs, &state->ours, &state->original);
    return status < 0 ? explain_restore_error(reason, status) : 0;
}

int hr_osnoise_restore(const struct hr_root *root, const struct hr_tracefs *tracefs,
                       const struct hr_osnoise_state *state, const char *state_path,
                       struct hr_reason *reason)
{
    /* In attach they are another program's. */
    if (hr_osnoise_has_pids_of_kernel() &&
        hr_osnoise_instance_has_tracer(tracefs, state->instance) == 1)
        hr_osnoise_let_workload_end(root, &state->ours.cpus);
    int status = remove_instance(tracefs, state->instance, reason);
    int restored = restore_disruptive(tracefs, state); /* even if the instance stays */

    if (status == 0 && restored < 0)
        status = explain_restore_error(reason, restored);
    if (status == 0)
        status = restore_settings(tracefs, state, reason);
    if (status < 0)
        return status;
    status = hr_osnoise_state_remove(state_path);
    if (status < 0)
        return hr_reason_set(reason, status, "can't remove the state file %s (%s)", state_path,
                             strerror(-status));
    return 0;
}

/* --- Recovery -------------------------------------------------------------- */

static int read_state(const char *path, struct hr_osnoise_state *state, struct hr_reason *reason)
{
    int status = hr_osnoise_state_read(path, state);

    if (status == 0 || status == -ENOENT)
        return status;
    if (status == -EBADMSG)
        return hr_reason_set(reason, status,
                             "the state file %s isn't understood: check the settings below "
                             "/sys/kernel/tracing/osnoise by hand, and remove the file",
                             path);
    if (status == -EPERM)
        return hr_reason_set(reason, status,
                             "the state file %s belongs to another user or is writable by others, "
                             "so it isn't trusted: check it, and remove it",
                             path);
    return hr_reason_set(reason, status, "can't read the state file %s (%s)", path,
                         strerror(-status));
}

int hr_osnoise_recover_in(const struct hr_root *root, const struct hr_tracefs *tracefs,
                          const char *state_path, struct hr_reason *reason)
{
    struct hr_osnoise_state state;
    int status = read_state(state_path, &state, reason);

    if (status < 0)
        return status == -ENOENT ? 0 : status;
    switch (hr_osnoise_state_owner(&state)) {
    case HR_OSNOISE_OWNER_OTHER_BOOT:
        return hr_osnoise_state_remove(state_path);
    case HR_OSNOISE_OWNER_ALIVE:
        return hr_reason_set(reason, -EBUSY,
                             "process %d runs the tracer with the same state file, %s: end it, or "
                             "choose another file",
                             (int)state.pid, state_path);
    case HR_OSNOISE_OWNER_SELF:
        if (hr_osnoise_instance_is_running(tracefs, state.instance, false) == 1)
            return hr_reason_set(reason, -EBUSY, "this process has a run already");
        break;
    case HR_OSNOISE_OWNER_DEAD:
        break;
    }
    return hr_osnoise_restore(root, tracefs, &state, state_path, reason);
}

int hr_osnoise_recover(const struct hr_root *root, const char *state_path, struct hr_reason *reason)
{
    struct hr_osnoise_state state;
    struct hr_tracefs tracefs;

    hr_reason_clear(reason);
    int status = read_state(state_path, &state, reason);
    if (status < 0)
        return status == -ENOENT ? 0 : status;
    status = hr_tracefs_open(root, &tracefs, reason);
    if (status < 0)
        return status;
    status = hr_osnoise_recover_in(root, &tracefs, state_path, reason);
    hr_tracefs_close(&tracefs);
    return status;
}

int hr_osnoise_left_behind(const char *state_path, struct hr_reason *reason)
{
    struct hr_osnoise_state state;
    int status = hr_osnoise_state_read(state_path, &state);

    hr_reason_clear(reason);
    if (status == -ENOENT)
        return 0;
    if (status == -EBADMSG)
        return hr_reason_set(reason, status, "%s is not understood", state_path);
    if (status != 0)
        return hr_reason_set(reason, status, "can't read %s (%s)", state_path, strerror(-status));
    if (hr_osnoise_state_owner(&state) != HR_OSNOISE_OWNER_DEAD)
        return 0;
    return hr_reason_set(
        reason, -ESTALE,
        "the run of process %d ended without restoring the kernel's settings, which are in %s",
        (int)state.pid, state_path);
}
