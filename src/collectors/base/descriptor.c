/* SPDX-License-Identifier: MIT */
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <unistd.h>

/* Enough for the pressure files of 9,000 cgroups. */
#define USUAL_LIMIT 65536

static rlim_t soft_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

/* The first number that may be kept: there must be as many above those of select(2) as below. */
static rlim_t first_number(rlim_t limit)
{
    return limit >= 2 * FD_SETSIZE ? FD_SETSIZE : 0;
}

static rlim_t share_of(rlim_t limit, enum hr_keep what)
{
    return (limit - first_number(limit)) / 8 * (rlim_t)what;
}

size_t hr_descriptor_share(enum hr_keep what)
{
    return (size_t)share_of(soft_limit(), what);
}

/* The least limit of which `count` files are a share. */
static rlim_t limit_for(size_t count)
{
    const rlim_t limit = FD_SETSIZE + ((rlim_t)count / HR_KEEP_FILE + 1) * 8;

    return limit > USUAL_LIMIT ? limit : USUAL_LIMIT;
}

struct hr_descriptor_limits hr_descriptor_raise_limit(size_t count)
{
    const rlim_t wanted = limit_for(count);
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return (struct hr_descriptor_limits){0};
    const size_t before = (size_t)limit.rlim_cur;
    const rlim_t raised = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    if (raised <= limit.rlim_cur)
        return (struct hr_descriptor_limits){before, before};
    limit.rlim_cur = raised;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return (struct hr_descriptor_limits){before, before};
    return (struct hr_descriptor_limits){before, (size_t)raised};
}

bool hr_descriptor_keep(int *fd, enum hr_keep what)
{
    const rlim_t limit = soft_limit(), first = first_number(limit);
    const int high = (rlim_t)*fd < first ? fcntl(*fd, F_DUPFD_CLOEXEC, (int)first) : *fd;

    if (high < 0)
        return false;
    const bool may_keep = (rlim_t)high < first + share_of(limit, what);
    if (high != *fd)
        close(may_keep ? *fd : high);
    if (may_keep)
        *fd = high;
    return may_keep;
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
