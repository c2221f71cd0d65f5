/* SPDX-License-Identifier: MIT */
/*
 * room/memory_limit.h - a group's limits of memory: memory.high, memory.max, and version 1's
 * memory.limit_in_bytes.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst ("Memory Interface Files");
 * include/linux/page_counter.h: version 1 prints no limit as the largest number of pages.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_MEMORY_LIMIT_H
#define HEADROOM_COLLECTORS_ROOM_MEMORY_LIMIT_H

#include <stddef.h>
#include <stdint.h>

/** In bytes; UINT64_MAX: no limit. */
struct hr_memory_limit {
    uint64_t high_bytes; /**< version 1 has none */
    uint64_t max_bytes;
};

/** Parses "268435456\n" or "max\n"; 2^62 and more is no limit. @return 0 or -EBADMSG. */
int hr_memory_limit_parse(const char *text, size_t length, uint64_t *bytes);

/**
 * Reads the limits of a group.
 *
 * @param version  of the directory's hierarchy, 1 or 2.
 * @return 0, -EBADMSG, or the negative errno of open(2).
 */
int hr_memory_limit_read(int dirfd, int version, struct hr_memory_limit *limit);

#endif
