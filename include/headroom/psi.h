/*
 * psi.h - pressure stall information: the share of time in which tasks wait for a resource.
 *
 * Source: Documentation/accounting/psi.rst, kernel/sched/psi.c (psi_show).
 *
 * The objects here are used by one thread at a time.
 */
#ifndef HEADROOM_PSI_H
#define HEADROOM_PSI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hr_cgroup;
struct hr_root;

/** What tasks wait for. */
enum hr_psi_resource {
    HR_PSI_CPU,    /**< runnable, but not running; also throttled by a cpu limit */
    HR_PSI_MEMORY, /**< reclaim, swapping in, a page cache that is thrashing */
    HR_PSI_IO,     /**< block I/O */
    HR_PSI_IRQ,    /**< interrupts took the CPU; "full" only; Linux 6.1 with
                        CONFIG_IRQ_TIME_ACCOUNTING */
    HR_PSI_RESOURCE_COUNT
};

/** Who waits. */
enum hr_psi_level {
    HR_PSI_SOME, /**< at least one task */
    HR_PSI_FULL, /**< all tasks that are not idle, at the same time */
    HR_PSI_LEVEL_COUNT
};

/** One line of a pressure file. */
struct hr_psi_stall {
    bool present;     /**< false: the kernel has no such line; the rest is 0 and means nothing */
    double avg10_pct; /**< running averages over 10, 60 and 300 seconds, 0..100; the kernel */
    double avg60_pct; /**< brings them up to date every 2 seconds */
    double avg300_pct;
    uint64_t total_us; /**< stalled since boot (system) or since the group was made */
};

/** One pressure file at one moment. */
struct hr_psi_sample {
    uint64_t time_ns; /**< CLOCK_MONOTONIC when it was read; 0 from hr_psi_parse() */
    struct hr_psi_stall stall[HR_PSI_LEVEL_COUNT];
};

/** The pressure files of one group, or of the system, read one after the other. */
struct hr_psi_snapshot {
    /**
     * Per resource, whether its sample is valid: 0, or
     * -ENOENT      the kernel has no such pressure file;
     * -EOPNOTSUPP  it has, but it is switched off: by psi=0 at boot or a kernel built so, irq
     *              pressure without irq time accounting, or a group with 0 in cgroup.pressure;
     * -ENODEV      the group was removed;
     * -EACCES, -EPERM  no permission;
     * -EBADMSG     the text is not a pressure file's;
     * -ENODATA     it is empty, or has none of the lines known here;
     * -ECANCELED   not asked for;
     * or another negative errno of open(2) and read(2): -EMFILE, -ENFILE, -ENOMEM, -EIO.
     */
    int status[HR_PSI_RESOURCE_COUNT];
    struct hr_psi_sample sample[HR_PSI_RESOURCE_COUNT];
    /** How many files were opened for this read only, as descriptors are short. */
    unsigned reopened_count;
};

struct hr_psi_options {
    bool resources[HR_PSI_RESOURCE_COUNT]; /**< which files are read */
    /** A file that is missing or switched off is looked for again after so many nanoseconds;
     * 0: at each read. */
    uint64_t retry_ns;
};

/** Pressure files kept open between reads, as far as descriptors allow. */
struct hr_psi;

/** "cpu", "memory", "io" or "irq". */
const char *hr_psi_resource_name(enum hr_psi_resource resource);

/** "some" or "full". */
const char *hr_psi_level_name(enum hr_psi_level level);

/**
 * Parses the text of a pressure file, lines like
 * "some avg10=0.00 avg60=0.27 avg300=0.13 total=685905".
 *
 * Lines that begin with another word are passed over: a later kernel may have more. A known line
 * must be whole, end in a newline and come once. Averages above 100 are taken for 100.
 *
 * @param text    need not be terminated.
 * @return 0, -EBADMSG, or -ENODATA if neither line is there.
 */
int hr_psi_parse(const char *text, size_t length, struct hr_psi_sample *sample);

/**
 * The share of the time between two samples of one file in which tasks were stalled.
 *
 * @param pct  receives 0..100. The kernel adds a stall up when it is asked, and weighs CPUs by a
 *             coarse clock, so the sum may exceed the time by a little; that is taken for 100.
 * @return 0; -ENODATA if the line is missing in either sample, no time lies between them, or the
 *         total went back.
 */
int hr_psi_delta(const struct hr_psi_sample *before, const struct hr_psi_sample *after,
                 enum hr_psi_level level, double *pct);

/**
 * Prepares to read the system's pressure files, /proc/pressure/ *. They are opened by the first
 * read. System-wide cpu "full" is undefined, though newer kernels print it as zeros: it is told as
 * absent.
 *
 * @param root  must outlive the object.
 * @param psi   receives the object; the caller ends it with hr_psi_close().
 * @return 0 or -ENOMEM.
 */
int hr_psi_open_system(const struct hr_root *root, const struct hr_psi_options *options,
                       struct hr_psi **psi);

/**
 * Likewise for a group's files, GROUP/ *.pressure.
 *
 * @param group  must outlive the object: it is closed at the latest at the group's REMOVED event.
 */
int hr_psi_open_cgroup(const struct hr_cgroup *group, const struct hr_psi_options *options,
                       struct hr_psi **psi);

/** Closes the files and ends the object. NULL is allowed. */
void hr_psi_close(struct hr_psi *psi);

/**
 * Reads every file asked for, once.
 *
 * @param snapshot  always filled.
 * @return 0 if the group is there; -ENODEV if it was removed.
 */
int hr_psi_read(struct hr_psi *psi, struct hr_psi_snapshot *snapshot);

#endif
