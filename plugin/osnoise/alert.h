/* SPDX-License-Identifier: MIT */
/*
 * osnoise/alert.h - when to notify of single noises, and of their end.
 *
 * Each CPU has one alarm: it begins with a noise above the limit, and is over when the CPU was
 * measured for the quiet time without such a noise, which is known when a sample arrives. Its
 * beginning and its end are reported, and that it lasts only if the rule says so; of a reading the
 * longest noise of the CPU. An alarm of the previous run of collectd goes on; one that can't ends
 * with the reason.
 *
 * Used by the thread that reads. collectd's handlers run in one of their own.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_ALERT_H
#define HEADROOM_PLUGIN_OSNOISE_ALERT_H

#include "osnoise/notification.h"

struct osnoise_alert;

/** What osnoise_alert_open() gets. */
struct osnoise_alert_options {
    struct osnoise_rule rule;
    /** What is measured, with the state file beside which that of the alarms is, and the folder of
     * kept traces; must outlive the alert. */
    const struct hr_osnoise_options *osnoise;
    /** How long alarms of the previous run are kept that can't go on, so that all of collectd's
     * handlers are there; and after a reboot the next noise may come. */
    uint64_t claim_ns;
};

/** @param alert  receives it; NULL, if no alarm can be: nothing can raise one, and none was left
 * open. @return 0 or a negative errno. */
int osnoise_alert_open(const struct osnoise_alert_options *options, struct osnoise_alert **alert);

/** Keeps the open alarms for the next run. What wasn't dispatched yet never is. NULL is allowed. */
void osnoise_alert_close(struct osnoise_alert *alert);

/** Notifies of what is new in a reading, and of alarms that can't go on. To be called now and then
 * also while nothing is measured. @param reading  NULL: there is none. */
void osnoise_alert_update(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading);

#endif
