#include "psi/alert.h"

#include <errno.h>
#include <sys/epoll.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/waiters.h"

/* What can't be armed is tried again so often. */
#define RETRY_NS UINT64_C(10000000000)

#define NEVER UINT64_MAX

void psi_watch_init(struct psi_watch *watch, const struct psi_rule *rule,
                    struct psi_alert_desk *desk)
{
    *watch = (struct psi_watch){.rule = rule, .desk = desk};
    for (int i = 0; i < PSI_ROUNDS; i++)
        TAILQ_INIT(&watch->rounds[i].list);
}

void psi_alert_init(struct psi_alert *alert, struct psi_watch *watch, const char *instance,
                    const struct hr_cgroup *group)
{
    *alert = (struct psi_alert){
        .watch = watch,
        .subject = {watch->rule, instance, group != NULL ? group->path : NULL},
        .group = group,
        .counter = {.instance = instance, .type_instance = watch->rule->type_instance},
    };
}

/* --- Deadlines ------------------------------------------------------------ */

/* When all is well again. A quarter of a window more, as without CAP_SYS_RESOURCE the kernel looks
 * a little less often than once per window. */
static uint64_t quiet_ns(const struct psi_alert *alert)
{
    const struct psi_rule *rule = alert->watch->rule;

    return alert->event.time_ns + (4 * rule->quiet + 1) * rule->trigger.window_us * (1000 / 4);
}

uint64_t psi_alert_deadline(const struct psi_alert *alert)
{
    if (alert->waiters != NULL)
        return alert->report_ns;
    if (alert->failed)
        return alert->retry_ns;
    return alert->alarmed ? quiet_ns(alert) : NEVER;
}

static void update_due(struct psi_alert *alert)
{
    bool is_due = psi_alert_deadline(alert) != NEVER;
    struct psi_alert_list *due = &alert->watch->desk->due;

    if (is_due && !alert->is_due)
        TAILQ_INSERT_TAIL(due, alert, due);
    else if (!is_due && alert->is_due)
        TAILQ_REMOVE(due, alert, due);
    alert->is_due = is_due;
}

/* --- Notifications -------------------------------------------------------- */

/* The notification of the last event, with who waits if that was asked for. */
static void report(struct psi_alert *alert, int who_status)
{
    const struct psi_rule *rule = alert->watch->rule;
    struct psi_waiting waiting = {.unknown = ""};
    notification_t notice;

    if (who_status < 0)
        psi_who_explain(who_status, &waiting);
    if (alert->waiters != NULL) {
        psi_who_answer(alert->waiters, rule, &waiting);
        alert->waiters = NULL;
    }
    psi_notice_stall(&notice, &alert->subject, &alert->event,
                     rule->top_tasks > 0 ? &waiting : NULL);
    alert->told = true;
    psi_outbox_send(&alert->watch->desk->outbox, &notice);
}

static void end_alarm(struct psi_alert *alert, const char *reason)
{
    notification_t notice;

    alert->alarmed = false;
    if (!alert->told)
        return;
    alert->told = false;
    if (reason != NULL)
        psi_notice_end(&notice, &alert->subject, reason);
    else
        psi_notice_quiet(&notice, &alert->subject);
    psi_outbox_queue(&alert->watch->desk->outbox, &notice);
}

static void begin_report(struct psi_alert *alert)
{
    struct psi_watch *watch = alert->watch;
    struct psi_alert_desk *desk = watch->desk;
    int status = 0;

    if (!psi_outbox_reserve(&desk->outbox, &alert->subject))
        return;
    if (watch->rule->top_tasks > 0) {
        status =
            psi_who_ask(&desk->who, watch->rule, &watch->budget, alert->group, &alert->waiters);
        alert->report_ns = hr_clock_ns() + watch->rule->top_tasks_window_us * 1000;
    }
    if (alert->waiters == NULL)
        report(alert, status);
}

/* --- Arming --------------------------------------------------------------- */

/* The round of an interval, or one that is free to take it. */
static struct psi_round *find_round(struct psi_watch *watch, uint64_t interval_us)
{
    struct psi_round *round = watch->rounds;

    while (round->interval_us != interval_us && round->interval_us != 0)
        round++;
    round->interval_us = interval_us;
    return round;
}

static int attach(struct psi_alert *alert)
{
    struct psi_watch *watch = alert->watch;
    int fd = hr_psi_trigger_fd(alert->trigger);
    struct epoll_event event = {.events = EPOLLPRI, .data.ptr = alert};

    if (fd >= 0 && epoll_ctl(watch->desk->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        return -errno;
    uint64_t interval_us = hr_psi_trigger_poll_us(alert->trigger);
    if (interval_us == 0)
        return 0;
    alert->round = find_round(watch, interval_us);
    TAILQ_INSERT_TAIL(&alert->round->list, alert, polled);
    return 0;
}

/* From epoll by hand: a child of collectd's that has not called exec yet may hold the file. */
static void detach(struct psi_alert *alert)
{
    int fd = hr_psi_trigger_fd(alert->trigger);

    if (fd >= 0)
        epoll_ctl(alert->watch->desk->epoll, EPOLL_CTL_DEL, fd, NULL);
    if (alert->round != NULL)
        TAILQ_REMOVE(&alert->round->list, alert, polled);
    alert->round = NULL;
}

static int open_trigger(struct psi_alert *alert)
{
    const struct hr_psi_trigger_options *options = &alert->watch->rule->trigger;

    if (alert->group == NULL)
        return hr_psi_trigger_open_system(alert->watch->desk->root, options, &alert->trigger);
    return hr_psi_trigger_open_cgroup(alert->group, options, &alert->trigger);
}

/* @param status  0, or why the trigger isn't armed. A removed group is no trouble. */
static void set_failed(struct psi_alert *alert, int status)
{
    bool is_counted = alert->group != NULL && status != 0 && status != -ENODEV;

    if (is_counted != alert->is_counted)
        alert->watch->arming.unarmed_groups += is_counted ? 1 : -1;
    alert->is_counted = is_counted;
    alert->failed = status != 0;
    alert->retry_ns = hr_clock_ns() + RETRY_NS;
}

static void close_trigger(struct psi_alert *alert)
{
    psi_counters_hide(alert->watch->desk->counters, &alert->counter);
    hr_psi_trigger_close(alert->trigger);
    alert->trigger = NULL;
}

void psi_alert_arm(struct psi_alert *alert)
{
    struct psi_watch *watch = alert->watch;

    int status = open_trigger(alert);
    if (status == 0 && (status = attach(alert)) < 0)
        close_trigger(alert);
    set_failed(alert, status);
    if (status == 0) {
        psi_counters_show(watch->desk->counters, &alert->counter);
        if (hr_psi_trigger_refusal(alert->trigger) != 0)
            psi_arming_tell_refusal(&watch->arming, watch->rule,
                                    hr_psi_trigger_refusal(alert->trigger));
        psi_arming_tell_success(&watch->arming, &alert->subject);
    } else if (status != -ENODEV) {
        psi_arming_tell_failure(&watch->arming, &alert->subject, status);
    }
    update_due(alert);
}

/* Ends what goes on, in the order in which it would have ended. */
static void disarm(struct psi_alert *alert, const char *reason)
{
    if (alert->waiters != NULL)
        report(alert, 0);
    if (alert->alarmed)
        end_alarm(alert, reason);
    if (alert->trigger == NULL)
        return;
    detach(alert);
    close_trigger(alert);
}

void psi_alert_disarm(struct psi_alert *alert, const char *reason)
{
    disarm(alert, reason);
    set_failed(alert, 0);
    update_due(alert);
}

/* --- Events --------------------------------------------------------------- */

static void raise_alarm(struct psi_alert *alert, const struct hr_psi_event *event)
{
    psi_counters_count(alert->watch->desk->counters, &alert->counter);
    alert->alarmed = true;
    if (alert->waiters != NULL) {
        alert->event.time_ns = event->time_ns; /* that of the event before is still to be told */
        return;
    }
    alert->event = *event;
    begin_report(alert);
}

/* The group was removed, which its set tells in a moment; or its pressure was switched off, or
 * can't be read, and may come back. */
static void lose_trigger(struct psi_alert *alert, int status)
{
    disarm(alert, status == -ENODEV ? "it was removed, or its pressure switched off"
                                    : "its pressure can't be read");
    set_failed(alert, status);
    if (status != -ENODEV)
        psi_arming_tell_failure(&alert->watch->arming, &alert->subject, status);
}

/* What passes by itself, so that the trigger goes on. */
static bool is_shortage(int status)
{
    return status == -EMFILE || status == -ENFILE || status == -ENOMEM;
}

void psi_alert_read(struct psi_alert *alert, uint32_t events)
{
    struct hr_psi_event event;

    int status = hr_psi_trigger_read(alert->trigger, events, &event);
    if (status == 0)
        raise_alarm(alert, &event);
    else if (status != -EAGAIN && !is_shortage(status))
        lose_trigger(alert, status);
    update_due(alert);
}

void psi_alert_tick(struct psi_alert *alert)
{
    if (alert->waiters != NULL)
        report(alert, 0);
    else if (alert->failed)
        psi_alert_arm(alert);
    else
        end_alarm(alert, NULL);
    update_due(alert);
}
