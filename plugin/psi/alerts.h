/* SPDX-License-Identifier: MIT */
/*
 * psi/alerts.h - the alerts of the plugin psi: a thread that follows the groups, reads the
 * triggers, and reports alarms as soon as they begin, and when they are over.
 *
 * The way of an event: trigger (collector) → alert.c, the alarm → report.c, which leaves it to a
 * group below that has one, else finds out who waits (waiting_tasks.c) and why (cause_history.c) →
 * notification.c, the text → dispatcher (common), collectd's handlers.
 * Beside it, rescan.c follows the groups; open_alarms.c keeps the alarms that are open, by
 * common/open_alarms.c; unclaimed.c says why one of the run before can't go on.
 */
#ifndef HEADROOM_PLUGIN_PSI_ALERTS_H
#define HEADROOM_PLUGIN_PSI_ALERTS_H

#include "collectd.h"

#include "plugin.h"

#include "common/selection.h"
#include "psi/series.h"

struct psi_alerts;
struct psi_groups;

/** @return alerts without rules; NULL if memory is short. */
struct psi_alerts *psi_alerts_new(void);

/** Reads an option if it is one of the alerts'. @return 0; 1: it isn't; -1: refused, and logged. */
int psi_alerts_option(struct psi_alerts *alerts, const oconfig_item_t *item);

/** Whether there is no rule. */
bool psi_alerts_is_empty(const struct psi_alerts *alerts);

/**
 * Opens the selected groups, and starts the thread, if there is a rule or a group to follow. Errors
 * are logged: then there are no alerts, and the groups are followed by psi_alerts_read_groups().
 *
 * @param root, selection, series_options, system  must outlive the alerts; the last is the whole
 * system's values, open or not, which are read and changed with set_lock held.
 * @return 0; a negative errno if the groups can't be opened.
 */
int psi_alerts_start(struct psi_alerts *alerts, const struct hr_root *root,
                     struct selection *selection, const struct psi_series_options *series_options,
                     const struct psi_series *system);

/** The selected groups. */
struct psi_groups *psi_alerts_groups(struct psi_alerts *alerts);

/** Brings the groups up to date. With set_lock held. */
void psi_alerts_read_groups(struct psi_alerts *alerts);

/** Submits how often each armed trigger of the system has fired. */
void psi_alerts_publish_system(const struct psi_alerts *alerts, cdtime_t time);

/** Submits it of one group. With set_lock held. */
void psi_alerts_publish_group(const struct hr_cgroup *group, cdtime_t time);

/** Submits who took the CPU from each group. With set_lock held. */
void psi_alerts_publish_takers(struct psi_alerts *alerts, cdtime_t time);

/** Begins the series of groups that have become old enough, at the end of a read. With set_lock
 * held.
 */
void psi_alerts_begin_series(struct psi_alerts *alerts);

/** Ends the thread, waits for it, and frees the alerts. NULL is allowed. */
void psi_alerts_free(struct psi_alerts *alerts);

#endif
