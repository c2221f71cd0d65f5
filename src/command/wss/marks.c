/* SPDX-License-Identifier: MIT */
#include "wss/marks.h"

#include <math.h>
#include <string.h>

#include "headroom/cgroup.h"
#include "headroom/limits.h"
#include "headroom/root.h"

#define MIB 1048576.0

/* A mark so many times as high as the highest point leaves these a quarter of the chart. */
#define HIGHEST 4

static void add(struct wss_marks *marks, const char *what, uint64_t bytes, double highest)
{
    const double mib = (double)bytes / MIB;

    if (mib > HIGHEST * highest) {
        const size_t length = strlen(marks->beyond);
        snprintf(marks->beyond + length, sizeof(marks->beyond) - length, ", %s %.10g MiB", what,
                 round(mib));
        return;
    }
    char *name = marks->names[marks->count];
    snprintf(name, sizeof(marks->names[0]), "%s %.10g MiB", what, round(mib));
    marks->list[marks->count++] = (struct chart_mark){mib, name};
}

static int read_limit_of(const struct hr_root *root, const struct hr_cgroup *group,
                         struct hr_limit *limit)
{
    struct hr_limits *limits;
    int status = hr_limits_open(root, group, &limits);

    if (status != 0)
        return status;
    status = hr_limits_read(limits, limit);
    hr_limits_close(limits);
    return status;
}

static bool find_limit(const struct hr_root *root, const char *path, struct hr_limit *limit)
{
    const char *const patterns[] = {path};
    const struct hr_cgroup_options options = {
        .patterns = patterns, .pattern_count = 1, .once = true};
    struct hr_cgroup_set *set;

    if (hr_cgroup_set_open(root, &options, &set) != 0)
        return false;
    const struct hr_cgroup *group =
        hr_cgroup_set_read(set) == 0 ? hr_cgroup_set_next(set, NULL) : NULL;
    const bool is_found = group != NULL && strcmp(group->path, path) == 0 &&
                          read_limit_of(root, group, limit) == 0 && limit->value != HR_NO_LIMIT;
    hr_cgroup_set_close(set);
    return is_found;
}

void wss_marks_find(const struct hr_root *root, const struct hr_wss_target *target,
                    const struct hr_wss_sample *sample, const struct point *points, size_t count,
                    struct wss_marks *marks)
{
    struct hr_limit limit;
    double highest = 0;

    *marks = (struct wss_marks){0};
    for (size_t i = 0; i < count; i++)
        highest = fmax(highest, points[i].y);
    if (sample->has_rss)
        add(marks, "RSS", sample->rss_bytes, highest);
    if (target->scope == HR_WSS_CGROUP && find_limit(root, target->cgroup, &limit))
        add(marks, "limit", limit.value, highest);
}
