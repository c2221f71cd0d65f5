/* SPDX-License-Identifier: MIT */
/*
 * blame/watched.h - the groups that are watched, and their names, also of those that were removed.
 *
 * The waits of groups that were asked for are measured. Who takes the CPU from them may be any
 * group, so others are distinguished, too, as many as there is room for.
 */
#ifndef HEADROOM_COMMAND_BLAME_WATCHED_H
#define HEADROOM_COMMAND_BLAME_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/cgroup.h"

struct group_patterns;

struct hr_blame;
struct hr_root;

struct watched_name {
    uint64_t id;
    char *path;
    uint64_t removed_ns; /**< hr_clock_ns(); 0: it is there */
};

struct watched {
    struct hr_cgroup_set *asked;  /**< those that were asked for; all, if none was */
    struct hr_cgroup_set *others; /**< all but those in or below the former; NULL: all were asked
                                       for */
    const char *controller;       /**< of the hierarchy, as hr_blame_options; NULL: cgroup2 */
    bool changed;                 /**< since watched_update() */
    bool failed;                  /**< memory ran out */
    uint64_t top;                 /**< the id of the root cgroup */
    uint64_t keep_ns;             /**< for how long names of removed groups may be needed */
    struct watched_name *names;
    size_t name_count, name_capacity;
    uint64_t *ids;
    size_t id_count, id_capacity;
};

/**
 * Opens the set of groups.
 *
 * @param controller   "cpu": in version 1's hierarchy of that controller; NULL: in cgroup2.
 * @param patterns     of groups; none: every group.
 * @param interval_ns  of the measurements.
 * @param watched      stays where it is until watched_close().
 * @return 0; -ENOENT: that hierarchy isn't mounted; or another negative errno.
 */
int watched_open(struct watched *watched, const struct hr_root *root, const char *controller,
                 const struct group_patterns *patterns, uint64_t interval_ns);

/** @return whether any group that was asked for has processes. */
bool watched_has_groups(const struct watched *watched);

/** Finds groups that are new, and has them watched. @return 0; -ENOENT: no hierarchy is mounted;
 * or another negative errno. */
int watched_update(struct watched *watched, struct hr_blame *blame);

/** @return the path of a group, "/" for the one at the top, "?" if it isn't known. */
const char *watched_path(const struct watched *watched, uint64_t id);

/** @return how many groups with processes that were asked for aren't measured: there are too many.
 */
size_t watched_excess(const struct watched *watched);

void watched_close(struct watched *watched);

#endif
