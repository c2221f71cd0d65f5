#include "cgroup/inotify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

struct hr_watch {
    int fd;
};

int hr_watch_open(struct hr_watch **watch)
{
    struct hr_watch *opened = malloc(sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (opened->fd < 0) {
        int status = -errno;
        free(opened);
        return status;
    }
    *watch = opened;
    return 0;
}

void hr_watch_close(struct hr_watch *watch)
{
    if (watch == NULL)
        return;
    close(watch->fd);
    free(watch);
}

int hr_watch_fd(const struct hr_watch *watch)
{
    return watch->fd;
}

int hr_watch_add(struct hr_watch *watch, int dirfd, const char *name, uint32_t mask)
{
    /* inotify takes paths only; by way of the descriptor it is this directory and no other that
     * happens to have its path by now. */
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d%s%s", dirfd, name ? "/" : "", name ? name : "");
    int descriptor = inotify_add_watch(watch->fd, path, mask);
    return descriptor < 0 ? -errno : descriptor;
}

void hr_watch_remove(struct hr_watch *watch, int descriptor)
{
    inotify_rm_watch(watch->fd, descriptor);
}

int hr_watch_drain(struct hr_watch *watch, void (*changed)(int descriptor, void *context),
                   void *context)
{
    _Alignas(struct inotify_event) char buffer[16384];
    int status = 0;

    for (;;) {
        ssize_t got = read(watch->fd, buffer, sizeof(buffer));
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
