/* SPDX-License-Identifier: MIT */
#include "headroom/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/cgroup.h"
#include "room/group_file.h"
#include "room/group_limits.h"

struct hr_limits {
    size_t level_count; /* the group and those above it, without the mount's own */
    int dirfd;          /* or the negative errno of opening it */
    int version;
};

int hr_limits_open(const struct hr_root *root, const struct hr_cgroup *group,
                   struct hr_limits **limits)
{
    struct hr_limits *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->level_count = hr_group_count_levels(group->path, SIZE_MAX);
    opened->dirfd =
        hr_group_directory_open(root, NULL, group, "memory", "memory.max", &opened->version);
    if (opened->dirfd < 0 && opened->dirfd != -ENOENT) {
        int status = opened->dirfd;
        hr_limits_close(opened);
        return status;
    }
    *limits = opened;
    return 0;
}

void hr_limits_close(struct hr_limits *limits)
{
    if (limits == NULL)
        return;
    if (limits->dirfd >= 0)
        close(limits->dirfd);
    free(limits);
}

/* Reads from a directory upwards, and closes it. */
static int read_upwards(const struct hr_limits *limits, int dirfd, struct hr_limit *limit)
{
    struct hr_limit tightest = {.value = HR_NO_LIMIT};
    int status = 0;

    for (size_t level = 0; status == 0 && level < limits->level_count; level++) {
        struct hr_group_memory_limits read;
        if (level > 0)
            dirfd = hr_group_directory_ascend(dirfd);
        if (dirfd < 0)
            return dirfd;
        status = hr_group_memory_limits_read(dirfd, limits->version, &read);
        if (status == 0 && level > 0 && !read.counts_below)
            break;
        if (status == 0 && read.bytes < tightest.value)
            tightest = (struct hr_limit){read.bytes, level};
    }
    close(dirfd);
    if (status == 0)
        *limit = tightest;
    return status;
}

int hr_limits_read(const struct hr_limits *limits, struct hr_limit *limit)
{
    if (limits->dirfd < 0)
        return limits->dirfd;
    int dirfd = openat(limits->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dirfd < 0 ? -errno : read_upwards(limits, dirfd, limit);
}

int hr_limits_read_usage(const struct hr_limits *limits, uint64_t *bytes)
{
    char text[32];
    size_t length;

    if (limits->dirfd < 0)
        return limits->dirfd;
    int status = hr_group_file_read(
        limits->dirfd, limits->version == 1 ? "memory.usage_in_bytes" : "memory.current", text,
        sizeof(text), &length);
    return status < 0 ? status : hr_text_number_parse(text, length, UINT64_MAX, bytes);
}
