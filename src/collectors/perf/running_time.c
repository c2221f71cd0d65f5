/* SPDX-License-Identifier: MIT */
/*
 * perf/running_time.c - which kernels report right how long a cgroup's events counted.
 */
#include "headroom/perf.h"

#include <fcntl.h>
#include <stdint.h>

#include "base/text.h"
#include "headroom/root.h"

struct release {
    uint64_t major, minor, patch;
};

/* Of each series the first that is right. Series before 6.2 that aren't listed have no long-term
 * support but by distributions, which may have the new code in them, as in their 5.14. */
static const struct release right[] = {
    {4, 19, 0}, {5, 4, 0}, {5, 10, 0}, {5, 15, 0}, {6, 1, 0}, {6, 12, 115}, {7, 2, 13},
};
static const struct release right_since = {7, 3, 0};

/* "6.12.107+deb13-amd64\n", "6.8.0-45-generic\n", "7.3-rc1\n" */
static bool parse(struct hr_text text, struct release *release)
{
    if (!hr_text_u64(&text, &release->major) || !hr_text_skip(&text, ".") ||
        !hr_text_u64(&text, &release->minor))
        return false;
    release->patch = 0;
    return !hr_text_skip(&text, ".") || hr_text_u64(&text, &release->patch);
}

static bool is_right(const struct release *release)
{
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
        if (release->major == right[i].major && release->minor == right[i].minor)
            return release->patch >= right[i].patch;
    return release->major > right_since.major ||
           (release->major == right_since.major && release->minor >= right_since.minor);
}

bool hr_perf_is_running_time_right(const struct hr_root *root)
{
    struct release release;
    char buffer[128];
    struct hr_text text = {.start = buffer};

    int fd = hr_root_openat(root, "proc/sys/kernel/osrelease", O_RDONLY);
    return hr_text_read_and_close(fd, buffer, sizeof(buffer), &text.length) == 0 &&
           parse(text, &release) && is_right(&release);
}
