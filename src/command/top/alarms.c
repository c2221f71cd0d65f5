/* SPDX-License-Identifier: MIT */
/*
 * Source: src/handlers/mail/due.sh, is_due(), is_still_silent(); mail/covering.sh, list_covering(),
 * end_others(), goes_on().
 */
#include "top/alarms.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "headroom/array.h"
#include "top/alert_text.h"

enum { SERIES_SIZE = 1024, ALARMS_MOST = 4096 };

/* An alarm that began a day ago may have ended unnoticed. An alert that says more about the same
 * cause comes within three of collectd's intervals. */
#define LASTS_S  86400
#define FOLLOW_S 30

enum resource { NO_RESOURCE, CPU, MEMORY, IO, IRQ, ANY };

/* What sent it: a trigger of psi; a threshold of another value than room, of room where none is
 * left, and where a little is; <Alert> of the headroom plugin, of trouble that is there, and to
 * come. */
enum kind { OTHER, TRIGGER, THRESHOLD, NO_ROOM, LITTLE_ROOM, TROUBLE, FORECAST };

struct alarm {
    char *series;
    char host[sizeof(((struct alert *)NULL)->host)];
    char group[sizeof(((struct alert *)NULL)->instance)];
    enum kind kind;
    enum resource resource;
    enum alert_severity severity;
    double time;     /* seconds, of whatever zone; NAN: not known */
    unsigned starts; /* of collectd, when it was last notified */
    bool by_threshold;
    bool is_of_taker; /* of an <Alert>: the group takes most itself */
    bool is_covered;
};

/* --- What an alarm is about ------------------------------------------------ */

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Whether an <Alert> of the headroom plugin has notified, as "memory: trouble in 42 min" of
 * "room-memory". */
static bool is_by_alert_block(const struct alert *alert)
{
    const char *which = alert->type_instance;

    if (strcmp(alert->plugin, "headroom") != 0 || !begins_with(which, "room-"))
        return false;
    const char *resource = which + strlen("room-");
    return begins_with(alert->message, resource) && alert->message[strlen(resource)] == ':';
}

/* As collectd writes an identifier. A threshold may be of the same series as an <Alert>. */
static void write_series(const struct alert *alert, char series[SERIES_SIZE])
{
    snprintf(series, SERIES_SIZE, "%s/%s%s%s/%s%s%s%s", alert->host, alert->plugin,
             alert->instance[0] != '\0' ? "-" : "", alert->instance, alert->type,
             alert->type_instance[0] != '\0' ? "-" : "", alert->type_instance,
             is_by_alert_block(alert) ? " <Alert>" : "");
}

/* "cpu-full", "memory some: stalled", "memory" */
static enum resource resource_of(const char *text)
{
    static const char *const names[] = {
        [CPU] = "cpu", [MEMORY] = "memory", [IO] = "io", [IRQ] = "irq"};

    for (int i = CPU; i <= IRQ; i++)
        if (begins_with(text, names[i]) && strchr("- ", text[strlen(names[i])]) != NULL)
            return (enum resource)i;
    return NO_RESOURCE;
}

/* Of a threshold of psi. What isn't pressure, such as "cpu-idle", says nothing about a wait. */
static enum resource resource_of_pressure(const struct alert *alert)
{
    const char *level = strrchr(alert->type_instance, '-');

    if (strcmp(alert->type, "percent") != 0 || level == NULL ||
        (strcmp(level, "-some") != 0 && strcmp(level, "-full") != 0))
        return NO_RESOURCE;
    return resource_of(alert->type_instance);
}

/* Whether an <Alert> names its own group, or "itself", first of those that take: "cpu: trouble now
 * in nc/batch: needs ...; taking: nc/batch 0.42 CPUs, nc/web 0.11 CPUs". */
static bool names_itself(const char *message)
{
    static const char in[] = " in ", taking[] = "; taking: ", itself[] = "itself ";
    const char *group = strstr(message, in), *taker = strstr(message, taking);

    if (group == NULL || taker == NULL || taker < group)
        return false;
    group += strlen(in);
    taker += strlen(taking);
    const size_t length = strcspn(group, ":; ");
    return begins_with(taker, itself) ||
           (strncmp(taker, group, length) == 0 && taker[length] == ' ');
}

static void find_cause_of_room(const struct alert *alert, struct alarm *alarm)
{
    const char *which = alert->type_instance, *message = alert->message;

    if (begins_with(which, "room-"))
        alarm->resource = resource_of(which + strlen("room-"));
    else if (strcmp(which, "room") == 0 || strcmp(which, "to_trouble") == 0)
        alarm->resource = ANY;
    else
        return; /* a kill, which has no end */
    if (alert_is_by_threshold(alert))
        alarm->kind = strstr(message, "\" is currently 0.000000.") != NULL ? NO_ROOM : LITTLE_ROOM;
    else
        alarm->kind = strstr(message, ": trouble now") != NULL ? TROUBLE : FORECAST;
    alarm->is_of_taker = !alert_is_by_threshold(alert) && names_itself(message);
}

static void find_cause(const struct alert *alert, struct alarm *alarm)
{
    const bool by_threshold = alert_is_by_threshold(alert);

    if (strcmp(alert->plugin, "headroom") == 0) {
        find_cause_of_room(alert, alarm);
    } else if (strcmp(alert->plugin, "psi") == 0) {
        alarm->kind = by_threshold ? THRESHOLD : TRIGGER;
        alarm->resource = by_threshold ? resource_of_pressure(alert) : resource_of(alert->message);
    }
}

static double time_of(const struct alert *alert)
{
    struct tm parts = {.tm_year = 0};

    if (strptime(alert->time, "%Y-%m-%d %H:%M:%S", &parts) == NULL)
        return NAN;
    return (double)timegm(&parts);
}

/* @return an alarm without its series. */
static struct alarm make_alarm(const struct alert *alert)
{
    struct alarm alarm = {.severity = alert->severity,
                          .time = time_of(alert),
                          .by_threshold = alert_is_by_threshold(alert)};

    snprintf(alarm.host, sizeof(alarm.host), "%s", alert->host);
    snprintf(alarm.group, sizeof(alarm.group), "%s", alert->instance);
    find_cause(alert, &alarm);
    return alarm;
}

/* --- Which says more -------------------------------------------------------- */

/* Whether it is about trouble now, not about trouble to come. */
static bool is_there(const struct alarm *alarm)
{
    return alarm->kind == TRIGGER || alarm->kind == THRESHOLD || alarm->kind == TROUBLE;
}

static bool is_of_room(const struct alarm *alarm)
{
    return alarm->kind == NO_ROOM || alarm->kind == LITTLE_ROOM;
}

/* Whether it is about the machine's CPUs, or its lack of room. */
static bool is_of_busy_machine(const struct alarm *alarm)
{
    return (alarm->kind == THRESHOLD || alarm->kind == NO_ROOM || alarm->kind == TROUBLE) &&
           (alarm->resource == CPU || alarm->resource == ANY) &&
           strcmp(alarm->group, "system") == 0;
}

static bool alarm_lasts(const struct alarm *alarm, double now)
{
    return !(now - alarm->time >= LASTS_S);
}

static bool is_same_group(const struct alarm *a, const struct alarm *b)
{
    return strcmp(a->host, b->host) == 0 && strcmp(a->group, b->group) == 0;
}

static bool is_same_wait(const struct alarm *a, const struct alarm *b)
{
    return is_same_group(a, b) && is_there(a) && a->resource == b->resource;
}

/* Whether another alarm says which resource the group lacks: some values of room don't. */
static bool says_why(const struct alarm *other, const struct alarm *room)
{
    if (!is_same_group(other, room) || other->resource == IRQ)
        return false;
    if (room->resource != ANY && other->resource != ANY && other->resource != room->resource)
        return false;
    if (other->kind == FORECAST)
        return true;
    return room->kind == NO_ROOM && (is_there(other) || other->kind == NO_ROOM) &&
           other->resource != NO_RESOURCE;
}

/* Of a CPU. */
static bool is_of_wait(const struct alarm *alarm)
{
    return alarm->resource == CPU && is_there(alarm) && !alarm->is_of_taker;
}

/* Whether another alarm says which group waits for a CPU: then some task in the machine waits, too,
 * and the groups that take the CPU have no room left. */
static bool says_who(const struct alarm *other, const struct alarm *alarm)
{
    if (strcmp(other->host, alarm->host) != 0 || !is_of_wait(other))
        return false;
    if (is_of_busy_machine(alarm))
        return true;
    return alarm->kind == NO_ROOM && (alarm->resource == CPU || alarm->resource == ANY) &&
           strcmp(other->group, "system") != 0;
}

static bool covers_alarm(const struct alarm *other, const struct alarm *alarm)
{
    if (other->is_covered || other->severity > alarm->severity ||
        !alarm_lasts(other, alarm->time) || alarm->resource == NO_RESOURCE ||
        alarm->kind == FORECAST)
        return false;
    return says_who(other, alarm) ||
           (is_of_room(alarm) ? says_why(other, alarm) : is_same_wait(other, alarm));
}

/* An alarm of another group that has no values may be over for long. */
static bool may_be_over(const struct alarms *alarms, const struct alarm *other,
                        const struct alarm *alarm)
{
    return other->by_threshold && !is_same_group(other, alarm) && alarms->known != NULL &&
           known_series_miss_one_of_kind(alarms->known, other->series);
}

/* --- The list ----------------------------------------------------------------- */

static struct alarm *find_alarm(const struct alarms *alarms, const char *series)
{
    for (size_t i = 0; i < alarms->count; i++)
        if (strcmp(alarms->list[i].series, series) == 0)
            return &alarms->list[i];
    return NULL;
}

static void remove_alarm(struct alarms *alarms, struct alarm *alarm)
{
    const size_t at = (size_t)(alarm - alarms->list);

    free(alarm->series);
    memmove(alarm, alarm + 1, (--alarms->count - at) * sizeof(*alarm));
}

static int append_alarm(struct alarms *alarms, const struct alarm *alarm)
{
    /* Those of groups that went away may have no end. */
    if (alarms->count == ALARMS_MOST)
        remove_alarm(alarms, &alarms->list[0]);
    if (HR_ARRAY_RESERVE(alarms->list, alarms->capacity, alarms->count + 1) != 0)
        return -ENOMEM;
    alarms->list[alarms->count++] = *alarm;
    return 0;
}

/* Drops alarms about whose cause the newest, which came a moment later, says more. */
static void cover_others(struct alarms *alarms,
                         void (*drop)(void *context, const struct alarm *alarm), void *context)
{
    const struct alarm *newest = &alarms->list[alarms->count - 1];

    for (size_t i = 0; i + 1 < alarms->count; i++) {
        struct alarm *other = &alarms->list[i];
        const bool says_less = is_of_room(other) || is_of_busy_machine(other);
        if (other->is_covered || !says_less || newest->time - other->time > FOLLOW_S ||
            !covers_alarm(newest, other))
            continue;
        other->is_covered = true;
        drop(context, other);
    }
}

/* Whether an alarm that was shown goes on, no worse: threshold notifies it again once collectd is
 * restarted; twice in one run it is of a series that was gone meanwhile. A trigger has news only.
 */
static bool is_known(const struct alarms *alarms, const struct alarm *before,
                     const struct alert *alert)
{
    if (before == NULL || before->is_covered || before->kind == TRIGGER)
        return false;
    return alert->severity > before->severity ||
           (alert->severity == before->severity && alert_is_by_threshold(alert) &&
            before->starts != alarms->starts);
}

/* Whether room that isn't shown, as another alarm said why there is none, is notified again, as
 * after a restart. */
static bool is_still_covered(const struct alarm *before, const struct alert *alert)
{
    return before != NULL && before->is_covered && is_of_room(before) &&
           alert->severity == ALERT_WARNING;
}

static int begin_alarm(struct alarms *alarms, const struct alert *alert, const char *series)
{
    struct alarm *before = find_alarm(alarms, series);
    struct alarm alarm = make_alarm(alert);
    const bool was_shown = before != NULL && !before->is_covered;

    if (is_still_covered(before, alert))
        return 0;
    if (is_known(alarms, before, alert)) {
        before->severity = alert->severity;
        before->starts = alarms->starts;
        find_cause(alert, before);
        return 0;
    }
    if (before != NULL)
        remove_alarm(alarms, before);
    alarm.starts = alarms->starts;
    for (size_t i = 0; i < alarms->count && !was_shown; i++)
        alarm.is_covered |= covers_alarm(&alarms->list[i], &alarm) &&
                            !may_be_over(alarms, &alarms->list[i], &alarm);
    alarm.series = strdup(series);
    if (alarm.series == NULL || append_alarm(alarms, &alarm) != 0) {
        free(alarm.series);
        return -ENOMEM;
    }
    return !alarm.is_covered;
}

/* Whether a trigger's group can't be watched any more, so that its other alarms have ended, too.
 * One that is no longer configured says nothing of the group. */
static bool ends_all(const struct alert *end)
{
    return strcmp(end->plugin, "psi") == 0 && !alert_is_by_threshold(end) &&
           strstr(end->message, ": no longer watched in ") != NULL &&
           strstr(end->message, " is no longer configured") == NULL;
}

/* Finds another alarm of the same wait, at or behind an index. */
static struct alarm *next_of_wait(const struct alarms *alarms, const struct alarm *of, size_t *at)
{
    for (; *at < alarms->count; ++*at)
        if (is_same_wait(&alarms->list[*at], of))
            return &alarms->list[*at];
    return NULL;
}

/* Their own ends aren't shown. */
static void end_others(struct alarms *alarms, const struct alarm *ended)
{
    struct alarm *other;

    for (size_t at = 0; (other = next_of_wait(alarms, ended, &at)) != NULL; at++)
        other->is_covered = true;
}

/* Whether another alarm of the same cause lasts, whose end will be shown instead. */
static bool goes_on(struct alarms *alarms, const struct alarm *ended, double now)
{
    struct alarm *other;
    bool is_on = false;

    for (size_t at = 0; (other = next_of_wait(alarms, ended, &at)) != NULL; at++) {
        if (!alarm_lasts(other, now))
            continue;
        other->is_covered = false;
        is_on = true;
    }
    return is_on;
}

static int end_alarm(struct alarms *alarms, const struct alert *alert, const char *series)
{
    struct alarm *alarm = find_alarm(alarms, series);

    if (alarm == NULL)
        return !alert_is_by_threshold(alert);
    const struct alarm ended = *alarm;
    remove_alarm(alarms, alarm);
    if (ended.is_covered)
        return 0;
    if (!is_there(&ended) || ended.resource == NO_RESOURCE ||
        (ended.kind == TROUBLE && strstr(alert->message, "no longer watched") != NULL))
        return 1;
    if (!ends_all(alert))
        return !goes_on(alarms, &ended, time_of(alert));
    end_others(alarms, &ended);
    return 1;
}

int alarms_take(struct alarms *alarms, const struct alert *alert,
                void (*drop)(void *context, const struct alarm *alarm), void *context)
{
    char series[SERIES_SIZE];

    write_series(alert, series);
    if (alert->severity == ALERT_OKAY)
        return end_alarm(alarms, alert, series);
    int status = begin_alarm(alarms, alert, series);
    if (status > 0)
        cover_others(alarms, drop, context);
    return status;
}

void alarms_restart(struct alarms *alarms)
{
    alarms->starts++;
}

bool alarm_is_begun_by(const struct alarm *alarm, const struct alert *alert)
{
    const double time = time_of(alert);
    char series[SERIES_SIZE];

    write_series(alert, series);
    return alert->severity != ALERT_OKAY && strcmp(alarm->series, series) == 0 &&
           (alarm->time == time || (isnan(alarm->time) && isnan(time)));
}

bool alarm_has_end(const struct alert *alert)
{
    const bool is_kill = strcmp(alert->plugin, "headroom") == 0 && !alert_is_by_threshold(alert) &&
                         make_alarm(alert).kind == OTHER;

    return alert->severity != ALERT_OKAY && !is_kill;
}

bool alarms_is_ended_by(const struct alarms *alarms, const struct alert *alert,
                        const struct alert *later)
{
    char series[SERIES_SIZE], later_series[SERIES_SIZE];

    if (strcmp(alert->instance, later->instance) != 0)
        return false; /* the most, at once */
    write_series(alert, series);
    write_series(later, later_series);
    if (strcmp(series, later_series) == 0)
        return true;
    const struct alarm alarm = make_alarm(alert);
    for (size_t i = 0; i < alarms->count; i++) {
        const struct alarm *other = &alarms->list[i];
        const bool is_its =
            strcmp(other->series, series) == 0 ||
            (alarm.resource != NO_RESOURCE && is_there(&alarm) && is_same_wait(other, &alarm));
        if (is_its && !other->is_covered)
            return false;
    }
    return true;
}

bool alarms_share_wait(const struct alert *a, const struct alert *b)
{
    if (strcmp(a->instance, b->instance) != 0)
        return false; /* the most, at once */
    const struct alarm first = make_alarm(a), second = make_alarm(b);
    return first.resource != NO_RESOURCE && is_there(&second) && is_same_wait(&first, &second);
}

bool alarm_waits_for_cpu(const struct alert *alert)
{
    const struct alarm alarm = make_alarm(alert);

    return is_of_wait(&alarm);
}

bool alarm_is_within(const struct alert *machine, const struct alert *group)
{
    const struct alarm wide = make_alarm(machine), narrow = make_alarm(group);

    if (strcmp(wide.group, "system") != 0 || strcmp(narrow.group, "system") == 0 ||
        strcmp(wide.host, narrow.host) != 0 || !is_there(&wide) || !is_there(&narrow))
        return false;
    return narrow.resource == MEMORY ? wide.resource == MEMORY || wide.resource == IO
                                     : narrow.resource == IO && wide.resource == IO;
}

bool alarm_may_be_of_same_cause(const struct alert *io, const struct alert *memory)
{
    const struct alarm wide = make_alarm(io), cause = make_alarm(memory);

    return strcmp(wide.group, cause.group) == 0 && strcmp(wide.host, cause.host) == 0 &&
           is_there(&wide) && is_there(&cause) && wide.resource == IO && cause.resource == MEMORY;
}

const char *alarm_wait_key(const struct alert *alert)
{
    switch (make_alarm(alert).resource) {
    case MEMORY:
        return "memory_some";
    case IO:
        return "io_some";
    default:
        return NULL;
    }
}

bool alarm_is_of_taker(const struct alert *alert)
{
    const struct alarm alarm = make_alarm(alert);

    return alarm.resource == CPU && alarm.is_of_taker;
}

bool alarm_lacks_room_by_cpu(const struct alert *alert)
{
    const struct alarm alarm = make_alarm(alert);

    return alarm.resource == CPU && alarm.kind >= NO_ROOM;
}

bool alarm_has_no_room_by_cpu(const struct alert *alert)
{
    const struct alarm alarm = make_alarm(alert);

    return alarm.resource == CPU && alarm.kind == NO_ROOM;
}

bool alarm_is_of_busy_machine(const struct alert *alert)
{
    const struct alarm alarm = make_alarm(alert);

    return is_of_busy_machine(&alarm);
}

/* Whether it is of a trigger, and from before collectd's last start. */
static bool is_of_earlier_trigger(const struct alarms *alarms, const char *series)
{
    const struct alarm *alarm = find_alarm(alarms, series);

    return alarm != NULL && alarm->kind == TRIGGER && alarm->starts != alarms->starts;
}

bool alarms_lack_values(const struct alarms *alarms, const struct alert *alert)
{
    char series[SERIES_SIZE];

    if (alarms->known == NULL)
        return false;
    write_series(alert, series);
    if (alert_is_by_threshold(alert))
        return known_series_miss_one_of_kind(alarms->known, series);
    return !alarms->known->lacks_groups && is_of_earlier_trigger(alarms, series) &&
           known_series_miss_one_of_plugin(alarms->known, series);
}

void alarms_forget(struct alarms *alarms, const struct alert *alert)
{
    char series[SERIES_SIZE];

    write_series(alert, series);
    struct alarm *alarm = find_alarm(alarms, series);
    if (alarm != NULL && alarm_is_begun_by(alarm, alert))
        remove_alarm(alarms, alarm);
}

bool alarm_is_old(const struct alert *alert, const struct alert *later)
{
    const struct alarm alarm = make_alarm(alert);

    return !alarm_lasts(&alarm, time_of(later));
}

void alarms_free(struct alarms *alarms)
{
    for (size_t i = 0; i < alarms->count; i++)
        free(alarms->list[i].series);
    free(alarms->list);
    *alarms = (struct alarms){.list = NULL};
}
