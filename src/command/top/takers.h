/* SPDX-License-Identifier: MIT */
/*
 * top/takers.h - which group takes most of the CPUs that others wait for.
 */
#ifndef HEADROOM_COMMAND_TOP_TAKERS_H
#define HEADROOM_COMMAND_TOP_TAKERS_H

#include "top/table.h"

/** A taker has at most so many times the "full" of its victim, see table_mark_takers(). */
#define TAKER_FULL_FACTOR 2

/**
 * Marks, of each host on which a group waits for CPUs, the group that uses most of those that
 * groups wait for, see row.takes_most.
 *
 * Which CPU a group uses isn't known. While CPUs are idle, those that groups wait for are used
 * by the waiting groups themselves, as each has more tasks than it gets CPUs; on a full machine by
 * all. So a group that never waits, by its real-time priority, isn't found on a machine that isn't
 * full. Of groups within one another it is the innermost that has at least half of the use.
 *
 * None is marked unless of the other groups, not above or below it, the one with the highest "full"
 * of a CPU suffers more, and it uses one and a half times the CPUs of that one: else it is a
 * victim, too, of what isn't in the table. More is a higher "full", or half of it at least and a
 * larger part of what the group wants: its "full", and what it uses.
 *
 * @param table  as table_fetch() has left it: not sorted yet.
 */
void table_mark_takers(struct table *table);

#endif
