/* SPDX-License-Identifier: MIT */
/*
 * process/probe.h - checking whether the files of other processes can be opened.
 */
#ifndef HEADROOM_COLLECTORS_PROCESS_PROBE_H
#define HEADROOM_COLLECTORS_PROCESS_PROBE_H

#include "headroom/process.h"

/**
 * Tries PID 1 and, if that one is protected, other processes: any for root, else those of other
 * users.
 *
 * @param try_files  opens the needed files of a process, without any effect on it. @return 0 or a
 *                   negative errno.
 * @return 0; what try_files() returned for PID 1; or as hr_process_open().
 */
int hr_process_probe(const struct hr_root *root, int (*try_files)(const struct hr_process *));

/** Opens and closes a file of a process. @return 0, or as hr_process_openat(). */
int hr_process_try_file(const struct hr_process *process, const char *name, int flags);

#endif
