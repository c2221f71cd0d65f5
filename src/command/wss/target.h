/* SPDX-License-Identifier: MIT */
/*
 * wss/target.h - what `headroom wss` measures, in words, and whether it is still there.
 */
#ifndef HEADROOM_COMMAND_WSS_TARGET_H
#define HEADROOM_COMMAND_WSS_TARGET_H

#include <stdbool.h>

#include "headroom/wss.h"

struct hr_root;

#define WSS_TARGET_NAME_SIZE 600

/**
 * Looks for the processes, if the target is of processes. Whether there are any is for
 * hr_wss_begin() to say; this is for messages.
 *
 * @param processes  receives them, and may hold others before; stays empty otherwise.
 */
void wss_target_find(const struct hr_root *root, const struct hr_wss_target *target,
                     struct hr_process_list *processes);

/**
 * Names the target: "PID 423 (mysqld)", "3 processes named mysqld", "the cgroup a/b". Safe to be
 * shown.
 */
void wss_target_name(const struct hr_wss_target *target, const struct hr_process_list *processes,
                     char name[WSS_TARGET_NAME_SIZE]);

/** Whether one of the processes, at least, hasn't ended; true if there are none in the list. */
bool wss_target_lives(const struct hr_process_list *processes);

#endif
