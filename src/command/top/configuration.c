/* SPDX-License-Identifier: MIT */
#include "top/configuration.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configured/selected.h"
#include "configured/used_features.h"
#include "headroom/clock.h"
#include "headroom/root.h"

#define RESCAN_NS (60 * HR_NS_PER_S)

struct configuration {
    char *path; /* of the configuration; NULL: collectd's own */
    char *log;
    struct usage usage;
    struct hr_root *root;
    uint64_t scanned_ns; /* 0: not yet */
    char first[512];     /* the first that matches none; "": all match */
    bool are_more;
    char text[768];
};

/* @param fault  receives, on failure, which file it was. */
static int read_configuration(const char *path, struct usage *usage, struct hr_root **root,
                              struct config_fault *fault)
{
    *fault = (struct config_fault){.line = 0};
    int status = usage_read(path, usage, fault);
    const char *root_path = usage->root != NULL ? usage->root : "/";
    if (status != 0 || usage->path == NULL)
        return status;
    snprintf(fault->path, sizeof(fault->path), "%s", root_path);
    return hr_root_open(root_path, root);
}

static int copy_text(const char *text, char **copy)
{
    *copy = text != NULL ? strdup(text) : NULL;
    return text != NULL && *copy == NULL ? -ENOMEM : 0;
}

int configuration_open(const char *path, struct config_fault *fault,
                       struct configuration **configuration)
{
    struct configuration *opened = calloc(1, sizeof(*opened));

    *configuration = NULL;
    if (opened == NULL)
        return -ENOMEM;
    int status = read_configuration(path, &opened->usage, &opened->root, fault);
    if (status == 0)
        status = copy_text(path, &opened->path);
    if (status == 0)
        status = copy_text(opened->usage.log, &opened->log);
    if (status != 0 || opened->root == NULL)
        configuration_close(opened);
    else
        *configuration = opened;
    return status;
}

void configuration_update(struct configuration *configuration)
{
    struct config_fault fault;
    struct usage usage = {0};
    struct hr_root *root = NULL;

    if (configuration == NULL)
        return;
    if (read_configuration(configuration->path, &usage, &root, &fault) != 0 || root == NULL) {
        usage_free(&usage);
        return;
    }
    usage_free(&configuration->usage);
    hr_root_close(configuration->root);
    configuration->usage = usage;
    configuration->root = root;
    configuration->scanned_ns = 0;
}

/* Plugins mostly have the same configuration. */
static void add_unmatched(struct configuration *configuration, const char *unmatched)
{
    if (configuration->first[0] == '\0')
        snprintf(configuration->first, sizeof(configuration->first), "%s", unmatched);
    else if (strcmp(configuration->first, unmatched) != 0)
        configuration->are_more = true;
}

static void scan_plugin(struct configuration *configuration, const struct cgroups_of_plugin *of)
{
    struct hr_cgroup_set *set = cgroups_open(configuration->root, of);
    char unmatched[sizeof(configuration->first)];
    size_t next = 0;

    while (
        cgroups_next_unmatched(configuration->root, of, set, &next, unmatched, sizeof(unmatched)))
        add_unmatched(configuration, unmatched);
    hr_cgroup_set_close(set);
}

static void scan_plugins(struct configuration *configuration)
{
    struct cgroups_of_plugin of[CGROUPS_PLUGIN_COUNT];

    configuration->first[0] = '\0';
    configuration->are_more = false;
    cgroups_find_selections(&configuration->usage, of);
    for (size_t i = 0; i < CGROUPS_PLUGIN_COUNT; i++)
        if (of[i].selection != NULL && of[i].selection->patterns.count > 0)
            scan_plugin(configuration, &of[i]);
    snprintf(configuration->text, sizeof(configuration->text), "%s%s%s", configuration->first,
             configuration->are_more ? "; there are more" : "",
             configuration->first[0] != '\0' ? ": see headroom doctor --cgroups" : "");
}

const char *configuration_describe_unmatched(struct configuration *configuration)
{
    const uint64_t now_ns = hr_clock_ns();

    if (configuration->scanned_ns == 0 || now_ns - configuration->scanned_ns >= RESCAN_NS) {
        scan_plugins(configuration);
        configuration->scanned_ns = now_ns;
    }
    return configuration->text;
}

const struct usage *configuration_usage(const struct configuration *configuration)
{
    return configuration != NULL ? &configuration->usage : NULL;
}

const struct hr_root *configuration_root(const struct configuration *configuration)
{
    return configuration->root;
}

const char *configuration_log_file(const struct configuration *configuration)
{
    return configuration != NULL ? configuration->log : NULL;
}

void configuration_close(struct configuration *configuration)
{
    if (configuration == NULL)
        return;
    usage_free(&configuration->usage);
    hr_root_close(configuration->root);
    free(configuration->log);
    free(configuration->path);
    free(configuration);
}
