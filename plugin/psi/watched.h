/* SPDX-License-Identifier: MIT */
/*
 * psi/watched.h - the groups that are distinguished as takers of CPUs: their ids and names, also of
 * those that were removed while their waits are still read.
 */
#ifndef HEADROOM_PLUGIN_PSI_WATCHED_H
#define HEADROOM_PLUGIN_PSI_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hr_cgroup_set;

struct psi_watched_group {
    uint64_t id;    /**< as hr_cgroup.id */
    char *path;     /**< below the mount */
    char *instance; /**< the plugin instance of its series */
    bool is_gone;
    bool is_young; /**< it has no series yet */
};

/** All zeros is empty. Sorted by id. */
struct psi_watched {
    struct psi_watched_group *groups;
    size_t count, capacity;
    size_t excess; /**< groups that aren't in it, as there are too many */
};

/**
 * Takes over which groups have processes. Those that are in it and have none any more are gone, but
 * stay.
 *
 * @param most  of those that aren't gone.
 * @return 0; -ENOMEM: some may be missing.
 */
int psi_watched_update(struct psi_watched *watched, struct hr_cgroup_set *set, size_t most);

/** Removes those that are gone. */
void psi_watched_forget_gone(struct psi_watched *watched);

/** @return NULL if it isn't known. */
const struct psi_watched_group *psi_watched_find(const struct psi_watched *watched, uint64_t id);

/** Whether a group is the one of a path, or below it. */
bool psi_watched_is_below(const struct psi_watched *watched, uint64_t id, const char *path);

void psi_watched_free(struct psi_watched *watched);

#endif
