/* SPDX-License-Identifier: MIT */
/*
 * psi/waiting_tasks.h - samples which tasks wait, at a bounded cost, and logs once why that fails.
 */
#ifndef HEADROOM_PLUGIN_PSI_WAITING_TASKS_H
#define HEADROOM_PLUGIN_PSI_WAITING_TASKS_H

#include "common/complaint.h"
#include "psi/blame.h"
#include "psi/notification.h"

struct hr_cgroup;
struct hr_root;
struct hr_taskstats;

/** The connection to the kernel's taskstats, opened at the first use. */
struct psi_task_source {
    const struct hr_root *root;
    struct hr_taskstats *taskstats;
    struct complaint connection, accounting;
};

/** How many tasks a rule has sampled in the current second. */
struct psi_task_budget {
    uint64_t second_ns;
    size_t sampled_count;
};

/** A sample that is to be taken, by a thread that holds no lock: it may take long. */
struct psi_scan {
    struct psi_task_source *source;
    const struct psi_rule *rule;
    struct psi_task_budget *budget;
    bool of_system;
    int dirfd;                  /**< the group's directory; a negative errno: it can't be opened */
    struct hr_waiters *waiters; /**< the first sample, before the second or after the first */
    bool is_second;
    int status;                          /**< of the first sample */
    struct psi_waiting waiting;          /**< of the second */
    struct psi_blame *blame;             /**< NULL: takers aren't named */
    uint64_t group_id;                   /**< 0: the system */
    struct psi_measurement *measurement; /**< as waiters */
    struct psi_takers takers;
    bool names_longest; /**< the group that waits longest is to be found, with the first sample */
    bool lasts;         /**< the alarm is reported again */
    struct psi_longest *longest;
};

/** Takes the first sample, or, if there is one, the second. */
void psi_scan_run(struct psi_scan *scan);

/** Closes the connection. */
void psi_task_source_close(struct psi_task_source *source);

/** Fills in why the waiting tasks are unknown, by the status of a first sample: the cause alone, as
 * the remedy is logged. */
void psi_waiting_explain(int status, struct psi_waiting *waiting);

#endif
