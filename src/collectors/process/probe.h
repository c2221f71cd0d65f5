/* SPDX-License-Identifier: MIT */
/*
 * process/probe.h - trying whether the files of other processes can be opened.
 */
#ifndef HEADROOM_COLLECTORS_PROCESS_PROBE_H
#define HEADROOM_COLLECTORS_PROCESS_PROBE_H

#include "headroom/process.h"

/**
 * Tries it of the first process and, where that one is guarded, of others: for root of any other,
 * else of those of other users.
 *
 * @param try_files  opens what is needed of a process, and does nothing to it. @return 0 or a
 *                   negative errno.
 * @return 0; what try_files() returned for the first process; or as hr_process_open().
 */
int hr_process_probe(const struct hr_root *root, int (*try_files)(const struct hr_process *));

/** Opens a file of a process, and closes it. @return 0, or as hr_process_openat(). */
int hr_process_try_file(const struct hr_process *process, const char *name, int flags);

#endif
