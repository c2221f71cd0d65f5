/* SPDX-License-Identifier: MIT */
#include "osnoise/restore.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/osnoise_state.h"
#include "common/usage.h"
#include "common/waiting.h"
#include "headroom/osnoise.h"
#include "headroom/root.h"

/* What is reported of a restoration. */
struct restoration {
    const struct hr_root *root;
    const char *title;
    size_t reported;
    struct hr_reason failed; /* the last failure printed */
};

/* An instance that can't be removed is found by its state file and then by its name. */
static int fail_to_restore(struct restoration *restoration, const struct hr_reason *reason)
{
    if (strcmp(restoration->failed.text, reason->text) != 0)
        fprintf(stderr, "%s: %s\n", restoration->title, reason->text);
    restoration->failed = *reason;
    return COMMAND_FAILED;
}

static int restore_from(struct restoration *restoration, const char *state_path)
{
    struct hr_reason reason = {0};
    bool was_there = access(state_path, F_OK) == 0;
    if (hr_osnoise_recover(restoration->root, state_path, &reason) != 0)
        return fail_to_restore(restoration, &reason);
    if (was_there)
        printf("Restored what the run of %s had changed.\n", state_path);
    restoration->reported += was_there;
    return COMMAND_DONE;
}

static void print_instance(const char *instance, bool is_alive, void *context)
{
    struct restoration *restoration = context;
    if (is_alive)
        printf("The run of the trace instance %s goes on, so it isn't touched.\n", instance);
    else
        printf("Removed the trace instance %s of a run that was killed; what it has set stays, "
               "unless it has a --state file.\n",
               instance);
    restoration->reported++;
}

/* By the usual state files, and of what is left then, whose state file isn't known. */
static int restore_usual(struct restoration *restoration)
{
    static const char *const paths[] = {OSNOISE_STATE_PATH, OSNOISE_ATTACH_STATE_PATH,
                                        OSNOISE_PLUGIN_STATE_PATH};
    const struct hr_osnoise_visitor visitor = {print_instance, restoration};
    struct hr_reason reason = {0};
    int status = COMMAND_DONE;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (hr_osnoise_left_behind(restoration->root, paths[i], &reason) != 1)
            status = restore_from(restoration, paths[i]) == COMMAND_DONE ? status : COMMAND_FAILED;
    if (hr_osnoise_remove_left_behind(restoration->root, &visitor, &reason) != 0)
        status = fail_to_restore(restoration, &reason);
    if (status == COMMAND_DONE && restoration->reported == 0)
        puts("Nothing to restore: no run was killed.");
    return status;
}

static int restore_given(struct restoration *restoration, const char *state_path)
{
    int status = restore_from(restoration, state_path);
    if (status == COMMAND_DONE && restoration->reported == 0)
        printf("Nothing to restore: there is no %s.\n", state_path);
    return status;
}

int osnoise_restore(const char *title, const char *state_path)
{
    struct hr_root *root;

    waiting_hold_signals();
    int status = hr_root_open("/", &root);
    if (status != 0) {
        fprintf(stderr, "%s: cannot use / as root directory: %s\n", title, strerror(-status));
        return COMMAND_FAILED;
    }
    struct restoration restoration = {.root = root, .title = title};
    status =
        state_path != NULL ? restore_given(&restoration, state_path) : restore_usual(&restoration);
    hr_root_close(root);
    if (fflush(stdout) == 0)
        return status;
    fprintf(stderr, "%s: cannot write: %s\n", title, strerror(errno));
    return COMMAND_FAILED;
}
