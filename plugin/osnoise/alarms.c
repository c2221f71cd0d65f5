/* SPDX-License-Identifier: MIT */
#include "osnoise/alarms.h"

#include <ctype.h>
#include <errno.h>

#include "common/complaint.h"
#include "common/dispatcher.h"
#include "headroom/array.h"
#include "headroom/cpu_set.h"

#define PLUGIN "osnoise"

/* Beside the tracer's settings, whose file has the configured name. */
#define SUFFIX ".alarms"

/* Notifications per second, as those of psi by default. */
#define PER_SECOND 20

struct osnoise_alarms {
    char *path;
    struct dispatcher *dispatcher;
    struct open_alarms *record;
    struct osnoise_alarm *list;
    size_t count, capacity;
    bool has_changed; /* since it was saved */
    bool is_waiting;  /* of what was saved something may not have been dispatched yet */
    struct complaint shortage;
};

/* --- The record ----------------------------------------------------------- */

static bool parse_key(const char *key, unsigned *cpu)
{
    char *end;
    const unsigned long number = strtoul(key, &end, 10);

    *cpu = (unsigned)number;
    return isdigit((unsigned char)key[0]) && *end == '\0' && number < HR_CPU_MAX;
}

static bool is_key(const char *key)
{
    unsigned cpu;

    return parse_key(key, &cpu);
}

/* The key of an alarm is the number of its CPU. */
static const struct open_alarms_format format = {
    .plugin = PLUGIN,
    .first_line = "headroom's open alarms of noise 1\n",
    .key_fields = 1,
    .is_key = is_key,
};

/* What the record has of an alarm: "3" and "cpu3". */
struct names {
    char instance[16];
    struct open_alarm_subject subject;
};

static const struct open_alarm_subject *name(const struct osnoise_alarm *alarm, struct names *names)
{
    snprintf(names->instance, sizeof(names->instance), "cpu%u", alarm->cpu);
    names->subject = (struct open_alarm_subject){.key = names->instance + strlen("cpu"),
                                                 .instance = names->instance};
    return &names->subject;
}

static uint64_t alarm_id(const struct osnoise_alarm *alarm)
{
    return (uint64_t)alarm->cpu + 1;
}

/* --- The list ------------------------------------------------------------- */

size_t osnoise_alarms_count(const struct osnoise_alarms *alarms)
{
    return alarms->count;
}

struct osnoise_alarm *osnoise_alarms_get(const struct osnoise_alarms *alarms, size_t i)
{
    return &alarms->list[i];
}

struct osnoise_alarm *osnoise_alarms_find(const struct osnoise_alarms *alarms, unsigned cpu)
{
    for (size_t i = 0; i < alarms->count; i++)
        if (alarms->list[i].cpu == cpu)
            return &alarms->list[i];
    return NULL;
}

struct osnoise_alarm *osnoise_alarms_find_or_add(struct osnoise_alarms *alarms, unsigned cpu)
{
    struct osnoise_alarm *alarm = osnoise_alarms_find(alarms, cpu);

    if (alarm != NULL)
        return alarm;
    if (HR_ARRAY_RESERVE(alarms->list, alarms->capacity, alarms->count + 1) < 0) {
        complaint_log(&alarms->shortage, LOG_ERR, 1,
                      PLUGIN ": no alerts for CPU %u: out of memory.", cpu);
        return NULL;
    }
    alarms->list[alarms->count] = (struct osnoise_alarm){.cpu = cpu};
    return &alarms->list[alarms->count++];
}

/* --- Beginning and end ---------------------------------------------------- */

static void set_open(struct osnoise_alarms *alarms, struct osnoise_alarm *alarm, bool is_open)
{
    alarm->is_open = is_open;
    alarms->has_changed = true;
}

bool osnoise_alarms_can_begin(struct osnoise_alarms *alarms)
{
    return dispatcher_can_queue(alarms->dispatcher);
}

bool osnoise_alarms_withdraw_end(struct osnoise_alarms *alarms, struct osnoise_alarm *alarm)
{
    const uint64_t id = alarm_id(alarm);

    if (!dispatcher_withdraw_end(alarms->dispatcher, id))
        return false;
    alarm->sent = open_alarms_take_ending(alarms->record, id);
    set_open(alarms, alarm, true);
    return true;
}

/* Whether the beginning was sent doesn't change when the alarm is reported again. */
bool osnoise_alarms_begin(struct osnoise_alarms *alarms, struct osnoise_alarm *alarm,
                          notification_t *notice)
{
    if (!dispatcher_queue_beginning(alarms->dispatcher, alarm_id(alarm),
                                    open_alarms_next_record(alarms->record), notice))
        return false;
    if (!alarm->is_open)
        alarm->sent = ALARM_UNSENT;
    else if (alarm->sent == ALARM_INHERITED)
        alarm->sent = ALARM_UNSURE;
    set_open(alarms, alarm, true);
    return true;
}

bool osnoise_alarms_end(struct osnoise_alarms *alarms, struct osnoise_alarm *alarm,
                        notification_t *notice)
{
    struct names names;

    if (!dispatcher_queue_end(alarms->dispatcher, alarm_id(alarm), notice))
        return false;
    open_alarms_add_ending(alarms->record, alarm_id(alarm), name(alarm, &names), alarm->sent);
    set_open(alarms, alarm, false);
    return true;
}

/* --- Saving --------------------------------------------------------------- */

/* What has been dispatched. @return whether something wasn't. */
static bool update_dispatched(struct osnoise_alarms *alarms, bool is_last)
{
    struct dispatcher_waiting waiting;

    if (dispatcher_list_waiting(alarms->dispatcher, &waiting) < 0)
        return true; /* not known */
    size_t left =
        open_alarms_update_ending(alarms->record, &waiting, is_last, &alarms->has_changed);
    for (size_t i = 0; i < alarms->count; i++) {
        struct osnoise_alarm *alarm = &alarms->list[i];
        const enum alarm_sent was = alarm->sent;
        if (!alarm->is_open)
            continue;
        alarm->sent = alarm_sent_now(was, alarm_id(alarm), &waiting);
        alarms->has_changed = alarms->has_changed || alarm->sent != was;
        left += alarm->sent == ALARM_UNSENT || alarm->sent == ALARM_UNSURE;
    }
    dispatcher_waiting_free(&waiting);
    return left > 0;
}

static void save(struct osnoise_alarms *alarms)
{
    struct names names;

    alarms->has_changed = false;
    open_alarms_begin(alarms->record);
    for (size_t i = 0; i < alarms->count; i++)
        if (alarms->list[i].is_open)
            open_alarms_add(alarms->record, name(&alarms->list[i], &names), alarms->list[i].sent);
    open_alarms_commit(alarms->record);
}

void osnoise_alarms_save(struct osnoise_alarms *alarms)
{
    if (alarms->is_waiting)
        alarms->is_waiting = update_dispatched(alarms, false);
    if (!alarms->has_changed)
        return;
    save(alarms);
    alarms->is_waiting = true;
}

/* --- Opening and closing -------------------------------------------------- */

bool osnoise_alarms_has_rebooted(const struct osnoise_alarms *alarms)
{
    return open_alarms_has_rebooted(alarms->record);
}

/* Which CPUs are measured isn't known yet: all alarms of the previous run go on for now. */
static int resume(struct osnoise_alarms *alarms)
{
    const struct open_alarm *left;
    unsigned cpu;

    while ((left = open_alarms_unclaimed(alarms->record)) != NULL) {
        const struct open_alarm_subject subject = {left->key, left->instance, left->path};
        parse_key(left->key, &cpu);
        struct osnoise_alarm *alarm = osnoise_alarms_find_or_add(alarms, cpu);
        if (alarm == NULL)
            return -ENOMEM;
        open_alarms_claim(alarms->record, &subject, &alarm->sent);
        alarm->is_open = alarm->is_raised = alarm->excess.is_since_restart = true;
    }
    return 0;
}

static int open_record(struct osnoise_alarms *alarms)
{
    int status = dispatcher_open(PLUGIN, PER_SECOND, NULL, &alarms->dispatcher);

    if (status == 0)
        status = open_alarms_open(&format, alarms->path, alarms->dispatcher, &alarms->record);
    return status == 0 ? resume(alarms) : status;
}

int osnoise_alarms_open(const char *state_path, bool can_begin, struct osnoise_alarms **alarms)
{
    struct osnoise_alarms *opened = calloc(1, sizeof(*opened));
    int status = -ENOMEM;

    *alarms = NULL;
    if (opened != NULL && asprintf(&opened->path, "%s" SUFFIX, state_path) < 0)
        opened->path = NULL;
    if (opened != NULL && opened->path != NULL) {
        const bool is_needed = can_begin || access(opened->path, F_OK) == 0;
        status = is_needed ? open_record(opened) : 0;
        if (is_needed && status == 0)
            *alarms = opened;
    }
    if (*alarms == NULL)
        osnoise_alarms_close(opened);
    return status;
}

/* Beginnings that weren't dispatched never are. */
static void forget_unsent(struct osnoise_alarms *alarms)
{
    for (size_t i = 0; i < alarms->count; i++)
        if (alarms->list[i].sent == ALARM_UNSENT)
            alarms->list[i].is_open = false;
}

/* A handler that hangs keeps the dispatcher. */
void osnoise_alarms_close(struct osnoise_alarms *alarms)
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
    free(alarms->list);
    free(alarms->path);
    free(alarms);
}
