/* SPDX-License-Identifier: MIT */
/*
 * osnoise/notification.h - message and metadata of the notifications of the plugin osnoise.
 *
 * Each function fills in a notification but for its time, metadata included; the caller frees the
 * metadata by plugin_notification_meta_free().
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_NOTIFICATION_H
#define HEADROOM_PLUGIN_OSNOISE_NOTIFICATION_H

#include "collectd.h"

#include "headroom/osnoise.h"
#include "plugin.h"

/** When to notify. */
struct osnoise_rule {
    uint64_t max_single_ns; /**< 0: never */
    uint64_t quiet_ns;      /**< an alarm ends after this time without such a noise */
    int severity;           /**< NOTIF_WARNING or NOTIF_FAILURE */
};

/** The noises above the limit within an alarm. */
struct osnoise_excess {
    uint64_t count;
    bool is_more; /**< there were more, which weren't counted */
    uint64_t longest_ns;
};

/** Notifies of a noise above the limit. */
void osnoise_notification_single_noise(notification_t *notice, const struct osnoise_rule *rule,
                                       const struct hr_osnoise_single_noise *single_noise);

/** Notifies that there was none for the quiet time. */
void osnoise_notification_quiet(notification_t *notice, const struct osnoise_rule *rule,
                                unsigned cpu, const struct osnoise_excess *excess);

#endif
