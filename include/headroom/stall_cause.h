/* SPDX-License-Identifier: MIT */
/*
 * headroom/stall_cause.h - why the tasks of a group, or of the system, were stalled: its own limit,
 * that of a group above, other groups, the hypervisor, interrupts, or the machine's lack of memory.
 *
 * Take the counters before and after the stall, and compare. Counters of a group are those of its
 * controllers: of cgroup2, or of a version 1 hierarchy that has the same group with the same
 * processes. A cause that these counters don't show isn't guessed: none is given then.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst ("cpu.stat", "memory.events", "io.stat",
 * "io.max"), Documentation/admin-guide/cgroup-v1/memory.rst, Documentation/scheduler/sched-bwc.rst,
 * Documentation/filesystems/proc.rst ("/proc/stat"), kernel/sched/psi.c (test_states),
 * kernel/sched/fair.c (unthrottle_cfs_rq), mm/vmscan.c (do_try_to_free_pages),
 * mm/memcontrol.c (try_charge_memcg).
 */
#ifndef HEADROOM_STALL_CAUSE_H
#define HEADROOM_STALL_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/psi.h"

struct hr_cgroup;
struct hr_root;

/** The group and the groups above it whose limits are read, the nearest first. Of one further below
 * only what is due to these limits is known. */
#define HR_STALL_LEVELS 8

/** Groups below a group whose limits are read; of a group with more of them nothing is known. */
#define HR_STALL_GROUPS_BELOW 64

/** Block devices of a group that are read, in the order of the kernel's file. */
#define HR_STALL_DEVICES 4

/** Bytes for the path of a group and its NUL; of one that is longer no limit above it is read. */
#define HR_STALL_PATH_SIZE 512

/** Causes at most; the smallest beyond that are dropped. */
#define HR_STALL_CAUSES 8

/** No limit. */
#define HR_STALL_NO_LIMIT UINT64_MAX

/** The four numbers of io.stat, and of io.max, in the order of the latter. */
enum hr_stall_io {
    HR_STALL_READ_BYTES,
    HR_STALL_WRITTEN_BYTES,
    HR_STALL_READS,
    HR_STALL_WRITES,
    HR_STALL_IO_COUNT
};

/** What a group's CPU limit is, and what it did since the group was created. */
struct hr_stall_cpu {
    uint64_t quota_us; /**< per period; HR_STALL_NO_LIMIT: none */
    uint64_t period_us;
    uint64_t throttled_count; /**< periods in which it was throttled */
    uint64_t throttled_us;    /**< summed over its CPUs; added when throttling ends */
};

/** What a group's memory limits are, and how often they were reached. */
struct hr_stall_memory {
    uint64_t high_bytes; /**< HR_STALL_NO_LIMIT: none */
    uint64_t max_bytes;
    uint64_t high_count; /**< times that this group, not one below, exceeded high_bytes */
    uint64_t max_count;
};

/** What a group did on a block device since it was created, and may do per second. */
struct hr_stall_device {
    uint32_t major, minor;
    uint64_t done[HR_STALL_IO_COUNT];
    uint64_t limit[HR_STALL_IO_COUNT]; /**< HR_STALL_NO_LIMIT: none */
    uint64_t request_ms; /**< of all groups together only: how long each request took, added up; 0
                            of a device that is made of others, as these have it */
};

struct hr_stall_devices {
    size_t count;
    struct hr_stall_device list[HR_STALL_DEVICES];
    bool has_more; /**< limited devices than the list can hold */
};

/** A group, or one above it. The member of the union is that of the resource. */
struct hr_stall_level {
    bool known;  /**< the rest is valid */
    int version; /**< of the hierarchy, 1 or 2 */
    union {
        struct hr_stall_cpu cpu;
        struct hr_stall_memory memory;
        struct hr_stall_devices io; /**< of a group above: those with a limit */
    };
};

/** All groups below a group that have a limit on the resource, added up. Below the system none is
 * read. */
struct hr_stall_below {
    bool
        known; /**< the rest is valid; false: there are too many groups, or a limit can't be read */
    int version; /**< of the hierarchy, 1 or 2 */
    size_t limited_count;
    uint64_t throttled_us;  /**< cpu */
    uint64_t period_us;     /**< cpu: the longest */
    uint64_t reached_count; /**< memory */
};

/** What is read again for lack of memory: pages of files, and of swap space, that were reclaimed.
 */
struct hr_stall_rereads {
    bool known;             /**< the rest is valid */
    int version;            /**< of the memory controller's hierarchy, 1 or 2 */
    uint64_t refault_bytes; /**< that the group had to read again */
    uint64_t zswap_bytes;   /**< those of them that came from memory (zswap), without I/O */
    uint64_t own_bytes; /**< that it has read and written in all, on any device: once, also where
                           devices are made of others; 0: not known, as of version 1 */
    uint64_t machine_bytes; /**< that the machine has read and written in all, by /proc/vmstat */
    struct hr_stall_memory memory[HR_STALL_LEVELS]; /**< as `level`; without limits if not known */
};

/** The machine's CPUs since boot, summed over all of them. */
struct hr_stall_machine_cpus {
    bool known;
    uint64_t busy_us; /**< neither idle nor waiting for I/O; has the two below */
    uint64_t steal_us;
    uint64_t irq_us;  /**< hard and soft interrupts */
    uint64_t idle_us; /**< also while tasks wait for I/O */
};

/** One read of what the causes of one resource of one group, or of the system, come from. */
struct hr_stall_counters {
    uint64_t time_ns;               /**< CLOCK_MONOTONIC */
    char group[HR_STALL_PATH_SIZE]; /**< its path; "": the system, or a path that is too long */
    struct hr_stall_level level[HR_STALL_LEVELS]; /**< [0]: the group, [1]: the one above, … */

    struct hr_stall_below below;

    /** Time in which, on some CPU, tasks of the group were ready and none of them ran. It can't be
     * the group itself that they waited for. Groups only, cpu only, since Linux 5.13. */
    bool has_cpu_full;
    uint64_t cpu_full_us;

    struct hr_stall_machine_cpus cpus; /**< cpu only */

    /** memory only. What the machine reclaimed as it was short of memory: how often tasks, of any
     * group, had to do that. */
    bool has_reclaim;
    uint64_t direct_reclaim_count;
    /** memory only: pages that kswapd reclaimed, of the group if has_own_kswapd (version 2,
     * Linux 6.1), else of the machine. */
    bool has_own_kswapd;
    uint64_t kswapd_page_count;
    /** memory of the system only: pages reclaimed as the machine was short of memory, and for
     * limits of groups. */
    uint64_t machine_page_count, limit_page_count;
    bool has_refaults;      /**< memory only */
    uint64_t refault_count; /**< pages that the group, or the system, had to read again */

    struct hr_stall_rereads rereads;    /**< io of groups only */
    bool has_machine_io;                /**< the same */
    struct hr_stall_devices machine_io; /**< of all groups together, without limits */
};

enum hr_stall_kind {
    HR_STALL_OWN_LIMIT,
    HR_STALL_ANCESTOR_LIMIT, /**< of a group above */
    HR_STALL_LIMITS_BELOW,   /**< of groups below */
    HR_STALL_NEIGHBOURS,     /**< tasks outside of the group */
    HR_STALL_ITSELF,         /**< more tasks of the group than CPUs */
    HR_STALL_HYPERVISOR,     /**< steal */
    HR_STALL_INTERRUPTS,
    HR_STALL_MACHINE_RECLAIM, /**< the machine is short of memory */
};

enum hr_stall_limit {
    HR_STALL_CPU_MAX,     /**< limit: CPUs */
    HR_STALL_MEMORY_HIGH, /**< limit: bytes */
    HR_STALL_MEMORY_MAX,
    HR_STALL_IO_MAX, /**< limit: per second, of `io` */
};

/**
 * Names the file of a limit: "cpu.max", "memory.high", "memory.max" or "io.max".
 *
 * @param version  of the hierarchy: 1 has "cpu.cfs_quota_us" and "memory.limit_in_bytes"; its
 *                 files of I/O, one for each kind, are called "io.max", too.
 */
const char *hr_stall_limit_name(enum hr_stall_limit kind, int version);

struct hr_stall_cause {
    enum hr_stall_kind kind;
    uint64_t stalled_us;  /**< cpu: the part of the stall that is due to it; else 0 */
    uint64_t event_count; /**< memory, and its limits: how often the limit was reached, tasks had to
                             reclaim memory, or pages were read again */

    enum hr_stall_limit limit_kind; /**< these six: limits only */
    int version;                    /**< of the hierarchy that has the limit, 1 or 2 */
    double limit;
    enum hr_stall_io io;
    uint32_t device_major, device_minor; /**< HR_STALL_IO_MAX only */
    /** HR_STALL_ANCESTOR_LIMIT only: whose it is, a path as struct hr_cgroup has it. Any bytes but
     * NUL. */
    char group[HR_STALL_PATH_SIZE];
};

/** The causes, the biggest first. */
struct hr_stall_causes {
    size_t count; /**< 0: none is known */
    struct hr_stall_cause list[HR_STALL_CAUSES];
};

/**
 * Reads what the machine's CPUs did, from /proc/stat.
 *
 * @return 0, -EBADMSG, or the negative errno of open(2) or pread(2).
 */
int hr_machine_cpus_read(const struct hr_root *root, struct hr_stall_machine_cpus *cpus);

/**
 * Finds the share of the time between two reads in which CPUs were idle.
 *
 * @param idle_pct  of all CPUs that were online, 0 to 100.
 * @return 0, or -ENODATA: no tick passed between the two.
 */
int hr_machine_cpus_idle(const struct hr_stall_machine_cpus *before,
                         const struct hr_stall_machine_cpus *after, double *idle_pct);

/**
 * Reads the counters of one resource. What can't be read is marked as not known.
 *
 * @param group     of cgroup2; NULL: the system.
 * @param resource  irq has no counters.
 * @param counters  always filled in.
 * @return 0, or -ENODEV if the group was removed.
 */
int hr_stall_counters_read(const struct hr_root *root, const struct hr_cgroup *group,
                           enum hr_psi_resource resource, struct hr_stall_counters *counters);

/**
 * Compares two reads, and splits the stall between them by what it is due to.
 *
 * @param before, after  of the same group and resource.
 * @param stalled_us     the stall between them, by the pressure file.
 * @param elapsed_us     the time between them.
 * @param causes         always filled in.
 */
void hr_stall_attribute(const struct hr_stall_counters *before,
                        const struct hr_stall_counters *after, enum hr_psi_resource resource,
                        uint64_t stalled_us, uint64_t elapsed_us, struct hr_stall_causes *causes);

#endif
