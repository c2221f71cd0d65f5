/* SPDX-License-Identifier: MIT */
/*
 * osnoise/alarms.h - the alarms of <Alert>, one a CPU: dispatches their beginnings and ends, and
 * keeps those that are open in a state file, so that after a restart or a crash of collectd each
 * goes on, or ends with one notification. alert.c decides when they begin and end.
 *
 * Used by the thread that reads. An alarm is on record before it is dispatched, see
 * common/open_alarms.h.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_ALARMS_H
#define HEADROOM_PLUGIN_OSNOISE_ALARMS_H

#include "collectd.h"

#include "plugin.h"

#include "common/open_alarms.h"
#include "osnoise/notification.h"

/** A CPU that has, or had, an alarm. */
struct osnoise_alarm {
    unsigned cpu;
    bool is_open;         /**< its beginning was queued, and its end wasn't */
    enum alarm_sent sent; /**< of its beginning, while it is open */

    /* The rest is alert.c's; it stays when the alarm ends, as that may be withdrawn. */
    bool is_raised;           /**< its CPU isn't quiet; true of one that is open */
    uint64_t lasting_ns;      /**< the time read since it began, or since collectd was started */
    uint64_t repeat_ns;       /**< when lasting_ns is that, it is reported again */
    uint64_t quiet_ns;        /**< how long the CPU was measured without such a noise */
    uint64_t since_sample_ns; /**< the time passed since, which may not have been measured */
    struct osnoise_excess excess;
};

struct osnoise_alarms;

/**
 * Reads the file of the previous run, if there is one, and goes on with its alarms: they are open,
 * raised, and their excess is since the restart.
 *
 * @param state_path  of the file with the tracer's settings: that of the alarms is beside it.
 * @param can_begin   false: none can begin. Then there are no alarms without a file.
 * @param alarms      receives them; NULL, if none can be.
 * @return 0 or a negative errno.
 */
int osnoise_alarms_open(const char *state_path, bool can_begin, struct osnoise_alarms **alarms);

/** Keeps the alarms that are open in the file, and frees. NULL is allowed. What wasn't dispatched
 * yet never is. */
void osnoise_alarms_close(struct osnoise_alarms *alarms);

/** Whether the machine was booted since the previous run. */
bool osnoise_alarms_has_rebooted(const struct osnoise_alarms *alarms);

/** The number of CPUs that have, or had, an alarm, and one of them; valid until one is added. */
size_t osnoise_alarms_count(const struct osnoise_alarms *alarms);
struct osnoise_alarm *osnoise_alarms_get(const struct osnoise_alarms *alarms, size_t i);

/** The alarm of a CPU. @return NULL: it never had one. */
struct osnoise_alarm *osnoise_alarms_find(const struct osnoise_alarms *alarms, unsigned cpu);

/** The same; it is added if it never had one. @return NULL: memory is short, which is logged. */
struct osnoise_alarm *osnoise_alarms_find_or_add(struct osnoise_alarms *alarms, unsigned cpu);

/** Whether a beginning could be queued now. */
bool osnoise_alarms_can_begin(struct osnoise_alarms *alarms);

/** Opens an alarm again whose end wasn't dispatched yet. @return whether there was one. */
bool osnoise_alarms_withdraw_end(struct osnoise_alarms *alarms, struct osnoise_alarm *alarm);

/** Opens an alarm, or reports again one that is open. @param notice  its metadata is taken over.
 * @return false: the queue is full. */
bool osnoise_alarms_begin(struct osnoise_alarms *alarms, struct osnoise_alarm *alarm,
                          notification_t *notice);

/** Ends an alarm that is open. @param notice  its metadata is taken over. @return false: memory is
 * short, it stays open. */
bool osnoise_alarms_end(struct osnoise_alarms *alarms, struct osnoise_alarm *alarm,
                        notification_t *notice);

/** Saves what has changed: after each reading. */
void osnoise_alarms_save(struct osnoise_alarms *alarms);

#endif
