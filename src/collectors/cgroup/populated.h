/* SPDX-License-Identifier: MIT */
/*
 * cgroup/populated.h - which selected groups are populated, and which of these are old enough and
 * have one of the max_count places. The others wait for that; the application sees them as empty.
 */
#ifndef HEADROOM_COLLECTORS_CGROUP_POPULATED_H
#define HEADROOM_COLLECTORS_CGROUP_POPULATED_H

#include <stdbool.h>

#include "cgroup/node.h"

/**
 * Reads whether a process is in a group or below it.
 *
 * @param dirfd  its directory.
 * @return 0, also for a group that was removed: not populated; or a negative errno if it is unknown
 *         for now.
 */
int hr_populated_read(int dirfd, bool *populated);

/** Selects a new node: an empty group, until hr_populated_set(). Reports ADDED. */
void hr_populated_select(struct hr_node *node);

/** Ends that. Reports REMOVED, and EMPTIED before it if need be. */
void hr_populated_deselect(struct hr_node *node);

/**
 * Sets the state of a selected group. One that is populated gets a place, which is reported as
 * POPULATED, or waits for one, or until it is old enough; if it was, it loses either.
 *
 * @param dirfd  its directory; -1 after the group took it over to keep it open.
 */
void hr_populated_set(struct hr_node *node, bool populated, int *dirfd);

/** Gives places that are free to the groups that have waited longest, also to those that have
 * become old enough. */
void hr_populated_promote(struct hr_cgroup_set *set);

#endif
