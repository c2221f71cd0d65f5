/* SPDX-License-Identifier: MIT */
/*
 * room/memory_stat.h - memory.stat: pages that a group had to read again. Not for the top of the
 * hierarchy, where the kernel sums up all groups for it.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst ("memory.stat"), mm/workingset.c.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_MEMORY_STAT_H
#define HEADROOM_COLLECTORS_ROOM_MEMORY_STAT_H

#include <stddef.h>
#include <stdint.h>

/**
 * Sums up the pages that were read again, "workingset_refault_anon COUNT\n" and
 * "workingset_refault_file COUNT\n", before Linux 5.9 "workingset_refault COUNT\n", which
 * /proc/vmstat has, too.
 *
 * @return 0; -EBADMSG; -ENODATA: there is none.
 */
int hr_memory_stat_parse(const char *text, size_t length, uint64_t *refault_count);

/** Reads the file in a group's directory. @return as above, or the negative errno of open(2). */
int hr_memory_stat_read(int dirfd, uint64_t *refault_count);

#endif
