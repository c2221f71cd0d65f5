/* SPDX-License-Identifier: MIT */
/*
 * Source: collectd's threshold.c, ut_report_state():
 *
 *     Host h, plugin psi (instance a) type percent (instance cpu-full): Data source "value" is
 *     currently 54.498408. That is above the warning threshold of 40.000000.
 *     Host h, plugin …: All data sources are within range again. Current value of "value" is 3.
 */
#include "top/alert_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/quantity.h"

enum { VALUE_SIZE = 64 };

bool alert_is_by_threshold(const struct alert *alert)
{
    return strncmp(alert->message, "Host ", strlen("Host ")) == 0 &&
           strstr(alert->message, ", plugin ") != NULL;
}

/* Finds the number behind a text. Returns whether there is one. */
static bool find_number(const char *message, const char *before, double *number)
{
    const char *at = strstr(message, before);
    char *end;
    if (at == NULL)
        return false;
    at += strlen(before);
    *number = strtod(at, &end);
    return end != at;
}

static void write_value(const struct alert *alert, double value, char text[VALUE_SIZE])
{
    if (strcmp(alert->type, "percent") == 0)
        snprintf(text, VALUE_SIZE, "%.3g %%", value);
    else if (strcmp(alert->type, "memory") == 0)
        snprintf(text, VALUE_SIZE, "%s", hr_quantity_short_bytes(value).text);
    else if (strcmp(alert->type, "duration") == 0)
        snprintf(text, VALUE_SIZE, "%s", hr_quantity_seconds(value).text);
    else
        snprintf(text, VALUE_SIZE, "%.4g", value);
}

/* "mysql.service: cpu full" */
static int write_series(const struct alert *alert, char *text, size_t size)
{
    const char *what = alert->type_instance[0] != '\0' ? alert->type_instance : alert->type;
    int length = snprintf(text, size, "%s: ", alert->instance);
    int end = length + snprintf(text + length, size - (size_t)length, "%s", what);
    for (int i = length; i < end; i++)
        text[i] = text[i] == '-' ? ' ' : text[i];
    return end;
}

static void write_threshold(const struct alert *alert, char *text, size_t size)
{
    const char *message = alert->message, *rest = strstr(message, "): ");
    char found[VALUE_SIZE], limit[VALUE_SIZE];
    double value, bound;
    int used = write_series(alert, text, size);
    text += used;
    size -= (size_t)used;
    if (find_number(message, "\" is currently ", &value) &&
        find_number(message, " threshold of ", &bound)) {
        write_value(alert, value, found);
        write_value(alert, bound, limit);
        snprintf(text, size, " %s, the limit is %s", found, limit);
    } else if (find_number(message, "within range again. Current value of \"value\" is ", &value)) {
        write_value(alert, value, found);
        snprintf(text, size, " %s, within its limits again", found);
    } else {
        snprintf(text, size, ": %s", rest != NULL ? rest + strlen("): ") : message);
    }
}

void alert_text(const struct alert *alert, bool with_host, char text[ALERT_TEXT_SIZE])
{
    bool host = with_host && alert->host[0] != '\0';
    int used = snprintf(text, ALERT_TEXT_SIZE, "%s%s", host ? alert->host : "", host ? ": " : "");
    if (alert_is_by_threshold(alert))
        write_threshold(alert, text + used, ALERT_TEXT_SIZE - (size_t)used);
    else
        snprintf(text + used, ALERT_TEXT_SIZE - (size_t)used, "%s",
                 alert->message[0] != '\0' ? alert->message : "-");
}
