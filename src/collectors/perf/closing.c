/* SPDX-License-Identifier: MIT */
#include "perf/closing.h"

#include <stdlib.h>
#include <string.h>

#include "headroom/array.h"
#include "headroom/clock.h"

/* So many are closed in any case, as in perf/opening.c. */
#define FILES_AT_LEAST 256

/* Beside opening, closing has a quarter of the time more. */
static uint64_t share_ns(const struct hr_perf_slice *slice)
{
    return slice->max_ns / 4;
}

uint64_t hr_perf_closing_excess_ns(const struct hr_perf_slice *slice)
{
    const uint64_t share = share_ns(slice);

    return slice->closing_ns > share ? slice->closing_ns - share : 0;
}

/* What opening doesn't need. */
static uint64_t limit_ns(const struct hr_perf_slice *slice)
{
    const uint64_t share = share_ns(slice);

    if (slice->waiting != NULL || slice->spent_ns > slice->max_ns - share)
        return share;
    return slice->max_ns - slice->spent_ns;
}

static bool is_used_up(const struct hr_perf_slice *slice)
{
    return slice->closing_ns >= limit_ns(slice) && slice->closed_count >= FILES_AT_LEAST;
}

static void close_now(struct hr_perf *perf, int fd)
{
    const uint64_t start_ns = hr_clock_ns();

    perf->calls->close(fd);
    perf->slice.closing_ns += hr_clock_ns() - start_ns;
    perf->slice.closed_count++;
}

/* Those that were opened are counted for their target; from now on, here. */
static bool let_wait(struct hr_perf *perf, int fd)
{
    struct hr_perf_closing *closing = &perf->closing;

    if (HR_ARRAY_RESERVE(closing->fds, closing->capacity, closing->count + 1) < 0)
        return false;
    closing->fds[closing->count++] = fd;
    perf->budget.files.open++;
    return true;
}

void hr_perf_closing_close_group(struct hr_perf *perf, struct hr_perf_open_group *open_group)
{
    /* The leader last, as in hr_perf_group_close(). */
    while (open_group->count > 0) {
        const int fd = open_group->fds[--open_group->count];
        if (!is_used_up(&perf->slice) || !let_wait(perf, fd))
            close_now(perf, fd);
    }
}

static void forget_first(struct hr_perf *perf, size_t count)
{
    struct hr_perf_closing *closing = &perf->closing;

    closing->count -= count;
    memmove(closing->fds, closing->fds + count, closing->count * sizeof(*closing->fds));
    hr_perf_budget_release(&perf->budget, count);
}

/* The first that came go first. */
void hr_perf_closing_continue(struct hr_perf *perf)
{
    const struct hr_perf_closing *closing = &perf->closing;
    size_t count = 0;

    while (count < closing->count && !is_used_up(&perf->slice))
        close_now(perf, closing->fds[count++]);
    if (count > 0)
        forget_first(perf, count);
}

void hr_perf_closing_end(struct hr_perf *perf)
{
    struct hr_perf_closing *closing = &perf->closing;

    for (size_t i = 0; i < closing->count; i++)
        perf->calls->close(closing->fds[i]);
    hr_perf_budget_release(&perf->budget, closing->count);
    free(closing->fds);
    *closing = (struct hr_perf_closing){0};
}
