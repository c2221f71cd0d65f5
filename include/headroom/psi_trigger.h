/* SPDX-License-Identifier: MIT */
/*
 * headroom/psi_trigger.h - events when tasks were stalled for a given time within a window.
 *
 * The kernel monitors a pressure file, and reports events by EPOLLPRI on the file's descriptor.
 * Where it doesn't, because it is too old, a privilege is missing or the mount is read-only, the
 * file's total is polled instead, ten times per window, as often as the kernel itself updates it.
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
#include <stdint.h>

#include "headroom/psi.h"

struct hr_cgroup;
struct hr_root;

/** The limits of a window. The upper one is the kernel's; below the lower one, polling would cost
 * too much. */
#define HR_PSI_TRIGGER_WINDOW_MIN_US UINT64_C(100000)
#define HR_PSI_TRIGGER_WINDOW_MAX_US UINT64_C(10000000)

/** Reads per window of a trigger that is polled. */
#define HR_PSI_TRIGGER_POLLS 10

enum hr_psi_trigger_mode {
    HR_PSI_TRIGGER_AUTO,   /**< by the kernel if it accepts the trigger, else by polling */
    HR_PSI_TRIGGER_KERNEL, /**< by the kernel only */
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
    /** Whether the stall was measured. It isn't at the kernel's first event after a quiet time, if
     * no total was read about a window before: then it was stall_us or more. */
    bool measured;
    uint64_t stalled_us; /**< if measured, in the last elapsed_us; else the limit, stall_us */
    /** If measured, up to 1.5 windows, or more if a polled trigger is read late: then only a stall
     * counts that must have reached the limit within the last window. Else window_us. */
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
 * Before Linux 6.5 the kernel refuses windows below 0.5 s; without CAP_SYS_RESOURCE it refuses
 * windows that aren't a multiple of 2 s (before Linux 6.4: all). With CAP_SYS_RESOURCE it checks
 * ten times per window, otherwise every 2 s.
 *
 * @param root     must outlive the trigger.
 * @param trigger  receives the trigger; the caller closes it with hr_psi_trigger_close().
 * @return 0; -ENOENT, -EOPNOTSUPP, -EACCES, -EPERM, -EBADMSG, -ENODATA as in struct
 *         hr_psi_snapshot; -ENODEV: the group was removed; -EMFILE: descriptors are short, also if
 *         a few are left, as an armed trigger keeps one; -EINVAL, -EPERM, … in kernel mode: the
 *         kernel refuses; -ENOMEM.
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

/** The descriptor to wait on for EPOLLPRI, owned by the trigger; -1: the kernel doesn't monitor. */
int hr_psi_trigger_fd(const struct hr_psi_trigger *trigger);

/**
 * The interval in microseconds at which to read the trigger, in addition to the kernel's events; 0:
 * none.
 *
 * With CAP_SYS_RESOURCE the kernel suffices. Without it, read the trigger once per window or
 * slightly less often, so that the kernel comes first: it checks such triggers every 2 s, together
 * with the update of the averages, and any process that reads the pressure file when the averages
 * are due updates them and so postpones the check by 2 s. A reader with an unlucky interval can do
 * that for long (psi_show and psi_avgs_work in kernel/sched/psi.c).
 */
uint64_t hr_psi_trigger_poll_us(const struct hr_psi_trigger *trigger);

/** Why the kernel refused to monitor, as a negative errno; 0 if it does, or wasn't asked to. */
int hr_psi_trigger_refusal(const struct hr_psi_trigger *trigger);

/**
 * Checks for an event.
 *
 * @param events  those of epoll_wait(2) for the descriptor; 0 at the polling interval.
 * @param event   receives the event, on 0.
 * @return 0; -EAGAIN: none; -EMFILE, -ENFILE, -ENOMEM: unknown for now; -ENODEV: the group was
 *         removed, or its pressure disabled; or, when polling, another errno of
 *         hr_psi_trigger_open_system(). After the last two, the trigger must be closed.
 */
int hr_psi_trigger_read(struct hr_psi_trigger *trigger, uint32_t events,
                        struct hr_psi_event *event);

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
