/* SPDX-License-Identifier: MIT */
#include "common/missing.h"

#include "collectd.h"

#include "plugin.h"

#include "common/absence.h"
#include "common/message.h"
#include "common/submit.h"
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

static int end_alarm(const value_list_t *series, user_data_t *plugin)
{
    if (strcmp(series->plugin, plugin->data) != 0)
        return 0;
    const data_set_t *set = plugin_get_ds(series->type);
    int state = set != NULL ? uc_get_state(set, series) : STATE_UNKNOWN;
    if (state == STATE_WARNING || state == STATE_ERROR)
        notify_end(series, set);
    return 0;
}

void missing_end_alarms(const char *plugin)
{
    const user_data_t data = {.data = (void *)(uintptr_t)plugin};

    plugin_register_missing(plugin, end_alarm, &data);
}
