/* SPDX-License-Identifier: MIT */
/*
 * room/source_io.c - the room by I/O, of what was done since the reading before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/clock.h"
#include "room/cpu.h"
#include "room/io.h"
#include "room/machine.h"
#include "room/source.h"

static bool are_same_devices(const struct hr_stall_devices *a, const struct hr_stall_devices *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->list[i].major != b->list[i].major || a->list[i].minor != b->list[i].minor)
            return false;
    return true;
}

/* What was done before stays known. */
static void keep_done(const struct hr_room_source *source, struct hr_room_io_bound *bound)
{
    for (size_t i = 0; i < source->io_bound_count; i++) {
        const struct hr_room_io_bound *old = &source->io_bounds[i];
        if (old->directory == bound->directory) {
            bound->time_ns = old->time_ns;
            bound->group = old->group;
            bound->own = old->own;
        }
    }
}

static int list_bounds(const struct hr_room_source *source, struct hr_room_io_bound *bounds,
                       size_t *count)
{
    struct hr_room_directory *directory = source->unified.directory;
    int status = source->unified.status;

    *count = 0;
    for (size_t level = 0; status == 0 && directory != NULL;
         level++, directory = directory->above) {
        status = directory->io_status == -ENOENT ? 0 : directory->io_status;
        if (status < 0 || directory->io == NULL)
            continue;
        if (*count == HR_ROOM_LIMITS)
            return -E2BIG;
        bounds[*count] = (struct hr_room_io_bound){.directory = directory, .level = level};
        keep_done(source, &bounds[(*count)++]);
    }
    return status;
}

/* Most groups have none, and nothing is kept of these. */
void hr_room_source_list_io_bounds(struct hr_room_source *source)
{
    struct hr_room_io_bound bounds[HR_ROOM_LIMITS], *kept = NULL;
    size_t count;

    source->io_bounds_status = list_bounds(source, bounds, &count);
    if (count > 0) {
        kept = malloc(count * sizeof(*kept));
        if (kept == NULL)
            source->io_bounds_status = -ENOMEM;
        else
            memcpy(kept, bounds, count * sizeof(*kept));
    }
    free(source->io_bounds);
    source->io_bounds = kept;
    source->io_bound_count = kept != NULL ? count : 0;
}

static int read_done(const struct hr_room_source *source, const struct hr_room_io_bound *bound,
                     struct hr_stall_devices *group, struct hr_stall_devices *own)
{
    const struct hr_stall_devices *limits = &bound->directory->io->limits;
    const struct hr_group_base *base = &source->unified.base;

    int status = hr_room_directory_read_io(bound->directory, source->machine, base, bound->level,
                                           limits, group);
    if (status < 0)
        return status;
    return hr_room_directory_read_io(source->unified.directory, source->machine, base, 0, limits,
                                     own);
}

/* Limits of a group may have been read again for another group below it. @return -EAGAIN: there is
 * nothing yet to compare with. */
static int read_bound(const struct hr_room_source *source, struct hr_room_io_bound *bound,
                      struct hr_room_io *room)
{
    const uint64_t now_ns = hr_clock_ns();
    struct hr_stall_devices group, own;

    if (bound->directory->io == NULL)
        return 0; /* no limit any more */
    const bool has_before = bound->time_ns != 0 && now_ns > bound->time_ns &&
                            are_same_devices(&bound->group, &bound->directory->io->limits);
    int status = read_done(source, bound, &group, &own);
    if (status < 0)
        return status;
    if (has_before)
        hr_room_io_by_limit(&(struct hr_room_io_limit){.limits = &bound->directory->io->limits,
                                                       .before = &bound->group,
                                                       .now = &group,
                                                       .own_before = &bound->own,
                                                       .own_now = &own,
                                                       .level = bound->level},
                            (double)(now_ns - bound->time_ns) / HR_NS_PER_S, room);
    bound->time_ns = now_ns;
    bound->group = group;
    bound->own = own;
    return has_before ? 0 : -EAGAIN;
}

void hr_room_source_read_io(struct hr_room_source *source, bool is_stalled,
                            struct hr_room_reading *reading)
{
    struct hr_room_io *room = &reading->io;
    int status = source->expired_status < 0 ? source->expired_status : source->io_bounds_status;

    reading->io_limits_status = status;
    room->room.status = -ENOENT;
    for (size_t i = 0; i < source->io_bound_count; i++) {
        int read_status = read_bound(source, &source->io_bounds[i], room);
        if (status == 0)
            status = read_status;
    }
    if (is_stalled && room->room.status == 0)
        hr_room_set_trouble(&room->room);
    else if (status < 0) /* what can't be read may be the tightest */
        room->room.status = status;
}
