/* SPDX-License-Identifier: MIT */
#include "osnoise/leader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/descriptor.h"

int hr_osnoise_leader_open(struct hr_osnoise_leader *leader)
{
    *leader = (struct hr_osnoise_leader){.watches = {-1, -1}};
    leader->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    return leader->fd < 0 ? -errno : 0;
}

void hr_osnoise_leader_close(struct hr_osnoise_leader *leader)
{
    hr_descriptor_close(&leader->fd);
    leader->watches[0] = leader->watches[1] = -1;
}

/* Events only wake the reader: the state is read from the files. */
static void discard_events(const struct hr_osnoise_leader *leader)
{
    char events[4096];

    while (leader->fd >= 0 && read(leader->fd, events, sizeof(events)) > 0)
        ;
}

static void watch_file(struct hr_osnoise_leader *leader, int *watch, const char *directory,
                       const char *file)
{
    char path[HR_TRACEFS_PATH + 300];
    bool is_top = leader->user.instance[0] == '\0';

    if (*watch >= 0)
        inotify_rm_watch(leader->fd, *watch);
    snprintf(path, sizeof(path), "%s/%s%s/%s", directory, is_top ? "" : "instances/",
             leader->user.instance, file);
    *watch = inotify_add_watch(leader->fd, path, IN_MODIFY | IN_DELETE_SELF);
}

static void watch_user(struct hr_osnoise_leader *leader, const struct hr_tracefs *tracefs)
{
    char directory[HR_TRACEFS_PATH];

    if (leader->fd < 0)
        return;
    hr_tracefs_path(tracefs, directory);
    watch_file(leader, &leader->watches[0], directory, "current_tracer");
    watch_file(leader, &leader->watches[1], directory, "tracing_on");
    discard_events(leader); /* of the watches that were removed */
}

int hr_osnoise_leader_find(struct hr_osnoise_leader *leader, const struct hr_tracefs *tracefs,
                           const char *except)
{
    struct hr_osnoise_user found;

    discard_events(leader);
    int status = hr_osnoise_users_find_running(tracefs, except, &found);
    if (status <= 0)
        return status;
    if (leader->watches[0] >= 0 && strcmp(found.instance, leader->user.instance) == 0)
        return 1;
    leader->user = found;
    watch_user(leader, tracefs);
    /* It may have ended before it was watched. */
    return hr_osnoise_users_find_running(tracefs, except, NULL);
}
