/* SPDX-License-Identifier: MIT */
/*
 * headroom/psi.h - pressure stall information: the share of time in which tasks wait.
 *
 * Source: Documentation/accounting/psi.rst, kernel/sched/psi.c (psi_show).
 *
 * An object may be used by one thread at a time.
 */
#ifndef HEADROOM_PSI_H
#define HEADROOM_PSI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/reason.h"

struct hr_cgroup;
struct hr_root;

/** The resource that tasks wait for. */
enum hr_psi_resource {
    HR_PSI_CPU,    /**< runnable, but not running; also throttled by a cpu limit */
    HR_PSI_MEMORY, /**< reclaim, swapping in, page cache thrashing */
    HR_PSI_IO,     /**< block I/O */
    HR_PSI_IRQ,    /**< interrupts took the CPU; "full" only; since Linux 6.1, with
                        CONFIG_IRQ_TIME_ACCOUNTING */
    HR_PSI_RESOURCE_COUNT
};

/** How many tasks wait. */
enum hr_psi_level {
    HR_PSI_SOME, /**< at least one task */
    HR_PSI_FULL, /**< all non-idle tasks at the same time */
    HR_PSI_LEVEL_COUNT
};

/** One line of a pressure file. */
struct hr_psi_stall {
    bool present;     /**< false: the line is missing or undefined; the rest is 0 */
    double avg10_pct; /**< running averages over 10, 60 and 300 seconds, 0..100; the kernel */
    double avg60_pct; /**< updates them every 2 seconds */
    double avg300_pct;
    uint64_t total_us; /**< stalled since boot (system) or since the group was created */
};

/** One pressure file at one moment. */
struct hr_psi_sample {
    uint64_t time_ns; /**< CLOCK_MONOTONIC when it was read */
    struct hr_psi_stall stall[HR_PSI_LEVEL_COUNT];
};

/** One read of the pressure files of a group or of the system. */
struct hr_psi_snapshot {
    /**
     * Per resource, whether its sample is valid: 0, or
     * -ENOENT      the kernel has no such pressure file;
     * -EOPNOTSUPP  it has, but pressure is disabled: by psi=0 at boot or as the kernel's default,
     *              for irq by missing irq time accounting, for a group by 0 in cgroup.pressure;
     * -ENODEV      the group was removed;
     * -EACCES, -EPERM  no permission;
     * -EBADMSG     the text isn't understood;
     * -ENODATA     it is empty, or has none of the known lines;
     * -ECANCELED   not requested;
     * or another negative errno of open(2) and read(2): -EMFILE, -ENFILE, -ENOMEM, -EIO.
     */
    int status[HR_PSI_RESOURCE_COUNT];
    struct hr_psi_sample sample[HR_PSI_RESOURCE_COUNT];
    /** Files opened for this read only, for lack of descriptors. */
    unsigned reopened_count;
};

struct hr_psi_options {
    bool resources[HR_PSI_RESOURCE_COUNT]; /**< which files are read */
    /** Nanoseconds until a missing or disabled file is tried again; 0: at each read. */
    uint64_t retry_ns;
};

/** Pressure files, kept open between reads as far as descriptors allow. */
struct hr_psi;

/** "cpu", "memory", "io" or "irq". */
const char *hr_psi_resource_name(enum hr_psi_resource resource);

/** "some" or "full". */
const char *hr_psi_level_name(enum hr_psi_level level);

/**
 * Computes the share of the time between two samples of one file in which tasks were stalled.
 *
 * @param pct  receives 0..100. The kernel updates the totals when they are read, and weighs CPUs by
 *             a coarse clock, so that the stall may slightly exceed the time; that becomes 100.
 * @return 0; -ENODATA if the line is missing in either sample, no time passed between them, or the
 *         total decreased.
 */
int hr_psi_delta(const struct hr_psi_sample *before, const struct hr_psi_sample *after,
                 enum hr_psi_level level, double *pct);

/**
 * Prepares to read the system's pressure files, /proc/pressure/ *. The first read opens them. The
 * system's cpu "full" is undefined, though newer kernels print zeros: it is reported as absent.
 *
 * @param root  must outlive the object.
 * @param psi   receives the object; the caller closes it with hr_psi_close().
 * @return 0 or -ENOMEM.
 */
int hr_psi_open_system(const struct hr_root *root, const struct hr_psi_options *options,
                       struct hr_psi **psi);

/**
 * Prepares to read a group's pressure files, GROUP/ *.pressure.
 *
 * @param group  must outlive the object: close it at the group's REMOVED event at the latest.
 */
int hr_psi_open_cgroup(const struct hr_cgroup *group, const struct hr_psi_options *options,
                       struct hr_psi **psi);

/** Closes the files and frees the object. NULL is allowed. */
void hr_psi_close(struct hr_psi *psi);

/**
 * Reads every requested file once.
 *
 * @param snapshot  always filled in.
 * @return 0, or -ENODEV if the group was removed.
 */
int hr_psi_read(struct hr_psi *psi, struct hr_psi_snapshot *snapshot);

/**
 * Reads one requested file.
 *
 * @param sample  is filled in on success.
 * @return 0, or a negative errno of struct hr_psi_snapshot.
 */
int hr_psi_read_resource(struct hr_psi *psi, enum hr_psi_resource resource,
                         struct hr_psi_sample *sample);

/**
 * Explains to a user why a pressure file can't be read: "cause: remedy", or the cause alone where
 * no remedy is known.
 *
 * @param status     an error of struct hr_psi_snapshot.
 * @param resource   of which file. Where all resources have the same error irq pressure has no
 * cause of its own: give another.
 * @param is_system  the system's file; else a group's.
 * @param reason     receives the explanation, and status as its error.
 */
void hr_psi_explain(int status, enum hr_psi_resource resource, bool is_system,
                    struct hr_reason *reason);

#endif
