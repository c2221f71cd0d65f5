/* SPDX-License-Identifier: MIT */
/*
 * oom/victim.h - the group of a process that ends.
 *
 * Source: kernel/cgroup/cgroup.c (proc_cgroup_show): until its parent has waited for it, also that
 * of a process that has ended; " (deleted)" follows the path of a removed group.
 */
#ifndef HEADROOM_COLLECTORS_OOM_VICTIM_H
#define HEADROOM_COLLECTORS_OOM_VICTIM_H

#include <stddef.h>

#include "headroom/oom.h"

/** Parses /proc/PID/cgroup. @param version  of the memory controller's hierarchy. @return whether
 * the path, without a leading slash, is in it; not if it lies outside of what can be seen, or may
 * just be that of any process that ends. */
bool hr_oom_victim_parse(const char *text, size_t length, int version, char path[PATH_MAX]);

/** Finds the group of a victim. @return whether it is known: there is such a process, and it has
 * the victim's name. */
bool hr_oom_victim_find(const struct hr_root *root, int version, struct hr_oom_kill *kill);

#endif
