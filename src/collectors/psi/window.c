/* SPDX-License-Identifier: MIT */
#include "psi/window.h"

#include "headroom/clock.h"
#include "headroom/psi_trigger.h"

/* Reads per window of a total that moves: the kernel's UPDATES_PER_WINDOW. */
#define POLLS HR_PSI_TRIGGER_POLLS

/* A total moves if in a window it grows by this share of the limit. */
#define NOTABLE_SHARE 16

static uint64_t elapsed_us(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (to_ns - from_ns) / HR_NS_PER_US : 0;
}

static bool is_notable(const struct hr_psi_window *window, uint64_t growth_us)
{
    uint64_t notable_us = window->limit_us / NOTABLE_SHARE;

    return growth_us > 0 && growth_us >= notable_us;
}

/* Totals are rounded down to a microsecond, so that a difference may lack one. */
static bool reaches_limit(const struct hr_psi_window *window, uint64_t growth_us)
{
    return growth_us > 0 && growth_us + 1 >= window->limit_us;
}

/* --- The time of the next read -------------------------------------------- */

/* The start of the tenth of a window after the one in which a time is, plus some. All totals with
 * the same window are due at the same times, so that few wakeups serve many. */
static uint64_t tenths_after(const struct hr_psi_window *window, uint64_t time_ns, uint64_t tenths)
{
    uint64_t tenth_ns = window->window_us * HR_NS_PER_US / POLLS;

    return (time_ns / tenth_ns + tenths) * tenth_ns;
}

/* A total that was idle for long is read once a window, in the tenth that is its own. */
static uint64_t idle_due(const struct hr_psi_window *window, uint64_t now_ns)
{
    uint64_t tenth_ns = window->window_us * HR_NS_PER_US / POLLS;
    uint64_t ahead = (now_ns / tenth_ns + POLLS - window->phase) % POLLS;

    return tenths_after(window, now_ns, POLLS - ahead);
}

static void schedule_poll(struct hr_psi_window *window, uint64_t now_ns)
{
    uint64_t window_end_ns = window->event_ns + window->window_us * HR_NS_PER_US;

    if (window->has_event && now_ns < window_end_ns)
        window->due_ns = tenths_after(window, window_end_ns - 1, 1); /* no event may come before */
    else if (window->tenths < POLLS)
        window->due_ns = tenths_after(window, now_ns, window->tenths);
    else
        window->due_ns = idle_due(window, now_ns);
}

/* --- Growth --------------------------------------------------------------- */

/* As the kernel's, a window may be longer by the time between two reads. */
static uint64_t longest_us(const struct hr_psi_window *window)
{
    return window->window_us + window->window_us / POLLS;
}

/* Of the growth since a reading what lies within a window. What exceeds the window may all have
 * been stalled. */
static uint64_t growth_within(const struct hr_psi_window *window,
                              const struct hr_psi_reading *start, uint64_t begin_ns,
                              const struct hr_psi_reading *now)
{
    uint64_t spent_us = elapsed_us(begin_ns, now->time_ns);
    uint64_t excess_us = spent_us > longest_us(window) ? spent_us - longest_us(window) : 0;
    uint64_t growth_us = now->total_us - start->total_us;

    return growth_us > excess_us ? growth_us - excess_us : 0;
}

/* The weighted growth of the window before. */
static uint64_t carried_growth(const struct hr_psi_window *window, uint64_t now_ns)
{
    uint64_t spent_us = elapsed_us(window->begin_ns, now_ns);

    if (spent_us >= window->window_us)
        return 0;
    return window->carried_us * (window->window_us - spent_us) / window->window_us;
}

static struct hr_psi_growth growth_between(const struct hr_psi_reading *start,
                                           const struct hr_psi_reading *now)
{
    return (struct hr_psi_growth){now->total_us - start->total_us,
                                  elapsed_us(start->time_ns, now->time_ns)};
}

/* Looks for the limit in the growth since the window's start, with what is carried; or, as a late
 * read may discount much of it, in the growth since the last read. */
static bool find_growth(const struct hr_psi_window *window, const struct hr_psi_reading *now,
                        struct hr_psi_growth *growth)
{
    uint64_t own_us = growth_within(window, &window->start, window->begin_ns, now);
    uint64_t with_carried_us = own_us + carried_growth(window, now->time_ns);

    if (reaches_limit(window, own_us))
        *growth = growth_between(&window->start, now);
    else if (reaches_limit(window, growth_within(window, &window->last, window->last.time_ns, now)))
        *growth = growth_between(&window->last, now);
    else if (reaches_limit(window, with_carried_us))
        *growth = (struct hr_psi_growth){with_carried_us, window->window_us};
    else
        return false;
    return true;
}

/* --- Windows -------------------------------------------------------------- */

static void start_window(struct hr_psi_window *window, const struct hr_psi_reading *now,
                         uint64_t carried_us)
{
    window->start = *now;
    window->begin_ns = now->time_ns;
    window->carried_us = carried_us;
}

void hr_psi_window_restart(struct hr_psi_window *window, const struct hr_psi_reading *now)
{
    window->tenths = 1;
    window->has_event = true;
    window->event_ns = now->time_ns;
    window->last = *now;
    start_window(window, now, 0);
    schedule_poll(window, now->time_ns);
}

void hr_psi_window_start(struct hr_psi_window *window, uint64_t window_us, uint64_t limit_us,
                         uint64_t seed, const struct hr_psi_reading *now)
{
    *window = (struct hr_psi_window){
        .window_us = window_us,
        .limit_us = limit_us,
        .phase = (unsigned)(seed % POLLS),
        .tenths = 2, /* idle, until it moves */
        .last = *now,
    };
    start_window(window, now, 0);
    schedule_poll(window, now->time_ns);
}

/* The growth took at least as much time, and may have begun no earlier than that. After a late read
 * that is of no use. */
static void mark_active(struct hr_psi_window *window, const struct hr_psi_reading *now)
{
    uint64_t growth_us = now->total_us - window->start.total_us;
    uint64_t spent_us = elapsed_us(window->last.time_ns, now->time_ns);

    window->tenths = 1;
    if (spent_us > longest_us(window))
        start_window(window, &window->last, 0);
    else
        window->begin_ns =
            now->time_ns - (growth_us < spent_us ? growth_us : spent_us) * HR_NS_PER_US;
}

static void slow_down_polling(struct hr_psi_window *window)
{
    window->tenths = window->tenths * 2 < POLLS ? window->tenths * 2 : POLLS;
    start_window(window, &window->last, 0);
}

/* Ends the current window if its time is over, and slows polling down if it had no notable growth.
 * A window lasts half a read's interval longer, so that after as many reads as it has, give or take
 * some jitter, there is one more: a total that grew all of the time then reaches a limit as long as
 * the window.
 */
static void end_window(struct hr_psi_window *window, const struct hr_psi_reading *now)
{
    uint64_t growth_us = growth_within(window, &window->start, window->begin_ns, now);

    if (elapsed_us(window->begin_ns, now->time_ns) <
        window->window_us + window->window_us / POLLS / 2)
        return;
    if (is_notable(window, growth_us))
        start_window(window, now, growth_us);
    else
        slow_down_polling(window);
}

/* What has changed without an event. */
static void update_without_event(struct hr_psi_window *window, const struct hr_psi_reading *now)
{
    if (window->tenths == 1)
        end_window(window, now);
    else
        slow_down_polling(window);
}

/* @return whether there is an event. */
static bool find_event(struct hr_psi_window *window, const struct hr_psi_reading *now,
                       struct hr_psi_growth *growth)
{
    if (window->tenths > 1 && is_notable(window, now->total_us - window->last.total_us))
        mark_active(window, now);
    if (window->has_event && elapsed_us(window->event_ns, now->time_ns) < window->window_us)
        return false;
    return window->tenths == 1 && find_growth(window, now, growth);
}

bool hr_psi_window_update(struct hr_psi_window *window, const struct hr_psi_reading *now,
                          struct hr_psi_growth *growth)
{
    if (now->total_us < window->last.total_us) /* it is another */
        window->last = window->start = *now;
    bool found = find_event(window, now, growth);
    if (found) {
        hr_psi_window_restart(window, now);
        return true;
    }
    update_without_event(window, now);
    window->last = *now;
    schedule_poll(window, now->time_ns);
    return false;
}

void hr_psi_window_defer(struct hr_psi_window *window, uint64_t now_ns)
{
    schedule_poll(window, now_ns);
}

bool hr_psi_window_is_active(const struct hr_psi_window *window)
{
    return window->tenths == 1;
}
