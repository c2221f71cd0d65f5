/* SPDX-License-Identifier: MIT */
/*
 * common/open_alarms.h - the alarms that are reported and aren't over: kept in a state file, so
 * that after a restart or a crash each goes on, or ends with one notification.
 *
 * An alarm is recorded before its beginning is dispatched, and until its end was. So what a crash
 * can lead to is that either is sent twice, or an end without a beginning; never that an alarm
 * stays open at the receivers.
 *
 * A group that was removed and made again is the same to receivers, who know its name only: so it
 * is here.
 *
 * But for the file being written, which a thread of its own does, as disks may be what is stalled,
 * all functions are for one thread at a time.
 */
#ifndef HEADROOM_PLUGIN_COMMON_OPEN_ALARMS_H
#define HEADROOM_PLUGIN_COMMON_OPEN_ALARMS_H

#include <sys/queue.h>

#include "common/dispatcher.h"
#include "headroom/state_file.h"

/** Whether the beginning of an alarm was dispatched. */
enum alarm_sent {
    ALARM_UNSENT,    /**< no, it is being prepared or waits */
    ALARM_INHERITED, /**< the previous run was about to, and this one has not queued it */
    ALARM_UNSURE, /**< a handler has it at the moment; or it was ALARM_INHERITED, and is queued */
    ALARM_SENT,
};

/** @param was  of an alarm whose beginning was queued, or is ALARM_INHERITED. @return what it is
 * now.
 */
enum alarm_sent alarm_sent_now(enum alarm_sent was, uint64_t id,
                               const struct dispatcher_waiting *waiting);

/** What an alarm is about: of one there is one alarm at a time. */
struct open_alarm_subject {
    const char *key;      /**< what of the group, as the plugin's format has it */
    const char *instance; /**< the plugin instance */
    const char *path;     /**< of the group; NULL: the system */
};

/** A plugin's file; all is kept. */
struct open_alarms_format {
    const char *plugin;     /**< its name, for messages and the thread's */
    const char *first_line; /**< of the file, with its newline */
    size_t key_fields;      /**< so many, with tabs between them, are the key of an alarm */
    bool (*is_key)(const char *key); /**< whether it is one */
};

/** The longest key, with its end. */
#define OPEN_ALARM_KEY_SIZE 128

/** One alarm, as the file has it. */
struct open_alarm {
    char key[OPEN_ALARM_KEY_SIZE];
    char instance[DATA_MAX_NAME_LEN];
    char *path;           /**< NULL: the system */
    enum alarm_sent sent; /**< INHERITED or SENT of the previous run's */
    uint64_t id;          /**< of an alarm whose end waits; 0: of the previous run */
    TAILQ_ENTRY(open_alarm) entry;
};

TAILQ_HEAD(open_alarm_list, open_alarm);

/** A parsed file. */
struct open_alarms_text {
    char boot_id[HR_BOOT_ID_LENGTH + 1];
    struct open_alarm_list list;
};

/** Parses the file's text. @return 0; -EBADMSG or -ENOMEM: the list is empty. */
int open_alarms_parse(const struct open_alarms_format *format, const char *text, size_t length,
                      struct open_alarms_text *parsed);

/** Frees a list's alarms. */
void open_alarms_free_list(struct open_alarm_list *list);

struct hr_root;
struct open_alarms;

/**
 * Reads the file of the previous run, if there is one; bad content is logged, and ignored.
 *
 * @param path        kept.
 * @param dispatcher  learns what was saved; must outlive the open alarms.
 * @return 0 or a negative errno.
 */
int open_alarms_open(const struct open_alarms_format *format, const char *path,
                     struct dispatcher *dispatcher, struct open_alarms **alarms);

/** Writes the file for the last time, and frees. NULL is allowed. */
void open_alarms_close(struct open_alarms *alarms);

/** Takes an alarm of the previous run out of the list, for the alert that goes on with it: of the
 * same key and instance, and of the system or of a group as it is. @return whether there was one.
 */
bool open_alarms_claim(struct open_alarms *alarms, const struct open_alarm_subject *subject,
                       enum alarm_sent *sent);

/** The first alarm of the previous run that wasn't claimed; NULL: none. */
struct open_alarm *open_alarms_unclaimed(struct open_alarms *alarms);

/** Whether the previous run was before the machine was booted. */
bool open_alarms_has_rebooted(const struct open_alarms *alarms);

/**
 * Why an alarm of the previous run that wasn't claimed can't go on. Where its group and what it was
 * by are gone, it is the group: then nothing is left to be alarmed at.
 *
 * @param unconfigured  why, if what it was by isn't configured any more; NULL: it is.
 * @param unselected    why, if its group, or the system, is there.
 * @return one of these, or a text of its own.
 */
const char *open_alarms_explain(const struct open_alarms *alarms, const struct open_alarm *alarm,
                                const struct hr_root *root, const char *unconfigured,
                                const char *unselected);

/** Keeps an alarm until its end has been dispatched. @param id  as the dispatcher knows it. */
void open_alarms_add_ending(struct open_alarms *alarms, uint64_t id,
                            const struct open_alarm_subject *subject, enum alarm_sent sent);

/** Keeps an alarm of the previous run until its end has been dispatched. */
void open_alarms_set_ending(struct open_alarms *alarms, struct open_alarm *alarm, uint64_t id);

/** Forgets such an alarm, as its end was withdrawn. @return what was sent of it. */
enum alarm_sent open_alarms_take_ending(struct open_alarms *alarms, uint64_t id);

/**
 * Removes those whose end was dispatched.
 *
 * @param is_last      nothing is dispatched any more: also removes those that weren't sent.
 * @param has_changed  set if the file's text has.
 * @return how many are left.
 */
size_t open_alarms_update_ending(struct open_alarms *alarms,
                                 const struct dispatcher_waiting *waiting, bool is_last,
                                 bool *has_changed);

/*
 * The file's text: begin, add each open alarm, and commit, which has it written; those of the run
 * before that weren't claimed, and those whose end waits, are added by themselves. Memory that is
 * short is logged, and leaves the file as it is.
 */
void open_alarms_begin(struct open_alarms *alarms);
void open_alarms_add(struct open_alarms *alarms, const struct open_alarm_subject *subject,
                     enum alarm_sent sent);
void open_alarms_commit(struct open_alarms *alarms);

/** The number of the text that is committed next: of the record of an alarm that begins now. */
uint64_t open_alarms_next_record(const struct open_alarms *alarms);

#endif
