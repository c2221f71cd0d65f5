/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/stall_harness.h - groups with limits on the running kernel, and the causes of
 * their stalls.
 *
 * The controllers may be those of cgroup2 or of version 1, whose hierarchy then gets the same
 * groups. Whatever goes wrong fails the test.
 *
 * Environment: HEADROOM_TEST_ROUNDS, how often each case runs.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_ROOM_STALL_HARNESS_H
#define HEADROOM_TESTS_COLLECTORS_ROOM_STALL_HARNESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "headroom/stall_cause.h"
#include "support/groups.h"

extern struct hr_root *root;
extern struct groups *groups; /**< of cgroup2 */

/** How often each case runs. */
int rounds(void);

/**
 * Why groups can't be limited here, or NULL.
 *
 * @param controller          as version 2 calls it.
 * @param v2_limit, v1_limit  a file of the limit in version 2, and in version 1.
 */
const char *why_not(const char *controller, const char *v2_limit, const char *v1_limit);

/** Makes the group that holds the others; and removes it. */
void set_up_groups(const char *controller);
void tear_down_groups(void);

/** Makes a group in which others can be made. */
void make_parent(const char *name);

void make_group(const char *name);

/** Removes it, which must be empty by then. */
void remove_group(const char *name);

/** Writes to a file of a group, whose name depends on the version; NULL: there is none. */
void limit_group(const char *name, const char *v2_file, const char *v2_text, const char *v1_file,
                 const char *v1_text);

/** Gives a group's tasks the CPUs before whatever else the machine does. */
void prefer(const char *name);

/** Moves a process that began in a group of cgroup2 to that of version 1, too. */
pid_t join_group(const char *name, pid_t pid);

/** Forks a process into a group, or, if name is NULL, where we are. @return as fork(2). */
pid_t fork_into_group(const char *name);

/** Waits until a group is populated. Valid until the next call, or the groups are removed. */
const struct hr_cgroup *find_group(const char *name);

/**
 * Explains the stall of a group in a window of half a second, of io of two and a half, or as many
 * as it takes until there is some.
 *
 * On a busy machine a window may show none: then there are up to four.
 *
 * @return the first cause; but for a hypervisor that takes CPUs from this machine.
 */
struct hr_stall_cause first_cause(const char *name, enum hr_psi_resource resource);

/** The same, where it must be among the causes. */
void expect_cause(const char *name, enum hr_psi_resource resource, enum hr_stall_kind kind);

/** The same, where there must be none. */
void expect_no_cause(const char *name, enum hr_psi_resource resource);

#endif
