/* SPDX-License-Identifier: MIT */
/*
 * room/source_limits.c - the limits of a group, and of all groups above it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/transient.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/cpu_set.h"
#include "room/cpuset.h"
#include "room/group_file.h"
#include "room/machine.h"
#include "room/source.h"

#define LIMITS_NS (60 * HR_NS_PER_S)

/* For so long what is known counts, where it can't be read again. */
#define STALE_NS (600 * HR_NS_PER_S)

static void note_failure(struct hr_room_source *source, int status)
{
    if (hr_is_transient(status) && source->limits_status == 0)
        source->limits_status = status;
}

/* --- Directories ---------------------------------------------------------------- */

static void release_directory(struct hr_room_source *source,
                              struct hr_room_controller_directory *own)
{
    hr_room_directory_put(source->machine, own->directory);
    own->directory = NULL;
    hr_descriptor_close(&own->base.fd);
}

/* What was known stays so after a transient failure: the directory has the forecast. */
static void handle_directory_failure(struct hr_room_source *source,
                                     struct hr_room_controller_directory *own, int status)
{
    const bool is_known = own->directory != NULL || source->limits_read_ns != 0;

    note_failure(source, status);
    if (is_known && hr_is_transient(status))
        return;
    release_directory(source, own);
    own->status = status;
}

/* The directory may be another than before, in version 1. The old one is released last, as the two
 * may be the same. */
static void replace_directory(struct hr_room_source *source,
                              struct hr_room_controller_directory *own, int fd, int version)
{
    struct hr_room_controller_directory replacement = {.base = {source->group, fd}};

    replacement.status = hr_room_directory_get(source->machine, &replacement.base, version,
                                               hr_group_count_levels(source->group->path, SIZE_MAX),
                                               &replacement.directory);
    if (replacement.status < 0) {
        hr_descriptor_close(&replacement.base.fd);
        handle_directory_failure(source, own, replacement.status);
        return;
    }
    release_directory(source, own);
    *own = replacement;
    note_failure(source, hr_room_directory_refresh(own->directory, source->machine, &own->base));
}

/* @param file  see hr_group_directory_open(). */
static void find_directory(struct hr_room_source *source, struct hr_room_controller_directory *own,
                           const char *controller, const char *file)
{
    int version, fd = hr_group_directory_open(source->machine->root, &source->machine->mounts,
                                              source->group, controller, file, &version);

    if (fd < 0) {
        handle_directory_failure(source, own, fd);
    } else if (version == 2) {
        close(fd);
        replace_directory(source, own, -1, version);
    } else if (hr_descriptor_keep(&fd, HR_KEEP_FILE)) {
        replace_directory(source, own, fd, version);
    } else {
        close(fd);
        handle_directory_failure(source, own, -EMFILE);
    }
}

/* --- CPU time --------------------------------------------------------------------- */

/* Where no group has the controller all may be used. One without a CPU has no tasks; those of the
 * groups below use others. */
static int find_cpus(const struct hr_room_source *source, struct hr_cpu_set *cpus, bool *are_all)
{
    int status =
        hr_cpuset_read(source->machine->root, &source->machine->mounts, source->group, cpus);

    *are_all = status == -ENOENT;
    if (status < 0)
        return *are_all ? 0 : status;
    const size_t count = hr_cpu_set_count(cpus);
    *are_all = count == source->machine->cpu_count;
    return count > 0 ? 0 : -ENXIO;
}

/* All CPUs are taken for none in particular: nothing is kept of these. @return whether they are
 * others than before, or -ENOMEM. */
static int keep_cpus(struct hr_room_source *source, const struct hr_cpu_set *cpus, bool are_all)
{
    const bool were_all = source->cpus == NULL;

    if (are_all) {
        free(source->cpus);
        source->cpus = NULL;
        return !were_all;
    }
    if (!were_all && hr_cpu_set_equal(cpus, source->cpus))
        return false;
    if (were_all)
        source->cpus = malloc(sizeof(*cpus));
    if (source->cpus == NULL)
        return -ENOMEM;
    *source->cpus = *cpus;
    return true;
}

/* @return whether they are others than before. */
static bool read_cpus(struct hr_room_source *source)
{
    struct hr_cpu_set cpus;
    bool are_all, are_others = false;
    int status = find_cpus(source, &cpus, &are_all);

    if (status == 0) {
        status = keep_cpus(source, &cpus, are_all);
        are_others = status > 0;
        status = status < 0 ? status : 0;
    }
    note_failure(source, status);
    if (!hr_is_transient(status) || source->limits_read_ns == 0)
        source->cpus_status = status;
    return are_others;
}

static int add_cpu_bound(const struct hr_room_cpu_bound *bound,
                         struct hr_room_cpu_bound bounds[HR_ROOM_LIMITS], size_t *count)
{
    if (bound->directory->cpu_status < 0)
        return bound->directory->cpu_status;
    if (bound->directory->cpu.quota_us == UINT64_MAX)
        return 0;
    if (*count == HR_ROOM_LIMITS)
        return -E2BIG;
    bounds[(*count)++] = *bound;
    return 0;
}

static int list_cpu_bounds(const struct hr_room_source *source,
                           struct hr_room_cpu_bound bounds[HR_ROOM_LIMITS], size_t *count)
{
    struct hr_room_cpu_bound bound = {source->cpu.directory, source->unified.directory, 0, {0, 0}};
    int status = source->cpus_status;

    if (status == 0 && source->cpu.status != -ENOENT)
        status = source->cpu.status;
    *count = 0;
    for (; status == 0 && bound.directory != NULL; bound.level++) {
        bound.max = bound.directory->cpu;
        status = add_cpu_bound(&bound, bounds, count);
        bound.directory = bound.directory->above;
        bound.unified = bound.unified != NULL ? bound.unified->above : NULL;
    }
    return status;
}

static bool are_of_same_groups(const struct hr_room_cpu_bound *a, const struct hr_room_cpu_bound *b,
                               size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].directory != b[i].directory)
            return false;
    return true;
}

static bool are_as_high(const struct hr_room_cpu_bound *a, const struct hr_room_cpu_bound *b,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].max.quota_us != b[i].max.quota_us || a[i].max.period_us != b[i].max.period_us)
            return false;
    return true;
}

static void read_cpu_bounds(struct hr_room_source *source)
{
    struct hr_room_cpu_bound bounds[HR_ROOM_LIMITS];
    size_t count;
    const bool are_others = read_cpus(source);
    const int status = list_cpu_bounds(source, bounds, &count);

    if (are_others || status != source->cpu_bounds_status || count != source->cpu_bound_count ||
        !are_of_same_groups(bounds, source->cpu_bounds, count))
        source->revision++;
    else if (!are_as_high(bounds, source->cpu_bounds, count))
        source->height_revision++;
    source->cpu_bounds_status = status;
    source->cpu_bound_count = count;
    memcpy(source->cpu_bounds, bounds, count * sizeof(*bounds));
}

/* --- Memory ------------------------------------------------------------------------- */

static bool is_limited(const struct hr_room_directory *directory)
{
    return directory->memory.bytes != UINT64_MAX || directory->memory.swap_bytes != UINT64_MAX;
}

static int add_memory_level(struct hr_room_source *source, struct hr_room_directory *directory,
                            size_t level)
{
    if (level > 0 && !is_limited(directory))
        return 0;
    if (source->memory_level_count == HR_ROOM_LIMITS)
        return -E2BIG;
    source->memory_levels[source->memory_level_count++] =
        (struct hr_room_memory_level){directory, level};
    return hr_room_directory_start_forecast(directory, source->machine, source->point_ns);
}

static void list_memory_levels(struct hr_room_source *source)
{
    struct hr_room_directory *directory = source->memory.directory;
    int status = source->memory.status;

    source->memory_level_count = 0;
    if (status == 0 && directory->memory_status == -ENOENT)
        source->memory.status = -ENOENT; /* the controller isn't enabled */
    for (size_t level = 0; status == 0 && directory != NULL; level++) {
        status = directory->memory_status;
        if (status < 0 || (level > 0 && !directory->memory.counts_below))
            break;
        status = add_memory_level(source, directory, level);
        directory = directory->above;
    }
    source->memory_levels_status = status;
}

/* --- All ------------------------------------------------------------------------------ */

/* The first minute is shorter, for each group otherwise, so that not all are due in the same
 * interval; from then on each has its own time. */
static void schedule(struct hr_room_source *source, uint64_t now_ns)
{
    const uint32_t golden = 0x9E3779B9u, phase = source->number * golden;

    if (source->limits_due_ns == 0)
        source->limits_due_ns = now_ns + ((phase >> 16) * LIMITS_NS >> 16);
    else if (now_ns >= source->limits_due_ns)
        source->limits_due_ns += ((now_ns - source->limits_due_ns) / LIMITS_NS + 1) * LIMITS_NS;
}

/* Limits that were read long ago may have changed. */
static void expire(struct hr_room_source *source, uint64_t now_ns)
{
    if (source->limits_status == 0)
        source->limits_read_ns = now_ns;
    source->expired_status = now_ns - source->limits_read_ns > STALE_NS ? source->limits_status : 0;
}

void hr_room_source_refresh(struct hr_room_source *source)
{
    const uint64_t now_ns = hr_clock_ns();

    if (source->group == NULL || (now_ns < source->limits_due_ns && source->limits_status == 0))
        return;
    schedule(source, now_ns);
    source->limits_status = 0;
    replace_directory(source, &source->unified, -1, 2);
    find_directory(source, &source->cpu, "cpu", "cpu.max");
    find_directory(source, &source->memory, "memory", "memory.max");
    if (source->memory.status == -ENOENT)
        source->memory.status = -EXDEV;
    read_cpu_bounds(source);
    list_memory_levels(source);
    hr_room_source_list_io_bounds(source);
    expire(source, now_ns);
}

void hr_room_source_release(struct hr_room_source *source)
{
    free(source->io_bounds);
    source->io_bounds = NULL;
    source->io_bound_count = 0;
    release_directory(source, &source->unified);
    release_directory(source, &source->cpu);
    release_directory(source, &source->memory);
    free(source->cpus);
    source->cpus = NULL;
}
