/* SPDX-License-Identifier: MIT */
#include "psi/notification.h"

#include "common/message.h"
#include "headroom/instance.h"
#include "headroom/utf8.h"

#define PLUGIN "psi"

/* "212 ms", "1.5 ms" */
static void print_ms(double us, char *buffer, size_t size)
{
    snprintf(buffer, size, us >= 9950 ? "%.0f ms" : "%.2g ms", us / 1000);
}

/* "0.5 s", "12 s" */
static void print_s(double us, char *buffer, size_t size)
{
    snprintf(buffer, size, us < 1e7 ? "%.2g s" : "%.0f s", us / 1e6);
}

/* The group or the system, safe to show. */
static void print_place(const struct psi_subject *subject, char place[HR_INSTANCE_SIZE])
{
    snprintf(place, HR_INSTANCE_SIZE, "%s",
             subject->path != NULL ? message_name_group(subject->instance, subject->path)
                                   : "the system");
    hr_utf8_make_safe(place);
}

/* "memory some" */
static void append_pressure(struct message *message, const struct psi_rule *rule)
{
    message_append(message, "%s %s", hr_psi_resource_name(rule->trigger.resource),
                   hr_psi_level_name(rule->trigger.level));
}

/* --- Common parts --------------------------------------------------------- */

static struct message init_notification(notification_t *notice, const struct psi_subject *subject,
                                        int severity)
{
    return message_begin(notice, severity,
                         &(struct message_series){
                             .plugin = PLUGIN,
                             .instance = subject->instance,
                             .type = "derive",
                             .type_instance = subject->rule->type_instance,
                         });
}

static void add_subject_metadata(notification_t *notice, const struct psi_subject *subject)
{
    const struct hr_psi_trigger_options *trigger = &subject->rule->trigger;

    message_add_text(notice, "Trigger", subject->rule->name);
    if (subject->path != NULL)
        message_add_text(notice, "Cgroup", subject->path);
    message_add_text(notice, "Resource", hr_psi_resource_name(trigger->resource));
    message_add_text(notice, "Level", hr_psi_level_name(trigger->level));
    if (trigger->window_us == 0)
        return; /* of the previous run: not known */
    plugin_notification_meta_add_double(notice, "Stall", (double)trigger->stall_us / 1e6);
    plugin_notification_meta_add_double(notice, "Window", (double)trigger->window_us / 1e6);
}

/* --- A stall -------------------------------------------------------------- */

/* "backup.service 820 ms" */
static void print_taker(const char *name, const struct psi_taker *taker, char *buffer, size_t size)
{
    char wait[32];

    print_ms((double)taker->wait_ns / 1000, wait, sizeof(wait));
    snprintf(buffer, size, "%s %s", name, wait);
}

/* "taken in the next 0.1 s, of 91 ms that its tasks waited, by: backup.service 82 ms": from the
 * event on, so it isn't of the stall. What several tasks waited may be longer than that: then it
 * says "waited together", if there is room for that, too. */
static bool append_first_taker(struct message *message, const struct psi_takers *takers,
                               const char *before, const char *taker)
{
    static const char *const ways[] = {" together", ""};
    char interval[32], wait[32];

    print_s((double)takers->interval_ns / 1000, interval, sizeof(interval));
    print_ms((double)takers->wait_ns / 1000, wait, sizeof(wait));
    for (int i = takers->wait_ns > takers->interval_ns ? 0 : 1; i < 2; i++)
        if (message_append(message, "%staken in the next %s, of %s that its tasks waited%s, by: %s",
                           before, interval, wait, ways[i], taker))
            return true;
    return false;
}

/* @return whether one is named. */
static bool append_takers(struct message *message, const struct psi_takers *takers,
                          const char *before)
{
    const size_t count = psi_takers_count_named(takers);
    char text[PSI_TAKER_NAME_SIZE + 32];

    for (size_t i = 0; i < count; i++) {
        print_taker(psi_takers_short_name(takers, i), &takers->list[i], text, sizeof(text));
        if (i == 0 ? !append_first_taker(message, takers, before, text)
                   : !message_append(message, ", %s", text))
            return i > 0;
    }
    return count > 0;
}

static void add_taker_metadata(notification_t *notice, const struct psi_takers *takers)
{
    char name[32], text[PSI_TAKER_NAME_SIZE + 32];

    if (takers->count > 0) {
        plugin_notification_meta_add_double(notice, "TakersWindow",
                                            (double)takers->interval_ns / 1e9);
        plugin_notification_meta_add_double(notice, "TakersWait", (double)takers->wait_ns / 1e9);
    }
    for (size_t i = 0; i < takers->count; i++) {
        snprintf(name, sizeof(name), "Taker%zu", i + 1);
        print_taker(takers->list[i].name, &takers->list[i], text, sizeof(text));
        message_add_text(notice, name, text);
    }
}

/* --- The group that waits longest ----------------------------------------- */

/* A group that waited for less of the stall isn't named. */
#define LONGEST_PART 10

static bool is_named(const struct psi_longest *longest, const struct hr_psi_event *event)
{
    return longest != NULL && longest->excess_us * LONGEST_PART >= event->stalled_us;
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* "longest in system.slice/db.service, 820 ms of the last 9.8 s"; in db.service, where there isn't
 * room for more. */
static bool append_longest(struct message *message, const struct psi_longest *longest,
                           const char *before)
{
    const char *name = message_name_group(longest->instance, longest->path);
    char waited[32], elapsed[32];

    print_ms((double)longest->stalled_us, waited, sizeof(waited));
    print_s((double)longest->elapsed_us, elapsed, sizeof(elapsed));
    for (int i = 0; i < 2; i++) {
        if (message_append(message, "%slongest in %s, %s of the last %s", before, name, waited,
                           elapsed))
            return true;
        name = last_component(name);
    }
    return false;
}

/* How much of the stall the group waited for at least: what it waited is of a longer time, of which
 * the system's part before the stall may be its own. */
static uint64_t waited_in_stall_us(const struct psi_longest *longest,
                                   const struct hr_psi_event *event)
{
    const uint64_t before_us =
        longest->system_us > event->stalled_us ? longest->system_us - event->stalled_us : 0;
    const uint64_t waited_us =
        longest->stalled_us > before_us ? longest->stalled_us - before_us : 0;

    return waited_us < event->stalled_us ? waited_us : event->stalled_us;
}

static void add_longest_metadata(notification_t *notice, const struct psi_longest *longest,
                                 const struct hr_psi_event *event)
{
    const uint64_t in_stall_us = waited_in_stall_us(longest, event);

    message_add_text(notice, "LongestCgroup", longest->path);
    plugin_notification_meta_add_double(notice, "LongestWait", (double)longest->stalled_us / 1e6);
    plugin_notification_meta_add_double(notice, "LongestWindow", (double)longest->elapsed_us / 1e6);
    if (in_stall_us > 0)
        plugin_notification_meta_add_double(notice, "LongestInStall", (double)in_stall_us / 1e6);
}

/* --- Waiting tasks -------------------------------------------------------- */

/* "mysqld[423] 180 ms" */
static void print_waiter(const struct hr_waiter *waiter, char *buffer, size_t size)
{
    char waited[32];

    print_ms((double)waiter->waited_ns / 1000, waited, sizeof(waited));
    snprintf(buffer, size, "%s[%d] %s", waiter->name, (int)waiter->pid, waited);
}

/* Whether a wait is longer than the time between the samples, which needs to be explained. */
static bool exceeds_window(const struct psi_waiting *waiting)
{
    for (size_t i = 0; i < waiting->report.count; i++)
        if (waiting->top[i].waited_ns > waiting->report.elapsed_ns)
            return true;
    return false;
}

static void append_waiters(struct message *message, const struct psi_rule *rule,
                           const struct psi_waiting *waiting)
{
    const struct hr_waiters_report *report = &waiting->report;
    const char *const whole = exceeds_window(waiting) ? ", whole waits of all threads" : "";
    char text[96], lead[96];
    const char *before = lead;

    if (report->skipped_count > 0)
        snprintf(lead, sizeof(lead), "; waiting, of %zu tasks sampled%s: ", report->sampled_count,
                 whole);
    else
        snprintf(lead, sizeof(lead), "; waiting%s: ", whole);
    for (size_t i = 0; i < report->count; i++) {
        print_waiter(&waiting->top[i], text, sizeof(text));
        if (!message_append(message, "%s%s", before, text))
            return;
        before = ", ";
    }
    /* The kernel accounts a wait when it ends. */
    if (report->count == 0)
        message_append(message, "; waiting: unknown, as no wait ended within %.3g s",
                       (double)rule->top_tasks_window_us / 1e6);
}

#define UNKNOWN_LEAD "; waiting tasks unknown: "

/* What to do about it is in the log, once. */
static void append_unknown(struct message *message, const struct psi_waiting *waiting)
{
    if (!message_append(message, UNKNOWN_LEAD "%s", waiting->unknown))
        message_append(message, "; %s", waiting->unknown);
}

static bool append_takers_or_longest(struct message *message, const struct psi_findings *findings,
                                     const struct hr_psi_event *event)
{
    const char *const before = findings->cause[0] != '\0' ? "; " : ": ";

    if (findings->takers != NULL && findings->takers->count > 0)
        return append_takers(message, findings->takers, before);
    return is_named(findings->longest, event) && append_longest(message, findings->longest, before);
}

/* Who took the CPU, or where the stall was longest: with room left for why no waiting task is
 * named, if there is room for both. */
static void append_who_or_where(struct message *message, const struct psi_findings *findings,
                                const struct hr_psi_event *event)
{
    const struct psi_waiting *waiting = findings->waiting;
    const bool is_unknown = waiting != NULL && waiting->unknown[0] != '\0';
    const size_t kept = is_unknown ? strlen(UNKNOWN_LEAD) + strlen(waiting->unknown) : 0;
    bool has_both = false;

    if (message->room >= message->used + kept) {
        message->room -= kept;
        has_both = append_takers_or_longest(message, findings, event);
        message->room += kept;
    }
    if (!has_both)
        append_takers_or_longest(message, findings, event);
}

static void append_waiting(struct message *message, const struct psi_rule *rule,
                           const struct psi_waiting *waiting)
{
    if (waiting->unknown[0] == '\0')
        append_waiters(message, rule, waiting);
    else
        append_unknown(message, waiting);
}

static void add_waiter_metadata(notification_t *notice, const struct psi_waiting *waiting)
{
    char name[32], text[96];

    if (waiting->unknown[0] != '\0') {
        message_add_text(notice, "TasksUnknown", waiting->unknown);
        return;
    }
    if (waiting->report.skipped_count > 0)
        plugin_notification_meta_add_unsigned_int(notice, "TasksSampled",
                                                  waiting->report.sampled_count);
    if (waiting->report.count > 0)
        plugin_notification_meta_add_double(notice, "TasksWindow",
                                            (double)waiting->report.elapsed_ns / 1e9);
    for (size_t i = 0; i < waiting->report.count; i++) {
        snprintf(name, sizeof(name), "Task%zu", i + 1);
        print_waiter(&waiting->top[i], text, sizeof(text));
        message_add_text(notice, name, text);
    }
}

void psi_notification_write_stall(notification_t *notice, const struct psi_subject *subject,
                                  const struct hr_psi_event *event,
                                  const struct psi_findings *findings)
{
    const struct psi_rule *rule = subject->rule;
    const struct psi_waiting *waiting = findings->waiting;
    const double elapsed_s = (double)event->elapsed_us / 1e6;
    struct message message = init_notification(notice, subject, rule->severity);
    char stalled[32], limit[32], place[HR_INSTANCE_SIZE];

    print_ms((double)event->stalled_us, stalled, sizeof(stalled));
    print_ms((double)rule->trigger.stall_us, limit, sizeof(limit));
    print_place(subject, place);
    append_pressure(&message, rule);
    message_append(&message, ": stalled %s%s in ", event->measured ? "" : "at least ", stalled);
    /* Exact enough for whoever computes the share of the time. */
    message_append(&message, "%.4g s (limit %s in %.6g s) in %s", elapsed_s, limit,
                   (double)rule->trigger.window_us / 1e6, place);
    if (findings->lasting_s > 0)
        message_append(&message, ", for %" PRIu64 " s now", findings->lasting_s);
    add_subject_metadata(notice, subject);
    plugin_notification_meta_add_double(notice, "Quiet", (double)rule->quiet_us / 1e6);
    if (event->measured) {
        plugin_notification_meta_add_double(notice, "MeasuredStall",
                                            (double)event->stalled_us / 1e6);
        plugin_notification_meta_add_double(notice, "MeasuredWindow",
                                            (double)event->elapsed_us / 1e6);
    }
    if (findings->cause[0] != '\0') {
        message_append(&message, ": %s", findings->cause);
        message_add_text(notice, "Cause", findings->cause);
    }
    append_who_or_where(&message, findings, event);
    if (findings->takers != NULL)
        add_taker_metadata(notice, findings->takers);
    if (is_named(findings->longest, event))
        add_longest_metadata(notice, findings->longest, event);
    if (waiting == NULL)
        return;
    append_waiting(&message, rule, waiting);
    add_waiter_metadata(notice, waiting);
}

/* --- Its end -------------------------------------------------------------- */

void psi_notification_write_okay(notification_t *notice, const struct psi_subject *subject)
{
    const struct psi_rule *rule = subject->rule;
    struct message message = init_notification(notice, subject, NOTIF_OKAY);
    double window_s = (double)rule->trigger.window_us / 1e6;
    char limit[32], place[HR_INSTANCE_SIZE];

    print_ms((double)rule->trigger.stall_us, limit, sizeof(limit));
    print_place(subject, place);
    append_pressure(&message, rule);
    message_append(&message, ": below %s in %.6g s for %.6g s in %s", limit, window_s,
                   (double)rule->quiet_us / 1e6, place);
    add_subject_metadata(notice, subject);
    plugin_notification_meta_add_double(notice, "Quiet", (double)rule->quiet_us / 1e6);
}

void psi_notification_write_unwatched(notification_t *notice, const struct psi_subject *subject,
                                      const char *reason)
{
    struct message message = init_notification(notice, subject, NOTIF_OKAY);
    char place[HR_INSTANCE_SIZE];

    print_place(subject, place);
    append_pressure(&message, subject->rule);
    message_append(&message, ": no longer watched in %s: %s", place, reason);
    add_subject_metadata(notice, subject);
    message_add_text(notice, "NoLongerWatched", reason);
}
