/* SPDX-License-Identifier: MIT */
/*
 * report/briefs.h - of each row what binds, and who takes it: what fits into a table of what
 * report/group.h has of one.
 */
#ifndef HEADROOM_COMMAND_REPORT_BRIEFS_H
#define HEADROOM_COMMAND_REPORT_BRIEFS_H

#include "report/group.h"

/** Begins those of the groups that are meant with what is collectd's. @return 0, -ENOMEM, or as
 * client_get(). */
int briefs_fetch(struct client *client, struct rooms *rooms, const struct group_patterns *meant);

/** Adds what is read of the groups themselves. @return 0 or -ENOMEM. */
int briefs_read(const struct hr_root *root, const struct usage *usage, const struct places *places,
                struct rooms *rooms);

/** Frees that of a row. */
void briefs_free(struct room_row *row);

#endif
