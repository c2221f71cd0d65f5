#include "cgroup_inodes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.h"
#include "scan.h"

/* The directories found, as paths below the group's own: however deep they lie only two are open
 * at a time. */
struct queue {
    char **paths;
    size_t count, capacity;
};

static int push(struct queue *queue, const char *above, const char *name)
{
    if (queue->count == queue->capacity) {
        size_t capacity = queue->capacity ? 2 * queue->capacity : 16;
        void *grown = reallocarray(queue->paths, capacity, sizeof(*queue->paths));
        if (grown == NULL)
            return -ENOMEM;
        queue->paths = grown;
        queue->capacity = capacity;
    }
    if (asprintf(&queue->paths[queue->count], "%s/%s", above, name) < 0)
        return -ENOMEM;
    queue->count++;
    return 0;
}

static int append(struct hr_cgroup_inodes *inodes, uint64_t number)
{
    if (inodes->count == inodes->capacity) {
        size_t capacity = inodes->capacity ? 2 * inodes->capacity : 16;
        void *grown = reallocarray(inodes->numbers, capacity, sizeof(*inodes->numbers));
        if (grown == NULL)
            return -ENOMEM;
        inodes->numbers = grown;
        inodes->capacity = capacity;
    }
    inodes->numbers[inodes->count++] = number;
    return 0;
}

static int append_below(struct hr_cgroup_inodes *inodes, struct queue *queue, int dirfd,
                        const char *path, struct hr_scan *scan)
{
    int status = hr_scan_read(dirfd, scan);

    for (size_t i = 0; i < scan->count && status == 0; i++) {
        status = append(inodes, scan->entries[i].id);
        if (status == 0)
            status = push(queue, path, scan->entries[i].name);
    }
    return status;
}

static int append_all(struct hr_cgroup_inodes *inodes, struct queue *queue, int top,
                      struct hr_scan *scan)
{
    int status = append_below(inodes, queue, top, ".", scan);

    for (size_t i = 0; i < queue->count && status == 0; i++) {
        int dirfd = openat(top, queue->paths[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        status = dirfd < 0 ? -errno : append_below(inodes, queue, dirfd, queue->paths[i], scan);
        hr_descriptor_close(&dirfd);
        if (status == -ENOENT || status == -ENODEV)
            status = 0;
    }
    return status;
}

static void free_queue(struct queue *queue)
{
    for (size_t i = 0; i < queue->count; i++)
        free(queue->paths[i]);
    free(queue->paths);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

int hr_cgroup_inodes_read(int dirfd, struct hr_cgroup_inodes *inodes)
{
    struct queue queue = {0};
    struct hr_scan scan = {0};
    struct stat own;

    if (faccessat(dirfd, "cgroup.procs", F_OK, 0) < 0)
        return errno == ENOENT ? -ENODEV : -errno;
    int status = fstat(dirfd, &own) < 0 ? -errno : append(inodes, own.st_ino);
    if (status == 0)
        status = append_all(inodes, &queue, dirfd, &scan);
    hr_scan_free(&scan);
    free_queue(&queue);
    if (status < 0)
        hr_cgroup_inodes_free(inodes);
    else
        qsort(inodes->numbers, inodes->count, sizeof(*inodes->numbers), by_number);
    return status;
}

bool hr_cgroup_inodes_has(const struct hr_cgroup_inodes *inodes, uint64_t number)
{
    return inodes->count > 0 && bsearch(&number, inodes->numbers, inodes->count,
                                        sizeof(*inodes->numbers), by_number) != NULL;
}

void hr_cgroup_inodes_free(struct hr_cgroup_inodes *inodes)
{
    free(inodes->numbers);
    *inodes = (struct hr_cgroup_inodes){0};
}
