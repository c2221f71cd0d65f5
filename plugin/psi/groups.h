/* SPDX-License-Identifier: MIT */
/*
 * psi/groups.h - the selected groups: one set for values and alerts, so that both are of the same
 * groups, but for those younger than MinAge: these have alerts, and no series yet.
 *
 * The read callback and the thread of the alerts use it. Two locks protect it: set_lock the set and
 * the series, which the read callback holds while it samples; alerts_lock all that has to do with
 * alerts, which the thread holds while it works. The set is changed with both held. So a trigger
 * never waits for the sampling of a thousand groups.
 */
#ifndef HEADROOM_PLUGIN_PSI_GROUPS_H
#define HEADROOM_PLUGIN_PSI_GROUPS_H

#include <pthread.h>

#include "common/selection.h"
#include "psi/alert.h"
#include "psi/series.h"
#include "psi/taken.h"

/** What the plugin has of one group: hr_cgroup.data, NULL if memory was short. */
struct psi_group {
    SLIST_ENTRY(psi_group) removed;
    struct psi_series series;
    bool is_young;  /**< has no series yet; changed with both locks held */
    bool has_begun; /**< its series began after the plugin's first read, as it was new, empty, or
                         young until then */
    struct hr_psi_snapshot begun; /**< what it had waited by then */
    struct psi_top_standing standing;
    struct psi_taken *taken; /**< NULL: none is published */
    size_t alert_count;
    struct psi_alert alerts[];
};

struct psi_groups {
    struct selection *selection;
    const struct psi_series_options *series_options;
    const struct psi_series *system;    /**< the whole system's values; protected by set_lock */
    struct psi_rule_state *rule_states; /**< of all rules */
    size_t rule_count;
    pthread_mutex_t set_lock, alerts_lock; /**< taken in this order; against it only tried */
    struct hr_cgroup_set *set;             /**< NULL without a Cgroup option */
    size_t changes;                        /**< of the set, and of who is young, so far */
    cdtime_t taken_time;                   /**< when psi_taken_sample() submitted last; 0: never */
    bool is_begun;                         /**< what was there at the first read is known */
    bool is_closing;                       /**< nothing is submitted any more */
    size_t alert_count;                    /**< of all groups */
    struct psi_top_candidate *candidates;  /**< room for all groups */
    size_t candidate_capacity, count;      /**< of groups */
    SLIST_HEAD(, psi_group) removed;       /**< what the thread's events may still point to */
};

/**
 * Opens the set; without a Cgroup option there is none.
 *
 * @param selection, series_options, rule_states  must outlive the groups.
 * @return 0 or a negative errno.
 */
int psi_groups_open(struct psi_groups *groups, const struct hr_root *root,
                    struct selection *selection, const struct psi_series_options *series_options,
                    struct psi_rule_state *rule_states, size_t rule_count);

/** Begins the series of groups that have reached MinAge. With both locks held, at the end of a
 * read: so the first interval of which values are is one in which the group was old enough. */
void psi_groups_begin_series(struct psi_groups *groups);

/** Whether a group is read at each interval: it has processes, and isn't young. */
bool psi_group_is_read(const struct hr_cgroup *group);

/** Decides which of the groups that were just read have series: see psi/top_groups.h. With set_lock
 * held. */
void psi_groups_choose_series(struct psi_groups *groups, cdtime_t time);

/** Closes the set, once no thread uses it. */
void psi_groups_close(struct psi_groups *groups);

/** Frees what was kept of removed groups. With alerts_lock held. */
void psi_groups_free_removed(struct psi_groups *groups);

/** Initializes the alerts of the rules that apply to the system, or to a group. @return how many.
 */
size_t psi_groups_init_alerts(struct psi_groups *groups, struct psi_alert *alerts,
                              const char *instance, const struct hr_cgroup *group);

/** How many rules apply to the system, or to groups. */
size_t psi_groups_count_rules(const struct psi_groups *groups, bool of_system);

#endif
