/* SPDX-License-Identifier: MIT */
/*
 * container/runtime.h - what each runtime's files have of a container's name, and reading these.
 *
 * Functions return 0; -ENOENT: the runtime isn't there, or doesn't have it; -ENOMEM; -EBADMSG: a
 * file isn't in its format; or the negative errno of a file that can't be read, whose path
 * `failed` receives. Names are the caller's to free.
 */
#ifndef HEADROOM_COLLECTORS_CONTAINER_RUNTIME_H
#define HEADROOM_COLLECTORS_CONTAINER_RUNTIME_H

#include <jansson.h>
#include <limits.h>
#include <sys/stat.h>

#include "container/place.h"

struct hr_root;

/** Where names are looked up, and what was the matter. */
struct hr_container_lookup {
    const struct hr_root *root;
    char failed[PATH_MAX];
};

/** Reads a file with one JSON value. @param json  receives it, for json_decref(). */
int hr_container_read_json(struct hr_container_lookup *lookup, const char *path, json_t **json);

/** "shop/web-0/nginx", or of a pod "shop/web-0". */
int hr_kubernetes_name(struct hr_container_lookup *lookup, const struct hr_container_place *place,
                       char **name);

int hr_docker_name(struct hr_container_lookup *lookup, const char *id, char **name);

#define HR_PODMAN_LIST_COUNT 8

/** podman's lists of all of its containers, each kept until its file changes. */
struct hr_podman_lists {
    struct hr_podman_list {
        json_t *containers; /**< NULL: not read yet */
        struct stat of;     /**< the file when it was read */
    } list[HR_PODMAN_LIST_COUNT];
};

void hr_podman_free(struct hr_podman_lists *lists);

int hr_podman_name(struct hr_container_lookup *lookup, struct hr_podman_lists *lists,
                   const char *id, char **name);

#endif
