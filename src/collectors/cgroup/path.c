/* SPDX-License-Identifier: MIT */
/*
 * cgroup/path.c - paths of groups.
 */
#include "headroom/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "headroom/root.h"

int hr_cgroup_find(const struct hr_root *root, const char *path)
{
    struct stat found;
    int mount = hr_root_open_cgroup2(root);

    if (mount < 0)
        return mount;
    int status = fstatat(mount, path, &found, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -errno;
    close(mount);
    return status;
}

bool hr_cgroup_is_within(const char *path, const char *above)
{
    const size_t length = strlen(above);

    return length == 0 ||
           (strncmp(path, above, length) == 0 && (path[length] == '\0' || path[length] == '/'));
}

size_t hr_cgroup_above_length(const char *path, size_t level)
{
    size_t length = strlen(path);

    for (; level > 0; level--)
        while (length > 0 && path[--length] != '/')
            continue;
    return length;
}
