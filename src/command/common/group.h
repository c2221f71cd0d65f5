/* SPDX-License-Identifier: MIT */
/*
 * common/group.h - which groups a user means: by their paths, as mails and systemd have them, or by
 * their names in series, which `headroom top` and receivers have.
 */
#ifndef HEADROOM_COMMAND_COMMON_GROUP_H
#define HEADROOM_COMMAND_COMMON_GROUP_H

#include <stdbool.h>
#include <stddef.h>

struct hr_root;

/**
 * Compares what a user gave with a group. Both may be a path below the mount or a name in series,
 * as the name is made of the path; one that a configuration's Instance makes matches itself only.
 *
 * @param wanted  may begin with a slash, and have the wildcards of fnmatch(3), which match slashes,
 *                too, as names have none.
 */
bool group_is_meant(const char *wanted, const char *group);

/** Patterns as of hr_cgroup_options, or paths. All zeros is empty. */
struct group_patterns {
    char **list;
    size_t count, capacity;
};

void group_patterns_free(struct group_patterns *patterns);

/**
 * Makes patterns of what others match, and of all below that.
 *
 * @param patterns  of which each passes hr_cgroup_pattern_check().
 * @param covering  receives them, for group_patterns_free(), whatever is returned.
 * @return 0 or -ENOMEM.
 */
int group_patterns_cover(const struct group_patterns *patterns, struct group_patterns *covering);

/**
 * Appends the path of each cgroup with processes that a user means by a name in series.
 *
 * @return 0, also if there is none; or as hr_cgroup_set_read().
 */
int group_find_named(const struct hr_root *root, const char *wanted,
                     struct group_patterns *patterns);

/**
 * Makes patterns of what a user gave: each that matches cgroups as it is, of others the cgroups of
 * that name, which are cgroup2's.
 *
 * @param controller  as of hr_cgroup_options; NULL: cgroup2.
 * @param wanted    of which each passes hr_cgroup_pattern_check().
 * @param patterns  receives them, for group_patterns_free(), whatever is returned.
 * @param missing   receives, on -ENODEV, the one that no cgroup matches.
 * @return 0; -ENODEV; or as hr_cgroup_set_read().
 */
int group_find_patterns(const struct hr_root *root, const char *controller,
                        const char *const *wanted, size_t count, struct group_patterns *patterns,
                        const char **missing);

/** Says which cgroups there are where none matches, for the end of a message, safe to show:
 * " (in a there are: b, c)"; "" if they can't be listed. */
void group_describe_others(const struct hr_root *root, const char *wanted, char *text, size_t size);

#endif
