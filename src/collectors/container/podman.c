/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "container/runtime.h"
#include "headroom/root.h"

/* By the storage's driver; the last for containers that end with the boot. */
static const char *const directories[] = {
    "/var/lib/containers/storage/overlay-containers",
    "/var/lib/containers/storage/vfs-containers",
    "/var/lib/containers/storage/btrfs-containers",
    "/run/containers/storage/overlay-containers",
};

/* The second for containers that are removed at their end. */
static const char *const files[] = {"containers.json", "volatile-containers.json"};

#define FILE_COUNT (sizeof(files) / sizeof(files[0]))

_Static_assert(sizeof(directories) / sizeof(directories[0]) * FILE_COUNT == HR_PODMAN_LIST_COUNT,
               "a list for each file");

void hr_podman_free(struct hr_podman_lists *lists)
{
    for (size_t i = 0; i < HR_PODMAN_LIST_COUNT; i++)
        json_decref(lists->list[i].containers);
}

static bool is_unchanged(const struct stat *now, const struct stat *before)
{
    return now->st_ino == before->st_ino && now->st_size == before->st_size &&
           now->st_mtim.tv_sec == before->st_mtim.tv_sec &&
           now->st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

/* The file is replaced by another at each change. */
static int read_list(struct hr_container_lookup *lookup, const char *path,
                     struct hr_podman_list *list)
{
    struct stat now = {0};
    json_t *containers;
    const int fd = hr_root_openat(lookup->root, path, O_PATH);

    if (fd >= 0) {
        int status = fstat(fd, &now) < 0 ? -errno : 0;
        close(fd);
        if (status == 0 && list->containers != NULL && is_unchanged(&now, &list->of))
            return 0;
    }
    int status = hr_container_read_json(lookup, path, &containers);
    if (status < 0)
        return status;
    json_decref(list->containers);
    list->containers = containers;
    list->of = now;
    return 0;
}

static int find_name(const json_t *containers, const char *id, char **name)
{
    const json_t *container;
    size_t i;

    json_array_foreach(containers, i, container)
    {
        const char *of = json_string_value(json_object_get(container, "id"));
        const char *first =
            json_string_value(json_array_get(json_object_get(container, "names"), 0));
        if (of == NULL || first == NULL || first[0] == '\0' || strcmp(of, id) != 0)
            continue;
        *name = strdup(first);
        return *name != NULL ? 0 : -ENOMEM;
    }
    return -ENOENT;
}

int hr_podman_name(struct hr_container_lookup *lookup, struct hr_podman_lists *lists,
                   const char *id, char **name)
{
    int result = -ENOENT;
    char path[PATH_MAX];

    for (size_t i = 0; i < HR_PODMAN_LIST_COUNT; i++) {
        snprintf(path, sizeof(path), "%s/%s", directories[i / FILE_COUNT], files[i % FILE_COUNT]);
        int status = read_list(lookup, path, &lists->list[i]);
        if (status == 0)
            status = find_name(lists->list[i].containers, id, name);
        if (status == 0 || status == -ENOMEM)
            return status;
        if (status != -ENOENT)
            result = status;
    }
    return result;
}
