/*
 * psi/alert.h - one rule at one group, or at the system: its trigger, its alarm, its notifications.
 *
 * All of it belongs to the thread of the alerts; see psi/alerts.h.
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
struct psi_alert_desk {
    const struct hr_root *root;
    int epoll;
    struct psi_outbox outbox;
    struct psi_who who;
    struct psi_counters *counters;
    struct psi_alert_list due; /**< alerts with a deadline */
};

/** Alerts that are read at intervals. */
struct psi_round {
    uint64_t interval_us; /**< 0: it is free */
    struct psi_alert_list list;
    uint64_t next_ns; /**< when they are read next */
};

enum { PSI_ROUNDS = 2 }; /* of what the kernel doesn't watch, and what it may watch late */

/** What all alerts of a rule share. */
struct psi_watch {
    const struct psi_rule *rule;
    struct psi_alert_desk *desk;
    struct psi_round rounds[PSI_ROUNDS];
    struct psi_arming arming;
    struct psi_who_budget budget;
};

struct psi_alert {
    struct psi_watch *watch;
    struct psi_subject subject;
    const struct hr_cgroup *group; /**< NULL: the system */
    struct psi_counter counter;

    struct hr_psi_trigger *trigger; /**< NULL: not armed */
    struct psi_round *round;        /**< NULL: the kernel alone watches */
    bool failed;                    /**< as it can't be; tried again at retry_ns */
    bool is_counted;                /**< in arming.unarmed_groups */
    uint64_t retry_ns;

    bool alarmed;              /**< an event came, and the quiet time since isn't over */
    bool told;                 /**< by a notification */
    struct hr_psi_event event; /**< the last */

    struct hr_waiters *waiters; /**< not NULL: looking who waits, until report_ns */
    uint64_t report_ns;

    bool is_due;
    TAILQ_ENTRY(psi_alert) due;
    TAILQ_ENTRY(psi_alert) polled; /**< in a round */
};

void psi_watch_init(struct psi_watch *watch, const struct psi_rule *rule,
                    struct psi_alert_desk *desk);

/** Begins, not armed. @param instance, group  must stay as long as the alert. */
void psi_alert_init(struct psi_alert *alert, struct psi_watch *watch, const char *instance,
                    const struct hr_cgroup *group);

/** Arms the trigger; where that isn't possible, it is said, and tried again. */
void psi_alert_arm(struct psi_alert *alert);

/** Disarms it. @param reason  why an alarm, if there is one, ends. */
void psi_alert_disarm(struct psi_alert *alert, const char *reason);

/** Takes what epoll_wait() told, or 0 when polling. */
void psi_alert_read(struct psi_alert *alert, uint32_t events);

/** When psi_alert_tick() has something to do; UINT64_MAX: never. */
uint64_t psi_alert_deadline(const struct psi_alert *alert);

/** Does what is due, at its deadline. */
void psi_alert_tick(struct psi_alert *alert);

#endif
