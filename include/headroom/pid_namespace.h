/* SPDX-License-Identifier: MIT */
/*
 * headroom/pid_namespace.h - which processes there are for this one.
 *
 * Sources: pid_namespaces(7); include/linux/proc_ns.h (PROC_PID_INIT_INO).
 */
#ifndef HEADROOM_PID_NAMESPACE_H
#define HEADROOM_PID_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

/** The inode number of the first one. */
#define HR_FIRST_PID_NAMESPACE UINT64_C(0xEFFFFFFC)

/** @return whether PIDs are those of the kernel's events, and of /proc of the host: in another PID
 * namespace than the first, as in most containers, they aren't, and there are only its own
 * processes. */
bool hr_has_pids_of_kernel(void);

#endif
