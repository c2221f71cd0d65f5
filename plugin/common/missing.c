/* SPDX-License-Identifier: MIT */
#include "common/missing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/absence.h"
#include "common/message.h"
#include "common/submit.h"
#include "common/threshold_record.h"
#include "utils/common/common.h"
#include "utils_cache.h"

/* Whether a name in collectd's cache, "HOST/psi-a_b/percent-cpu-full", is of a series' host and
 * plugin. */
static bool is_of_plugin(const char *name, const value_list_t *series)
{
    const size_t host = strlen(series->host), plugin = strlen(series->plugin);

    return strncmp(name, series->host, host) == 0 && name[host] == '/' &&
           strncmp(name + host + 1, series->plugin, plugin) == 0 &&
           (name[host + 1 + plugin] == '-' || name[host + 1 + plugin] == '/');
}

/* When the newest values of a series' plugin were read that have come to collectd's cache. */
static cdtime_t newest_cached(const value_list_t *series)
{
    cdtime_t newest = series->time, time;
    uc_iter_t *cache = uc_get_iterator();
    char *name; /* the cache's own: it isn't the copy that utils_cache.h says */

    while (cache != NULL && uc_iterator_next(cache, &name) == 0)
        if (is_of_plugin(name, series) && uc_iterator_get_time(cache, &time) == 0 && time > newest)
            newest = time;
    uc_iterator_destroy(cache);
    return newest;
}

/* By how much the cache is behind what the plugin has read; 0: by no more than an interval, or the
 * series is another host's. */
static cdtime_t find_lateness(const value_list_t *series)
{
    if (strcmp(series->host, hostname_g) != 0)
        return 0;
    const cdtime_t read = submit_newest(), cached = newest_cached(series);
    return read > cached + series->interval ? read - cached : 0;
}

/* Why a group whose events haven't shown that it is gone has no value. */
static void write_reason_of_lack(const value_list_t *series, cdtime_t now, char *reason,
                                 size_t size)
{
    const cdtime_t late = find_lateness(series);

    if (late > 0)
        snprintf(reason, size, "collectd is %.0f s behind, as its values wait for its writers",
                 CDTIME_T_TO_DOUBLE(late));
    else
        snprintf(reason, size, "no value has come for %.0f s",
                 CDTIME_T_TO_DOUBLE(now - series->time));
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
        write_reason_of_lack(series, now, reason, size);
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

/* What a plugin's series had when collectd ended, and have now. */
static struct {
    const char *plugin;
    pthread_mutex_t lock; /* of opening the record */
    struct threshold_record *record;
    cdtime_t begun;
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

/* threshold knows of the alarm, or of the previous run's only receivers do. */
static bool has_alarm(const value_list_t *series, const data_set_t *set)
{
    const int state = uc_get_state(set, series);
    struct threshold_record *record;

    if (state == STATE_WARNING || state == STATE_ERROR)
        return true;
    record = get_record();
    return record != NULL && threshold_record_has(record, series);
}

static void end_alarm(const value_list_t *series)
{
    const data_set_t *set = plugin_get_ds(series->type);

    if (set != NULL && has_alarm(series, set))
        notify_end(series, set);
}

static int handle_missing(const value_list_t *series, __attribute__((unused)) user_data_t *data)
{
    if (strcmp(series->plugin, own.plugin) == 0)
        end_alarm(series);
    return 0;
}

static int note(const notification_t *notice, __attribute__((unused)) user_data_t *data)
{
    struct threshold_record *record = NULL;

    if (strcmp(notice->plugin, own.plugin) == 0 && threshold_record_concerns(notice))
        record = get_record();
    if (record != NULL)
        threshold_record_note(record, notice);
    return 0;
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

/* Shares and rates have a value from the second read on, and that has to get to the cache. */
void missing_check(cdtime_t longest)
{
    struct threshold_record *record = get_record();
    value_list_t series;

    if (record == NULL || cdtime() < own.begun + 3 * plugin_get_interval() + longest)
        return;
    while (threshold_record_take_left(record, &series)) {
        if (strcmp(series.host, hostname_g) != 0)
            continue; /* its interval isn't known */
        series.time = own.begun;
        series.interval = plugin_get_interval() + longest;
        if (!is_cached(&series))
            end_alarm(&series);
    }
}

void missing_close(void)
{
    threshold_record_close(own.record);
    own.record = NULL;
}

void missing_end_alarms(const char *plugin)
{
    const user_data_t data = {.data = NULL};

    own.plugin = plugin;
    plugin_register_missing(plugin, handle_missing, &data);
    plugin_register_notification(plugin, note, &data);
}
