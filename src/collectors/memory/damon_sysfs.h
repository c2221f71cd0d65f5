/* SPDX-License-Identifier: MIT */
/*
 * memory/damon_sysfs.h - DAMON's files in sysfs: creating and removing a monitoring of our own.
 *
 * DAMON divides address spaces into regions and checks, at each sampling, whether one page of each
 * was accessed since the sampling before. Schemes act on regions by how often that was so within an
 * aggregation interval; ours have the action "stat", which only adds up.
 *
 * The files are shared by all programs, and the last writer wins: a monitoring is created only
 * where there is none, and carries a tag that identifies it as ours.
 *
 * Sources: Documentation/admin-guide/mm/damon/usage.rst, mm/damon/sysfs.c, sysfs-schemes.c, core.c
 * (kdamond_fn).
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_DAMON_SYSFS_H
#define HEADROOM_COLLECTORS_MEMORY_DAMON_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hr_reason;
struct hr_root;

#define HR_DAMON_KDAMONDS "/sys/kernel/mm/damon/admin/kdamonds"

/** The two schemes: their index in sysfs, and in the array of sums. */
enum hr_damon_scheme {
    HR_DAMON_TOUCHED, /**< regions that were accessed in at least one sampling */
    HR_DAMON_ALL,     /**< all regions: above 0 once an interval has been added up */
    HR_DAMON_SCHEME_COUNT,
};

/** Addresses from the first to, but not including, the last. */
struct hr_damon_region {
    uint64_t start, end;
};

struct hr_damon_plan {
    const pid_t *pids; /**< processes; NULL: physical memory */
    size_t pid_count;
    const struct hr_damon_region *regions; /**< of physical memory, ascending; sampled as given */
    size_t region_count;
    uint64_t sample_us; /**< also the interval at which the mappings of processes are read again */
    uint64_t aggregation_us;
    uint64_t min_regions, max_regions;
    uint64_t tag; /**< unique; above 10^15 */
};

/** Sets the reason why the files can't be used. @return the error. */
int hr_damon_explain_files(int status, struct hr_reason *reason);

/** Reads how many monitorings there are. @return 0; -ENOENT: the kernel lacks DAMON's files; … */
int hr_damon_read_count(const struct hr_root *root, uint64_t *count);

/** Reads the tag of the existing one. @return 0; -ENOENT: there is none; … */
int hr_damon_read_tag(const struct hr_root *root, uint64_t *tag);

/** Whether the existing one is ours. */
bool hr_damon_is_ours(const struct hr_root *root, uint64_t tag);

/**
 * Creates a monitoring and starts it.
 *
 * @return 0; -EBUSY: there is one, or the kernel has exclusive ones; -ENOENT: the kernel lacks the
 *         files, or the kind of memory; -EINVAL: the kernel rejects the plan; … On failure nothing
 *         is left behind.
 */
int hr_damon_start(const struct hr_root *root, const struct hr_damon_plan *plan);

/**
 * Makes the kernel update the sums, for which it waits for the next sampling, 0.1 s at least
 * (before 6.9: for the end of the aggregation interval), and reads them.
 *
 * @param bytes  receives what each scheme has added up since the start.
 * @return 0; -ESRCH: it has ended by itself; -EBADMSG, …
 */
int hr_damon_read_sums(const struct hr_root *root, uint64_t bytes[HR_DAMON_SCHEME_COUNT]);

/** Switches the monitoring off, whosever it is, without removing it: a thread that waits for its
 * sums returns then. */
void hr_damon_switch_off(const struct hr_root *root);

/** Stops and removes the monitoring if it is ours. */
void hr_damon_stop(const struct hr_root *root, uint64_t tag);

/**
 * Divides ranges into about `parts` regions of equal size, which lie within one range each and
 * begin and end at pages.
 *
 * @param regions  receives them; the caller frees it with free(3).
 * @return 0; -ENODATA: there is no range; -ENOMEM.
 */
int hr_damon_divide_ranges(const struct hr_damon_region *ranges, size_t range_count, size_t parts,
                           uint64_t page_bytes, struct hr_damon_region **regions,
                           size_t *region_count);

/**
 * Parses /proc/iomem: the ranges of "System RAM", such as "System RAM (kmem)", too.
 *
 * @param ranges  receives up to `max` of them.
 * @return 0; -EACCES: their addresses are hidden; -EBADMSG.
 */
int hr_damon_parse_iomem(const char *text, size_t length, struct hr_damon_region *ranges,
                         size_t max, size_t *range_count);

#endif
