/* SPDX-License-Identifier: MIT */
#include "common/names.h"

#include "collectd.h"

#include "plugin.h"

#include <search.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "common/complaint.h"
#include "common/log.h"
#include "common/options.h"
#include "common/state_wanted.h"
#include "common/state_writer.h"
#include "headroom/instance.h"
#include "headroom/state_file.h"
#include "utils/common/common.h"

/* The instance of the system as a whole, reserved. */
#define SYSTEM_INSTANCE "system"

_Static_assert(HR_INSTANCE_SIZE == DATA_MAX_NAME_LEN, "names are those of collectd's series");

/* A name in use. */
struct name {
    char instance[DATA_MAX_NAME_LEN]; /* first, so that it can be looked up by its text alone */
    char *path;
    size_t user_count;
    bool is_listed; /* in the file, as its path isn't known from the instance */
    LIST_ENTRY(name) entry;
};

struct names {
    const char *plugin;
    pthread_mutex_t lock;
    void *by_instance; /* tsearch(3) trees of struct name */
    void *by_path;
    size_t collision_count;
    struct tally collisions;
    LIST_HEAD(, name) listed;
    bool has_changed; /* since names_save() */

    char *file, *new_file; /* NULL: there was nothing to save yet */
    struct state_writer *writer;
    struct complaint failure; /* the writer's */
};

struct names *names_new(const char *plugin)
{
    struct names *names = calloc(1, sizeof(*names));

    if (names == NULL)
        return NULL;
    names->plugin = plugin;
    LIST_INIT(&names->listed);
    pthread_mutex_init(&names->lock, NULL);
    return names;
}

void names_free(struct names *names)
{
    if (names == NULL)
        return;
    state_writer_close(names->writer);
    free(names->file);
    free(names->new_file);
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

/* What of a path is "_" in an instance: slashes, and what isn't safe to show, which is no printable
 * ASCII. */
static bool is_replaced(char byte)
{
    return byte == '/' || byte < ' ' || byte > '~';
}

/* Whether the instance says as much as the path. */
static bool is_made_of_path(const struct name *name)
{
    const char *instance = name->instance, *path = name->path;

    while (*instance != '\0' && (*instance == *path || (*instance == '_' && is_replaced(*path)))) {
        instance++;
        path++;
    }
    return *instance == '\0' && *path == '\0';
}

static void list(struct names *names, struct name *name)
{
    if (is_made_of_path(name))
        return;
    name->is_listed = true;
    LIST_INSERT_HEAD(&names->listed, name, entry);
    names->has_changed = true;
}

static void unlist(struct names *names, struct name *name)
{
    if (!name->is_listed)
        return;
    LIST_REMOVE(name, entry);
    names->has_changed = true;
}

/* Removes a name from the trees that it is in, and frees it. */
static void free_name(struct names *names, struct name *name)
{
    if (path_of_owner(names, name->instance) == name->path)
        tdelete(name, &names->by_instance, compare_instances);
    if (find_by_path(names, name->path) == name)
        tdelete(name, &names->by_path, compare_paths);
    unlist(names, name);
    free(name->path);
    free(name);
}

static struct name *create_name(struct names *names, const char *path, const char *text,
                                bool is_group)
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
        tsearch(name, &names->by_path, compare_paths) != NULL) {
        if (is_group)
            list(names, name);
        return name;
    }
    free_name(names, name);
    return NULL;
}

static const char *take(struct names *names, const char *path, const char *text, bool is_group)
{
    pthread_mutex_lock(&names->lock);
    struct name *name = find_by_path(names, path);
    if (name == NULL)
        name = create_name(names, path, text, is_group);
    if (name != NULL)
        name->user_count++;
    pthread_mutex_unlock(&names->lock);
    return name != NULL ? name->instance : NULL;
}

const char *names_take(struct names *names, const char *path, const char *text)
{
    return take(names, path, text, true);
}

const char *names_reserve(struct names *names, const char *owner, const char *text)
{
    return take(names, owner, text, false);
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

/* --- The file ------------------------------------------------------------- */

/* headroom-mail runs as another user. */
static int write_file(const struct names *names, const struct state_text *text)
{
    int status = hr_state_file_prepare(names->file, text->bytes, text->length);

    if (status == 0 &&
        (chmod(names->new_file, 0644) < 0 || rename(names->new_file, names->file) < 0))
        status = -errno;
    return status;
}

/* Of no use after a crash of the machine, so that nothing waits for the disk. */
static void write_text(void *context, const struct state_text *text)
{
    struct names *names = context;

    if (!state_is_wanted(names->file))
        return;
    int status = write_file(names, text);
    if (status == 0)
        complaint_resolve(&names->failure,
                          "%s: the paths of cgroups by their names are being saved again.",
                          names->plugin);
    else
        complaint_log(&names->failure, LOG_WARNING, status,
                      "%s: the paths of cgroups by their names can't be saved to %s, so mails of "
                      "thresholds don't have them: %s.",
                      names->plugin, names->file, STRERROR(-status));
}

static bool open_writer(struct names *names)
{
    char text[64];

    snprintf(text, sizeof(text), "headroom-%s.names", names->plugin);
    if (names->file == NULL)
        names->file = option_state_path(NULL, text);
    if (names->file == NULL ||
        (names->new_file == NULL && asprintf(&names->new_file, "%s.new", names->file) < 0))
        return false;
    snprintf(text, 16, "%.9s names", names->plugin); /* the kernel's limit */
    return state_writer_open(text, write_text, names, &names->writer) == 0;
}

/* @return whether there is memory for it. */
static bool print_list(const struct names *names, struct state_text *text)
{
    const struct name *name;
    FILE *stream = open_memstream(&text->bytes, &text->length);

    if (stream == NULL)
        return false;
    LIST_FOREACH(name, &names->listed, entry)
    fprintf(stream, "%s\t%s\n", name->instance, name->path);
    return fclose(stream) == 0;
}

void names_save(struct names *names)
{
    struct state_text text = {.bytes = NULL};

    pthread_mutex_lock(&names->lock);
    bool is_due = names->has_changed && (names->writer != NULL || open_writer(names)) &&
                  print_list(names, &text);
    if (is_due)
        names->has_changed = false;
    pthread_mutex_unlock(&names->lock);
    if (is_due)
        state_writer_put(names->writer, &text);
}
