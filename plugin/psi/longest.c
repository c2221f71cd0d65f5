/* SPDX-License-Identifier: MIT */
#include "psi/longest.h"

#include <stdlib.h>
#include <string.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "psi/groups.h"

/* What a group waited since a read of its values. */
struct wait {
    const struct hr_cgroup *group; /* NULL: none */
    uint64_t stalled_us, elapsed_us;
};

/* The last read of values that is a window or more ago, as one within it has no part of the stall
 * before; else the oldest. */
static const struct hr_psi_sample *find_earlier(const struct psi_series *series,
                                                enum hr_psi_resource resource, uint64_t before_ns)
{
    const struct hr_psi_sample *latest = &series->latest.sample[resource];
    const struct hr_psi_sample *previous = &series->previous.sample[resource];
    const bool has_latest = series->has_latest && series->latest.status[resource] == 0;

    if (has_latest && latest->time_ns <= before_ns)
        return latest;
    if (series->has_previous && series->previous.status[resource] == 0)
        return previous;
    return has_latest ? latest : NULL;
}

/* @return whether its pressure is known now, and was before. */
static bool read_wait(const struct hr_cgroup *group, const struct hr_psi_trigger_options *trigger,
                      struct wait *wait)
{
    const struct psi_series *series = &((const struct psi_group *)group->data)->series;
    const uint64_t before_ns = hr_clock_ns() - trigger->window_us * HR_NS_PER_US;
    const struct hr_psi_sample *earlier = find_earlier(series, trigger->resource, before_ns);
    struct hr_psi_sample now;

    if (earlier == NULL || !earlier->stall[trigger->level].present ||
        hr_psi_read_resource(series->psi, trigger->resource, &now) != 0)
        return false;
    const uint64_t before_us = earlier->stall[trigger->level].total_us;
    const uint64_t now_us = now.stall[trigger->level].total_us;
    if (now_us <= before_us || now.time_ns <= earlier->time_ns)
        return false;
    *wait =
        (struct wait){group, now_us - before_us, (now.time_ns - earlier->time_ns) / HR_NS_PER_US};
    return true;
}

/* Reads those that are read for values. @return how many waited. */
static size_t read_waits(const struct psi_groups *groups,
                         const struct hr_psi_trigger_options *trigger, struct wait *waits)
{
    struct hr_cgroup *group = NULL;
    size_t count = 0;

    while ((group = hr_cgroup_set_next(groups->set, group)) != NULL)
        if (psi_group_is_read(group))
            count += read_wait(group, trigger, &waits[count]);
    return count;
}

/* @param above  the group below which to look; NULL: all. */
static struct wait find_longest_below(const struct wait *waits, size_t count,
                                      const struct hr_cgroup *above)
{
    struct wait longest = {.group = NULL};

    for (size_t i = 0; i < count; i++)
        if (waits[i].stalled_us > longest.stalled_us && waits[i].group != above &&
            (above == NULL || hr_cgroup_is_within(waits[i].group->path, above->path)))
            longest = waits[i];
    return longest;
}

static struct wait find_longest(const struct wait *waits, size_t count)
{
    struct wait longest = find_longest_below(waits, count, NULL);

    while (longest.group != NULL) {
        const struct wait below = find_longest_below(waits, count, longest.group);
        if (below.group == NULL || below.stalled_us <= longest.stalled_us / 2)
            break;
        longest = below;
    }
    return longest;
}

static struct psi_longest *make_longest(const struct wait *wait)
{
    const struct psi_group *group = wait->group->data;
    const size_t size = strlen(wait->group->path) + 1;
    struct psi_longest *made = malloc(sizeof(*made) + size);

    if (made == NULL)
        return NULL;
    made->stalled_us = wait->stalled_us;
    made->elapsed_us = wait->elapsed_us;
    snprintf(made->instance, sizeof(made->instance), "%s", group->series.instance);
    memcpy(made->path, wait->group->path, size);
    return made;
}

struct psi_longest *psi_longest_find(struct psi_groups *groups,
                                     const struct hr_psi_trigger_options *trigger)
{
    struct wait longest = {.group = NULL};

    pthread_mutex_lock(&groups->set_lock);
    struct wait *waits = calloc(groups->count + 1, sizeof(*waits));
    if (waits != NULL)
        longest = find_longest(waits, read_waits(groups, trigger, waits));
    struct psi_longest *made = longest.group != NULL ? make_longest(&longest) : NULL;
    pthread_mutex_unlock(&groups->set_lock);
    free(waits);
    return made;
}
