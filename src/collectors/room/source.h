/* SPDX-License-Identifier: MIT */
/*
 * room/source.h - what is kept of a group, or of the machine, whose room is computed.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_SOURCE_H
#define HEADROOM_COLLECTORS_ROOM_SOURCE_H

#include "headroom/room.h"
#include "room/directory.h"
#include "room/vmstat.h"
#include "room/working_set.h"

/** A group's directory in the hierarchy of a controller. */
struct hr_room_controller_directory {
    struct hr_group_base base;
    struct hr_room_directory *directory; /**< NULL: there is none, as status says */
    int status;
};

/** A limit of CPU time, of the group or of one above, as the sums are made of it. */
struct hr_room_cpu_bound {
    struct hr_room_directory *directory, *unified; /**< in the controller's hierarchy, in cgroup2 */
    size_t level;
    struct hr_cpu_max max;
};

/** The group, or one above, that limits its I/O. */
struct hr_room_io_bound {
    struct hr_room_directory *directory;
    size_t level;
    uint64_t all_ns, own_ns;          /**< when these were read; 0: not yet */
    struct hr_stall_devices all, own; /**< what that group, and the group itself, had done */
};

/** The group, or one above that limits its memory. */
struct hr_room_memory_level {
    struct hr_room_directory *directory;
    size_t level;
};

/** What the sums of CPU time are made of, at one time. */
struct hr_room_sums {
    uint64_t time_ns;
    size_t cpus;              /**< 0: not taken */
    unsigned revision;        /**< of which CPUs, and whose limits */
    unsigned height_revision; /**< of how high these are */
    uint64_t busy_us, used_us, stalled_us;
    struct hr_room_cpu_counts {
        uint64_t used_us;
        struct hr_cpu_stat throttling;
        struct hr_cpu_max max;
    } bound[HR_ROOM_LIMITS];
};

struct hr_room_source {
    struct hr_room_machine *machine;
    const struct hr_cgroup *group; /**< NULL: the machine */
    uint64_t point_ns;
    struct hr_psi *psi;
    bool has_previous;
    struct hr_psi_snapshot previous;
    double stall_s[HR_PSI_RESOURCE_COUNT]; /**< between that and the latest */

    unsigned number; /**< of the machine's sources */
    uint64_t limits_due_ns;
    uint64_t limits_read_ns; /**< all of them, whatever was found; 0: not yet */
    int limits_status;       /**< why some couldn't be read again: a transient failure */
    int expired_status;      /**< the same, for so long that what was known doesn't count; else 0 */
    struct hr_room_controller_directory unified, cpu, memory;
    struct hr_cpu_set *cpus;  /**< that the group may use; NULL: all */
    int cpus_status;          /**< 0: these are known */
    unsigned revision;        /**< of these, and of which groups have bounds of CPU time */
    unsigned height_revision; /**< of how high these are */
    int cpu_bounds_status;    /**< 0: all limits are known */
    size_t cpu_bound_count;
    struct hr_room_cpu_bound cpu_bounds[HR_ROOM_LIMITS];
    int memory_levels_status;
    size_t memory_level_count;
    struct hr_room_memory_level memory_levels[HR_ROOM_LIMITS]; /**< [0] is the group's own */

    struct hr_room_working_set working_set;
    struct hr_refault_cost refault_cost;
    bool reads_again; /**< it waits for memory: all of its files may be in use */

    int io_bounds_status;
    size_t io_bound_count;
    struct hr_room_io_bound *io_bounds; /**< NULL: there is none */

    bool has_vmstat;         /**< of the machine only: */
    struct hr_vmstat vmstat; /**< of the previous reading */

    struct hr_room_sums older, newer, last; /**< the last of all */
    uint64_t sums_begun_ns; /**< when sums of these CPUs and limits were taken first */
    bool is_in_cpu_trouble;
    bool has_cpu_load; /**< pressure was above the line, and not far below it since */
};

/** Reads the limits again, once they are a minute old, or in the next interval after a transient
 * failure; until then they stay as they were. */
void hr_room_source_refresh(struct hr_room_source *source);

/** Returns what hr_room_source_refresh() took. */
void hr_room_source_release(struct hr_room_source *source);

/** Fills in the room by CPU time. @param is_stalled  pressure was above the line. */
void hr_room_source_read_cpu(struct hr_room_source *source, double line_pct, bool is_stalled,
                             struct hr_room_reading *reading);

/** Lists the limits of I/O, as hr_room_source_refresh() does. */
void hr_room_source_list_io_bounds(struct hr_room_source *source);

/** Fills in the room by I/O. @param stalled  see hr_room_io_by_limit(). */
void hr_room_source_read_io(struct hr_room_source *source, double stalled,
                            struct hr_room_reading *reading);

/** Fills in the room by memory, and how long it lasts. @param line_pct  see hr_room_lines. */
void hr_room_source_read_memory(struct hr_room_source *source, double line_pct, bool is_stalled,
                                struct hr_room_reading *reading);

#endif
