/* SPDX-License-Identifier: MIT */
#include "common/timers.h"

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

static void place(struct timers *timers, struct timer *timer, size_t position)
{
    timers->heap[position] = timer;
    timer->position = position;
}

/* Moves a timer towards the top, past those that are due later. */
static void move_up(struct timers *timers, struct timer *timer, size_t position)
{
    while (position > 1 && timers->heap[position / 2]->due_ns > timer->due_ns) {
        place(timers, timers->heap[position / 2], position);
        position /= 2;
    }
    place(timers, timer, position);
}

static void move_down(struct timers *timers, struct timer *timer, size_t position)
{
    size_t child;

    while ((child = 2 * position) <= timers->count) {
        if (child < timers->count && timers->heap[child + 1]->due_ns < timers->heap[child]->due_ns)
            child++;
        if (timers->heap[child]->due_ns >= timer->due_ns)
            break;
        place(timers, timers->heap[child], position);
        position = child;
    }
    place(timers, timer, position);
}

static void restore_order(struct timers *timers, struct timer *timer)
{
    move_up(timers, timer, timer->position);
    move_down(timers, timer, timer->position);
}

static void unset(struct timers *timers, struct timer *timer)
{
    struct timer *last = timers->heap[timers->count--];
    size_t position = timer->position;

    timer->position = 0;
    if (last == timer)
        return;
    place(timers, last, position);
    restore_order(timers, last);
}

void timer_set(struct timers *timers, struct timer *timer, uint64_t due_ns)
{
    if (due_ns == TIMER_NEVER) {
        if (timer->position > 0)
            unset(timers, timer);
        return;
    }
    timer->due_ns = due_ns;
    if (timer->position == 0)
        place(timers, timer, ++timers->count);
    restore_order(timers, timer);
}

struct timer *timers_first(const struct timers *timers)
{
    return timers->count > 0 ? timers->heap[1] : NULL;
}
