/* SPDX-License-Identifier: MIT */
/*
 * wss/throttling.c - whether a limit of CPU time stops a thread in the middle of a scan.
 *
 * Source: kernel/sched/fair.c (throttle_cfs_rq, throttle_cfs_rq_work).
 */
#include "base/release.h"
#include "headroom/wss.h"

/* Only a limit of our own would show it, so the release decides. An unknown one
 * counts as a later one. */
bool hr_wss_scans_are_throttled(const struct hr_root *root)
{
    struct hr_release release;

    return hr_release_read(root, &release) == 0 &&
           (release.major < 6 || (release.major == 6 && release.minor < 18));
}
