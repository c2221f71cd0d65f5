/* SPDX-License-Identifier: MIT */
#include "common/timers.h"

#include <stdbool.h>
#include <stdlib.h>

#include "headroom/array.h"

int timers_reserve(struct timers *timers, size_t count)
{
    return HR_ARRAY_RESERVE(timers->heap, timers->capacity, count + 1); /* heap[0] isn't used */
}

void timers_free(struct timers *timers)
{
    free(timers->heap);
    *timers = (struct timers){0};
}

static void place_entry(struct timers *timers, struct timer_entry entry, size_t position)
{
    timers->heap[position] = entry;
    entry.timer->position = position;
}

static bool is_before(const struct timer_entry *a, const struct timer_entry *b)
{
    return a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->timer < b->timer);
}

/* Moves an entry towards the top, past those that are due later. */
static size_t move_up(struct timers *timers, struct timer_entry entry, size_t position)
{
    while (position > 1 && is_before(&entry, &timers->heap[position / 2])) {
        place_entry(timers, timers->heap[position / 2], position);
        position /= 2;
    }
    return position;
}

static size_t move_down(struct timers *timers, struct timer_entry entry, size_t position)
{
    size_t child;

    while ((child = 2 * position) <= timers->count) {
        if (child < timers->count && is_before(&timers->heap[child + 1], &timers->heap[child]))
            child++;
        if (!is_before(&timers->heap[child], &entry))
            break;
        place_entry(timers, timers->heap[child], position);
        position = child;
    }
    return position;
}

/* Places an entry where a position is free, in its order. */
static void insert_entry(struct timers *timers, struct timer_entry entry, size_t position)
{
    position = move_up(timers, entry, position);
    place_entry(timers, entry, move_down(timers, entry, position));
}

static void unset_timer(struct timers *timers, struct timer *timer)
{
    const struct timer_entry last = timers->heap[timers->count--];
    const size_t position = timer->position;

    timer->position = 0;
    if (last.timer != timer)
        insert_entry(timers, last, position);
}

void timer_set(struct timers *timers, struct timer *timer, uint64_t due_ns)
{
    if (due_ns == TIMER_NEVER) {
        if (timer->position > 0)
            unset_timer(timers, timer);
        return;
    }
    timer->due_ns = due_ns;
    const size_t position = timer->position > 0 ? timer->position : ++timers->count;
    insert_entry(timers, (struct timer_entry){due_ns, timer}, position);
}

struct timer *timers_first(const struct timers *timers)
{
    return timers->count > 0 ? timers->heap[1].timer : NULL;
}
