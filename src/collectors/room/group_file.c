/* SPDX-License-Identifier: MIT */
#include "room/group_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "base/transient.h"
#include "headroom/cgroup.h"
#include "headroom/root.h"
#include "process/stat.h"
#include "room/process_cgroup.h"

static int open_or_errno(int dirfd, const char *name, int flags)
{
    int fd = openat(dirfd, name, flags | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

/* The first process of a group; the list may be longer than the buffer. */
static int read_first_pid(int fd, uint64_t *pid)
{
    char buffer[32];
    ssize_t got = pread(fd, buffer, sizeof(buffer), 0);

    if (got < 0)
        return -errno;
    struct hr_text text = {buffer, (size_t)got};
    if (got == 0)
        return -ENODATA;
    return hr_text_u64(&text, pid) ? 0 : -EBADMSG;
}

static int first_pid_of(int fd, uint64_t *pid)
{
    if (fd < 0)
        return fd;
    int status = read_first_pid(fd, pid);
    close(fd);
    return status;
}

/* While a process ends, as long as its memory is being freed, it is shown in the root cgroup of
 * version 1's hierarchies, but still listed in its group: proc_cgroup_show() of
 * kernel/cgroup/cgroup.c. */
static bool is_exiting(const struct hr_root *root, uint64_t pid)
{
    char name[64];
    struct hr_process_stat stat;

    snprintf(name, sizeof(name), "proc/%" PRIu64 "/stat", pid);
    int status = hr_process_stat_read_and_close(hr_root_openat(root, name, O_RDONLY), &stat);
    return status == -ENOENT || status == -ESRCH || (status == 0 && stat.is_exiting);
}

/* @return 0: it is; -ENOENT: it isn't; -EAGAIN: it ends or has ended, and another may be there. */
static int check_process(const struct hr_root *root, uint64_t pid, const char *controller,
                         const char *path)
{
    char name[64], text[4096];
    size_t length;

    snprintf(name, sizeof(name), "proc/%" PRIu64 "/cgroup", pid);
    int status =
        hr_text_read_and_close(hr_root_openat(root, name, O_RDONLY), text, sizeof(text), &length);
    if (status == -ENOENT || status == -ESRCH)
        return -EAGAIN;
    if (status < 0)
        return hr_is_transient(status) ? status : -ENOENT;
    const bool is_there = hr_process_cgroup_is(text, length, controller, path);
    if (is_there && path[0] != '\0')
        return 0;
    if (is_exiting(root, pid))
        return -EAGAIN;
    return is_there ? 0 : -ENOENT;
}

/* A group without processes of its own has some below; of these version 1 has the parent. Only
 * version 1 lists a process that has ended until its parent waits for it. */
static int check_same(const struct hr_root *root, const struct hr_cgroup *group,
                      const char *controller, int dirfd)
{
    uint64_t pid;

    int status = first_pid_of(hr_cgroup_openat(group, "cgroup.procs", O_RDONLY), &pid);
    if (status == 0)
        return check_process(root, pid, controller, group->path);
    if (status != -ENODATA)
        return status;
    status = first_pid_of(open_or_errno(dirfd, "cgroup.procs", O_RDONLY), &pid);
    if (status == 0)
        return is_exiting(root, pid) ? -EAGAIN : -ENOENT;
    if (status == -ENODATA || hr_is_transient(status))
        return status == -ENODATA ? 0 : status;
    return -ENOENT;
}

bool hr_group_is_at_top(const struct hr_root *root, const struct hr_cgroup *group,
                        const char *controller)
{
    uint64_t pid;

    return first_pid_of(hr_cgroup_openat(group, "cgroup.procs", O_RDONLY), &pid) == 0 &&
           check_process(root, pid, controller, "") == 0;
}

/* --- Version 1's hierarchies --------------------------------------------------------- */

void hr_group_mounts_clear(struct hr_group_mounts *mounts)
{
    for (size_t i = 0; i < mounts->count; i++)
        hr_descriptor_close(&mounts->list[i].fd);
    mounts->count = 0;
}

/* @return as hr_root_open_cgroup(); -ENOENT: version 1 doesn't have it. */
static int open_mount(const struct hr_root *root, const char *controller)
{
    int version, fd = hr_root_open_cgroup(root, controller, &version);

    if (fd < 0 || version == 1)
        return fd;
    close(fd);
    return -ENOENT;
}

/* @param mount  receives it; -1: version 1 doesn't have it. @return 0 or a transient failure. */
static int find_mount(const struct hr_root *root, struct hr_group_mounts *mounts,
                      const char *controller, int *mount)
{
    for (size_t i = 0; i < mounts->count; i++)
        if (strcmp(mounts->list[i].controller, controller) == 0) {
            *mount = mounts->list[i].fd;
            return 0;
        }
    int fd = open_mount(root, controller);
    if (hr_is_transient(fd))
        return fd;
    if (mounts->count == HR_GROUP_MOUNTS)
        hr_group_mounts_clear(mounts);
    *mount = fd >= 0 ? fd : -1;
    mounts->list[mounts->count++] = (struct hr_group_mount){controller, *mount};
    return 0;
}

static int open_version_1(const struct hr_root *root, const struct hr_cgroup *group,
                          const char *controller, int mount)
{
    int dirfd = open_or_errno(mount, group->path, O_RDONLY | O_DIRECTORY);

    if (dirfd < 0)
        return dirfd;
    int status = check_same(root, group, controller, dirfd);
    if (status == 0)
        return dirfd;
    close(dirfd);
    return status;
}

/* Finding the mount takes longer than all else, so that cgroup2 is tried without. */
static int find_directory(const struct hr_root *root, struct hr_group_mounts *mounts,
                          const struct hr_cgroup *group, const char *controller, const char *file,
                          int *version)
{
    int dirfd = hr_cgroup_openat(group, ".", O_RDONLY | O_DIRECTORY), mount = -1;

    if (dirfd < 0)
        return dirfd;
    int status =
        faccessat(dirfd, file, F_OK, 0) < 0 ? find_mount(root, mounts, controller, &mount) : 0;
    if (status == 0 && mount < 0) {
        *version = 2;
        return dirfd;
    }
    close(dirfd);
    if (status < 0)
        return status;
    dirfd = open_version_1(root, group, controller, mount);
    if (dirfd >= 0)
        *version = 1;
    return dirfd;
}

int hr_group_directory_open(const struct hr_root *root, struct hr_group_mounts *mounts,
                            const struct hr_cgroup *group, const char *controller, const char *file,
                            int *version)
{
    struct hr_group_mounts none = {.count = 0};

    int dirfd =
        find_directory(root, mounts != NULL ? mounts : &none, group, controller, file, version);
    hr_group_mounts_clear(&none);
    return dirfd;
}

/* --- Files ------------------------------------------------------------------------------ */

int hr_group_directory_ascend(int dirfd)
{
    int above = open_or_errno(dirfd, "..", O_RDONLY | O_DIRECTORY);

    close(dirfd);
    return above;
}

size_t hr_group_count_levels(const char *path, size_t max)
{
    size_t count = 1;

    for (; *path != '\0'; path++)
        count += *path == '/';
    return count < max ? count : max;
}

int hr_group_file_read(int dirfd, const char *name, char *buffer, size_t size, size_t *length)
{
    return hr_text_read_and_close(open_or_errno(dirfd, name, O_RDONLY), buffer, size, length);
}
