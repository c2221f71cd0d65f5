/* SPDX-License-Identifier: MIT */
/*
 * osnoise/alert.h - when to notify of single noises, and of their end.
 *
 * The first noise above the limit on a CPU raises an alarm. During an alarm, another notification
 * is sent only for a noise at least twice as long as the longest notified; and of each reading and
 * CPU only for the longest noise. The alarm ends when the CPU was measured for the quiet time
 * without such a noise, which is known when a sample arrives.
 *
 * Used by the thread that reads. Notifications run collectd's handlers in it: hold no lock.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_ALERT_H
#define HEADROOM_PLUGIN_OSNOISE_ALERT_H

#include "osnoise/notification.h"

struct osnoise_alert;

/** @param rule  copied. @return NULL if memory is short. */
struct osnoise_alert *osnoise_alert_new(const struct osnoise_rule *rule);

/** NULL is allowed. */
void osnoise_alert_free(struct osnoise_alert *alert);

/** Sends the notifications of a reading. */
void osnoise_alert_update(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading);

#endif
