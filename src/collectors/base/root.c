/* SPDX-License-Identifier: MIT */
#include "headroom/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mount.h"

struct hr_root {
    int fd;
    bool is_live; /* "/" itself */
};

static bool is_live_root(int fd)
{
    struct stat given, live;

    return fstat(fd, &given) == 0 && stat("/", &live) == 0 && given.st_dev == live.st_dev &&
           given.st_ino == live.st_ino;
}

int hr_root_open(const char *path, struct hr_root **root)
{
    struct hr_root *opened = malloc(sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (opened->fd < 0) {
        int status = -errno;
        free(opened);
        return status;
    }
    opened->is_live = is_live_root(opened->fd);

    int probe = hr_root_openat(opened, "", O_PATH);
    if (probe < 0) {
        hr_root_close(opened);
        return probe;
    }
    close(probe);
    *root = opened;
    return 0;
}

void hr_root_close(struct hr_root *root)
{
    if (root == NULL)
        return;
    close(root->fd);
    free(root);
}

/* Where a path goes upwards, openat2() fails with EAGAIN if anything on the machine is renamed or
 * mounted meanwhile. */
#define MOST_TRIES 1000

static int open_in_root(int root, const char *path, int flags)
{
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};
    int fd = -1;

    for (int i = 0; i < MOST_TRIES; i++) {
        fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
        if (fd >= 0 || errno != EAGAIN)
            break;
    }
    return fd;
}

int hr_root_openat(const struct hr_root *root, const char *path, int flags)
{
    const char *relative = path + strspn(path, "/");
    int fd;

    if (*relative == '\0')
        relative = ".";
    if (root->is_live)
        fd = openat(root->fd, relative, flags | O_CLOEXEC);
    else
        fd = open_in_root(root->fd, relative, flags);
    return fd < 0 ? -errno : fd;
}

/* The mount table has no such hierarchy. No errno of opening a directory. */
#define NOT_LISTED (-ESRCH)

int hr_mount_open(const struct hr_root *root, const char *path, long magic)
{
    struct statfs filesystem;
    int fd = hr_root_openat(root, path, O_RDONLY | O_DIRECTORY);

    if (fd < 0)
        return fd;
    bool is_hierarchy = root->is_live ? fstatfs(fd, &filesystem) == 0 && filesystem.f_type == magic
                                      : faccessat(fd, "cgroup.procs", F_OK, AT_EACCESS) == 0;
    if (!is_hierarchy) {
        close(fd);
        return -ENOENT;
    }
    return fd;
}

/* Whether a line of the mount table is version 1's hierarchy with a controller, or, if that is
 * NULL, cgroup2. The name of a hierarchy without controllers is an option "name=…". */
static bool is_mount_of(const struct mntent *entry, const char *controller)
{
    if (controller == NULL)
        return strcmp(entry->mnt_type, "cgroup2") == 0;
    return strcmp(entry->mnt_type, "cgroup") == 0 && hasmntopt(entry, controller) != NULL;
}

/* One of several mounts may not be open to us: the first failure counts if all fail, unless it is
 * only that nothing is there. */
static void open_mount(const struct hr_root *root, const char *path, long magic, int *found)
{
    const int fd = hr_mount_open(root, path, magic);

    if (fd >= 0 || *found == NOT_LISTED || *found == -ENOENT)
        *found = fd;
}

static int open_by_mount_table(const struct hr_root *root, const char *controller)
{
    int table =
        hr_root_openat(root, root->is_live ? "proc/self/mounts" : "proc/1/mounts", O_RDONLY);
    if (table < 0)
        return table == -ENOENT ? NOT_LISTED : table;
    FILE *stream = fdopen(table, "r");
    if (stream == NULL) {
        close(table);
        return -ENOMEM;
    }

    struct mntent entry;
    char buffer[8192];
    int fd = NOT_LISTED;
    while (fd < 0 && getmntent_r(stream, &entry, buffer, sizeof(buffer)) != NULL)
        if (is_mount_of(&entry, controller))
            open_mount(root, entry.mnt_dir,
                       controller != NULL ? CGROUP_SUPER_MAGIC : CGROUP2_SUPER_MAGIC, &fd);
    fclose(stream);
    return fd;
}

int hr_root_open_cgroup2(const struct hr_root *root)
{
    int fd = root->is_live ? hr_mount_open_by_libcgroup(root) : -ENOENT;

    if (fd == -ENOENT)
        fd = open_by_mount_table(root, NULL);
    return fd == NOT_LISTED ? -ENOENT : fd;
}

/* Not by libcgroup: it reads the same table, but doesn't report the version. */
int hr_root_open_cgroup(const struct hr_root *root, const char *controller, int *version)
{
    int fd = controller != NULL ? open_by_mount_table(root, controller) : NOT_LISTED;
    int found = fd == NOT_LISTED ? 2 : 1;

    if (fd == NOT_LISTED)
        fd = hr_root_open_cgroup2(root);
    if (fd >= 0 && version != NULL)
        *version = found;
    return fd;
}
