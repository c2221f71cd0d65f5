/* SPDX-License-Identifier: MIT */
/*
 * room/meminfo.h - /proc/meminfo: the machine's memory.
 *
 * Source: Documentation/filesystems/proc.rst ("meminfo"), fs/proc/meminfo.c.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_MEMINFO_H
#define HEADROOM_COLLECTORS_ROOM_MEMINFO_H

#include <stddef.h>
#include <stdint.h>

struct hr_root;

struct hr_meminfo {
    uint64_t total_bytes;
    uint64_t available_bytes; /**< without swapping, by the kernel's estimate */
    uint64_t swap_total_bytes, swap_free_bytes;
};

/** Parses lines like "MemTotal:  4046824 kB\n". @return 0; -EBADMSG; -ENODATA: one is missing. */
int hr_meminfo_parse(const char *text, size_t length, struct hr_meminfo *meminfo);

/** Reads the file. @return as above, or the negative errno of open(2) or pread(2). */
int hr_meminfo_read(const struct hr_root *root, struct hr_meminfo *meminfo);

#endif
