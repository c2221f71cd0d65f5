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
    uint64_t repeat_ns;     /**< while it lasts it is reported again after this time; 0: never */
    int severity;           /**< NOTIF_WARNING or NOTIF_FAILURE */
    size_t kept_traces;     /**< of how many noises what was recorded is kept */
};

/** The noises above the limit within an alarm. */
struct osnoise_excess {
    uint64_t count;
    bool is_more;          /**< there may have been more, as records were lost */
    bool is_since_restart; /**< it began in the previous run of collectd: these came since */
    uint64_t longest_ns;
};

/** Notifies of a noise above the limit. @param excess  of the alarm, which lasts since lasting_ns;
 * NULL: it begins. */
void osnoise_notification_single_noise(notification_t *notice, const struct osnoise_rule *rule,
                                       const struct hr_osnoise_single_noise *single_noise,
                                       const struct osnoise_excess *excess, uint64_t lasting_ns);

/** Adds to such a notification the path of the file with what was recorded. */
void osnoise_notification_add_trace(notification_t *notice, const char *path);

/** Notifies that there was none for the quiet time. */
void osnoise_notification_quiet(notification_t *notice, const struct osnoise_rule *rule,
                                unsigned cpu, const struct osnoise_excess *excess);

/** Notifies that an alarm ends, though it isn't known whether there are such noises. @param reason
 * why. */
void osnoise_notification_unwatched(notification_t *notice, const struct osnoise_rule *rule,
                                    unsigned cpu, const char *reason);

#endif
