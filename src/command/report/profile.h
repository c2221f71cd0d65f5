/* SPDX-License-Identifier: MIT */
/*
 * report/profile.h - whether the need of memory is by a profile of the group's working set. Without
 * one all of its memory but inactive files counts as needed, so that it needs that at most, and has
 * at least the room that is published.
 *
 * No series says so. It is found out as the headroom plugin does: by the windows that collectd has
 * of the plugin wss, and where there are some, by reading the group, as they needn't show the need.
 */
#ifndef HEADROOM_COMMAND_REPORT_PROFILE_H
#define HEADROOM_COMMAND_REPORT_PROFILE_H

#include "report/places.h"
#include "report/rooms.h"

struct group_patterns;
struct hr_root;
struct usage;

/**
 * Takes the profiles from the rows that don't show what the group needs. Only groups that have one
 * are read, and only here: those of other hosts keep theirs.
 *
 * @param usage   how the plugins are configured.
 * @param places  of all rows.
 * @param meant   which groups count; without any, all.
 * @return 0 or -ENOMEM.
 */
int profiles_check(const struct hr_root *root, const struct usage *usage,
                   const struct places *places, const struct group_patterns *meant,
                   struct rooms *rooms);

/** @return whether the need of memory is known, and without a profile. The system's has none, but
 * what the kernel says is available. */
bool profile_is_missing(const struct room_row *row);

/** @return whether the room by memory, and how much more memory it can take, are "at least"
 * therefore. In trouble there is none: that is measured. */
bool profile_has_room_at_least(const struct room_row *row);

/** @return whether that is what the row shows, as memory binds. */
bool profile_is_shown_at_least(const struct room_row *row);

/** @return what precedes a number that is "at least", in the terminal's characters; else "". */
const char *profile_mark(bool is_at_least);

/** Prints what the mark means, as a paragraph for below a table. */
void profile_print_legend(FILE *out);

#endif
