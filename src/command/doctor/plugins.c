/* SPDX-License-Identifier: MIT */
/*
 * doctor/plugins.c - plugins that collectd is to load, and that aren't where it looks for them, so
 * that it doesn't start; and blocks of options that have no effect, as their plugin isn't loaded,
 * is loaded only later, or their name is misspelt.
 *
 * Source: collectd's daemon/plugin.c, plugin_load(); daemon/configfile.c, which warns of such a
 * block, and goes on.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "doctor/checks.h"
#include "headroom/option.h"

#define SUFFIX ".so"

/* Where collectd looks without an option PluginDir; it was built with one of them. */
static const char *const usual_directories[] = {
    COLLECTD_PLUGIN_DIR,       "/usr/lib/collectd",          "/usr/lib64/collectd",
    "/usr/local/lib/collectd", "/opt/collectd/lib/collectd",
};

#define USUAL_COUNT (sizeof(usual_directories) / sizeof(usual_directories[0]))

struct search {
    const char *name;
    bool is_found, is_link;
    const char *directory; /* the first that could be read; NULL: none */
    char meant[64];        /* "" if none is like it */
    unsigned difference;
};

static void compare(struct search *search, const char *name)
{
    const unsigned difference = hr_option_compare(search->name, name);

    if (difference > search->difference ||
        (difference == search->difference && strcmp(name, search->meant) >= 0))
        return;
    search->difference = difference;
    snprintf(search->meant, sizeof(search->meant), "%.63s", name);
}

/* One file of a directory. collectd takes no links. */
static void look_at(struct search *search, DIR *directory, const char *file)
{
    const size_t length = strlen(file);
    char name[NAME_MAX + 1];
    struct stat status;

    if (length <= strlen(SUFFIX) || strcasecmp(file + length - strlen(SUFFIX), SUFFIX) != 0)
        return;
    snprintf(name, sizeof(name), "%.*s", (int)(length - strlen(SUFFIX)), file);
    if (strcasecmp(name, search->name) != 0)
        compare(search, name);
    else if (fstatat(dirfd(directory), file, &status, AT_SYMLINK_NOFOLLOW) == 0)
        *(S_ISREG(status.st_mode) ? &search->is_found : &search->is_link) = true;
}

/* @return 0, or the negative errno of reading the directory. */
static int look_in(struct search *search, const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;

    if (directory == NULL)
        return -errno;
    while ((entry = readdir(directory)) != NULL)
        look_at(search, directory, entry->d_name);
    closedir(directory);
    if (search->directory == NULL)
        search->directory = path;
    return 0;
}

static void add_directory(const struct config_item *item, int status, struct findings *findings)
{
    const bool is_denied = status == -EACCES;
    char feature[80], cause[256];

    snprintf(feature, sizeof(feature), "PluginDir \"%.60s\"", config_text(item));
    snprintf(cause, sizeof(cause), "can't read it (%s), in line %u of %.180s", strerror(-status),
             item->line, item->path);
    findings_add(findings, is_denied ? FINDING_UNTRIED : FINDING_WRONG, feature, cause,
                 is_denied ? "run headroom doctor as the user that collectd is started by"
                           : "correct it: collectd doesn't start with it");
}

static void add_missing(const struct search *search, const struct config_item *item,
                        struct findings *findings)
{
    const char *meant = search->is_link ? "" : search->meant;
    char feature[80], cause[256], remedy[192];

    snprintf(feature, sizeof(feature), "plugin \"%.60s\"", config_text(item));
    snprintf(cause, sizeof(cause), "%.60s has %s%.30s" SUFFIX "%s, in line %u of %.90s",
             search->directory, search->is_link ? "only a link " : "no ", search->name,
             search->is_link ? ", which collectd doesn't load" : "", item->line, item->path);
    snprintf(remedy, sizeof(remedy), "%s%s%s%s: collectd doesn't start without it",
             search->is_link ? "copy the file there" : "install it, or correct its name",
             meant[0] != '\0' ? "; " : "", meant, meant[0] != '\0' ? " may be meant" : "");
    findings_add(findings, FINDING_WRONG, feature, cause, remedy);
}

/* Without PluginDir it isn't known in which of the directories it looks, so all are as good.
 * @return 0, or the negative errno of reading the PluginDir. */
static int look_everywhere(struct search *search, const struct config_item *directory)
{
    if (directory != NULL)
        return look_in(search, config_text(directory));
    for (size_t i = 0; i < USUAL_COUNT; i++)
        look_in(search, usual_directories[i]);
    return 0;
}

static struct search search_of(const struct config_item *item)
{
    /* collectd goes on to know it by its older name. */
    const bool is_virt = strcmp(config_text(item), "libvirt") == 0;

    return (struct search){.name = is_virt ? "virt" : config_text(item), .difference = UINT_MAX};
}

static void check_plugin(const struct config_item *item, const struct config_item *directory,
                         struct findings *findings)
{
    struct search search = search_of(item);
    const int status = look_everywhere(&search, directory);

    if (status < 0)
        add_directory(directory, status, findings);
    else if (search.directory != NULL && !search.is_found)
        add_missing(&search, item, findings);
}

/* Whether one name is the beginning of the other, and more than a letter shorter: "curl" is a
 * plugin beside "curl_json", not a typing error. */
static bool is_beginning(const char *name, const char *other)
{
    const size_t length = strlen(name), other_length = strlen(other);
    const size_t shorter = length < other_length ? length : other_length;

    return length + other_length - 2 * shorter > 1 && strncasecmp(name, other, shorter) == 0;
}

/* The likest of the plugins that are loaded becomes what is meant. @return what loads its own, if
 * that is loaded; or NULL. */
static const struct config_item *compare_with_loaded(const struct usage *usage,
                                                     struct search *search)
{
    for (size_t i = 0; i < usage->config.child_count; i++) {
        const struct config_item *item = &usage->config.children[i];
        if (!usage_loads(usage, item))
            continue;
        if (strcasecmp(config_text(item), search->name) == 0)
            return item;
        if (!is_beginning(search->name, config_text(item)))
            compare(search, config_text(item));
    }
    return NULL;
}

static void add_block(const struct config_item *block, const char *why, const char *remedy,
                      struct findings *findings)
{
    char feature[80], cause[256];

    snprintf(feature, sizeof(feature), "block <Plugin \"%.60s\">", config_text(block));
    snprintf(cause, sizeof(cause), "%s, so it has no effect, in line %u of %.150s", why,
             block->line, block->path);
    findings_add(findings, FINDING_WRONG, feature, cause, remedy);
}

/* Files of a folder are read in the order of their names. */
static void check_order(const struct config_item *block, const struct config_item *loaded,
                        struct findings *findings)
{
    char remedy[256];

    if (loaded < block)
        return;
    snprintf(remedy, sizeof(remedy), "move it behind line %u of %.180s, which loads it",
             loaded->line, loaded->path);
    add_block(block, "its plugin is loaded only later", remedy, findings);
}

/* A block of a plugin that is there, and isn't loaded, may be meant to wait, unless it is ours; and
 * where that isn't known, any may. */
static void check_unloaded(const struct config_item *block, const struct search *loaded,
                           const struct config_item *directory, struct findings *findings)
{
    struct search installed = search_of(block);
    char remedy[128];

    look_everywhere(&installed, directory);
    if (doctor_is_plugin(loaded->name)) {
        snprintf(remedy, sizeof(remedy), "add LoadPlugin %.60s before it, or remove it",
                 loaded->name);
        add_block(block, "its plugin isn't loaded", remedy, findings);
    } else if (installed.directory != NULL && !installed.is_found && !installed.is_link &&
               loaded->meant[0] != '\0') {
        snprintf(remedy, sizeof(remedy), "correct its name; %s may be meant", loaded->meant);
        add_block(block, "no plugin of that name is loaded", remedy, findings);
    }
}

static void check_block(const struct usage *usage, const struct config_item *block,
                        const struct config_item *directory, struct findings *findings)
{
    struct search search = search_of(block);
    const struct config_item *loaded = compare_with_loaded(usage, &search);

    if (loaded != NULL)
        check_order(block, loaded, findings);
    else
        check_unloaded(block, &search, directory, findings);
}

/* A PluginDir holds for what comes after it. */
void doctor_check_plugins(const struct usage *usage, struct findings *findings)
{
    const struct config_item *directory = NULL;

    for (size_t i = 0; i < usage->config.child_count; i++) {
        const struct config_item *item = &usage->config.children[i];
        if (config_is(item, "PluginDir"))
            directory = item;
        else if (usage_loads(usage, item))
            check_plugin(item, directory, findings);
        else if (config_is(item, "Plugin"))
            check_block(usage, item, directory, findings);
    }
}
