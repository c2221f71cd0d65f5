/* SPDX-License-Identifier: MIT */
#include "headroom/alert.h"

#include "common/log.h"
#include "common/options.h"
#include "headroom/alarms.h"
#include "headroom/alert_message.h"
#include "headroom/clock.h"

#define PLUGIN "headroom"
#define BLOCK  PLUGIN ": <Alert>"

/* How long the groups of the previous run's alarms may take to appear, as of services that a reboot
 * starts; or ALERT_STREAK intervals, if these are longer. */
#define CLAIM_NS (30 * HR_NS_PER_S)

/* An alarm is over where room, in percent, and time to trouble are by so much beyond its limits. */
#define CLEARLY_PCT  5
#define CLEARLY_TIME 1.5

/* Parts of the machine's CPU time, of some minutes, that are used where that is what tasks lack: to
 * begin an alarm, and to go on with it. Low, as CPUs may be kept free on purpose, such as isolated
 * ones, and a load that has just begun counts for little. */
#define BUSY       0.6
#define STILL_BUSY 0.55

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
    struct alarms *alarms;
};

int alert_open(const struct alert_rule *rule, const char *state_file, const struct hr_root *root,
               struct alert **alert)
{
    const uint64_t streak_ns = ALERT_STREAK * CDTIME_T_TO_NS(plugin_get_interval());
    const struct alarms_options options = {.state_file = state_file,
                                           .root = root,
                                           .is_on = rule->is_on,
                                           .claim_ns = streak_ns > CLAIM_NS ? streak_ns : CLAIM_NS};
    struct alert *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->rule = rule;
    int status = alarms_open(&options, &opened->alarms);
    if (opened->alarms != NULL)
        *alert = opened;
    else
        free(opened);
    return status;
}

void alert_close(struct alert *alert)
{
    if (alert == NULL)
        return;
    alarms_close(alert->alarms);
    free(alert);
}

void alert_resume(struct alert *alert, struct subject *subject)
{
    alarms_resume(alert->alarms, subject);
}

void alert_save(struct alert *alert)
{
    alarms_save(alert->alarms);
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

/* Who hardly waits for a CPU may have more room than any number says. */
static bool has_little(const struct hr_room *room, int resource, double below_pct)
{
    return room->status == 0 && !(resource == SUBJECT_CPU && room->is_at_least) &&
           hr_room_most_pct(room) < below_pct;
}

/* Whoever waits while CPUs of the machine are idle is kept from these, by an affinity, a cpuset or
 * a limit: alarms of groups say so, and the machine lacks nothing. */
static bool has_idle_cpus(const struct subject *subject, int resource, bool is_open)
{
    const struct hr_room *room = &subject->room[resource];

    return resource == SUBJECT_CPU && subject->path == NULL && room->status == 0 &&
           room->used < (is_open ? STILL_BUSY : BUSY) * room->limit;
}

static bool is_alarming(const struct alert_rule *rule, const struct subject *subject, int resource,
                        bool is_open)
{
    const double before_s = (double)rule->before_us / HR_US_PER_S;

    if (rule->room_below_pct > 0 &&
        has_little(&subject->room[resource], resource,
                   rule->room_below_pct + (is_open ? CLEARLY_PCT : 0)) &&
        !has_idle_cpus(subject, resource, is_open))
        return true;
    return leads_to_trouble(subject, resource, is_open ? CLEARLY_TIME * before_s : before_s);
}

static void begin_alarm(struct alert *alert, struct subject *subject, int resource,
                        struct takers *others)
{
    notification_t notice;

    /* Its end would be dispatched after this beginning. */
    if (alarms_withdraw_end(alert->alarms, subject, resource) || !alarms_can_begin(alert->alarms))
        return;
    alert_message_begin(&notice, alert->rule, subject, resource, others);
    alarms_begin(alert->alarms, subject, resource, &notice);
}

static void end_alarm(struct alert *alert, struct subject *subject, int resource,
                      const char *reason)
{
    notification_t notice;

    alert_message_end(&notice, subject, resource, reason);
    alarms_end(alert->alarms, subject, resource, &notice);
}

/* After a start, of an alarm of the previous run. */
static bool is_not_known_yet(const struct alert *alert, const struct subject *subject, int resource)
{
    return subject->room[resource].status != 0 && subject->alarm[resource].begun_ns == 0 &&
           alarms_is_resuming(alert->alarms);
}

static bool may_be_unreported(const struct alarm *alarm)
{
    return alarm->is_open && alarm->sent == ALARM_INHERITED;
}

static void evaluate_resource(struct alert *alert, struct subject *subject, int resource,
                              struct takers *others)
{
    struct alarm *alarm = &subject->alarm[resource];
    const bool is_alarm = is_alarming(alert->rule, subject, resource, alarm->is_open);

    if (is_alarm && may_be_unreported(alarm))
        begin_alarm(alert, subject, resource, others);
    if (is_alarm == alarm->is_open ||
        (alarm->is_open && is_not_known_yet(alert, subject, resource))) {
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
    for (int i = 0; i < SUBJECT_ROOM_COUNT && alert->rule->is_on; i++)
        evaluate_resource(alert, subject, i, others);
}

void alert_end(struct alert *alert, struct subject *subject, const char *reason)
{
    for (int i = 0; i < SUBJECT_ROOM_COUNT; i++) {
        struct alarm *alarm = &subject->alarm[i];
        alarm->streak = 0;
        if (alarm->is_open)
            end_alarm(alert, subject, i, reason);
        if (alarm->is_open)
            alarms_forget(alert->alarms, alarm);
    }
}
