/* SPDX-License-Identifier: MIT */
/*
 * headroom/perf.h - counts of perf events, of cgroups and of the whole machine.
 *
 * The events come in groups. Those of a group are put on the CPU's counters together and read
 * together, so that their ratios are exact even where groups take turns (multiplexing). A target, a
 * cgroup with all below it or the machine, has each event open once on every online CPU.
 *
 * The kernel tells of each group and CPU how long it should have counted (enabled: while the cgroup
 * was on that CPU; of the machine, always) and how long it did (running). What was counted between
 * two reads is scaled by these two times of that interval alone and added to the total, so a total
 * never goes back. A group that had no turn on a CPU is scaled when it has had one.
 *
 * Sources: perf_event_open(2), kernel/events/core.c (perf_event_read_group, perf_cgroup_connect),
 * Documentation/admin-guide/perf-security.rst.
 *
 * A struct hr_perf and its targets are used by one thread at a time.
 */
#ifndef HEADROOM_PERF_H
#define HEADROOM_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hr_cgroup;
struct hr_perf_event;
struct hr_root;

/** How many events a group can have. No PMU has as many counters. */
#define HR_PERF_GROUP_MAX 32

/** Events that are counted together; must outlive what is opened with it. */
struct hr_perf_event_group {
    struct hr_perf_event *const *events;
    size_t count; /**< 1 to HR_PERF_GROUP_MAX */
};

/** What is counted: the same events may be possible of one and not of the other. */
enum hr_perf_scope { HR_PERF_SYSTEM, HR_PERF_CGROUP, HR_PERF_SCOPE_COUNT };

/** The kernel's calls, which a test can stand in for. Each returns a negative errno on failure. */
struct hr_perf_calls {
    /** perf_event_open(2). @return a descriptor */
    int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                unsigned long flags);
    /** ioctl(2) PERF_EVENT_IOC_ENABLE, of the whole group. */
    int (*enable)(int fd);
    /** read(2). @return how many bytes */
    ssize_t (*read)(int fd, void *buffer, size_t size);
    void (*close)(int fd);
};

struct hr_perf_options {
    const struct hr_perf_event_group *groups; /**< the array is copied */
    size_t group_count;
    size_t max_files; /**< how many descriptors at most; 0: only as RLIMIT_NOFILE allows */
    /** What fails is tried again after so many nanoseconds; 0: the default, a minute. */
    uint64_t retry_ns;
    const struct hr_perf_calls *calls; /**< NULL: the kernel's; must outlive the object */
};

/** What limits the descriptors. */
enum hr_perf_limit {
    HR_PERF_BY_OPTION, /**< max_files */
    HR_PERF_BY_RLIMIT, /**< RLIMIT_NOFILE, of which a quarter is left to the rest of the process */
    HR_PERF_BY_OTHERS  /**< none were left a short while ago, though by these two there should */
};

/** Descriptors, one per target, event and CPU. */
struct hr_perf_files {
    size_t open;   /**< now */
    size_t wanted; /**< by all targets that were read, with those that don't fit */
    size_t limit;  /**< how many may be open */
    enum hr_perf_limit limited_by;
    size_t raised_to; /**< what RLIMIT_NOFILE was raised to, as the hard limit allowed; 0: wasn't */
};

/** One event of a target, as of the last read. */
struct hr_perf_value {
    /** false: the target ran, but this event had no turn on a counter since the last read, or never
     * had one; or it can't be opened. The counts mean nothing then. */
    bool counted;
    uint64_t total;      /**< counted since the target was opened; beyond 2^64 it begins at 0 */
    uint64_t delta;      /**< of this, since the read before */
    uint64_t enabled_ns; /**< since the read before, how long it should have counted, */
    uint64_t running_ns; /**< and how long it did: 0..enabled_ns; both summed over CPUs */
};

/** Events, CPUs and descriptors: what all targets have in common. */
struct hr_perf;

/** The counters of one cgroup, or of the machine. */
struct hr_perf_target;

/**
 * Prepares counting. Nothing is opened before hr_perf_read().
 *
 * @param root  where /sys/devices/system/cpu is; must outlive the object.
 * @param perf  receives the object; the caller ends it with hr_perf_close().
 * @return 0; -EINVAL if a group is empty or too large; -ENOMEM.
 */
int hr_perf_open(const struct hr_root *root, const struct hr_perf_options *options,
                 struct hr_perf **perf);

/** Ends the object; all its targets must have been closed. NULL is allowed. */
void hr_perf_close(struct hr_perf *perf);

/**
 * Finds out which CPUs are online. To be called before the targets are read, each time.
 *
 * @return 0, or the negative errno of reading /sys/devices/system/cpu/online, -EBADMSG or -ERANGE
 * if it isn't understood; the CPUs known before are then kept.
 */
int hr_perf_read(struct hr_perf *perf);

/** Tells how many descriptors are open. */
struct hr_perf_files hr_perf_files(const struct hr_perf *perf);

/**
 * Tells whether an event can be counted, as was found by opening it for the first target of the
 * scope. It is tried again once in a while, in case permission was given meanwhile.
 *
 * @return 0; -ECANCELED: not tried yet;
 *         -ENOENT, -EOPNOTSUPP, -ENODEV, -ENXIO  the machine has nothing that counts it: mostly, no
 *         PMU (in a virtual machine);
 *         -EACCES, -EPERM  CAP_PERFMON is missing, and kernel.perf_event_paranoid is above 0; or
 *         that is above HR_PERF_PARANOID_MAX;
 *         -E2BIG   each event of its group can be counted, but not all together;
 *         -EINVAL  the kernel refuses it: a modifier that the PMU can't heed, or, in a cgroup, a
 *                  counter that belongs to the whole machine;
 *         or another negative errno of perf_event_open(2).
 */
int hr_perf_status(const struct hr_perf *perf, enum hr_perf_scope scope, size_t group,
                   size_t event);

/** Above it, kernels of Debian and Ubuntu demand CAP_SYS_ADMIN; Debian's begin with 3. */
#define HR_PERF_PARANOID_MAX 2

/**
 * Reads sysctl kernel.perf_event_paranoid, by which the kernel decides who may count without
 * CAP_PERFMON: the whole machine and cgroups at 0 or below.
 *
 * @return 0, -EBADMSG, or the negative errno of reading /proc/sys/kernel/perf_event_paranoid.
 */
int hr_perf_paranoid_read(const struct hr_root *root, int *level);

/** Prepares counting of the whole machine. @return 0 or -ENOMEM. */
int hr_perf_target_open_system(struct hr_perf *perf, struct hr_perf_target **target);

/**
 * Prepares counting of a cgroup and all below it.
 *
 * @param group  of the hierarchy of the controller "perf_event"; must outlive the target.
 * @return 0 or -ENOMEM.
 */
int hr_perf_target_open_cgroup(struct hr_perf *perf, const struct hr_cgroup *group,
                               struct hr_perf_target **target);

/** Closes the descriptors and ends the target. NULL is allowed. */
void hr_perf_target_close(struct hr_perf_target *target);

/**
 * Reads all counters, and opens those that should be and aren't: at first all, later those of CPUs
 * that came online. Either all of a target's counters are open or none.
 *
 * @return 0, also for a removed cgroup as long as its counters are open; or why none is open:
 *         -EMFILE  descriptors don't suffice, see hr_perf_files();
 *         -ENODEV  the cgroup was removed;
 *         -EXDEV   the cgroup is of a hierarchy without the controller "perf_event"; or cgroup2 has
 *                  made none for it yet, as it does when any controller is enabled at the top
 *                  (cgroup.subtree_control);
 *         -ENODATA no event at all can be counted, see hr_perf_status();
 *         -ENOMEM, or another negative errno of perf_event_open(2).
 */
int hr_perf_target_read(struct hr_perf_target *target);

/** Reads a last time and closes the descriptors, as the cgroup is empty. The totals stay, and are
 * continued by the next hr_perf_target_read(). */
void hr_perf_target_pause(struct hr_perf_target *target);

/** Tells of one event, summed over CPUs. */
struct hr_perf_value hr_perf_target_value(const struct hr_perf_target *target, size_t group,
                                          size_t event);

/**
 * Walks the CPUs that were ever online, in the order in which they came; also those on which the
 * target has nothing to count.
 *
 * @param index  from 0.
 * @param cpu    receives its number.
 * @return whether there is such an index.
 */
bool hr_perf_target_cpu(const struct hr_perf_target *target, size_t index, unsigned *cpu);

/** Tells of one event on one CPU; `counted` is false while it isn't open there. */
struct hr_perf_value hr_perf_target_cpu_value(const struct hr_perf_target *target, size_t index,
                                              size_t group, size_t event);

/** For how long, in nanoseconds of the target's time on CPUs, a group has had no turn on any
 * counter. Some seconds mean that it never will: it has more events than there are free counters.
 */
uint64_t hr_perf_target_starved_ns(const struct hr_perf_target *target, size_t group);

#endif
