/* SPDX-License-Identifier: MIT */
#include "room/kept_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/cgroup.h"

#define UP "../"

static int name_above(size_t level, const char *file, char name[PATH_MAX])
{
    const size_t up_length = strlen(UP) * level, length = strlen(file);

    if (level > PATH_MAX / strlen(UP) || up_length + length >= PATH_MAX)
        return -ENAMETOOLONG;
    for (size_t i = 0; i < level; i++)
        memcpy(name + strlen(UP) * i, UP, strlen(UP));
    memcpy(name + up_length, file, length + 1);
    return 0;
}

int hr_group_base_open(const struct hr_group_base *base, size_t level, const char *file, int flags)
{
    char name[PATH_MAX];

    int status = name_above(level, file, name);
    if (status < 0)
        return status;
    if (base->fd < 0)
        return hr_cgroup_openat(base->group, name, flags);
    int fd = openat(base->fd, name, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int hr_kept_file_read(int *kept, const struct hr_group_base *base, size_t level, const char *name,
                      char *buffer, size_t size, size_t *length)
{
    int status;

    if (*kept == HR_FILE_MISSING)
        return -ENOENT;
    if (*kept >= 0) {
        status = hr_text_read_file(*kept, buffer, size, length);
        if (status != -ENODEV)
            return status;
        hr_kept_file_close(kept); /* removed, or another group's below that was */
    }
    int fd = hr_group_base_open(base, level, name, O_RDONLY);
    if (fd == -ENOENT)
        *kept = HR_FILE_MISSING;
    if (fd < 0)
        return fd;
    status = hr_text_read_file(fd, buffer, size, length);
    if (status == 0 && hr_descriptor_keep(&fd, HR_KEEP_FILE))
        *kept = fd;
    else
        close(fd);
    return status;
}

void hr_kept_file_close(int *kept)
{
    hr_descriptor_close(kept);
    *kept = HR_FILE_CLOSED;
}
