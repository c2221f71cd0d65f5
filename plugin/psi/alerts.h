/* SPDX-License-Identifier: MIT */
/*
 * psi/alerts.h - the alerts of the plugin psi: a thread that arms the triggers, follows the groups,
 * and dispatches notifications as soon as the kernel reports a stall.
 */
#ifndef HEADROOM_PLUGIN_PSI_ALERTS_H
#define HEADROOM_PLUGIN_PSI_ALERTS_H

#include "collectd.h"

#include "plugin.h"

#include "common/selection.h"

struct psi_alerts;

/** @return alerts without rules; NULL if memory is short. */
struct psi_alerts *psi_alerts_new(void);

/** Reads an option if it is one of the alerts'. @return 0; 1: it isn't; -1: refused, and logged. */
int psi_alerts_option(struct psi_alerts *alerts, const oconfig_item_t *item);

/** Whether there is no rule. */
bool psi_alerts_is_empty(const struct psi_alerts *alerts);

/**
 * Starts the thread, if there is a rule. Errors are logged.
 *
 * @param root, selection  must outlive the thread.
 */
void psi_alerts_start(struct psi_alerts *alerts, const struct hr_root *root,
                      struct selection *selection);

/** Publishes how often each armed trigger has fired. */
void psi_alerts_publish(struct psi_alerts *alerts, cdtime_t time);

/** Ends the thread, waits for it, and frees the alerts. NULL is allowed. */
void psi_alerts_free(struct psi_alerts *alerts);

#endif
