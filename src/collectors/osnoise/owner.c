/* SPDX-License-Identifier: MIT */
#include "osnoise/owner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/reason.h"
#include "headroom/clock.h"

/* A beginning may take two seconds if CPUs are busy. */
#define WAITS   500
#define WAIT_NS (10 * HR_NS_PER_MS)

/* --- Names ---------------------------------------------------------------- */

bool hr_osnoise_owner_has_name(const char *instance)
{
    static const char prefix[] = HR_OSNOISE_INSTANCE_PREFIX;

    if (strncmp(instance, prefix, sizeof(prefix) - 1) != 0)
        return false;
    instance += sizeof(prefix) - 1;
    return instance[0] != '\0' && instance[strspn(instance, "0123456789_")] == '\0';
}

/* Opening tracing_on has no effect but that the instance can't be removed; its tracer can be
 * changed. */
static void name_file(const char *instance, char path[NAME_MAX + 32])
{
    snprintf(path, NAME_MAX + 32, "instances/%s/tracing_on", instance);
}

/* --- Locks ---------------------------------------------------------------- */

/* @return 0; -EAGAIN: another process has it; or another negative errno. */
static int lock_file(const struct hr_tracefs *tracefs, const char *path, int operation, int *lock)
{
    int fd = openat(tracefs->fd, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    if (flock(fd, operation | LOCK_NB) < 0) {
        hr_descriptor_close(&fd);
        return -errno;
    }
    *lock = fd;
    return 0;
}

static int wait_for_lock(const struct hr_tracefs *tracefs, const char *path, int *lock)
{
    const struct timespec pause = {.tv_nsec = WAIT_NS};
    int status = lock_file(tracefs, path, LOCK_EX, lock);

    for (int i = 0; status == -EAGAIN && i < WAITS; i++) {
        nanosleep(&pause, NULL);
        status = lock_file(tracefs, path, LOCK_EX, lock);
    }
    return status;
}

int hr_osnoise_owner_lock_tracer(const struct hr_tracefs *tracefs, int *lock,
                                 struct hr_reason *reason)
{
    int status = wait_for_lock(tracefs, "osnoise", lock);

    if (status == -EAGAIN)
        return hr_reason_set(reason, -EBUSY,
                             "another run of headroom or of collectd's plugin is just beginning or "
                             "ending: wait until it has, or end the process that has "
                             "/sys/kernel/tracing/osnoise open");
    if (status == -ENOENT)
        return hr_reason_set(reason, status,
                             "this kernel has no osnoise tracer: it needs Linux 5.17 or later with "
                             "CONFIG_OSNOISE_TRACER=y");
    if (status < 0)
        return hr_reason_set(reason, status, "can't lock the tracer's settings (%s)",
                             strerror(-status));
    return 0;
}

int hr_osnoise_owner_lock_instance(const struct hr_tracefs *tracefs, const char *instance,
                                   int *lock)
{
    char path[NAME_MAX + 32];

    name_file(instance, path);
    int status = wait_for_lock(tracefs, path, lock);
    if (status == 0)
        hr_descriptor_keep(lock, HR_KEEP_FILE);
    return status;
}

void hr_osnoise_owner_unlock(int *lock)
{
    if (*lock >= 0)
        flock(*lock, LOCK_UN);
    hr_descriptor_close(lock);
}

/* Those who ask share the lock, so that they aren't taken for the owner by one another. */
int hr_osnoise_owner_is_alive(const struct hr_tracefs *tracefs, const char *instance)
{
    char path[NAME_MAX + 32];
    int lock = -1;

    name_file(instance, path);
    int status = lock_file(tracefs, path, LOCK_SH, &lock);
    hr_descriptor_close(&lock);
    if (status == -EAGAIN)
        return 1;
    /* One that is being removed still has its files for a moment. */
    return status == -ENODEV ? -ENOENT : status;
}

/* --- All instances -------------------------------------------------------- */

int hr_osnoise_owner_visit(const struct hr_tracefs *tracefs,
                           void (*visit)(const char *instance, bool is_alive, void *context),
                           void *context)
{
    const struct dirent *entry;
    int result = 0;
    int fd = openat(tracefs->fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = hr_descriptor_opendir(fd < 0 ? -errno : fd);

    if (directory == NULL)
        return errno == ENOENT ? 0 : -errno;
    while ((errno = 0, entry = readdir(directory)) != NULL) {
        if (!hr_osnoise_owner_has_name(entry->d_name))
            continue;
        int status = hr_osnoise_owner_is_alive(tracefs, entry->d_name);
        if (status >= 0)
            visit(entry->d_name, status == 1, context);
        else if (status != -ENOENT)
            result = status;
    }
    if (errno != 0)
        result = -errno;
    closedir(directory);
    return result;
}
