/* SPDX-License-Identifier: MIT */
#include "support/one_group.h"

#include <check.h>

struct hr_cgroup *one_group_open(const struct hr_root *root, const char *path,
                                 struct hr_cgroup_set **set)
{
    const struct hr_cgroup_options options = {.patterns = &path, .pattern_count = 1};

    ck_assert_int_eq(hr_cgroup_set_open(root, &options, set), 0);
    ck_assert_int_eq(hr_cgroup_set_read(*set), 0);
    struct hr_cgroup *group = hr_cgroup_set_next(*set, NULL);
    ck_assert_ptr_nonnull(group);
    return group;
}
