/* SPDX-License-Identifier: MIT */
/*
 * perf/change.c - from descriptors to BPF, while targets are counted.
 */
#include "headroom/perf.h"

#include <errno.h>
#include <unistd.h>

#include "base/reason.h"
#include "headroom/root.h"
#include "perf/bpf_counting.h"
#include "perf/target.h"

static bool is_in_cgroup2(const struct hr_root *root)
{
    int version = 0;
    int fd = hr_root_open_cgroup(root, "perf_event", &version);

    if (fd < 0)
        return false;
    close(fd);
    return version == 2;
}

static int open_bpf(struct hr_perf *perf, struct hr_reason *reason)
{
    if (!is_in_cgroup2(perf->root))
        return hr_reason_set(reason, -EXDEV,
                             "it needs perf_event in cgroup2: mount that, and boot without "
                             "perf_event in version 1");
    return hr_perf_bpf_open(perf, reason);
}

static void hand_over_to_bpf(struct hr_perf_target *target)
{
    hr_perf_target_leave_to_bpf(target);
    hr_perf_target_choose_events(target);
}

/* While BPF begins on a CPU, descriptors still count there; they are read right after. So nothing
 * is missed, and what is counted twice is what ran in these microseconds. */
int hr_perf_change_to_bpf(struct hr_perf *perf, struct hr_reason *reason)
{
    if (perf->bpf != NULL)
        return 0;
    int status = open_bpf(perf, reason);
    if (status < 0) {
        hr_perf_bpf_close(perf);
        return status;
    }
    hr_perf_probe_cgroups_by_machine(perf);
    for (struct hr_perf_target *target = perf->targets; target != NULL; target = target->next)
        hand_over_to_bpf(target);
    hr_perf_bpf_read(perf);
    return 0;
}
