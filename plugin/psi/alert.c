/* SPDX-License-Identifier: MIT */
#include "psi/alert.h"

#include <errno.h>
#include <sys/epoll.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/waiters.h"

/* A trigger that can't be armed is retried so often; messages say so, too. */
#define RETRY_NS (10 * HR_NS_PER_S)

#define NEVER UINT64_MAX

void psi_rule_state_init(struct psi_rule_state *rule_state, const struct psi_rule *rule,
                         struct psi_alert_context *context)
{
    *rule_state = (struct psi_rule_state){.rule = rule, .context = context};
}

void psi_alert_init(struct psi_alert *alert, struct psi_rule_state *rule_state,
                    const char *instance, const struct hr_cgroup *group)
{
    *alert = (struct psi_alert){
        .rule_state = rule_state,
        .subject = {rule_state->rule, instance, group != NULL ? group->path : NULL},
        .group = group,
        .counter = {.instance = instance, .type_instance = rule_state->rule->type_instance},
    };
}

/* --- Deadlines ------------------------------------------------------------ */

/* When the quiet time ends: a quarter of a window later, as triggers are checked a little less
 * often than once per window. */
static uint64_t quiet_deadline(const struct psi_alert *alert)
{
    const struct psi_rule *rule = alert->rule_state->rule;

    return alert->event.time_ns + (4 * rule->quiet + 1) * rule->trigger.window_us * (1000 / 4);
}

uint64_t psi_alert_deadline(const struct psi_alert *alert)
{
    if (alert->waiters != NULL)
        return alert->report_ns;
    if (alert->failed)
        return alert->retry_ns;
    return alert->alarmed ? quiet_deadline(alert) : NEVER;
}

static void update_due(struct psi_alert *alert)
{
    bool is_due = psi_alert_deadline(alert) != NEVER;
    struct psi_alert_list *due = &alert->rule_state->context->due;

    if (is_due && !alert->is_due)
        TAILQ_INSERT_TAIL(due, alert, due);
    else if (!is_due && alert->is_due)
        TAILQ_REMOVE(due, alert, due);
    alert->is_due = is_due;
}

/* --- Notifications -------------------------------------------------------- */

/* Sends the notification of the last event, with the waiting tasks if the rule names any. */
static void send_stall(struct psi_alert *alert, int waiting_status)
{
    const struct psi_rule *rule = alert->rule_state->rule;
    struct psi_waiting waiting = {.unknown = ""};
    notification_t notice;

    if (waiting_status < 0)
        psi_waiting_explain(waiting_status, &waiting);
    if (alert->waiters != NULL) {
        psi_waiting_read(alert->waiters, rule, &waiting);
        alert->waiters = NULL;
    }
    psi_notification_stall(&notice, &alert->subject, &alert->event,
                           rule->top_tasks > 0 ? &waiting : NULL);
    alert->is_notified = true;
    psi_outbox_send(&alert->rule_state->context->outbox, &notice);
}

static void end_alarm(struct psi_alert *alert, const char *reason)
{
    notification_t notice;

    alert->alarmed = false;
    if (!alert->is_notified)
        return;
    alert->is_notified = false;
    if (reason != NULL)
        psi_notification_end(&notice, &alert->subject, reason);
    else
        psi_notification_quiet(&notice, &alert->subject);
    psi_outbox_queue(&alert->rule_state->context->outbox, &notice);
}

static void start_report(struct psi_alert *alert)
{
    struct psi_rule_state *rule_state = alert->rule_state;
    struct psi_alert_context *context = rule_state->context;
    int status = 0;

    if (!psi_outbox_reserve(&context->outbox, &alert->subject))
        return;
    if (rule_state->rule->top_tasks > 0) {
        status = psi_waiting_open(&context->task_source, rule_state->rule, &rule_state->budget,
                                  alert->group, &alert->waiters);
        alert->report_ns = hr_clock_ns() + rule_state->rule->top_tasks_window_us * 1000;
    }
    if (alert->waiters == NULL)
        send_stall(alert, status);
}

/* --- Arming --------------------------------------------------------------- */

static uint64_t poll_due(const struct psi_alert *alert)
{
    return hr_psi_trigger_due_ns(alert->trigger);
}

/* Into the list by the time of the next read, from the nearer end: most go to one of the two. */
static void queue_poll(struct psi_alert *alert)
{
    struct psi_alert_list *list = &alert->rule_state->context->polled;
    struct psi_alert *first = TAILQ_FIRST(list), *last = TAILQ_LAST(list, psi_alert_list);
    uint64_t due_ns = poll_due(alert);

    if (first == NULL || poll_due(first) >= due_ns) {
        TAILQ_INSERT_HEAD(list, alert, polled);
    } else if (due_ns < poll_due(last) && due_ns - poll_due(first) < poll_due(last) - due_ns) {
        while (poll_due(first) < due_ns)
            first = TAILQ_NEXT(first, polled);
        TAILQ_INSERT_BEFORE(first, alert, polled);
    } else {
        while (poll_due(last) > due_ns)
            last = TAILQ_PREV(last, psi_alert_list, polled);
        TAILQ_INSERT_AFTER(list, last, alert, polled);
    }
}

static int attach_trigger(struct psi_alert *alert)
{
    struct psi_rule_state *rule_state = alert->rule_state;
    int fd = hr_psi_trigger_fd(alert->trigger);
    struct epoll_event event = {.events = EPOLLPRI, .data.ptr = alert};

    if (fd >= 0 && epoll_ctl(rule_state->context->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        return -errno;
    if (fd < 0)
        queue_poll(alert);
    return 0;
}

/* Removed from epoll explicitly: a child of collectd that has not called exec yet may hold the
 * file open. */
static void detach_trigger(struct psi_alert *alert)
{
    int fd = hr_psi_trigger_fd(alert->trigger);

    if (fd >= 0)
        epoll_ctl(alert->rule_state->context->epoll, EPOLL_CTL_DEL, fd, NULL);
    else
        TAILQ_REMOVE(&alert->rule_state->context->polled, alert, polled);
}

static int open_trigger(struct psi_alert *alert)
{
    const struct hr_psi_trigger_options *options = &alert->rule_state->rule->trigger;

    if (alert->group == NULL)
        return hr_psi_trigger_open_system(alert->rule_state->context->root, options,
                                          &alert->trigger);
    return hr_psi_trigger_open_cgroup(alert->group, options, &alert->trigger);
}

/* @param status  0, or why the trigger isn't armed. A removed group isn't counted. */
static void set_failed(struct psi_alert *alert, int status)
{
    bool is_counted = alert->group != NULL && status != 0 && status != -ENODEV;

    if (is_counted != alert->is_counted)
        alert->rule_state->arming.unarmed_groups += is_counted ? 1 : -1;
    alert->is_counted = is_counted;
    alert->failed = status != 0;
    alert->retry_ns = hr_clock_ns() + RETRY_NS;
}

static void close_trigger(struct psi_alert *alert)
{
    psi_counters_hide(alert->rule_state->context->counters, &alert->counter);
    hr_psi_trigger_close(alert->trigger);
    alert->trigger = NULL;
}

void psi_alert_arm(struct psi_alert *alert)
{
    struct psi_rule_state *rule_state = alert->rule_state;

    int status = open_trigger(alert);
    if (status == 0 && (status = attach_trigger(alert)) < 0)
        close_trigger(alert);
    set_failed(alert, status);
    if (status == 0) {
        psi_counters_show(rule_state->context->counters, &alert->counter);
        if (hr_psi_trigger_refusal(alert->trigger) != 0)
            psi_arming_log_refusal(&rule_state->arming, rule_state->rule,
                                   hr_psi_trigger_refusal(alert->trigger));
        psi_arming_log_success(&rule_state->arming, &alert->subject);
    } else if (status != -ENODEV) {
        psi_arming_log_failure(&rule_state->arming, &alert->subject, status);
    }
    update_due(alert);
}

/* Completes a pending notification and ends the alarm, in that order, and closes the trigger. */
static void disarm_trigger(struct psi_alert *alert, const char *reason)
{
    if (alert->waiters != NULL)
        send_stall(alert, 0);
    if (alert->alarmed)
        end_alarm(alert, reason);
    if (alert->trigger == NULL)
        return;
    detach_trigger(alert);
    close_trigger(alert);
}

void psi_alert_disarm(struct psi_alert *alert, const char *reason)
{
    disarm_trigger(alert, reason);
    set_failed(alert, 0);
    update_due(alert);
}

/* --- Events --------------------------------------------------------------- */

static void raise_alarm(struct psi_alert *alert, const struct hr_psi_event *event)
{
    psi_counters_count(alert->rule_state->context->counters, &alert->counter);
    alert->alarmed = true;
    if (alert->waiters != NULL) {
        alert->event.time_ns = event->time_ns; /* the notification of the event before is pending */
        return;
    }
    alert->event = *event;
    start_report(alert);
}

/* The group was removed, which its set reports in a moment; or its pressure was switched off or
 * can't be read, and may come back. */
static void lose_trigger(struct psi_alert *alert, int status)
{
    disarm_trigger(alert, status == -ENODEV ? "it was removed, or its pressure switched off"
                                            : "its pressure can't be read");
    set_failed(alert, status);
    if (status != -ENODEV)
        psi_arming_log_failure(&alert->rule_state->arming, &alert->subject, status);
}

/* Whether an error passes by itself, so that the trigger stays open. */
static bool is_shortage(int status)
{
    return status == -EMFILE || status == -ENFILE || status == -ENOMEM;
}

void psi_alert_read(struct psi_alert *alert, uint32_t events)
{
    struct hr_psi_event event;

    int status = hr_psi_trigger_read(alert->trigger, events, &event);
    if (hr_psi_trigger_fd(alert->trigger) < 0) {
        TAILQ_REMOVE(&alert->rule_state->context->polled, alert, polled);
        queue_poll(alert);
    }
    if (status == 0)
        raise_alarm(alert, &event);
    else if (status != -EAGAIN && !is_shortage(status))
        lose_trigger(alert, status);
    update_due(alert);
}

void psi_alert_tick(struct psi_alert *alert)
{
    if (alert->waiters != NULL)
        send_stall(alert, 0);
    else if (alert->failed)
        psi_alert_arm(alert);
    else
        end_alarm(alert, NULL);
    update_due(alert);
}
