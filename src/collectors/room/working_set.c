/* SPDX-License-Identifier: MIT */
#include "room/working_set.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/clock.h"

#define LEAST_REFAULTS 100
#define HOUR_NS        (3600 * HR_NS_PER_S)

static void begin(struct hr_refault_cost *cost, uint64_t now_ns, uint64_t refault_count,
                  uint64_t stalled_us)
{
    cost->since_ns = now_ns;
    cost->since = (struct hr_refault_counts){refault_count, stalled_us, 0};
}

void hr_refault_cost_update(struct hr_refault_cost *cost, uint64_t now_ns, uint64_t refault_count,
                            uint64_t stalled_us, double missed_per_s)
{
    struct hr_refault_counts *since = &cost->since;
    const double elapsed_s = (double)(now_ns - cost->updated_ns) / HR_NS_PER_S;

    cost->updated_ns = now_ns;
    if (cost->since_ns == 0 || refault_count < since->refault_count ||
        stalled_us < since->stalled_us) {
        begin(cost, now_ns, refault_count, stalled_us);
        return;
    }
    since->missed_count += missed_per_s * elapsed_s;
    const double count = (double)(refault_count - since->refault_count);
    const bool is_over = now_ns - cost->since_ns >= HOUR_NS;
    if (count >= LEAST_REFAULTS)
        cost->us =
            (double)(stalled_us - since->stalled_us) /
            (since->missed_count >= LEAST_REFAULTS ? fmin(count, since->missed_count) : count);
    else if (is_over)
        cost->us = 0;
    if (is_over)
        begin(cost, now_ns, refault_count, stalled_us);
}

/* @return 0: it isn't a window. */
static double parse_window(const char *name)
{
    struct hr_text text = {name, strlen(name)};
    uint64_t number;

    if (!hr_text_u64(&text, &number))
        return 0;
    if (strcmp(text.start, "ms") == 0)
        return (double)number / 1000;
    return strcmp(text.start, "s") == 0 ? (double)number : 0;
}

void hr_room_working_set_add(struct hr_room_working_set *set, const char *name, double bytes)
{
    const double window_s = parse_window(name);
    size_t at = set->count;

    if (window_s <= 0 || !(bytes >= 0) || set->count == HR_ROOM_WINDOWS)
        return;
    for (; at > 0 && set->window_s[at - 1] > window_s; at--) {
        set->window_s[at] = set->window_s[at - 1];
        set->bytes[at] = set->bytes[at - 1];
    }
    set->window_s[at] = window_s;
    set->bytes[at] = bytes;
    set->count++;
}

/* The first is that from nothing. */
static double growth_per_s(const struct hr_room_working_set *set, size_t window)
{
    if (window == 0)
        return set->bytes[0] / set->window_s[0];
    return (set->bytes[window] - set->bytes[window - 1]) /
           (set->window_s[window] - set->window_s[window - 1]);
}

double hr_working_set_misses(const struct hr_room_working_set *set, double bytes)
{
    size_t window = 0;

    while (window < set->count && set->bytes[window] <= bytes)
        window++;
    if (window == set->count)
        return 0;
    return growth_per_s(set, window) / (double)sysconf(_SC_PAGESIZE);
}

int hr_working_set_find(const struct hr_room_working_set *set, double cost_us, double line_pct,
                        size_t *window)
{
    const double pages_per_s = line_pct / 100 * HR_US_PER_S / cost_us;
    const double bytes_per_s = pages_per_s * (double)sysconf(_SC_PAGESIZE);
    size_t found = set->count;

    while (found > 0 && growth_per_s(set, found - 1) <= bytes_per_s)
        found--;
    if (found == set->count)
        return -ENODATA;
    *window = found > 0 ? found - 1 : 0;
    return 0;
}
