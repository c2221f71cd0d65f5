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

/** Whether a notification is by threshold, or ends an alarm of its. */
bool threshold_record_concerns(const notification_t *notice);

/** Notes that such a notification begins or ends the alarm of a series of the plugin. The file is
 * written by a thread of its own. */
void threshold_record_note(struct threshold_record *record, const notification_t *notice);

/** Whether a series has an alarm, by this run or the previous one. */
bool threshold_record_has(struct threshold_record *record, const value_list_t *series);

/** Takes one alarm that the previous run left, and this one has neither begun again nor ended, out
 * of those left; it stays in the record. @param series  receives whose it is. @return whether there
 * was one. */
bool threshold_record_take_left(struct threshold_record *record, value_list_t *series);

/** Writes what waits to be written, and frees. NULL is allowed. */
void threshold_record_close(struct threshold_record *record);

#endif
