/*
 * psi_trigger.h - an event as soon as tasks were stalled for so long within so short a time.
 *
 * The kernel watches a pressure file for us, and the file's descriptor tells by EPOLLPRI. Where the
 * kernel doesn't, because it is too old, because of missing rights or of a mount that is read-only,
 * the file's total is polled instead, ten times per window, as often as the kernel looks itself.
 *
 * Both tell at most one event per window, and each event stands for a stall of its own: what was
 * told once is not counted again.
 *
 * Sources: Documentation/accounting/psi.rst ("Monitoring for pressure thresholds"),
 * kernel/sched/psi.c (psi_trigger_create, update_triggers, psi_trigger_poll).
 *
 * The objects here are used by one thread at a time.
 */
#ifndef HEADROOM_PSI_TRIGGER_H
#define HEADROOM_PSI_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "headroom/psi.h"

struct hr_cgroup;
struct hr_root;

/** The limits of a window, in microseconds: the kernel's upper one; below the lower one, polling
 * would cost more than it tells. */
#define HR_PSI_TRIGGER_WINDOW_MIN_US UINT64_C(100000)
#define HR_PSI_TRIGGER_WINDOW_MAX_US UINT64_C(10000000)

/** How often a trigger without the kernel's help is read per window. */
#define HR_PSI_TRIGGER_POLLS 10

enum hr_psi_trigger_mode {
    HR_PSI_TRIGGER_AUTO,   /**< by the kernel if it accepts the trigger, else by polling */
    HR_PSI_TRIGGER_KERNEL, /**< by the kernel or not at all */
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
    /** Whether the stall was measured. Not so at the kernel's first event after a quiet time, if no
     * total was read about a window before: it was a stall of stall_us or more. */
    bool measured;
    uint64_t stalled_us; /**< if measured, in the last elapsed_us; else the limit, stall_us */
    /** If measured, up to 1.5 windows, or more if a polled trigger is read late: a stall counts
     * then if it must have reached the limit in the last window. Else window_us. */
    uint64_t elapsed_us;
};

/** A trigger that is armed. */
struct hr_psi_trigger;

/**
 * Checks what a kernel could accept.
 *
 * @param of_system  whether it is meant for the system; else for groups.
 * @param reason     receives, on -EINVAL, what is wrong, as a static string.
 * @return 0 or -EINVAL.
 */
int hr_psi_trigger_check(const struct hr_psi_trigger_options *options, bool of_system,
                         const char **reason);

/**
 * Arms a trigger on the system's pressure.
 *
 * The kernel itself refuses windows below 0.5 s before Linux 6.5, and, without CAP_SYS_RESOURCE,
 * windows that are no multiple of 2 s (before Linux 6.4: all). With CAP_SYS_RESOURCE it looks ten
 * times per window, otherwise each 2 s.
 *
 * @param root     must outlive the trigger.
 * @param trigger  receives the trigger; the caller ends it with hr_psi_trigger_close().
 * @return 0; -ENOENT, -EOPNOTSUPP, -EACCES, -EPERM, -EBADMSG, -ENODATA as in struct
 *         hr_psi_snapshot; -ENODEV: the group was removed; -EMFILE: descriptors are short, also if
 *         only few are left, as an armed trigger keeps one; -EINVAL, -EPERM, … in kernel mode: the
 *         kernel refuses; -ENOMEM.
 */
int hr_psi_trigger_open_system(const struct hr_root *root,
                               const struct hr_psi_trigger_options *options,
                               struct hr_psi_trigger **trigger);

/** Likewise for a group. @param group  must outlive the trigger. */
int hr_psi_trigger_open_cgroup(const struct hr_cgroup *group,
                               const struct hr_psi_trigger_options *options,
                               struct hr_psi_trigger **trigger);

/** Disarms a trigger and ends it. NULL is allowed. */
void hr_psi_trigger_close(struct hr_psi_trigger *trigger);

/** The descriptor to wait on for EPOLLPRI; -1: there is none, as the kernel doesn't watch. It is
 * the trigger's. */
int hr_psi_trigger_fd(const struct hr_psi_trigger *trigger);

/**
 * After how many microseconds the trigger is to be read, again and again, besides when the kernel
 * tells; 0: never.
 *
 * With CAP_SYS_RESOURCE the kernel suffices. Without, the trigger is to be read once a window, or a
 * little later, so that the kernel goes first: a trigger that the kernel looks at each 2 s only
 * shares its clock with the averages, and whoever reads the pressure file in the moment when these
 * are due, brings them up to date and puts the look at the triggers off by 2 s; a reader with an
 * unlucky interval can do so for long (psi_show and psi_avgs_work in kernel/sched/psi.c).
 */
uint64_t hr_psi_trigger_poll_us(const struct hr_psi_trigger *trigger);

/** Why the kernel doesn't watch though asked to, as a negative errno; 0 if it does, or wasn't
 * asked. */
int hr_psi_trigger_refusal(const struct hr_psi_trigger *trigger);

/**
 * Tells whether there is an event.
 *
 * @param events  what epoll_wait(2) told of the descriptor; 0 when it is time to poll.
 * @param event   receives the event, on 0.
 * @return 0; -EAGAIN: none; -EMFILE, -ENFILE, -ENOMEM: it can't be told now; -ENODEV: the group was
 * removed, or its pressure switched off; or, when polling, another errno of
 * hr_psi_trigger_open_system(). With that, the trigger must be closed.
 */
int hr_psi_trigger_read(struct hr_psi_trigger *trigger, uint32_t events,
                        struct hr_psi_event *event);

#endif
