/* SPDX-License-Identifier: MIT */
#include "headroom/alert.h"

#include "common/dispatcher.h"
#include "common/log.h"
#include "common/options.h"
#include "headroom/alert_message.h"
#include "headroom/clock.h"
#include "headroom/hash.h"

#define PLUGIN "headroom"
#define BLOCK  PLUGIN ": <Alert>"

/* Notifications per second, as those of psi by default. */
#define PER_SECOND 20

/* An alarm is over where room, in percent, and time to trouble are by so much beyond its limits. */
#define CLEARLY_PCT  5
#define CLEARLY_TIME 1.5

/* In bytes, of some ten minutes: what is less isn't growth. */
#define LEAST_GROWTH 1048576

const struct alert_rule alert_rule_default = {
    .before_us = 3600 * HR_US_PER_S,
    .room_below_pct = 10,
    .severity = NOTIF_WARNING,
    .top_takers = 3,
};

/* --- Options -------------------------------------------------------------------------- */

static int read_option(const oconfig_item_t *item, struct alert_rule *rule)
{
    if (strcasecmp(item->key, "Before") == 0)
        return option_seconds(BLOCK, item, &rule->before_us);
    if (strcasecmp(item->key, "RoomBelow") == 0)
        return option_number(BLOCK, item, &rule->room_below_pct);
    if (strcasecmp(item->key, "Severity") == 0)
        return option_severity(BLOCK, item, &rule->severity);
    if (strcasecmp(item->key, "TopTakers") == 0)
        return option_count(BLOCK, item, &rule->top_takers);
    option_warn_unknown(BLOCK, item);
    return 0;
}

int alert_option(const oconfig_item_t *block, struct alert_rule *rule)
{
    if (option_check(PLUGIN, block) < 0)
        return -1;
    if (rule->is_on) {
        ERROR(PLUGIN ": there is more than one block <Alert>; remove the others.");
        return -1;
    }
    *rule = alert_rule_default;
    rule->is_on = true;
    for (int i = 0; i < block->children_num; i++)
        if (read_option(&block->children[i], rule) < 0)
            return -1;
    return 0;
}

/* --- Alarms ----------------------------------------------------------------------------- */

struct alert {
    const struct alert_rule *rule;
    struct dispatcher *dispatcher;
};

int alert_open(const struct alert_rule *rule, struct alert **alert)
{
    struct alert *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    int status = dispatcher_open(PLUGIN, PER_SECOND, NULL, &opened->dispatcher);
    if (status < 0) {
        free(opened);
        return status;
    }
    opened->rule = rule;
    *alert = opened;
    return 0;
}

/* A handler that hangs keeps the dispatcher. */
void alert_close(struct alert *alert)
{
    if (alert == NULL)
        return;
    dispatcher_close(alert->dispatcher);
    free(alert);
}

/* The same for a group that is made again: its alarms come one after the other. */
static uint64_t alarm_id(const struct subject *subject, int resource)
{
    return (uint64_t)hr_hash(subject->instance) << 32 | (uint32_t)resource;
}

/* What a group that doesn't grow has of the trend of a group above is the others'. */
static bool takes_part(const struct subject *subject)
{
    return subject->is_own_trend || subject->memory_level - subject->memory_before >= LEAST_GROWTH;
}

static bool leads_to_trouble(const struct subject *subject, int resource, double before_s)
{
    return resource == SUBJECT_MEMORY && subject->outlook.is_trend &&
           subject->outlook.trouble_s < before_s &&
           (subject->alarm[resource].is_open || takes_part(subject));
}

double alert_most_room_pct(const struct hr_room *room)
{
    if (room->is_in_trouble || room->attainable <= 0)
        return 0;
    return room->needed < room->attainable ? 100 * (1 - room->needed / room->attainable) : 0;
}

/* Who hardly waits for a CPU may have more room than any number says. */
static bool has_little(const struct hr_room *room, int resource, double below_pct)
{
    return room->status == 0 && !(resource == SUBJECT_CPU && room->is_at_least) &&
           alert_most_room_pct(room) < below_pct;
}

static bool is_alarming(const struct alert_rule *rule, const struct subject *subject, int resource,
                        bool is_open)
{
    const double before_s = (double)rule->before_us / HR_US_PER_S;

    if (rule->room_below_pct > 0 && has_little(&subject->room[resource], resource,
                                               rule->room_below_pct + (is_open ? CLEARLY_PCT : 0)))
        return true;
    return leads_to_trouble(subject, resource, is_open ? CLEARLY_TIME * before_s : before_s);
}

static void begin_alarm(struct alert *alert, struct subject *subject, int resource,
                        struct takers *others)
{
    struct alarm *alarm = &subject->alarm[resource];
    const uint64_t id = alarm_id(subject, resource);
    notification_t notice;

    /* Its end would be dispatched after this beginning. */
    if (dispatcher_withdraw_end(alert->dispatcher, id)) {
        alarm->is_open = true;
        alarm->streak = 0;
        if (alarm->begun_ns == 0)
            alarm->begun_ns = hr_clock_ns();
        return;
    }
    if (!dispatcher_can_queue(alert->dispatcher))
        return;
    alert_message_begin(&notice, alert->rule, subject, resource, others);
    if (dispatcher_queue_beginning(alert->dispatcher, id, 0, &notice))
        *alarm = (struct alarm){.is_open = true, .begun_ns = hr_clock_ns()};
}

static void end_alarm(struct alert *alert, struct subject *subject, int resource,
                      const char *reason)
{
    struct alarm *alarm = &subject->alarm[resource];
    notification_t notice;

    alert_message_end(&notice, subject, resource, reason);
    if (!dispatcher_queue_end(alert->dispatcher, alarm_id(subject, resource), &notice))
        return;
    alarm->is_open = false;
    alarm->streak = 0;
}

static void evaluate_resource(struct alert *alert, struct subject *subject, int resource,
                              struct takers *others)
{
    struct alarm *alarm = &subject->alarm[resource];
    const bool is_alarm = is_alarming(alert->rule, subject, resource, alarm->is_open);

    if (is_alarm == alarm->is_open) {
        alarm->streak = 0;
        return;
    }
    alarm->streak++;
    const bool is_near =
        leads_to_trouble(subject, resource, (double)alert->rule->before_us / HR_US_PER_S);
    if (is_alarm && (is_near || alarm->streak >= ALERT_STREAK))
        begin_alarm(alert, subject, resource, others);
    else if (!is_alarm && alarm->streak >= ALERT_STREAK)
        end_alarm(alert, subject, resource, NULL);
}

void alert_evaluate(struct alert *alert, struct subject *subject, struct takers *others)
{
    for (int i = 0; i < SUBJECT_ROOM_COUNT; i++)
        evaluate_resource(alert, subject, i, others);
}

void alert_end(struct alert *alert, struct subject *subject, const char *reason)
{
    for (int i = 0; i < SUBJECT_ROOM_COUNT; i++) {
        subject->alarm[i].streak = 0;
        if (subject->alarm[i].is_open)
            end_alarm(alert, subject, i, reason);
    }
}
