/* SPDX-License-Identifier: MIT */
/*
 * Source of the rules of what says more: src/handlers/headroom-mail.1, "Alarms that others cover".
 */
#include "top/alert_order.h"

#include <math.h>
#include <string.h>

#include "top/alarms.h"
#include "top/trigger_text.h"

/* --- The order ---------------------------------------------------------------- */

enum { RANKS = 4 };

bool alert_is_first(const struct alert *alert)
{
    return alert_lasts(alert) && !alert->takes && !alert->is_wider;
}

static int rank_of(const struct alert *alert)
{
    if (!alert_lasts(alert))
        return 3;
    if (!alert_is_first(alert))
        return 2;
    return alert->severity == ALERT_FAILURE ? 0 : 1;
}

size_t alert_order(const struct alert_list *list, const struct alert *picked[], size_t most)
{
    size_t count = 0;

    for (int rank = 0; rank < RANKS; rank++)
        for (size_t i = list->count; i > 0 && count < most; i--)
            if (rank_of(&list->entries[i - 1]) == rank)
                picked[count++] = &list->entries[i - 1];
    return count;
}

/* --- Who takes the CPU -------------------------------------------------------- */

static bool is_of_group(const struct alert *alert)
{
    return alert_lasts(alert) && strcmp(alert->instance, SYSTEM_GROUP) != 0;
}

static bool is_by_cpu(const struct alert *alert)
{
    return alarm_waits_for_cpu(alert) || alarm_lacks_room_by_cpu(alert);
}

/* Little room is no trouble yet. */
static bool suffers(const struct alert *alert)
{
    return is_of_group(alert) && (alarm_waits_for_cpu(alert) || alarm_has_no_room_by_cpu(alert));
}

/* @return the group that takes most on a host; NULL: none does. */
static const char *find_taker(const struct table *table, const char *host)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].takes_most && strcmp(table->rows[i].host, host) == 0)
            return table->rows[i].group;
    return NULL;
}

/* Whether the alarm of another group that suffers lasts, as severe as this one. */
static bool has_victim(const struct alert_list *list, const struct alert *alert)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct alert *other = &list->entries[i];
        if (strcmp(other->host, alert->host) == 0 && other->severity <= alert->severity &&
            strcmp(other->instance, alert->instance) != 0 && suffers(other))
            return true;
    }
    return false;
}

/* Who takes a CPU waits for it, too, and has no room by it. */
static bool is_of_taker(const struct alert_list *list, const struct alert *alert,
                        const struct table *table)
{
    if (!is_of_group(alert) || !is_by_cpu(alert))
        return false;
    const char *taker = find_taker(table, alert->host);
    const bool takes = taker != NULL ? strcmp(taker, alert->instance) == 0
                                     : alert->takes || alarm_is_of_taker(alert);
    return takes && has_victim(list, alert);
}

/* --- The machine --------------------------------------------------------------- */

/* By its limit, or that of a group above, a group waits beside whatever the machine does. */
static bool is_limited(const struct alert *group)
{
    return strstr(group->message, " (its own limit, ") != NULL ||
           strstr(group->message, " (the limit of ") != NULL;
}

/* An alarm by CPU time of a group says more than the machine's, but for that of a trigger. */
static bool is_within_by_cpu(const struct alert *machine, const struct alert *group)
{
    return strcmp(machine->host, group->host) == 0 && alarm_is_of_busy_machine(machine) &&
           suffers(group) && !is_limited(group);
}

/* @return how much of the time a group, or a machine, waits for a resource; NaN: not known. */
static double wait_of(const struct table *table, const struct alert *alert, size_t column)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].host, alert->host) == 0 &&
            strcmp(table->rows[i].group, alert->instance) == 0)
            return table->rows[i].values[column];
    return NAN;
}

/* Many groups may wait a little each. */
static bool waits_half_as_long(const struct table *table, const struct alert *group,
                               const struct alert *machine)
{
    const size_t column = column_find(alarm_wait_key(machine));

    return 2 * wait_of(table, group, column) >= wait_of(table, machine, column);
}

/* Whether both alarms of the machine name the same group: it may have no alarm yet, or none any
 * more. */
static bool name_the_same(const struct alert *io, const struct alert *memory)
{
    struct piece waits, lacks;

    return trigger_longest_find(io->message, &waits) &&
           trigger_longest_find(memory->message, &lacks) && waits.length == lacks.length &&
           memcmp(waits.start, lacks.start, waits.length) == 0;
}

/* A group that lacks memory reads again what was reclaimed: so its I/O has the same cause. */
static bool is_by_lack_of_memory(const struct alert *io, const struct alert *memory)
{
    return alarm_may_be_of_same_cause(io, memory) && (is_of_group(io) || name_the_same(io, memory));
}

static bool is_wider(const struct alert_list *list, const struct alert *alert,
                     const struct table *table)
{
    if (!alert_lasts(alert))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct alert *other = &list->entries[i];
        if (!alert_lasts(other) || other->severity > alert->severity)
            continue;
        if (is_by_lack_of_memory(alert, other) ||
            (!is_of_group(alert) &&
             (is_within_by_cpu(alert, other) ||
              (alarm_is_within(alert, other) &&
               (alert->is_wider || waits_half_as_long(table, other, alert))))))
            return true;
    }
    return false;
}

void alert_order_mark(struct alert_list *list, const struct table *table)
{
    for (size_t i = 0; i < list->count; i++) {
        struct alert *alert = &list->entries[i];
        alert->takes = is_of_taker(list, alert, table);
        alert->is_wider = is_wider(list, alert, table);
    }
}
