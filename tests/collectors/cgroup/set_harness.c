/* SPDX-License-Identifier: MIT */
#include "collectors/cgroup/set_harness.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

char story[4096];
struct tree *tree;
struct hr_root *root;
struct hr_cgroup_set *set;

void record_event(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    static const char marks[] = {[HR_CGROUP_ADDED] = '+',
                                 [HR_CGROUP_POPULATED] = '^',
                                 [HR_CGROUP_EMPTIED] = 'v',
                                 [HR_CGROUP_REMOVED] = '-'};
    size_t used = strlen(story);

    ck_assert_ptr_eq(context, &story);
    ck_assert_int_eq(group->populated, event == HR_CGROUP_POPULATED);
    snprintf(story + used, sizeof(story) - used, "%s%c%s", used > 0 ? " " : "", marks[event],
             group->path);
}

void assert_story(const char *expected)
{
    ck_assert_str_eq(story, expected);
    story[0] = '\0';
}

void assert_counts(size_t selected, size_t populated, size_t excess)
{
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    size_t listed = 0;

    for (struct hr_cgroup *group = NULL; (group = hr_cgroup_set_next(set, group)) != NULL;)
        listed++;
    ck_assert_uint_eq(counts.selected, selected);
    ck_assert_uint_eq(counts.populated, populated);
    ck_assert_uint_eq(listed, populated);
    ck_assert_uint_eq(counts.excess, excess);
}

void set_up(void)
{
    story[0] = '\0';
    set = NULL;
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

void tear_down(void)
{
    hr_cgroup_set_close(set);
    hr_root_close(root);
    tree_free(tree);
}

void open_set(const char *const *patterns, size_t count, const char *exclude, size_t max,
              uint64_t rescan_ns)
{
    const struct hr_cgroup_options options = {
        .patterns = patterns,
        .pattern_count = count,
        .excludes = &exclude,
        .exclude_count = exclude != NULL,
        .max_count = max,
        .rescan_ns = rescan_ns,
        .event = record_event,
        .context = &story,
    };
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
}

void follow_groups(const char *pattern)
{
    open_set(&pattern, 1, NULL, 0, 0);
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
}

void read_set(void)
{
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
}
