/* SPDX-License-Identifier: MIT */
#include "cgroup/inodes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup/walk.h"
#include "headroom/array.h"

static int append_number(struct hr_cgroup_inodes *inodes, uint64_t number)
{
    if (HR_ARRAY_RESERVE(inodes->numbers, inodes->capacity, inodes->count + 1) < 0)
        return -ENOMEM;
    inodes->numbers[inodes->count++] = number;
    return 0;
}

static int append_group_inode(void *inodes, int dirfd)
{
    struct stat group;

    return fstat(dirfd, &group) < 0 ? -errno : append_number(inodes, group.st_ino);
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

int hr_cgroup_inodes_read(int dirfd, struct hr_cgroup_inodes *inodes)
{
    if (faccessat(dirfd, "cgroup.procs", F_OK, AT_EACCESS) < 0)
        return errno == ENOENT ? -ENODEV : -errno;
    int status = append_group_inode(inodes, dirfd);
    if (status == 0)
        status = hr_cgroup_walk(dirfd, SIZE_MAX, append_group_inode, inodes);
    if (status < 0)
        hr_cgroup_inodes_free(inodes);
    else
        qsort(inodes->numbers, inodes->count, sizeof(*inodes->numbers), compare_numbers);
    return status;
}

bool hr_cgroup_inodes_has(const struct hr_cgroup_inodes *inodes, uint64_t number)
{
    return inodes->count > 0 && bsearch(&number, inodes->numbers, inodes->count,
                                        sizeof(*inodes->numbers), compare_numbers) != NULL;
}

void hr_cgroup_inodes_free(struct hr_cgroup_inodes *inodes)
{
    free(inodes->numbers);
    *inodes = (struct hr_cgroup_inodes){0};
}
