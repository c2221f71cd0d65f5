/* SPDX-License-Identifier: MIT */
/*
 * common/group.h - which groups a user means: by their paths, as systemd has them, by their names
 * in series, which receivers have, or by what is short for these in mails and in `headroom top`.
 */
#ifndef HEADROOM_COMMAND_COMMON_GROUP_H
#define HEADROOM_COMMAND_COMMON_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "common/short_name.h"

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
 * Finds which of some groups a user means: each that group_is_meant() has; if there is none, the
 * only one that it is short for, as mails and `headroom top` show names.
 *
 * @param groups  paths, or names in series, by their kind; one may be there several times.
 * @param meant   these are appended to, each once; on -ENOTUNIQ it has the several, and no others.
 * @return 0; -ENODEV: there is none; -ENOTUNIQ: it is short for several; -ENOMEM.
 */
int group_choose(const char *wanted, const char *const *groups, size_t count, enum name_kind kind,
                 struct group_patterns *meant);

/** The message about -ENOTUNIQ, safe to show. */
void group_describe_several(const char *wanted, const struct group_patterns *several, char *text,
                            size_t size);

/** Lists the first of some groups, safe to show: "a/b, c/b and 3 more". */
void group_describe_list(const char *const *groups, size_t count, char *text, size_t size);

/**
 * Appends the paths of the cgroups with processes that a user means, as group_choose().
 *
 * @return also as hr_cgroup_set_read().
 */
int group_find_named(const struct hr_root *root, const char *wanted,
                     struct group_patterns *patterns);

/** Whether a group may be meant by what is short for it. */
enum group_length { GROUP_WHOLE, GROUP_SHORT };

/**
 * Makes patterns of what a user gave: each that matches cgroups as it is, of others the cgroups
 * that group_is_meant() or, if names may be short, group_choose() has, which are cgroup2's.
 *
 * @param controller  as of hr_cgroup_options; NULL: cgroup2.
 * @param wanted    of which each passes hr_cgroup_pattern_check().
 * @param patterns  receives them, for group_patterns_free(), whatever is returned; on -ENOTUNIQ,
 * the several groups.
 * @param missing   receives, on -ENODEV, the one that no cgroup matches; on -ENOTUNIQ, that which
 * is short for several.
 * @return 0; -ENODEV; -ENOTUNIQ; or as hr_cgroup_set_read().
 */
int group_find_patterns(const struct hr_root *root, const char *controller,
                        const char *const *wanted, size_t count, enum group_length length,
                        struct group_patterns *patterns, const char **missing);

/**
 * Makes the same in the first of these that has all that is wanted, with processes: cgroup2 by
 * whole names, version 1's hierarchy, cgroup2 by what may be short. Where none has processes it is
 * the first that has all of the groups.
 *
 * @param controller  of version 1; receives that of the hierarchy, NULL: cgroup2.
 * @param count       0: any group, and no patterns.
 * @return as group_find_patterns(); -ENOENT: neither is mounted.
 */
int group_find_hierarchy(const struct hr_root *root, const char **controller,
                         const char *const *wanted, size_t count, struct group_patterns *patterns,
                         const char **missing);

/** Whether a cgroup of cgroup2 is there that a user means, and whether a process is in it.
 * @return as group_find_patterns(). */
int group_is_populated(const struct hr_root *root, const char *wanted, bool *populated);

/** Says which cgroups there are where none matches, for the end of a message, safe to show:
 * " (in a there are: b, c)"; "" if they can't be listed. */
void group_describe_others(const struct hr_root *root, const char *wanted, char *text, size_t size);

#endif
