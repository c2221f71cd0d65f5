/* SPDX-License-Identifier: MIT */
/*
 * psi/waiting_tasks.h - samples which tasks wait, at a bounded cost, and logs once why that fails.
 */
#ifndef HEADROOM_PLUGIN_PSI_WAITING_TASKS_H
#define HEADROOM_PLUGIN_PSI_WAITING_TASKS_H

#include "common/complaint.h"
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

/** Closes the connection. */
void psi_task_source_close(struct psi_task_source *source);

/**
 * Takes the first sample of a group, or of the system if group is NULL.
 *
 * @param waiters  receives the sample, for psi_waiting_read(); NULL on failure.
 * @return 0, or a negative errno for psi_waiting_explain().
 */
int psi_waiting_open(struct psi_task_source *source, const struct psi_rule *rule,
                     struct psi_task_budget *budget, const struct hr_cgroup *group,
                     struct hr_waiters **waiters);

/** Takes the second sample, and closes the waiters. */
void psi_waiting_read(struct hr_waiters *waiters, const struct psi_rule *rule,
                      struct psi_waiting *waiting);

/** Fills in why the waiting tasks are unknown: an error of psi_waiting_open(), without its remedy.
 */
void psi_waiting_explain(int status, struct psi_waiting *waiting);

#endif
