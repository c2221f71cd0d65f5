/* SPDX-License-Identifier: MIT */
#include "cgroup_perf/rescan.h"

#include "headroom/clock.h"
#include "headroom/perf_event.h"

/* As often as events that failed are tried again. */
#define PERIOD_NS (60 * HR_NS_PER_S)

/* What can't be read is scanned again later. */
static bool scan(struct perf_rescan *rescan, const struct hr_root *root)
{
    const uint32_t before = rescan->hash;
    const bool was_known = rescan->known;

    rescan->next_ns = hr_clock_ns() + PERIOD_NS;
    if (hr_perf_pmus_hash(root, &rescan->hash) < 0)
        return false;
    rescan->known = true;
    return was_known && rescan->hash != before;
}

void perf_rescan_begin(struct perf_rescan *rescan, const struct hr_root *root)
{
    *rescan = (struct perf_rescan){.known = false};
    scan(rescan, root);
}

bool perf_rescan_finds_change(struct perf_rescan *rescan, const struct hr_root *root, size_t cpus)
{
    const bool has_changed = rescan->cpus > 0 && cpus > 0 && cpus != rescan->cpus;

    if (cpus > 0)
        rescan->cpus = cpus;
    if (!has_changed && hr_clock_ns() < rescan->next_ns)
        return false;
    return scan(rescan, root);
}
