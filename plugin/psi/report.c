/* SPDX-License-Identifier: MIT */
#include "psi/report.h"

#include <fcntl.h>
#include <stdlib.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/waiters.h"
#include "psi/cause.h"
#include "psi/longest.h"

/* How long to look for the causes of a stall that began suddenly: one or two periods of cpu.max. */
#define CAUSE_NS (250 * HR_NS_PER_MS)

/* By how many reads of a growing total the event of a group below may be later, as its window began
 * at another time. */
#define BELOW_READS 2

/* --- The record of open alarms -------------------------------------------- */

void psi_report_set_recorded(struct psi_alert *alert, bool is_recorded)
{
    struct psi_alert_context *context = alert->rule_state->context;

    if (alert->is_recorded == is_recorded)
        return;
    alert->is_recorded = is_recorded;
    if (is_recorded) {
        TAILQ_INSERT_TAIL(&context->open, alert, open);
        alert->record = open_alarms_next_record(context->open_alarms);
    } else {
        TAILQ_REMOVE(&context->open, alert, open);
    }
    context->has_changed = true;
}

size_t psi_report_update_sent(struct psi_alert_context *context,
                              const struct dispatcher_waiting *waiting)
{
    struct psi_alert *alert;
    size_t left = 0;

    TAILQ_FOREACH(alert, &context->open, open)
    {
        enum alarm_sent was = alert->sent;
        if (alert->is_reported)
            alert->sent = alarm_sent_now(was, alert->id, waiting);
        context->has_changed = context->has_changed || alert->sent != was;
        left += alert->sent != ALARM_SENT && (alert->is_reported || alert->is_preparing);
    }
    return left;
}

void psi_report_forget_unsent(struct psi_alert_context *context)
{
    struct psi_alert *alert = TAILQ_FIRST(&context->open);

    while (alert != NULL) {
        struct psi_alert *next = TAILQ_NEXT(alert, open);
        if (alert->sent == ALARM_UNSENT)
            psi_report_set_recorded(alert, false);
        alert = next;
    }
}

/* --- Groups below --------------------------------------------------------- */

static bool has_alarm_below(const struct psi_alert *alert)
{
    const struct psi_alert *other;

    TAILQ_FOREACH(other, &alert->rule_state->context->open, open)
    if (psi_alert_is_below(other, alert))
        return true;
    return false;
}

/* Whether the alarm isn't reported, as that of a group below reports the same stall; also for some
 * time after that one has ended, as the next event may still be about the time before. */
static bool is_covered(struct psi_alert *alert)
{
    const uint64_t now_ns = hr_clock_ns();

    if (alert->is_reported)
        return false;
    if (has_alarm_below(alert))
        alert->covered_ns =
            now_ns + alert->rule_state->rule->trigger.window_us * HR_NS_PER_US * 3 / 2;
    return now_ns < alert->covered_ns;
}

static uint64_t wait_for_those_below(const struct psi_alert *alert)
{
    if (alert->is_reported || !alert->has_below)
        return 0;
    return alert->rule_state->rule->trigger.window_us * HR_NS_PER_US * BELOW_READS /
           HR_PSI_TRIGGER_POLLS;
}

/* --- Causes --------------------------------------------------------------- */

/* There are no counters for irq, and for io only those of groups. */
static bool may_have_causes(const struct psi_alert *alert)
{
    enum hr_psi_resource resource = alert->rule_state->rule->trigger.resource;

    return resource == HR_PSI_CPU || resource == HR_PSI_MEMORY ||
           (resource == HR_PSI_IO && alert->group != NULL);
}

/* Whether an event of the next two windows, over which counters are compared, may be reported. */
static bool may_report_soon(const struct psi_alert *alert)
{
    const struct psi_rule *rule = alert->rule_state->rule;

    if (!alert->is_reported)
        return true;
    return rule->repeat_us > 0 &&
           hr_clock_ns() + 2 * rule->trigger.window_us * HR_NS_PER_US >= alert->repeat_ns;
}

/* With the kernel's trigger it isn't known whether the total grows, so counters are always sampled;
 * but of the system only. */
static bool takes_causes_always(const struct psi_alert *alert)
{
    return alert->group == NULL && alert->trigger != NULL &&
           hr_psi_trigger_fd(alert->trigger) >= 0 && may_have_causes(alert);
}

static uint64_t next_cause_due(const struct psi_alert *alert)
{
    if (!takes_causes_always(alert) || alert->is_preparing || !may_report_soon(alert))
        return TIMER_NEVER; /* or they are sampled when the trigger is read */
    return alert->causes_due_ns;
}

static void sample_cause_counters(struct psi_alert *alert)
{
    alert->causes_due_ns =
        hr_clock_ns() + alert->rule_state->rule->trigger.window_us * HR_NS_PER_US;
    psi_cause_history_take(&alert->causes, alert->rule_state->context->root, alert->group,
                           alert->rule_state->rule->trigger.resource);
}

/* @return how long to wait for a second sample; 0: there is an earlier one to compare with. */
static uint64_t start_finding_causes(struct psi_alert *alert)
{
    const uint64_t window_ns = alert->rule_state->rule->trigger.window_us * HR_NS_PER_US;

    if (!may_have_causes(alert))
        return 0;
    /* A sample from long before this stall says nothing about it. */
    if (hr_clock_ns() > alert->causes_due_ns + window_ns)
        psi_cause_history_clear(&alert->causes);
    if (!psi_cause_history_is_empty(&alert->causes))
        return 0;
    sample_cause_counters(alert);
    return CAUSE_NS;
}

/* While the total grows the counters are sampled once per window; once it doesn't, or its stall has
 * been reported, the samples are dropped. */
void psi_report_update_causes(struct psi_alert *alert)
{
    if (alert->is_preparing || !may_have_causes(alert))
        return;
    if (!may_report_soon(alert) ||
        (!takes_causes_always(alert) && !hr_psi_trigger_is_active(alert->trigger)))
        psi_cause_history_clear(&alert->causes);
    else if (hr_clock_ns() >= alert->causes_due_ns)
        sample_cause_counters(alert);
}

/* --- Reporting ------------------------------------------------------------ */

static void print_causes(const struct psi_alert *alert, char *buffer, size_t size)
{
    struct hr_stall_causes causes;

    psi_cause_history_attribute(&alert->causes, alert->rule_state->context->root, alert->group,
                                alert->rule_state->rule->trigger.resource, &alert->event, &causes);
    psi_cause_print(&causes, buffer, size);
}

/* The beginning of the alarm, or that it lasts, was queued. For an alarm of the previous run the
 * state file records once this has been sent. */
static void set_reported(struct psi_alert *alert)
{
    alert->is_reported = true;
    if (alert->sent != ALARM_INHERITED)
        return;
    alert->sent = ALARM_UNSURE;
    alert->rule_state->context->has_changed = true;
}

/* The next event tries again. */
static void set_unreported(struct psi_alert *alert)
{
    if (!alert->is_reported && alert->sent == ALARM_UNSENT)
        psi_report_set_recorded(alert, false);
}

static void set_longest(struct psi_alert *alert, struct psi_longest *longest)
{
    free(alert->longest);
    alert->longest = longest;
}

/* Reports the last event, with its causes, who took the CPU, and the waiting tasks if the rule
 * names any. */
static void queue_report(struct psi_alert *alert, const struct psi_waiting *waiting,
                         const struct psi_takers *takers)
{
    const struct psi_rule *rule = alert->rule_state->rule;
    const uint64_t lasting_ns =
        alert->is_reported && alert->begun_ns > 0 ? hr_clock_ns() - alert->begun_ns : 0;
    struct psi_findings findings = {.lasting_s = lasting_ns / HR_NS_PER_S};
    notification_t notice;

    alert->is_preparing = false;
    if (is_covered(alert)) {
        set_unreported(alert);
        return;
    }
    print_causes(alert, findings.cause, sizeof(findings.cause));
    findings.waiting = rule->top_tasks > 0 ? waiting : NULL;
    findings.takers = takers;
    findings.longest = alert->longest;
    psi_notification_write_stall(&notice, &alert->subject, &alert->event, &findings);
    if (dispatcher_queue_beginning(alert->rule_state->context->dispatcher, alert->id, alert->record,
                                   &notice))
        set_reported(alert);
    else
        set_unreported(alert);
    alert->repeat_ns = hr_clock_ns() + rule->repeat_us * HR_NS_PER_US;
    set_longest(alert, NULL);
}

static void report_without_second_sample(struct psi_alert *alert)
{
    struct psi_waiting waiting = {.unknown = ""};

    if (alert->waiting_status < 0)
        psi_waiting_explain(alert->waiting_status, &waiting);
    queue_report(alert, &waiting, NULL);
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
    psi_blame_end(alert->rule_state->context->blame, alert->measurement, NULL);
    alert->measurement = NULL;
}

static bool names_takers(const struct psi_alert *alert)
{
    return alert->rule_state->rule->trigger.resource == HR_PSI_CPU &&
           psi_blame_is_ready(alert->rule_state->context->blame);
}

/* Of the system, where takers of a CPU don't say more. */
static bool names_longest(const struct psi_alert *alert)
{
    return alert->group == NULL && alert->rule_state->context->has_groups && !names_takers(alert);
}

/* Whether the first sample was taken, so the second is to be. */
static bool has_first_sample(const struct psi_alert *alert)
{
    return alert->waiters != NULL || alert->measurement != NULL;
}

struct psi_alert *psi_report_begin_scan(struct psi_alert_context *context, struct psi_scan *scan)
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
        .is_second = has_first_sample(alert),
        .status = alert->waiting_status,
        .blame = names_takers(alert) ? context->blame : NULL,
        .group_id = alert->group != NULL ? alert->group->id : 0,
        .measurement = alert->measurement,
        .names_longest = !has_first_sample(alert) && names_longest(alert),
        .lasts = alert->is_reported,
    };
    if (!scan->is_second && alert->group != NULL && scan->rule->top_tasks > 0)
        scan->dirfd = hr_cgroup_openat(alert->group, ".", O_RDONLY | O_DIRECTORY);
    alert->waiters = NULL;
    alert->measurement = NULL;
    alert->scan = scan;
    return alert;
}

/* What is known now that waits for nothing is reported at once. */
static void take_first_sample(struct psi_alert *alert, const struct psi_scan *scan)
{
    const uint64_t now_ns = hr_clock_ns();
    const uint64_t read_ns = now_ns + scan->rule->top_tasks_window_us * HR_NS_PER_US;

    alert->waiters = scan->waiters;
    alert->measurement = scan->measurement;
    alert->waiting_status = scan->status;
    set_longest(alert, scan->longest);
    if (has_first_sample(alert)) {
        if (alert->report_ns < read_ns)
            alert->report_ns = read_ns;
    } else if (scan->names_longest && now_ns >= alert->report_ns) {
        report_without_second_sample(alert);
    }
}

void psi_report_end_scan(struct psi_alert *alert, struct psi_scan *scan)
{
    if (alert->scan != scan) {
        hr_waiters_close(scan->waiters);
        psi_blame_end(scan->blame, scan->measurement, NULL);
        free(scan->longest);
        return;
    }
    alert->scan = NULL;
    if (scan->is_second)
        queue_report(alert, &scan->waiting, &scan->takers);
    else
        take_first_sample(alert, scan);
}

/* --- Preparing a report --------------------------------------------------- */

static void start_report(struct psi_alert *alert)
{
    const struct psi_rule *rule = alert->rule_state->rule;
    const uint64_t causes_ns = start_finding_causes(alert), below_ns = wait_for_those_below(alert);
    const uint64_t wait_ns = causes_ns > below_ns ? causes_ns : below_ns;

    psi_report_set_recorded(alert, true);
    alert->is_preparing = true;
    alert->report_ns = hr_clock_ns() + wait_ns;
    if (rule->top_tasks > 0 || names_takers(alert) || names_longest(alert))
        request_scan(alert);
    else if (wait_ns == 0)
        queue_report(alert, NULL, NULL);
}

/* The time of preparing it is over, but maybe for the second sample of the waiting tasks. */
static void finish_report(struct psi_alert *alert)
{
    if (has_first_sample(alert))
        request_scan(alert);
    else
        report_without_second_sample(alert);
}

static bool is_report_due(const struct psi_alert *alert)
{
    if (alert->is_preparing)
        return false;
    return !alert->is_reported ||
           (alert->rule_state->rule->repeat_us > 0 && alert->event.time_ns >= alert->repeat_ns);
}

void psi_report_if_due(struct psi_alert *alert)
{
    if (is_report_due(alert) && !is_covered(alert) &&
        dispatcher_can_queue(alert->rule_state->context->dispatcher))
        start_report(alert);
}

/* Waiting tasks are sampled, or are to be. */
static bool is_scanning(const struct psi_alert *alert)
{
    return alert->is_in_scans || alert->scan != NULL;
}

void psi_report_run_due(struct psi_alert *alert, uint64_t now_ns)
{
    if (alert->is_preparing && !is_scanning(alert) && now_ns >= alert->report_ns)
        finish_report(alert);
    if (now_ns >= next_cause_due(alert))
        psi_report_update_causes(alert);
}

uint64_t psi_report_due_ns(const struct psi_alert *alert)
{
    uint64_t due_ns = next_cause_due(alert);

    if (alert->is_preparing && !is_scanning(alert))
        due_ns = timer_earlier(due_ns, alert->report_ns);
    return due_ns;
}

/* --- The end of an alarm --------------------------------------------------- */

static void queue_end(struct psi_alert *alert, const char *reason)
{
    struct psi_alert_context *context = alert->rule_state->context;
    notification_t notice;

    if (reason != NULL)
        psi_notification_write_unwatched(&notice, &alert->subject, reason);
    else
        psi_notification_write_okay(&notice, &alert->subject);
    if (dispatcher_queue_end(context->dispatcher, alert->id, &notice))
        psi_open_alarms_add_ending(context->open_alarms, alert->id, &alert->subject, alert->sent);
}

void psi_report_end(struct psi_alert *alert, const char *reason)
{
    static const struct psi_waiting too_late = {.unknown = "the alarm ended meanwhile"};

    cancel_scan(alert);
    if (alert->is_preparing)
        queue_report(alert, &too_late, NULL);
    set_longest(alert, NULL);
    if (alert->is_recorded) {
        queue_end(alert, reason);
        psi_report_set_recorded(alert, false);
    }
    alert->is_reported = false; /* causes of the next alarm are sampled from now on */
}

bool psi_report_withdraw_end(struct psi_alert *alert)
{
    struct psi_alert_context *context = alert->rule_state->context;

    if (!dispatcher_withdraw_end(context->dispatcher, alert->id))
        return false;
    alert->sent = open_alarms_take_ending(context->open_alarms, alert->id);
    alert->is_reported = alert->sent != ALARM_INHERITED;
    if (alert->repeat_ns == 0) /* of a group that was made again */
        alert->repeat_ns = hr_clock_ns() + alert->rule_state->rule->repeat_us * HR_NS_PER_US;
    psi_report_set_recorded(alert, true);
    return true;
}
