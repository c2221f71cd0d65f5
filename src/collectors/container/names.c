/* SPDX-License-Identifier: MIT */
/*
 * container/names.c - asks each runtime that may have a container.
 */
#include "headroom/container.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "container/runtime.h"

struct hr_container_names {
    struct hr_container_lookup lookup;
    unsigned runtimes;
    struct hr_podman_lists podman;
};

int hr_container_names_open(const struct hr_root *root, unsigned runtimes,
                            struct hr_container_names **names)
{
    struct hr_container_names *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->lookup.root = root;
    opened->runtimes = runtimes;
    *names = opened;
    return 0;
}

void hr_container_names_close(struct hr_container_names *names)
{
    if (names == NULL)
        return;
    hr_podman_free(&names->podman);
    free(names);
}

static int ask_runtime(struct hr_container_names *names, unsigned runtime,
                       const struct hr_container_place *place, char **name)
{
    if ((names->runtimes & runtime) == 0)
        return -ENOENT;
    if (runtime == HR_CONTAINER_KUBERNETES)
        return hr_kubernetes_name(&names->lookup, place, name);
    if (place->id[0] == '\0')
        return -ENOENT;
    return runtime == HR_CONTAINER_DOCKER
               ? hr_docker_name(&names->lookup, place->id, name)
               : hr_podman_name(&names->lookup, &names->podman, place->id, name);
}

/* @return as hr_container_name(). */
static int ask_runtimes(struct hr_container_names *names, const struct hr_container_place *place,
                        char **name)
{
    int result = -ENOENT;

    for (int i = 0; i < HR_CONTAINER_RUNTIME_COUNT; i++) {
        int status = ask_runtime(names, 1U << i, place, name);
        if (status == 0 || status == -ENOMEM)
            return status;
        if (status != -ENOENT)
            result = status;
    }
    return result;
}

int hr_container_name(struct hr_container_names *names, const char *path, char **name,
                      const char **failed)
{
    struct hr_container_place place;
    char *own;

    if (!hr_container_find(path, &place))
        return -ENOENT;
    *failed = names->lookup.failed;
    int status = ask_runtimes(names, &place, &own);
    if (status < 0)
        return status;
    status = asprintf(name, "%s%s", own, place.below) < 0 ? -ENOMEM : 0;
    free(own);
    return status;
}
