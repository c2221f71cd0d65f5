/* SPDX-License-Identifier: MIT */
/*
 * wss/target.h - what `headroom wss` measures: its name, and whether it still exists.
 */
#ifndef HEADROOM_COMMAND_WSS_TARGET_H
#define HEADROOM_COMMAND_WSS_TARGET_H

#include <stdbool.h>

#include "headroom/wss.h"

struct group_patterns;
struct hr_root;

#define WSS_TARGET_NAME_SIZE 600

/**
 * Opens the host's root, and finds the cgroup there, if the target is one: it may be named as its
 * series are, or in short. Where there is none the target stays what it is, and hr_wss_begin()
 * reports that.
 *
 * @param title   begins each message.
 * @param path    where the host's / is mounted.
 * @param target  its cgroup may become a text of `found`.
 * @param root    receives it, for hr_root_close(); also if the name is short for several cgroups.
 * @param found   receives what was found, for group_patterns_free().
 * @return COMMAND_DONE; COMMAND_FAILED after a message.
 */
int wss_target_open(const char *title, const char *path, struct hr_wss_target *target,
                    struct hr_root **root, struct group_patterns *found);

/**
 * Finds the processes, if the target is of processes, for messages. hr_wss_begin() reports it if
 * there are none.
 *
 * @param processes  receives them, and may have others before; stays empty for other targets.
 */
void wss_target_find(const struct hr_root *root, const struct hr_wss_target *target,
                     struct hr_process_list *processes);

/**
 * Names the target: "PID 423 (mysqld)", "3 processes named mysqld", "the cgroup a/b". The name is
 * safe to show.
 */
void wss_target_name(const struct hr_wss_target *target, const struct hr_process_list *processes,
                     char name[WSS_TARGET_NAME_SIZE]);

/** @return whether at least one of the processes hasn't ended; true for an empty list. */
bool wss_target_lives(const struct hr_process_list *processes);

#endif
