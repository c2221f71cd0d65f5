/* SPDX-License-Identifier: MIT */
/*
 * headroom/trouble_lines.h - the option Trouble: how long tasks may be stalled before that is
 * trouble.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_TROUBLE_LINES_H
#define HEADROOM_PLUGIN_HEADROOM_TROUBLE_LINES_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/room.h"

/** The options of the plugin's block, or of a Cgroup block; 0: not given. */
struct trouble_lines_given {
    double pct[HR_PSI_RESOURCE_COUNT];
};

/** All options Trouble. */
struct trouble_lines {
    struct trouble_lines_given of_all;
    struct trouble_lines_given *of_pattern; /**< by hr_cgroup.pattern */
    size_t pattern_count;
};

/** Frees what the options took. */
void trouble_lines_free(struct trouble_lines *lines);

/** Reads the option. @return 0 or -1: refused, and logged. */
int trouble_lines_option(const char *block, const oconfig_item_t *item,
                         struct trouble_lines_given *given);

/** The same within a Cgroup block, for selection_on_option(). @param context  struct trouble_lines.
 */
int trouble_lines_pattern_option(const char *block, size_t pattern, const oconfig_item_t *item,
                                 void *context);

/** The lines of the system. */
struct hr_room_lines trouble_lines_of_system(const struct trouble_lines *lines);

/** The lines of the groups that a pattern selects. */
struct hr_room_lines trouble_lines_of_group(const struct trouble_lines *lines, size_t pattern);

#endif
