/* SPDX-License-Identifier: MIT */
#include "headroom/psi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "psi/file.h"

static const char *const resource_names[HR_PSI_RESOURCE_COUNT] = {
    [HR_PSI_CPU] = "cpu",
    [HR_PSI_MEMORY] = "memory",
    [HR_PSI_IO] = "io",
    [HR_PSI_IRQ] = "irq",
};

static const char *const level_names[HR_PSI_LEVEL_COUNT] = {
    [HR_PSI_SOME] = "some",
    [HR_PSI_FULL] = "full",
};

struct hr_psi {
    struct hr_psi_target target;
    struct hr_psi_options options;
    int fd[HR_PSI_RESOURCE_COUNT];               /* kept open, or -1 */
    int absence[HR_PSI_RESOURCE_COUNT];          /* 0, or why the file is missing */
    uint64_t retry_at_ns[HR_PSI_RESOURCE_COUNT]; /* if absent */
};

const char *hr_psi_resource_name(enum hr_psi_resource resource)
{
    return resource_names[resource];
}

const char *hr_psi_level_name(enum hr_psi_level level)
{
    return level_names[level];
}

int hr_psi_delta(const struct hr_psi_sample *before, const struct hr_psi_sample *after,
                 enum hr_psi_level level, double *pct)
{
    const struct hr_psi_stall *from = &before->stall[level], *to = &after->stall[level];

    if (!from->present || !to->present || after->time_ns <= before->time_ns ||
        to->total_us < from->total_us)
        return -ENODATA;

    double stalled_ns = (double)(to->total_us - from->total_us) * HR_NS_PER_US;
    double share = 100 * stalled_ns / (double)(after->time_ns - before->time_ns);
    *pct = share > 100 ? 100 : share;
    return 0;
}

/* --- Opening -------------------------------------------------------------- */

static int open_target(const struct hr_root *root, const struct hr_cgroup *group,
                       const struct hr_psi_options *options, struct hr_psi **psi)
{
    struct hr_psi *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->target = (struct hr_psi_target){root, group};
    opened->options = *options;
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        opened->fd[i] = -1;
    *psi = opened;
    return 0;
}

int hr_psi_open_system(const struct hr_root *root, const struct hr_psi_options *options,
                       struct hr_psi **psi)
{
    return open_target(root, NULL, options, psi);
}

int hr_psi_open_cgroup(const struct hr_cgroup *group, const struct hr_psi_options *options,
                       struct hr_psi **psi)
{
    return open_target(NULL, group, options, psi);
}

void hr_psi_close(struct hr_psi *psi)
{
    if (psi == NULL)
        return;
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        hr_descriptor_close(&psi->fd[i]);
    free(psi);
}

/* --- Reading -------------------------------------------------------------- */

static bool is_absence(int status)
{
    return status == -ENOENT || status == -EOPNOTSUPP;
}

static int read_file(struct hr_psi *psi, enum hr_psi_resource resource, int dirfd,
                     struct hr_psi_sample *sample)
{
    int *kept = &psi->fd[resource];
    int status;

    if (*kept >= 0) {
        status = hr_psi_file_read(*kept, &psi->target, resource, sample);
        if (status != -ENODEV)
            return status;
        hr_descriptor_close(kept); /* the group was removed, or its pressure disabled */
    }
    int fd = hr_psi_file_open(&psi->target, resource, dirfd, O_RDONLY);
    if (fd < 0)
        return fd;
    status = hr_psi_file_read(fd, &psi->target, resource, sample);
    if (status == 0 && hr_descriptor_keep(&fd, HR_KEEP_FILE))
        *kept = fd;
    else
        close(fd);
    return status;
}

/* Whether the file was found missing less than retry_ns ago. */
static bool is_absence_cached(const struct hr_psi *psi, enum hr_psi_resource resource)
{
    return psi->absence[resource] != 0 && psi->options.retry_ns != 0 &&
           hr_clock_ns() < psi->retry_at_ns[resource];
}

static int read_resource(struct hr_psi *psi, enum hr_psi_resource resource, int dirfd,
                         struct hr_psi_sample *sample)
{
    if (!psi->options.resources[resource])
        return -ECANCELED;
    if (is_absence_cached(psi, resource))
        return psi->absence[resource];

    int status = read_file(psi, resource, dirfd, sample);
    psi->absence[resource] = is_absence(status) ? status : 0;
    if (is_absence(status))
        psi->retry_at_ns[resource] = hr_clock_ns() + psi->options.retry_ns;
    return status;
}

/* Whether the next read opens the file. */
static bool needs_to_open(const struct hr_psi *psi, enum hr_psi_resource resource)
{
    return psi->options.resources[resource] && psi->fd[resource] < 0 &&
           !is_absence_cached(psi, resource);
}

static bool needs_to_open_files(const struct hr_psi *psi)
{
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        if (needs_to_open(psi, i))
            return true;
    return false;
}

/* @param by_path  receives the group's directory if it had to be opened, for the caller to close;
 * else -1. @return the directory in which files are opened. */
static int find_directory(const struct hr_psi *psi, bool is_needed, int *by_path)
{
    const struct hr_cgroup *group = psi->target.group;
    const int kept = group != NULL ? group->dirfd : -1;

    *by_path = -1;
    if (group != NULL && kept < 0 && is_needed)
        *by_path = hr_cgroup_openat(group, ".", O_RDONLY | O_DIRECTORY);
    return *by_path != -1 ? *by_path : kept;
}

int hr_psi_read(struct hr_psi *psi, struct hr_psi_snapshot *snapshot)
{
    int by_path, result = 0;
    const int dirfd = find_directory(psi, needs_to_open_files(psi), &by_path);

    snapshot->reopened_count = 0;
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++) {
        snapshot->status[i] = read_resource(psi, i, dirfd, &snapshot->sample[i]);
        snapshot->reopened_count += snapshot->status[i] == 0 && psi->fd[i] < 0;
        if (snapshot->status[i] == -ENODEV)
            result = -ENODEV;
    }
    hr_descriptor_close(&by_path);
    return result;
}

int hr_psi_read_resource(struct hr_psi *psi, enum hr_psi_resource resource,
                         struct hr_psi_sample *sample)
{
    int by_path;
    const int dirfd = find_directory(psi, needs_to_open(psi, resource), &by_path);
    const int status = read_resource(psi, resource, dirfd, sample);

    hr_descriptor_close(&by_path);
    return status;
}
