/* SPDX-License-Identifier: MIT */
#include "oom/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "headroom/root.h"

/* A test's log is a FIFO, which has no position. */
int hr_kmsg_open(const struct hr_root *root)
{
    int fd = hr_root_openat(root, "dev/kmsg", O_RDONLY | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 || lseek(fd, 0, SEEK_END) >= 0 || errno == ESPIPE)
        return fd;
    const int status = -errno;
    close(fd);
    return status;
}

/* /dev/null, as which containers have it, is always at its end. */
int hr_kmsg_read(int fd, char *buffer, size_t size, size_t *length)
{
    ssize_t got;

    do
        got = read(fd, buffer, size);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return got < 0 ? -errno : -ENODATA;
    *length = (size_t)got;
    return 0;
}
