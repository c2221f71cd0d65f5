/* SPDX-License-Identifier: MIT */
/*
 * room/memory_events.h - how often a group's limits of memory were reached: memory.events.local,
 * and version 1's memory.failcnt.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst ("memory.events"), mm/memcontrol.c
 * (try_charge_memcg): an event is that of the group whose limit it is. memory.events adds the
 * groups below, memory.events.local (since Linux 5.2) doesn't.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_MEMORY_EVENTS_H
#define HEADROOM_COLLECTORS_ROOM_MEMORY_EVENTS_H

#include <stddef.h>
#include <stdint.h>

/** Since the group was created. */
struct hr_memory_events {
    uint64_t high_count; /**< memory.high was exceeded; 0 in version 1, which has none */
    uint64_t max_count;  /**< memory.max was about to be exceeded */
};

/** Parses "high 3\nmax 1\n" and other lines. @return 0; -EBADMSG; -ENODATA: one is missing. */
int hr_memory_events_parse(const char *text, size_t length, struct hr_memory_events *events);

/**
 * Reads the events of a group.
 *
 * @param version  of the directory's hierarchy, 1 or 2.
 * @return as above, or the negative errno of open(2).
 */
int hr_memory_events_read(int dirfd, int version, struct hr_memory_events *events);

/**
 * Parses how many processes of the group, and of those below it, the kernel killed for lack of
 * memory: "oom_kill 1\n" of memory.events, of version 1's memory.oom_control (since Linux 4.13), or
 * of /proc/vmstat.
 *
 * @return 0; -EBADMSG; -ENODATA: there is no such line.
 */
int hr_oom_kills_parse(const char *text, size_t length, uint64_t *count);

#endif
