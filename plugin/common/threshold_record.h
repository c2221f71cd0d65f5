/* SPDX-License-Identifier: MIT */
/*
 * common/threshold_record.h - which series of a plugin have an alarm of collectd's plugin
 * threshold, kept in a state file: threshold forgets its alarms when collectd ends, receivers
 * don't.
 *
 * The functions may be called by several threads at once.
 */
#ifndef HEADROOM_PLUGIN_COMMON_THRESHOLD_RECORD_H
#define HEADROOM_PLUGIN_COMMON_THRESHOLD_RECORD_H

#include "collectd.h"

#include "plugin.h"

struct threshold_record;

/**
 * Reads the file that the previous run left, headroom-PLUGIN.thresholds in collectd's BaseDir; what
 * can't be read is logged. To be called after the configuration.
 *
 * @param plugin  whose series; kept by the caller.
 * @return NULL if memory is short.
 */
struct threshold_record *threshold_record_open(const char *plugin);

/** Whether a notification is by threshold, of an alarm or that a series has no values, or ends an
 * alarm of its. */
bool threshold_record_concerns(const notification_t *notice);

/**
 * Notes that such a notification begins or ends the alarm of a series of the plugin. The file is
 * written by a thread of its own.
 *
 * When a series has no values any more, threshold notifies of a FAILURE, unless Interesting is
 * false; but of the end of that only if the state is STATE_UNKNOWN when a value comes again. So the
 * record keeps such a series, with that state; otherwise it counts as one without an alarm, and is
 * never deferred.
 */
void threshold_record_note(struct threshold_record *record, const notification_t *notice);

/** Whether a series has an alarm, by this run or the previous one. */
bool threshold_record_has(struct threshold_record *record, const value_list_t *series);

/**
 * What threshold is to take the state of a series for that has its first value: of one without an
 * alarm OKAY, of which it doesn't notify then; of one with an alarm by this run, that alarm's; and
 * STATE_UNKNOWN of one that receivers may have as an alarm: as it had no values, or the previous
 * run left one, or what it left isn't known, or couldn't be kept.
 *
 * @param state  receives it.
 * @return whether an alarm of the series is known, or that it had no values.
 */
bool threshold_record_state(struct threshold_record *record, const value_list_t *series,
                            int *state);

/*
 * Deferred alarms are those whose series has no values and it isn't known why: those of the
 * previous run, and those of threshold_record_defer(). Each stays deferred until threshold notifies
 * of it again, or until it is taken when it is due; the record keeps it.
 */

/** Defers the alarm of a series, whose time and interval are kept. If the alarm isn't known yet, it
 * is from now on, with the state. @return false if memory was short. */
bool threshold_record_defer(struct threshold_record *record, const value_list_t *series, int state,
                            cdtime_t due);

/** Sets when those of the previous run are due: of this host, and of others. */
void threshold_record_set_due(struct threshold_record *record, cdtime_t own, cdtime_t others);

/** Whether one is deferred. */
bool threshold_record_has_deferred(struct threshold_record *record);

/**
 * Takes one that was due at a time out of the deferred ones.
 *
 * @param series  receives whose it is; with the interval 0 if the previous run left it.
 * @return whether there was one.
 */
bool threshold_record_take_deferred(struct threshold_record *record, cdtime_t time,
                                    value_list_t *series);

/** Forgets the alarm of a series, if it has one. The file keeps it until threshold_record_save(),
 * so that after a crash its end is notified again rather than never. */
void threshold_record_forget(struct threshold_record *record, const value_list_t *series);

/** Has the file written as the record is. */
void threshold_record_save(struct threshold_record *record);

/** Writes what waits to be written, and frees. NULL is allowed. */
void threshold_record_close(struct threshold_record *record);

#endif
