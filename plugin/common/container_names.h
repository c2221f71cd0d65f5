/* SPDX-License-Identifier: MIT */
/*
 * common/container_names.h - the names that container runtimes gave the groups of a plugin: the
 * option NameFrom.
 *
 * The functions but the first two may be called by several threads at once.
 */
#ifndef HEADROOM_PLUGIN_COMMON_CONTAINER_NAMES_H
#define HEADROOM_PLUGIN_COMMON_CONTAINER_NAMES_H

#include <pthread.h>

#include "common/complaint.h"
#include "headroom/container.h"

struct container_names {
    unsigned runtimes; /* as of hr_container_names_open() */
    pthread_mutex_t lock;
    struct hr_container_names *names; /* NULL: no name has been asked for */
    struct complaint unreadable;
};

void container_names_init(struct container_names *names);

void container_names_destroy(struct container_names *names);

/** Reads the option NameFrom. @return 0; -1: refused, and logged. */
int container_names_option(struct container_names *names, const char *plugin,
                           const oconfig_item_t *item);

/**
 * Finds the name of a group's container; what can't be read is logged once, with the remedy.
 *
 * @param root  the same in all calls.
 * @return the name, which the caller frees; NULL: it has none.
 */
char *container_names_find(struct container_names *names, const char *plugin,
                           const struct hr_root *root, const char *path);

#endif
