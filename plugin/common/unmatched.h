/* SPDX-License-Identifier: MIT */
/*
 * common/unmatched.h - logs the Cgroup options that match nothing.
 *
 * The patterns of one Cgroup option are alternatives: layouts of several kinds of machines may
 * stand there, so an option is logged when none of its patterns matches anything; one with several
 * when no other option matches anything, either.
 */
#ifndef HEADROOM_PLUGIN_COMMON_UNMATCHED_H
#define HEADROOM_PLUGIN_COMMON_UNMATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hr_cgroup_set;
struct hr_root;

/** One option's patterns, by their index. */
struct unmatched_option {
    size_t first, count;
    bool matched, logged;
};

/** All zeros: none. */
struct unmatched {
    struct unmatched_option *options;
    size_t count, capacity;
    uint64_t first_read_ns; /**< hr_clock_ns(); 0: not read yet */
};

/** What the patterns are of. */
struct unmatched_context {
    const char *plugin;
    const struct hr_root *root;
    const char *controller;
    const char *const *patterns;
    const struct hr_cgroup_set *set;
};

/** Adds an option. @return 0; -1, and logged. */
int unmatched_add(struct unmatched *unmatched, const char *plugin, size_t first, size_t count);

/** To be called after each read of the set. Logs each option once, two intervals after the first
 * read at the earliest, and that it matches when it does later. */
void unmatched_log(struct unmatched *unmatched, const struct unmatched_context *context);

void unmatched_free(struct unmatched *unmatched);

#endif
