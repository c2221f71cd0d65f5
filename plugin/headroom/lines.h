/* SPDX-License-Identifier: MIT */
/*
 * headroom/lines.h - the option Trouble: how long tasks may be stalled before that is trouble.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_LINES_H
#define HEADROOM_PLUGIN_HEADROOM_LINES_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/room.h"

/** The options of the plugin's block, or of a Cgroup block; 0: not given. */
struct lines_given {
    double pct[HR_PSI_RESOURCE_COUNT];
};

/** All options Trouble. */
struct lines {
    struct lines_given of_all;
    struct lines_given *of_pattern; /**< by hr_cgroup.pattern */
    size_t pattern_count;
};

/** Frees what the options took. */
void lines_free(struct lines *lines);

/** Reads the option. @return 0 or -1: refused, and logged. */
int lines_option(const char *block, const oconfig_item_t *item, struct lines_given *given);

/** The same within a Cgroup block, for selection_on_option(). @param context  struct lines. */
int lines_pattern_option(const char *block, size_t pattern, const oconfig_item_t *item,
                         void *context);

/** The lines of the system. */
struct hr_room_lines lines_of_system(const struct lines *lines);

/** The lines of the groups that a pattern selects. */
struct hr_room_lines lines_of_group(const struct lines *lines, size_t pattern);

#endif
