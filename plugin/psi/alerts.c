/* SPDX-License-Identifier: MIT */
#include "psi/alerts.h"

#include <errno.h>
#include <sys/epoll.h>

#include "common/log.h"
#include "common/options.h"
#include "common/thread.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "psi/alert.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

#define DEFAULT_LIMIT 50 /* notifications a second */

/* Rescan SETTLE_NS after a change is signalled, so that a burst costs one scan; at least every
 * RESCAN_NS, or UNWATCHED_NS where inotify doesn't cover everything. */
#define SETTLE_NS    (HR_NS_PER_S / 20)
#define RESCAN_NS    (10 * HR_NS_PER_S)
#define UNWATCHED_NS HR_NS_PER_S

enum { EVENTS = 64 };

/* The alerts of one group: as many as there are rules for groups. */
struct group_alerts {
    const char *instance;
    size_t count;
    struct psi_alert list[];
};

struct psi_alerts {
    struct psi_rule *rules;
    size_t rule_count, rule_capacity;
    size_t limit;

    struct psi_counters counters;
    struct thread thread;

    /* The thread's own. */
    const struct hr_root *root;
    struct selection *selection;
    struct psi_alert_context context;
    struct psi_rule_state *rule_states; /* as many as rules */
    struct psi_alert *of_system;
    struct hr_cgroup_set *set; /* NULL if no rule is for groups */
    int set_fd;                /* as it is in epoll; -1 */
    uint64_t rescan_ns;        /* when the set is read next */
};

struct psi_alerts *psi_alerts_new(void)
{
    struct psi_alerts *alerts = calloc(1, sizeof(*alerts));

    if (alerts == NULL)
        return NULL;
    alerts->limit = DEFAULT_LIMIT;
    alerts->context.epoll = alerts->set_fd = -1;
    thread_init(&alerts->thread);
    psi_counters_init(&alerts->counters);
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
            return option_refuse(PLUGIN, item, "a name that no other <Trigger> has");
    alerts->rule_count++;
    return 0;
}

int psi_alerts_option(struct psi_alerts *alerts, const oconfig_item_t *item)
{
    if (strcasecmp(item->key, "Trigger") == 0)
        return read_rule(alerts, item);
    if (strcasecmp(item->key, "MaxNotificationsPerSecond") == 0)
        return option_count(PLUGIN, item, 1, 100000, &alerts->limit);
    return 1;
}

bool psi_alerts_is_empty(const struct psi_alerts *alerts)
{
    return alerts->rule_count == 0;
}

/* How many rules apply to the system, or to groups. */
static size_t count_rules(const struct psi_alerts *alerts, bool of_system)
{
    size_t count = 0;

    for (size_t i = 0; i < alerts->rule_count; i++)
        count += alerts->rules[i].of_system == of_system;
    return count;
}

/* --- The system and the groups -------------------------------------------- */

/* Initializes the alerts of the rules that apply to the system, or to groups. */
static void init_alerts(struct psi_alerts *alerts, struct psi_alert *list, const char *instance,
                        const struct hr_cgroup *group)
{
    size_t count = 0;

    for (size_t i = 0; i < alerts->rule_count; i++)
        if (alerts->rules[i].of_system == (group == NULL))
            psi_alert_init(&list[count++], &alerts->rule_states[i], instance, group);
}

static void arm_alerts(struct psi_alert *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        psi_alert_arm(&list[i]);
}

static void disarm_alerts(struct psi_alert *list, size_t count, const char *reason)
{
    for (size_t i = 0; i < count; i++)
        psi_alert_disarm(&list[i], reason);
}

static void add_group(struct psi_alerts *alerts, struct hr_cgroup *group)
{
    size_t count = count_rules(alerts, false);
    const char *instance = selection_name(alerts->selection, group);
    struct group_alerts *added =
        instance != NULL ? calloc(1, sizeof(*added) + count * sizeof(added->list[0])) : NULL;

    if (added == NULL) {
        selection_unname(alerts->selection, instance);
        return; /* memory is short, which the values' thread logs */
    }
    added->instance = instance;
    added->count = count;
    init_alerts(alerts, added->list, instance, group);
    group->data = added;
}

static void handle_group_event(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    struct psi_alerts *alerts = context;
    struct group_alerts *of_group = group->data;

    if (of_group == NULL && event != HR_CGROUP_ADDED)
        return;
    switch (event) {
    case HR_CGROUP_ADDED:
        add_group(alerts, group);
        break;
    case HR_CGROUP_POPULATED:
        arm_alerts(of_group->list, of_group->count);
        break;
    case HR_CGROUP_EMPTIED:
        disarm_alerts(of_group->list, of_group->count, "no process is left in it");
        break;
    case HR_CGROUP_REMOVED:
        selection_unname(alerts->selection, of_group->instance);
        free(of_group);
        break;
    }
}

/* Adds the set to epoll for its next change only: later ones, until it is read, make no
 * difference. */
static void await_set_change(struct psi_alerts *alerts)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = &alerts->set};
    int fd = hr_cgroup_set_fd(alerts->set);
    int operation = fd == alerts->set_fd ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    bool awaited = fd >= 0 && epoll_ctl(alerts->context.epoll, operation, fd, &event) == 0;
    alerts->set_fd = awaited ? fd : -1;
}

static void rescan_groups(struct psi_alerts *alerts)
{
    /* Errors are logged of the values' set, which mostly has the same. */
    int status = hr_cgroup_set_read(alerts->set);
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(alerts->set);

    await_set_change(alerts);
    bool is_complete = status == 0 && alerts->set_fd >= 0 && counts.unwatched == 0;
    alerts->rescan_ns = hr_clock_ns() + (is_complete ? RESCAN_NS : UNWATCHED_NS);
}

/* --- The thread ----------------------------------------------------------- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_deadline(const struct psi_alerts *alerts)
{
    uint64_t deadline = psi_outbox_deadline(&alerts->context.outbox);
    const struct psi_alert *alert;

    if (alerts->set != NULL)
        deadline = earlier(deadline, alerts->rescan_ns);
    alert = TAILQ_FIRST(&alerts->context.polled);
    if (alert != NULL)
        deadline = earlier(deadline, hr_psi_trigger_due_ns(alert->trigger));
    TAILQ_FOREACH(alert, &alerts->context.due, due)
    deadline = earlier(deadline, psi_alert_deadline(alert));
    return deadline;
}

/* Until the next deadline, in ms, rounded up; -1: without a limit. */
static int timeout_ms(const struct psi_alerts *alerts)
{
    uint64_t deadline = next_deadline(alerts), now = hr_clock_ns();

    if (deadline == UINT64_MAX)
        return -1;
    return deadline <= now ? 0 : (int)((deadline - now + HR_NS_PER_MS - 1) / HR_NS_PER_MS);
}

static void poll_triggers(struct psi_alerts *alerts, uint64_t now_ns)
{
    struct psi_alert *alert;

    while ((alert = TAILQ_FIRST(&alerts->context.polled)) != NULL &&
           hr_psi_trigger_due_ns(alert->trigger) <= now_ns)
        psi_alert_read(alert, 0);
}

static void run_due_work(struct psi_alerts *alerts)
{
    uint64_t now_ns = hr_clock_ns();

    poll_triggers(alerts, now_ns);
    struct psi_alert *alert = TAILQ_FIRST(&alerts->context.due);
    while (alert != NULL) {
        struct psi_alert *next = TAILQ_NEXT(alert, due);
        if (now_ns >= psi_alert_deadline(alert))
            psi_alert_tick(alert);
        alert = next;
    }
    psi_outbox_tick(&alerts->context.outbox);
    /* Last, as it frees alerts. */
    if (alerts->set != NULL && now_ns >= alerts->rescan_ns)
        rescan_groups(alerts);
}

/* @return false if the thread must end. */
static bool handle_event(struct psi_alerts *alerts, const struct epoll_event *event)
{
    if (event->data.ptr == &alerts->thread)
        return false;
    if (event->data.ptr == &alerts->set)
        alerts->rescan_ns = earlier(alerts->rescan_ns, hr_clock_ns() + SETTLE_NS);
    else
        psi_alert_read(event->data.ptr, event->events);
    return true;
}

static void *alerts_main(void *context)
{
    struct psi_alerts *alerts = context;
    struct epoll_event events[EVENTS];

    arm_alerts(alerts->of_system, count_rules(alerts, true));
    for (;;) {
        run_due_work(alerts);
        int count = epoll_wait(alerts->context.epoll, events, EVENTS, timeout_ms(alerts));
        for (int i = 0; i < count; i++)
            if (!handle_event(alerts, &events[i]))
                return NULL;
    }
}

/* --- Starting and stopping ------------------------------------------------ */

static void warn_of_no_groups(const struct psi_alerts *alerts)
{
    if (count_rules(alerts, false) > 0 && selection_is_empty(alerts->selection))
        WARNING(PLUGIN
                ": there are triggers with Scope \"cgroups\", but there is no Cgroup that they "
                "could watch.");
}

static int open_context(struct psi_alerts *alerts)
{
    struct psi_alert_context *context = &alerts->context;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &alerts->thread};

    context->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (context->epoll < 0)
        return -errno;
    int status = thread_open(&alerts->thread);
    if (status < 0)
        return status;
    if (epoll_ctl(context->epoll, EPOLL_CTL_ADD, alerts->thread.stop_fd, &event) < 0)
        return -errno;
    context->root = context->task_source.root = alerts->root;
    context->counters = &alerts->counters;
    TAILQ_INIT(&context->due);
    TAILQ_INIT(&context->polled);
    psi_outbox_init(&context->outbox, alerts->limit);
    return 0;
}

static int open_rule_states(struct psi_alerts *alerts)
{
    alerts->rule_states = calloc(alerts->rule_count, sizeof(*alerts->rule_states));
    alerts->of_system = calloc(count_rules(alerts, true) + 1, sizeof(*alerts->of_system));
    if (alerts->rule_states == NULL || alerts->of_system == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < alerts->rule_count; i++)
        psi_rule_state_init(&alerts->rule_states[i], &alerts->rules[i], &alerts->context);
    init_alerts(alerts, alerts->of_system, "system", NULL);
    if (count_rules(alerts, false) == 0)
        return 0;
    return selection_open(alerts->selection, alerts->root, handle_group_event, alerts,
                          &alerts->set);
}

void psi_alerts_start(struct psi_alerts *alerts, const struct hr_root *root,
                      struct selection *selection)
{
    if (psi_alerts_is_empty(alerts))
        return;
    alerts->root = root;
    alerts->selection = selection;
    warn_of_no_groups(alerts);
    int status = open_context(alerts);
    if (status == 0)
        status = open_rule_states(alerts);
    if (status == 0)
        status = thread_start(&alerts->thread, alerts_main, alerts, "psi alerts");
    if (status != 0)
        ERROR(PLUGIN ": there are no alerts, as their thread can't be started: %s.",
              STRERROR(-status));
}

void psi_alerts_publish(struct psi_alerts *alerts, cdtime_t time)
{
    psi_counters_publish(&alerts->counters, time);
}

static void close_context(struct psi_alerts *alerts)
{
    if (alerts->rule_states != NULL && alerts->of_system != NULL)
        disarm_alerts(alerts->of_system, count_rules(alerts, true), "collectd stops");
    hr_cgroup_set_close(alerts->set);
    psi_outbox_end(&alerts->context.outbox);
    psi_task_source_close(&alerts->context.task_source);
    free(alerts->of_system);
    free(alerts->rule_states);
}

void psi_alerts_free(struct psi_alerts *alerts)
{
    if (alerts == NULL)
        return;
    psi_outbox_close(&alerts->context.outbox);
    thread_stop(&alerts->thread);
    if (alerts->root != NULL)
        close_context(alerts);
    if (alerts->context.epoll >= 0)
        close(alerts->context.epoll);
    psi_counters_end(&alerts->counters);
    free(alerts->rules);
    free(alerts);
}
