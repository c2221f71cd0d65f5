/*
 * psi/waiting_tasks.h - asking who waits, at a bounded cost, and saying once what stands in the
 * way.
 */
#ifndef HEADROOM_PLUGIN_PSI_WAITING_TASKS_H
#define HEADROOM_PLUGIN_PSI_WAITING_TASKS_H

#include "common/complaint.h"
#include "psi/notification.h"

struct hr_cgroup;
struct hr_root;
struct hr_taskstats;

/** The connection to the kernel, made when it is needed first. */
struct psi_who {
    const struct hr_root *root;
    struct hr_taskstats *taskstats;
    struct complaint connection, accounting;
};

/** The tasks that a rule has looked at in the second under way. */
struct psi_who_budget {
    uint64_t second_ns;
    size_t looked_count;
};

/** Ends the connection. */
void psi_who_end(struct psi_who *who);

/**
 * Takes the first look at a group, or at the system if group is NULL.
 *
 * @param waiters  receives what psi_who_answer() takes; else it is NULL.
 * @return 0, or a negative errno for psi_who_explain().
 */
int psi_who_ask(struct psi_who *who, const struct psi_rule *rule, struct psi_who_budget *budget,
                const struct hr_cgroup *group, struct hr_waiters **waiters);

/** Takes the second look, and ends the waiters. */
void psi_who_answer(struct hr_waiters *waiters, const struct psi_rule *rule,
                    struct psi_waiting *waiting);

/** Fills in why the waiting tasks are unknown: an error of psi_who_ask(), without its remedy. */
void psi_who_explain(int status, struct psi_waiting *waiting);

#endif
