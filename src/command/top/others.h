/* SPDX-License-Identifier: MIT */
/*
 * top/others.h - the CPUs that tasks use which are in none of the groups in the table.
 */
#ifndef HEADROOM_COMMAND_TOP_OTHERS_H
#define HEADROOM_COMMAND_TOP_OTHERS_H

#include "top/table.h"

struct memory_reader;

/** The name of their row. */
#define OTHERS_NAME "(other tasks)"

/**
 * Adds a row for each machine that has a row and a group with a value of the CPUs it uses: what the
 * machine's busy CPUs do beyond its groups. Of groups within one another the outermost counts,
 * which has the use of those below. It isn't known unless that of each of these is, how many CPUs
 * the machine has, and how idle they are; nor where groups use far more than that is busy, as names
 * that an option Instance makes don't show which lies within which.
 *
 * How many CPUs there are is known by the machine's own counter in cgroup_perf; of this machine,
 * by the kernel, and where the counter is of chosen CPUs only it isn't known.
 *
 * @param table   as table_shorten_names() has left it, which knows paths: not sorted yet.
 * @param memory  knows which rows are this machine's; NULL: it isn't known.
 * @return 0 or -ENOMEM.
 */
int table_add_others(struct table *table, const struct memory_reader *memory);

#endif
