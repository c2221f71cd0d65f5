/* SPDX-License-Identifier: MIT */
/*
 * wss/damon_owner.h - whose a monitoring of DAMON is, and whether its process still exists.
 *
 * The kernel goes on monitoring when the process that switched it on is killed. No state file is
 * needed to find such a monitoring: it has a tag, see memory/damon_sysfs.h, of our process's
 * number, start and PID namespace, which lasts as long as the monitoring does.
 *
 * Sources: pid_namespaces(7); Documentation/filesystems/proc.rst (NSpid in status);
 * include/linux/proc_ns.h (PROC_PID_INIT_INO).
 */
#ifndef HEADROOM_COLLECTORS_WSS_DAMON_OWNER_H
#define HEADROOM_COLLECTORS_WSS_DAMON_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "headroom/root.h"

enum hr_damon_owner {
    HR_DAMON_OWNER_NONE,    /**< there is no monitoring */
    HR_DAMON_OWNER_OTHER,   /**< another program */
    HR_DAMON_OWNER_ALIVE,   /**< a process of ours that exists */
    HR_DAMON_OWNER_DEAD,    /**< one that has ended */
    HR_DAMON_OWNER_UNKNOWN, /**< one of ours, of a PID namespace that can't be looked into from here
                             */
};

struct hr_damon_found {
    enum hr_damon_owner owner;
    uint64_t tag; /**< if it is ours */
    pid_t pid;    /**< if it is ours: the process's number in its own namespace */
};

/** Makes a tag for a measurement of this process. @param number  of the measurement: others at
 * about the same time have others; only its lowest nine bits count. */
uint64_t hr_damon_make_tag(uint64_t number);

/** Whether a tag was made by this process. */
bool hr_damon_is_own_tag(uint64_t tag);

/**
 * Finds the owner of the existing monitoring.
 *
 * @param root   has the /proc in which processes of other PID namespaces are looked up: only that
 * of the initial namespace has all.
 * @return 0; -EACCES, -EMFILE, …: DAMON's files can't be read.
 */
int hr_damon_find_owner(const struct hr_root *root, struct hr_damon_found *found);

#endif
