/* SPDX-License-Identifier: MIT */
/*
 * cgroup/glob.h - patterns for paths of cgroups. The syntax is told in headroom/cgroup.h.
 */
#ifndef HEADROOM_COLLECTORS_CGROUP_GLOB_H
#define HEADROOM_COLLECTORS_CGROUP_GLOB_H

#include <stdbool.h>
#include <stddef.h>

struct hr_glob;

/** A list of patterns. All zeros is an empty one. */
struct hr_globs {
    struct hr_glob **list;
    size_t count;
};

/**
 * Compiles a pattern; a slash at its front or end is passed over.
 *
 * @param glob    receives the pattern; the caller ends it with hr_glob_free().
 * @param reason  receives, on -EINVAL, what is wrong, as a static string.
 * @return 0, -EINVAL, -ENOMEM.
 */
int hr_glob_compile(const char *pattern, struct hr_glob **glob, const char **reason);

/** NULL is allowed. */
void hr_glob_free(struct hr_glob *glob);

/** How many wildcards the pattern has. */
size_t hr_glob_wildcards(const struct hr_glob *glob);

/** Tells whether the pattern matches the whole path. */
bool hr_glob_match(const struct hr_glob *glob, const char *path);

/** Tells whether the pattern can match anything below the path; true for the empty path. */
bool hr_glob_match_below(const struct hr_glob *glob, const char *path);

/**
 * Finds what a wildcard matched in a path that the pattern matches.
 *
 * @param number  from 1.
 * @param text    receives a pointer into the path.
 * @return whether the path matches and has that wildcard.
 */
bool hr_glob_capture(const struct hr_glob *glob, const char *path, size_t number, const char **text,
                     size_t *length);

/** Compiles a list; ended with hr_globs_free(). @return 0, -EINVAL, -ENOMEM. */
int hr_globs_compile(const char *const *patterns, size_t count, struct hr_globs *globs);

void hr_globs_free(struct hr_globs *globs);

/** @return the index of the first pattern that matches the path, or the count. */
size_t hr_globs_find(const struct hr_globs *globs, const char *path);

/** Tells whether any pattern can match below the path. */
bool hr_globs_match_below(const struct hr_globs *globs, const char *path);

#endif
