/* SPDX-License-Identifier: MIT */
#include "common/threshold_record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "common/complaint.h"
#include "common/log.h"
#include "common/options.h"
#include "common/state_wanted.h"
#include "common/state_writer.h"
#include "headroom/state_file.h"
#include "utils/common/common.h"
#include "utils_cache.h"

/* The first line of the file; its number is the format's. */
#define FIRST_LINE "headroom thresholds 1\n"

/* The last field of a series that is missing; others have none. */
#define MISSING_FIELD "missing"

/* How many of those are kept: where groups come and go, many never have a value again. */
#define MAX_MISSING 1000

struct threshold_alarm {
    value_list_t series; /* what identifies it; if it is deferred its time and interval, too */
    int state;           /* as threshold has it; STATE_UNKNOWN: it is of the previous run */
    bool is_missing;     /* threshold has notified that it has no values, and of no alarm before */
    bool is_deferred;
    cdtime_t due; /* if it is deferred; 0: isn't known yet */
    SLIST_ENTRY(threshold_alarm) entry;
};

struct threshold_record {
    const char *plugin;
    char *path; /* NULL: memory was short, and nothing is kept */
    pthread_mutex_t lock;
    SLIST_HEAD(, threshold_alarm) alarms;
    bool is_complete;            /* all that receivers have as alarms is known, and can be kept */
    struct state_writer *writer; /* NULL: nothing was written yet */
    struct complaint failure;    /* the writer's */
};

/* --- The alarms ----------------------------------------------------------- */

static bool is_same(const value_list_t *one, const value_list_t *other)
{
    return strcmp(one->host, other->host) == 0 &&
           strcmp(one->plugin_instance, other->plugin_instance) == 0 &&
           strcmp(one->type, other->type) == 0 &&
           strcmp(one->type_instance, other->type_instance) == 0;
}

static struct threshold_alarm *find_alarm(const struct threshold_record *record,
                                          const value_list_t *series)
{
    struct threshold_alarm *alarm;

    SLIST_FOREACH(alarm, &record->alarms, entry)
    if (is_same(&alarm->series, series))
        break;
    return alarm;
}

/* @return NULL if memory was short. */
static struct threshold_alarm *add_alarm(struct threshold_record *record,
                                         const value_list_t *series)
{
    struct threshold_alarm *added = calloc(1, sizeof(*added));

    if (added == NULL)
        return NULL;
    added->series = *series;
    added->state = STATE_UNKNOWN;
    SLIST_INSERT_HEAD(&record->alarms, added, entry);
    return added;
}

static void remove_alarm(struct threshold_record *record, struct threshold_alarm *alarm)
{
    SLIST_REMOVE(&record->alarms, alarm, threshold_alarm, entry);
    free(alarm);
}

/* --- The file ------------------------------------------------------------- */

static void parse_line(struct threshold_record *record, char *line)
{
    value_list_t series = VALUE_LIST_INIT;
    const struct {
        char *text;
        size_t size;
    } fields[] = {
        {series.host, sizeof(series.host)},
        {series.plugin_instance, sizeof(series.plugin_instance)},
        {series.type, sizeof(series.type)},
        {series.type_instance, sizeof(series.type_instance)},
    };
    struct threshold_alarm *alarm;

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const char *field = strsep(&line, "\t");
        if (field == NULL)
            return;
        sstrncpy(fields[i].text, field, fields[i].size);
    }
    sstrncpy(series.plugin, record->plugin, sizeof(series.plugin));
    alarm = add_alarm(record, &series);
    if (alarm == NULL) {
        record->is_complete = false;
        return;
    }
    alarm->is_missing = line != NULL && strcmp(line, MISSING_FIELD) == 0;
    alarm->is_deferred = !alarm->is_missing;
}

/* Where the file can't be written, there may be none though there were alarms. */
static bool can_be_written(const char *path)
{
    char directory[PATH_MAX];

    snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(path, '/') + 1 - path), path);
    return access(directory, W_OK) == 0;
}

static void read_file(struct threshold_record *record)
{
    char *bytes, *rest, *line;
    size_t length;
    int status = hr_state_file_read_all(record->path, &bytes, &length);

    record->is_complete = (status == 0 || status == -ENOENT) && can_be_written(record->path);
    if (status == -ENOENT)
        return;
    char *text = status == 0 ? strndup(bytes, length) : NULL;
    if (status == 0) {
        free(bytes);
        status = text != NULL ? 0 : -ENOMEM;
    }
    if (text == NULL || strncmp(text, FIRST_LINE, strlen(FIRST_LINE)) != 0) {
        WARNING("%s: %s can't be used: %s. Alarms of thresholds whose groups have gone meanwhile "
                "stay open at the receivers.",
                record->plugin, record->path,
                status < 0 ? STRERROR(-status) : "it isn't what this plugin writes");
        record->is_complete = false;
        free(text);
        return;
    }
    rest = text + strlen(FIRST_LINE);
    while ((line = strsep(&rest, "\n")) != NULL)
        if (line[0] != '\0')
            parse_line(record, line);
    free(text);
}

/* An older file would be taken for all alarms there are, and the ends of the others never be
 * notified; an empty one is not. */
static void spoil_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0)
        close(fd);
}

/* Waits for the disk, in a thread of its own: after a crash of the machine the ends of these alarms
 * are notified, too. */
static void write_file(void *context, const struct state_text *text)
{
    struct threshold_record *record = context;

    if (!state_is_wanted(record->path))
        return;
    int status = hr_state_file_write(record->path, text->bytes, text->length);
    if (status < 0) {
        spoil_file(record->path);
        complaint_log(&record->failure, LOG_WARNING, status,
                      "%s: alarms of thresholds can't be saved to %s, so some may stay open at the "
                      "receivers after a restart: %s.",
                      record->plugin, record->path, STRERROR(-status));
    } else {
        complaint_resolve(&record->failure, "%s: alarms of thresholds are being saved again.",
                          record->plugin);
    }
}

static struct state_text make_text(const struct threshold_record *record)
{
    struct state_text text = {.bytes = NULL};
    const struct threshold_alarm *alarm;
    FILE *file = open_memstream(&text.bytes, &text.length);

    if (file == NULL)
        return (struct state_text){.bytes = NULL};
    fputs(FIRST_LINE, file);
    SLIST_FOREACH(alarm, &record->alarms, entry)
    fprintf(file, "%s\t%s\t%s\t%s%s\n", alarm->series.host, alarm->series.plugin_instance,
            alarm->series.type, alarm->series.type_instance,
            alarm->is_missing ? "\t" MISSING_FIELD : "");
    fclose(file);
    return text;
}

static void save(struct threshold_record *record)
{
    int status = record->path != NULL ? 0 : -ENOMEM;

    if (status == 0 && record->writer == NULL)
        status = state_writer_open("headroom alarms", write_file, record, &record->writer);
    if (status < 0)
        return;
    const struct state_text text = make_text(record);
    if (text.bytes != NULL)
        state_writer_put(record->writer, &text);
}

/* --- Notifications -------------------------------------------------------- */

/* threshold says of which data source an alarm is; no other does. */
static bool has_data_source(const notification_t *notice)
{
    for (const notification_meta_t *meta = notice->meta; meta != NULL; meta = meta->next)
        if (strcmp(meta->name, "DataSource") == 0)
            return true;
    return false;
}

/* threshold notifies so of a series without values, by Interesting. */
static bool is_of_missing(const notification_t *notice)
{
    return notice->severity == NOTIF_FAILURE && !has_data_source(notice) &&
           strstr(notice->message, " has not been updated for ") != NULL;
}

bool threshold_record_concerns(const notification_t *notice)
{
    return has_data_source(notice) || is_of_missing(notice);
}

static value_list_t series_of(const notification_t *notice)
{
    value_list_t series = VALUE_LIST_INIT;

    sstrncpy(series.host, notice->host, sizeof(series.host));
    sstrncpy(series.plugin, notice->plugin, sizeof(series.plugin));
    sstrncpy(series.plugin_instance, notice->plugin_instance, sizeof(series.plugin_instance));
    sstrncpy(series.type, notice->type, sizeof(series.type));
    sstrncpy(series.type_instance, notice->type_instance, sizeof(series.type_instance));
    return series;
}

/* What became known last is first in the list. */
static void limit_missing(struct threshold_record *record)
{
    struct threshold_alarm *alarm, *oldest = NULL;
    size_t count = 0;

    SLIST_FOREACH(alarm, &record->alarms, entry)
    if (alarm->is_missing) {
        oldest = alarm;
        count++;
    }
    if (count > MAX_MISSING)
        remove_alarm(record, oldest);
}

/* An alarm that it had goes on to be one, and ends likewise; but if it has values again, threshold
 * is to notify of them, whatever they are. @return whether the file changes. */
static bool note_missing(struct threshold_record *record, const value_list_t *series)
{
    struct threshold_alarm *alarm = find_alarm(record, series);

    if (alarm != NULL) {
        alarm->state = STATE_UNKNOWN;
        return false;
    }
    alarm = add_alarm(record, series);
    if (alarm == NULL)
        return false;
    alarm->is_missing = true;
    limit_missing(record);
    return true;
}

static bool note_alarm(struct threshold_record *record, const value_list_t *series, int state,
                       cdtime_t time)
{
    struct threshold_alarm *alarm = find_alarm(record, series);
    const bool is_new = alarm == NULL || alarm->is_missing;

    if (alarm == NULL)
        alarm = add_alarm(record, series);
    if (alarm == NULL)
        return false;
    alarm->state = state;
    alarm->is_missing = false;
    /* Rather than that a handler has kept the notification for long. */
    if (alarm->series.interval == 0 || time > alarm->series.time)
        alarm->is_deferred = false;
    return is_new;
}

static bool note_end(struct threshold_record *record, const value_list_t *series)
{
    struct threshold_alarm *alarm = find_alarm(record, series);

    if (alarm != NULL)
        remove_alarm(record, alarm);
    return alarm != NULL;
}

void threshold_record_note(struct threshold_record *record, const notification_t *notice)
{
    const value_list_t series = series_of(notice);
    bool changes;

    pthread_mutex_lock(&record->lock);
    if (is_of_missing(notice))
        changes = note_missing(record, &series);
    else if (notice->severity == NOTIF_OKAY)
        changes = note_end(record, &series);
    else
        changes = note_alarm(record, &series,
                             notice->severity == NOTIF_WARNING ? STATE_WARNING : STATE_ERROR,
                             notice->time);
    if (changes)
        save(record);
    pthread_mutex_unlock(&record->lock);
}

bool threshold_record_has(struct threshold_record *record, const value_list_t *series)
{
    pthread_mutex_lock(&record->lock);
    const struct threshold_alarm *alarm = find_alarm(record, series);
    const bool has = alarm != NULL && !alarm->is_missing;
    pthread_mutex_unlock(&record->lock);
    return has;
}

bool threshold_record_state(struct threshold_record *record, const value_list_t *series, int *state)
{
    pthread_mutex_lock(&record->lock);
    const struct threshold_alarm *alarm = find_alarm(record, series);
    *state = record->is_complete ? STATE_OKAY : STATE_UNKNOWN;
    if (alarm != NULL)
        *state = alarm->state;
    pthread_mutex_unlock(&record->lock);
    return alarm != NULL;
}

/* --- Deferred alarms ------------------------------------------------------ */

/* Handlers of notifications may take their time: then the record doesn't have it yet. */
bool threshold_record_defer(struct threshold_record *record, const value_list_t *series, int state,
                            cdtime_t due)
{
    pthread_mutex_lock(&record->lock);
    struct threshold_alarm *alarm = find_alarm(record, series);
    const bool is_new = alarm == NULL;
    if (is_new && (alarm = add_alarm(record, series)) != NULL) {
        alarm->state = state;
        save(record);
    }
    if (alarm != NULL) {
        alarm->is_missing = false;
        alarm->series.time = series->time;
        alarm->series.interval = series->interval;
        alarm->is_deferred = true;
        alarm->due = due;
    }
    pthread_mutex_unlock(&record->lock);
    return alarm != NULL;
}

void threshold_record_set_due(struct threshold_record *record, cdtime_t own, cdtime_t others)
{
    struct threshold_alarm *alarm;

    pthread_mutex_lock(&record->lock);
    SLIST_FOREACH(alarm, &record->alarms, entry)
    if (alarm->is_deferred && alarm->series.interval == 0)
        alarm->due = strcmp(alarm->series.host, hostname_g) == 0 ? own : others;
    pthread_mutex_unlock(&record->lock);
}

/* @param time  0: one that is due whenever */
static struct threshold_alarm *find_deferred(const struct threshold_record *record, cdtime_t time)
{
    struct threshold_alarm *alarm;

    SLIST_FOREACH(alarm, &record->alarms, entry)
    if (alarm->is_deferred && (time == 0 || (alarm->due > 0 && alarm->due <= time)))
        break;
    return alarm;
}

bool threshold_record_has_deferred(struct threshold_record *record)
{
    pthread_mutex_lock(&record->lock);
    const bool has = find_deferred(record, 0) != NULL;
    pthread_mutex_unlock(&record->lock);
    return has;
}

bool threshold_record_take_deferred(struct threshold_record *record, cdtime_t time,
                                    value_list_t *series)
{
    pthread_mutex_lock(&record->lock);
    struct threshold_alarm *alarm = time > 0 ? find_deferred(record, time) : NULL;
    if (alarm != NULL) {
        alarm->is_deferred = false;
        *series = alarm->series;
    }
    pthread_mutex_unlock(&record->lock);
    return alarm != NULL;
}

void threshold_record_forget(struct threshold_record *record, const value_list_t *series)
{
    pthread_mutex_lock(&record->lock);
    note_end(record, series);
    pthread_mutex_unlock(&record->lock);
}

void threshold_record_save(struct threshold_record *record)
{
    pthread_mutex_lock(&record->lock);
    save(record);
    pthread_mutex_unlock(&record->lock);
}

/* --- Opening and closing -------------------------------------------------- */

struct threshold_record *threshold_record_open(const char *plugin)
{
    struct threshold_record *record = calloc(1, sizeof(*record));
    char file[64];

    if (record == NULL)
        return NULL;
    record->plugin = plugin;
    pthread_mutex_init(&record->lock, NULL);
    SLIST_INIT(&record->alarms);
    snprintf(file, sizeof(file), "headroom-%s.thresholds", plugin);
    record->path = option_state_path(NULL, file);
    if (record->path != NULL)
        read_file(record);
    return record;
}

void threshold_record_close(struct threshold_record *record)
{
    if (record == NULL)
        return;
    state_writer_close(record->writer);
    while (!SLIST_EMPTY(&record->alarms))
        remove_alarm(record, SLIST_FIRST(&record->alarms));
    pthread_mutex_destroy(&record->lock);
    free(record->path);
    free(record);
}
