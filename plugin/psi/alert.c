/* SPDX-License-Identifier: MIT */
#include "psi/alert.h"

#include <errno.h>
#include <sys/epoll.h>

#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/hash.h"
#include "psi/report.h"

/* A trigger that can't be armed is retried so often; messages say so, too. */
#define RETRY_NS (10 * HR_NS_PER_S)

void psi_rule_state_init(struct psi_rule_state *rule_state, const struct psi_rule *rule,
                         struct psi_alert_context *context)
{
    *rule_state = (struct psi_rule_state){.rule = rule, .context = context};
    TAILQ_INIT(&rule_state->armed);
}

/* --- Timing --------------------------------------------------------------- */

static uint64_t next_due(const struct psi_alert *alert)
{
    uint64_t due_ns = TIMER_NEVER;

    if (alert->trigger != NULL)
        due_ns = hr_psi_trigger_due_ns(alert->trigger);
    if (alert->failed)
        due_ns = timer_earlier(due_ns, alert->retry_ns);
    if (alert->alarmed)
        due_ns = timer_earlier(due_ns, alert->quiet_ns);
    return timer_earlier(due_ns, psi_report_due_ns(alert));
}

static void update_timer(struct psi_alert *alert)
{
    timer_set(&alert->rule_state->context->timers, &alert->timer, next_due(alert));
}

static uint64_t quiet_deadline(const struct psi_alert *alert, uint64_t since_ns)
{
    return since_ns + alert->rule_state->rule->quiet_us * HR_NS_PER_US;
}

/* --- Open alarms ---------------------------------------------------------- */

/* An alarm that the previous run left open goes on, silently: it ends after its first quiet time.
 * One that it may not have reported is reported by the next event. */
static void resume_alarm(struct psi_alert *alert, enum alarm_sent sent)
{
    const uint64_t now_ns = hr_clock_ns();

    alert->alarmed = true;
    alert->event.time_ns = now_ns;
    alert->sent = sent;
    alert->is_reported = sent == ALARM_SENT;
    alert->quiet_ns = quiet_deadline(alert, now_ns);
    alert->repeat_ns = now_ns + alert->rule_state->rule->repeat_us * HR_NS_PER_US;
    psi_report_set_recorded(alert, true);
    update_timer(alert);
}

/* Two hashes of 32 bits. */
uint64_t psi_alert_id(const struct psi_rule *rule, const char *instance)
{
    uint32_t sum = hr_hash_text(hr_hash(rule->name), "\n");

    return (uint64_t)hr_hash_text(sum, instance) << 32 |
           hr_hash_text(hr_hash(instance), rule->name);
}

void psi_alert_init(struct psi_alert *alert, struct psi_rule_state *rule_state,
                    const char *instance, const struct hr_cgroup *group)
{
    enum alarm_sent sent;

    *alert = (struct psi_alert){
        .rule_state = rule_state,
        .subject = {rule_state->rule, instance, group != NULL ? group->path : NULL},
        .group = group,
        .id = psi_alert_id(rule_state->rule, instance),
    };
    if (psi_open_alarms_claim(rule_state->context->open_alarms, &alert->subject, &sent))
        resume_alarm(alert, sent);
}

/* --- Beginning and end ---------------------------------------------------- */

static void end_alarm(struct psi_alert *alert, const char *reason)
{
    alert->alarmed = false;
    psi_report_end(alert, reason);
}

/* --- Arming --------------------------------------------------------------- */

static int watch_trigger(struct psi_alert *alert)
{
    int fd = hr_psi_trigger_fd(alert->trigger);
    struct epoll_event event = {.events = EPOLLPRI, .data.ptr = alert};

    if (fd >= 0 && epoll_ctl(alert->rule_state->context->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        return -errno;
    return 0;
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
    alert->failure = status;
    alert->retry_ns = hr_clock_ns() + RETRY_NS;
}

static void log_armed(struct psi_alert *alert)
{
    struct psi_rule_state *state = alert->rule_state;
    int refusal = hr_psi_trigger_refusal(alert->trigger);

    if (refusal != 0)
        psi_arming_log_refusal(&state->context->refusal, state->rule, refusal);
    psi_arming_log_success(&state->arming, &alert->subject);
}

struct psi_trigger_list psi_alert_take_closing(struct psi_alert_context *context)
{
    struct psi_trigger_list taken = context->closing;

    context->closing = (struct psi_trigger_list){.count = 0};
    return taken;
}

/* Closing a kernel's trigger takes milliseconds, and many can be closed at the same time: so it is
 * left to the caller of psi_alert_take_closing(). It is removed from epoll explicitly: a child of
 * collectd that has not called exec yet may hold the file open. */
static void detach_trigger(struct psi_alert *alert)
{
    struct psi_alert_context *context = alert->rule_state->context;
    int fd = hr_psi_trigger_fd(alert->trigger);

    if (fd >= 0)
        epoll_ctl(context->epoll, EPOLL_CTL_DEL, fd, NULL);
    struct psi_trigger_list *closing = &context->closing;
    if (HR_ARRAY_RESERVE(closing->triggers, closing->capacity, closing->count + 1) == 0)
        closing->triggers[closing->count++] = alert->trigger;
    else
        hr_psi_trigger_close(alert->trigger);
    alert->trigger = NULL;
    if (alert->is_armed)
        TAILQ_REMOVE(&alert->rule_state->armed, alert, armed);
    alert->is_armed = false;
    psi_cause_history_clear(&alert->causes);
}

void psi_alert_arm(struct psi_alert *alert)
{
    int status = open_trigger(alert);

    if (status == 0 && (status = watch_trigger(alert)) < 0)
        detach_trigger(alert);
    set_failed(alert, status);
    alert->is_armed = status == 0;
    if (status == 0) {
        TAILQ_INSERT_TAIL(&alert->rule_state->armed, alert, armed);
        log_armed(alert);
    } else if (status != -ENODEV) {
        psi_arming_log_failure(&alert->rule_state->arming, &alert->subject, status);
    }
    update_timer(alert);
}

void psi_alert_disarm(struct psi_alert *alert, const char *reason)
{
    if (alert->alarmed)
        end_alarm(alert, reason);
    if (alert->trigger != NULL)
        detach_trigger(alert);
    set_failed(alert, 0);
    update_timer(alert);
}

/* --- Events --------------------------------------------------------------- */

static int take_next_event(struct psi_alert *alert, uint32_t events);

bool psi_alert_is_below(const struct psi_alert *alert, const struct psi_alert *above)
{
    return alert != above && alert->rule_state == above->rule_state &&
           hr_cgroup_is_within(alert->group->path, above->group->path);
}

/* Where the same tasks stall, those below have an event, too, but an idle one is read only once a
 * window: they are read now, so that they begin first. What can't be read shows when it is due. */
static void read_below(struct psi_alert *alert)
{
    struct psi_alert *below;

    TAILQ_FOREACH(below, &alert->rule_state->armed, armed)
    {
        if (!psi_alert_is_below(below, alert))
            continue;
        alert->has_below = true;
        if (!below->alarmed) {
            take_next_event(below, 0);
            update_timer(below);
        }
    }
}

static void begin_alarm(struct psi_alert *alert, const struct hr_psi_event *event)
{
    alert->alarmed = true;
    if (psi_report_withdraw_end(alert))
        return;
    alert->begun_ns = event->time_ns;
    alert->is_reported = alert->has_below = false;
    alert->sent = ALARM_UNSENT;
    read_below(alert);
}

/* A report that is being prepared stays that of an earlier event. */
static void handle_trigger_event(struct psi_alert *alert, const struct hr_psi_event *event)
{
    if (!alert->alarmed)
        begin_alarm(alert, event);
    alert->quiet_ns = quiet_deadline(alert, event->time_ns);
    if (!alert->is_preparing)
        alert->event = *event;
    psi_report_if_due(alert);
}

/* @return as hr_psi_trigger_read(). */
static int take_next_event(struct psi_alert *alert, uint32_t events)
{
    struct hr_psi_event event;
    int status = hr_psi_trigger_read(alert->trigger, events, &event);

    if (status == 0) {
        alert->event_count++;
        handle_trigger_event(alert, &event);
    }
    return status;
}

/* The group was removed, which its set reports in a moment; or its pressure was switched off or
 * can't be read, and may come back. */
static void close_failed_trigger(struct psi_alert *alert, int status)
{
    psi_alert_disarm(alert, status == -ENODEV ? "it was removed, or its pressure switched off"
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

static void read_trigger(struct psi_alert *alert, uint32_t events)
{
    int status = take_next_event(alert, events);

    if (status < 0 && status != -EAGAIN && !is_shortage(status))
        close_failed_trigger(alert, status);
    if (alert->trigger != NULL)
        psi_report_update_causes(alert);
}

void psi_alert_read(struct psi_alert *alert, uint32_t events)
{
    if (alert->trigger == NULL)
        return; /* detached since epoll_wait(2) */
    read_trigger(alert, events);
    update_timer(alert);
}

/* Why no trigger is armed that could confirm the end. */
static const char *explain_unarmed(const struct psi_alert *alert)
{
    if (alert->failed)
        return "its pressure can't be read";
    return alert->group != NULL && alert->group->excess ? "it is beyond MaxCgroups"
                                                        : "no process is left in it";
}

/* The quiet time is over. A trigger that couldn't be armed since the last run can't confirm it. */
static void confirm_end(struct psi_alert *alert)
{
    struct hr_psi_event event;

    int status = alert->trigger != NULL ? hr_psi_trigger_confirm(alert->trigger, &event) : -ENOENT;
    if (status == 0)
        handle_trigger_event(alert, &event);
    else if (status == -EAGAIN)
        end_alarm(alert, NULL);
    else if (is_shortage(status) || (alert->trigger == NULL && is_shortage(alert->failure)))
        alert->quiet_ns = hr_clock_ns() + RETRY_NS;
    else if (alert->trigger != NULL)
        close_failed_trigger(alert, status);
    else
        end_alarm(alert, explain_unarmed(alert));
}

void psi_alert_end_scan(struct psi_alert *alert, struct psi_scan *scan)
{
    psi_report_end_scan(alert, scan);
    update_timer(alert);
}

void psi_alert_run_due(struct psi_alert *alert, uint64_t now_ns)
{
    if (alert->is_preparing && alert->has_below)
        read_below(alert);
    psi_report_run_due(alert, now_ns);
    if (alert->failed && now_ns >= alert->retry_ns)
        psi_alert_arm(alert);
    if (alert->trigger != NULL && now_ns >= hr_psi_trigger_due_ns(alert->trigger))
        read_trigger(alert, 0);
    if (alert->alarmed && now_ns >= alert->quiet_ns)
        confirm_end(alert);
    update_timer(alert);
}
