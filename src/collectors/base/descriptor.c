/* SPDX-License-Identifier: MIT */
#include "base/descriptor.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

bool hr_descriptor_may_keep(int fd, enum hr_keep what)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return false;
    return limit.rlim_cur == RLIM_INFINITY || (rlim_t)fd < limit.rlim_cur / 8 * (rlim_t)what;
}

void hr_descriptor_close(int *fd)
{
    int saved = errno;

    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = saved;
}

DIR *hr_descriptor_opendir(int fd)
{
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    DIR *directory = fdopendir(fd);
    if (directory == NULL)
        hr_descriptor_close(&fd);
    return directory;
}
