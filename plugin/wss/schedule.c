/* SPDX-License-Identifier: MIT */
#include "wss/schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "headroom/array.h"

/* Places in the heap count from 1: an entry's children are at twice its place, and the next. */

static struct wss_due *entry_at(const struct wss_schedule *schedule, size_t place)
{
    return schedule->heap[place - 1];
}

static void place_entry(struct wss_schedule *schedule, size_t place, struct wss_due *due)
{
    schedule->heap[place - 1] = due;
    due->place = place;
}

static void move_up(struct wss_schedule *schedule, struct wss_due *due)
{
    size_t place = due->place;

    for (; place > 1 && due->at_ns < entry_at(schedule, place / 2)->at_ns; place /= 2)
        place_entry(schedule, place, entry_at(schedule, place / 2));
    place_entry(schedule, place, due);
}

static void move_down(struct wss_schedule *schedule, struct wss_due *due)
{
    size_t place = due->place;

    for (;;) {
        size_t child = 2 * place;
        if (child > schedule->count)
            break;
        if (child < schedule->count &&
            entry_at(schedule, child + 1)->at_ns < entry_at(schedule, child)->at_ns)
            child++;
        if (due->at_ns <= entry_at(schedule, child)->at_ns)
            break;
        place_entry(schedule, place, entry_at(schedule, child));
        place = child;
    }
    place_entry(schedule, place, due);
}

int wss_schedule_put(struct wss_schedule *schedule, struct wss_due *due, uint64_t at_ns)
{
    if (due->place == 0) {
        if (HR_ARRAY_RESERVE(schedule->heap, schedule->capacity, schedule->count + 1) < 0)
            return -ENOMEM;
        place_entry(schedule, ++schedule->count, due);
    }
    due->at_ns = at_ns;
    move_up(schedule, due);
    move_down(schedule, due);
    return 0;
}

void wss_schedule_remove(struct wss_schedule *schedule, struct wss_due *due)
{
    if (due->place == 0)
        return;
    struct wss_due *last = entry_at(schedule, schedule->count--);
    if (last != due) {
        place_entry(schedule, due->place, last);
        move_up(schedule, last);
        move_down(schedule, last);
    }
    due->place = 0;
}

struct wss_due *wss_schedule_first(const struct wss_schedule *schedule)
{
    return schedule->count > 0 ? schedule->heap[0] : NULL;
}

/* Below an entry that isn't due, none is. */
static void visit_due(const struct wss_schedule *schedule, size_t place, uint64_t now_ns,
                      void (*visit)(struct wss_due *due))
{
    if (place > schedule->count || entry_at(schedule, place)->at_ns > now_ns)
        return;
    visit(entry_at(schedule, place));
    visit_due(schedule, 2 * place, now_ns, visit);
    visit_due(schedule, 2 * place + 1, now_ns, visit);
}

void wss_schedule_each_due(const struct wss_schedule *schedule, uint64_t now_ns,
                           void (*visit)(struct wss_due *due))
{
    visit_due(schedule, 1, now_ns, visit);
}

void wss_schedule_free(struct wss_schedule *schedule)
{
    free(schedule->heap);
    *schedule = (struct wss_schedule){0};
}
