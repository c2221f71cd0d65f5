#include "psi/alerts.h"

#include <errno.h>
#include <sys/epoll.h>

#include "common/options.h"
#include "common/thread.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "psi/alert.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

#define DEFAULT_LIMIT 50 /* notifications a second */

/* The groups are looked at so soon after the kernel told of a change, so that many changes cost
 * one look; and so often in any case, if inotify tells all, or not. */
#define SETTLE_NS    (HR_NS_PER_S / 20)
#define FOLLOW_NS    (10 * HR_NS_PER_S)
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
    size_t rule_count;
    size_t limit;

    struct psi_counters counters;
    struct thread thread;

    /* The thread's own. */
    const struct hr_root *root;
    struct selection *selection;
    struct psi_alert_desk desk;
    struct psi_watch *watches; /* of each rule */
    struct psi_alert *of_system;
    struct hr_cgroup_set *set; /* NULL if no rule is for groups */
    int set_fd;                /* as it is in epoll; -1 */
    uint64_t follow_ns;        /* when the set is read next */
};

struct psi_alerts *psi_alerts_new(void)
{
    struct psi_alerts *alerts = calloc(1, sizeof(*alerts));

    if (alerts == NULL)
        return NULL;
    alerts->limit = DEFAULT_LIMIT;
    alerts->desk.epoll = alerts->set_fd = -1;
    thread_init(&alerts->thread);
    psi_counters_init(&alerts->counters);
    return alerts;
}

/* --- Options -------------------------------------------------------------- */

static int read_rule(struct psi_alerts *alerts, const oconfig_item_t *item)
{
    struct psi_rule *grown =
        reallocarray(alerts->rules, alerts->rule_count + 1, sizeof(*alerts->rules));

    if (grown == NULL) {
        ERROR(PLUGIN ": out of memory.");
        return -1;
    }
    alerts->rules = grown;
    struct psi_rule *rule = &grown[alerts->rule_count];
    if (psi_rule_read(rule, item) < 0)
        return -1;
    for (size_t i = 0; i < alerts->rule_count; i++)
        if (strcasecmp(grown[i].name, rule->name) == 0)
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

/* How many rules there are for the system, or for groups. */
static size_t count_rules(const struct psi_alerts *alerts, bool of_system)
{
    size_t count = 0;

    for (size_t i = 0; i < alerts->rule_count; i++)
        count += alerts->rules[i].of_system == of_system;
    return count;
}

/* --- The system and the groups -------------------------------------------- */

/* Begins the alerts of the rules that are for the system, or for groups. */
static void init_list(struct psi_alerts *alerts, struct psi_alert *list, const char *instance,
                      const struct hr_cgroup *group)
{
    size_t count = 0;

    for (size_t i = 0; i < alerts->rule_count; i++)
        if (alerts->rules[i].of_system == (group == NULL))
            psi_alert_init(&list[count++], &alerts->watches[i], instance, group);
}

static void arm_list(struct psi_alert *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        psi_alert_arm(&list[i]);
}

static void disarm_list(struct psi_alert *list, size_t count, const char *reason)
{
    for (size_t i = 0; i < count; i++)
        psi_alert_disarm(&list[i], reason);
}

static void begin_group(struct psi_alerts *alerts, struct hr_cgroup *group)
{
    size_t count = count_rules(alerts, false);
    const char *instance = selection_name(alerts->selection, group);
    struct group_alerts *begun =
        instance != NULL ? calloc(1, sizeof(*begun) + count * sizeof(begun->list[0])) : NULL;

    if (begun == NULL) {
        selection_unname(alerts->selection, instance);
        return; /* memory is short; the values say so */
    }
    begun->instance = instance;
    begun->count = count;
    init_list(alerts, begun->list, instance, group);
    group->data = begun;
}

static void follow_group(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    struct psi_alerts *alerts = context;
    struct group_alerts *of_group = group->data;

    if (of_group == NULL && event != HR_CGROUP_ADDED)
        return;
    switch (event) {
    case HR_CGROUP_ADDED:
        begin_group(alerts, group);
        break;
    case HR_CGROUP_POPULATED:
        arm_list(of_group->list, of_group->count);
        break;
    case HR_CGROUP_EMPTIED:
        disarm_list(of_group->list, of_group->count, "no process is left in it");
        break;
    case HR_CGROUP_REMOVED:
        selection_unname(alerts->selection, of_group->instance);
        free(of_group);
        break;
    }
}

/* Waits for the set's next change, once: what comes until the set is read makes no difference. */
static void await_change(struct psi_alerts *alerts)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = &alerts->set};
    int fd = hr_cgroup_set_fd(alerts->set);
    int operation = fd == alerts->set_fd ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    bool awaited = fd >= 0 && epoll_ctl(alerts->desk.epoll, operation, fd, &event) == 0;
    alerts->set_fd = awaited ? fd : -1;
}

static void follow(struct psi_alerts *alerts)
{
    /* What stands in the way is told of the values' set, and mostly stands in the way of both. */
    int status = hr_cgroup_set_read(alerts->set);
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(alerts->set);

    await_change(alerts);
    bool all_told = status == 0 && alerts->set_fd >= 0 && counts.unwatched == 0;
    alerts->follow_ns = hr_clock_ns() + (all_told ? FOLLOW_NS : UNWATCHED_NS);
}

/* --- The thread ----------------------------------------------------------- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_round(const struct psi_watch *watch)
{
    uint64_t next_ns = UINT64_MAX;

    for (int i = 0; i < PSI_ROUNDS; i++)
        if (!TAILQ_EMPTY(&watch->rounds[i].list))
            next_ns = earlier(next_ns, watch->rounds[i].next_ns);
    return next_ns;
}

static uint64_t next_deadline(const struct psi_alerts *alerts)
{
    uint64_t deadline = psi_outbox_deadline(&alerts->desk.outbox);
    const struct psi_alert *alert;

    if (alerts->set != NULL)
        deadline = earlier(deadline, alerts->follow_ns);
    for (size_t i = 0; i < alerts->rule_count; i++)
        deadline = earlier(deadline, next_round(&alerts->watches[i]));
    TAILQ_FOREACH(alert, &alerts->desk.due, due)
    deadline = earlier(deadline, psi_alert_deadline(alert));
    return deadline;
}

/* Until the next deadline, in ms, rounded up; -1: for ever. */
static int patience(const struct psi_alerts *alerts)
{
    uint64_t deadline = next_deadline(alerts), now = hr_clock_ns();

    if (deadline == UINT64_MAX)
        return -1;
    return deadline <= now ? 0 : (int)((deadline - now + 999999) / 1000000);
}

static void poll_round(struct psi_round *round, uint64_t now_ns)
{
    struct psi_alert *alert = TAILQ_FIRST(&round->list);

    if (alert == NULL || now_ns < round->next_ns)
        return;
    round->next_ns = now_ns + round->interval_us * 1000;
    while (alert != NULL) {
        struct psi_alert *next = TAILQ_NEXT(alert, polled);
        psi_alert_read(alert, 0);
        alert = next;
    }
}

static void poll_watch(struct psi_watch *watch, uint64_t now_ns)
{
    for (int i = 0; i < PSI_ROUNDS; i++)
        poll_round(&watch->rounds[i], now_ns);
}

static void tick(struct psi_alerts *alerts)
{
    uint64_t now_ns = hr_clock_ns();

    for (size_t i = 0; i < alerts->rule_count; i++)
        poll_watch(&alerts->watches[i], now_ns);
    struct psi_alert *alert = TAILQ_FIRST(&alerts->desk.due);
    while (alert != NULL) {
        struct psi_alert *next = TAILQ_NEXT(alert, due);
        if (now_ns >= psi_alert_deadline(alert))
            psi_alert_tick(alert);
        alert = next;
    }
    psi_outbox_tick(&alerts->desk.outbox);
    /* Last, as it ends alerts. */
    if (alerts->set != NULL && now_ns >= alerts->follow_ns)
        follow(alerts);
}

/* @return false at the end. */
static bool take_event(struct psi_alerts *alerts, const struct epoll_event *event)
{
    if (event->data.ptr == &alerts->thread)
        return false;
    if (event->data.ptr == &alerts->set)
        alerts->follow_ns = earlier(alerts->follow_ns, hr_clock_ns() + SETTLE_NS);
    else
        psi_alert_read(event->data.ptr, event->events);
    return true;
}

static void *run(void *context)
{
    struct psi_alerts *alerts = context;
    struct epoll_event events[EVENTS];

    arm_list(alerts->of_system, count_rules(alerts, true));
    for (;;) {
        tick(alerts);
        int count = epoll_wait(alerts->desk.epoll, events, EVENTS, patience(alerts));
        for (int i = 0; i < count; i++)
            if (!take_event(alerts, &events[i]))
                return NULL;
    }
}

/* --- Beginning and end ---------------------------------------------------- */

static void warn_of_nothing(const struct psi_alerts *alerts)
{
    if (count_rules(alerts, false) > 0 && selection_is_empty(alerts->selection))
        WARNING(PLUGIN
                ": there are triggers with Scope \"cgroups\", but there is no Cgroup that they "
                "could watch.");
}

static int open_desk(struct psi_alerts *alerts)
{
    struct psi_alert_desk *desk = &alerts->desk;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &alerts->thread};

    desk->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (desk->epoll < 0)
        return -errno;
    int status = thread_open(&alerts->thread);
    if (status < 0)
        return status;
    if (epoll_ctl(desk->epoll, EPOLL_CTL_ADD, alerts->thread.stop_fd, &event) < 0)
        return -errno;
    desk->root = desk->who.root = alerts->root;
    desk->counters = &alerts->counters;
    TAILQ_INIT(&desk->due);
    psi_outbox_init(&desk->outbox, alerts->limit);
    return 0;
}

static int open_watches(struct psi_alerts *alerts)
{
    alerts->watches = calloc(alerts->rule_count, sizeof(*alerts->watches));
    alerts->of_system = calloc(count_rules(alerts, true) + 1, sizeof(*alerts->of_system));
    if (alerts->watches == NULL || alerts->of_system == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < alerts->rule_count; i++)
        psi_watch_init(&alerts->watches[i], &alerts->rules[i], &alerts->desk);
    init_list(alerts, alerts->of_system, "system", NULL);
    if (count_rules(alerts, false) == 0)
        return 0;
    return selection_open(alerts->selection, alerts->root, follow_group, alerts, &alerts->set);
}

void psi_alerts_start(struct psi_alerts *alerts, const struct hr_root *root,
                      struct selection *selection)
{
    if (psi_alerts_is_empty(alerts))
        return;
    alerts->root = root;
    alerts->selection = selection;
    warn_of_nothing(alerts);
    int status = open_desk(alerts);
    if (status == 0)
        status = open_watches(alerts);
    if (status == 0)
        status = thread_start(&alerts->thread, run, alerts, "psi alerts");
    if (status != 0)
        ERROR(PLUGIN ": there are no alerts, as their thread can't be started: %s.",
              STRERROR(-status));
}

void psi_alerts_publish(struct psi_alerts *alerts, cdtime_t time)
{
    psi_counters_publish(&alerts->counters, time);
}

static void close_desk(struct psi_alerts *alerts)
{
    if (alerts->watches != NULL && alerts->of_system != NULL)
        disarm_list(alerts->of_system, count_rules(alerts, true), "collectd stops");
    hr_cgroup_set_close(alerts->set);
    psi_outbox_end(&alerts->desk.outbox);
    psi_who_end(&alerts->desk.who);
    free(alerts->of_system);
    free(alerts->watches);
}

void psi_alerts_free(struct psi_alerts *alerts)
{
    if (alerts == NULL)
        return;
    psi_outbox_close(&alerts->desk.outbox);
    thread_stop(&alerts->thread);
    if (alerts->root != NULL)
        close_desk(alerts);
    if (alerts->desk.epoll >= 0)
        close(alerts->desk.epoll);
    psi_counters_end(&alerts->counters);
    free(alerts->rules);
    free(alerts);
}
