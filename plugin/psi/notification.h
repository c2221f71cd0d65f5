/* SPDX-License-Identifier: MIT */
/*
 * psi/notification.h - the notifications of the plugin psi: message and metadata.
 */
#ifndef HEADROOM_PLUGIN_PSI_NOTIFICATION_H
#define HEADROOM_PLUGIN_PSI_NOTIFICATION_H

#include "psi/rule.h"

#include "headroom/waiters.h"
#include "psi/longest.h"
#include "psi/takers.h"

/** What an alert is about: a rule, and the group or the system that it applies to. */
struct psi_subject {
    const struct psi_rule *rule;
    const char *instance; /**< the plugin instance, "system" for the system */
    const char *path;     /**< of the group; NULL for the system */
};

/** The tasks that wait. */
struct psi_waiting {
    char unknown[96]; /**< why they aren't known; empty if they are */
    struct hr_waiter top[PSI_TOP_TASKS_MAX];
    struct hr_waiters_report report;
};

/*
 * Each fills in a notification except its time. The caller frees its metadata by
 * plugin_notification_meta_free().
 */

/** What was found out about a stall. */
struct psi_findings {
    char cause[200];                   /**< in words; empty: not known */
    const struct psi_takers *takers;   /**< who took the CPU; NULL: not measured */
    const struct psi_longest *longest; /**< the group that waited longest; NULL: not known */
    const struct psi_waiting *waiting; /**< NULL: the rule names no tasks */
    uint64_t lasting_s;                /**< 0: the alarm begins; else for how long it has lasted */
};

/** There was a stall. */
void psi_notification_write_stall(notification_t *notice, const struct psi_subject *subject,
                                  const struct hr_psi_event *event,
                                  const struct psi_findings *findings);

/** The alarm is over: for the rule's quiet time there was no event. */
void psi_notification_write_okay(notification_t *notice, const struct psi_subject *subject);

/** The alarm ends as the trigger is disarmed. @param reason  completes "…: ". */
void psi_notification_write_unwatched(notification_t *notice, const struct psi_subject *subject,
                                      const char *reason);

#endif
