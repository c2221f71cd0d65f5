/* SPDX-License-Identifier: MIT */
/*
 * memory/smaps.h - sums over a process's mappings: how much is resident, and was referenced.
 *
 * Source: Documentation/filesystems/proc.rst (smaps, smaps_rollup), fs/proc/task_mmu.c.
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_SMAPS_H
#define HEADROOM_COLLECTORS_MEMORY_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hr_process;

struct hr_smaps {
    bool has_rss, has_pss, has_referenced;
    uint64_t rss_bytes, pss_bytes, referenced_bytes;
};

/**
 * Adds the lines "Rss:", "Pss:" and "Referenced:" of a piece of smaps or smaps_rollup to the sums.
 * Other lines are ignored.
 *
 * @param text    whole lines.
 * @return 0, or -EBADMSG: one of the three isn't a number of kB, or the sum is above 2^64-1. The
 *         sums are then of no use.
 */
int hr_smaps_parse(const char *text, size_t length, struct hr_smaps *sums);

/**
 * Reads smaps_rollup of a process, or, where the kernel has none (before 4.14), smaps.
 *
 * @return 0; -ESRCH: the process has ended; -EACCES; -EBADMSG; …
 */
int hr_smaps_read(const struct hr_process *process, struct hr_smaps *sums);

#endif
