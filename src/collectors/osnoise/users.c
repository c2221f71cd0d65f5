/* SPDX-License-Identifier: MIT */
#include "osnoise/users.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/descriptor.h"
#include "osnoise/owner.h"

/* Which instances to find. */
struct user_filter {
    const char *tracer; /* NULL: any that may be in the way */
    const char *except; /* an instance; may be NULL */
    bool records;       /* only with tracing_on */
    bool is_alive;      /* only those that weren't left behind */
};

static void name_file(const char *instance, const char *file, char path[300])
{
    bool is_top = instance[0] == '\0';

    snprintf(path, 300, "%s%s%s%s", is_top ? "" : "instances/", instance, is_top ? "" : "/", file);
}

/* @return 1, 0, or a negative errno. */
static int is_recording(const struct hr_tracefs *tracefs, const char *instance)
{
    char path[300];
    uint64_t on = 0;

    name_file(instance, "tracing_on", path);
    int status = hr_tracefs_read_number(tracefs, path, &on);
    return status < 0 ? status : on == 1;
}

/* The tracer of functions has no setting in common with osnoise, and goes on beside it in an
 * instance of its own; those of durations have tracing_thresh. Whoever uses the top level is left
 * alone whatever the tracer. */
static bool is_in_the_way(const struct hr_osnoise_user *user)
{
    const bool is_top = user->instance[0] == '\0';

    return strcmp(user->tracer, "nop") != 0 && (is_top || strcmp(user->tracer, "function") != 0);
}

/* Checks the current_tracer of an instance: a word and a newline. @return 1, 0, or a negative
 * errno. */
static int check_instance(const struct hr_tracefs *tracefs, const struct user_filter *user_filter,
                          const char *instance, struct hr_osnoise_user *user)
{
    const char *tracer = user_filter->tracer;
    char path[300];
    struct hr_osnoise_user found;

    snprintf(found.instance, sizeof(found.instance), "%s", instance);
    name_file(instance, "current_tracer", path);
    int status = hr_tracefs_read(tracefs, path, found.tracer, sizeof(found.tracer), NULL);
    if (status < 0)
        return status;
    found.tracer[strcspn(found.tracer, "\n")] = '\0';
    if (tracer != NULL ? strcmp(found.tracer, tracer) != 0 : !is_in_the_way(&found))
        return 0;
    status = user_filter->records ? is_recording(tracefs, instance) : 1;
    if (status == 1 && user != NULL)
        *user = found;
    return status;
}

static bool is_ignored(const struct hr_tracefs *tracefs, const struct user_filter *user_filter,
                       const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return true;
    if (user_filter->except != NULL && strcmp(name, user_filter->except) == 0)
        return true;
    return user_filter->is_alive && hr_osnoise_owner_has_name(name) &&
           hr_osnoise_owner_is_alive(tracefs, name) == 0;
}

static DIR *open_instances(const struct hr_tracefs *tracefs)
{
    int fd = openat(tracefs->fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return hr_descriptor_opendir(fd < 0 ? -errno : fd);
}

/* For an instance that is being removed, opening its file fails with ENOENT, or reading with
 * ENODEV. */
static int find_in_instances(const struct hr_tracefs *tracefs,
                             const struct user_filter *user_filter, struct hr_osnoise_user *user)
{
    int status = 0;
    struct dirent *entry;

    DIR *directory = open_instances(tracefs);
    if (directory == NULL)
        return errno == ENOENT ? 0 : -errno;
    while (status == 0 && (errno = 0, entry = readdir(directory)) != NULL) {
        if (is_ignored(tracefs, user_filter, entry->d_name))
            continue;
        status = check_instance(tracefs, user_filter, entry->d_name, user);
        if (status == -ENOENT || status == -ENODEV)
            status = 0;
    }
    if (status == 0)
        status = -errno;
    closedir(directory);
    return status;
}

static int find_user(const struct hr_tracefs *tracefs, const struct user_filter *user_filter,
                     struct hr_osnoise_user *user)
{
    int status = check_instance(tracefs, user_filter, "", user);

    return status != 0 ? status : find_in_instances(tracefs, user_filter, user);
}

int hr_osnoise_users_find(const struct hr_tracefs *tracefs, const char *tracer, const char *except,
                          struct hr_osnoise_user *user)
{
    const struct user_filter user_filter = {.tracer = tracer, .except = except};

    return find_user(tracefs, &user_filter, user);
}

int hr_osnoise_users_find_running(const struct hr_tracefs *tracefs, const char *except,
                                  struct hr_osnoise_user *user)
{
    const struct user_filter user_filter = {.tracer = "osnoise", .except = except, .records = true};

    return find_user(tracefs, &user_filter, user);
}

int hr_osnoise_users_find_alive(const struct hr_tracefs *tracefs, const char *tracer,
                                struct hr_osnoise_user *user)
{
    const struct user_filter user_filter = {.tracer = tracer, .is_alive = true};

    return find_user(tracefs, &user_filter, user);
}

void hr_osnoise_user_print(const struct hr_osnoise_user *user, char *text, size_t size)
{
    if (user->instance[0] != '\0')
        snprintf(text, size, "the trace instance %s", user->instance);
    else
        snprintf(text, size, "the top-level trace instance");
}
