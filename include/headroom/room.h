/* SPDX-License-Identifier: MIT */
/*
 * headroom/room.h - how much more a group, or the machine, could take of a resource before its
 * tasks are in trouble, everybody else unchanged; what binds; and how long that lasts.
 *
 * `used` is what it needs now, `attainable` what it could have before its tasks are stalled for as
 * long as its trouble line says; the room is 100 * (1 - used / attainable). Measured pressure above
 * the line means no room, whatever else is computed.
 *
 * What can't be known isn't guessed: its status says why.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst, Documentation/accounting/psi.rst; room/cpu.h
 * and room/memory.h have the formulas.
 */
#ifndef HEADROOM_ROOM_H
#define HEADROOM_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/forecast.h"
#include "headroom/psi.h"
#include "headroom/reason.h"
#include "headroom/stall_cause.h"
#include "headroom/stall_hour.h"

struct hr_cgroup;
struct hr_cpu_set;
struct hr_root;

/** What of a resource is the first to run out. */
enum hr_room_bound {
    HR_ROOM_MACHINE, /**< its CPUs, or its memory */
    HR_ROOM_CPU_MAX,
    HR_ROOM_MEMORY_HIGH,
    HR_ROOM_MEMORY_MAX,
    HR_ROOM_IO_MAX,
};

/** Groups with a limit of the same resource, of a group and those above it, at most; with more its
 * room isn't known. */
#define HR_ROOM_LIMITS 8

/** One resource of one group: memory in bytes, cpu in CPUs, io in bytes or operations per second.
 */
struct hr_room {
    /** 0: the rest is known; -EAGAIN: not yet; -ENODATA: it can't be had while the CPUs are always
     * busy; -EBUSY: nor while its tasks wait for them, by 1 % of the time or more; -ENOENT: the
     * controller, or the pressure file, is missing; -EXDEV: the memory controller is version 1's,
     * which doesn't have the same group; -EOPNOTSUPP: pressure is off; or another negative errno.
     */
    int status;
    bool is_at_least;   /**< the room may be larger: part of what is used may not be needed, or the
                             group waits too rarely to see how it would with more load */
    bool is_in_trouble; /**< measured: stalled or throttled for longer than the line says */
    double used, attainable;
    double needed; /**< of what is used, surely: all, or of memory what the kernel can't drop */
    double left;   /**< attainable - used, 0 or more; 0 in trouble */
    double room_pct;
    enum hr_room_bound bound;
    size_t level; /**< whose limit it is: 0: the group's own, 1: that of the one above, … */
    double limit; /**< that limit; of the machine: its CPUs, or its memory */
    int version;  /**< of the hierarchy that has such limits of the group, 1 or 2; 0: not known */
};

/** Of I/O, since the reading before. What a device can do isn't known: there is a room only under a
 * limit of io.max, of cgroup2; else its status is -ENOENT. -ENODATA: a group above has a limit, but
 * the controller isn't enabled for the group. */
struct hr_room_io {
    struct hr_room room;
    enum hr_stall_io kind; /**< what of, on which device */
    uint32_t device_major, device_minor;
};

/** When the tasks of a group are in trouble, in percent of the time: cpu and memory "some", io
 * "full"; of a group above 100 never. */
struct hr_room_lines {
    double pct[HR_PSI_RESOURCE_COUNT];
};

/** @return which stall the line of cpu, memory or io is of. */
enum hr_psi_level hr_room_line_level(enum hr_psi_resource resource);

/** The lines that hold unless others are configured; those of the machine, whose CPUs are there to
 * be used by all, also while one waits for a disk, or of a group. */
struct hr_room_lines hr_room_default_lines(bool is_machine);

/** Windows of a working set at most. */
#define HR_ROOM_WINDOWS 8

/** How much of a group's memory was touched within how long; as the plugin wss measures it. */
struct hr_room_working_set {
    size_t count;                     /**< 0: not known */
    double window_s[HR_ROOM_WINDOWS]; /**< ascending */
    double bytes[HR_ROOM_WINDOWS];
};

/** One read of a group, or of the machine. */
struct hr_room_reading {
    struct hr_room cpu, memory;
    struct hr_room_io io;
    /** 0: its limits, those of all groups above, and the CPUs that it may use, are known. Else why
     * one isn't, so that the room isn't either; -E2BIG: there are more than HR_ROOM_LIMITS;
     * -EOVERFLOW: io.max has more than HR_STALL_DEVICES devices; -ENXIO: of CPU time, its cpuset
     * has no CPU. */
    int cpu_limits_status, memory_limits_status, io_limits_status;
    /** Why limits couldn't be read again: a transient failure, such as -EMFILE. Those that were
     * known count for ten minutes more. */
    int limits_status;
    /** 0: the need of memory is what was touched within touched_s; -ENOENT: no working set is
     * known; -ENODATA: with longer windows it goes on to grow by more than may be read again within
     * the trouble line; -EAGAIN: what it takes to read a page again isn't known; or another
     * negative errno. Then all active files count. */
    int working_set_status;
    double touched_s;
    /** What the kernel can't drop of its memory, in bytes, also swapped out, whatever is needed of
     * it; and how much that is when nothing is left. Known where `memory` is. */
    double memory_level, memory_level_most;
    /** Of a group: all memory that it has, also what the kernel can drop, but nothing that is
     * swapped out; and what is swapped out. Known where `memory` is. */
    double memory_bytes, swapped_bytes;
    /** Of its memory, what the kernel can't drop grows towards memory_level_most; or that of a
     * group above towards its limit, or if the group grows, that of the machine, whichever is
     * sooner. Not known before thirty points, or where `memory` isn't. */
    struct hr_outlook outlook;
    bool is_own_trend;     /**< the outlook isn't that of a group above, or of the machine */
    bool is_trend_of_room; /**< it is of what binds `memory`, so that its numbers go together */
    bool has_oom_kills;
    uint64_t oom_kill_count; /**< of it and the groups below, since it was created, or since boot */
    struct hr_psi_snapshot psi;
    /** Stalled since the read before, in percent of that time: cpu, memory "some", io "full"; of
     * those that are known. */
    bool has_stall[HR_PSI_RESOURCE_COUNT];
    double stall_pct[HR_PSI_RESOURCE_COUNT];
};

/** What all groups share: the machine's CPUs and memory, and the groups above them. Used by one
 * thread at a time. */
struct hr_room_machine;

/** @param root  must outlive the object. @return 0 or -ENOMEM. */
int hr_room_machine_open(const struct hr_root *root, struct hr_room_machine **machine);

/** NULL is allowed. */
void hr_room_machine_close(struct hr_room_machine *machine);

/** Reads /proc/stat and /proc/meminfo, once before the groups are read. What can't be read isn't
 * known of the groups either. */
void hr_room_machine_read(struct hr_room_machine *machine);

/** @return how many CPUs were online when it was read; 0: not known. */
size_t hr_room_machine_cpus(const struct hr_room_machine *machine);

/** A group, or the machine as a whole, and what is kept of its past: some 5 KiB. */
struct hr_room_source;

/**
 * Prepares to read a group.
 *
 * @param machine   must outlive the object.
 * @param group     of cgroup2; must outlive the object: close it at its REMOVED event at the
 *                  latest. NULL: the machine.
 * @param point_ns  see hr_forecast_init().
 * @return 0 or -ENOMEM.
 */
int hr_room_open(struct hr_room_machine *machine, const struct hr_cgroup *group, uint64_t point_ns,
                 struct hr_room_source **source);

/** NULL is allowed. */
void hr_room_close(struct hr_room_source *source);

/**
 * Reads a group. Limits, its own and those of the groups above, are read again each minute, those
 * of different groups at different times. What is read each time stays open as far as descriptors
 * suffice: eight files, in version 1 and two directories; and up to four of each group above with a
 * limit. All groups below share the latter, which are read once after each hr_room_machine_read().
 *
 * @param reading  always filled in.
 * @return 0, or -ENODEV if the group was removed.
 */
int hr_room_read(struct hr_room_source *source, const struct hr_room_lines *lines,
                 struct hr_room_reading *reading);

/** Adds a window, in order, by its name in the series of the plugin wss, "60s" or "500ms". One that
 * is none, or one too many, is left out. */
void hr_room_working_set_add(struct hr_room_working_set *set, const char *name, double bytes);

/** Sets what a group touched, from which the next readings take what it needs. @param set  with
 * count 0: it isn't known, or no longer. */
void hr_room_set_working_set(struct hr_room_source *source, const struct hr_room_working_set *set);

/** Adds to what is kept of the last hour by which causes tasks were stalled since the reading
 * before the latest, in percent, see headroom/stall_hour.h; of resources that struct
 * hr_room_reading has a stall of. */
void hr_room_add_stalls(struct hr_room_source *source, enum hr_psi_resource resource,
                        const double pct[HR_STALL_PART_COUNT]);

/** The room at most, 0..100: part of what is used may not be needed, so that room_pct is the least.
 * Of a room with status 0. */
double hr_room_most_pct(const struct hr_room *room);

/** The smallest of the rooms that are known. @return NULL if none is, or if one may be smaller: one
 * that isn't known yet, or that by CPUs that are always busy, for which the tasks wait. */
const struct hr_room *hr_room_tightest(const struct hr_room_reading *reading);

/**
 * Finds the lowest limit of CPU time, of the group or one above, as they were read last. Whether it
 * is what binds depends on what others in there use.
 *
 * @param level  whose it is, as of struct hr_room.
 * @return 0; -ENODATA: there is none; or why not all are known.
 */
int hr_room_find_cpu_limit(const struct hr_room_source *source, double *cpus, size_t *level);

/** @return how many CPUs the group may use, as they were read last; 0: not known. */
size_t hr_room_count_cpus(const struct hr_room_source *source);

/** Finds which these are. @return 0; -ENODATA: the group may use all; or why they aren't known. */
int hr_room_find_cpus(const struct hr_room_source *source, struct hr_cpu_set *cpus);

/** Explains why limits, or the CPUs of a group, aren't known: hr_room_reading.*_limits_status. */
void hr_room_explain_limits(int status, struct hr_reason *reason);

/** Explains why the room of a group by memory isn't known, by its status. @param reason  receives
 * the explanation, and status as its error. */
void hr_room_explain_memory(int status, struct hr_reason *reason);

/** Explains why the room of a group by I/O isn't known, where its status is -ENODATA: with its
 * remedy, as above. */
void hr_room_explain_io(int status, struct hr_reason *reason);

/** Explains why a working set that is known doesn't show the need: hr_room_reading.
 * working_set_status. */
void hr_room_explain_working_set(int status, struct hr_reason *reason);

/** "machine", or the file of a limit, see hr_stall_limit_name(). */
const char *hr_room_bound_name(enum hr_room_bound bound, int version);

#endif
