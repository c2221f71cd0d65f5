/* SPDX-License-Identifier: MIT */
#include "common/missing.h"

#include "collectd.h"

#include "plugin.h"

#include "common/absence.h"
#include "common/message.h"
#include "utils_cache.h"

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
        snprintf(reason, size, "no value has come for %.0f s",
                 CDTIME_T_TO_DOUBLE(now - series->time));
        break;
    }
}

static void notify_end(const value_list_t *series, const data_set_t *set)
{
    notification_t notice;
    char reason[64];
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
