/* SPDX-License-Identifier: MIT */
/*
 * memory/smaps.h - a process's mappings, and sums over all: how much is resident, and was
 * referenced.
 *
 * Source: Documentation/filesystems/proc.rst (smaps, smaps_rollup), fs/proc/task_mmu.c.
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_SMAPS_H
#define HEADROOM_COLLECTORS_MEMORY_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hr_process;
struct hr_root;

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

/** A mapping: a range of addresses, and what is mapped there. */
struct hr_smaps_mapping {
    uint64_t start;  /**< its first address */
    uint64_t device; /**< that has the file: 2^32 times the major number, and the minor one */
    uint64_t inode;  /**< of the file, or of shared memory; 0: anonymous memory */
    uint64_t offset; /**< where in the file it begins, in bytes */
    struct hr_smaps sums;
};

/** A parser's position between mappings. Initially all zeros but `visit` and `context`. */
struct hr_smaps_parser {
    /** Called for each mapping. @return 0, or a negative errno, which ends the reading. */
    int (*visit)(const struct hr_smaps_mapping *mapping, void *context);
    void *context;
    bool has_mapping;
    struct hr_smaps_mapping mapping;
};

/**
 * Parses a piece of smaps, and calls `visit` for each mapping once its last line was parsed: that
 * of the last one only at the end.
 *
 * @param text    whole lines; a mapping's may be in several pieces. NULL: the text has ended.
 * @return 0; -EBADMSG: a mapping's first line isn't understood, is missing, or as above; or what
 *         `visit` returned.
 */
int hr_smaps_parse_mappings(struct hr_smaps_parser *parser, const char *text, size_t length);

/**
 * Reads smaps of a process. The kernel releases the lock of the memory map between mappings.
 *
 * @param visit  as that of the parser.
 * @return 0; -ESRCH: the process has ended; -EACCES; -ENOENT: the kernel lacks the file; -EBADMSG;
 *         what `visit` returned; …
 */
int hr_smaps_read_mappings(const struct hr_process *process,
                           int (*visit)(const struct hr_smaps_mapping *mapping, void *context),
                           void *context);

/**
 * @return whether the kernel tracks which pages are written (CONFIG_MEM_SOFT_DIRTY), by the flag
 *         "sd" of the caller's first mapping, which each one begins with; true if that isn't known.
 */
bool hr_smaps_has_soft_dirty(const struct hr_root *root);

#endif
