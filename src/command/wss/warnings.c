/* SPDX-License-Identifier: MIT */
#include "wss/warnings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "headroom/clock.h"
#include "headroom/wss.h"

__attribute__((format(printf, 2, 3))) static void warn(const struct wss_warnings *said,
                                                       const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "%s: ", said->title);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    putc('\n', stderr);
}

static bool is_first(bool *said)
{
    const bool is_new = !*said;

    *said = true;
    return is_new;
}

static void warn_of_lock(struct wss_warnings *said, const struct hr_wss_lock *lock)
{
    if (hr_wss_lock_waited(lock) && is_first(&said->lock))
        warn(said,
             "the memory map of the process was locked for up to %" PRIu64
             " ms, as this program got a CPU for %" PRIu64
             " ms of them only: the process may have waited if it needed a new page; give this "
             "more CPU time, or choose another method",
             lock->held_ns / HR_NS_PER_MS, lock->cpu_ns / HR_NS_PER_MS);
}

void wss_warnings_print(struct wss_warnings *said, const struct hr_wss_sample *sample,
                        bool counts_shared_once)
{
    if (sample->process_count > 1 && !counts_shared_once && is_first(&said->shared))
        warn(said, "RSS of %zu processes: what they share is counted for each",
             sample->process_count);
    if (sample->damon_path != NULL && is_first(&said->damon))
        warn(said,
             "DAMON is at work (%s): large folios count as a whole where one page of them was "
             "touched, so that Ref may be too high",
             sample->damon_path);
    warn_of_lock(said, &sample->worst_lock);
    if (sample->left_count > 0 && is_first(&said->left))
        warn(said, "%zu process%s could not be measured, for lack of permission",
             sample->left_count, sample->left_count > 1 ? "es" : "");
    if (sample->ended_count > said->ended)
        warn(said, "%zu process%s ended meanwhile: what %s touched is not in the sum",
             sample->ended_count, sample->ended_count > 1 ? "es" : "",
             sample->ended_count > 1 ? "they" : "it");
    said->ended = sample->ended_count;
}
