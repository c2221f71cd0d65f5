/*
 * osnoise/alert.h - when single noises are told, and when their end is.
 *
 * The first above the limit on a CPU raises an alarm. While that lasts, another is told only if it
 * is at least twice as long as the longest told; a reading tells one noise of a CPU at most, the
 * longest. It ends when the CPU was measured for the quiet time without any, which is known when a
 * sample comes.
 *
 * Used by the thread that reads. Notifications run collectd's handlers in it: no lock may be held.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_ALERT_H
#define HEADROOM_PLUGIN_OSNOISE_ALERT_H

#include "osnoise/notification.h"

struct osnoise_alert;

/** @param rule  copied. @return NULL if memory is short. */
struct osnoise_alert *osnoise_alert_new(const struct osnoise_rule *rule);

/** NULL is allowed. */
void osnoise_alert_free(struct osnoise_alert *alert);

/** Tells what is to be told of a reading. */
void osnoise_alert_update(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading);

#endif
