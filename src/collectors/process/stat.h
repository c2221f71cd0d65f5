/* SPDX-License-Identifier: MIT */
/*
 * process/stat.h - parsing /proc/PID/stat.
 *
 * Source: Documentation/filesystems/proc.rst (table 1-4).
 */
#ifndef HEADROOM_COLLECTORS_PROCESS_STAT_H
#define HEADROOM_COLLECTORS_PROCESS_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/process.h"

struct hr_process_stat {
    char name[HR_PROCESS_NAME_SIZE]; /**< any bytes but NUL; terminated */
    bool is_zombie;                  /**< it has ended, but not been reaped */
    bool is_exiting;                 /**< it ends, while its memory is being freed, or has */
    bool is_kernel_thread;
    uint64_t started_ticks; /**< since boot */
    bool is_bound;          /**< the kernel has chosen its CPUs, and they can't be changed */
};

/**
 * Parses the file, up to the start time.
 *
 * @return 0 or -EBADMSG.
 */
int hr_process_stat_parse(const char *text, size_t length, struct hr_process_stat *stat);

/** Reads an open file, and closes it. @param fd  or the negative errno of opening it, which is
 * returned. @return as above, or the negative errno of reading. */
int hr_process_stat_read_and_close(int fd, struct hr_process_stat *stat);

#endif
