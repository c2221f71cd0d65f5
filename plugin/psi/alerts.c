/* SPDX-License-Identifier: MIT */
#include "psi/alerts.h"

#include <errno.h>
#include <sys/epoll.h>

#include "common/log.h"
#include "common/options.h"
#include "common/submit.h"
#include "common/thread.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "psi/alert.h"
#include "psi/groups.h"
#include "psi/longest.h"
#include "psi/report.h"
#include "psi/rescan.h"
#include "psi/unclaimed.h"
#include "utils/common/common.h"

#define PLUGIN     "psi"
#define STATE_FILE "headroom-psi.state"

#define DEFAULT_LIMIT 50 /* notifications a second */

/* Minimum time until an alarm of the previous run whose group hasn't reappeared is ended. */
#define CLAIM_NS (30 * HR_NS_PER_S)

/* How often what waits to be dispatched is looked for, as the state file depends on it. */
#define DISPATCHED_NS HR_NS_PER_S

/* Polled triggers are read together that are due within a fraction of the shortest window. */
#define SLACK_PER_WINDOW 40
#define SLACK_MAX_NS     (25 * HR_NS_PER_MS)

enum { EVENTS = 64 };

struct psi_alerts {
    struct psi_rule *rules;
    size_t rule_count, rule_capacity;
    size_t limit;
    char *state_path;
    struct psi_blame_options blame;

    struct thread thread;
    bool is_open, can_run;
    struct psi_alert_context context;
    struct psi_rule_state *rule_states; /* as many as rules */
    struct psi_alert *of_system;
    size_t system_count;
    struct psi_groups groups;

    /* The thread's own. */
    struct psi_rescan rescan;
    uint64_t slack_ns;
    uint64_t claim_ns; /* when alarms of the previous run end that weren't claimed; TIMER_NEVER */
    uint64_t dispatched_ns; /* when what waits to be dispatched is looked for; TIMER_NEVER */
};

struct psi_alerts *psi_alerts_new(void)
{
    struct psi_alerts *alerts = calloc(1, sizeof(*alerts));

    if (alerts == NULL)
        return NULL;
    alerts->limit = DEFAULT_LIMIT;
    alerts->context.epoll = -1;
    TAILQ_INIT(&alerts->context.open);
    TAILQ_INIT(&alerts->context.scans);
    thread_init(&alerts->thread);
    pthread_mutex_init(&alerts->groups.set_lock, NULL);
    pthread_mutex_init(&alerts->groups.alerts_lock, NULL);
    return alerts;
}

/* --- Options -------------------------------------------------------------- */

static int read_rule(struct psi_alerts *alerts, const oconfig_item_t *item)
{
    if (HR_ARRAY_RESERVE(alerts->rules, alerts->rule_capacity, alerts->rule_count + 1) < 0) {
        ERROR(PLUGIN ": out of memory.");
        return -1;
    }
    struct psi_rule *rule = &alerts->rules[alerts->rule_count];
    if (psi_rule_read(rule, item) < 0)
        return -1;
    for (size_t i = 0; i < alerts->rule_count; i++)
        if (strcasecmp(alerts->rules[i].name, rule->name) == 0)
            return option_refuse(PLUGIN, item,
                                 "a name that no other <Trigger> has, in any "
                                 "file; headroom doctor names both lines");
    alerts->rule_count++;
    return 0;
}

int psi_alerts_option(struct psi_alerts *alerts, const oconfig_item_t *item)
{
    if (strcasecmp(item->key, "Trigger") == 0)
        return read_rule(alerts, item);
    if (strcasecmp(item->key, "Blame") == 0)
        return psi_blame_option(&alerts->blame, item);
    if (strcasecmp(item->key, "MaxNotificationsPerSecond") == 0)
        return option_count(PLUGIN, item, &alerts->limit);
    if (strcasecmp(item->key, "StateFile") == 0)
        return option_state_file(PLUGIN, item, &alerts->state_path);
    return 1;
}

bool psi_alerts_is_empty(const struct psi_alerts *alerts)
{
    return alerts->rule_count == 0;
}

struct psi_groups *psi_alerts_groups(struct psi_alerts *alerts)
{
    return &alerts->groups;
}

/* --- Open alarms ---------------------------------------------------------- */

/* Alarms of the previous run that can't go on. */
static void end_unclaimed(struct psi_alerts *alerts)
{
    struct psi_alert_context *context = &alerts->context;
    const struct psi_rule_list configured = {alerts->rules, alerts->rule_count};
    struct open_alarm *alarm;
    struct psi_rule rule;
    notification_t notice;
    char reason[128];

    while ((alarm = open_alarms_unclaimed(context->open_alarms)) != NULL) {
        const struct psi_subject subject = {&rule, alarm->instance, alarm->path};
        psi_open_alarm_rule(alarm, &rule);
        const uint64_t id = psi_alert_id(&rule, alarm->instance);
        psi_unclaimed_explain(context->open_alarms, alarm, &configured, context->root, reason,
                              sizeof(reason));
        psi_notification_write_unwatched(&notice, &subject, reason);
        dispatcher_queue_end(context->dispatcher, id, &notice);
        open_alarms_set_ending(context->open_alarms, alarm, id);
        context->has_changed = true;
    }
    alerts->claim_ns = TIMER_NEVER;
}

static void save_open_alarms(struct psi_alerts *alerts)
{
    struct psi_alert_context *context = &alerts->context;
    const struct psi_alert *alert;

    context->has_changed = false;
    open_alarms_begin(context->open_alarms);
    TAILQ_FOREACH(alert, &context->open, open)
    psi_open_alarms_add(context->open_alarms, &alert->subject, alert->sent);
    open_alarms_commit(context->open_alarms);
}

/* What has been dispatched. @return how much hasn't. */
static size_t update_dispatched(struct psi_alert_context *context, bool is_last)
{
    struct dispatcher_waiting waiting;

    if (dispatcher_list_waiting(context->dispatcher, &waiting) < 0)
        return 1; /* not known */
    size_t left =
        open_alarms_update_ending(context->open_alarms, &waiting, is_last, &context->has_changed);
    left += psi_report_update_sent(context, &waiting);
    dispatcher_waiting_free(&waiting);
    return left;
}

/* Saves what has changed, and looks again a little later for what has been dispatched. */
static void update_open_alarms(struct psi_alerts *alerts, uint64_t now_ns)
{
    struct psi_alert_context *context = &alerts->context;

    if (context->open_alarms == NULL)
        return; /* there is no rule, and no alarm of a previous run */
    if (now_ns >= alerts->claim_ns)
        end_unclaimed(alerts);
    if (!context->has_changed && now_ns < alerts->dispatched_ns)
        return;
    size_t waiting = update_dispatched(context, false);
    alerts->dispatched_ns = waiting > 0 ? now_ns + DISPATCHED_NS : TIMER_NEVER;
    if (context->has_changed)
        save_open_alarms(alerts);
}

/* --- The thread ----------------------------------------------------------- */

static uint64_t next_deadline(const struct psi_alerts *alerts)
{
    const struct timer *first = timers_first(&alerts->context.timers);
    uint64_t deadline = timer_earlier(alerts->claim_ns, alerts->dispatched_ns);

    if (first != NULL)
        deadline = timer_earlier(deadline, first->due_ns + alerts->slack_ns);
    if (alerts->groups.set != NULL)
        deadline = timer_earlier(deadline, psi_rescan_deadline(&alerts->rescan));
    return deadline;
}

/* Until the next deadline, in ms, rounded up; -1: without a limit. */
static int get_timeout_ms(struct psi_alerts *alerts)
{
    pthread_mutex_lock(&alerts->groups.alerts_lock);
    uint64_t deadline = next_deadline(alerts), now_ns = hr_clock_ns();
    pthread_mutex_unlock(&alerts->groups.alerts_lock);

    if (deadline == TIMER_NEVER)
        return -1;
    return deadline <= now_ns ? 0 : (int)((deadline - now_ns + HR_NS_PER_MS - 1) / HR_NS_PER_MS);
}

static void run_due_work(struct psi_alerts *alerts)
{
    const uint64_t now_ns = hr_clock_ns();
    struct timer *first;

    while ((first = timers_first(&alerts->context.timers)) != NULL && first->due_ns <= now_ns)
        psi_alert_run_due((struct psi_alert *)first, now_ns);
    if (alerts->groups.set != NULL)
        psi_rescan_run_due(&alerts->rescan, now_ns);
    update_open_alarms(alerts, now_ns);
}

/* @return false if the thread must end. */
static bool handle_epoll_event(struct psi_alerts *alerts, const struct epoll_event *event)
{
    if (event->data.ptr == &alerts->thread)
        return thread_goes_on(&alerts->thread);
    if (event->data.ptr == &alerts->groups)
        psi_rescan_note_event(&alerts->rescan);
    else
        psi_alert_read(event->data.ptr, event->events);
    return true;
}

static void close_triggers(const struct psi_trigger_list *closing)
{
    hr_psi_trigger_close_many(closing->triggers, closing->count);
    free(closing->triggers);
}

static void update_blame(struct psi_alerts *alerts)
{
    struct psi_blame *blame = alerts->context.blame;
    const bool is_needed = !TAILQ_EMPTY(&alerts->context.scans) || psi_blame_has_series(blame);

    if (is_needed && alerts->groups.set != NULL)
        psi_blame_update_groups(blame, alerts->groups.set, alerts->groups.changes);
}

/* With alerts_lock held, but for the sampling itself: so the read callback doesn't wait for it. */
static void scan_waiting_tasks(struct psi_alerts *alerts)
{
    struct psi_alert *alert;
    struct psi_scan scan;

    update_blame(alerts);
    while ((alert = psi_report_begin_scan(&alerts->context, &scan)) != NULL) {
        pthread_mutex_unlock(&alerts->groups.alerts_lock);
        psi_scan_run(&scan);
        if (scan.names_longest)
            scan.longest = psi_longest_find(&alerts->groups, &scan.rule->trigger, scan.lasts);
        pthread_mutex_lock(&alerts->groups.alerts_lock);
        psi_alert_end_scan(alert, &scan);
    }
}

/* Events may name groups that the read callback has removed meanwhile: these are freed only after
 * the events were handled. */
static bool handle_events_and_due_work(struct psi_alerts *alerts, const struct epoll_event *events,
                                       int count)
{
    bool goes_on = true;

    pthread_mutex_lock(&alerts->groups.alerts_lock);
    for (int i = 0; i < count; i++)
        goes_on = handle_epoll_event(alerts, &events[i]) && goes_on;
    psi_groups_free_removed(&alerts->groups);
    if (goes_on) {
        run_due_work(alerts);
        scan_waiting_tasks(alerts);
    }
    struct psi_trigger_list closing = psi_alert_take_closing(&alerts->context);
    pthread_mutex_unlock(&alerts->groups.alerts_lock);
    close_triggers(&closing);
    psi_blame_watch_new(alerts->context.blame);
    psi_blame_detach_unused(alerts->context.blame);
    return goes_on;
}

static void *alerts_main(void *context)
{
    struct psi_alerts *alerts = context;
    struct epoll_event events[EVENTS];
    int count = 0;

    while (handle_events_and_due_work(alerts, events, count))
        count = epoll_wait(alerts->context.epoll, events, EVENTS, get_timeout_ms(alerts));
    return NULL;
}

/* Wakes the thread if something has become due earlier than it expects. */
void psi_alerts_read_groups(struct psi_alerts *alerts)
{
    pthread_mutex_lock(&alerts->groups.alerts_lock);
    uint64_t before_ns = next_deadline(alerts);
    selection_read(alerts->groups.selection, alerts->groups.set);
    alerts->groups.is_begun = true;
    bool has_work = next_deadline(alerts) < before_ns || alerts->context.has_changed ||
                    alerts->context.closing.count > 0;
    pthread_mutex_unlock(&alerts->groups.alerts_lock);
    if (has_work)
        thread_wake(&alerts->thread);
}

void psi_alerts_begin_series(struct psi_alerts *alerts)
{
    pthread_mutex_lock(&alerts->groups.alerts_lock);
    psi_groups_begin_series(&alerts->groups);
    pthread_mutex_unlock(&alerts->groups.alerts_lock);
}

/* --- Starting ------------------------------------------------------------- */

static void warn_of_no_groups(const struct psi_alerts *alerts)
{
    if (psi_groups_count_rules(&alerts->groups, false) > 0 && alerts->groups.set == NULL)
        WARNING(PLUGIN
                ": there are triggers with Scope \"cgroups\", but there is no Cgroup that they "
                "could watch.");
}

static int open_thread(struct psi_alerts *alerts)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &alerts->thread};
    int status = thread_open(&alerts->thread);

    if (status < 0)
        return status;
    alerts->context.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (alerts->context.epoll < 0 ||
        epoll_ctl(alerts->context.epoll, EPOLL_CTL_ADD, alerts->thread.wake_fd, &event) < 0)
        return -errno;
    return 0;
}

/* What reporting needs, if there are rules, or alarms of a previous run that had some. Open alarms
 * need the dispatcher. */
static int open_reporting(struct psi_alerts *alerts)
{
    struct psi_alert_context *context = &alerts->context;
    char *path = option_state_path(alerts->state_path, STATE_FILE);

    if (path == NULL)
        return alerts->rule_count > 0 ? -errno : 0;
    free(alerts->state_path);
    alerts->state_path = path;
    if (alerts->rule_count == 0 && access(path, F_OK) < 0)
        return 0;
    int status =
        dispatcher_open(PLUGIN, alerts->limit, "MaxNotificationsPerSecond", &context->dispatcher);
    if (status == 0)
        status = open_alarms_open(&psi_open_alarms_format, path, context->dispatcher,
                                  &context->open_alarms);
    return status;
}

static int open_rules(struct psi_alerts *alerts)
{
    alerts->rule_states = calloc(alerts->rule_count + 1, sizeof(*alerts->rule_states));
    alerts->of_system = calloc(alerts->rule_count + 1, sizeof(*alerts->of_system));
    if (alerts->rule_states == NULL || alerts->of_system == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < alerts->rule_count; i++)
        psi_rule_state_init(&alerts->rule_states[i], &alerts->rules[i], &alerts->context);
    return timers_reserve(&alerts->context.timers, alerts->rule_count);
}

/* The slack by the shortest window, when unclaimed alarms end by the longest quiet time; and the
 * rescans. */
static void set_times(struct psi_alerts *alerts)
{
    uint64_t quiet_ns = CLAIM_NS;

    alerts->slack_ns = SLACK_MAX_NS;
    for (size_t i = 0; i < alerts->rule_count; i++) {
        const struct psi_rule *rule = &alerts->rules[i];
        uint64_t window_ns = rule->trigger.window_us * HR_NS_PER_US;
        alerts->slack_ns = timer_earlier(alerts->slack_ns, window_ns / SLACK_PER_WINDOW);
        if (rule->quiet_us * HR_NS_PER_US > quiet_ns)
            quiet_ns = rule->quiet_us * HR_NS_PER_US;
    }
    alerts->claim_ns = alerts->context.open_alarms != NULL ? hr_clock_ns() + quiet_ns : TIMER_NEVER;
    alerts->dispatched_ns = TIMER_NEVER;
    psi_rescan_init(&alerts->rescan, &alerts->groups, alerts->context.epoll);
}

static int open_alerts(struct psi_alerts *alerts)
{
    int status = open_rules(alerts);

    if (status == 0)
        status = open_thread(alerts);
    if (status == 0)
        status = open_reporting(alerts);
    return status;
}

static void arm_system(struct psi_alerts *alerts)
{
    alerts->system_count =
        psi_groups_init_alerts(&alerts->groups, alerts->of_system, "system", NULL);
    for (size_t i = 0; i < alerts->system_count; i++)
        psi_alert_arm(&alerts->of_system[i]);
}

static void start_thread(struct psi_alerts *alerts)
{
    if (alerts->groups.set == NULL && alerts->context.open_alarms == NULL)
        return;
    if (!alerts->can_run)
        return; /* which was logged; the read callback follows the groups */
    warn_of_no_groups(alerts);
    int status = thread_start(&alerts->thread, alerts_main, alerts, "psi alerts");
    if (status != 0)
        ERROR(PLUGIN ": there are no alerts, as their thread can't be started: %s.",
              STRERROR(-status));
}

int psi_alerts_start(struct psi_alerts *alerts, const struct hr_root *root,
                     struct selection *selection, const struct psi_series_options *series_options,
                     const struct psi_series *system)
{
    alerts->groups.system = system;
    alerts->context.root = alerts->context.task_source.root = root;
    int status = open_alerts(alerts);
    alerts->can_run = status == 0;
    if (status < 0) {
        ERROR(PLUGIN ": there are no alerts: %s.", STRERROR(-status));
        alerts->rule_count = 0;
    }
    set_times(alerts);
    status = psi_groups_open(&alerts->groups, root, selection, series_options, alerts->rule_states,
                             alerts->rule_count);
    if (status < 0)
        return status;
    alerts->is_open = true;
    alerts->context.has_groups = alerts->groups.set != NULL;
    if (alerts->groups.set != NULL)
        alerts->context.blame = psi_blame_start(root, &alerts->blame, alerts->rules,
                                                alerts->rule_count, selection_max(selection));
    else if (alerts->blame.is_given && alerts->blame.mode != PSI_BLAME_OFF)
        psi_blame_log_unavailable(&alerts->blame,
                                  "there are no groups to distinguish: add a Cgroup");
    arm_system(alerts);
    start_thread(alerts);
    return 0;
}

/* --- Values --------------------------------------------------------------- */

static void publish_event_counts(const struct psi_alert *alerts, size_t count, cdtime_t time)
{
    for (size_t i = 0; i < count; i++) {
        const struct psi_alert *alert = &alerts[i];
        const struct submission submission = {
            .plugin = PLUGIN, .instance = alert->subject.instance, .time = time};
        if (alert->is_armed)
            submit_derive(&submission, "derive", alert->subject.rule->type_instance,
                          alert->event_count);
    }
}

void psi_alerts_publish_system(const struct psi_alerts *alerts, cdtime_t time)
{
    publish_event_counts(alerts->of_system, alerts->system_count, time);
}

void psi_alerts_publish_group(const struct hr_cgroup *group, cdtime_t time)
{
    const struct psi_group *of_group = group->data;

    publish_event_counts(of_group->alerts, of_group->alert_count, time);
}

void psi_alerts_publish_takers(struct psi_alerts *alerts, cdtime_t time)
{
    psi_taken_sample(alerts->context.blame, &alerts->groups, time);
}

/* --- Stopping ------------------------------------------------------------- */

/* The alarms that are open stay so, in the state file, for the next run: what ends here is never
 * dispatched. */
static void close_alerts(struct psi_alerts *alerts)
{
    struct psi_alert_context *context = &alerts->context;

    if (context->open_alarms != NULL)
        update_dispatched(context, true);
    psi_report_forget_unsent(context);
    for (size_t i = 0; i < alerts->system_count; i++)
        psi_alert_disarm(&alerts->of_system[i], "collectd stops");
    psi_groups_close(&alerts->groups);
    if (context->open_alarms != NULL) {
        update_dispatched(context, true);
        save_open_alarms(alerts);
    }
    struct psi_trigger_list closing = psi_alert_take_closing(context);
    close_triggers(&closing);
}

void psi_alerts_free(struct psi_alerts *alerts)
{
    struct psi_alert_context *context;

    if (alerts == NULL)
        return;
    context = &alerts->context;
    bool has_stopped = dispatcher_stop(context->dispatcher);
    thread_stop(&alerts->thread);
    if (alerts->is_open)
        close_alerts(alerts);
    open_alarms_close(context->open_alarms);
    if (has_stopped)
        dispatcher_close(context->dispatcher);
    psi_task_source_close(&context->task_source);
    psi_blame_close(context->blame);
    timers_free(&context->timers);
    if (context->epoll >= 0)
        close(context->epoll);
    pthread_mutex_destroy(&alerts->groups.set_lock);
    pthread_mutex_destroy(&alerts->groups.alerts_lock);
    free(alerts->of_system);
    free(alerts->rule_states);
    free(alerts->state_path);
    free(alerts->rules);
    free(alerts);
}
