/* SPDX-License-Identifier: MIT */
#include "wss/plan.h"

#include "headroom/clock.h"

static bool next_snapshot(const struct wss_plan *plan, size_t readings, uint64_t elapsed_ns,
                          struct wss_turn *turn)
{
    if (plan->mode == WSS_SNAPSHOT && readings > 0)
        return false;
    uint64_t begin_ns = readings > 0 ? elapsed_ns + plan->pause_ns : 0;
    if (plan->total_ns > 0 && begin_ns + plan->window_ns / 2 > plan->total_ns)
        return false;
    *turn = (struct wss_turn){true, begin_ns, plan->window_ns, plan->window_ns};
    return true;
}

static bool next_cumulative(const struct wss_plan *plan, size_t readings, uint64_t elapsed_ns,
                            struct wss_turn *turn)
{
    uint64_t window_ns = plan->window_ns;
    if (readings > 0)
        window_ns *= elapsed_ns / plan->window_ns + 1;
    if (plan->total_ns > 0 && readings > 0 && elapsed_ns >= plan->total_ns)
        return false;
    if (plan->total_ns > 0 && window_ns > plan->total_ns)
        window_ns = plan->total_ns;
    *turn = (struct wss_turn){readings == 0, 0, window_ns, window_ns};
    return true;
}

static bool next_step(const struct wss_plan *plan, size_t readings, struct wss_turn *turn)
{
    if (readings >= plan->steps)
        return false;
    uint64_t window_ns = plan->window_ns << readings;
    *turn = (struct wss_turn){readings == 0, 0, window_ns, window_ns};
    return true;
}

static bool next_turn(const struct wss_plan *plan, size_t readings, uint64_t elapsed_ns,
                      struct wss_turn *turn)
{
    switch (plan->mode) {
    case WSS_SNAPSHOT:
    case WSS_SNAPSHOTS:
        return next_snapshot(plan, readings, elapsed_ns, turn);
    case WSS_CUMULATIVE:
        return next_cumulative(plan, readings, elapsed_ns, turn);
    case WSS_PROFILE:
        return next_step(plan, readings, turn);
    }
    return false;
}

bool wss_plan_next(const struct wss_plan *plan, size_t readings, uint64_t elapsed_ns,
                   struct wss_turn *turn)
{
    if (!next_turn(plan, readings, elapsed_ns, turn))
        return false;
    /* Modes without an end must wait, or they would never pause. */
    if (plan->looks_back && (plan->mode == WSS_SNAPSHOT || plan->mode == WSS_PROFILE))
        turn->wait_ns = 0;
    return true;
}

size_t wss_plan_readings(const struct wss_plan *plan)
{
    switch (plan->mode) {
    case WSS_SNAPSHOT:
    case WSS_SNAPSHOTS:
        return 1;
    case WSS_CUMULATIVE:
        return (size_t)((plan->total_ns + plan->window_ns - 1) / plan->window_ns);
    case WSS_PROFILE:
        return plan->steps;
    }
    return 0;
}

uint64_t wss_plan_longest_ns(const struct wss_plan *plan)
{
    switch (plan->mode) {
    case WSS_SNAPSHOT:
    case WSS_SNAPSHOTS:
        return plan->window_ns;
    case WSS_CUMULATIVE:
        return plan->total_ns > 0 ? plan->total_ns : WSS_SECONDS_MAX * HR_NS_PER_S;
    case WSS_PROFILE:
        return plan->window_ns << (plan->steps - 1);
    }
    return 0;
}
