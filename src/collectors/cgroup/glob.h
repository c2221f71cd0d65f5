/* SPDX-License-Identifier: MIT */
/*
 * cgroup/glob.h - patterns for paths of cgroups. headroom/cgroup.h has the syntax.
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
 * Compiles a pattern; a slash at its start or end is ignored.
 *
 * @param glob    receives the pattern; the caller frees it with hr_glob_free().
 * @param reason  receives, on -EINVAL, what is wrong, as a static string.
 * @return 0, -EINVAL, -ENOMEM.
 */
int hr_glob_compile(const char *pattern, struct hr_glob **glob, const char **reason);

/** Frees a pattern. NULL is allowed. */
void hr_glob_free(struct hr_glob *glob);

/** @return the number of the pattern's wildcards. */
size_t hr_glob_wildcards(const struct hr_glob *glob);

/** Whether the pattern matches the whole path. */
bool hr_glob_match(const struct hr_glob *glob, const char *path);

/** Whether the pattern can match anything below the path; true for the empty path. */
bool hr_glob_match_below(const struct hr_glob *glob, const char *path);

/**
 * Finds the part of a matching path that a wildcard matched.
 *
 * @param number  from 1.
 * @param text    receives a pointer into the path.
 * @return whether the path matches and has that wildcard.
 */
bool hr_glob_capture(const struct hr_glob *glob, const char *path, size_t number, const char **text,
                     size_t *length);

/** Compiles a list, freed with hr_globs_free(). @return 0, -EINVAL, -ENOMEM. */
int hr_globs_compile(const char *const *patterns, size_t count, struct hr_globs *globs);

void hr_globs_free(struct hr_globs *globs);

/** @return the index of the first pattern that matches the path, or the count. */
size_t hr_globs_find(const struct hr_globs *globs, const char *path);

/** Whether any pattern can match below the path. */
bool hr_globs_match_below(const struct hr_globs *globs, const char *path);

#endif
