/* SPDX-License-Identifier: MIT */
/*
 * osnoise/alert.h - when to notify of single noises, and of their end.
 *
 * Each CPU has one alarm: it begins with a noise above the limit, and is over when the CPU was
 * measured for the quiet time without such a noise, which is known when a sample arrives. Its
 * beginning and its end are reported, and that it lasts only if the rule says so; of a reading the
 * longest noise of the CPU.
 *
 * Used by the thread that reads. collectd's handlers run in one of their own.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_ALERT_H
#define HEADROOM_PLUGIN_OSNOISE_ALERT_H

#include "osnoise/notification.h"

struct osnoise_alert;

/** @param rule  copied. @return 0 or a negative errno. */
int osnoise_alert_open(const struct osnoise_rule *rule, struct osnoise_alert **alert);

/** NULL is allowed. What wasn't dispatched yet never is. */
void osnoise_alert_close(struct osnoise_alert *alert);

/** Notifies of what is new in a reading. */
void osnoise_alert_update(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading);

#endif
