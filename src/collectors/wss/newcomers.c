/* SPDX-License-Identifier: MIT */
#include "wss/newcomers.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "process/names.h"

#define NAMES_PART 10
#define NAMES_NS   HR_NS_PER_S

uint64_t hr_wss_now_ticks(void)
{
    const uint64_t per_s = (uint64_t)sysconf(_SC_CLK_TCK);
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * per_s + (uint64_t)now.tv_nsec / (HR_NS_PER_S / per_s);
}

/* Closes and removes those that began before. */
static void drop_older(struct hr_process_list *list, uint64_t since_ticks)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].started_ticks >= since_ticks)
            list->items[kept++] = list->items[i];
        else
            hr_process_close(&list->items[i]);
    }
    list->count = kept;
}

int hr_wss_find_named(const struct hr_wss_subject *subject, const struct hr_wss_target *target,
                      uint64_t window_ns, const struct hr_process_list *known,
                      struct hr_process_list *list)
{
    const uint64_t part_ns = window_ns / NAMES_PART;
    const uint64_t since_ns = hr_clock_ns() - (part_ns < NAMES_NS ? part_ns : NAMES_NS);

    int status = hr_process_names_read(subject->names, subject->root, since_ns);
    return status < 0 ? status
                      : hr_process_list_find_named(subject->root, subject->names,
                                                   target->processes.text, known, list);
}

int hr_wss_find_newcomers(const struct hr_wss_subject *subject, const struct hr_wss_target *target,
                          uint64_t since_ticks, uint64_t marked_ns, bool counts_moved,
                          struct hr_process_list *newcomers)
{
    int status;

    hr_process_list_release(newcomers);
    if (target->scope == HR_WSS_CGROUP) {
        status = hr_process_list_find_others_in_cgroup(subject->root, subject->cgroup_dirfd,
                                                       subject->processes, newcomers);
        if (!counts_moved)
            drop_older(newcomers, since_ticks);
    } else if (target->scope == HR_WSS_PROCESSES && target->processes.by == HR_PROCESS_BY_NAME) {
        status = hr_wss_find_named(subject, target, hr_clock_ns() - marked_ns, subject->processes,
                                   newcomers);
    } else {
        return 0;
    }
    /* There is none that could be measured. */
    if (status == -ESRCH || status == -ECHILD || status == -ENXIO || status == -EACCES)
        return 0;
    return status;
}
