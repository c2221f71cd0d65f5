/* SPDX-License-Identifier: MIT */
#include "perf/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptor.h"

/* Moves a descriptor above those of select(2), if there is room. */
static int move_above_select(int fd)
{
    if (fd >= FD_SETSIZE)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, FD_SETSIZE);
    if (moved < 0)
        return fd;
    close(fd);
    return moved;
}

static int kernel_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                       unsigned long flags)
{
    long opened =
        syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC);

    if (opened < 0)
        return -errno;
    int fd = move_above_select((int)opened);
    /* Other parts of the process that have many descriptors may need more. */
    if (hr_descriptor_may_keep(fd, HR_KEEP_FILE))
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
