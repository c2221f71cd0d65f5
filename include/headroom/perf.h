/* SPDX-License-Identifier: MIT */
/*
 * headroom/perf.h - counts of perf events, for cgroups and for the whole machine.
 *
 * Events are counted in groups. The events of a group are scheduled onto the CPU's counters
 * together and read together, so that their ratios are exact even where groups take turns
 * (multiplexing). A target (a cgroup with all its descendants, or the machine) has each event open
 * once on every online CPU.
 *
 * For each group and CPU the kernel reports how long it should have counted (enabled: while the
 * cgroup ran on that CPU; for the machine, always) and how long it did (running). The count of an
 * interval is scaled by the two times of that interval alone and added to the total, so a total
 * never decreases. A group that had no turn on a CPU is scaled once it has had one, for
 * the last minute at most that it should have counted; or for an interval that is longer.
 *
 * Where the kernel's running time of cgroups is wrong (hr_perf_is_running_time_right()), groups
 * with events of a PMU have a clock with them, whose count is taken instead; each takes a
 * descriptor.
 *
 * By BPF, each event is open once on every CPU, for all targets. At each switch of tasks a program
 * adds what the events have counted to the deepest open group that the task was in; a target's
 * counts are those of its group and of those below. So the cost doesn't grow with the number of
 * groups, and the events of a nested group take turns with no others. hr_perf_read() has CPUs count
 * the task that runs; idle ones are left alone, so what an idle CPU does is counted for the machine
 * when it wakes up. What a task did since its last switch is counted for the group that it is in at
 * the end: one that is moved meanwhile is counted for the new group from then on.
 *
 * Where a BPF program can't read an event of a group, that group is counted by descriptors, beside
 * others that are counted by BPF: see hr_perf_exception().
 *
 * Sources: perf_event_open(2), kernel/events/core.c (perf_event_read_group, perf_cgroup_connect,
 * perf_event_read_local), kernel/trace/bpf_trace.c (bpf_perf_event_read_value, __bpf_trace_run),
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

#include "headroom/cpu_choice.h"

struct hr_cgroup;
struct hr_perf_bpf_calls;
struct hr_perf_event;
struct hr_reason;
struct hr_root;

/** Maximum number of events of a group. No PMU has as many counters. */
#define HR_PERF_GROUP_MAX 32

/** Events that are counted together; must outlive the objects opened with it. After
 * hr_perf_event_update() of one, call hr_perf_update_events(). */
struct hr_perf_event_group {
    struct hr_perf_event *const *events;
    size_t count; /**< 1 to HR_PERF_GROUP_MAX */
};

/** What is counted: an event may be countable in one scope and not in the other. */
enum hr_perf_scope { HR_PERF_SYSTEM, HR_PERF_CGROUP, HR_PERF_SCOPE_COUNT };

/** The kernel's calls, which a test can replace. Each returns a negative errno on failure. */
struct hr_perf_calls {
    /** perf_event_open(2). @return a descriptor */
    int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                unsigned long flags);
    /** ioctl(2) PERF_EVENT_IOC_ENABLE for the whole group. */
    int (*enable)(int fd);
    /** read(2). @return the number of bytes */
    ssize_t (*read)(int fd, void *buffer, size_t size);
    void (*close)(int fd);
};

struct hr_perf_options {
    const struct hr_perf_event_group *groups; /**< the array is copied */
    size_t group_count;
    size_t max_files; /**< limit of descriptors; 0: RLIMIT_NOFILE alone */
    /** How long opening and closing counters by descriptors may take between two hr_perf_read(),
     * and a little more; at least 256 are opened, and closed. Where both are to be done, closing
     * has a quarter of the time beside. 0: the default, 75 ms. */
    uint64_t slice_ns;
    /** How long opening may take by the clock, if the thread doesn't have a CPU all the time: then
     * slice_ns are CPU time. 0: no longer than slice_ns. */
    uint64_t slice_wall_ns;
    /** Failed opens are retried after this time; 0: the default, one minute. */
    uint64_t retry_ns;
    const struct hr_perf_calls *calls; /**< NULL: the kernel's; must outlive the object */
    /** No event is opened or read on other CPUs, and by BPF they aren't interrupted either: what is
     * done there isn't counted, not for the machine either. */
    struct hr_cpu_choice cpus;
    /* By BPF: */
    size_t max_targets; /**< the most cgroups that are counted at a time; 0: the default, 1,000 */
    const struct hr_perf_bpf_calls *bpf_calls; /**< NULL: libbpf's */
};

/** What limits the descriptors. */
enum hr_perf_limit {
    HR_PERF_BY_OPTION, /**< max_files */
    HR_PERF_BY_RLIMIT, /**< the share of RLIMIT_NOFILE (headroom/descriptor.h) */
    HR_PERF_BY_OTHERS  /**< descriptors ran out lately, below both of these limits */
};

/** Use of descriptors: one per target, event and CPU, and those of clocks. */
struct hr_perf_files {
    size_t open;   /**< currently, with those that wait to be closed */
    size_t wanted; /**< needed by all targets that were read, including those that don't fit */
    size_t limit;  /**< maximum of `open` */
    enum hr_perf_limit limited_by;
    /** Needed by the machine, and by each cgroup, on the CPUs that are online; 0: not known yet. Of
     * groups of events that BPF counts none. */
    size_t of_system, of_group;
};

/** One event of a target at the last read. */
struct hr_perf_value {
    /** false: the target ran, but this event had no turn on a counter since the previous read, or
     * never had one; or it can't be opened. The counts are then meaningless. */
    bool counted;
    uint64_t total;      /**< since the target was opened; wraps at 2^64 */
    uint64_t delta;      /**< part of `total` since the previous read */
    uint64_t enabled_ns; /**< time since the previous read in which it should have counted */
    uint64_t running_ns; /**< time in which it did: 0..enabled_ns; both summed over CPUs */
};

/** Events, CPUs and descriptors, common to all targets. */
struct hr_perf;

/** The counters of one cgroup, or of the machine. */
struct hr_perf_target;

/**
 * Prepares counting. Nothing is opened before hr_perf_read().
 *
 * @param root  where /sys/devices/system/cpu and /proc/sys/kernel/osrelease are; must outlive the
 *              object.
 * @param perf  receives the object; the caller ends it with hr_perf_close().
 * @return 0; -EINVAL if a group is empty or too large; -ENOMEM.
 */
int hr_perf_open(const struct hr_root *root, const struct hr_perf_options *options,
                 struct hr_perf **perf);

/**
 * Prepares counting by BPF, and opens the events.
 *
 * @param reason  receives the cause of a failure, and the remedy; NULL is allowed.
 * @return 0; -ENOPKG: built without; -EXDEV: perf_event isn't in cgroup2; -E2BIG: too many events;
 *         -EPERM, -EACCES: it takes CAP_BPF and CAP_PERFMON; -EOPNOTSUPP: the kernel can't, or not
 *         with an event of each group; or another negative errno.
 */
int hr_perf_open_bpf(const struct hr_root *root, const struct hr_perf_options *options,
                     struct hr_perf **perf, struct hr_reason *reason);

/**
 * Goes on counting by BPF what is counted by descriptors, which are closed, but for those that BPF
 * programs can't read. Totals go on where they
 * are: nothing is missed, and what runs meanwhile is counted twice for less than a millisecond on
 * each CPU. Call it after reading the targets: `delta` and the times of the next reading begin with
 * this.
 *
 * @param perf    of hr_perf_open(); hr_perf_read() has succeeded.
 * @param reason  receives the cause of a failure, and the remedy; NULL is allowed.
 * @return 0, also if that is so already; or as hr_perf_open_bpf(): it goes on by descriptors.
 */
int hr_perf_change_to_bpf(struct hr_perf *perf, struct hr_reason *reason);

/**
 * Calculates the memory that the counts of BPF programs take in the kernel: of each event, possible
 * CPU and slot of a cgroup, of which there are one and a quarter times max_targets; none of groups
 * with events of the whole machine.
 *
 * @return 0, or the negative errno of reading /sys/devices/system/cpu/possible.
 */
int hr_perf_bpf_memory(const struct hr_root *root, const struct hr_perf_options *options,
                       size_t *bytes);

/**
 * Which groups of events are counted by descriptors though others are counted by BPF: those with an
 * event of the whole machine, and those with one that BPF programs can't read. That may change at
 * hr_perf_read(), when a CPU comes online, or an event is permitted or becomes known, but never
 * back: such a group isn't counted by BPF any more then, nor by descriptors before its targets have
 * these open, at the next hr_perf_target_read() or some later; what happens meanwhile is missed.
 *
 * @return such an event of the group; NULL: there is none, or all are counted by descriptors.
 */
const struct hr_perf_event *hr_perf_exception(const struct hr_perf *perf, size_t group);

/** @return how many descriptors a group of events takes on the CPUs that are online, of the machine
 * or of each cgroup, unless it is counted by BPF; 0 if that isn't known yet. */
size_t hr_perf_group_file_count(const struct hr_perf *perf, enum hr_perf_scope scope, size_t group);

/** Frees the object, and closes what waits for that; all its targets must have been closed. NULL is
 * allowed. */
void hr_perf_close(struct hr_perf *perf);

/**
 * Reads which CPUs are online; by BPF, also what has been counted. By descriptors, closes and opens
 * counters that wait for it, for as long as slice_ns allows. Call it each time before reading the
 * targets.
 *
 * @return 0, or the negative errno of reading /sys/devices/system/cpu/online, or isolated or
 * nohz_full if these matter; -EBADMSG or -ERANGE if it can't be parsed; the CPUs known before are
 * then kept.
 */
int hr_perf_read(struct hr_perf *perf);

/**
 * Lets opening take longer until the next hr_perf_read(): instead of slice_ns and slice_wall_ns,
 * where these are shorter. So more targets begin at once, as at a start.
 */
void hr_perf_lengthen_slice(struct hr_perf *perf, uint64_t max_ns, uint64_t max_wall_ns);

/** @return a number that is another one after each hr_perf_read() that found other CPUs online than
 * before, be they counted on or left out; 1 before the first. */
unsigned hr_perf_cpu_changes(const struct hr_perf *perf);

/** Tries again what can be counted, as encodings of events were changed by hr_perf_event_update().
 * All counters of the machine are opened again if events that it counts have changed, and those of
 * cgroups if events that these count have: when a target is read, in slices. Totals go on. */
void hr_perf_update_events(struct hr_perf *perf);

/** @return how many CPUs were online at the last hr_perf_read(), without those that are left out.
 */
size_t hr_perf_cpu_count(const struct hr_perf *perf);

/** @return the use of descriptors. */
struct hr_perf_files hr_perf_files(const struct hr_perf *perf);

/**
 * Whether an event can be counted, as found by opening it for the first target of the scope. An
 * event that can't is retried after `retry_ns`, as permission may have been granted.
 *
 * @return 0; -ECANCELED: not tried yet;
 *         -ENOENT, -EOPNOTSUPP, -ENODEV, -ENXIO  nothing on this machine counts it: usually there
 *         is no PMU (in a virtual machine);
 *         -EADDRNOTAVAIL  it is counted only on CPUs that are left out;
 *         -EACCES, -EPERM  CAP_PERFMON is missing, and kernel.perf_event_paranoid is above 0; or
 *         the latter is above HR_PERF_PARANOID_MAX;
 *         -E2BIG   each event of its group can be counted, but not all of them together;
 *         -EINVAL  the kernel refuses it: the PMU doesn't support a modifier, or, in a cgroup, the
 *                  counter belongs to the whole machine;
 *         or another negative errno of perf_event_open(2).
 */
int hr_perf_status(const struct hr_perf *perf, enum hr_perf_scope scope, size_t group,
                   size_t event);

/** Above this, kernels of Debian and Ubuntu require CAP_SYS_ADMIN; Debian's default is 3. */
#define HR_PERF_PARANOID_MAX 2

/**
 * Reads the sysctl kernel.perf_event_paranoid, which decides what may be counted without
 * CAP_PERFMON: the whole machine and cgroups at 0 or below.
 *
 * @return 0, -EBADMSG, or the negative errno of reading /proc/sys/kernel/perf_event_paranoid.
 */
int hr_perf_paranoid_read(const struct hr_root *root, int *level);

/**
 * Whether the running kernel is known, by its release, to report right how long a cgroup's events
 * were on a PMU's counters. Distributions patch their kernels under old numbers, so one that isn't
 * known is taken for wrong.
 *
 * From Linux 6.2 ("perf: Rewrite core context handling") until "perf: Update cgroup time when
 * rotating multiplexed events", events took turns without the cgroup's time being brought up to
 * date (kernel/events/core.c, perf_rotate_context), so that the time of one event's turn was
 * attributed to another: time_running is wrong by factors. time_enabled and the counts are right,
 * and so are the times of the whole machine.
 */
bool hr_perf_is_running_time_right(const struct hr_root *root);

/** Prepares counting of the whole machine. @return 0 or -ENOMEM. */
int hr_perf_target_open_system(struct hr_perf *perf, struct hr_perf_target **target);

/**
 * Prepares counting of a cgroup and all its descendants.
 *
 * @param group  in the hierarchy of the controller "perf_event"; must outlive the target.
 * @return 0 or -ENOMEM.
 */
int hr_perf_target_open_cgroup(struct hr_perf *perf, const struct hr_cgroup *group,
                               struct hr_perf_target **target);

/** Closes the descriptors, as far as slice_ns allows, the rest at the next hr_perf_read(), and
 * frees the target. NULL is allowed. */
void hr_perf_target_close(struct hr_perf_target *target);

/**
 * Reads all counters, and opens those that are missing: at first all, later those of CPUs that
 * came online. Opening takes time on each CPU, so what would take too long goes on at the next
 * hr_perf_read(). A target has either all of its counters open, or no values, but for those of CPUs
 * that come online later: their counts are added as soon as these counters are open.
 *
 * @return 0, also for a removed cgroup as long as its counters are open; or why none is open:
 *         -EMFILE  there are too few descriptors, see hr_perf_files();
 *         -EINPROGRESS  opening goes on at the next hr_perf_read();
 *         -ENODEV  the cgroup was removed;
 *         -EXDEV   the cgroup's hierarchy lacks the controller "perf_event"; or cgroup2 hasn't
 *                  created one for it yet, which it does when any controller is enabled at the top
 *                  (cgroup.subtree_control);
 *         -ENODATA no event can be counted, see hr_perf_status();
 *         -ENOSPC  by BPF: there are more than max_targets;
 *         -ENOMEM, or another negative errno of perf_event_open(2), or by BPF of bpf(2).
 *         Where some groups of events are counted by BPF, and it is descriptors that fail, those
 *         groups are counted nevertheless, as hr_perf_target_value() says.
 */
int hr_perf_target_read(struct hr_perf_target *target);

/** Reads a last time and closes the descriptors of a cgroup that became empty. The totals are kept
 * and continued by the next hr_perf_target_read(). */
void hr_perf_target_pause(struct hr_perf_target *target);

/** @return the value of one event, summed over CPUs. */
struct hr_perf_value hr_perf_target_value(const struct hr_perf_target *target, size_t group,
                                          size_t event);

/**
 * Iterates over the chosen CPUs that were ever online, in the order in which they were first seen,
 * including those on which the target counts nothing.
 *
 * @param index  from 0.
 * @param cpu    receives the CPU's number.
 * @return false if there is no such index.
 */
bool hr_perf_target_cpu(const struct hr_perf_target *target, size_t index, unsigned *cpu);

/** @return the value of one event on one CPU; `counted` is false while it isn't open there. */
struct hr_perf_value hr_perf_target_cpu_value(const struct hr_perf_target *target, size_t index,
                                              size_t group, size_t event);

/** How long, in nanoseconds of the target's time on CPUs, a group has had no turn on any counter.
 * Some seconds mean that it never will: it has more events than there are free counters. */
uint64_t hr_perf_target_starved_ns(const struct hr_perf_target *target, size_t group);

#endif
