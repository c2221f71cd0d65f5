/* SPDX-License-Identifier: MIT */
/*
 * headroom/priority.h - the rank of a task before others: a scheduling policy, and a value in it.
 *
 * Source: sched(7).
 */
#ifndef HEADROOM_PRIORITY_H
#define HEADROOM_PRIORITY_H

enum hr_policy {
    HR_POLICY_IDLE,        /**< SCHED_IDLE: after all others */
    HR_POLICY_OTHER,       /**< SCHED_OTHER; the value is the nice one, -20 to 19 */
    HR_POLICY_ROUND_ROBIN, /**< SCHED_RR; the value is the priority, 1 to 99 */
    HR_POLICY_FIFO,        /**< SCHED_FIFO; likewise */
};

/** All zeros: idle. */
struct hr_priority {
    enum hr_policy policy;
    int value; /**< 0 with HR_POLICY_IDLE */
};

/** Parses "idle", "o:NICE", "r:PRIORITY" or "f:PRIORITY", of which rtla(1) has all but the first.
 * @return 0 or -EINVAL. */
int hr_priority_parse(const char *text, struct hr_priority *priority);

/** Formats it so. @return text. */
const char *hr_priority_format(const struct hr_priority *priority, char text[16]);

#endif
