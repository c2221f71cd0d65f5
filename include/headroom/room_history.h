/* SPDX-License-Identifier: MIT */
/*
 * headroom/room_history.h - what the forecasts know of the past of the machine and its groups, and
 * their stalls of the last hour, as bytes: so that after a restart forecasts needn't wait for half
 * an hour, nor for a day, once more.
 *
 * Only the same program reads them, within the same boot: they hold times since boot, and the
 * identities of directories.
 */
#ifndef HEADROOM_ROOM_HISTORY_H
#define HEADROOM_ROOM_HISTORY_H

#include <stddef.h>
#include <stdint.h>

struct hr_forecast;
struct hr_room_machine;
struct hr_room_source;
struct hr_stall_hour;

/** The file in collectd's BaseDir that the plugin headroom saves it to, unless it is configured
 * otherwise. */
#define HR_ROOM_HISTORY_FILE "headroom-history.state"

/**
 * Copies the history of the machine and of all groups that are open, or that wait to be since it
 * was restored.
 *
 * @param point_ns  as hr_room_open() gets it.
 * @param bytes   receives some 2.5 KB a group, which the caller frees.
 * @param length  of them.
 * @return 0; -ENODATA: nothing has been read yet, nor restored; -ENOMEM; or why the boot id can't
 *         be read.
 */
int hr_room_history_save(const struct hr_room_machine *machine, uint64_t point_ns, char **bytes,
                         size_t *length);

/**
 * Lets the machine, and each group whose directory is the same, begin with the history that was
 * saved. That of groups that aren't opened within ten minutes is forgotten, and what can't be true
 * is left out.
 *
 * @param machine   of which nothing was opened yet.
 * @param point_ns  as it was saved with.
 * @param age_ns    receives how long ago the machine was read last.
 * @param count     receives how many forecasts there are.
 * @return 0; -ESTALE: it is of another boot, another program, or other points; -EBADMSG: it is
 *         damaged; -ENOMEM; or why the boot id can't be read. Then nothing is kept.
 */
int hr_room_history_restore(struct hr_room_machine *machine, const char *bytes, size_t length,
                            uint64_t point_ns, uint64_t *age_ns, size_t *count);

/**
 * Finds what was saved of one group, or of the machine, for others to look at.
 *
 * @param source    which was read at least once.
 * @param forecast  receives it, as it was then.
 * @param time_ns   receives when that was, by hr_clock_ns().
 * @return 0; -ENODATA: nothing was saved of it, or it has no memory controller; or as
 *         hr_room_history_restore().
 */
int hr_room_history_find(const struct hr_room_source *source, const char *bytes, size_t length,
                         struct hr_forecast *forecast, uint64_t *time_ns);

/** The same of its stalls of the last hour, which a group without the memory controller has, too.
 */
int hr_room_history_find_stalls(const struct hr_room_source *source, const char *bytes,
                                size_t length, struct hr_stall_hour *hour, uint64_t *time_ns);

#endif
