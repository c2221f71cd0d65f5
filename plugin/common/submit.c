/* SPDX-License-Identifier: MIT */
#include "common/submit.h"

#include <math.h>

#include "utils/common/common.h"

/* Of this plugin, as each has this file's code by itself. */
static _Atomic cdtime_t newest;

/* Two threads at once may leave the earlier time: they are a moment apart. */
static void note_time(cdtime_t time)
{
    if (time > newest)
        newest = time;
}

cdtime_t submit_newest(void)
{
    return newest;
}

static void dispatch_value(const struct submission *submission, const char *type,
                           const char *type_instance, value_t value)
{
    value_list_t list = VALUE_LIST_INIT;

    list.values = &value;
    list.values_len = 1;
    list.time = submission->time;
    list.interval = submission->interval;
    sstrncpy(list.plugin, submission->plugin, sizeof(list.plugin));
    sstrncpy(list.plugin_instance, submission->instance, sizeof(list.plugin_instance));
    sstrncpy(list.type, type, sizeof(list.type));
    sstrncpy(list.type_instance, type_instance, sizeof(list.type_instance));
    note_time(submission->time);
    plugin_dispatch_values(&list);
}

void submit_gauge(const struct submission *submission, const char *type, const char *type_instance,
                  double value)
{
    if (!isnan(value))
        dispatch_value(submission, type, type_instance, (value_t){.gauge = value});
}

void submit_derive(const struct submission *submission, const char *type, const char *type_instance,
                   int64_t value)
{
    dispatch_value(submission, type, type_instance, (value_t){.derive = value});
}
