/* SPDX-License-Identifier: MIT */
#include "common/missing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/absence.h"
#include "common/message.h"
#include "common/submit.h"
#include "common/threshold_record.h"
#include "utils/common/common.h"
#include "utils_cache.h"

/* Intervals of other hosts aren't known, nor when they send again after a restart of ours. */
#define OTHERS_PATIENCE TIME_T_TO_CDTIME_T(24 * 60 * 60)

/* --- Ends ----------------------------------------------------------------- */

/* Values of one read come one after the other. */
static cdtime_t due_of(const value_list_t *series)
{
    return series->time + series->interval + series->interval / 2;
}

/* @param begin  what names in collectd's cache begin with, @param next  before one of these: as
 * "HOST/psi" before "-" or "/". @return when the newest values of such series were read; 0: there
 * are none. */
static cdtime_t newest_cached(const char *begin, const char *next)
{
    const size_t length = strlen(begin);
    cdtime_t newest = 0, time;
    uc_iter_t *cache = uc_get_iterator();
    char *name; /* the cache's own: it isn't the copy that utils_cache.h says */

    while (cache != NULL && uc_iterator_next(cache, &name) == 0)
        if (strncmp(name, begin, length) == 0 && name[length] != '\0' &&
            strchr(next, name[length]) != NULL && uc_iterator_get_time(cache, &time) == 0 &&
            time > newest)
            newest = time;
    uc_iterator_destroy(cache);
    return newest;
}

/* Whether other series of the same group or CPU had a value since its was due. */
static bool is_one_of_several(const value_list_t *series)
{
    char begin[4 * DATA_MAX_NAME_LEN];

    snprintf(begin, sizeof(begin), "%s/%s-%s", series->host, series->plugin,
             series->plugin_instance);
    return newest_cached(begin, "/") > due_of(series);
}

/* As a trigger of psi says it of its own end. */
static void write_reason(const value_list_t *series, cdtime_t now, char *reason, size_t size)
{
    switch (absence_find(series->plugin_instance)) {
    case ABSENCE_REMOVED:
        snprintf(reason, size, "it was removed");
        break;
    case ABSENCE_EMPTY:
        snprintf(reason, size, "no process is left in it");
        break;
    case ABSENCE_OUTRANKED:
        snprintf(reason, size, "other cgroups wait more (TopGroups)");
        break;
    case ABSENCE_UNKNOWN:
        if (is_one_of_several(series))
            snprintf(reason, size,
                     "its value isn't known now, though others of the same cgroup or CPU are");
        else
            snprintf(reason, size, "no value has come for %.0f s",
                     CDTIME_T_TO_DOUBLE(now - series->time));
        break;
    }
}

static void notify_end(const value_list_t *series, const data_set_t *set)
{
    notification_t notice;
    char reason[96];
    struct message message = message_begin(&notice, NOTIF_OKAY,
                                           &(struct message_series){
                                               .host = series->host,
                                               .plugin = series->plugin,
                                               .instance = series->plugin_instance,
                                               .type = series->type,
                                               .type_instance = series->type_instance,
                                           });

    write_reason(series, notice.time, reason, sizeof(reason));
    message_append(&message, "%s: no longer watched: %s", series->type_instance, reason);
    message_add_text(&notice, "DataSource", set->ds[0].name);
    message_add_text(&notice, "NoLongerWatched", reason);
    plugin_dispatch_notification(&notice);
    plugin_notification_meta_free(notice.meta);
}

/* --- The plugin's own ----------------------------------------------------- */

/* What a plugin's series had when collectd ended, and have now. */
static struct {
    const char *plugin;
    pthread_mutex_t lock; /* of opening the record */
    struct threshold_record *record;
    pthread_mutex_t turn; /* of deciding that an alarm ends, or goes on with a first value */
    cdtime_t begun;
    cdtime_t read;          /* when the last read began */
    _Atomic cdtime_t ended; /* when the last one that has ended began; 0: none has */
    _Atomic cdtime_t seen;  /* when the newest values were read that have ever come to the cache */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_MUTEX_INITIALIZER};

/* @return NULL if memory was short. */
static struct threshold_record *get_record(void)
{
    pthread_mutex_lock(&own.lock);
    if (own.record == NULL) {
        own.record = threshold_record_open(own.plugin);
        own.begun = cdtime();
    }
    struct threshold_record *record = own.record;
    pthread_mutex_unlock(&own.lock);
    return record;
}

/* --- What is known -------------------------------------------------------- */

/* Of the plugin, on this host. */
static cdtime_t newest_of_plugin(void)
{
    char begin[2 * DATA_MAX_NAME_LEN];

    snprintf(begin, sizeof(begin), "%s/%s", hostname_g, own.plugin);
    return newest_cached(begin, "-/");
}

/* The cache forgets them with their series. */
static void note_seen(cdtime_t time)
{
    cdtime_t seen = own.seen;

    while (time > seen && !atomic_compare_exchange_weak(&own.seen, &seen, time))
        ;
}

/* Until when all that the plugin has read has come to the cache: values come in the order in which
 * they were read. */
static cdtime_t come_until(void)
{
    note_seen(newest_of_plugin());
    if (submit_newest() > own.seen)
        return own.seen;
    return own.ended > own.seen ? own.ended : own.seen;
}

/* Whether a series has no values though the plugin's have come that were read later. Of another
 * host it isn't known what was read; but where our values wait, so do its. */
static bool is_lack_known(const value_list_t *series)
{
    if (strcmp(series->host, hostname_g) == 0)
        return come_until() >= due_of(series);
    const cdtime_t cached = newest_of_plugin();
    return cached == 0 || cached + 2 * plugin_get_interval() >= submit_newest();
}

static bool is_cached(const value_list_t *series)
{
    char name[6 * DATA_MAX_NAME_LEN];
    gauge_t *rates = NULL;
    size_t count;

    if (FORMAT_VL(name, sizeof(name), series) != 0)
        return false;
    const bool is_there = uc_get_rate_by_name(name, &rates, &count) == 0;
    free(rates);
    return is_there;
}

/* --- Values that are missing ---------------------------------------------- */

/* threshold knows of the alarm, or of the previous run's only receivers do. */
static bool has_alarm(const value_list_t *series, int state)
{
    struct threshold_record *record;

    if (state == STATE_WARNING || state == STATE_ERROR)
        return true;
    record = get_record();
    return record != NULL && threshold_record_has(record, series);
}

/* Leaves the end to missing_end_overdue_alarms() where it isn't known whether the series has values
 * that wait. */
static bool defer_end(const value_list_t *series, int state)
{
    struct threshold_record *record = get_record();

    return record != NULL && absence_find(series->plugin_instance) == ABSENCE_UNKNOWN &&
           !is_lack_known(series) && threshold_record_defer(record, series, state, due_of(series));
}

static int handle_missing(const value_list_t *series, __attribute__((unused)) user_data_t *data)
{
    const data_set_t *set = NULL;

    if (strcmp(series->plugin, own.plugin) == 0)
        set = plugin_get_ds(series->type);
    if (set == NULL)
        return 0;
    if (strcmp(series->host, hostname_g) == 0)
        note_seen(series->time);
    const int state = uc_get_state(set, series);
    if (has_alarm(series, state) && !defer_end(series, state))
        notify_end(series, set);
    return 0;
}

/* A value that comes from now on begins without an alarm.
 * @return false: it has come already, and goes on with it. */
static bool forget_alarm(struct threshold_record *record, const value_list_t *series)
{
    pthread_mutex_lock(&own.turn);
    const bool is_missing = !is_cached(series);
    if (is_missing)
        threshold_record_forget(record, series);
    pthread_mutex_unlock(&own.turn);
    return is_missing;
}

static void end_deferred(struct threshold_record *record, value_list_t *series)
{
    const data_set_t *set = plugin_get_ds(series->type);

    if (series->interval == 0)
        series->time = own.begun;
    if (set == NULL || !forget_alarm(record, series))
        return;
    notify_end(series, set);
    threshold_record_save(record);
}

/* Shares and rates have a value from the second read on, and that has to get to the cache. */
void missing_end_overdue_alarms(cdtime_t longest)
{
    struct threshold_record *record = get_record();
    const cdtime_t now = cdtime();
    value_list_t series;

    own.ended = own.read;
    own.read = now;
    if (record == NULL || !threshold_record_has_deferred(record))
        return;
    threshold_record_set_due(record, own.begun + 3 * plugin_get_interval() + longest,
                             own.begun + OTHERS_PATIENCE);
    const cdtime_t until = come_until();
    while (threshold_record_take_deferred(record, until, &series))
        end_deferred(record, &series);
}

/* --- Values that are the first -------------------------------------------- */

/* A rate isn't known of the first value, which threshold takes for OKAY. */
static bool has_rate(const data_set_t *set, const cache_event_t *event)
{
    return event->type != CE_VALUE_NEW || set->ds[0].type == DS_TYPE_GAUGE;
}

/* Called before threshold judges the value. Of an alarm whose rates aren't known yet the state is
 * OKAY until then, so that threshold doesn't notify. collectd may tell of further values though we
 * haven't asked: its check of who did lets all pass. */
static void set_state(struct threshold_record *record, const data_set_t *set, cache_event_t *event)
{
    const value_list_t *series = event->value_list;
    int state = STATE_UNKNOWN;
    const bool has = record != NULL && threshold_record_state(record, series, &state);

    if (event->type == CE_VALUE_UPDATE && (!has || uc_get_state(set, series) != STATE_OKAY))
        return;
    if (has && !has_rate(set, event)) {
        state = STATE_OKAY;
        event->ret = 1; /* the next one is passed, too */
    }
    uc_set_state(set, series, state);
}

static int handle_cache(cache_event_t *event, __attribute__((unused)) user_data_t *data)
{
    const data_set_t *set = NULL;

    if (event->type != CE_VALUE_EXPIRED && strcmp(event->value_list->plugin, own.plugin) == 0)
        set = plugin_get_ds(event->value_list->type);
    if (set == NULL)
        return 0;
    struct threshold_record *record = get_record();
    pthread_mutex_lock(&own.turn);
    set_state(record, set, event);
    pthread_mutex_unlock(&own.turn);
    return 0;
}

/* --- Life ----------------------------------------------------------------- */

static int handle_notification(const notification_t *notice,
                               __attribute__((unused)) user_data_t *data)
{
    struct threshold_record *record = NULL;

    if (strcmp(notice->plugin, own.plugin) == 0 && threshold_record_concerns(notice))
        record = get_record();
    if (record != NULL)
        threshold_record_note(record, notice);
    return 0;
}

void missing_close(void)
{
    threshold_record_close(own.record);
    own.record = NULL;
    own.read = 0;
    own.ended = 0;
    own.seen = 0;
}

void missing_register(const char *plugin)
{
    const user_data_t data = {.data = NULL};

    own.plugin = plugin;
    plugin_register_missing(plugin, handle_missing, &data);
    plugin_register_cache_event(plugin, handle_cache, &data);
    plugin_register_notification(plugin, handle_notification, &data);
}
