/* SPDX-License-Identifier: MIT */
#include "headroom/task_cpus.h"

#include <errno.h>

#include "headroom/allowed_cpus.h"
#include "headroom/cpu_set.h"

static const struct hr_cgroup *find_group(const struct takers *takers,
                                          const struct subject *subject)
{
    const struct hr_cgroup *group = NULL;

    while (takers->groups != NULL && (group = hr_cgroup_set_next(takers->groups, group)) != NULL)
        if (group->data == subject)
            return group;
    return NULL;
}

size_t task_cpus_find(struct takers *takers, const struct subject *subject, struct hr_cpu_set *cpus)
{
    const struct hr_cgroup *group = find_group(takers, subject);
    struct hr_cpu_set most;

    if (group == NULL || subject->source == NULL)
        return 0;
    const int status = hr_room_find_cpus(subject->source, &most);
    if (status < 0 && status != -ENODATA)
        return 0;
    if (hr_allowed_cpus_read_group(takers->root, group->dirfd, status == 0 ? &most : NULL,
                                   hr_room_count_cpus(subject->source), &takers->threads,
                                   cpus) == 0)
        return hr_cpu_set_count(cpus);
    if (status == -ENODATA || hr_cpu_set_count(&most) >= takers->cpus)
        return 0;
    *cpus = most;
    return hr_cpu_set_count(cpus);
}
