/* SPDX-License-Identifier: MIT */
#include "headroom/stalls.h"

#include <stdio.h>
#include <stdlib.h>

#include "headroom/clock.h"

/* From so many percent of an interval on a stall is attributed to its causes; it has ended after
 * so many intervals without. */
#define MIN_STALL_PCT   1
#define QUIET_INTERVALS 6

/* The parts, by the name in the series. A limit of a group above is "limit", too. */
enum part { LIMIT, NEIGHBOURS, ITSELF, STEAL, IRQ, RECLAIM, UNKNOWN, PART_COUNT };

static const char *const part_names[PART_COUNT] = {
    [LIMIT] = "limit", [NEIGHBOURS] = "neighbours", [ITSELF] = "itself",   [STEAL] = "steal",
    [IRQ] = "irq",     [RECLAIM] = "reclaim",       [UNKNOWN] = "unknown",
};

static enum part part_of(enum hr_stall_kind kind)
{
    switch (kind) {
    case HR_STALL_OWN_LIMIT:
    case HR_STALL_ANCESTOR_LIMIT:
    case HR_STALL_LIMITS_BELOW:
        return LIMIT;
    case HR_STALL_NEIGHBOURS:
        return NEIGHBOURS;
    case HR_STALL_ITSELF:
        return ITSELF;
    case HR_STALL_HYPERVISOR:
        return STEAL;
    case HR_STALL_INTERRUPTS:
        return IRQ;
    case HR_STALL_MACHINE_RECLAIM:
        return RECLAIM;
    }
    return UNKNOWN;
}

/* --- Splitting ------------------------------------------------------------------- */

/* Of cpu each cause has its time; of memory how often it occurred; of io neither. What is left of
 * cpu isn't known, the others are all that there is. */
static void split(const struct hr_stall_causes *causes, enum hr_psi_resource resource,
                  double stall_us, double stall_pct, double pct[PART_COUNT])
{
    double sum = 0, known_pct = 0;

    for (size_t i = 0; i < causes->count; i++)
        sum += resource == HR_PSI_MEMORY ? (double)causes->list[i].event_count : 1;
    for (size_t i = 0; i < causes->count; i++) {
        const struct hr_stall_cause *cause = &causes->list[i];
        double share = resource == HR_PSI_CPU      ? (double)cause->stalled_us / stall_us
                       : resource == HR_PSI_MEMORY ? (double)cause->event_count / sum
                                                   : 1 / sum;
        pct[part_of(cause->kind)] += share * stall_pct;
        known_pct += share * stall_pct;
    }
    if (known_pct < stall_pct)
        pct[UNKNOWN] += stall_pct - known_pct;
}

static void attribute(const struct hr_stall_counters *before, const struct hr_stall_counters *after,
                      enum hr_psi_resource resource, double stall_pct, double pct[PART_COUNT])
{
    const uint64_t elapsed_us = (after->time_ns - before->time_ns) / HR_NS_PER_US;
    const double stall_us = stall_pct / 100 * (double)elapsed_us;
    struct hr_stall_causes causes;

    hr_stall_attribute(before, after, resource, (uint64_t)stall_us, elapsed_us, &causes);
    split(&causes, resource, stall_us, stall_pct, pct);
}

/* --- Submitting -------------------------------------------------------------------- */

static void submit(const struct submission *submission, enum hr_psi_resource resource,
                   unsigned *seen, const double pct[PART_COUNT])
{
    char name[DATA_MAX_NAME_LEN];

    for (int i = 0; i < PART_COUNT; i++) {
        if (pct[i] > 0)
            *seen |= 1U << i;
        if ((*seen & 1U << i) == 0)
            continue;
        snprintf(name, sizeof(name), "%s-by-%s", hr_psi_resource_name(resource), part_names[i]);
        submit_gauge(submission, "percent", name, pct[i] < 100 ? pct[i] : 100);
    }
}

static void forget(struct stall *stall)
{
    free(stall->before);
    stall->before = NULL;
}

void stalls_clear(struct stalls *stalls)
{
    for (int i = 0; i < HR_PSI_IRQ; i++)
        forget(&stalls->of[i]);
}

/* @return whether it goes on, or begins. */
static bool is_going_on(struct stall *stall, double stall_pct)
{
    if (stall_pct >= MIN_STALL_PCT)
        stall->quiet_count = 0;
    else if (++stall->quiet_count >= QUIET_INTERVALS)
        forget(stall);
    return stall->before != NULL || stall->quiet_count == 0;
}

static void submit_resource(struct stall *stall, enum hr_psi_resource resource,
                            const struct hr_root *root, const struct hr_cgroup *group,
                            double stall_pct, const struct submission *submission)
{
    struct hr_stall_counters after;
    double pct[PART_COUNT] = {0};

    if (!is_going_on(stall, stall_pct)) {
        submit(submission, resource, &stall->seen, pct);
        return;
    }
    hr_stall_counters_read(root, group, resource, &after);
    if (stall->before != NULL) {
        attribute(stall->before, &after, resource, stall_pct, pct);
        submit(submission, resource, &stall->seen, pct);
    } else {
        stall->before = malloc(sizeof(after));
    }
    if (stall->before != NULL)
        *stall->before = after;
}

void stalls_submit(struct stalls *stalls, const struct hr_root *root, const struct hr_cgroup *group,
                   const struct hr_room_reading *reading, const struct submission *submission)
{
    for (int i = 0; i < HR_PSI_IRQ; i++)
        if (reading->has_stall[i])
            submit_resource(&stalls->of[i], i, root, group, reading->stall_pct[i], submission);
}
