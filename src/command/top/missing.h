/* SPDX-License-Identifier: MIT */
/*
 * top/missing.h - groups that have no row though the plugins select them: what isn't updated for
 * two intervals collectd has no more, so that most rows vanish where its values wait for slow
 * writers, or are dropped.
 */
#ifndef HEADROOM_COMMAND_TOP_MISSING_H
#define HEADROOM_COMMAND_TOP_MISSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "configured/backlog.h"
#include "configured/selected.h"
#include "top/table.h"

/** The groups of a plugin that should have values. */
struct expected_of_plugin {
    char **names; /**< in series */
    size_t count, capacity;
};

/** All zeros: not looked for yet. */
struct expected_groups {
    struct expected_of_plugin of[CGROUPS_PLUGIN_COUNT];
    uint64_t scanned_ns;
};

/**
 * Counts the groups without a row, of those that have tasks and that a plugin selects which has
 * values of all of them in each interval: not wss, nor one with MinAge, nor psi with TopGroups; nor
 * one of which no group has a row, as it may have nothing to measure on this machine. Looks for
 * groups at most each ten seconds.
 *
 * @param root   where the plugins look for them.
 * @param usage  what is configured.
 */
size_t expected_groups_missing(struct expected_groups *expected, const struct hr_root *root,
                               const struct usage *usage, const struct table *table);

/** Frees the names, and leaves none. */
void expected_groups_free(struct expected_groups *expected);

/**
 * Describes that groups are missing. Without that collectd is behind, a few that are new may be: it
 * is said if at least as many are missing as are shown.
 *
 * @param shown    how many are.
 * @param missing  how many aren't.
 * @param text     receives "7 of 302 groups are shown: ..."; "" if there is nothing to say.
 */
void describe_missing_groups(size_t shown, size_t missing, bool is_behind, char *text, size_t size);

#endif
