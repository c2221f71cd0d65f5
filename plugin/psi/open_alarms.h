/* SPDX-License-Identifier: MIT */
/*
 * psi/open_alarms.h - the alarms that are reported and aren't over: kept in a state file, so that
 * after a restart or a crash each goes on, or ends with one notification.
 *
 * An alarm is recorded before its beginning is dispatched, and until its end was. So what a crash
 * can lead to is that either is sent twice, or an end without a beginning; never that an alarm
 * stays open at the receivers.
 *
 * A group that was removed and made again is the same to receivers, who know its name only: so it
 * is here.
 *
 * But for the file being written, which a thread of its own does, as disks may be what is stalled,
 * all functions are for the thread of the alerts, or for when it isn't running.
 */
#ifndef HEADROOM_PLUGIN_PSI_OPEN_ALARMS_H
#define HEADROOM_PLUGIN_PSI_OPEN_ALARMS_H

#include <sys/queue.h>

#include "common/dispatcher.h"
#include "headroom/state_file.h"
#include "psi/notification.h"

/** Whether the beginning of an alarm was dispatched. */
enum psi_sent {
    PSI_UNSENT,    /**< no, it is being prepared or waits */
    PSI_INHERITED, /**< the previous run was about to, and this one has not queued it */
    PSI_UNSURE,    /**< a handler has it at the moment; or it was PSI_INHERITED, and is queued */
    PSI_SENT,
};

/** @param was  of an alarm whose beginning was queued, or is PSI_INHERITED. @return what it is now.
 */
enum psi_sent psi_sent_now(enum psi_sent was, uint64_t id,
                           const struct dispatcher_waiting *waiting);

/** One alarm, as the file has it. */
struct psi_open_alarm {
    struct psi_rule rule; /**< of which name, type_instance, resource and level are set */
    char instance[DATA_MAX_NAME_LEN];
    char *path;         /**< NULL: the system */
    enum psi_sent sent; /**< INHERITED or SENT of the previous run's */
    uint64_t id;        /**< of an alarm whose end waits; 0: of the previous run */
    TAILQ_ENTRY(psi_open_alarm) entry;
};

TAILQ_HEAD(psi_open_alarm_list, psi_open_alarm);

/** A parsed file. */
struct psi_open_alarms_text {
    char boot_id[HR_BOOT_ID_LENGTH + 1];
    struct psi_open_alarm_list list;
};

/** Parses the file's text. @return 0; -EBADMSG or -ENOMEM: the list is empty. */
int psi_open_alarms_parse(const char *text, size_t length, struct psi_open_alarms_text *parsed);

/** Frees a list's alarms. */
void psi_open_alarms_free_list(struct psi_open_alarm_list *list);

struct psi_open_alarms;

/** Whether an alarm is by a rule: of the same name, resource, level and scope. */
bool psi_open_alarm_is_by(const struct psi_open_alarm *alarm, const struct psi_rule *rule);

/**
 * Reads the file of the previous run, if there is one; bad content is logged, and ignored.
 *
 * @param path        kept.
 * @param dispatcher  learns what was saved; must outlive the open alarms.
 * @return 0 or a negative errno.
 */
int psi_open_alarms_open(const char *path, struct dispatcher *dispatcher,
                         struct psi_open_alarms **alarms);

/** Writes the file for the last time, and frees. NULL is allowed. */
void psi_open_alarms_close(struct psi_open_alarms *alarms);

/** Takes an alarm of the previous run out of the list, for the alert that goes on with it: of the
 * same trigger, resource, level and instance. @return whether there was one. */
bool psi_open_alarms_claim(struct psi_open_alarms *alarms, const struct psi_subject *subject,
                           enum psi_sent *sent);

/** The first alarm of the previous run that wasn't claimed; NULL: none. */
struct psi_open_alarm *psi_open_alarms_unclaimed(struct psi_open_alarms *alarms);

/** Whether the previous run was before the machine was booted. */
bool psi_open_alarms_has_rebooted(const struct psi_open_alarms *alarms);

/** Keeps an alarm until its end has been dispatched. @param id  as the dispatcher knows it. */
void psi_open_alarms_add_ending(struct psi_open_alarms *alarms, uint64_t id,
                                const struct psi_subject *subject, enum psi_sent sent);

/** Keeps an alarm of the previous run until its end has been dispatched. */
void psi_open_alarms_set_ending(struct psi_open_alarms *alarms, struct psi_open_alarm *alarm,
                                uint64_t id);

/** Forgets such an alarm, as its end was withdrawn. @return what was sent of it. */
enum psi_sent psi_open_alarms_take_ending(struct psi_open_alarms *alarms, uint64_t id);

/**
 * Removes those whose end was dispatched.
 *
 * @param is_last      nothing is dispatched any more: also removes those that weren't sent.
 * @param has_changed  set if the file's text has.
 * @return how many are left.
 */
size_t psi_open_alarms_update_ending(struct psi_open_alarms *alarms,
                                     const struct dispatcher_waiting *waiting, bool is_last,
                                     bool *has_changed);

/*
 * The file's text: begin, add each open alarm, and commit, which has it written; those of the run
 * before that weren't claimed, and those whose end waits, are added by themselves. Memory that is
 * short is logged, and leaves the file as it is.
 */
void psi_open_alarms_begin(struct psi_open_alarms *alarms);
void psi_open_alarms_add(struct psi_open_alarms *alarms, const struct psi_subject *subject,
                         enum psi_sent sent);
void psi_open_alarms_commit(struct psi_open_alarms *alarms);

/** The number of the text that is committed next: of the record of an alarm that begins now. */
uint64_t psi_open_alarms_next_record(const struct psi_open_alarms *alarms);

#endif
