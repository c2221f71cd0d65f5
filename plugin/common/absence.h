/* SPDX-License-Identifier: MIT */
/*
 * common/absence.h - why groups have no values any more, as far as their events have shown it: for
 * the ends of their alarms.
 *
 * The functions may be called by several threads at once.
 */
#ifndef HEADROOM_PLUGIN_COMMON_ABSENCE_H
#define HEADROOM_PLUGIN_COMMON_ABSENCE_H

enum absence {
    ABSENCE_UNKNOWN,   /**< there may be values */
    ABSENCE_EMPTY,     /**< no process is left in it */
    ABSENCE_OUTRANKED, /**< others wait more, and only those have values */
    ABSENCE_REMOVED    /**< its cgroup was removed; since then one of the same name may be there */
};

/** Notes it of a group, by its instance. One in some thousand others may take its place, so that it
 * is unknown again; it never becomes that of another group. */
void absence_note(const char *instance, enum absence absence);

enum absence absence_find(const char *instance);

#endif
