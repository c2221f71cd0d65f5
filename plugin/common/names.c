/* SPDX-License-Identifier: MIT */
#include "common/names.h"

#include "collectd.h"

#include "plugin.h"

#include <search.h>

#include "common/complaint.h"
#include "common/log.h"
#include "headroom/instance.h"
#include "utils/common/common.h"

/* The instance of the system as a whole, reserved. */
#define SYSTEM_INSTANCE "system"

_Static_assert(HR_INSTANCE_SIZE == DATA_MAX_NAME_LEN, "names are those of collectd's series");

/* A name in use. */
struct name {
    char instance[DATA_MAX_NAME_LEN]; /* first, so that it can be looked up by its text alone */
    char *path;
    size_t user_count;
};

struct names {
    const char *plugin;
    pthread_mutex_t lock;
    void *by_instance; /* tsearch(3) trees of struct name */
    void *by_path;
    size_t collision_count;
    struct tally collisions;
};

struct names *names_new(const char *plugin)
{
    struct names *names = calloc(1, sizeof(*names));

    if (names == NULL)
        return NULL;
    names->plugin = plugin;
    pthread_mutex_init(&names->lock, NULL);
    return names;
}

void names_free(struct names *names)
{
    if (names == NULL)
        return;
    pthread_mutex_destroy(&names->lock);
    free(names);
}

static int compare_instances(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->path, ((const struct name *)b)->path);
}

static struct name *find_by_path(const struct names *names, const char *path)
{
    const struct name key = {.path = (char *)path};
    struct name **found = tfind(&key, &names->by_path, compare_paths);

    return found != NULL ? *found : NULL;
}

static const char *path_of_owner(const struct names *names, const char *instance)
{
    struct name **found = tfind(instance, &names->by_instance, compare_instances);

    if (found != NULL)
        return (*found)->path;
    return strcmp(instance, SYSTEM_INSTANCE) == 0 ? "the system as a whole" : NULL;
}

/* Finds an instance that isn't in use. @return whether there is one. */
static bool find_free_instance(struct names *names, const char *text, struct name *name)
{
    hr_instance_make(text, name->path, false, name->instance);
    const char *owner = path_of_owner(names, name->instance);
    if (owner == NULL)
        return true;

    char taken[DATA_MAX_NAME_LEN];
    sstrncpy(taken, name->instance, sizeof(taken));
    hr_instance_make(text, name->path, true, name->instance);
    if (path_of_owner(names, name->instance) != NULL) {
        if (tally_should_log(&names->collisions, ++names->collision_count))
            ERROR("%s: cgroup %s is left out: the name %s is that of %s, and the same with a hash "
                  "is in use, too. Name it by the option Instance.",
                  names->plugin, name->path, taken, owner);
        return false;
    }
    if (tally_should_log(&names->collisions, ++names->collision_count))
        WARNING("%s: cgroup %s is named %s, as %s is the name of %s (collision number %zu).",
                names->plugin, name->path, name->instance, taken, owner, names->collision_count);
    return true;
}

/* Removes a name from the trees that it is in, and frees it. */
static void free_name(struct names *names, struct name *name)
{
    if (path_of_owner(names, name->instance) == name->path)
        tdelete(name, &names->by_instance, compare_instances);
    if (find_by_path(names, name->path) == name)
        tdelete(name, &names->by_path, compare_paths);
    free(name->path);
    free(name);
}

static struct name *create_name(struct names *names, const char *path, const char *text)
{
    struct name *name = calloc(1, sizeof(*name));
    char *copy = strdup(path);

    if (name == NULL || copy == NULL) {
        free(name);
        free(copy);
        ERROR("%s: cgroup %s is left out: out of memory.", names->plugin, path);
        return NULL;
    }
    name->path = copy;
    if (find_free_instance(names, text, name) &&
        tsearch(name, &names->by_instance, compare_instances) != NULL &&
        tsearch(name, &names->by_path, compare_paths) != NULL)
        return name;
    free_name(names, name);
    return NULL;
}

const char *names_take(struct names *names, const char *path, const char *text)
{
    pthread_mutex_lock(&names->lock);
    struct name *name = find_by_path(names, path);
    if (name == NULL)
        name = create_name(names, path, text);
    if (name != NULL)
        name->user_count++;
    pthread_mutex_unlock(&names->lock);
    return name != NULL ? name->instance : NULL;
}

bool names_find(struct names *names, const char *path, char instance[HR_INSTANCE_SIZE])
{
    pthread_mutex_lock(&names->lock);
    const struct name *name = find_by_path(names, path);
    if (name != NULL)
        sstrncpy(instance, name->instance, HR_INSTANCE_SIZE);
    pthread_mutex_unlock(&names->lock);
    return name != NULL;
}

void names_release(struct names *names, const char *instance)
{
    if (instance == NULL)
        return;
    pthread_mutex_lock(&names->lock);
    struct name *name = *(struct name **)tfind(instance, &names->by_instance, compare_instances);
    if (--name->user_count == 0)
        free_name(names, name);
    pthread_mutex_unlock(&names->lock);
}
