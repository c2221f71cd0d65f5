/* SPDX-License-Identifier: MIT */
#include "headroom/alarms.h"

#include <errno.h>

#include "common/dispatcher.h"
#include "common/open_alarms.h"
#include "common/options.h"
#include "headroom/alert_message.h"
#include "headroom/clock.h"
#include "headroom/hash.h"
#include "headroom/room_history.h"
#include "headroom/root.h"

#define PLUGIN "headroom"

/* Beside the history, whose file has the configured name. */
#define SUFFIX ".alarms"

/* Notifications per second, as those of psi by default. */
#define PER_SECOND 20

struct alarms {
    char *path;
    const struct hr_root *root;
    bool is_on;
    struct dispatcher *dispatcher;
    struct open_alarms *record;
    TAILQ_HEAD(, alarm) open;
    bool has_changed;  /* since it was saved */
    bool is_waiting;   /* of what was saved something may not have been dispatched yet */
    uint64_t claim_ns; /* when alarms of the previous run end that weren't claimed; 0: they have */
};

/* --- The record --------------------------------------------------------------- */

/* @return SUBJECT_ROOM_COUNT: it is none. */
static int find_resource(const char *key)
{
    int resource = 0;

    while (resource < SUBJECT_ROOM_COUNT && strcmp(key, alert_resource_name(resource)) != 0)
        resource++;
    return resource;
}

static bool is_key(const char *key)
{
    return find_resource(key) < SUBJECT_ROOM_COUNT;
}

/* The key of an alarm is its resource. */
static const struct open_alarms_format format = {
    .plugin = PLUGIN,
    .first_line = "headroom's open alarms of room 1\n",
    .key_fields = 1,
    .is_key = is_key,
};

static struct open_alarm_subject subject_of(const struct subject *subject, int resource)
{
    return (struct open_alarm_subject){alert_resource_name(resource), subject->instance,
                                       subject->path};
}

/* The same for a group that is made again: its alarms come one after the other. */
static uint64_t alarm_id(const char *instance, int resource)
{
    return (uint64_t)hr_hash(instance) << 32 | (uint32_t)resource;
}

static void set_open(struct alarms *alarms, struct subject *subject, int resource, bool is_open)
{
    struct alarm *alarm = &subject->alarm[resource];

    alarms->has_changed = true;
    alarm->streak = 0;
    if (alarm->is_open == is_open)
        return;
    alarm->is_open = is_open;
    alarm->subject = subject;
    if (is_open)
        TAILQ_INSERT_TAIL(&alarms->open, alarm, open);
    else
        TAILQ_REMOVE(&alarms->open, alarm, open);
}

static int resource_of(const struct alarm *alarm)
{
    return (int)(alarm - alarm->subject->alarm);
}

void alarms_forget(struct alarms *alarms, struct alarm *alarm)
{
    set_open(alarms, alarm->subject, resource_of(alarm), false);
}

/* --- Beginning and end ---------------------------------------------------------- */

bool alarms_can_begin(struct alarms *alarms)
{
    return dispatcher_can_queue(alarms->dispatcher);
}

bool alarms_withdraw_end(struct alarms *alarms, struct subject *subject, int resource)
{
    const uint64_t id = alarm_id(subject->instance, resource);

    if (!dispatcher_withdraw_end(alarms->dispatcher, id))
        return false;
    subject->alarm[resource].sent = open_alarms_take_ending(alarms->record, id);
    set_open(alarms, subject, resource, true);
    return true;
}

void alarms_begin(struct alarms *alarms, struct subject *subject, int resource,
                  notification_t *notice)
{
    struct alarm *alarm = &subject->alarm[resource];

    if (!dispatcher_queue_beginning(alarms->dispatcher, alarm_id(subject->instance, resource),
                                    open_alarms_next_record(alarms->record), notice))
        return;
    alarm->sent = alarm->is_open ? ALARM_UNSURE : ALARM_UNSENT;
    alarm->begun_ns = alarm->is_open ? 0 : hr_clock_ns();
    set_open(alarms, subject, resource, true);
}

void alarms_end(struct alarms *alarms, struct subject *subject, int resource,
                notification_t *notice)
{
    const struct open_alarm_subject of = subject_of(subject, resource);
    const uint64_t id = alarm_id(subject->instance, resource);

    if (!dispatcher_queue_end(alarms->dispatcher, id, notice))
        return;
    open_alarms_add_ending(alarms->record, id, &of, subject->alarm[resource].sent);
    set_open(alarms, subject, resource, false);
}

/* --- The alarms of the previous run ----------------------------------------------- */

void alarms_resume(struct alarms *alarms, struct subject *subject)
{
    for (int i = 0; i < SUBJECT_ROOM_COUNT && alarms->is_on; i++) {
        const struct open_alarm_subject of = subject_of(subject, i);
        struct alarm *alarm = &subject->alarm[i];
        if (alarm->is_open || !open_alarms_claim(alarms->record, &of, &alarm->sent))
            continue;
        alarm->begun_ns = 0;
        set_open(alarms, subject, i, true);
    }
}

bool alarms_is_resuming(const struct alarms *alarms)
{
    return alarms->claim_ns != 0;
}

static const char *explain(const struct alarms *alarms, const struct open_alarm *alarm)
{
    return open_alarms_explain(alarms->record, alarm, alarms->root,
                               alarms->is_on ? NULL : "<Alert> is no longer configured",
                               alarm->path != NULL ? "its cgroup has no process, or is no longer "
                                                     "sampled"
                                                   : "System is false");
}

static void end_unclaimed(struct alarms *alarms)
{
    struct open_alarm *alarm;
    notification_t notice;

    while ((alarm = open_alarms_unclaimed(alarms->record)) != NULL) {
        const struct subject subject = {.instance = alarm->instance, .path = alarm->path};
        const int resource = find_resource(alarm->key);
        const uint64_t id = alarm_id(alarm->instance, resource);
        alert_message_end(&notice, &subject, resource, explain(alarms, alarm));
        dispatcher_queue_end(alarms->dispatcher, id, &notice);
        open_alarms_set_ending(alarms->record, alarm, id);
        alarms->has_changed = true;
    }
    alarms->claim_ns = 0;
}

/* --- Saving ------------------------------------------------------------------------- */

/* What has been dispatched. @return whether something wasn't. */
static bool update_dispatched(struct alarms *alarms, bool is_last)
{
    struct dispatcher_waiting waiting;
    struct alarm *alarm;

    if (dispatcher_list_waiting(alarms->dispatcher, &waiting) < 0)
        return true; /* not known */
    size_t left =
        open_alarms_update_ending(alarms->record, &waiting, is_last, &alarms->has_changed);
    TAILQ_FOREACH(alarm, &alarms->open, open)
    {
        const uint64_t id = alarm_id(alarm->subject->instance, resource_of(alarm));
        const enum alarm_sent was = alarm->sent;
        alarm->sent = alarm_sent_now(was, id, &waiting);
        alarms->has_changed = alarms->has_changed || alarm->sent != was;
        left += alarm->sent == ALARM_UNSENT || alarm->sent == ALARM_UNSURE;
    }
    dispatcher_waiting_free(&waiting);
    return left > 0;
}

static void save(struct alarms *alarms)
{
    const struct alarm *alarm;

    alarms->has_changed = false;
    open_alarms_begin(alarms->record);
    TAILQ_FOREACH(alarm, &alarms->open, open)
    {
        const struct open_alarm_subject of = subject_of(alarm->subject, resource_of(alarm));
        open_alarms_add(alarms->record, &of, alarm->sent);
    }
    open_alarms_commit(alarms->record);
}

void alarms_save(struct alarms *alarms)
{
    if (alarms->claim_ns != 0 && hr_clock_ns() >= alarms->claim_ns)
        end_unclaimed(alarms);
    if (alarms->is_waiting)
        alarms->is_waiting = update_dispatched(alarms, false);
    if (!alarms->has_changed)
        return;
    save(alarms);
    alarms->is_waiting = true;
}

/* --- Opening and closing -------------------------------------------------------------- */

static int set_path(struct alarms *alarms, const char *state_file)
{
    char *history = option_state_path(state_file, HR_ROOM_HISTORY_FILE);

    if (history == NULL || asprintf(&alarms->path, "%s" SUFFIX, history) < 0)
        alarms->path = NULL;
    free(history);
    return alarms->path != NULL ? 0 : -ENOMEM;
}

static int open_record(struct alarms *alarms)
{
    int status = dispatcher_open(PLUGIN, PER_SECOND, NULL, &alarms->dispatcher);

    if (status == 0)
        status = open_alarms_open(&format, alarms->path, alarms->dispatcher, &alarms->record);
    return status;
}

int alarms_open(const struct alarms_options *options, struct alarms **alarms)
{
    struct alarms *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    TAILQ_INIT(&opened->open);
    opened->root = options->root;
    opened->is_on = options->is_on;
    opened->claim_ns = hr_clock_ns() + options->claim_ns;
    int status = set_path(opened, options->state_file);
    const bool is_needed = status == 0 && (options->is_on || access(opened->path, F_OK) == 0);
    if (is_needed)
        status = open_record(opened);
    if (!is_needed || status < 0) {
        alarms_close(opened);
        return status;
    }
    *alarms = opened;
    return 0;
}

/* Beginnings that weren't dispatched never are. */
static void forget_unsent(struct alarms *alarms)
{
    struct alarm *alarm = TAILQ_FIRST(&alarms->open);

    while (alarm != NULL) {
        struct alarm *next = TAILQ_NEXT(alarm, open);
        if (alarm->sent == ALARM_UNSENT)
            alarms_forget(alarms, alarm);
        alarm = next;
    }
}

/* A handler that hangs keeps the dispatcher. */
void alarms_close(struct alarms *alarms)
{
    if (alarms == NULL)
        return;
    const bool has_stopped = dispatcher_stop(alarms->dispatcher);
    if (alarms->record != NULL) {
        update_dispatched(alarms, true);
        forget_unsent(alarms);
        save(alarms);
    }
    open_alarms_close(alarms->record);
    if (has_stopped)
        dispatcher_close(alarms->dispatcher);
    free(alarms->path);
    free(alarms);
}
