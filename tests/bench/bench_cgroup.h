/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_cgroup.h - the cgroup that a benchmark measures.
 */
#ifndef HEADROOM_TESTS_BENCH_CGROUP_H
#define HEADROOM_TESTS_BENCH_CGROUP_H

#include "bench.h"
#include "headroom/cgroup.h"
#include "support/groups.h"

/** Finds one of the groups that were made. @param set  closed by the caller, and with it the
 * group. */
static inline const struct hr_cgroup *find_group(const struct hr_root *root,
                                                 const struct groups *groups, const char *name,
                                                 struct hr_cgroup_set **set)
{
    char path[128];
    const char *pattern = path;
    const struct hr_cgroup_options options = {.patterns = &pattern, .pattern_count = 1};

    snprintf(path, sizeof(path), "%s/%s", groups_path(groups), name);
    require(hr_cgroup_set_open(root, &options, set) == 0 && hr_cgroup_set_read(*set) == 0, path);
    const struct hr_cgroup *group = hr_cgroup_set_next(*set, NULL);
    require(group != NULL, path);
    return group;
}

#endif
