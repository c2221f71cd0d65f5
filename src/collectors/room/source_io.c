/* SPDX-License-Identifier: MIT */
/*
 * room/source_io.c - the room by I/O, of what was done since the reading before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/clock.h"
#include "room/io.h"
#include "room/io_stat.h"
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
            bound->all_ns = old->all_ns;
            bound->own_ns = old->own_ns;
            bound->all = old->all;
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

/* What the group itself did, which is parsed for each limit's devices. */
struct own_text {
    char text[HR_ROOM_IO_STAT_SIZE];
    size_t length;
    uint64_t time_ns;
};

/* @return -ENODATA: its controller isn't enabled, whereas that of a group above is. */
static int read_own(const struct hr_room_source *source, struct own_text *own)
{
    own->time_ns = hr_clock_ns();
    int status = hr_room_directory_read_io_stat(source->unified.directory, &source->unified.base, 0,
                                                own->text, sizeof(own->text), &own->length);
    return status == -ENOENT ? -ENODATA : status;
}

static int read_done(const struct hr_room_source *source, const struct own_text *own,
                     struct hr_room_io_bound *bound)
{
    const struct hr_stall_devices *all;
    struct hr_stall_devices own_done;
    uint64_t all_ns;

    int status = hr_room_directory_read_limited_io(
        bound->directory, source->machine, &source->unified.base, bound->level, &all, &all_ns);
    if (status == 0)
        status = hr_io_stat_parse(own->text, own->length, &bound->directory->io->limits, &own_done);
    if (status < 0)
        return status;
    bound->all = *all;
    bound->all_ns = all_ns;
    bound->own = own_done;
    bound->own_ns = own->time_ns;
    return 0;
}

static double seconds(uint64_t from_ns, uint64_t to_ns)
{
    return (double)(to_ns - from_ns) / HR_NS_PER_S;
}

/* Limits of a group may have been read again for another group below it. @return -EAGAIN: there is
 * nothing yet to compare with. */
static int read_bound(const struct hr_room_source *source, const struct own_text *own,
                      struct hr_room_io_bound *bound, double stalled, struct hr_room_io *room)
{
    const struct hr_room_io_bound before = *bound;

    if (bound->directory->io == NULL)
        return 0; /* no limit any more */
    int status = read_done(source, own, bound);
    if (status < 0)
        return status;
    if (before.all_ns == 0 || bound->all_ns <= before.all_ns || bound->own_ns <= before.own_ns ||
        !are_same_devices(&before.all, &bound->all))
        return -EAGAIN;
    const struct hr_room_io_limit limit = {
        .limits = &bound->directory->io->limits,
        .all = {&before.all, &bound->all, seconds(before.all_ns, bound->all_ns)},
        .own = {&before.own, &bound->own, seconds(before.own_ns, bound->own_ns)},
        .level = bound->level,
    };
    hr_room_io_by_limit(&limit, stalled, room);
    return 0;
}

static int read_bounds(struct hr_room_source *source, double stalled, struct hr_room_io *room)
{
    struct own_text own;
    int status = source->io_bound_count > 0 ? read_own(source, &own) : 0;

    if (status < 0)
        return status;
    for (size_t i = 0; i < source->io_bound_count; i++) {
        int bound_status = read_bound(source, &own, &source->io_bounds[i], stalled, room);
        if (status == 0)
            status = bound_status;
    }
    return status;
}

/* What can't be read may be the tightest; but what is measured is. */
void hr_room_source_read_io(struct hr_room_source *source, double stalled,
                            struct hr_room_reading *reading)
{
    struct hr_room_io *room = &reading->io;

    reading->io_limits_status =
        source->expired_status < 0 ? source->expired_status : source->io_bounds_status;
    room->room.status = -ENOENT;
    int status = read_bounds(source, stalled, room);
    if (reading->io_limits_status < 0)
        status = reading->io_limits_status;
    if (status < 0 && !(room->room.status == 0 && room->room.is_in_trouble))
        room->room.status = status;
}
