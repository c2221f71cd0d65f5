/* SPDX-License-Identifier: MIT */
/*
 * Source of the rules of who takes: src/handlers/headroom-mail.1, "Who takes a CPU waits for it,
 * too".
 */
#include "top/alert_order.h"

#include <string.h>

#include "top/alarms.h"

/* --- The order ---------------------------------------------------------------- */

enum { RANKS = 4 };

bool alert_is_first(const struct alert *alert)
{
    return alert_lasts(alert) && !alert->takes;
}

static int rank_of(const struct alert *alert)
{
    if (!alert_lasts(alert))
        return 3;
    if (alert->takes)
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

static bool is_of_waiting_group(const struct alert *alert)
{
    return is_of_group(alert) && alarm_waits_for_cpu(alert);
}

/* Who takes a CPU waits for it, too, and has no room by it. */
static bool may_be_of_taker(const struct alert *alert)
{
    return is_of_group(alert) && (alarm_waits_for_cpu(alert) || alarm_lacks_room_by_cpu(alert));
}

/* @return the group that takes most on a host; NULL: none does. */
static const char *find_taker(const struct table *table, const char *host)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].takes_most && strcmp(table->rows[i].host, host) == 0)
            return table->rows[i].group;
    return NULL;
}

/* Whether the alarm of a group that doesn't take lasts, as severe as this one. */
static bool has_victim(const struct alert_list *list, const struct alert *alert)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct alert *other = &list->entries[i];
        if (strcmp(other->host, alert->host) == 0 && other->severity <= alert->severity &&
            strcmp(other->instance, alert->instance) != 0 && is_of_waiting_group(other))
            return true;
    }
    return false;
}

void alert_order_mark_takers(struct alert_list *list, const struct table *table)
{
    for (size_t i = 0; i < list->count; i++) {
        struct alert *alert = &list->entries[i];
        if (!may_be_of_taker(alert)) {
            alert->takes = false;
            continue;
        }
        const char *taker = find_taker(table, alert->host);
        const bool takes = taker != NULL ? strcmp(taker, alert->instance) == 0
                                         : alert->takes || alarm_is_of_taker(alert);
        alert->takes = takes && has_victim(list, alert);
    }
}
