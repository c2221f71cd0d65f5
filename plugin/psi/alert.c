/* SPDX-License-Identifier: MIT */
#include "psi/alert.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>

#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/hash.h"
#include "headroom/waiters.h"
#include "psi/cause.h"

/* How long the causes are looked for of a stall that came at once: a period of cpu.max or two. */
#define CAUSE_NS (250 * HR_NS_PER_MS)

/* A trigger that can't be armed is retried so often; messages say so, too. */
#define RETRY_NS (10 * HR_NS_PER_S)

void psi_rule_state_init(struct psi_rule_state *rule_state, const struct psi_rule *rule,
                         struct psi_alert_context *context)
{
    *rule_state = (struct psi_rule_state){.rule = rule, .context = context};
}

/* --- Timing --------------------------------------------------------------- */

/* There are no counters for irq, and for io only those of groups. */
static bool may_have_causes(const struct psi_alert *alert)
{
    enum hr_psi_resource resource = alert->rule_state->rule->trigger.resource;

    return resource == HR_PSI_CPU || resource == HR_PSI_MEMORY ||
           (resource == HR_PSI_IO && alert->group != NULL);
}

/* Whether an event may be reported of the next two windows, over which counters are compared. */
static bool may_report_soon(const struct psi_alert *alert)
{
    const struct psi_rule *rule = alert->rule_state->rule;

    if (!alert->is_reported)
        return true;
    return rule->repeat_us > 0 &&
           hr_clock_ns() + 2 * rule->trigger.window_us * HR_NS_PER_US >= alert->repeat_ns;
}

/* The kernel's trigger doesn't report that pressure moves, so the counters are always taken; but of
 * the system only. */
static bool takes_causes_always(const struct psi_alert *alert)
{
    return alert->group == NULL && alert->trigger != NULL &&
           hr_psi_trigger_fd(alert->trigger) >= 0 && may_have_causes(alert);
}

static uint64_t next_cause_due(const struct psi_alert *alert)
{
    if (!takes_causes_always(alert) || alert->is_preparing || !may_report_soon(alert))
        return TIMER_NEVER; /* else they are taken when the trigger is read */
    return alert->causes_due_ns;
}

/* Waiting tasks are sampled, or are to be. */
static bool is_scanning(const struct psi_alert *alert)
{
    return alert->is_in_scans || alert->scan != NULL;
}

static uint64_t next_due(const struct psi_alert *alert)
{
    uint64_t due_ns = TIMER_NEVER;

    if (alert->trigger != NULL)
        due_ns = hr_psi_trigger_due_ns(alert->trigger);
    if (alert->failed)
        due_ns = timer_earlier(due_ns, alert->retry_ns);
    if (alert->alarmed)
        due_ns = timer_earlier(due_ns, alert->quiet_ns);
    if (alert->is_preparing && !is_scanning(alert))
        due_ns = timer_earlier(due_ns, alert->report_ns);
    return timer_earlier(due_ns, next_cause_due(alert));
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

static void set_recorded(struct psi_alert *alert, bool is_recorded)
{
    struct psi_alert_context *context = alert->rule_state->context;

    if (alert->is_recorded == is_recorded)
        return;
    alert->is_recorded = is_recorded;
    if (is_recorded) {
        TAILQ_INSERT_TAIL(&context->open, alert, open);
        alert->record = psi_open_alarms_next_record(context->open_alarms);
    } else {
        TAILQ_REMOVE(&context->open, alert, open);
    }
    context->has_changed = true;
}

/* An alarm that the run before left open goes on, silently: it ends after its first quiet time. One
 * that it may not have reported is reported by the next event. */
static void resume_alarm(struct psi_alert *alert, enum psi_sent sent)
{
    const uint64_t now_ns = hr_clock_ns();

    alert->alarmed = true;
    alert->event.time_ns = now_ns;
    alert->sent = sent;
    alert->is_reported = sent == PSI_SENT;
    alert->quiet_ns = quiet_deadline(alert, now_ns);
    alert->repeat_ns = now_ns + alert->rule_state->rule->repeat_us * HR_NS_PER_US;
    set_recorded(alert, true);
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
    enum psi_sent sent;

    *alert = (struct psi_alert){
        .rule_state = rule_state,
        .subject = {rule_state->rule, instance, group != NULL ? group->path : NULL},
        .group = group,
        .id = psi_alert_id(rule_state->rule, instance),
    };
    if (psi_open_alarms_claim(rule_state->context->open_alarms, &alert->subject, &sent))
        resume_alarm(alert, sent);
}

/* --- Reporting ------------------------------------------------------------ */

static void print_causes(const struct psi_alert *alert, char *buffer, size_t size)
{
    struct hr_stall_causes causes;

    psi_cause_history_explain(&alert->causes, alert->rule_state->context->root, alert->group,
                              alert->rule_state->rule->trigger.resource, &alert->event, &causes);
    psi_cause_print(&causes, buffer, size);
}

/* Reports the last event, with its causes, and the waiting tasks if the rule names any. */
static void send_report(struct psi_alert *alert, const struct psi_waiting *waiting)
{
    const struct psi_rule *rule = alert->rule_state->rule;
    const uint64_t lasting_ns =
        alert->is_reported && alert->begun_ns > 0 ? hr_clock_ns() - alert->begun_ns : 0;
    struct psi_findings findings = {.lasting_s = lasting_ns / HR_NS_PER_S};
    notification_t notice;

    alert->is_preparing = false;
    print_causes(alert, findings.cause, sizeof(findings.cause));
    findings.waiting = rule->top_tasks > 0 ? waiting : NULL;
    psi_notification_stall(&notice, &alert->subject, &alert->event, &findings);
    if (dispatcher_begin(alert->rule_state->context->dispatcher, alert->id, alert->record, &notice))
        alert->is_reported = true;
    else if (!alert->is_reported && alert->sent == PSI_UNSENT)
        set_recorded(alert, false);
    alert->repeat_ns = hr_clock_ns() + rule->repeat_us * HR_NS_PER_US;
}

/* --- Waiting tasks -------------------------------------------------------- */

static void request_scan(struct psi_alert *alert)
{
    TAILQ_INSERT_TAIL(&alert->rule_state->context->scans, alert, scans);
    alert->is_in_scans = true;
}

static void leave_scans(struct psi_alert *alert)
{
    if (alert->is_in_scans)
        TAILQ_REMOVE(&alert->rule_state->context->scans, alert, scans);
    alert->is_in_scans = false;
}

/* One that is being taken is dropped at its end. */
static void cancel_scan(struct psi_alert *alert)
{
    leave_scans(alert);
    alert->scan = NULL;
    hr_waiters_close(alert->waiters);
    alert->waiters = NULL;
}

struct psi_alert *psi_alert_begin_scan(struct psi_alert_context *context, struct psi_scan *scan)
{
    struct psi_alert *alert = TAILQ_FIRST(&context->scans);

    if (alert == NULL)
        return NULL;
    leave_scans(alert);
    *scan = (struct psi_scan){
        .source = &context->task_source,
        .rule = alert->rule_state->rule,
        .budget = &alert->rule_state->budget,
        .of_system = alert->group == NULL,
        .dirfd = -1,
        .waiters = alert->waiters,
    };
    if (alert->waiters == NULL && alert->group != NULL)
        scan->dirfd = hr_cgroup_openat(alert->group, ".", O_RDONLY | O_DIRECTORY);
    alert->waiters = NULL;
    alert->scan = scan;
    return alert;
}

void psi_alert_end_scan(struct psi_alert *alert, struct psi_scan *scan)
{
    if (alert->scan != scan) {
        hr_waiters_close(scan->waiters);
        return;
    }
    alert->scan = NULL;
    if (scan->is_second) {
        send_report(alert, &scan->waiting);
    } else {
        uint64_t read_ns = hr_clock_ns() + scan->rule->top_tasks_window_us * HR_NS_PER_US;
        alert->waiters = scan->waiters;
        alert->waiting_status = scan->status;
        if (alert->waiters != NULL && alert->report_ns < read_ns)
            alert->report_ns = read_ns;
    }
    update_timer(alert);
}

/* --- Beginning and end ---------------------------------------------------- */

static void take_causes(struct psi_alert *alert)
{
    alert->causes_due_ns =
        hr_clock_ns() + alert->rule_state->rule->trigger.window_us * HR_NS_PER_US;
    psi_cause_history_take(&alert->causes, alert->rule_state->context->root, alert->group,
                           alert->rule_state->rule->trigger.resource);
}

/* Where pressure hadn't moved before, its causes are those of the next moment. */
static uint64_t start_finding_causes(struct psi_alert *alert)
{
    const uint64_t window_ns = alert->rule_state->rule->trigger.window_us * HR_NS_PER_US;

    if (!may_have_causes(alert))
        return 0;
    /* What a trigger of the kernel's left long ago says nothing of this stall. */
    if (hr_clock_ns() > alert->causes_due_ns + window_ns)
        psi_cause_history_clear(&alert->causes);
    if (!psi_cause_history_is_empty(&alert->causes))
        return 0;
    take_causes(alert);
    return CAUSE_NS;
}

static void start_report(struct psi_alert *alert)
{
    const struct psi_rule *rule = alert->rule_state->rule;
    uint64_t wait_ns = start_finding_causes(alert);

    set_recorded(alert, true);
    alert->is_preparing = true;
    alert->report_ns = hr_clock_ns() + wait_ns;
    if (rule->top_tasks > 0)
        request_scan(alert);
    else if (wait_ns == 0)
        send_report(alert, NULL);
}

/* The time of preparing it is over, but maybe for the second sample of the waiting tasks. */
static void finish_report(struct psi_alert *alert)
{
    struct psi_waiting waiting = {.unknown = ""};

    if (alert->waiters != NULL) {
        request_scan(alert);
        return;
    }
    if (alert->waiting_status < 0)
        psi_waiting_explain(alert->waiting_status, &waiting);
    send_report(alert, &waiting);
}

static bool is_report_due(const struct psi_alert *alert)
{
    if (alert->is_preparing)
        return false;
    return !alert->is_reported ||
           (alert->rule_state->rule->repeat_us > 0 && alert->event.time_ns >= alert->repeat_ns);
}

/* Reports an alarm that has begun, or lasts, if that is due. Without room in the queue the next
 * event tries again. */
static void report_if_due(struct psi_alert *alert)
{
    if (is_report_due(alert) && dispatcher_has_room(alert->rule_state->context->dispatcher))
        start_report(alert);
}

static void send_end(struct psi_alert *alert, const char *reason)
{
    struct psi_alert_context *context = alert->rule_state->context;
    notification_t notice;

    if (reason != NULL)
        psi_notification_end(&notice, &alert->subject, reason);
    else
        psi_notification_quiet(&notice, &alert->subject);
    if (dispatcher_end(context->dispatcher, alert->id, &notice))
        psi_open_alarms_add_ending(context->open_alarms, alert->id, &alert->subject, alert->sent);
}

size_t psi_alert_update_sent(struct psi_alert_context *context,
                             const struct dispatcher_waiting *waiting)
{
    struct psi_alert *alert;
    size_t left = 0;

    TAILQ_FOREACH(alert, &context->open, open)
    {
        enum psi_sent was = alert->sent;
        if (alert->is_reported)
            alert->sent = psi_sent_now(was, alert->id, waiting);
        context->has_changed = context->has_changed || alert->sent != was;
        left += alert->sent != PSI_SENT && (alert->is_reported || alert->is_preparing);
    }
    return left;
}

void psi_alert_forget_unsent(struct psi_alert_context *context)
{
    struct psi_alert *alert = TAILQ_FIRST(&context->open);

    while (alert != NULL) {
        struct psi_alert *next = TAILQ_NEXT(alert, open);
        if (alert->sent == PSI_UNSENT)
            set_recorded(alert, false);
        alert = next;
    }
}

/* Ends the alarm, after what is to be said of its beginning. */
static void end_alarm(struct psi_alert *alert, const char *reason)
{
    static const struct psi_waiting too_late = {.unknown = "the alarm ended meanwhile"};

    cancel_scan(alert);
    if (alert->is_preparing)
        send_report(alert, &too_late);
    alert->alarmed = false;
    if (alert->is_recorded) {
        send_end(alert, reason);
        set_recorded(alert, false);
    }
    alert->is_reported = false; /* the next alarm's causes are taken again from now on */
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
    struct psi_arming *arming = &alert->rule_state->arming;
    int refusal = hr_psi_trigger_refusal(alert->trigger);

    if (refusal != 0)
        psi_arming_log_refusal(arming, alert->rule_state->rule, refusal);
    psi_arming_log_success(arming, &alert->subject);
}

struct psi_trigger_list psi_alert_take_closing(struct psi_alert_context *context)
{
    struct psi_trigger_list taken = context->closing;

    context->closing = (struct psi_trigger_list){.count = 0};
    return taken;
}

/* Closing a kernel's trigger takes milliseconds, and many can be closed at the same time: so it is
 * left to who takes the list. It is removed from epoll explicitly: a child of collectd that
 * has not called exec yet may hold the file open. */
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
    if (status == 0)
        log_armed(alert);
    else if (status != -ENODEV)
        psi_arming_log_failure(&alert->rule_state->arming, &alert->subject, status);
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

/* Whether the alarm before goes on, as its end hasn't been dispatched and is withdrawn. */
static bool withdraw_end(struct psi_alert *alert)
{
    struct psi_alert_context *context = alert->rule_state->context;

    if (!dispatcher_withdraw_end(context->dispatcher, alert->id))
        return false;
    alert->sent = psi_open_alarms_take_ending(context->open_alarms, alert->id);
    alert->is_reported = alert->sent != PSI_UNSURE;
    if (alert->repeat_ns == 0) /* of a group that was made again */
        alert->repeat_ns = hr_clock_ns() + alert->rule_state->rule->repeat_us * HR_NS_PER_US;
    set_recorded(alert, true);
    return true;
}

static void begin_alarm(struct psi_alert *alert, const struct hr_psi_event *event)
{
    alert->alarmed = true;
    if (withdraw_end(alert))
        return;
    alert->begun_ns = event->time_ns;
    alert->is_reported = false;
    alert->sent = PSI_UNSENT;
}

/* While a report is prepared it stays that of the event before. */
static void take_event(struct psi_alert *alert, const struct hr_psi_event *event)
{
    if (!alert->alarmed)
        begin_alarm(alert, event);
    alert->quiet_ns = quiet_deadline(alert, event->time_ns);
    if (!alert->is_preparing)
        alert->event = *event;
    report_if_due(alert);
}

/* The group was removed, which its set reports in a moment; or its pressure was switched off or
 * can't be read, and may come back. */
static void lose_trigger(struct psi_alert *alert, int status)
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

/* While pressure moves the counters are taken once a window; when it rests, or its stall has been
 * reported, they are dropped. */
static void update_causes(struct psi_alert *alert)
{
    if (alert->is_preparing || !may_have_causes(alert))
        return;
    if (!may_report_soon(alert) ||
        (!takes_causes_always(alert) && !hr_psi_trigger_is_active(alert->trigger)))
        psi_cause_history_clear(&alert->causes);
    else if (hr_clock_ns() >= alert->causes_due_ns)
        take_causes(alert);
}

static void read_trigger(struct psi_alert *alert, uint32_t events)
{
    struct hr_psi_event event;

    int status = hr_psi_trigger_read(alert->trigger, events, &event);
    if (status == 0) {
        alert->event_count++;
        take_event(alert, &event);
    } else if (status != -EAGAIN && !is_shortage(status)) {
        lose_trigger(alert, status);
    }
    if (alert->trigger != NULL)
        update_causes(alert);
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
        take_event(alert, &event);
    else if (status == -EAGAIN)
        end_alarm(alert, NULL);
    else if (is_shortage(status) || (alert->trigger == NULL && is_shortage(alert->failure)))
        alert->quiet_ns = hr_clock_ns() + RETRY_NS;
    else if (alert->trigger != NULL)
        lose_trigger(alert, status);
    else
        end_alarm(alert, explain_unarmed(alert));
}

void psi_alert_tick(struct psi_alert *alert, uint64_t now_ns)
{
    if (alert->is_preparing && !is_scanning(alert) && now_ns >= alert->report_ns)
        finish_report(alert);
    if (alert->failed && now_ns >= alert->retry_ns)
        psi_alert_arm(alert);
    if (alert->trigger != NULL && now_ns >= hr_psi_trigger_due_ns(alert->trigger))
        read_trigger(alert, 0);
    if (alert->alarmed && now_ns >= alert->quiet_ns)
        confirm_end(alert);
    if (now_ns >= next_cause_due(alert))
        update_causes(alert);
    update_timer(alert);
}
