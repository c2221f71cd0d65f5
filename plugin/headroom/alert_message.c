/* SPDX-License-Identifier: MIT */
#include "headroom/alert_message.h"

#include "common/message.h"
#include "headroom/clock.h"
#include "headroom/cpu_set.h"
#include "headroom/quantity.h"
#include "headroom/task_cpus.h"
#include "headroom/utf8.h"

#define PLUGIN "headroom"

static const char *const names[SUBJECT_ROOM_COUNT] = {
    [SUBJECT_CPU] = "cpu",
    [SUBJECT_MEMORY] = "memory",
    [SUBJECT_IO] = "io",
};

const char *alert_resource_name(int resource)
{
    return names[resource];
}

/* What io.max may limit. */
static const char *const io_kinds[HR_STALL_IO_COUNT] = {
    [HR_STALL_READ_BYTES] = " of reads",
    [HR_STALL_WRITTEN_BYTES] = " of writes",
    [HR_STALL_READS] = " reads",
    [HR_STALL_WRITES] = " writes",
};

static struct hr_quantity io_amount(enum hr_stall_io kind, double amount)
{
    struct hr_quantity io;

    if (kind == HR_STALL_READ_BYTES || kind == HR_STALL_WRITTEN_BYTES)
        snprintf(io.text, sizeof(io.text), "%.16s/s", hr_quantity_bytes(amount).text);
    else
        snprintf(io.text, sizeof(io.text), "%.0f/s", amount);
    return io;
}

static struct hr_quantity amount_of(const struct subject *subject, int resource, double amount)
{
    if (resource == SUBJECT_MEMORY)
        return hr_quantity_bytes(amount);
    if (resource == SUBJECT_IO)
        return io_amount(subject->io_kind, amount);
    return hr_quantity_cpus(amount);
}

/* --- Common parts ------------------------------------------------------------------------ */

static struct message init_notification(notification_t *notice, const struct subject *subject,
                                        int resource, int severity)
{
    char room[32];

    snprintf(room, sizeof(room), "room-%s", names[resource]);
    const struct message message = message_begin(notice, severity,
                                                 &(struct message_series){
                                                     .plugin = PLUGIN,
                                                     .instance = subject->instance,
                                                     .type = "percent",
                                                     .type_instance = room,
                                                 });
    message_add_text(notice, "Resource", names[resource]);
    if (subject->path != NULL)
        message_add_text(notice, "Cgroup", subject->path);
    return message;
}

static const char *place_of(const struct subject *subject)
{
    return subject->path != NULL ? message_name_group(subject->instance, subject->path)
                                 : "the system";
}

/* Of CPUs those that the tasks may run on, as the report has it. */
static void append_machine(struct message *message, const struct subject *subject, int resource,
                           struct takers *others)
{
    struct hr_cpu_set cpus;

    if (resource != SUBJECT_CPU || subject->path == NULL) {
        message_append(message, " (the machine)");
        return;
    }
    const size_t count = task_cpus_find(others, subject, &cpus);
    if (count >= others->cpus && count > 0)
        message_append(message, " (the machine)");
    else if (count == 1)
        message_append(message, " (CPU %u)", hr_cpu_set_next(&cpus, 0));
    else if (count > 1)
        message_append(message, " (%zu of %zu CPUs)", count, others->cpus);
}

/* The words are those of the causes of psi. */
static void append_bound(struct message *message, const struct subject *subject, int resource,
                         struct takers *others)
{
    const struct hr_room *room = &subject->room[resource];
    char path[PATH_MAX];

    if (room->bound == HR_ROOM_MACHINE) {
        append_machine(message, subject, resource, others);
        return;
    }
    takers_binding_path(subject, room, path, sizeof(path));
    if (room->level == 0)
        message_append(message, " (its own limit, %s)",
                       hr_room_bound_name(room->bound, room->version));
    else
        message_append(message, " (the limit of %s, %s)", path,
                       hr_room_bound_name(room->bound, room->version));
}

/* --- The beginning ------------------------------------------------------------------------ */

static void append_interval(struct message *message, const struct hr_outlook *outlook)
{
    if (outlook->has_interval)
        message_append(message, " (%s..%s)", hr_quantity_seconds(outlook->early_s).text,
                       hr_quantity_seconds(outlook->late_s).text);
}

static bool is_by_trend(const struct alert_rule *rule, const struct subject *subject, int resource)
{
    return resource == SUBJECT_MEMORY && !subject->room[resource].is_in_trouble &&
           subject->outlook.is_trend &&
           subject->outlook.trouble_s < (double)rule->before_us / HR_US_PER_S;
}

/* After a start it isn't known for how long what goes on was so before. */
static void add_lasting(notification_t *notice, const struct alert_rule *rule,
                        const struct subject *subject, int resource)
{
    const struct alarm *alarm = &subject->alarm[resource];
    const unsigned streak = alarm->is_open ? 0 : alarm->streak;

    if (streak > 1 && !is_by_trend(rule, subject, resource))
        plugin_notification_meta_add_double(notice, "Lasting",
                                            streak * CDTIME_T_TO_DOUBLE(plugin_get_interval()));
}

/* Then the group's own need, and who takes what binds it, are another matter. */
static bool is_by_trend_of_others(const struct alert_rule *rule, const struct subject *subject,
                                  int resource)
{
    return is_by_trend(rule, subject, resource) && !subject->is_trend_of_room;
}

static void append_state(struct message *message, notification_t *notice,
                         const struct alert_rule *rule, const struct subject *subject, int resource)
{
    const struct hr_room *room = &subject->room[resource];

    message_append(message, "%s: ", names[resource]);
    if (is_by_trend(rule, subject, resource)) {
        message_append(message, "trouble in %s",
                       hr_quantity_seconds(subject->outlook.trouble_s).text);
        append_interval(message, &subject->outlook);
        plugin_notification_meta_add_double(notice, "TimeToTrouble", subject->outlook.trouble_s);
    } else if (room->is_in_trouble) {
        message_append(message, "trouble now");
    } else {
        message_append(message, "%s%.0f %% of room left", room->is_at_least ? "at most " : "",
                       hr_room_most_pct(room));
    }
    message_append(message, " in %s", place_of(subject));
    if (room->status == 0)
        plugin_notification_meta_add_double(notice, "Room", room->room_pct);
}

static void append_need(struct message *message, const struct alert_rule *rule,
                        const struct subject *subject, int resource, struct takers *others)
{
    const struct hr_room *room = &subject->room[resource];

    if (is_by_trend_of_others(rule, subject, resource)) {
        message_append(message, ": the memory of a group above it, or of the machine, fills up");
        return;
    }
    if (room->status != 0)
        return;
    /* What it used and could have had are of some minutes, and needn't show why it waits. */
    if (resource == SUBJECT_CPU && room->is_in_trouble && subject->path != NULL) {
        if (subject->stall_pct[resource] >= 1)
            message_append(message, ": waits %.0f %% of the time", subject->stall_pct[resource]);
        append_bound(message, subject, resource, others);
        return;
    }
    if (room->attainable <= 0 && resource != SUBJECT_IO)
        return;
    message_append(message, ": needs %s of %s%s", amount_of(subject, resource, room->used).text,
                   amount_of(subject, resource, room->attainable).text,
                   resource == SUBJECT_IO ? io_kinds[subject->io_kind] : "");
    append_bound(message, subject, resource, others);
    if (is_by_trend(rule, subject, resource))
        message_append(message, ", grows %s/min",
                       hr_quantity_bytes(60 * subject->outlook.slope_per_s).text);
}

void alert_message_begin(notification_t *notice, const struct alert_rule *rule,
                         const struct subject *subject, int resource, struct takers *others)
{
    struct message message = init_notification(notice, subject, resource, rule->severity);

    append_state(&message, notice, rule, subject, resource);
    add_lasting(notice, rule, subject, resource);
    append_need(&message, rule, subject, resource, others);
    if (others->count == 0 || others->groups == NULL)
        return;
    if (!is_by_trend_of_others(rule, subject, resource))
        takers_append(others, subject, resource, &message);
    takers_append_waiting(others, subject, resource, &message);
}

/* --- The end ---------------------------------------------------------------------------- */

static void append_duration(struct message *message, const struct alarm *alarm)
{
    if (alarm->begun_ns == 0)
        return;
    message_append(
        message, ", after %s",
        hr_quantity_seconds((double)(hr_clock_ns() - alarm->begun_ns) / HR_NS_PER_S).text);
}

void alert_message_end(notification_t *notice, const struct subject *subject, int resource,
                       const char *reason)
{
    const struct hr_room *room = &subject->room[resource];
    struct message message = init_notification(notice, subject, resource, NOTIF_OKAY);

    message_append(&message, "%s: ", names[resource]);
    if (reason != NULL) {
        message_append(&message, "no longer watched in %s: %s", place_of(subject), reason);
        message_add_text(notice, "NoLongerWatched", reason);
    } else if (room->status == 0) {
        message_append(&message, "%s%.0f %% of room again in %s",
                       room->is_at_least ? "at most " : "", hr_room_most_pct(room),
                       place_of(subject));
        append_duration(&message, &subject->alarm[resource]);
    } else {
        message_append(&message, "it can no longer be determined whether %s is in trouble",
                       place_of(subject));
        append_duration(&message, &subject->alarm[resource]);
    }
}
