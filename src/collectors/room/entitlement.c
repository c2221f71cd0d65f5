/* SPDX-License-Identifier: MIT */
#include "headroom/entitlement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/cgroup.h"
#include "room/group_file.h"
#include "room/memory_limit.h"

#define LEVELS_MAX 16

/* What cpu.weight prints as 0, cpu.idle, weighs 3 where a weight of 100 is 1024. */
#define IDLE_WEIGHT 0.3

/* How many groups there are from the one below `above` to the group. */
static size_t levels_below(const struct hr_cgroup *group, const char *above)
{
    const size_t levels = hr_group_count_levels(group->path, SIZE_MAX);

    return above[0] == '\0' ? levels : levels - hr_group_count_levels(above, levels);
}

/* --- Memory ------------------------------------------------------------------------- */

static int read_bytes(int dirfd, const char *name, uint64_t *bytes)
{
    char text[64];
    size_t length;

    int status = hr_group_file_read(dirfd, name, text, sizeof(text), &length);
    return status < 0 ? status : hr_memory_limit_parse(text, length, bytes);
}

/* The least of memory.low and that of memory.min, each of all levels so far. */
struct protection {
    uint64_t low_bytes, min_bytes;
};

static int lower_by(int dirfd, const char *name, uint64_t *least_bytes)
{
    uint64_t bytes;

    int status = read_bytes(dirfd, name, &bytes);
    if (status == 0 && bytes < *least_bytes)
        *least_bytes = bytes;
    return status;
}

static int lower_by_level(int dirfd, struct protection *least)
{
    int status = lower_by(dirfd, "memory.low", &least->low_bytes);

    return status < 0 ? status : lower_by(dirfd, "memory.min", &least->min_bytes);
}

/* The kernel hands the two down apart: memory.min of one level saves no memory.low below it.
 * Closes the directory. */
static int read_protected(int dirfd, size_t levels, uint64_t *bytes)
{
    struct protection least = {UINT64_MAX, UINT64_MAX};
    int status = 0;

    for (size_t level = 0; status == 0 && level < levels; level++) {
        if (level > 0)
            dirfd = hr_group_directory_ascend(dirfd);
        if (dirfd < 0)
            return dirfd;
        status = lower_by_level(dirfd, &least);
    }
    close(dirfd);
    if (status == 0)
        *bytes = least.low_bytes > least.min_bytes ? least.low_bytes : least.min_bytes;
    return status;
}

int hr_memory_protection_read(const struct hr_root *root, const struct hr_cgroup *group,
                              const char *above, uint64_t *bytes)
{
    const size_t levels = levels_below(group, above);
    int version, dirfd = -1;

    if (levels > 0)
        dirfd = hr_group_directory_open(root, NULL, group, "memory", "memory.low", &version);
    if (levels > 0 && dirfd < 0)
        return dirfd;
    if (levels > 0 && version == 2)
        return read_protected(dirfd, levels, bytes);
    if (levels > 0)
        close(dirfd);
    *bytes = 0;
    return 0;
}

/* --- CPU time ----------------------------------------------------------------------- */

/* Of a contender, from that of the topmost group down to its own. */
struct weights {
    size_t count;
    double of[LEVELS_MAX];
};

static int read_weight(int dirfd, int version, double *weight)
{
    char text[64];
    size_t length;
    uint64_t number;

    int status = hr_group_file_read(dirfd, version == 2 ? "cpu.weight" : "cpu.shares", text,
                                    sizeof(text), &length);
    if (status == 0)
        status = hr_text_number_parse(text, length, UINT32_MAX, &number);
    if (status == 0)
        *weight = number > 0 ? (double)number : IDLE_WEIGHT;
    return status;
}

static int read_weights(const struct hr_root *root, const struct hr_cgroup *group,
                        const char *above, struct weights *weights)
{
    int version, status = 0;

    weights->count = levels_below(group, above);
    if (weights->count == 0)
        return 0;
    if (weights->count > LEVELS_MAX)
        return -E2BIG;
    int dirfd = hr_group_directory_open(root, NULL, group, "cpu", "cpu.weight", &version);
    for (size_t level = weights->count; status == 0 && level-- > 0;) {
        if (level + 1 < weights->count)
            dirfd = hr_group_directory_ascend(dirfd);
        if (dirfd < 0)
            return dirfd;
        status = read_weight(dirfd, version, &weights->of[level]);
    }
    close(dirfd);
    return status;
}

/* Contenders of a range are within the same group; what is below it in their paths begins at the
 * same place. */
struct range {
    const struct weights *weights;
    struct hr_cpu_contender *contenders;
    size_t count, level, path_start;
};

/* Where the name of the group ends that a contender is in, or is, on the range's level. */
static size_t name_end(const struct range *range, size_t contender)
{
    const char *path = range->contenders[contender].group->path;

    return range->path_start + strcspn(path + range->path_start, "/");
}

/* @return how many contenders from one on are in the same group. */
static size_t count_in_group(const struct range *range, size_t first)
{
    const size_t end = name_end(range, first), length = end - range->path_start;
    const char *name = range->contenders[first].group->path + range->path_start;
    size_t last = first + 1;

    while (last < range->count && name_end(range, last) == end &&
           memcmp(range->contenders[last].group->path + range->path_start, name, length) == 0)
        last++;
    return last - first;
}

static void divide(const struct range *range, double cpus)
{
    double sum = 0;

    for (size_t i = 0; i < range->count; i += count_in_group(range, i))
        sum += range->weights[i].of[range->level];
    for (size_t i = 0, count; i < range->count; i += count) {
        const double share = cpus * range->weights[i].of[range->level] / sum;
        count = count_in_group(range, i);
        const struct range inner = {range->weights + i, range->contenders + i, count,
                                    range->level + 1, name_end(range, i) + 1};
        if (inner.level < range->weights[i].count)
            divide(&inner, share);
        else
            range->contenders[i].fair_cpus = share;
    }
}

int hr_cpu_divide(const struct hr_root *root, const char *above, double cpus,
                  struct hr_cpu_contender *contenders, size_t count)
{
    struct weights *weights = calloc(count + 1, sizeof(*weights));
    int status = weights != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; status == 0 && i < count; i++)
        status = read_weights(root, contenders[i].group, above, &weights[i]);
    if (status == 0 && count == 1 && weights[0].count == 0)
        contenders[0].fair_cpus = cpus; /* it is what they are within */
    else if (status == 0)
        divide(&(struct range){weights, contenders, count, 0,
                               above[0] == '\0' ? 0 : strlen(above) + 1},
               cpus);
    free(weights);
    return status;
}
