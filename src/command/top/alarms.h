/* SPDX-License-Identifier: MIT */
/*
 * top/alarms.h - which alarms last, and which of them say what another one has said already: one
 * cause is shown once, by the rules of headroom-mail(1), "One cause is one mail", as far as a log
 * file has what they need.
 */
#ifndef HEADROOM_COMMAND_TOP_ALARMS_H
#define HEADROOM_COMMAND_TOP_ALARMS_H

#include <stdbool.h>
#include <stddef.h>

#include "top/alerts.h"

struct alarm;

/** The oldest first. All zeros is empty. */
struct alarms {
    struct alarm *list;
    size_t count, capacity;
    unsigned starts; /**< of collectd, in the log */
    const struct known_series *known;
};

/**
 * Takes the next alert of the log: an alarm that begins, goes on or ends.
 *
 * @param drop  called for each alarm that began a moment before and says less of the same cause.
 * @return 1 if it is to be shown; 0 if another alarm says as much, if it was shown before collectd
 *         was restarted, or if it is the end of one that wasn't shown, of a cause that lasts, or of
 *         a threshold without an alarm, as collectd has one of each series when it starts; -ENOMEM.
 */
int alarms_take(struct alarms *alarms, const struct alert *alert,
                void (*drop)(void *context, const struct alarm *alarm), void *context);

/** Takes a start of collectd: threshold notifies again of its alarms that still stand. */
void alarms_restart(struct alarms *alarms);

/** @return whether it is this alert that has begun an alarm, and not that of an older one. */
bool alarm_is_begun_by(const struct alarm *alarm, const struct alert *alert);

/** @return whether an alert that was shown begins an alarm whose end is notified. */
bool alarm_has_end(const struct alert *alert);

/** @return whether an alert that lasts does so no longer once a later one was taken and is shown:
 * the next of its series, or the last end of its cause. */
bool alarms_is_ended_by(const struct alarms *alarms, const struct alert *alert,
                        const struct alert *later);

/** @return whether two alerts have begun alarms of one wait: one group's for one resource. */
bool alarms_share_wait(const struct alert *a, const struct alert *b);

/** @return whether an alert has begun an alarm of a group's, or the machine's, wait for a CPU; an
 * <Alert> of trouble by CPU has, unless its group takes that. */
bool alarm_waits_for_cpu(const struct alert *alert);

/** @return whether the first is of the machine's memory or I/O, and the other, of a group, says of
 * the same stall where it is; for want of memory a group also reads again what it lacks. */
bool alarm_is_within(const struct alert *machine, const struct alert *group);

/** @return whether they are alarms of one machine or group, of its I/O and of its memory. */
bool alarm_may_be_of_same_cause(const struct alert *io, const struct alert *memory);

/** @return the key of the column that has how much of the time a group waits for the memory or I/O
 * that it is about; NULL: it is about neither. */
const char *alarm_wait_key(const struct alert *alert);

/** @return whether an alert is an <Alert> by CPU of a group that takes most of it, as it says. */
bool alarm_is_of_taker(const struct alert *alert);

/** @return whether it has begun an alarm of a group's, or the machine's, room by CPU. */
bool alarm_lacks_room_by_cpu(const struct alert *alert);

/** @return whether it has begun an alarm of a threshold, that there is no room by CPU. */
bool alarm_has_no_room_by_cpu(const struct alert *alert);

/** @return whether it has begun one of the machine's CPUs, by a threshold or <Alert>. */
bool alarm_is_of_busy_machine(const struct alert *alert);

/** @return whether collectd has no value of the series of an alert by a threshold; or by a trigger
 * from before its last start: then psi doesn't know of it any more, as after it was installed
 * again, or will report its end. */
bool alarms_lack_values(const struct alarms *alarms, const struct alert *alert);

/** Forgets the alarm that an alert has begun, so that it may begin again. */
void alarms_forget(struct alarms *alarms, const struct alert *alert);

/** @return whether an alarm is a day older than a later alert: it may have ended unnoticed. */
bool alarm_is_old(const struct alert *alert, const struct alert *later);

void alarms_free(struct alarms *alarms);

#endif
