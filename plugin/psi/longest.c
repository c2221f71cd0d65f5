/* SPDX-License-Identifier: MIT */
#include "psi/longest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "psi/groups.h"

/* What a group waited since a read of its values. */
struct wait {
    const struct hr_cgroup *group; /* NULL: none */
    uint64_t since_ns, stalled_us, excess_us, elapsed_us;
};

static const struct hr_psi_sample *sample_of(const struct hr_psi_snapshot *snapshot, bool is_there,
                                             enum hr_psi_resource resource)
{
    return is_there && snapshot->status[resource] == 0 ? &snapshot->sample[resource] : NULL;
}

/* The last read of values that is a window or more ago, as one within it has no part of the stall
 * before; else the oldest. */
static const struct hr_psi_sample *find_earlier(const struct psi_series *series,
                                                enum hr_psi_resource resource, uint64_t before_ns)
{
    const struct hr_psi_sample *latest = sample_of(&series->latest, series->has_latest, resource);
    const struct hr_psi_sample *previous =
        sample_of(&series->previous, series->has_previous, resource);

    return previous == NULL || (latest != NULL && latest->time_ns <= before_ns) ? latest : previous;
}

/* @param stall  receives the group's stall at an earlier read. @return when that was; 0: there was
 * none. */
static uint64_t find_earlier_stall(const struct hr_cgroup *group,
                                   const struct hr_psi_trigger_options *trigger,
                                   struct hr_psi_stall *stall)
{
    const struct psi_group *of_group = group->data;
    const uint64_t window_ns = trigger->window_us * HR_NS_PER_US;
    const struct hr_psi_sample *earlier =
        find_earlier(&of_group->series, trigger->resource, hr_clock_ns() - window_ns);

    if (earlier == NULL)
        earlier = sample_of(&of_group->begun, of_group->has_begun, trigger->resource);
    *stall = earlier != NULL ? earlier->stall[trigger->level] : (struct hr_psi_stall){0};
    return stall->present ? earlier->time_ns : 0;
}

/* By the kernel's averages: over a minute and over five they are high for minutes after a stall
 * that has ended, over ten seconds and over a minute soon after one that has begun. */
static uint64_t usual_us(const struct hr_psi_stall *stall, uint64_t elapsed_us)
{
    const double usual_pct = fmin(stall->avg10_pct, fmin(stall->avg60_pct, stall->avg300_pct));

    return (uint64_t)(usual_pct / 100 * (double)elapsed_us);
}

/* @return whether it waited, and for more than usual. */
static bool read_wait(const struct hr_cgroup *group, const struct hr_psi_trigger_options *trigger,
                      bool lasts, struct wait *wait)
{
    const struct psi_group *of_group = group->data;
    struct hr_psi_stall before;
    struct hr_psi_sample now;
    const uint64_t since_ns = find_earlier_stall(group, trigger, &before);

    if (since_ns == 0 || hr_psi_read_resource(of_group->series.psi, trigger->resource, &now) != 0 ||
        now.time_ns <= since_ns)
        return false;
    const uint64_t now_us = now.stall[trigger->level].total_us;
    const uint64_t elapsed_us = (now.time_ns - since_ns) / HR_NS_PER_US;
    const uint64_t known_us = before.total_us + (lasts ? 0 : usual_us(&before, elapsed_us));
    if (now_us <= known_us)
        return false;
    *wait = (struct wait){group, since_ns, now_us - before.total_us, now_us - known_us, elapsed_us};
    return true;
}

/* @return for how long the system stalled since then, or since an earlier read; UINT64_MAX: it
 * isn't known. */
static uint64_t read_system_us(const struct psi_series *system,
                               const struct hr_psi_trigger_options *trigger, uint64_t since_ns)
{
    struct hr_psi_sample now;

    if (system->psi == NULL)
        return UINT64_MAX;
    const struct hr_psi_sample *earlier = find_earlier(system, trigger->resource, since_ns);
    if (earlier == NULL || earlier->time_ns > since_ns ||
        hr_psi_read_resource(system->psi, trigger->resource, &now) != 0)
        return UINT64_MAX;
    const struct hr_psi_stall *before = &earlier->stall[trigger->level];
    const struct hr_psi_stall *after = &now.stall[trigger->level];
    return before->present && after->present && after->total_us >= before->total_us
               ? after->total_us - before->total_us
               : UINT64_MAX;
}

/* Reads those that are read for values. @return how many waited. */
static size_t read_waits(const struct psi_groups *groups,
                         const struct hr_psi_trigger_options *trigger, bool lasts,
                         struct wait *waits)
{
    struct hr_cgroup *group = NULL;
    size_t count = 0;

    while ((group = hr_cgroup_set_next(groups->set, group)) != NULL)
        if (psi_group_is_read(group))
            count += read_wait(group, trigger, lasts, &waits[count]);
    return count;
}

/* @param above  the group below which to look; NULL: all. */
static struct wait find_longest_below(const struct wait *waits, size_t count,
                                      const struct hr_cgroup *above)
{
    struct wait longest = {.group = NULL};

    for (size_t i = 0; i < count; i++)
        if (waits[i].excess_us > longest.excess_us && waits[i].group != above &&
            (above == NULL || hr_cgroup_is_within(waits[i].group->path, above->path)))
            longest = waits[i];
    return longest;
}

static struct wait find_longest(const struct wait *waits, size_t count)
{
    struct wait longest = find_longest_below(waits, count, NULL);

    while (longest.group != NULL) {
        const struct wait below = find_longest_below(waits, count, longest.group);
        if (below.group == NULL || below.excess_us <= longest.excess_us / 2)
            break;
        longest = below;
    }
    return longest;
}

static struct psi_longest *make_longest(const struct wait *wait, uint64_t system_us)
{
    const struct psi_group *group = wait->group->data;
    const size_t size = strlen(wait->group->path) + 1;
    struct psi_longest *made = malloc(sizeof(*made) + size);

    if (made == NULL)
        return NULL;
    made->stalled_us = wait->stalled_us;
    made->excess_us = wait->excess_us;
    made->elapsed_us = wait->elapsed_us;
    made->system_us = system_us;
    snprintf(made->instance, sizeof(made->instance), "%s", group->series.instance);
    memcpy(made->path, wait->group->path, size);
    return made;
}

struct psi_longest *psi_longest_find(struct psi_groups *groups,
                                     const struct hr_psi_trigger_options *trigger, bool lasts)
{
    struct wait longest = {.group = NULL};

    if (pthread_mutex_trylock(&groups->set_lock) != 0)
        return NULL;
    struct wait *waits = calloc(groups->count + 1, sizeof(*waits));
    if (waits != NULL)
        longest = find_longest(waits, read_waits(groups, trigger, lasts, waits));
    struct psi_longest *made = NULL;
    if (longest.group != NULL)
        made = make_longest(&longest, read_system_us(groups->system, trigger, longest.since_ns));
    pthread_mutex_unlock(&groups->set_lock);
    free(waits);
    return made;
}
