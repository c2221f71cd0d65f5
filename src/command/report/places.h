/* SPDX-License-Identifier: MIT */
/*
 * report/places.h - which cgroups of this machine the rows are of.
 */
#ifndef HEADROOM_COMMAND_REPORT_PLACES_H
#define HEADROOM_COMMAND_REPORT_PLACES_H

#include "headroom/cgroup.h"
#include "headroom/instance.h"
#include "report/rooms.h"

struct hr_root;
struct usage;

struct place {
    bool is_here;                  /**< on this machine */
    const struct hr_cgroup *group; /**< NULL: the system, or it isn't known which it is */
    bool has_inner;                /**< a group within it has a row, too */
};

struct places {
    struct hr_cgroup_set *set; /**< owns the groups; NULL: none can be listed */
    struct place *rows;        /**< in the order of those */
};

/**
 * Finds them by the names that the headroom plugin gives the cgroups that it selects.
 *
 * @param usage   how it is configured; without, any cgroup of cgroup2.
 * @param rooms   keeps its order while the places are used.
 * @param places  receives them, for places_free(), whatever is returned.
 * @return 0 or -ENOMEM.
 */
int places_find(const struct hr_root *root, const struct usage *usage, const struct rooms *rooms,
                struct places *places);

/**
 * Finds the cgroup with processes that has no row, and that a user means by its name in series; of
 * several the first.
 *
 * @param usage  how the plugin selects cgroups, which has names for them.
 * @param name   receives its name, safe to show.
 * @return 0; -ENODEV: it selects none that is meant; -ENOMEM.
 */
int places_find_absent(const struct hr_root *root, const struct usage *usage,
                       const struct places *places, const char *wanted,
                       char name[HR_INSTANCE_SIZE]);

void places_free(struct places *places);

/** Finds the short names of the rows, see common/short_name.h, where these are distinct. @return 0
 * or -ENOMEM. */
int places_shorten_names(const struct places *places, struct rooms *rooms);

#endif
