/* SPDX-License-Identifier: MIT */
/*
 * Source: collectd's threshold.c, ut_report_state():
 *
 *     Host h, plugin psi (instance a) type percent (instance cpu-full): Data source "value" is
 *     currently 54.498408. That is above the warning threshold of 40.000000.
 *     Host h, plugin …: All data sources are within range again. Current value of "value" is 3.
 *
 * It is cut at 255 bytes, so that a long instance leaves no limit, or no value,
 *
 * and the words of headroom-mail, describe_threshold(), describe_wait(), describe_trigger() and
 * describe_unwatched().
 */
#include "top/alert_text.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/short_name.h"
#include "headroom/quantity.h"
#include "top/alarms.h"
#include "top/trigger_text.h"

enum { VALUE_SIZE = 64, SERIES_SIZE = 512, MESSAGE_LENGTH_MAX = 255 };

enum unit { PERCENT, PER_10000, BYTES, TIME, NOISE, NUMBER };

/* What tasks wait for, some of them or all. */
static const struct {
    const char *series; /* PLUGIN/TYPE/TYPE_INSTANCE, with wildcards of fnmatch(3) */
    const char *what;
} waits[] = {
    {"psi/percent/cpu-[sf]*", "a CPU"},
    {"psi/percent/memory-[sf]*", "memory"},
    {"psi/percent/io-[sf]*", "disks"},
    {"psi/percent/irq-full", "interrupts"},
};

/* "@" is the place, "~" the source of noise, "#" the value. The first that matches counts. */
static const struct wording {
    const char *series; /* as above */
    const char *text;
    enum unit unit;
} wordings[] = {
    {"cgroup_perf/ipc/", "@ runs # instructions per cycle", NUMBER},
    {"wss/memory/referenced*", "@ touches # of memory", BYTES},
    {"wss/memory/*", "@ holds # of memory", BYTES},
    {"osnoise/percent/available", "programs get # of @", PERCENT},
    {"osnoise/duration/max_single", "a single noise takes @ for #", NOISE},
    {"osnoise/duration/max_latency_thread", "a thread that a timer wakes on @ is late by #", NOISE},
    {"osnoise/duration/max_latency_irq", "a timer on @ is late by #", NOISE},
    {"osnoise/derive/*_us", "~ takes # of @", PER_10000},
    {"headroom/percent/room-cpu", "@ has # of room left by CPU", PERCENT},
    {"headroom/percent/room-memory", "@ has # of room left by memory", PERCENT},
    {"headroom/percent/room-memory-most", "@ has at most # of room left by memory", PERCENT},
    {"headroom/percent/room-io", "@ has # of room left by I/O", PERCENT},
    {"headroom/percent/room", "@ has # of room left", PERCENT},
    {"headroom/duration/to_trouble", "@ runs out of memory in #", TIME},
    {"*/percent/*", "@: ~ is #", PERCENT},
    {"*/memory/*", "@: ~ is #", BYTES},
    {"*", "@: ~ is #", NUMBER},
};

/* What a value of room says to people where its number doesn't, or at its end. */
static const struct {
    const char *series;
    double least, most;
    bool is_end;
    const char *text;
} special_wordings[] = {
    {"headroom/percent/room-cpu", 0, 0, false, "@ has no room left by CPU"},
    {"headroom/percent/room-memory*", 0, 0, false, "@ has no room left by memory"},
    {"headroom/percent/room-io", 0, 0, false, "@ has no room left by I/O"},
    {"headroom/percent/room", 0, 0, false, "@ has no room left"},
    {"headroom/duration/to_trouble", 0, 0, false, "@ has no room left"},
    {"headroom/duration/to_trouble", 0, 86398, true, "@ has memory for # now"},
    {"headroom/duration/to_trouble", 86399, INFINITY, true, "@ is out of trouble"},
};

bool alert_is_by_threshold(const struct alert *alert)
{
    return strncmp(alert->message, "Host ", strlen("Host ")) == 0 &&
           strstr(alert->message, ", plugin ") != NULL;
}

static bool is_cut(const char *message)
{
    return strlen(message) >= MESSAGE_LENGTH_MAX;
}

/* Finds the number behind a text. Returns whether there is one, no part of its
 * integer. */
static bool find_number(const char *message, const char *before, double *number)
{
    const char *at = strstr(message, before);
    char *end;
    if (at == NULL)
        return false;
    at += strlen(before);
    *number = strtod(at, &end);
    return end != at && (*end != '\0' || !is_cut(message) || memchr(at, '.', (size_t)(end - at)));
}

/* As headroom-mail has it: two digits, or all before the point. */
static void write_number(double value, const char *unit, char text[VALUE_SIZE])
{
    const double size = fabs(value);
    const char *format = size >= 9.95 || value == trunc(value) ? "%.0f%s"
                         : size >= 0.995                       ? "%.1f%s"
                                                               : "%.2g%s";

    snprintf(text, VALUE_SIZE, format, value, unit);
}

static void write_noise(double seconds, char text[VALUE_SIZE])
{
    if (seconds < 999.5e-6)
        write_number(seconds * 1e6, " us", text);
    else if (seconds < 999.5e-3)
        write_number(seconds * 1e3, " ms", text);
    else
        write_number(seconds, " s", text);
}

static void write_value(enum unit unit, double value, char text[VALUE_SIZE])
{
    switch (unit) {
    case PERCENT:
        write_number(value, " %", text);
        break;
    case PER_10000:
        write_number(value / 10000, " %", text);
        break;
    case BYTES:
        snprintf(text, VALUE_SIZE, "%s", hr_quantity_short_bytes(value).text);
        break;
    case TIME:
        snprintf(text, VALUE_SIZE, "%s", hr_quantity_seconds(value).text);
        break;
    case NOISE:
        write_noise(value, text);
        break;
    case NUMBER:
        write_number(value, "", text);
        break;
    }
}

static const struct wording *find_wording(const char *series)
{
    size_t i = 0;

    while (fnmatch(wordings[i].series, series, 0) != 0)
        i++;
    return &wordings[i];
}

static const char *find_special(const char *series, double value, bool is_end)
{
    for (size_t i = 0; i < sizeof(special_wordings) / sizeof(special_wordings[0]); i++)
        if (special_wordings[i].is_end == is_end && value >= special_wordings[i].least &&
            value <= special_wordings[i].most &&
            fnmatch(special_wordings[i].series, series, 0) == 0)
            return special_wordings[i].text;
    return NULL;
}

static void write_place(FILE *out, const struct alert *alert)
{
    char name[SHORT_NAME_SIZE];

    if (alert->place[0] != '\0')
        strcpy(name, alert->place);
    else
        short_name(alert->instance, NULL, name);
    if (strcmp(alert->instance, "system") == 0)
        fputs("the machine", out);
    else if (strcmp(alert->plugin, "osnoise") == 0 && strncmp(alert->instance, "cpu", 3) == 0)
        fprintf(out, "CPU %s", alert->instance + 3);
    else
        fputs(name, out);
}

/* "irq_local_timer" of "irq_local_timer_us" */
static void write_source(FILE *out, const struct alert *alert)
{
    const char *name = alert->type_instance[0] != '\0' ? alert->type_instance : alert->type;
    const size_t length = strlen(name);
    const bool has_unit = length > 3 && strcmp(name + length - 3, "_us") == 0;

    fprintf(out, "%.*s", (int)(has_unit ? length - 3 : length), name);
}

static void write_words(FILE *out, const char *words, const struct alert *alert, const char *value)
{
    for (; *words != '\0'; words++)
        if (*words == '@')
            write_place(out, alert);
        else if (*words == '~')
            write_source(out, alert);
        else if (*words == '#')
            fputs(value, out);
        else
            putc(*words, out);
}

static const char *find_wait(const char *series)
{
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        if (fnmatch(waits[i].series, series, 0) == 0)
            return waits[i].what;
    return NULL;
}

/* "all of mysql.service" */
static void write_waiter(FILE *out, const struct alert *alert, const char *what, bool is_full,
                         bool is_end)
{
    if (is_full && strcmp(what, "interrupts") != 0)
        fputs("all of ", out);
    else if (!is_full && !is_end && strcmp(alert->instance, "system") == 0)
        fputs("some task in ", out); /* CPUs may be idle meanwhile */
    write_place(out, alert);
}

/* "all of mysql.service waits for a CPU 54 % of the time". @param pct  NaN: not known */
static void write_wait(FILE *out, const struct alert *alert, const char *what, double pct,
                       bool is_end)
{
    char text[VALUE_SIZE];

    write_waiter(out, alert, what, strstr(alert->type_instance, "-full") != NULL, is_end);
    if (isnan(pct)) {
        fprintf(out, " %s for %s", is_end ? "waits less" : "waits", what);
        return;
    }
    write_value(PERCENT, pct, text);
    if (!is_end)
        fprintf(out, " waits for %s %s of the time", what, text);
    else
        fprintf(out, " %s for %s: %s of the time now", pct <= 1 ? "no longer waits" : "waits less",
                what, text);
}

static void write_series(const struct alert *alert, char series[SERIES_SIZE])
{
    snprintf(series, SERIES_SIZE, "%s/%s/%s", alert->plugin, alert->type, alert->type_instance);
}

/* @return whether that is all to say */
static bool write_state(FILE *out, const struct alert *alert, double value, bool is_end)
{
    char series[SERIES_SIZE], text[VALUE_SIZE];

    write_series(alert, series);
    const char *what = find_wait(series);
    if (what != NULL) {
        write_wait(out, alert, what, value, is_end);
        return is_end;
    }
    const struct wording *wording = find_wording(series);
    const char *special = find_special(series, value, is_end);
    write_value(wording->unit, value, text);
    write_words(out, special != NULL ? special : wording->text, alert, text);
    return special != NULL;
}

static void write_limit(FILE *out, const struct alert *alert, double limit)
{
    char series[SERIES_SIZE], text[VALUE_SIZE];

    write_series(alert, series);
    write_value(find_wording(series)->unit, limit, text);
    fprintf(out, "; the limit is %s", text);
}

/* Of a message that is cut before its value. */
static void write_without_value(FILE *out, const struct alert *alert)
{
    const bool is_end = alert->severity == ALERT_OKAY;
    char series[SERIES_SIZE];

    write_series(alert, series);
    const char *what = find_wait(series);
    if (what != NULL) {
        write_wait(out, alert, what, NAN, is_end);
        return;
    }
    write_words(out, "@: ~ is ", alert, "");
    fputs(is_end ? "within its limits again" : "beyond its limit", out);
}

static void write_threshold(FILE *out, const struct alert *alert)
{
    const char *message = alert->message, *rest = strstr(message, "): ");
    const char *again = strstr(message, "within range again. Current value of \"");
    double value, limit;

    if (find_number(message, "\" is currently ", &value)) {
        if (!write_state(out, alert, value, false) &&
            find_number(message, " threshold of ", &limit))
            write_limit(out, alert, limit);
    } else if (again != NULL && find_number(again, "\" is ", &value)) {
        if (!write_state(out, alert, value, true))
            fputs(" now", out);
    } else if (is_cut(message)) {
        write_without_value(out, alert);
    } else {
        write_place(out, alert);
        fputs(": ", out);
        write_source(out, alert);
        fprintf(out, ": %s", rest != NULL ? rest + strlen("): ") : message);
    }
}

static void write_piece(FILE *out, const char *before, const struct piece *piece)
{
    if (piece->length > 0)
        fprintf(out, "%s%.*s", before, (int)piece->length, piece->start);
}

static const char *find_wait_of(const struct trigger_text *trigger)
{
    char series[SERIES_SIZE];

    snprintf(series, sizeof(series), "psi/percent/%s-full", trigger->resource);
    return find_wait(series);
}

/* "all of h waits for a CPU, taken by b 82 ms; 51 % of the time: neighbours (914 ms); waiting: ..."
 */
static void write_trigger(FILE *out, const struct alert *alert, const struct trigger_text *trigger)
{
    const char *what = find_wait_of(trigger);
    char text[VALUE_SIZE];

    write_waiter(out, alert, what, trigger->is_full, false);
    fprintf(out, " waits for %s", what);
    write_piece(out, ", taken by ", &trigger->takers);
    write_value(PERCENT, trigger->pct, text);
    fprintf(out, "%s %s%s of the time", trigger->takers.length > 0 ? ";" : "",
            trigger->at_least ? "at least " : "", text);
    if (trigger->within_s > 0) {
        write_noise(trigger->within_s, text);
        fprintf(out, " within %s", text);
    }
    write_piece(out, "", &trigger->duration);
    write_piece(out, ": ", &trigger->cause);
    write_piece(out, "", &trigger->rest);
}

static bool is_trigger(const struct alert *alert, struct trigger_text *trigger)
{
    return strcmp(alert->plugin, "psi") == 0 &&
           trigger_text_parse(alert->message, alert->instance, trigger);
}

/* "all of h waits for a CPU less than 15 % of the time now" */
static void write_trigger_end(FILE *out, const struct alert *alert,
                              const struct trigger_text *trigger)
{
    const char *what = find_wait_of(trigger);
    char text[VALUE_SIZE];

    if (trigger->cause.length > 0) {
        write_place(out, alert);
        write_piece(out, " is no longer watched: ", &trigger->cause);
        return;
    }
    write_value(PERCENT, trigger->pct, text);
    write_waiter(out, alert, what, trigger->is_full, true);
    fprintf(out, " waits for %s less than %s of the time now", what, text);
}

static bool is_trigger_end(const struct alert *alert, struct trigger_text *trigger)
{
    return strcmp(alert->plugin, "psi") == 0 &&
           trigger_end_parse(alert->message, alert->instance, trigger);
}

static bool is_of_group(const struct alert *alert)
{
    return strcmp(alert->plugin, "osnoise") != 0 && strcmp(alert->instance, "system") != 0;
}

/* Of the end of a threshold's alarm whose value doesn't come any more: "cpu-full: no longer
 * watched: no value has come for 21 s". @return NULL: it is none. */
static const char *find_unwatched(const struct alert *alert)
{
    static const char words[] = ": no longer watched: ";
    const size_t length = strlen(alert->type_instance);

    if (strncmp(alert->message, alert->type_instance, length) != 0 ||
        strncmp(alert->message + length, words, strlen(words)) != 0)
        return NULL;
    return alert->message + length + strlen(words);
}

bool alert_lacks_group(const struct alert *alert)
{
    static const char words[] = "no value has come ";
    const char *reason = find_unwatched(alert);

    return reason != NULL && strncmp(reason, words, strlen(words)) == 0 && is_of_group(alert);
}

/* As headroom-mail's find_absence(). */
static const char *const absences[] = {
    [GROUP_UNKNOWN] = ", it may be gone",
    [GROUP_GONE] = ", as its cgroup is gone",
    [GROUP_EMPTY] = ", as no process is left in it",
    [GROUP_THERE] = ", though its cgroup is there",
};

const char *alert_state(const struct alert *alert)
{
    if (alert->is_over)
        return "over: ";
    if (alert->is_replaced)
        return "earlier: ";
    return alert->is_old ? "a day old: " : "";
}

void alert_text(const struct alert *alert, bool with_host, char text[ALERT_TEXT_SIZE])
{
    FILE *out = fmemopen(text, ALERT_TEXT_SIZE, "w");
    struct trigger_text trigger;

    text[0] = text[ALERT_TEXT_SIZE - 1] = '\0';
    if (out == NULL)
        return;
    if (with_host && alert->host[0] != '\0')
        fprintf(out, "%s: ", alert->host);
    if (alert->is_unwatched)
        fputs("no longer watched, as collectd has no value of it: ", out);
    else if (alert->takes)
        fputs(alarm_waits_for_cpu(alert) ? "it takes the CPU, and waits, too: "
                                         : "it takes the CPU: ",
              out);
    else if (alert->is_wider)
        fputs("of the same cause: ", out);
    const char *reason = find_unwatched(alert);
    if (reason != NULL) {
        write_place(out, alert);
        fprintf(out, " is no longer watched: %s%s", reason,
                alert_lacks_group(alert) ? absences[alert->group] : "");
    } else if (alert_is_by_threshold(alert)) {
        write_threshold(out, alert);
    } else if (is_trigger(alert, &trigger)) {
        write_trigger(out, alert, &trigger);
    } else if (is_trigger_end(alert, &trigger)) {
        write_trigger_end(out, alert, &trigger);
    } else {
        fputs(alert->message[0] != '\0' ? alert->message : "-", out);
    }
    fclose(out);
    text[ALERT_TEXT_SIZE - 1] = '\0';
}
