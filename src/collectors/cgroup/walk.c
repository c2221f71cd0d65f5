/* SPDX-License-Identifier: MIT */
#include "cgroup/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "cgroup/subdirectories.h"
#include "headroom/array.h"

/* The directories found, as paths relative to the group's own. */
struct queue {
    char **paths;
    size_t count, capacity, max;
};

static int push_path(struct queue *queue, const char *above, const char *name)
{
    if (HR_ARRAY_RESERVE(queue->paths, queue->capacity, queue->count + 1) < 0 ||
        asprintf(&queue->paths[queue->count], "%s/%s", above, name) < 0)
        return -ENOMEM;
    queue->count++;
    return 0;
}

static int push_subdirectories(struct queue *queue, const char *path, int dirfd,
                               struct hr_scan *scan)
{
    int status = hr_scan_read(dirfd, scan);

    for (size_t i = 0; i < scan->count && status == 0 && queue->count < queue->max; i++)
        status = push_path(queue, path, scan->entries[i].name);
    return status;
}

static int visit_below(struct queue *queue, int top, int (*visit)(void *state, int dirfd),
                       void *state, struct hr_scan *scan)
{
    for (size_t i = 0; i < queue->count; i++) {
        int dirfd = openat(top, queue->paths[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int status = dirfd < 0 ? -errno : visit(state, dirfd);
        if (status == 0)
            status = push_subdirectories(queue, queue->paths[i], dirfd, scan);
        hr_descriptor_close(&dirfd);
        if (status < 0 && status != -ENOENT && status != -ENODEV)
            return status;
    }
    return 0;
}

static void free_queue(struct queue *queue)
{
    for (size_t i = 0; i < queue->count; i++)
        free(queue->paths[i]);
    free(queue->paths);
}

int hr_cgroup_walk(int dirfd, size_t max, int (*visit)(void *state, int dirfd), void *state)
{
    struct queue queue = {.max = max};
    struct hr_scan scan = {0};

    int status = push_subdirectories(&queue, ".", dirfd, &scan);
    if (status == 0)
        status = visit_below(&queue, dirfd, visit, state, &scan);
    hr_scan_free(&scan);
    free_queue(&queue);
    return status;
}
