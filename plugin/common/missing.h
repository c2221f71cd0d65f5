/* SPDX-License-Identifier: MIT */
/*
 * common/missing.h - ends alarms of collectd's plugin threshold whose values don't come any more,
 * as their group, process or CPU is gone: threshold itself never ends them.
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
 * noted, see common/absence.h; or that collectd is behind, as values that the plugin has read later
 * haven't come to its cache. It forgets the series then, too, and threshold notifies again of what
 * lasts.
 *
 * It is collectd's cache that has the state of each series, and it calls back before it forgets
 * one; so no late value can bring back an alarm that was ended, and groups that come and go without
 * one cost a look-up.
 *
 * To be called in module_register().
 *
 * @param plugin  whose series; kept by the caller.
 */
void missing_end_alarms(const char *plugin);

/**
 * Ends alarms that were open when collectd ended, and whose series, of this host, haven't come back
 * since. To be
 * called at each read: the first call reads which they are, see common/threshold_record.h.
 *
 * @param longest  the longest interval that a series of the plugin may have; 0: the plugin's.
 */
void missing_check(cdtime_t longest);

/** To be called when the plugin is shut down. */
void missing_close(void);

#endif
