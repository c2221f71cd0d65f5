/* SPDX-License-Identifier: MIT */
/*
 * psi/alert.h - one rule applied to one group, or to the system: trigger, alarm, notifications.
 *
 * All functions run in the thread of psi/alerts.h.
 */
#ifndef HEADROOM_PLUGIN_PSI_ALERT_H
#define HEADROOM_PLUGIN_PSI_ALERT_H

#include <sys/queue.h>

#include "psi/arming.h"
#include "psi/counters.h"
#include "psi/notification.h"
#include "psi/outbox.h"
#include "psi/waiting_tasks.h"

struct psi_alert;
TAILQ_HEAD(psi_alert_list, psi_alert);

/** What all alerts share. */
struct psi_alert_context {
    const struct hr_root *root;
    int epoll;
    struct psi_outbox outbox;
    struct psi_task_source task_source;
    struct psi_counters *counters;
    struct psi_alert_list due;    /**< alerts with a deadline */
    struct psi_alert_list polled; /**< those to poll, the next first */
};

/** What all alerts of a rule share. */
struct psi_rule_state {
    const struct psi_rule *rule;
    struct psi_alert_context *context;
    struct psi_arming arming;
    struct psi_task_budget budget;
};

struct psi_alert {
    struct psi_rule_state *rule_state;
    struct psi_subject subject;
    const struct hr_cgroup *group; /**< NULL: the system */
    struct psi_counter counter;

    struct hr_psi_trigger *trigger; /**< NULL: not armed */
    bool failed;                    /**< arming failed; retried at retry_ns */
    bool is_counted;                /**< in arming.unarmed_groups */
    uint64_t retry_ns;

    bool alarmed;              /**< since an event, until the quiet time is over */
    bool is_notified;          /**< a notification of this alarm was sent */
    struct hr_psi_event event; /**< the last */

    struct hr_waiters *waiters; /**< not NULL: waiting tasks are being sampled, until report_ns */
    uint64_t report_ns;

    bool is_due;
    TAILQ_ENTRY(psi_alert) due;
    TAILQ_ENTRY(psi_alert) polled;
};

void psi_rule_state_init(struct psi_rule_state *rule_state, const struct psi_rule *rule,
                         struct psi_alert_context *context);

/** Initializes an alert, not armed. @param instance, group  must outlive the alert. */
void psi_alert_init(struct psi_alert *alert, struct psi_rule_state *rule_state,
                    const char *instance, const struct hr_cgroup *group);

/** Arms the trigger; a failure is logged, and retried by psi_alert_tick(). */
void psi_alert_arm(struct psi_alert *alert);

/** Disarms the trigger. @param reason  why an alarm ends, if there is one. */
void psi_alert_disarm(struct psi_alert *alert, const char *reason);

/** Reads the trigger. @param events  of epoll_wait(2); 0 when polling. */
void psi_alert_read(struct psi_alert *alert, uint32_t events);

/** When psi_alert_tick() has something to do; UINT64_MAX: never. */
uint64_t psi_alert_deadline(const struct psi_alert *alert);

/** Does what is due at the deadline: sends the notification, retries arming, or ends the alarm. */
void psi_alert_tick(struct psi_alert *alert);

#endif
