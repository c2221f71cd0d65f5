/* SPDX-License-Identifier: MIT */
/*
 * cgroup_perf/rescan.h - when PMUs have come or gone, as with a module, or count on other CPUs.
 */
#ifndef HEADROOM_PLUGIN_CGROUP_PERF_RESCAN_H
#define HEADROOM_PLUGIN_CGROUP_PERF_RESCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hr_root;

struct perf_rescan {
    bool known;
    uint32_t hash;    /**< hr_perf_pmus_hash() */
    size_t cpus;      /**< that are online; 0: not known yet */
    uint64_t next_ns; /**< when it is due */
};

/** Begins with the PMUs that there are; call it before looking events up. */
void perf_rescan_begin(struct perf_rescan *rescan, const struct hr_root *root);

/**
 * Scans the PMUs again, if that is due: each minute, or as the number of CPUs has changed.
 *
 * @param cpus  how many are online; 0: that isn't known.
 * @return whether they have changed since they were scanned last.
 */
bool perf_rescan_finds_change(struct perf_rescan *rescan, const struct hr_root *root, size_t cpus);

#endif
