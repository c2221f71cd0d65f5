/* SPDX-License-Identifier: MIT */
#include "configured/unread.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "headroom/clock.h"

#include "common/client.h"
#include "common/samples.h"

#define SUFFIX ".conf"

/* To read a configuration takes a while, and most refreshes would find it as it was. */
#define LOOK_AGAIN_NS (10 * HR_NS_PER_S)

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char *const directories[] = {"collectd.conf.d", "collectd.d"};

static const char *const plugins[] = {"psi", "cgroup_perf", "wss", "osnoise", "headroom"};

/* --- Which files are there, and aren't read --------------------------------------- */

static bool loads(const struct config_item *config, const char *plugin)
{
    for (size_t i = 0; i < config->child_count; i++)
        if (config_is(&config->children[i], "LoadPlugin") &&
            strcasecmp(config_text(&config->children[i]), plugin) == 0)
            return true;
    return false;
}

static bool loads_ours(const struct config_item *config)
{
    for (size_t i = 0; i < COUNT(plugins); i++)
        if (loads(config, plugins[i]))
            return true;
    return false;
}

/* By whatever path. */
static bool is_read(const struct usage *usage, const struct stat *file)
{
    const char *previous = "";
    struct stat status;

    for (size_t i = 0; i < usage->config.child_count; i++) {
        const char *path = usage->config.children[i].path;
        if (path == NULL || strcmp(path, previous) == 0)
            continue;
        previous = path;
        if (stat(path, &status) == 0 && status.st_dev == file->st_dev &&
            status.st_ino == file->st_ino)
            return true;
    }
    return false;
}

/* The first one as far as it fits. */
static void add_name(struct unread *unread, const char *name)
{
    const size_t used = strlen(unread->names);
    const size_t left = sizeof(unread->names) - used - sizeof(", 4294967295 more");

    unread->count++;
    if (used > 0 && strlen(name) + strlen(", ") >= left)
        return;
    snprintf(unread->names + used, left, "%s%s", used > 0 ? ", " : "", name);
    unread->named++;
}

/* What can't be parsed may load anything, but isn't said to. */
static void look_at(const struct usage *usage, const char *directory, const char *name,
                    struct unread *unread)
{
    struct config_item file = {.key = NULL};
    struct config_faults faults = {.list = NULL};
    struct stat status;
    char path[512];

    const int length = snprintf(path, sizeof(path), "%s/%s", directory, name);
    if ((size_t)length < sizeof(path) && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
        !is_read(usage, &status) && config_read(path, &file, &faults) == 0) {
        const bool has_socket = loads(&file, "unixsock");
        if (has_socket || loads_ours(&file))
            add_name(unread, name);
        unread->has_socket |= has_socket;
    }
    config_free(&file);
    free(faults.list);
}

static int is_configuration(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);

    return entry->d_name[0] != '.' && length > strlen(SUFFIX) &&
           strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) == 0;
}

static void look_in(const struct usage *usage, const char *directory, struct unread *unread)
{
    struct dirent **entries;
    const int count = scandir(directory, &entries, is_configuration, alphasort);

    for (int i = 0; i < count; i++) {
        look_at(usage, directory, entries[i]->d_name, unread);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* Beside the configuration, by an absolute path, as collectd includes no other. */
static void look_beside(const struct usage *usage, const char *configuration, struct unread *unread)
{
    const int length = (int)(strrchr(configuration, '/') - configuration);

    for (size_t i = 0; i < COUNT(directories) && unread->count == 0; i++) {
        const int needed = snprintf(unread->directory, sizeof(unread->directory), "%.*s/%s", length,
                                    configuration, directories[i]);
        if ((size_t)needed < sizeof(unread->directory))
            look_in(usage, unread->directory, unread);
    }
}

void unread_find(const struct usage *usage, struct unread *unread)
{
    char *configuration = usage->found != NULL ? realpath(usage->found, NULL) : NULL;

    *unread = (struct unread){.count = 0};
    if (configuration != NULL)
        look_beside(usage, configuration, unread);
    free(configuration);
    const size_t used = strlen(unread->names);
    if (unread->named < unread->count)
        snprintf(unread->names + used, sizeof(unread->names) - used, ", %zu more",
                 unread->count - unread->named);
}

void unread_print_remedy(const struct unread *unread, char *text, size_t size)
{
    snprintf(text, size, "add the line Include \"%s/*.conf\" to it, and restart collectd",
             unread->directory);
}

/* --- Nothing listens -------------------------------------------------------------- */

static void explain_without_plugin(const struct usage *usage, const char *socket, char *text,
                                   size_t size)
{
    struct unread unread;
    char remedy[256];

    unread_find(usage, &unread);
    if (unread.has_socket) {
        unread_print_remedy(&unread, remedy, sizeof(remedy));
        snprintf(text, size, "nothing listens on %s: %s doesn't read %s in %s: %s", socket,
                 usage->found, unread.names, unread.directory, remedy);
    } else {
        snprintf(text, size,
                 "nothing listens on %s: %s doesn't load the unixsock plugin: add what " SAMPLES
                 "/unixsock.conf has, and restart collectd",
                 socket, usage->found);
    }
}

/* By whatever path to its directory, such as /run and /var/run. */
static bool is_same_place(const char *one, const char *other)
{
    const char *end = strrchr(one, '/'), *other_end = strrchr(other, '/');
    struct stat status, other_status;
    char directory[PATH_MAX], other_directory[PATH_MAX];

    if (end == NULL || other_end == NULL || strcmp(end, other_end) != 0)
        return strcmp(one, other) == 0;
    snprintf(directory, sizeof(directory), "%.*s/", (int)(end - one), one);
    snprintf(other_directory, sizeof(other_directory), "%.*s/", (int)(other_end - other), other);
    return stat(directory, &status) == 0 && stat(other_directory, &other_status) == 0 &&
           status.st_dev == other_status.st_dev && status.st_ino == other_status.st_ino;
}

/* @return whether the configuration explains it; not if some of it can't be read. */
static bool explain_by(const struct usage *usage, const char *socket, char *text, size_t size)
{
    const struct config_item *file =
        config_find_of_plugin(&usage->config, "unixsock", "SocketFile");

    if (usage->found == NULL || usage->config.child_count == 0 || usage->faults.count > 0)
        return false;
    if (!usage_loads_plugin(usage, "unixsock")) {
        explain_without_plugin(usage, socket, text, size);
        return true;
    }
    if (file == NULL || is_same_place(config_text(file), socket))
        return false;
    snprintf(text, size, "nothing listens on %s: by %s it is on %s: name that with --socket",
             socket, usage->found, config_text(file));
    return true;
}

void unread_explain_silence(int error, const char *socket, const char *config, char *text,
                            size_t size)
{
    const bool is_its = config != NULL || strcmp(socket, CLIENT_DEFAULT_SOCKET) == 0;
    struct config_fault fault;
    struct usage usage;
    bool is_explained = false;

    if (is_its && (error == -ENOENT || error == -ECONNREFUSED)) {
        usage_read(config, &usage, &fault);
        is_explained = explain_by(&usage, socket, text, size);
        usage_free(&usage);
    }
    if (!is_explained)
        client_explain(error, socket, text, size);
}

const char *unread_explain_again(struct unread_silence *silence, int error, const char *socket,
                                 const char *config)
{
    const uint64_t now_ns = hr_clock_ns();

    if (silence->text[0] == '\0' || silence->error != error ||
        now_ns - silence->looked_ns >= LOOK_AGAIN_NS) {
        silence->error = error;
        silence->looked_ns = now_ns;
        unread_explain_silence(error, socket, config, silence->text, sizeof(silence->text));
    }
    return silence->text;
}
