/* SPDX-License-Identifier: MIT */
/*
 * process/stat.h - what /proc/PID/stat tells of a process.
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
    bool is_zombie;                  /**< it has ended, and waits for its parent */
    bool is_kernel_thread;
    uint64_t started_ticks; /**< after the machine's start */
};

/**
 * Parses the file. What comes after the time of the start isn't looked at.
 *
 * @return 0 or -EBADMSG.
 */
int hr_process_stat_parse(const char *text, size_t length, struct hr_process_stat *stat);

#endif
