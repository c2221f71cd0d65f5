/* SPDX-License-Identifier: MIT */
/*
 * support/descriptor_shortage.h - leaves too few file descriptors, and counts them.
 */
#ifndef HEADROOM_TESTS_SUPPORT_DESCRIPTOR_SHORTAGE_H
#define HEADROOM_TESTS_SUPPORT_DESCRIPTOR_SHORTAGE_H

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/**
 * Sets RLIMIT_NOFILE so that so many descriptors are left, all of them with numbers beyond three
 * quarters of the limit if they are few.
 */
static inline void leave_descriptors(int count)
{
    struct rlimit limit;
    int fd;

    while ((fd = dup(STDOUT_FILENO)) < 8 * count)
        continue;
    close(fd);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)(fd + count);
    setrlimit(RLIMIT_NOFILE, &limit);
}

/** How many descriptors are open. */
static inline int count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 4096; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

#endif
