/* SPDX-License-Identifier: MIT */
/*
 * perf/running_time.c - which kernels report right how long a cgroup's events counted.
 */
#include "headroom/perf.h"

#include "base/release.h"

/* Of each series the first that is right. Series before 6.2 that aren't listed have no long-term
 * support but by distributions, which may have the new code in them, as in their 5.14. */
static const struct hr_release right[] = {
    {4, 19, 0}, {5, 4, 0}, {5, 10, 0}, {5, 15, 0}, {6, 1, 0}, {6, 12, 115}, {7, 2, 13},
};
static const struct hr_release right_since = {7, 3, 0};

static bool is_right(const struct hr_release *release)
{
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
        if (release->major == right[i].major && release->minor == right[i].minor)
            return release->patch >= right[i].patch;
    return release->major > right_since.major ||
           (release->major == right_since.major && release->minor >= right_since.minor);
}

bool hr_perf_is_running_time_right(const struct hr_root *root)
{
    struct hr_release release;

    return hr_release_read(root, &release) == 0 && is_right(&release);
}
