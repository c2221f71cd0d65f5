/* SPDX-License-Identifier: MIT */
/*
 * blame/names.h - names of groups in the table of `headroom blame`.
 */
#ifndef HEADROOM_COMMAND_BLAME_NAMES_H
#define HEADROOM_COMMAND_BLAME_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "blame/report.h"

/** @return the last component of a path; "/" of "/". */
const char *blame_leaf(const char *path);

/** @return what precedes the path of a group: a slash if another taker, which is no group, is named
 * as its last component, else "". */
const char *blame_slash_before(const char *path);

/** Looks through all groups. @return whether a group has a short name that no other has. */
bool blame_has_short_name(const struct blame_report *report, uint64_t id);

/** Writes a group's path, or its short name, cut to a width and safe to show. */
void blame_write_name(const struct blame_report *report, uint64_t id, bool is_short, int width,
                      char label[256]);

#endif
