/* SPDX-License-Identifier: MIT */
/*
 * support/groups.h - cgroups of the running kernel, made for a test and removed after it.
 *
 * All lie below one group of their own at the top of the mount, so that a test affects no other.
 * Names of groups are relative to that one. Whatever goes wrong ends the program with a message.
 */
#ifndef HEADROOM_TESTS_SUPPORT_GROUPS_H
#define HEADROOM_TESTS_SUPPORT_GROUPS_H

#include <stdbool.h>
#include <sys/types.h>

struct groups;

/**
 * Makes the group that holds the others.
 *
 * @return NULL if no cgroup2 hierarchy is mounted or it can't be written to; else the groups, ended
 *         by groups_free().
 */
struct groups *groups_new(void);

/** The same in the version 1 hierarchy of a controller. */
struct groups *groups_new_v1(const char *controller);

/** Ends the processes, removes the groups. */
void groups_free(struct groups *groups);

/** The path of the group that holds the others, below the mount: "headroom-test-4711". */
const char *groups_path(const struct groups *groups);

/** That group's directory. */
int groups_dirfd(const struct groups *groups);

/** Makes a group, or removes one, which must be empty by then. */
void groups_make(struct groups *groups, const char *name);
void groups_remove(struct groups *groups, const char *name);

/** Starts a process within a group that sleeps until it is ended. At most 16,384 at once. */
pid_t groups_start_sleeper(struct groups *groups, const char *name);

/** Starts a process that uses all of one CPU; name may be NULL: outside of the groups. */
pid_t groups_start_busy(struct groups *groups, const char *name, int cpu);

/** Waits until a process, of a group or not, sleeps; before, it may be waiting for a CPU. */
void groups_await_sleep(pid_t pid);

/** Ends a process and waits until it has left its group. */
void groups_end(struct groups *groups, pid_t pid);

/** Waits for the inotify event of a group that becomes empty, which the kernel sends with a delay;
 * the watch is added before the last process ends. */
int groups_watch(struct groups *groups, const char *name);
void groups_await_empty(struct groups *groups, const char *name, int watch);

/** Writes to a file of a group. */
void groups_write(struct groups *groups, const char *name, const char *file, const char *text);

#endif
