/* SPDX-License-Identifier: MIT */
#include "headroom/stalls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/clock.h"

/* From so many percent of an interval on a stall is attributed to its causes; it has ended after
 * so many intervals without. */
#define MIN_STALL_PCT   1
#define QUIET_INTERVALS 6

/* --- Splitting ------------------------------------------------------------------- */

/* What is left of the stall isn't known. */
static void add_unknown(double stall_pct, double pct[HR_STALL_PART_COUNT])
{
    double known_pct = 0;

    for (int i = 0; i < HR_STALL_PART_COUNT; i++)
        known_pct += pct[i];
    if (known_pct < stall_pct)
        pct[HR_STALL_BY_UNKNOWN] += stall_pct - known_pct;
}

/* Of cpu each cause has its time; of memory how often it occurred; of io neither. What is left of
 * cpu isn't known, the others are all that there is. */
static void split_by_causes(const struct hr_stall_causes *causes, enum hr_psi_resource resource,
                            double stall_us, double stall_pct, double pct[HR_STALL_PART_COUNT])
{
    double sum = 0;

    for (size_t i = 0; i < causes->count; i++)
        sum += resource == HR_PSI_MEMORY ? (double)causes->list[i].event_count : 1;
    for (size_t i = 0; i < causes->count; i++) {
        const struct hr_stall_cause *cause = &causes->list[i];
        double share = resource == HR_PSI_CPU      ? (double)cause->stalled_us / stall_us
                       : resource == HR_PSI_MEMORY ? (double)cause->event_count / sum
                                                   : 1 / sum;
        pct[hr_stall_part_of(cause->kind)] += share * stall_pct;
    }
    add_unknown(stall_pct, pct);
}

static void split_by_counters(const struct hr_stall_counters *before,
                              const struct hr_stall_counters *after, enum hr_psi_resource resource,
                              double stall_pct, double pct[HR_STALL_PART_COUNT])
{
    const uint64_t elapsed_us = (after->time_ns - before->time_ns) / HR_NS_PER_US;
    const double stall_us = stall_pct / 100 * (double)elapsed_us;
    struct hr_stall_causes causes;

    hr_stall_attribute(before, after, resource, (uint64_t)stall_us, elapsed_us, &causes);
    split_by_causes(&causes, resource, stall_us, stall_pct, pct);
}

static enum hr_stall_part part_of(enum hr_blame_taker taker)
{
    switch (taker) {
    case HR_BLAME_ITSELF:
        return HR_STALL_BY_ITSELF;
    case HR_BLAME_LIMIT:
        return HR_STALL_BY_LIMIT;
    case HR_BLAME_INTERRUPTS:
        return HR_STALL_BY_IRQ;
    case HR_BLAME_STEAL:
        return HR_STALL_BY_STEAL;
    case HR_BLAME_IDLE:
    case HR_BLAME_UNKNOWN:
        return HR_STALL_BY_UNKNOWN;
    default: /* whatever else had the CPU is outside of the group */
        return HR_STALL_BY_NEIGHBOURS;
    }
}

/* @return whether it is known who had the CPUs; else nothing is changed. */
static bool split_by_takers(struct taken_cpus *taken, const char *instance, double stall_pct,
                            double pct[HR_STALL_PART_COUNT])
{
    struct taken_cpus_parts parts;

    if (!taken_cpus_find(taken, instance, stall_pct, &parts))
        return false;
    memset(pct, 0, HR_STALL_PART_COUNT * sizeof(*pct));
    for (size_t i = 0; i < parts.count; i++)
        pct[part_of(parts.list[i].kind)] += parts.list[i].pct / 100 * stall_pct;
    return true;
}

/* --- Submitting -------------------------------------------------------------------- */

static void submit_parts(const struct submission *submission, enum hr_psi_resource resource,
                         unsigned *seen, const double pct[HR_STALL_PART_COUNT])
{
    char name[DATA_MAX_NAME_LEN];

    for (int i = 0; i < HR_STALL_PART_COUNT; i++) {
        if (pct[i] > 0)
            *seen |= 1U << i;
        if ((*seen & 1U << i) == 0)
            continue;
        snprintf(name, sizeof(name), "%s-by-%s", hr_psi_resource_name(resource),
                 hr_stall_part_name(i));
        submit_gauge(submission, "percent", name, pct[i] < 100 ? pct[i] : 100);
    }
}

static void end_stall(struct stall *stall)
{
    free(stall->before);
    stall->before = NULL;
}

void stalls_clear(struct stalls *stalls)
{
    for (int i = 0; i < HR_PSI_IRQ; i++)
        end_stall(&stalls->of[i]);
}

/* @return whether it goes on, or begins. */
static bool is_going_on(struct stall *stall, double stall_pct)
{
    if (stall_pct >= MIN_STALL_PCT)
        stall->quiet_count = 0;
    else if (++stall->quiet_count >= QUIET_INTERVALS)
        end_stall(stall);
    return stall->before != NULL || stall->quiet_count == 0;
}

/* Splits it by counters. @return whether the parts are known: those of a stall from its second
 * interval on. */
static bool split_stall(struct stall *stall, enum hr_psi_resource resource,
                        const struct hr_root *root, const struct hr_cgroup *group, double stall_pct,
                        double pct[HR_STALL_PART_COUNT])
{
    struct hr_stall_counters after;

    if (!is_going_on(stall, stall_pct))
        return true;
    const bool is_known = stall->before != NULL;
    hr_stall_counters_read(root, group, resource, &after);
    if (is_known)
        split_by_counters(stall->before, &after, resource, stall_pct, pct);
    else
        stall->before = malloc(sizeof(after));
    if (stall->before != NULL)
        *stall->before = after;
    return is_known;
}

void stalls_submit(struct stalls *stalls, struct hr_room_source *source, const struct hr_root *root,
                   const struct hr_cgroup *group, const struct hr_room_reading *reading,
                   struct taken_cpus *taken, const struct submission *submission)
{
    for (int i = 0; i < HR_PSI_IRQ; i++) {
        double pct[HR_STALL_PART_COUNT] = {0};
        struct stall *stall = &stalls->of[i];
        if (!reading->has_stall[i])
            continue;
        bool is_known = split_stall(stall, i, root, group, reading->stall_pct[i], pct);
        if (i == HR_PSI_CPU && group != NULL && stall->before != NULL)
            is_known |= split_by_takers(taken, submission->instance, reading->stall_pct[i], pct);
        if (is_known)
            submit_parts(submission, i, &stall->seen, pct);
        if (i == HR_PSI_CPU)
            stalls->cpu_by_itself_pct = pct[HR_STALL_BY_ITSELF];
        add_unknown(reading->stall_pct[i], pct);
        hr_room_add_stalls(source, i, pct);
    }
}
