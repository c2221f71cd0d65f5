/* SPDX-License-Identifier: MIT */
/*
 * psi/alert.h - one rule applied to one group, or to the system: its trigger and its alarm.
 *
 * A stall is one alarm with one end. It begins with an event of the trigger, and is over when for
 * the rule's quiet time there was none and the kernel's total confirms that. Its beginning and its
 * end are reported, and that it lasts only if the rule says so.
 *
 * Of nested groups only the innermost alarm is reported: as long as the same rule has an alarm of
 * one below, that of a group isn't reported.
 */
#ifndef HEADROOM_PLUGIN_PSI_ALERT_H
#define HEADROOM_PLUGIN_PSI_ALERT_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "common/dispatcher.h"
#include "common/timers.h"
#include "psi/arming.h"
#include "psi/blame.h"
#include "psi/cause_history.h"
#include "psi/notification.h"
#include "psi/open_alarms.h"
#include "psi/waiting_tasks.h"

struct psi_alert;
TAILQ_HEAD(psi_alert_list, psi_alert);

/** Triggers, on the heap. */
struct psi_trigger_list {
    struct hr_psi_trigger **triggers;
    size_t count, capacity;
};

/** What all alerts share. */
struct psi_alert_context {
    const struct hr_root *root;
    int epoll;
    struct timers timers; /**< with room for all alerts */
    struct dispatcher *dispatcher;
    struct open_alarms *open_alarms;
    struct psi_alert_list open;  /**< whose alarm is reported and isn't over */
    bool has_changed;            /**< `open`, or the ends that wait, since they were saved */
    struct psi_alert_list scans; /**< whose waiting tasks, or takers, are to be sampled */
    struct psi_task_source task_source;
    struct psi_blame *blame;         /**< NULL: takers aren't named */
    bool has_groups;                 /**< of which that can be named that waits longest */
    struct psi_trigger_list closing; /**< detached, and to be closed */
    struct complaint refusal;        /**< of the kernel, to watch for triggers of the system */
};

/** What all alerts of a rule share. */
struct psi_rule_state {
    const struct psi_rule *rule;
    struct psi_alert_context *context;
    struct psi_arming arming;
    struct psi_task_budget budget;
    struct psi_alert_list armed; /**< those whose trigger is */
};

struct psi_alert {
    struct timer timer; /**< first: when psi_alert_run_due() is due */
    struct psi_rule_state *rule_state;
    struct psi_subject subject;
    const struct hr_cgroup *group; /**< NULL: the system */
    uint64_t id;                   /**< psi_alert_id() */

    struct hr_psi_trigger *trigger; /**< NULL: not armed */
    bool failed;                    /**< arming failed; retried at retry_ns */
    int failure;                    /**< why, a negative errno */
    bool is_counted;                /**< in arming.unarmed_groups */
    uint64_t retry_ns;
    /** What the read callback may look at. At most ten events a second, so 32 bits do; 64 would
     * need libatomic on some machines. */
    _Atomic bool is_armed;
    _Atomic uint32_t event_count;

    bool alarmed;              /**< from an event until it is over */
    bool is_reported;          /**< its beginning was queued, or sent by the previous run */
    bool is_recorded;          /**< it is in context->open */
    enum alarm_sent sent;      /**< of the alarm, or of the one before */
    uint64_t record;           /**< the first that has it */
    struct hr_psi_event event; /**< the last */
    uint64_t begun_ns;         /**< when the first was; 0: in the previous run */
    uint64_t quiet_ns;         /**< when the alarm is over, if there is no other event */
    uint64_t repeat_ns;        /**< when it is reported again */
    bool has_below;            /**< groups with the rule were below it when it began */
    uint64_t covered_ns;       /**< until when it isn't reported, as one below has an alarm */

    bool is_preparing;                   /**< a report: who waits and why is being found out */
    uint64_t report_ns;                  /**< when it is sent */
    struct hr_waiters *waiters;          /**< not NULL: the first sample of the waiting tasks */
    int waiting_status;                  /**< why there is none; 0 */
    struct psi_measurement *measurement; /**< not NULL: who takes the CPU is being measured */
    struct psi_longest *longest; /**< of the system: not NULL: the group that waits longest */
    bool is_in_scans;            /**< it is in context->scans */
    struct psi_scan *scan;       /**< not NULL: a sample is being taken */
    struct psi_cause_history causes;
    uint64_t causes_due_ns; /**< when they are taken next */

    TAILQ_ENTRY(psi_alert) armed, open, scans;
};

void psi_rule_state_init(struct psi_rule_state *rule_state, const struct psi_rule *rule,
                         struct psi_alert_context *context);

/** Identifies the alarms of a rule on an instance, which are one after the other, whichever group
 * has the instance. */
uint64_t psi_alert_id(const struct psi_rule *rule, const char *instance);

/** Whether an alert is of a group below another one's, by the same rule. */
bool psi_alert_is_below(const struct psi_alert *alert, const struct psi_alert *above);

/**
 * Initializes an alert, not armed. An alarm that the previous run left open goes on.
 *
 * @param instance, group  must outlive the alert.
 */
void psi_alert_init(struct psi_alert *alert, struct psi_rule_state *rule_state,
                    const char *instance, const struct hr_cgroup *group);

/** Arms the trigger; a failure is logged, and retried by psi_alert_run_due(). */
void psi_alert_arm(struct psi_alert *alert);

/** Disarms the trigger, and ends the alarm, if there is one. @param reason  why it ends. */
void psi_alert_disarm(struct psi_alert *alert, const char *reason);

/** Reads the trigger. @param events  of epoll_wait(2). */
void psi_alert_read(struct psi_alert *alert, uint32_t events);

/** Does what is due: reads a polled trigger, reports, retries arming, ends the alarm. */
void psi_alert_run_due(struct psi_alert *alert, uint64_t now_ns);

/** Takes what was sampled since psi_report_begin_scan(), unless the alarm is over. */
void psi_alert_end_scan(struct psi_alert *alert, struct psi_scan *scan);

/** Takes the triggers that were detached: the caller closes them, without a lock, and frees the
 * list. */
struct psi_trigger_list psi_alert_take_closing(struct psi_alert_context *context);

#endif
