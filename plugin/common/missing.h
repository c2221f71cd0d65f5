/* SPDX-License-Identifier: MIT */
/*
 * common/missing.h - ends alarms of collectd's plugin threshold whose values don't come any more,
 * as their group, process or CPU is gone: threshold itself never ends them. It also keeps alarms
 * open while values are only late, and keeps threshold from notifying of an OKAY where there was no
 * alarm.
 *
 * Source: collectd's daemon/utils_cache.c (uc_update, uc_check_timeout), src/threshold.c
 * (ut_report_state).
 */
#ifndef HEADROOM_PLUGIN_COMMON_MISSING_H
#define HEADROOM_PLUGIN_COMMON_MISSING_H

#include "collectd.h"

#include "plugin.h"

/**
 * Notifies of the end of such alarms of a plugin's series, when collectd takes these for missing:
 * by default after two intervals without a value. A value that comes later begins a new series,
 * without an alarm. The notification is an OKAY of the series, with metadata DataSource, as
 * threshold has it, and NoLongerWatched, the reason: what has become of the group, if that is
 * noted, see common/absence.h.
 *
 * That is not known while collectd is behind: the plugin has read nothing later, or that waits for
 * collectd's write threads. Then the alarm lasts, and missing_end_overdue_alarms() ends it once
 * what was read later has come to the cache, and no value of the series with it.
 *
 * It is collectd's cache that has the state of each series, and it calls back before it forgets
 * one; so no late value can bring back an alarm that was ended, and groups that come and go without
 * one cost a look-up. It also calls back when it has the first value of a series, before threshold
 * gets that: then an alarm that lasts becomes its state again, so that threshold goes on with it;
 * and without one it is OKAY, of which threshold would notify otherwise, of each series whenever
 * collectd starts. What the run before has left as an alarm threshold notifies of.
 *
 * To be called in module_register().
 *
 * @param plugin  whose series; kept by the caller.
 */
void missing_register(const char *plugin);

/**
 * Ends alarms that were open when collectd ended, and whose series, of this host, haven't come back
 * since; and those above. To be called at the beginning of each read: the first call reads which
 * they are, see common/threshold_record.h.
 *
 * @param longest  the longest interval that a series of the plugin may have; 0: the plugin's.
 */
void missing_end_overdue_alarms(cdtime_t longest);

/** To be called when the plugin is shut down. */
void missing_close(void);

#endif
