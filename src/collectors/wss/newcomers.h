/* SPDX-License-Identifier: MIT */
/*
 * wss/newcomers.h - processes of a target that began after its measurement did.
 *
 * All that such a process has touched, it touched within the window: the pages it has mapped are
 * those that it touched, and after fork(2) the kernel marks those of the parent as not accessed.
 */
#ifndef HEADROOM_COLLECTORS_WSS_NEWCOMERS_H
#define HEADROOM_COLLECTORS_WSS_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "wss/method.h"

/** The time now, as a process's start is counted: in clock ticks since boot. */
uint64_t hr_wss_now_ticks(void);

/** Reads the names of all processes, see process/names.h, unless they were read within a tenth of
 * the window up to now, or a second if that is less: what a process that is found late touched
 * before counts, too, or not at all if its window ends. @return as hr_process_names_read(). */
int hr_wss_read_names(const struct hr_wss_subject *subject, uint64_t window_ns);

/**
 * Finds the newcomers of several processes, or of a cgroup.
 *
 * By name, those are all that had another name at the beginning, or didn't exist. In a cgroup, a
 * process that began before, and was moved there since, is one only with `counts_moved`: what it
 * touched is charged to the group it came from.
 *
 * @param since_ticks  when the measurement began.
 * @param marked_ns    the same, of hr_clock_ns().
 * @param newcomers    replaced; may be empty.
 * @return 0; -ENODEV: the cgroup was removed; -ENOMEM, -EMFILE, …
 */
int hr_wss_find_newcomers(const struct hr_wss_subject *subject, const struct hr_wss_target *target,
                          uint64_t since_ticks, uint64_t marked_ns, bool counts_moved,
                          struct hr_process_list *newcomers);

#endif
