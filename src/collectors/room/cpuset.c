/* SPDX-License-Identifier: MIT */
#include "room/cpuset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/cgroup.h"
#include "headroom/cpu_set.h"
#include "room/group_file.h"
#include "room/kept_file.h"

#define FILE_NAME "cpuset.cpus.effective"

static int read_version_1(const struct hr_root *root, struct hr_group_mounts *mounts,
                          const struct hr_cgroup *group, char *text, size_t size, size_t *length)
{
    int version, fd = hr_group_directory_open(root, mounts, group, "cpuset", FILE_NAME, &version);

    if (fd < 0)
        return fd;
    int status = hr_group_file_read(fd, version == 1 ? "cpuset.effective_cpus" : FILE_NAME, text,
                                    size, length);
    close(fd);
    return status;
}

/* The mount's own directory has the file, too; in version 1 all groups have it. */
int hr_cpuset_read(const struct hr_root *root, struct hr_group_mounts *mounts,
                   const struct hr_cgroup *group, struct hr_cpu_set *cpus)
{
    const struct hr_group_base base = {group, -1};
    const size_t levels = hr_group_count_levels(group->path, SIZE_MAX);
    char text[4096];
    size_t length;
    int status = -ENOENT;

    for (size_t i = 0; i <= levels && status == -ENOENT; i++)
        status = hr_text_read_and_close(hr_group_base_open(&base, i, FILE_NAME, O_RDONLY), text,
                                        sizeof(text), &length);
    if (status == -ENOENT)
        status = read_version_1(root, mounts, group, text, sizeof(text), &length);
    return status < 0 ? status : hr_cpu_set_parse(text, length, cpus);
}
