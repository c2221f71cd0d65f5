/* SPDX-License-Identifier: MIT */
/*
 * room/process_cgroup.h - /proc/PID/cgroup: the group of a process in each hierarchy.
 *
 * Source: cgroups(7), kernel/cgroup/cgroup.c (proc_cgroup_show).
 */
#ifndef HEADROOM_COLLECTORS_ROOM_PROCESS_CGROUP_H
#define HEADROOM_COLLECTORS_ROOM_PROCESS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

struct hr_text;

/**
 * Finds the group of the process in the version 1 hierarchy of a controller, or in cgroup2, by
 * lines like "3:cpu,cpuacct:/system.slice\n".
 *
 * @param controller  NULL: cgroup2.
 * @param path        receives its path, without a leading slash.
 * @return whether there is such a line.
 */
bool hr_process_cgroup_find(const char *text, size_t length, const char *controller,
                            struct hr_text *path);

/**
 * Whether the process is in a group of the version 1 hierarchy of a controller, by lines like
 * "3:cpu,cpuacct:/system.slice\n".
 *
 * @param path  of the group, without a leading slash.
 */
bool hr_process_cgroup_is(const char *text, size_t length, const char *controller,
                          const char *path);

#endif
