/* SPDX-License-Identifier: MIT */
/*
 * psi/open_alarms.h - the alarms that were reported and aren't over: kept in a state file, so that
 * after a restart or a crash each goes on, or ends with one notification.
 *
 * But for the file being written, which a thread of its own does, as disks may be what is stalled,
 * all functions are for the thread of the alerts, or for when it isn't running.
 */
#ifndef HEADROOM_PLUGIN_PSI_OPEN_ALARMS_H
#define HEADROOM_PLUGIN_PSI_OPEN_ALARMS_H

#include <sys/queue.h>

#include "headroom/state_file.h"
#include "psi/notification.h"

/** One alarm, as the file has it. */
struct psi_open_alarm {
    struct psi_rule rule; /**< of which name, type_instance, resource and level are set */
    char instance[DATA_MAX_NAME_LEN];
    char *path;     /**< NULL: the system */
    uint64_t inode; /**< of the group's directory, for those who look; 0: the system */
    uint64_t id;    /**< of an alarm whose end waits; 0: of the run before */
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

/**
 * Reads the file of the run before, if there is one; bad content is logged, and ignored.
 *
 * @param path  kept.
 * @return 0 or a negative errno.
 */
int psi_open_alarms_open(const char *path, struct psi_open_alarms **alarms);

/** Writes the file for the last time, and frees. NULL is allowed. */
void psi_open_alarms_close(struct psi_open_alarms *alarms);

/** Takes an alarm of the run before out of the list, for the alert that goes on with it: of the
 * same trigger, resource, level and instance. @return whether there was one. */
bool psi_open_alarms_claim(struct psi_open_alarms *alarms, const struct psi_subject *subject);

/** The first alarm of the run before that wasn't claimed; NULL: none. */
struct psi_open_alarm *psi_open_alarms_unclaimed(struct psi_open_alarms *alarms);

/** Keeps an alarm until its end has been dispatched. @param id  as the dispatcher knows it. */
void psi_open_alarms_add_ending(struct psi_open_alarms *alarms, uint64_t id,
                                const struct psi_subject *subject, uint64_t inode);

/** Keeps an alarm of the run before until its end has been dispatched. */
void psi_open_alarms_set_ending(struct psi_open_alarms *alarms, struct psi_open_alarm *alarm,
                                uint64_t id);

/** Removes those whose end was dispatched. @return how many are left. */
size_t psi_open_alarms_remove_ended(struct psi_open_alarms *alarms,
                                    bool (*has_end)(void *context, uint64_t id), void *context);

/*
 * The file's text: begin, add each open alarm, and commit, which has it written; those of the run
 * before that weren't claimed, and those whose end waits, are added by themselves. Memory that is
 * short is logged, and leaves the file as it is.
 */
void psi_open_alarms_begin(struct psi_open_alarms *alarms);
void psi_open_alarms_add(struct psi_open_alarms *alarms, const struct psi_subject *subject,
                         uint64_t inode);
void psi_open_alarms_commit(struct psi_open_alarms *alarms);

#endif
