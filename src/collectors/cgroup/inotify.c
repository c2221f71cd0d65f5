/* SPDX-License-Identifier: MIT */
#include "cgroup/inotify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

struct hr_inotify {
    int fd;
};

int hr_inotify_open(struct hr_inotify **inotify)
{
    struct hr_inotify *opened = malloc(sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (opened->fd < 0) {
        int status = -errno;
        free(opened);
        return status;
    }
    *inotify = opened;
    return 0;
}

void hr_inotify_close(struct hr_inotify *inotify)
{
    if (inotify == NULL)
        return;
    close(inotify->fd);
    free(inotify);
}

int hr_inotify_fd(const struct hr_inotify *inotify)
{
    return inotify->fd;
}

int hr_inotify_add_watch(struct hr_inotify *inotify, int dirfd, const char *name, uint32_t mask)
{
    /* inotify only takes paths; this one always leads to the directory of the descriptor, whatever
     * has its path by now. */
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d%s%s", dirfd, name ? "/" : "", name ? name : "");
    int descriptor = inotify_add_watch(inotify->fd, path, mask);
    return descriptor < 0 ? -errno : descriptor;
}

void hr_inotify_remove_watch(struct hr_inotify *inotify, int descriptor)
{
    inotify_rm_watch(inotify->fd, descriptor);
}

int hr_inotify_read(struct hr_inotify *inotify, void (*changed)(int descriptor, void *context),
                    void *context)
{
    _Alignas(struct inotify_event) char buffer[16384];
    int status = 0;

    for (;;) {
        ssize_t got = read(inotify->fd, buffer, sizeof(buffer));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno == EAGAIN ? status : -errno;
        for (ssize_t offset = 0; offset < got;) {
            const struct inotify_event *event = (const void *)(buffer + offset);
            offset += (ssize_t)(sizeof(*event) + event->len);
            if (event->mask & IN_Q_OVERFLOW)
                status = -EOVERFLOW;
            else if (!(event->mask & IN_IGNORED))
                changed(event->wd, context);
        }
    }
}
