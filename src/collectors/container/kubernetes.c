/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "container/runtime.h"
#include "headroom/root.h"

#define LOGS "/var/log/containers"
#define PODS "/var/log/pods"

/* The bundles of containers, which are there before their first process. */
static const char *const bundles[] = {
    "/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
    "/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
    "/var/snap/microk8s/common/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
    "/run/containers/storage/overlay-containers/%s/userdata/config.json",
    "/var/lib/containers/storage/overlay-containers/%s/userdata/config.json",
};

/* The keys of a runtime's annotations. */
static const struct keys {
    const char *space, *pod, *container, *type;
} annotation_keys[] = {
    {"io.kubernetes.cri.sandbox-namespace", "io.kubernetes.cri.sandbox-name",
     "io.kubernetes.cri.container-name", "io.kubernetes.cri.container-type"},
    {"io.kubernetes.pod.namespace", "io.kubernetes.pod.name", "io.kubernetes.container.name",
     "io.kubernetes.cri-o.ContainerType"},
};

/* What keeps a pod's namespaces has no name of its own. */
#define SANDBOX "POD"

static int make_name(const char *space, const char *pod, const char *container, char **name)
{
    int length = container != NULL ? asprintf(name, "%s/%s/%s", space, pod, container)
                                   : asprintf(name, "%s/%s", space, pod);

    return length >= 0 ? 0 : -ENOMEM;
}

/* --- By the bundle -------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL && text[0] != '\0' ? text : NULL;
}

static int name_by_annotations(const json_t *annotations, const struct keys *keys, char **name)
{
    const char *space = text_of(annotations, keys->space), *pod = text_of(annotations, keys->pod);
    const char *container = text_of(annotations, keys->container);
    const char *type = text_of(annotations, keys->type);

    if (type != NULL && strcmp(type, "sandbox") == 0)
        container = SANDBOX;
    if (space == NULL || pod == NULL || container == NULL)
        return -ENOENT;
    return make_name(space, pod, container, name);
}

static int name_by_bundle(struct hr_container_lookup *lookup, const char *path, char **name)
{
    json_t *config = NULL;
    int status = hr_container_read_json(lookup, path, &config);

    if (status < 0)
        return status;
    const json_t *annotations = json_object_get(config, "annotations");
    status = name_by_annotations(annotations, &annotation_keys[0], name);
    if (status == -ENOENT)
        status = name_by_annotations(annotations, &annotation_keys[1], name);
    json_decref(config);
    return status;
}

/* --- By the kubelet's logs ------------------------------------------------ */

/* Parts of a name, which have no "_" of their own; "shop_web-0_nginx-ID.log". */
struct parts {
    char text[NAME_MAX + 1];
    char *part[3];
};

static bool split(const char *text, size_t length, struct parts *parts)
{
    if (length >= sizeof(parts->text))
        return false;
    memcpy(parts->text, text, length);
    parts->text[length] = '\0';
    char *rest = parts->text;
    for (int i = 0; i < 3; i++) {
        parts->part[i] = strsep(&rest, "_");
        if (parts->part[i] == NULL || parts->part[i][0] == '\0')
            return false;
    }
    return rest == NULL;
}

/* "POD_NAMESPACE_CONTAINER-ID.log" */
static bool parse_log(const char *entry, const char *id, struct parts *parts)
{
    char end[HR_CONTAINER_ID_SIZE + 8];
    const int end_length = snprintf(end, sizeof(end), "-%s.log", id);
    const size_t length = strlen(entry);

    return length > (size_t)end_length && strcmp(entry + length - end_length, end) == 0 &&
           split(entry, length - (size_t)end_length, parts);
}

/* "NAMESPACE_POD_UID" */
static bool parse_pod(const char *entry, const char *uid, struct parts *parts)
{
    return split(entry, strlen(entry), parts) && strcmp(parts->part[2], uid) == 0;
}

static int open_directory(struct hr_container_lookup *lookup, const char *path, DIR **directory)
{
    const int fd = hr_root_openat(lookup->root, path, O_RDONLY | O_DIRECTORY);
    int status = fd;

    if (fd >= 0) {
        *directory = fdopendir(fd);
        if (*directory != NULL)
            return 0;
        status = -errno;
        close(fd);
    }
    if (status == -ENOTDIR)
        status = -ENOENT;
    if (status != -ENOENT)
        snprintf(lookup->failed, sizeof(lookup->failed), "%s", path);
    return status;
}

/* Finds the entry of a directory whose name a function can parse. */
static int find_entry(struct hr_container_lookup *lookup, const char *path,
                      bool (*parse)(const char *entry, const char *key, struct parts *parts),
                      const char *key, struct parts *parts)
{
    const struct dirent *entry;
    bool is_found = false;
    DIR *directory;

    int status = open_directory(lookup, path, &directory);
    if (status < 0)
        return status;
    while (!is_found && (entry = readdir(directory)) != NULL)
        is_found = parse(entry->d_name, key, parts);
    closedir(directory);
    return is_found ? 0 : -ENOENT;
}

/* --- Both ----------------------------------------------------------------- */

static int name_pod(struct hr_container_lookup *lookup, const char *uid, char **name)
{
    struct parts parts;
    int status = find_entry(lookup, PODS, parse_pod, uid, &parts);

    return status < 0 ? status : make_name(parts.part[0], parts.part[1], NULL, name);
}

static int name_container(struct hr_container_lookup *lookup, const char *id, char **name)
{
    int result = -ENOENT;
    struct parts parts;
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof(bundles) / sizeof(bundles[0]); i++) {
        snprintf(path, sizeof(path), bundles[i], id);
        int status = name_by_bundle(lookup, path, name);
        if (status == 0 || status == -ENOMEM)
            return status;
        if (status != -ENOENT)
            result = status;
    }
    int status = find_entry(lookup, LOGS, parse_log, id, &parts);
    if (status == 0)
        return make_name(parts.part[1], parts.part[0], parts.part[2], name);
    return status == -ENOENT ? result : status;
}

int hr_kubernetes_name(struct hr_container_lookup *lookup, const struct hr_container_place *place,
                       char **name)
{
    return place->id[0] != '\0' ? name_container(lookup, place->id, name)
                                : name_pod(lookup, place->pod, name);
}
