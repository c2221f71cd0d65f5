/* SPDX-License-Identifier: MIT */
/*
 * support/one_group.h - a set of one group, selected by its whole path.
 */
#ifndef HEADROOM_TESTS_SUPPORT_ONE_GROUP_H
#define HEADROOM_TESTS_SUPPORT_ONE_GROUP_H

#include "headroom/cgroup.h"

/** Opens the set and reads it. @param set  the caller closes it. @return the group, which must be
 * there. */
struct hr_cgroup *one_group_open(const struct hr_root *root, const char *path,
                                 struct hr_cgroup_set **set);

#endif
