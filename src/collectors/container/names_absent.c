/* SPDX-License-Identifier: MIT */
/*
 * container/names_absent.c - what there is of headroom/container.h without libjansson.
 */
#include "headroom/container.h"

#include <errno.h>
#include <stddef.h>

int hr_container_names_open(const struct hr_root *root, unsigned runtimes,
                            struct hr_container_names **names)
{
    (void)root;
    if (runtimes != 0)
        return -EOPNOTSUPP;
    *names = NULL;
    return 0;
}

void hr_container_names_close(struct hr_container_names *names)
{
    (void)names;
}

int hr_container_name(struct hr_container_names *names, const char *path, char **name,
                      const char **failed)
{
    (void)names;
    (void)path;
    (void)name;
    (void)failed;
    return -ENOENT;
}
