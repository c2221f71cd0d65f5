/* SPDX-License-Identifier: MIT */
/*
 * headroom/psi_trigger.h - events when tasks were stalled for a given time within a window.
 *
 * The kernel monitors a pressure file, and reports events by EPOLLPRI on the file's descriptor.
 * Where it doesn't, because it is too old, a privilege is missing or the mount is read-only, and
 * of cgroups, the file's total is polled instead.
 *
 * A polled total that moves is read ten times per window, as often as the kernel itself updates it,
 * and the growth within a window is estimated as the kernel does. One that doesn't move is read
 * more and more rarely, up to once per window; what it grew since the last read counts in full, as
 * when it did so is unknown. So an event comes late, after the crossing of the limit, by up to a
 * tenth of a window, and of a total that was idle by up to a window. If the reads are more than 1.1
 * windows apart, only a stall counts that must have reached the limit within that time.
 *
 * Both report at most one event per window, and no stall is counted for two events.
 *
 * Sources: Documentation/accounting/psi.rst ("Monitoring for pressure thresholds"),
 * kernel/sched/psi.c (psi_trigger_create, update_triggers, psi_trigger_poll).
 *
 * An object may be used by one thread at a time.
 */
#ifndef HEADROOM_PSI_TRIGGER_H
#define HEADROOM_PSI_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/psi.h"

struct hr_cgroup;
struct hr_root;

/** The limits of a window. The upper one is the kernel's; below the lower one, polling would cost
 * too much. */
#define HR_PSI_TRIGGER_WINDOW_MIN_US UINT64_C(100000)
#define HR_PSI_TRIGGER_WINDOW_MAX_US UINT64_C(10000000)

/** Where none is configured. */
#define HR_PSI_TRIGGER_WINDOW_DEFAULT_US UINT64_C(1000000)

/** Reads per window of a polled trigger whose total moves. */
#define HR_PSI_TRIGGER_POLLS 10

enum hr_psi_trigger_mode {
    /** The system by the kernel if it accepts the trigger, else by polling; groups by polling: the
     * removal of a group with an armed trigger waits for RCU with the kernel's cgroup_mutex held.
     */
    HR_PSI_TRIGGER_AUTO,
    HR_PSI_TRIGGER_KERNEL, /**< by the kernel only, which needs CAP_SYS_RESOURCE */
    HR_PSI_TRIGGER_POLL,   /**< by polling */
};

struct hr_psi_trigger_options {
    enum hr_psi_resource resource;
    enum hr_psi_level level;
    uint64_t stall_us;  /**< 1..window_us */
    uint64_t window_us; /**< HR_PSI_TRIGGER_WINDOW_MIN_US.._MAX_US */
    enum hr_psi_trigger_mode mode;
};

/** A stall of at least `stall_us` within `window_us`. */
struct hr_psi_event {
    uint64_t time_ns; /**< CLOCK_MONOTONIC when the total was read */
    /** Whether the stall was measured. It isn't at an event of the kernel's after a quiet time:
     * then it was stall_us or more. */
    bool measured;
    uint64_t stalled_us; /**< if measured, in the last elapsed_us; else the limit, stall_us */
    /** If measured, up to 1.5 windows; of a polled trigger up to 3 after a quiet time, more if it
     * is read late, and of hr_psi_trigger_confirm() since the last event. Else window_us. */
    uint64_t elapsed_us;
};

/** An armed trigger. */
struct hr_psi_trigger;

/**
 * Checks options for values that no kernel accepts.
 *
 * @param of_system  for the system rather than for groups.
 * @param reason     receives, on -EINVAL, what is wrong, as a static string.
 * @return 0 or -EINVAL.
 */
int hr_psi_trigger_check(const struct hr_psi_trigger_options *options, bool of_system,
                         const char **reason);

/**
 * Arms a trigger on the system's pressure.
 *
 * The kernel's trigger needs CAP_SYS_RESOURCE: without it newer kernels accept some windows, but
 * check only every 2 s, together with the update of the averages, and any process that reads the
 * pressure file when that is due does it first and so postpones the check by 2 s (psi_show and
 * psi_avgs_work in kernel/sched/psi.c). Before Linux 6.5 the kernel refuses windows below 0.5 s.
 *
 * @param root     must outlive the trigger.
 * @param trigger  receives the trigger; the caller closes it with hr_psi_trigger_close().
 * @return 0; -ENOENT, -EOPNOTSUPP, -EACCES, -EPERM, -EBADMSG, -ENODATA as in struct
 *         hr_psi_snapshot; -ENODEV: the group was removed; -EMFILE: descriptors are short, also if
 *         a few are left, as an armed trigger keeps one; -EPERM in kernel mode: CAP_SYS_RESOURCE is
 *         missing; -EINVAL, … in kernel mode: the kernel refuses; -ENOMEM. Transient ones,
 *         -EMFILE, -ENFILE, -ENOMEM, -EAGAIN and -EINTR, are returned in auto mode, too: try again
 *         later.
 */
int hr_psi_trigger_open_system(const struct hr_root *root,
                               const struct hr_psi_trigger_options *options,
                               struct hr_psi_trigger **trigger);

/** Arms a trigger on a group's pressure. @param group  must outlive the trigger. */
int hr_psi_trigger_open_cgroup(const struct hr_cgroup *group,
                               const struct hr_psi_trigger_options *options,
                               struct hr_psi_trigger **trigger);

/** Disarms and frees a trigger. NULL is allowed. */
void hr_psi_trigger_close(struct hr_psi_trigger *trigger);

/**
 * Closes triggers, those of the kernel in up to 32 threads side by side: it waits for RCU at each.
 *
 * @param triggers  may contain NULL.
 */
void hr_psi_trigger_close_many(struct hr_psi_trigger **triggers, size_t count);

/** The descriptor to wait on for EPOLLPRI, owned by the trigger; -1: the kernel doesn't monitor. */
int hr_psi_trigger_fd(const struct hr_psi_trigger *trigger);

/** When hr_psi_trigger_read() is due, as hr_clock_ns(), of a trigger that is polled; UINT64_MAX:
 * the kernel reports by the descriptor. Changes with each read. Triggers with the same window share
 * their times, ten per window, over which idle ones are spread. */
uint64_t hr_psi_trigger_due_ns(const struct hr_psi_trigger *trigger);

/** Whether the total moved notably, by a 16th of the limit, within about the last window. Of the
 * kernel's triggers: whether there was an event. */
bool hr_psi_trigger_is_active(const struct hr_psi_trigger *trigger);

/** Why the kernel refused to monitor, as a negative errno; 0 if it does, or wasn't asked to. */
int hr_psi_trigger_refusal(const struct hr_psi_trigger *trigger);

/**
 * Checks for an event.
 *
 * @param events  those of epoll_wait(2) for the descriptor; 0 for a trigger that is polled.
 * @param event   receives the event, on 0.
 * @return 0; -EAGAIN: none; -EMFILE, -ENFILE, -ENOMEM: unknown for now; -ENODEV: the group was
 *         removed, or its pressure disabled; or, when polling, another errno of
 *         hr_psi_trigger_open_system(). After the last two, the trigger must be closed.
 */
int hr_psi_trigger_read(struct hr_psi_trigger *trigger, uint32_t events,
                        struct hr_psi_event *event);

/**
 * Checks whether it still stalls, when the time without an event is over.
 *
 * @param event  receives, on 0, an event since the last one, or since the trigger was opened.
 * @return 0: in that time the stall grew, on average, at the limit's rate or faster, which counts
 * as an event; -EAGAIN: it didn't; errors as hr_psi_trigger_read().
 */
int hr_psi_trigger_confirm(struct hr_psi_trigger *trigger, struct hr_psi_event *event);

/**
 * Explains to a user why a trigger can't be armed, or the kernel refuses it.
 *
 * @param status  an error of hr_psi_trigger_open_system(), hr_psi_trigger_refusal() or
 *                hr_psi_trigger_read(), or of epoll_ctl(2) with the trigger's descriptor.
 * @param resource, is_system, reason  as for hr_psi_explain().
 */
void hr_psi_trigger_explain(int status, enum hr_psi_resource resource, bool is_system,
                            struct hr_reason *reason);

#endif
