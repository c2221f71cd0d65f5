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

/**
 * Finds processes by name, among the names of all, see process/names.h. These are read again unless
 * that was done within the last tenth of the window, or the last second if that is less. A process
 * that is found late counts with what it touched before, too; one that isn't found before the
 * window ends doesn't count.
 *
 * @param known  a list whose processes are left out; NULL: none.
 * @return as hr_process_names_read() or hr_process_list_find_named().
 */
int hr_wss_find_named(const struct hr_wss_subject *subject, const struct hr_wss_target *target,
                      uint64_t window_ns, const struct hr_process_list *known,
                      struct hr_process_list *list);

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
