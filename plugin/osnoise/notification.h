/*
 * osnoise/notification.h - what the notifications of the plugin osnoise say: message and metadata.
 *
 * Each fills in a notification but for its time, metadata included, which the caller ends by
 * plugin_notification_meta_free().
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_NOTIFICATION_H
#define HEADROOM_PLUGIN_OSNOISE_NOTIFICATION_H

#include "collectd.h"

#include "headroom/osnoise.h"
#include "plugin.h"

/** When to notify. */
struct osnoise_rule {
    uint64_t max_single_ns; /**< 0: never */
    uint64_t quiet_ns;      /**< after so long without a noise above that, all is well */
    int severity;           /**< NOTIF_WARNING or NOTIF_FAILURE */
};

/** What was above the limit within an alarm. */
struct osnoise_excess {
    uint64_t count;
    bool is_more; /**< there were more, which weren't counted */
    uint64_t longest_ns;
};

/** There was a noise above the limit. */
void osnoise_notice_single_noise(notification_t *notice, const struct osnoise_rule *rule,
                                 const struct hr_osnoise_single_noise *single_noise);

/** All is well since there was none for the quiet time. */
void osnoise_notice_quiet(notification_t *notice, const struct osnoise_rule *rule, unsigned cpu,
                          const struct osnoise_excess *excess);

#endif
