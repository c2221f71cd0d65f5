/* SPDX-License-Identifier: MIT */
#include "headroom/alert_message.h"

#include <math.h>

#include "common/message.h"
#include "headroom/clock.h"
#include "headroom/utf8.h"
#include "utils/common/common.h"

#define PLUGIN "headroom"

/* Longer paths are replaced by the instance, which is shortened. */
#define PATH_MAX_SHOWN 127

static const char *const names[SUBJECT_ROOM_COUNT] = {
    [SUBJECT_CPU] = "cpu",
    [SUBJECT_MEMORY] = "memory",
};

/* --- Quantities ------------------------------------------------------------------------ */

/* "42 s", "42 min", "3.5 h" */
static void print_time(double seconds, char *text, size_t size)
{
    if (isinf(seconds))
        snprintf(text, size, "never");
    else if (seconds < 120)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 7200)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

/* "256 MiB" */
static void print_bytes(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;

    for (; bytes >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
        bytes /= 1024;
    snprintf(text, size, "%.3g %s", bytes, units[unit]);
}

static void print_amount(int resource, double amount, char *text, size_t size)
{
    if (resource == SUBJECT_MEMORY)
        print_bytes(amount, text, size);
    else
        snprintf(text, size, amount < 9.95 ? "%.2g CPUs" : "%.0f CPUs", amount);
}

/* --- Common parts ------------------------------------------------------------------------ */

static struct message init_notification(notification_t *notice, const struct subject *subject,
                                        int resource, int severity)
{
    *notice = (notification_t){.severity = severity, .time = cdtime()};
    sstrncpy(notice->host, hostname_g, sizeof(notice->host));
    sstrncpy(notice->plugin, PLUGIN, sizeof(notice->plugin));
    sstrncpy(notice->plugin_instance, subject->instance, sizeof(notice->plugin_instance));
    sstrncpy(notice->type, "percent", sizeof(notice->type));
    snprintf(notice->type_instance, sizeof(notice->type_instance), "room-%s", names[resource]);
    message_add_text(notice, "Resource", names[resource]);
    if (subject->path != NULL)
        message_add_text(notice, "Cgroup", subject->path);
    return message_of(notice);
}

static const char *place_of(const struct subject *subject)
{
    if (subject->path == NULL)
        return "the system";
    return strlen(subject->path) > PATH_MAX_SHOWN ? subject->instance : subject->path;
}

/* The words are those of the causes of psi. */
static void append_bound(struct message *message, const struct subject *subject,
                         const struct hr_room *room)
{
    char path[PATH_MAX];

    if (room->bound == HR_ROOM_MACHINE) {
        message_append(message, " (the machine)");
        return;
    }
    takers_binding_path(subject, room, path, sizeof(path));
    if (room->level == 0)
        message_append(message, " (its own limit, %s)", hr_room_bound_name(room->bound));
    else
        message_append(message, " (the limit of %s, %s)", path, hr_room_bound_name(room->bound));
}

/* --- The beginning ------------------------------------------------------------------------ */

static void append_interval(struct message *message, const struct hr_outlook *outlook)
{
    char early[32], late[32];

    if (!outlook->has_interval)
        return;
    print_time(outlook->early_s, early, sizeof(early));
    print_time(outlook->late_s, late, sizeof(late));
    message_append(message, " (%s..%s)", early, late);
}

static bool is_by_trend(const struct alert_rule *rule, const struct subject *subject, int resource)
{
    return resource == SUBJECT_MEMORY && !subject->room[resource].is_in_trouble &&
           subject->outlook.is_trend &&
           subject->outlook.trouble_s < (double)rule->before_us / HR_US_PER_S;
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
    char text[32];

    message_append(message, "%s: ", names[resource]);
    if (is_by_trend(rule, subject, resource)) {
        print_time(subject->outlook.trouble_s, text, sizeof(text));
        message_append(message, "trouble in %s", text);
        append_interval(message, &subject->outlook);
        plugin_notification_meta_add_double(notice, "TimeToTrouble", subject->outlook.trouble_s);
    } else if (room->is_in_trouble) {
        message_append(message, "trouble now");
    } else {
        message_append(message, "%s%.0f %% of room left", room->is_at_least ? "at most " : "",
                       alert_most_room_pct(room));
    }
    message_append(message, " in %s", place_of(subject));
    if (room->status == 0)
        plugin_notification_meta_add_double(notice, "Room", room->room_pct);
}

static void append_need(struct message *message, const struct alert_rule *rule,
                        const struct subject *subject, int resource)
{
    const struct hr_room *room = &subject->room[resource];
    char used[32], attainable[32], growth[32];

    if (is_by_trend_of_others(rule, subject, resource)) {
        message_append(message, ": the memory of a group above it, or of the machine, fills up");
        return;
    }
    if (room->status != 0 || room->attainable <= 0)
        return;
    print_amount(resource, room->used, used, sizeof(used));
    print_amount(resource, room->attainable, attainable, sizeof(attainable));
    message_append(message, ": needs %s of %s", used, attainable);
    append_bound(message, subject, room);
    if (!is_by_trend(rule, subject, resource))
        return;
    print_bytes(60 * subject->outlook.slope_per_s, growth, sizeof(growth));
    message_append(message, ", grows %s/min", growth);
}

void alert_message_begin(notification_t *notice, const struct alert_rule *rule,
                         const struct subject *subject, int resource, const struct takers *others)
{
    struct message message = init_notification(notice, subject, resource, rule->severity);

    append_state(&message, notice, rule, subject, resource);
    append_need(&message, rule, subject, resource);
    if (others->count == 0)
        return;
    if (!is_by_trend_of_others(rule, subject, resource))
        takers_append(others, subject, resource, &message);
    takers_append_waiting(others, subject, resource, &message);
}

/* --- The end ---------------------------------------------------------------------------- */

void alert_message_end(notification_t *notice, const struct subject *subject, int resource,
                       const char *reason)
{
    const struct hr_room *room = &subject->room[resource];
    struct message message = init_notification(notice, subject, resource, NOTIF_OKAY);
    char lasted[32];

    print_time((double)(hr_clock_ns() - subject->alarm[resource].begun_ns) / HR_NS_PER_S, lasted,
               sizeof(lasted));
    message_append(&message, "%s: ", names[resource]);
    if (reason != NULL)
        message_append(&message, "no longer watched in %s: %s", place_of(subject), reason);
    else if (room->status == 0)
        message_append(&message, "%s%.0f %% of room again in %s, after %s",
                       room->is_at_least ? "at most " : "", alert_most_room_pct(room),
                       place_of(subject), lasted);
    else
        message_append(&message, "trouble isn't known any more in %s, after %s", place_of(subject),
                       lasted);
}
