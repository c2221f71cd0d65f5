/* SPDX-License-Identifier: MIT */
#include "headroom/task_cpus.h"

#include <errno.h>

#include "headroom/allowed_cpus.h"
#include "headroom/cpu_set.h"

/* What an interval may take of the read callback: some 15 ms. */
#define GROUPS_MOST  8
#define THREADS_MOST 128

static const struct hr_cgroup *find_group(const struct takers *takers,
                                          const struct subject *subject)
{
    const struct hr_cgroup *group = NULL;

    while (takers->groups != NULL && (group = hr_cgroup_set_next(takers->groups, group)) != NULL)
        if (group->data == subject)
            return group;
    return NULL;
}

bool task_cpus_find(struct takers *takers, const struct subject *subject, struct hr_cpu_set *cpus)
{
    struct hr_cpu_set most;

    if (subject->source == NULL || takers->affinities_read == GROUPS_MOST)
        return false;
    const struct hr_cgroup *group = find_group(takers, subject);
    if (group == NULL)
        return false;
    takers->affinities_read++;
    const int status = hr_room_find_cpus(subject->source, &most);
    return (status == 0 || status == -ENODATA) &&
           hr_allowed_cpus_read_group(takers->root, group->dirfd, status == 0 ? &most : NULL,
                                      hr_room_count_cpus(subject->source), THREADS_MOST,
                                      cpus) == 0 &&
           hr_cpu_set_count(cpus) < takers->cpus;
}
