/* SPDX-License-Identifier: MIT */
#include "top/patterns.h"

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

struct patterns {
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

int patterns_open(const char *path, struct config_fault *fault, struct patterns **patterns)
{
    struct patterns *opened = calloc(1, sizeof(*opened));

    *patterns = NULL;
    if (opened == NULL)
        return -ENOMEM;
    int status = read_configuration(path, &opened->usage, &opened->root, fault);
    if (status == 0)
        status = copy_text(path, &opened->path);
    if (status == 0)
        status = copy_text(opened->usage.log, &opened->log);
    if (status != 0 || opened->root == NULL)
        patterns_close(opened);
    else
        *patterns = opened;
    return status;
}

void patterns_update(struct patterns *patterns)
{
    struct config_fault fault;
    struct usage usage = {0};
    struct hr_root *root = NULL;

    if (patterns == NULL)
        return;
    if (read_configuration(patterns->path, &usage, &root, &fault) != 0 || root == NULL) {
        usage_free(&usage);
        return;
    }
    usage_free(&patterns->usage);
    hr_root_close(patterns->root);
    patterns->usage = usage;
    patterns->root = root;
    patterns->scanned_ns = 0;
}

/* Plugins mostly have the same patterns. */
static void add_unmatched(struct patterns *patterns, const char *unmatched)
{
    if (patterns->first[0] == '\0')
        snprintf(patterns->first, sizeof(patterns->first), "%s", unmatched);
    else if (strcmp(patterns->first, unmatched) != 0)
        patterns->are_more = true;
}

static void scan_plugin(struct patterns *patterns, const struct cgroups_of_plugin *of)
{
    struct hr_cgroup_set *set = cgroups_open(patterns->root, of);
    char unmatched[sizeof(patterns->first)];
    size_t next = 0;

    while (cgroups_next_unmatched(patterns->root, of, set, &next, unmatched, sizeof(unmatched)))
        add_unmatched(patterns, unmatched);
    hr_cgroup_set_close(set);
}

static void scan_plugins(struct patterns *patterns)
{
    struct cgroups_of_plugin of[CGROUPS_PLUGIN_COUNT];

    patterns->first[0] = '\0';
    patterns->are_more = false;
    cgroups_find_selections(&patterns->usage, of);
    for (size_t i = 0; i < CGROUPS_PLUGIN_COUNT; i++)
        if (of[i].selection != NULL && of[i].selection->patterns.count > 0)
            scan_plugin(patterns, &of[i]);
    snprintf(patterns->text, sizeof(patterns->text), "%s%s%s", patterns->first,
             patterns->are_more ? "; there are more" : "",
             patterns->first[0] != '\0' ? ": see headroom doctor --cgroups" : "");
}

const char *patterns_describe(struct patterns *patterns)
{
    const uint64_t now_ns = hr_clock_ns();

    if (patterns->scanned_ns == 0 || now_ns - patterns->scanned_ns >= RESCAN_NS) {
        scan_plugins(patterns);
        patterns->scanned_ns = now_ns;
    }
    return patterns->text;
}

const struct usage *patterns_usage(const struct patterns *patterns)
{
    return patterns != NULL ? &patterns->usage : NULL;
}

const struct hr_root *patterns_root(const struct patterns *patterns)
{
    return patterns->root;
}

const char *patterns_log(const struct patterns *patterns)
{
    return patterns != NULL ? patterns->log : NULL;
}

void patterns_close(struct patterns *patterns)
{
    if (patterns == NULL)
        return;
    usage_free(&patterns->usage);
    hr_root_close(patterns->root);
    free(patterns->log);
    free(patterns->path);
    free(patterns);
}
