/* SPDX-License-Identifier: MIT */
/*
 * headroom/alarms.h - the alarms of <Alert> that are open: dispatches their beginnings and ends,
 * and keeps them in a state file, so that after a restart or a crash of collectd each goes on, or
 * ends with one notification. alert.c decides when they begin and end.
 *
 * Used by the thread that reads. An alarm is on record before it is dispatched, see
 * common/open_alarms.h.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_ALARMS_H
#define HEADROOM_PLUGIN_HEADROOM_ALARMS_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/subject.h"

struct alarms;
struct hr_root;

/** What alarms_open() gets. */
struct alarms_options {
    const char *state_file;     /**< as configured; NULL: the default */
    const struct hr_root *root; /**< must outlive the alarms */
    bool is_on;                 /**< <Alert> is configured */
    uint64_t claim_ns;          /**< how long the subjects of the previous run's alarms may take to
                                     appear, and their rooms to be known */
};

/** Reads the file of the previous run, if there is one. @param alarms  NULL, if no alarm can be:
 * <Alert> isn't configured, and there is no file. @return 0 or a negative errno. */
int alarms_open(const struct alarms_options *options, struct alarms **alarms);

/** Keeps the alarms that are open in the file, and frees. NULL is allowed. */
void alarms_close(struct alarms *alarms);

/** Goes on with what the previous run left open of a subject. */
void alarms_resume(struct alarms *alarms, struct subject *subject);

/** Whether subjects of the previous run's alarms may still appear. */
bool alarms_is_resuming(const struct alarms *alarms);

/** Whether a beginning could be queued now. */
bool alarms_can_begin(struct alarms *alarms);

/** Goes on with an alarm whose end wasn't dispatched yet. @return whether there was one. */
bool alarms_withdraw_end(struct alarms *alarms, struct subject *subject, int resource);

/** Begins an alarm, unless the queue is full; or reports one of the previous run that may not have
 * been. @param notice  its metadata is taken over. */
void alarms_begin(struct alarms *alarms, struct subject *subject, int resource,
                  notification_t *notice);

/** Ends an alarm; without memory it stays open. @param notice  its metadata is taken over. */
void alarms_end(struct alarms *alarms, struct subject *subject, int resource,
                notification_t *notice);

/** Forgets an alarm that couldn't be ended, as its subject is going to be freed. */
void alarms_forget(struct alarms *alarms, struct alarm *alarm);

/** Ends the alarms of the previous run that can't go on, once alarms_is_resuming() isn't true any
 * more, and saves what has changed: at the end of each interval. */
void alarms_save(struct alarms *alarms);

#endif
