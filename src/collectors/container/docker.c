/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "container/runtime.h"

#define DATA_ROOT "/var/lib/docker"

/* Copies the text of a key of an object, "" as if it weren't there. */
static int copy_text(const json_t *object, const char *key, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(object, key));

    if (value == NULL || value[0] == '\0')
        return -ENOENT;
    return snprintf(text, size, "%s", value) < (int)size ? 0 : -ENAMETOOLONG;
}

/* The daemon's files may have been moved by its configuration. */
static void find_data_root(struct hr_container_lookup *lookup, char *path, size_t size)
{
    json_t *daemon = NULL;

    if (hr_container_read_json(lookup, "/etc/docker/daemon.json", &daemon) < 0 ||
        copy_text(daemon, "data-root", path, size) < 0)
        snprintf(path, size, DATA_ROOT);
    json_decref(daemon);
}

int hr_docker_name(struct hr_container_lookup *lookup, const char *id, char **name)
{
    char data_root[PATH_MAX / 2], path[PATH_MAX], text[PATH_MAX];
    json_t *container = NULL;

    find_data_root(lookup, data_root, sizeof(data_root));
    snprintf(path, sizeof(path), "%s/containers/%s/config.v2.json", data_root, id);
    int status = hr_container_read_json(lookup, path, &container);
    if (status == 0)
        status = copy_text(container, "Name", text, sizeof(text));
    json_decref(container);
    if (status < 0)
        return status;
    *name = strdup(text + (text[0] == '/')); /* all names begin with a slash */
    return *name != NULL ? 0 : -ENOMEM;
}
