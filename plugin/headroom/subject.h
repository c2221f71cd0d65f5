/* SPDX-License-Identifier: MIT */
/*
 * headroom/subject.h - what is kept of one group, or of the system.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_SUBJECT_H
#define HEADROOM_PLUGIN_HEADROOM_SUBJECT_H

#include <sys/queue.h>

#include "common/open_alarms.h"
#include "headroom/room.h"
#include "headroom/stalls.h"

/** The resources that have a room. */
enum { SUBJECT_CPU, SUBJECT_MEMORY, SUBJECT_IO, SUBJECT_ROOM_COUNT };

/** An alarm of one room of a subject; all zeros: there is none. */
struct alarm {
    bool is_open;
    unsigned
        streak; /**< intervals in a row that are otherwise: low while it isn't open, else not */
    uint64_t begun_ns; /**< also of one whose end may still wait to be dispatched; 0: in the
                            previous run */

    /* of alarms.c */
    struct subject *subject; /**< that has it */
    enum alarm_sent sent;
    TAILQ_ENTRY(alarm) open;
};

struct subject {
    const char *instance;
    const char *path;              /**< NULL: the system */
    struct hr_room_source *source; /**< NULL while a group is empty */
    struct hr_room_lines lines;
    struct stalls stalls;
    bool was_in_trouble;

    /* what was read last */
    struct hr_room room[SUBJECT_ROOM_COUNT];
    enum hr_stall_io io_kind;             /**< what the room by I/O is of */
    double stall_pct[SUBJECT_ROOM_COUNT]; /**< NAN: not known */
    struct hr_outlook outlook;
    bool is_own_trend, is_trend_of_room; /**< see struct hr_room_reading */
    bool has_memory_before;
    double memory_level;                /**< see struct hr_room_reading */
    double memory_before;               /**< the same some ten minutes ago, smoothed */
    double memory_bytes, swapped_bytes; /**< see struct hr_room_reading */

    struct alarm alarm[SUBJECT_ROOM_COUNT];
};

#endif
