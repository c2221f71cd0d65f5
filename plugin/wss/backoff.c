/* SPDX-License-Identifier: MIT */
#include "wss/backoff.h"

#include "headroom/clock.h"

#define LONGEST_CYCLE_NS (3600 * HR_NS_PER_S)

uint64_t wss_backoff_cycle_ns(const struct wss_backoff *backoff, uint64_t cycle_ns)
{
    const uint64_t longest_ns = cycle_ns > LONGEST_CYCLE_NS ? cycle_ns : LONGEST_CYCLE_NS;

    return cycle_ns < longest_ns >> backoff->doublings ? cycle_ns << backoff->doublings
                                                       : longest_ns;
}

void wss_backoff_extend(struct wss_backoff *backoff, uint64_t cycle_ns)
{
    if (wss_backoff_cycle_ns(backoff, cycle_ns) < LONGEST_CYCLE_NS)
        backoff->doublings++;
}

void wss_backoff_relax(struct wss_backoff *backoff)
{
    if (backoff->doublings > 0)
        backoff->doublings--;
}

bool wss_backoff_is_over(const struct wss_backoff *backoff)
{
    return backoff->doublings == 0;
}
