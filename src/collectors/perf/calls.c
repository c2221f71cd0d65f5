/* SPDX-License-Identifier: MIT */
#include "perf/calls.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptor.h"

static int kernel_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                       unsigned long flags)
{
    long opened =
        syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC);

    if (opened < 0)
        return -errno;
    int fd = (int)opened;
    if (hr_descriptor_keep(&fd, HR_KEEP_FILE))
        return fd;
    close(fd);
    return -EMFILE;
}

static int kernel_enable(int fd)
{
    return ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) < 0 ? -errno : 0;
}

static ssize_t kernel_read(int fd, void *buffer, size_t size)
{
    ssize_t length = read(fd, buffer, size);

    return length < 0 ? -errno : length;
}

static void kernel_close(int fd)
{
    close(fd);
}

const struct hr_perf_calls hr_perf_kernel_calls = {
    .open = kernel_open,
    .enable = kernel_enable,
    .read = kernel_read,
    .close = kernel_close,
};
