/* SPDX-License-Identifier: MIT */
#include "headroom/reclaim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/reason.h"
#include "base/text.h"
#include "headroom/cgroup.h"
#include "headroom/root.h"
#include "room/group_file.h"
#include "room/kept_file.h"
#include "room/meminfo.h"
#include "room/memory.h"
#include "room/memory_use.h"

struct hr_reclaim {
    const struct hr_root *root;
    struct hr_group_base base;
    size_t level_count; /* the group and those above it, without the mount's own */
    struct hr_psi *psi;
    int fd; /* memory.reclaim */
    int stat, size;
};

/* --- Opening -------------------------------------------------------------------- */

static int explain_no_controller(const struct hr_root *root, struct hr_reason *reason)
{
    int version = 2, mount = hr_root_open_cgroup(root, "memory", &version);

    hr_descriptor_close(&mount);
    if (version == 1)
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "the memory controller belongs to a cgroup version 1 hierarchy, which "
                             "has no memory.reclaim: boot with cgroup_no_v1=memory");
    return hr_reason_set(reason, -ENOENT,
                         "the memory controller isn't enabled for the cgroup: write +memory to "
                         "cgroup.subtree_control of the one above");
}

static int explain_no_file(const struct hr_cgroup *group, const struct hr_root *root,
                           struct hr_reason *reason)
{
    int fd = hr_cgroup_openat(group, "memory.current", O_RDONLY);

    if (fd < 0)
        return fd == -ENOENT ? explain_no_controller(root, reason) : fd;
    close(fd);
    return hr_reason_set(reason, -ENOENT,
                         "this kernel has no memory.reclaim: it takes Linux 5.19 or newer");
}

static int explain(int status, struct hr_reason *reason)
{
    switch (status) {
    case -ENODEV:
        return hr_reason_set(reason, status, "there is no such cgroup (any more)");
    case -ENOENT:
        return hr_reason_set(reason, status, "the memory controller isn't enabled any more");
    case -EACCES:
    case -EPERM:
        return hr_reason_set(reason, status,
                             "no permission to write to its memory.reclaim: run this as root, or "
                             "as the user that the cgroup belongs to");
    case -EROFS:
        return hr_reason_set(reason, status,
                             "cgroups can't be written to here, as in most containers: run this "
                             "on the host");
    default:
        return hr_reason_set(reason, status, "%s", strerror(-status));
    }
}

static int open_file(struct hr_reclaim *reclaim, struct hr_reason *reason)
{
    const struct hr_cgroup *group = reclaim->base.group;
    int fd = hr_cgroup_openat(group, "memory.reclaim", O_WRONLY);

    if (fd == -ENOENT)
        return explain_no_file(group, reclaim->root, reason);
    if (fd < 0)
        return fd;
    reclaim->fd = fd;
    return 0;
}

int hr_reclaim_open(const struct hr_root *root, const struct hr_cgroup *group,
                    struct hr_reclaim **reclaim, struct hr_reason *reason)
{
    const struct hr_psi_options options = {
        .resources = {[HR_PSI_MEMORY] = true, [HR_PSI_IO] = true}};
    struct hr_reclaim *opened = calloc(1, sizeof(*opened));
    int status = -ENOMEM;

    hr_reason_clear(reason);
    if (opened != NULL) {
        *opened = (struct hr_reclaim){
            .root = root,
            .base = {.group = group, .fd = -1},
            .level_count = hr_group_count_levels(group->path, SIZE_MAX),
            .fd = -1,
            .stat = HR_FILE_CLOSED,
            .size = HR_FILE_CLOSED,
        };
        status = open_file(opened, reason);
    }
    if (status == 0)
        status = hr_psi_open_cgroup(group, &options, &opened->psi);
    if (status == 0) {
        *reclaim = opened;
        return 0;
    }
    hr_reclaim_close(opened);
    return reason != NULL && reason->error != 0 ? status : explain(status, reason);
}

void hr_reclaim_close(struct hr_reclaim *reclaim)
{
    if (reclaim == NULL)
        return;
    hr_descriptor_close(&reclaim->fd);
    hr_kept_file_close(&reclaim->stat);
    hr_kept_file_close(&reclaim->size);
    hr_psi_close(reclaim->psi);
    free(reclaim);
}

/* --- What there is -------------------------------------------------------------- */

static int read_number(const struct hr_group_base *base, size_t level, const char *name,
                       uint64_t *number)
{
    char text[64];
    size_t length;

    int status = hr_text_read_and_close(hr_group_base_open(base, level, name, O_RDONLY), text,
                                        sizeof(text), &length);
    return status < 0 ? status : hr_text_number_parse(text, length, UINT64_MAX, number);
}

/* How much more one level may swap out. @return 0, also without swap accounting. */
static int read_swap_left(const struct hr_group_base *base, size_t level, uint64_t *left_bytes)
{
    uint64_t limit_bytes, used_bytes;
    int dirfd = hr_group_base_open(base, level, ".", O_RDONLY | O_DIRECTORY);

    if (dirfd < 0)
        return dirfd;
    int status = hr_swap_limit_read(dirfd, 2, &limit_bytes);
    close(dirfd);
    if (status == 0)
        status = read_number(base, level, "memory.swap.current", &used_bytes);
    if (status == -ENOENT)
        return 0;
    if (status < 0)
        return status;
    const uint64_t bytes = limit_bytes > used_bytes ? limit_bytes - used_bytes : 0;
    if (limit_bytes != UINT64_MAX && bytes < *left_bytes)
        *left_bytes = bytes;
    return 0;
}

/* What swap space has left for the group. */
static int find_swap_left(const struct hr_reclaim *reclaim, uint64_t *left_bytes)
{
    struct hr_meminfo meminfo;
    int status = hr_meminfo_read(reclaim->root, &meminfo);

    if (status < 0)
        return status;
    *left_bytes = meminfo.swap_free_bytes;
    for (size_t level = 0; status == 0 && *left_bytes > 0 && level < reclaim->level_count; level++)
        status = read_swap_left(&reclaim->base, level, left_bytes);
    return status;
}

static int read_memory(struct hr_reclaim *reclaim, struct hr_reclaim_state *state)
{
    const struct hr_memory_use_files files = {
        .base = &reclaim->base, .stat = &reclaim->stat, .size = &reclaim->size, .with_parts = true};
    struct hr_memory_use use;
    uint64_t swap_left_bytes = 0;

    int status = hr_memory_use_read(&files, 2, &use);
    if (status == 0 && !use.has_parts)
        status = -ENODATA;
    if (status == 0)
        status = find_swap_left(reclaim, &swap_left_bytes);
    if (status < 0)
        return status;
    const uint64_t resident_bytes = hr_memory_resident(&use), anon_bytes = use.parts.anon_bytes;
    const uint64_t swappable_bytes =
        anon_bytes < resident_bytes ? anon_bytes : resident_bytes; /* read at different times */
    state->current_bytes = use.current_bytes;
    state->takeable_bytes = use.current_bytes - resident_bytes +
                            (swappable_bytes < swap_left_bytes ? swappable_bytes : swap_left_bytes);
    state->refault_count = use.parts.refault_count;
    return 0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static int read_stalls(struct hr_reclaim *reclaim, struct hr_reclaim_state *state,
                       struct hr_reason *reason)
{
    static const enum hr_psi_resource resources[] = {HR_PSI_MEMORY, HR_PSI_IO};
    struct hr_psi_snapshot snapshot;
    int status = hr_psi_read(reclaim->psi, &snapshot);

    for (int i = 0; status == 0 && i < 2; i++) {
        const enum hr_psi_resource resource = resources[i];
        const struct hr_psi_stall *some = &snapshot.sample[resource].stall[HR_PSI_SOME];
        status = snapshot.status[resource];
        if (status == 0 && !some->present)
            status = -ENODATA;
        if (status < 0 && status != -ENODEV)
            hr_psi_explain(status, resource, false, reason);
        if (status == 0)
            state->stalled_pct[resource] = larger(some->avg10_pct, some->avg60_pct);
    }
    return status;
}

int hr_reclaim_read(struct hr_reclaim *reclaim, struct hr_reclaim_state *state,
                    struct hr_reason *reason)
{
    struct hr_reclaim_state now = {.current_bytes = 0};
    struct hr_reason cause = {0};

    hr_reason_clear(reason);
    int status = read_memory(reclaim, &now);
    if (status == 0)
        status = read_stalls(reclaim, &now, &cause);
    if (status == 0)
        *state = now;
    else if (cause.error == 0)
        return explain(status, reason);
    else if (reason != NULL)
        *reason = cause;
    return status;
}

/* --- Taking --------------------------------------------------------------------- */

int hr_reclaim_take(struct hr_reclaim *reclaim, uint64_t bytes, struct hr_reason *reason)
{
    char text[32];

    hr_reason_clear(reason);
    const int length = snprintf(text, sizeof(text), "%" PRIu64, bytes);
    if (pwrite(reclaim->fd, text, (size_t)length, 0) >= 0)
        return 0;
    const int status = -errno;
    return status == -EAGAIN || status == -EINTR ? status : explain(status, reason);
}
