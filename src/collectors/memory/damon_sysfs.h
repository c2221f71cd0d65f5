/*
 * memory/damon_sysfs.h - DAMON's files in sysfs: one monitoring of our own, made and taken away
 * again.
 *
 * DAMON divides address spaces into regions, and looks, at each sampling, whether one page of each
 * was accessed since the sampling before. Schemes do something with regions by how often that was
 * so within an aggregation interval; ours have the action "stat", which does nothing but add up.
 *
 * The files are the machine's, and whoever writes last wins: a monitoring is made only where there
 * is none, and carries a tag by which it's known for ours.
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

struct hr_root;

#define HR_DAMON_KDAMONDS "/sys/kernel/mm/damon/admin/kdamonds"

/** The two schemes: their place in sysfs, and in what they add up. */
enum hr_damon_scheme {
    HR_DAMON_TOUCHED, /**< regions that were accessed in at least one sampling */
    HR_DAMON_ALL,     /**< all regions: what it has is more than 0 once an interval was summed up */
    HR_DAMON_SCHEME_COUNT,
};

/** Addresses from the first to, but not including, the last. */
struct hr_damon_region {
    uint64_t start, end;
};

struct hr_damon_plan {
    const pid_t *pids; /**< processes; NULL: physical memory */
    size_t pid_count;
    const struct hr_damon_region
        *regions; /**< of physical memory, ascending; as they're looked at */
    size_t region_count;
    uint64_t sample_us, aggregation_us;
    uint64_t min_regions, max_regions;
    uint64_t tag; /**< different from that of others; above 10^15 */
};

/** Reads how many monitorings there are. @return 0; -ENOENT: the kernel lacks DAMON's files; … */
int hr_damon_read_count(const struct hr_root *root, uint64_t *count);

/** Reads the tag of the one that there is. @return 0; -ENOENT: there is none; … */
int hr_damon_read_tag(const struct hr_root *root, uint64_t *tag);

/** Tells whether the one that there is is ours. */
bool hr_damon_is_ours(const struct hr_root *root, uint64_t tag);

/**
 * Makes a monitoring, and starts it.
 *
 * @return 0; -EBUSY: there is one, or the kernel has exclusive ones; -ENOENT: the kernel lacks the
 *         files, or the kind of memory; -EINVAL: the plan isn't taken; … Nothing is left behind.
 */
int hr_damon_start(const struct hr_root *root, const struct hr_damon_plan *plan);

/** Tells whether it still runs: it ends by itself when its last process does. @return 1, 0 or a
 * negative errno. */
int hr_damon_is_running(const struct hr_root *root);

/**
 * Has the sums brought up to date, for which the kernel waits for the next sampling, 0.1 s at
 * least (before 6.9: for the end of the aggregation interval), and reads them.
 *
 * @param bytes  receives what each scheme has added up since the start.
 * @return 0; -ESRCH: it has ended by itself; -EBADMSG, …
 */
int hr_damon_read_sums(const struct hr_root *root, uint64_t bytes[HR_DAMON_SCHEME_COUNT]);

/** Ends and takes away the monitoring if it is ours. */
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
