/* SPDX-License-Identifier: MIT */
/*
 * psi/notification.h - the notifications of the plugin psi: message and metadata.
 */
#ifndef HEADROOM_PLUGIN_PSI_NOTIFICATION_H
#define HEADROOM_PLUGIN_PSI_NOTIFICATION_H

#include "psi/rule.h"

#include "headroom/waiters.h"

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

/** There was a stall. @param waiting  NULL if the rule names no tasks. */
void psi_notification_stall(notification_t *notice, const struct psi_subject *subject,
                            const struct hr_psi_event *event, const struct psi_waiting *waiting);

/** The alarm ends: there was no event for the rule's quiet time. */
void psi_notification_quiet(notification_t *notice, const struct psi_subject *subject);

/** The alarm ends as the trigger is disarmed. @param reason  completes "…: ". */
void psi_notification_end(notification_t *notice, const struct psi_subject *subject,
                          const char *reason);

/** Notifications were held back. @param example  one of them, as psi_notification_title() writes
 * it. */
void psi_notification_held(notification_t *notice, int severity, size_t count, size_t limit,
                           const char *example);

/** For a second no notification was held back. */
void psi_notification_none_held(notification_t *notice, size_t limit);

/** Writes "memory some in system.slice/a.service". */
void psi_notification_title(const struct psi_subject *subject, char *buffer, size_t size);

#endif
