/* SPDX-License-Identifier: MIT */
/*
 * oom/kill_log.h - finds the kills among the messages of the kernel's log.
 *
 * A kill has several messages: how much memory the group has, whose limit it is and in which group
 * the victim is (these two are limited to ten kills within five seconds), and the victim. After it
 * come those of memory.oom.group, all tasks of a group.
 *
 * Names are anyone's choice, and may look like a part of a message: the victim's is taken from the
 * message that has it between parentheses, and what precedes it in the other one is taken apart
 * from its fixed parts.
 *
 * Source: mm/oom_kill.c, mm/memcontrol.c, of Linux 4.13 to 7.2.
 */
#ifndef HEADROOM_COLLECTORS_OOM_KILL_LOG_H
#define HEADROOM_COLLECTORS_OOM_KILL_LOG_H

#include "headroom/oom.h"

/** What the messages since the last kill say; all zeros: nothing. */
struct hr_kill_log {
    char context[2048];       /**< the message with the groups; "": there was none */
    uint64_t limit_kib;       /**< of the group that is short of memory; 0: not known */
    bool is_of_group;         /**< of old kernels: a limit of a group, not the machine */
    char all_of[PATH_MAX];    /**< a group all of whose tasks are killed; "": none */
    char all_limit[PATH_MAX]; /**< and by whose limit */
    uint64_t all_limit_bytes;
    bool is_all_limit_known;
    int all_first_pid; /**< of the first victim, which is killed again with all; 0: none */
    char all_first_name[64];
    struct hr_oom_kill last; /**< the kill before */
};

/** A kill, and whether its group is in the log. */
struct hr_kill_logged {
    struct hr_oom_kill kill;
    bool has_path;
    bool is_again; /**< it was logged, and counted, before: memory.oom.group kills the first victim
                        once more */
};

/**
 * Adds a message.
 *
 * @param logged  receives the kill; a path that isn't known is "", and not exact.
 * @return whether it is the message of a victim.
 */
bool hr_kill_log_add(struct hr_kill_log *log, const char *message, struct hr_kill_logged *logged);

/** Whether a message is of those that come before a victim's. */
bool hr_kill_log_is_near(const char *message);

/** Once a victim's group is known otherwise: whether it is one of those that are killed with all of
 * their group, and by which limit. */
void hr_kill_log_fill_limit(const struct hr_kill_log *log, struct hr_oom_kill *kill);

#endif
