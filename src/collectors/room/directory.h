/* SPDX-License-Identifier: MIT */
/*
 * room/directory.h - a group's directory in a hierarchy: its limits, what it uses, its trend. The
 * groups below share it, so that it is read once for all of them.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_DIRECTORY_H
#define HEADROOM_COLLECTORS_ROOM_DIRECTORY_H

#include <sys/queue.h>
#include <sys/types.h>

#include "headroom/forecast.h"
#include "headroom/stall_cause.h"
#include "headroom/stall_hour.h"
#include "room/cpu_max.h"
#include "room/cpu_stat.h"
#include "room/group_limits.h"
#include "room/kept_file.h"
#include "room/memory_use.h"

struct hr_room_machine;

enum hr_room_file {
    HR_ROOM_CPU_STAT_FILE,
    HR_ROOM_MEMORY_STAT_FILE,
    HR_ROOM_MEMORY_SIZE_FILE,
    HR_ROOM_SWAPPED_FILE,
    HR_ROOM_KILLS_FILE,
    HR_ROOM_IO_STAT_FILE,
    HR_ROOM_FILE_COUNT
};

/** Bytes for io.stat. */
#define HR_ROOM_IO_STAT_SIZE 16384

/** Of a group whose I/O is limited. */
struct hr_room_io_use {
    struct hr_stall_devices limits; /**< the devices that have one */
    struct hr_stall_devices done;   /**< on these */
    uint64_t done_ns, round;
    int done_status;
};

struct hr_room_directory {
    struct hr_room_directory *above; /**< NULL: the next is the mount's */
    int version;                     /**< of the hierarchy */
    int cpu_status;                  /**< 0: the next is known; not to be set is no limit */
    struct hr_cpu_max cpu;
    int memory_status; /**< 0: the next are known; -ENOENT: the controller isn't enabled */
    struct hr_group_memory_limits memory;
    int io_status;             /**< 0: the next is known; -ENOENT: the controller isn't enabled */
    struct hr_room_io_use *io; /**< NULL: no limit */
    struct hr_forecast *forecast; /**< of what can't be dropped of its memory; NULL: isn't made */
    struct hr_outlook outlook;
    struct hr_stall_hour *stall_hour; /**< NULL: isn't kept */
    bool needs_parts;                 /**< of its memory, when that is read next */

    /* private: */
    LIST_ENTRY(hr_room_directory) all;
    dev_t device;
    ino_t inode;
    size_t user_count;
    uint64_t limits_round, cpu_round, memory_round, forecast_round; /* when it was read last */
    int limits_status; /* why limits couldn't be read again, for now */
    int used_status, throttling_status, use_status;
    uint64_t used_us;
    struct hr_cpu_stat throttling;
    struct hr_memory_use use;
    int files[HR_ROOM_FILE_COUNT];
};

/**
 * Finds a group's directory and those above it. Their limits are to be read.
 *
 * @param levels     how many groups the path has.
 * @param directory  the caller returns it with hr_room_directory_put().
 * @return 0 or a negative errno.
 */
int hr_room_directory_get(struct hr_room_machine *machine, const struct hr_group_base *base,
                          int version, size_t levels, struct hr_room_directory **directory);

/** Returns it; NULL is allowed. Those without a user are freed. */
void hr_room_directory_put(struct hr_room_machine *machine, struct hr_room_directory *directory);

/**
 * Reads the limits of it and those above, each once after each hr_room_machine_read().
 *
 * @return 0; or a transient failure, by which some can't be read. Those that were known are
 *         left as they were.
 */
int hr_room_directory_refresh(struct hr_room_directory *directory,
                              const struct hr_room_machine *machine,
                              const struct hr_group_base *base);

/** Makes a forecast for it from now on, which goes on with what was saved of it. @return 0 or
 * -ENOMEM. */
int hr_room_directory_start_forecast(struct hr_room_directory *directory,
                                     struct hr_room_machine *machine, uint64_t point_ns);

/** What is kept of the stalls of its tasks, from the first call on; it goes on with what was saved.
 * @return NULL: memory is short. */
struct hr_stall_hour *hr_room_directory_stall_hour(struct hr_room_directory *directory,
                                                   struct hr_room_machine *machine);

/* The next four functions read at most once after each hr_room_machine_read(), however often they
 * are called; `level` counts the directories above the base. They return 0 or a negative errno. */

/** Reads the CPU time that was used, since it was created; of cgroup2 only. */
int hr_room_directory_read_used(struct hr_room_directory *directory,
                                const struct hr_room_machine *machine,
                                const struct hr_group_base *base, size_t level, uint64_t *used_us);

/** Reads how its limit of CPU time was enforced. */
int hr_room_directory_read_throttling(struct hr_room_directory *directory,
                                      const struct hr_room_machine *machine,
                                      const struct hr_group_base *base, size_t level,
                                      struct hr_cpu_stat *throttling);

/** Reads its memory. */
int hr_room_directory_read_memory(struct hr_room_directory *directory,
                                  const struct hr_room_machine *machine,
                                  const struct hr_group_base *base, size_t level,
                                  struct hr_memory_use *use);

/** Reads what it did on the devices that it has limits of. @param time_ns  receives when it was
 * read. */
int hr_room_directory_read_limited_io(struct hr_room_directory *directory,
                                      const struct hr_room_machine *machine,
                                      const struct hr_group_base *base, size_t level,
                                      const struct hr_stall_devices **done, uint64_t *time_ns);

/** Continues its forecast, if it has one; once after each hr_room_machine_read(). */
void hr_room_directory_update_forecast(struct hr_room_directory *directory,
                                       const struct hr_room_machine *machine, double level,
                                       double limit);

/** Reads its io.stat; each time. */
int hr_room_directory_read_io_stat(struct hr_room_directory *directory,
                                   const struct hr_group_base *base, size_t level, char *text,
                                   size_t size, size_t *length);

/** Reads how many of its processes were killed for lack of memory; each time. */
int hr_room_directory_read_kills(struct hr_room_directory *directory,
                                 const struct hr_group_base *base, uint64_t *count);

#endif
