/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <libcgroup.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/mount.h"

/* By default libcgroup prints errors to standard output, among what the program prints. */
static void discard_message(void *unused, int level, const char *format, va_list arguments)
{
    (void)unused;
    (void)level;
    (void)format;
    (void)arguments;
}

int hr_mount_open_by_libcgroup(const struct hr_root *root)
{
    struct cgroup_mount_point mount;
    void *handle = NULL;
    int fd = -ENOENT;

    cgroup_set_logger(discard_message, CGROUP_LOG_ERROR, NULL);
    if (cgroup_init() != 0)
        return -ENOENT;
    int status = cgroup_get_controller_begin(&handle, &mount);
    while (status == 0 && fd < 0) {
        fd = hr_mount_open(root, mount.path, CGROUP2_SUPER_MAGIC);
        status = cgroup_get_controller_next(&handle, &mount);
    }
    cgroup_get_controller_end(&handle);
    return fd < 0 ? -ENOENT : fd; /* errors of version 1 mounts don't matter */
}
