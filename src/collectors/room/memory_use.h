/* SPDX-License-Identifier: MIT */
/*
 * room/memory_use.h - what a group's memory is: how much of it the kernel could take away.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst ("memory.current", "memory.stat",
 * "memory.swap.max"), Documentation/admin-guide/cgroup-v1/memory.rst.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_MEMORY_USE_H
#define HEADROOM_COLLECTORS_ROOM_MEMORY_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Of a group and those below it. */
struct hr_memory_use {
    uint64_t current_bytes;
    uint64_t active_file_bytes, inactive_file_bytes;
    uint64_t slab_reclaimable_bytes; /**< 0 in version 1, which doesn't say */
    uint64_t swapped_bytes;          /**< 0 where the kernel doesn't say */
    bool has_parts;                  /**< asked for, and known */
    struct hr_memory_parts {
        uint64_t anon_bytes; /**< what can be swapped out; also tmpfs */
        uint64_t mapped_file_bytes;
        uint64_t refault_count; /**< pages read again that had been reclaimed */
    } parts;
};

/** Parses memory.stat; the other members are unchanged. @param version  1 or 2. @return 0;
 * -EBADMSG; -ENODATA: a line is missing. */
int hr_memory_use_parse(const char *text, size_t length, int version, struct hr_memory_use *use);

/** Parses the rest of memory.stat. @return as above. */
int hr_memory_parts_parse(const char *text, size_t length, int version,
                          struct hr_memory_parts *parts);

struct hr_group_base;

/** Where a group's files are, see hr_kept_file_read(). */
struct hr_memory_use_files {
    const struct hr_group_base *base;
    size_t level;
    int *stat, *size;
    int *swapped; /**< NULL: the machine has no swap space, nothing is swapped out */
    bool with_parts;
};

/** Reads memory.stat, the current size and what is swapped out. @return as above, or the negative
 * errno of open(2). */
int hr_memory_use_read(const struct hr_memory_use_files *files, int version,
                       struct hr_memory_use *use);

/** Reads how much a group may swap out at most: memory.swap.max, or what version 1's limit of
 * memory and swap space exceeds that of memory by; UINT64_MAX: no limit. @return 0; -ENOENT:
 * without swap accounting; -EBADMSG; or another negative errno of open(2). */
int hr_swap_limit_read(int dirfd, int version, uint64_t *limit_bytes);

#endif
