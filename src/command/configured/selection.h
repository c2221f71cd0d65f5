/* SPDX-License-Identifier: MIT */
/*
 * configured/selection.h - which cgroups a configured plugin selects, and how they are named.
 */
#ifndef HEADROOM_COMMAND_CONFIGURED_SELECTION_H
#define HEADROOM_COMMAND_CONFIGURED_SELECTION_H

#include <stddef.h>

#include "common/config.h"

/** The plugins' default of MaxCgroups. */
#define USAGE_MAX_CGROUPS 1000

/** Texts of the configuration, whose memory they are. */
struct usage_texts {
    const char **list;
    size_t count, capacity;
};

/** Options and blocks of the configuration, whose memory they are. */
struct usage_items {
    const struct config_item **list;
    size_t count, capacity;
};

/** Which cgroups a plugin selects. */
struct usage_selection {
    struct usage_texts patterns;
    struct usage_items options; /**< of each pattern; none where the patterns are no option's */
    struct usage_texts excludes;
    size_t max_count;
    double min_age_s;  /**< how old those are that have series; 0: any */
    unsigned runtimes; /**< whose names containers get: bits of enum hr_container_runtime */
};

/** Each returns 0 or -ENOMEM. */
int usage_texts_add(struct usage_texts *texts, const char *text);
int usage_texts_add_values(struct usage_texts *texts, const struct config_item *item);
int usage_items_add(struct usage_items *items, const struct config_item *item);

/** Reads the options of a plugin's block, and of files that it includes. @return 0 or -ENOMEM. */
int usage_selection_read(struct usage_selection *groups, const struct config_item *block);

/** Frees the lists. */
void usage_selection_free(struct usage_selection *groups);

/** @return the template of a pattern's names; NULL: none. */
const char *usage_template(const struct usage_selection *selection, size_t pattern);

#endif
