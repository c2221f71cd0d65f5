/* SPDX-License-Identifier: MIT */
#include "base/scheduler_domains.h"

#include <errno.h>
#include <fcntl.h>

#include "base/descriptor.h"
#include "base/text.h"

/* @return 0; -ENOENT: there are none, as there is no cgroup2; or another negative errno. */
static int read_partitions(const struct hr_root *root, struct hr_cpu_set *partitions)
{
    char text[4096];
    size_t length;

    int mount = hr_root_open_cgroup2(root);
    if (mount < 0)
        return mount;
    int fd = openat(mount, "cpuset.cpus.isolated", O_RDONLY | O_CLOEXEC);
    const int status = hr_text_read_and_close(fd < 0 ? -errno : fd, text, sizeof(text), &length);
    hr_descriptor_close(&mount);
    if (status < 0)
        return status == -ENOENT ? -EOPNOTSUPP : status;
    return hr_cpu_set_parse(text, length, partitions);
}

int hr_cpus_without_domain_read(const struct hr_root *root, struct hr_cpu_set *cpus)
{
    struct hr_cpu_set booted = {{0}}, partitions = {{0}};
    const int of_boot = hr_cpu_set_read(root, "sys/devices/system/cpu/isolated", &booted);
    const int of_partitions = read_partitions(root, &partitions);

    *cpus = booted;
    hr_cpu_set_merge(cpus, &partitions);
    if (of_boot < 0 && of_boot != -ENOENT)
        return of_boot;
    return of_partitions == -ENOENT ? 0 : of_partitions;
}
