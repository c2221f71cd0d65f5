/* SPDX-License-Identifier: MIT */
#include "osnoise/recover.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/reason.h"
#include "headroom/osnoise.h"
#include "headroom/pid_namespace.h"
#include "osnoise/instance.h"
#include "osnoise/owner.h"
#include "osnoise/rank.h"
#include "osnoise/users.h"

/* --- Restoring ------------------------------------------------------------ */

static int explain_removal_error(struct hr_reason *reason, const char *name, int error)
{
    if (error == -EBUSY)
        return hr_reason_set(reason, error,
                             "can't remove the trace instance %s, as a program reads it, or its "
                             "triggers can't be removed: end the program that has files of "
                             "/sys/kernel/tracing/instances/%s open",
                             name, name);
    return hr_reason_set(reason, error, "can't remove the trace instance %s (%s)", name,
                         strerror(-error));
}

static int remove_instance(const struct hr_tracefs *tracefs, const char *name, int *lock,
                           struct hr_reason *reason)
{
    int status = hr_osnoise_instance_remove(tracefs, name, lock);

    return status < 0 ? explain_removal_error(reason, name, status) : 0;
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

static int remove_state(const char *state_path, struct hr_reason *reason)
{
    int status = hr_osnoise_state_remove(state_path);

    if (status < 0)
        return hr_reason_set(reason, status, "can't remove the state file %s (%s)", state_path,
                             strerror(-status));
    return 0;
}

int hr_osnoise_restore(const struct hr_root *root, const struct hr_tracefs *tracefs,
                       const struct hr_osnoise_state *state, int *lock, const char *state_path,
                       struct hr_reason *reason)
{
    const int has_tracer = hr_osnoise_instance_has_tracer(tracefs, state->instance);

    /* In attach they are another program's. */
    if (has_tracer == 1 && hr_has_pids_of_kernel())
        hr_osnoise_let_workload_end(root, &state->ours.cpus);
    int status = remove_instance(tracefs, state->instance, lock, reason);
    int restored = has_tracer == -ENOENT ? 0 : restore_disruptive(tracefs, state);

    if (status == 0 && restored < 0)
        status = explain_restore_error(reason, restored);
    if (status == 0)
        status = restore_settings(tracefs, state, reason);
    return status < 0 ? status : remove_state(state_path, reason);
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

static int explain_alive(const struct hr_osnoise_state *state, const char *state_path,
                         struct hr_reason *reason)
{
    char process[80];

    if (hr_osnoise_state_is_own(state))
        return hr_reason_set(reason, -EBUSY, "this process has a run already");
    hr_osnoise_state_print_process(state, process, sizeof(process));
    return hr_reason_set(reason, -EBUSY,
                         "%s runs the tracer with the same state file, %s: end it, or choose "
                         "another file",
                         process, state_path);
}

static int explain_unknown(const char *instance, int error, struct hr_reason *reason)
{
    return hr_reason_set(reason, error,
                         "can't find whether the run of the trace instance %s goes on (%s)",
                         instance, strerror(-error));
}

/* A state with the ID of another boot may be of a container that has an ID of its own: then the
 * instance of its run is there. */
int hr_osnoise_recover_in(const struct hr_root *root, const struct hr_tracefs *tracefs,
                          const char *state_path, struct hr_reason *reason)
{
    struct hr_osnoise_state state;
    int status = read_state(state_path, &state, reason);

    if (status < 0)
        return status == -ENOENT ? 0 : status;
    status = hr_osnoise_owner_is_alive(tracefs, state.instance);
    if (status == 1)
        return explain_alive(&state, state_path, reason);
    if (status < 0 && status != -ENOENT)
        return explain_unknown(state.instance, status, reason);
    if (status == -ENOENT && hr_osnoise_state_is_past(&state))
        return remove_state(state_path, reason);
    return hr_osnoise_restore(root, tracefs, &state, NULL, state_path, reason);
}

/* Opens tracefs and takes the tracer's lock. */
static int open_locked(const struct hr_root *root, struct hr_tracefs *tracefs, int *lock,
                       struct hr_reason *reason)
{
    int status = hr_tracefs_open(root, tracefs, reason);

    if (status < 0)
        return status;
    status = hr_osnoise_owner_lock_tracer(tracefs, lock, reason);
    if (status < 0)
        hr_tracefs_close(tracefs);
    return status;
}

/* After a reboot a kernel without the tracer has nothing to restore. @return as open_locked(), or
 * 1: so it is. */
static int open_for_state(const struct hr_root *root, const struct hr_osnoise_state *state,
                          struct hr_tracefs *tracefs, int *lock, struct hr_reason *reason)
{
    int status = open_locked(root, tracefs, lock, reason);

    if (status != -ENOENT || !hr_osnoise_state_is_past(state))
        return status;
    hr_reason_clear(reason);
    return 1;
}

static void close_locked(struct hr_tracefs *tracefs, int *lock)
{
    hr_osnoise_owner_unlock(lock);
    hr_tracefs_close(tracefs);
}

int hr_osnoise_recover(const struct hr_root *root, const char *state_path, struct hr_reason *reason)
{
    struct hr_osnoise_state state;
    struct hr_tracefs tracefs;
    int lock;

    hr_reason_clear(reason);
    int status = read_state(state_path, &state, reason);
    if (status < 0)
        return status == -ENOENT ? 0 : status;
    status = open_for_state(root, &state, &tracefs, &lock, reason);
    if (status == 1)
        return remove_state(state_path, reason);
    if (status < 0)
        return status;
    status = hr_osnoise_recover_in(root, &tracefs, state_path, reason);
    close_locked(&tracefs, &lock);
    return status;
}

static int check_left_behind(const struct hr_tracefs *tracefs, const struct hr_osnoise_state *state,
                             const char *state_path, struct hr_reason *reason)
{
    char process[80];
    int status = hr_osnoise_owner_is_alive(tracefs, state->instance);

    if (status == 1)
        return 1;
    if (status < 0 && status != -ENOENT)
        return explain_unknown(state->instance, status, reason);
    if (status == -ENOENT && hr_osnoise_state_is_past(state))
        return 0;
    hr_osnoise_state_print_process(state, process, sizeof(process));
    return hr_reason_set(
        reason, -ESTALE,
        "the run of %s ended without restoring the kernel's settings, which are in %s", process,
        state_path);
}

int hr_osnoise_left_behind(const struct hr_root *root, const char *state_path,
                           struct hr_reason *reason)
{
    struct hr_osnoise_state state;
    struct hr_tracefs tracefs;
    int lock, status = hr_osnoise_state_read(state_path, &state);

    hr_reason_clear(reason);
    if (status == -ENOENT)
        return 0;
    if (status == -EBADMSG)
        return hr_reason_set(reason, status, "%s is not understood", state_path);
    if (status != 0)
        return hr_reason_set(reason, status, "can't read %s (%s)", state_path, strerror(-status));
    status = open_for_state(root, &state, &tracefs, &lock, reason);
    if (status != 0)
        return status == 1 ? 0 : status;
    status = check_left_behind(&tracefs, &state, state_path, reason);
    close_locked(&tracefs, &lock);
    return status;
}

/* --- Instances without a state file ---------------------------------------- */

struct removal {
    const struct hr_root *root;
    const struct hr_tracefs *tracefs;
    const struct hr_osnoise_visitor *visitor; /* NULL: none */
    struct hr_osnoise_settings now;
    struct hr_reason first; /* of the first that can't be removed; error 0: none */
};

static void report(const struct hr_osnoise_visitor *visitor, const char *instance, bool is_alive)
{
    if (visitor != NULL)
        visitor->visit(instance, is_alive, visitor->context);
}

static bool has_disruptive(const struct hr_osnoise_settings *settings)
{
    for (int setting = 0; setting < HR_OSNOISE_SETTING_COUNT; setting++)
        if (hr_osnoise_setting_is_disruptive(setting) && settings->has[setting] &&
            settings->numbers[setting] != 0)
            return true;
    return false;
}

/* Another program that runs now may have chosen them. It is waited for with the instance in place,
 * as without one it wouldn't be known afterwards that a run has left them on. */
static int check_disruptive_unused(const struct hr_tracefs *tracefs, struct hr_reason *reason)
{
    struct hr_osnoise_user user;
    char who[300];
    int status = hr_osnoise_users_find_alive(tracefs, "osnoise", &user);

    if (status == 0)
        status = hr_osnoise_users_find_alive(tracefs, "timerlat", &user);
    if (status < 0)
        return explain_restore_error(reason, status);
    if (status == 0)
        return 0;
    hr_osnoise_user_print(&user, who, sizeof(who));
    return hr_reason_set(
        reason, -EBUSY,
        "%s runs the %s tracer with interrupts or preemption off, which a run that "
        "was killed may have left so: end it, then headroom osnoise --restore",
        who, user.tracer);
}

/* What the other settings were before isn't known. */
static int switch_disruptive_off(const struct hr_tracefs *tracefs,
                                 const struct hr_osnoise_settings *now, struct hr_reason *reason)
{
    struct hr_osnoise_settings on = {0}, off = {0};

    if (!has_disruptive(now))
        return 0;
    int status = check_disruptive_unused(tracefs, reason);
    if (status < 0)
        return status;
    for (int setting = 0; setting < HR_OSNOISE_SETTING_COUNT; setting++) {
        on.has[setting] = off.has[setting] = hr_osnoise_setting_is_disruptive(setting);
        on.numbers[setting] = 1;
    }
    status = hr_osnoise_settings_restore(tracefs, &on, &off);
    return status < 0 ? explain_restore_error(reason, status) : 0;
}

static void let_workload_end(const struct removal *removal, const char *instance)
{
    if (hr_has_pids_of_kernel() && hr_osnoise_instance_has_tracer(removal->tracefs, instance) == 1)
        hr_osnoise_let_workload_end(removal->root, &removal->now.cpus);
}

/* Switching an option starts the workload anew. */
static int remove_left_behind(const struct removal *removal, const char *instance,
                              struct hr_reason *reason)
{
    let_workload_end(removal, instance);
    int status = switch_disruptive_off(removal->tracefs, &removal->now, reason);
    if (status < 0)
        return status;
    let_workload_end(removal, instance);
    status = hr_osnoise_instance_remove_unused(removal->tracefs, instance);
    return status < 0 ? explain_removal_error(reason, instance, status) : 0;
}

static void remove_if_left_behind(const char *instance, bool is_alive, void *context)
{
    struct removal *removal = context;
    struct hr_reason why = {0};

    if (!is_alive && remove_left_behind(removal, instance, &why) < 0) {
        if (removal->first.error == 0)
            removal->first = why;
        return;
    }
    report(removal->visitor, instance, is_alive);
}

int hr_osnoise_remove_left_behind_in(const struct hr_root *root, const struct hr_tracefs *tracefs,
                                     const struct hr_osnoise_visitor *visitor,
                                     struct hr_reason *reason)
{
    struct removal removal = {.root = root, .tracefs = tracefs, .visitor = visitor};
    int status = hr_osnoise_settings_read(tracefs, &removal.now, reason);

    if (status < 0)
        return status;
    status = hr_osnoise_owner_visit(tracefs, remove_if_left_behind, &removal);
    if (removal.first.error != 0)
        return hr_reason_set(reason, removal.first.error, "%s", removal.first.text);
    return status < 0 ? explain_unknown(HR_OSNOISE_INSTANCE_PREFIX "*", status, reason) : 0;
}

static int visit_in(__attribute__((unused)) const struct hr_root *root,
                    const struct hr_tracefs *tracefs, const struct hr_osnoise_visitor *visitor,
                    struct hr_reason *reason)
{
    int status = hr_osnoise_owner_visit(tracefs, visitor->visit, visitor->context);

    return status < 0 ? explain_unknown(HR_OSNOISE_INSTANCE_PREFIX "*", status, reason) : 0;
}

/* Without a tracer there are no instances. */
static int act_locked(const struct hr_root *root,
                      int (*act)(const struct hr_root *, const struct hr_tracefs *,
                                 const struct hr_osnoise_visitor *, struct hr_reason *),
                      const struct hr_osnoise_visitor *visitor, struct hr_reason *reason)
{
    struct hr_tracefs tracefs;
    int lock;

    hr_reason_clear(reason);
    int status = open_locked(root, &tracefs, &lock, reason);
    if (status < 0)
        return status == -ENOENT ? 0 : status;
    status = act(root, &tracefs, visitor, reason);
    close_locked(&tracefs, &lock);
    return status;
}

int hr_osnoise_remove_left_behind(const struct hr_root *root,
                                  const struct hr_osnoise_visitor *visitor,
                                  struct hr_reason *reason)
{
    return act_locked(root, hr_osnoise_remove_left_behind_in, visitor, reason);
}

int hr_osnoise_visit(const struct hr_root *root, const struct hr_osnoise_visitor *visitor,
                     struct hr_reason *reason)
{
    return act_locked(root, visit_in, visitor, reason);
}
