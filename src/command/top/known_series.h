/* SPDX-License-Identifier: MIT */
/*
 * top/known_series.h - which series of headroom's plugins collectd has a value of.
 */
#ifndef HEADROOM_COMMAND_TOP_KNOWN_SERIES_H
#define HEADROOM_COMMAND_TOP_KNOWN_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/identifier.h"

/** All zeros: it isn't known. */
struct known_series {
    char **list; /**< identifiers, sorted by known_series_sort() */
    size_t count, capacity;
    bool lacks_groups; /**< psi may watch groups that have no series: TopGroups */
};

/** @return whether a plugin is one of headroom's. */
bool plugin_is_ours(const struct piece *plugin);

/** Appends an identifier, if it is of headroom's plugins. @return 0 or -ENOMEM. */
int known_series_add(struct known_series *known, const char *identifier);

void known_series_sort(struct known_series *known);

/** @return whether collectd has values of the same plugin, host, type and type instance, but none
 * of this series. */
bool known_series_miss_one_of_kind(const struct known_series *known, const char *identifier);

/** @return whether collectd has values of the same plugin and host, but none of this series. */
bool known_series_miss_one_of_plugin(const struct known_series *known, const char *identifier);

void known_series_free(struct known_series *known);

#endif
