/* SPDX-License-Identifier: MIT */
/*
 * room/machine.h - the machine's CPUs and memory, as the groups need them.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_MACHINE_H
#define HEADROOM_COLLECTORS_ROOM_MACHINE_H

#include <sys/queue.h>

#include "headroom/cpu_set.h"
#include "headroom/room.h"
#include "room/group_file.h"
#include "room/meminfo.h"

struct hr_room_machine {
    const struct hr_root *root;
    int cpus_status;      /**< 0: the next three are known */
    size_t cpu_count;     /**< that are online */
    uint64_t all_busy_us; /**< since boot */
    uint64_t busy_us[HR_CPU_MAX];
    int memory_status; /**< 0: the next is known */
    struct hr_meminfo meminfo;
    uint64_t disks_due_ns;              /**< when the next is to be read again */
    double disk_read_us;                /**< of a request; 0: not known */
    char *text;                         /**< to read /proc/stat into */
    uint64_t round;                     /**< how often it was read */
    struct hr_group_mounts mounts;      /**< found since then */
    void *directories;                  /**< see room/directory.h */
    LIST_HEAD(, hr_room_directory) all; /**< the same */
    unsigned source_count;              /**< how many sources were opened, ever */
    struct hr_room memory;              /**< its room, if memory_status is 0 */
    uint64_t point_ns;                  /**< of the next; 0: not yet known */
    struct hr_forecast forecast;
    struct hr_outlook outlook;
    struct hr_stall_hour stall_hour;
    struct hr_room_record *saved; /**< see room/history.h; NULL: none */
    size_t saved_count;
    uint64_t restored_ns;
    uint64_t read_ns; /**< the last time, also before what was restored; 0: never */
};

/** Makes a forecast of its memory from now on, if there is none yet. */
void hr_room_machine_start_forecast(struct hr_room_machine *machine, uint64_t point_ns);

/** How long its disks took for a read since boot, in the mean; as it was within the last minute.
 * @return 0: not known. */
double hr_room_machine_disk_read_us(struct hr_room_machine *machine);

/** What some CPUs were busy since boot, summed over them. @param cpus  NULL: all. @param count
 * receives how many they are. */
uint64_t hr_room_machine_busy(const struct hr_room_machine *machine, const struct hr_cpu_set *cpus,
                              size_t *count);

#endif
