/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_alert_lines.c - notifications in collectd's log files: what a line says, and
 * how it is shown.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/alert_log.h"
#include "common/short_name.h"
#include "support/suite.h"
#include "top/alert_text.h"
#include "top/alerts.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define NOISE                                                                                      \
    ", host = h, plugin = osnoise, plugin_instance = cpu3, type = duration, type_instance = "      \
    "max_single, message = "
#define LONG_NOISE                                                                                 \
    "noise of 2013 us on CPU 3, above 50 us: thread spinner[812] 2001 us, irq local_timer[236] 9 " \
    "us; 3 us unexplained"
#define NO_NOISE "no noise above 50 us on CPU 3 for 60 s; 12 were above, the longest 2013 us"

static const struct {
    const char *line, *time;
    enum alert_severity severity;
    const char *host, *instance, *type_instance, *message;
} good_lines[] = {
    /* what the logfile plugin can be set to */
    {"[2026-11-21 02:31:12] " NOTIFICATION "WARNING" TRIGGER "memory some: stalled",
     "2026-11-21 02:31:12", ALERT_WARNING, "h", "system", "trigger_x", "memory some: stalled"},
    {"[2026-11-21 02:31:12] [info] " NOTIFICATION "OKAY" TRIGGER "m", "2026-11-21 02:31:12",
     ALERT_OKAY, "h", "system", "trigger_x", "m"},
    {"[info] " NOTIFICATION "FAILURE" TRIGGER "m", "", ALERT_FAILURE, "h", "system", "trigger_x",
     "m"},
    {NOTIFICATION "WARNING" TRIGGER "m", "", ALERT_WARNING, "h", "system", "trigger_x", "m"},
    /* an alert of osnoise, and its end */
    {"[2026-11-21 02:31:12] " NOTIFICATION "WARNING" NOISE LONG_NOISE, "2026-11-21 02:31:12",
     ALERT_WARNING, "h", "cpu3", "max_single", LONG_NOISE},
    {NOTIFICATION "OKAY" NOISE NO_NOISE, "", ALERT_OKAY, "h", "cpu3", "max_single", NO_NOISE},
    /* what is missing */
    {NOTIFICATION "OKAY, plugin = psi", "", ALERT_OKAY, "", "", "", ""},
    {NOTIFICATION "OKAY, plugin = psi, message = m", "", ALERT_OKAY, "", "", "", "m"},
    {NOTIFICATION "OKAY, plugin = psi, type_instance = t", "", ALERT_OKAY, "", "", "t", ""},
    {NOTIFICATION "OKAY, plugin = psi, plugin_instance = a, message = m", "", ALERT_OKAY, "", "a",
     "", "m"},
    {NOTIFICATION "OKAY, plugin = psi, message = ", "", ALERT_OKAY, "", "", "", ""},
    /* texts can hold what separates them */
    {NOTIFICATION "OKAY" TRIGGER "a, b = c, type = d, message = e", "", ALERT_OKAY, "h", "system",
     "trigger_x", "a, b = c, type = d, message = e"},
    {NOTIFICATION "OKAY, plugin = psi, plugin_instance = a, b, host = c, type = t, message = m", "",
     ALERT_OKAY, "", "a, b, host = c", "", "m"},
    {NOTIFICATION "OKAY" TRIGGER NOTIFICATION "x", "", ALERT_OKAY, "h", "system", "trigger_x",
     NOTIFICATION "x"},
    /* and any bytes */
    {NOTIFICATION "OKAY" TRIGGER "a\033[31m\r\t\xff\xc3", "", ALERT_OKAY, "h", "system",
     "trigger_x", "a\033[31m\r\t\xff\xc3"},
    {NOTIFICATION "OKAY" TRIGGER "\xe6\x97\xa5 ", "", ALERT_OKAY, "h", "system", "trigger_x",
     "\xe6\x97\xa5 "},
};

START_TEST(parses_line)
{
    struct alert alert;
    memset(&alert, 'x', sizeof(alert));
    const char *line = good_lines[_i].line;
    ck_assert_int_eq(alert_parse(line, strlen(line), &alert), 0);
    ck_assert_str_eq(alert.time, good_lines[_i].time);
    ck_assert_int_eq(alert.severity, good_lines[_i].severity);
    ck_assert_str_eq(alert.host, good_lines[_i].host);
    ck_assert_str_eq(alert.instance, good_lines[_i].instance);
    ck_assert_str_eq(alert.type_instance, good_lines[_i].type_instance);
    ck_assert_str_eq(alert.message, good_lines[_i].message);
}
END_TEST

static const struct {
    const char *line;
    int error;
} other_lines[] = {
    /* other plugins */
    {NOTIFICATION "OKAY, host = h, plugin = cpu, message = m", -ENOENT},
    {NOTIFICATION "OKAY, host = h, plugin = psix, message = m", -ENOENT},
    {NOTIFICATION "OKAY, host = h, plugin = ps, message = m", -ENOENT},
    {NOTIFICATION "OKAY, message = plugin = psi", -ENOENT},
    {NOTIFICATION "OKAY, message = a, plugin = psi", -ENOENT},
    {NOTIFICATION "OKAY", -ENOENT},
    /* other lines */
    {"", -EBADMSG},
    {"[", -EBADMSG},
    {"[2026-11-21 02:31:12] ", -EBADMSG},
    {"[2026-11-21 02:31:12] [info] Initialization complete, entering read-loop.", -EBADMSG},
    {"psi: " NOTIFICATION "OKAY" TRIGGER "m", -EBADMSG},
    {" " NOTIFICATION "OKAY" TRIGGER "m", -EBADMSG},
    /* not as it should be */
    {"[2026-11-21T02:31:12] " NOTIFICATION "OKAY" TRIGGER "m", -EBADMSG},
    {"[2026-11-21 02:31:1x] " NOTIFICATION "OKAY" TRIGGER "m", -EBADMSG},
    {"[info]  " NOTIFICATION "OKAY" TRIGGER "m", -EBADMSG},
    {"[info] [2026-11-21 02:31:12] " NOTIFICATION "OKAY" TRIGGER "m", -EBADMSG},
    {NOTIFICATION "UNKNOWN" TRIGGER "m", -EBADMSG},
    {NOTIFICATION "WARNINGS" TRIGGER "m", -EBADMSG},
    {NOTIFICATION "warning" TRIGGER "m", -EBADMSG},
    {NOTIFICATION "OKAY, plugin = psi, ", -ENOENT},
    {NOTIFICATION "OKAY, severity = OKAY, plugin = psi", -EBADMSG},
    {NOTIFICATION "OKAY ", -EBADMSG},
};

START_TEST(passes_over_line)
{
    struct alert alert, before;
    memset(&alert, 'x', sizeof(alert));
    before = alert;
    const char *line = other_lines[_i].line;
    ck_assert_int_eq(alert_parse(line, strlen(line), &alert), other_lines[_i].error);
    ck_assert_mem_eq(&alert, &before, sizeof(alert));
}
END_TEST

/* Each beginning of a line, in memory that ends there: none is read past its end. */
START_TEST(parses_beginnings)
{
    const char *line = "[2026-11-21 02:31:12] [info] " NOTIFICATION "WARNING" TRIGGER "m";
    const char *plugin = strstr(line, "psi") + strlen("psi");
    const char *instance = plugin + strlen(", plugin_instance = ");
    const size_t length = strlen(line);
    for (size_t cut = 0; cut <= length; cut++) {
        struct alert alert;
        char *copy = malloc(cut > 0 ? cut : 1);
        memcpy(copy, line, cut);
        int status = alert_parse(copy, cut, &alert);
        free(copy);
        bool whole = line + cut == plugin || line + cut >= instance;
        ck_assert_msg((status == 0) == whole, "%zu bytes: %d", cut, status);
    }
}
END_TEST

START_TEST(takes_no_zero_byte)
{
    static const char line[] = NOTIFICATION "OKAY" TRIGGER "a\0b";
    struct alert alert;
    ck_assert_int_eq(alert_parse(line, sizeof(line) - 1, &alert), -EBADMSG);
}
END_TEST

START_TEST(cuts_long_texts)
{
    char line[4096], host[1025];
    struct alert alert;
    memset(host, 'a', sizeof(host) - 1);
    host[sizeof(host) - 1] = '\0';
    int length = snprintf(line, sizeof(line),
                          NOTIFICATION "OKAY, host = %s, plugin = psi, "
                                       "plugin_instance = %s, message = %s",
                          host, host, host);
    ck_assert_int_eq(alert_parse(line, (size_t)length, &alert), 0);
    ck_assert_uint_eq(strlen(alert.host), sizeof(alert.host) - 1);
    ck_assert_uint_eq(strlen(alert.instance), sizeof(alert.instance) - 1);
    ck_assert_uint_eq(strlen(alert.message), sizeof(alert.message) - 1);
    ck_assert_str_eq(alert.type_instance, "");
}
END_TEST

START_TEST(words_an_alert)
{
    struct alert alert = {.time = "2026-11-21 02:31:12", .host = "h", .message = "m"};
    char text[ALERT_TEXT_SIZE];
    ck_assert_str_eq(alert_clock(&alert), "02:31:12");
    alert_text(&alert, false, text);
    ck_assert_str_eq(text, "m");
    alert_text(&alert, true, text);
    ck_assert_str_eq(text, "h: m");
    alert = (struct alert){.severity = ALERT_OKAY};
    ck_assert_str_eq(alert_clock(&alert), "-");
    alert_text(&alert, true, text);
    ck_assert_str_eq(text, "-");
    ck_assert_str_eq(alert_word(ALERT_FAILURE), "FAILURE");
}
END_TEST

#define PSI(text)                                                                                  \
    "Host h, plugin psi (instance hour.slice_web) type percent (instance cpu-full): " text

#define CURRENTLY(source, value, which, limit)                                                     \
    "Host h, plugin a (instance b) type c: Data source \"" source "\" is currently " value         \
    ". That is " which " threshold of " limit "."
#define AGAIN_AT(source, value)                                                                    \
    "Host h, plugin a (instance b) type c (instance d): All data sources are within range again. " \
    "Current value of \"" source "\" is " value "."

/* In headroom-mail's words. */
static const struct {
    const char *plugin, *type, *type_instance, *message, *text;
} threshold_texts[] = {
    {"psi", "percent", "cpu-full",
     CURRENTLY("value", "54.498408", "above the warning", "40.000000"),
     "all of hour.slice_web waits for a CPU 54 % of the time; the limit is 40 %"},
    {"psi", "percent", "memory-some",
     CURRENTLY("value", "5.250000", "above the warning", "5.000000"),
     "hour.slice_web waits for memory 5.2 % of the time; the limit is 5 %"},
    {"psi", "percent", "io-full", CURRENTLY("value", "61.000000", "above the failure", "60.000000"),
     "all of hour.slice_web waits for disks 61 % of the time; the limit is 60 %"},
    {"psi", "percent", "cpu-full", AGAIN_AT("value", "3.250000"),
     "all of hour.slice_web waits less for a CPU: 3.2 % of the time now"},
    {"psi", "percent", "cpu-some", AGAIN_AT("value", "0.460000"),
     "hour.slice_web no longer waits for a CPU: 0.46 % of the time now"},
    {"wss", "memory", "referenced",
     CURRENTLY("value", "268435456.000000", "above the failure", "134217728.000000"),
     "hour.slice_web touches 256M of memory; the limit is 128M"},
    {"headroom", "percent", "room", CURRENTLY("value", "0.000000", "below the warning", "5.000000"),
     "hour.slice_web has no room left"},
    {"headroom", "percent", "room", CURRENTLY("value", "3.400000", "below the warning", "5.000000"),
     "hour.slice_web has 3.4 % of room left; the limit is 5 %"},
    {"headroom", "percent", "room-cpu",
     CURRENTLY("value", "0.000000", "below the warning", "5.000000"),
     "hour.slice_web has no room left by CPU"},
    {"headroom", "percent", "room-memory",
     CURRENTLY("value", "3.400000", "below the warning", "5.000000"),
     "hour.slice_web has 3.4 % of room left by memory; the limit is 5 %"},
    {"headroom", "percent", "room-memory-most",
     CURRENTLY("value", "3.400000", "below the warning", "5.000000"),
     "hour.slice_web has at most 3.4 % of room left by memory; the limit is 5 %"},
    {"headroom", "percent", "room-memory-most",
     CURRENTLY("value", "0.000000", "below the warning", "5.000000"),
     "hour.slice_web has no room left by memory"},
    {"headroom", "percent", "room-io", AGAIN_AT("value", "35.700000"),
     "hour.slice_web has 36 % of room left by I/O now"},
    {"headroom", "percent", "room", AGAIN_AT("value", "35.700000"),
     "hour.slice_web has 36 % of room left now"},
    {"headroom", "duration", "to_trouble",
     CURRENTLY("seconds", "2520.000000", "below the warning", "3600.000000"),
     "hour.slice_web runs out of memory in 42 min; the limit is 60 min"},
    {"headroom", "duration", "to_trouble",
     CURRENTLY("seconds", "0.000000", "below the failure", "600.000000"),
     "hour.slice_web has no room left"},
    {"headroom", "duration", "to_trouble", AGAIN_AT("seconds", "86400.000000"),
     "hour.slice_web is out of trouble"},
    {"headroom", "duration", "to_trouble", AGAIN_AT("seconds", "7260.000000"),
     "hour.slice_web has memory for 2.0 h now"},
    {"cgroup_perf", "ipc", "", CURRENTLY("value", "0.312345", "below the warning", "0.500000"),
     "hour.slice_web runs 0.31 instructions per cycle; the limit is 0.5"},
    {"cgroup_perf", "derive", "x", CURRENTLY("value", "7.5", "above the warning", "7"),
     "hour.slice_web: x is 7.5; the limit is 7"},
    {"psi", "percent", "cpu-full", PSI("Value is no longer there."),
     "hour.slice_web: cpu-full: Value is no longer there."},
    {"psi", "percent", "cpu-full", "cpu-full: no longer watched: no value has come for 21 s",
     "hour.slice_web is no longer watched: no value has come for 21 s, it may be gone"},
    {"psi", "percent", "cpu-full", "cpu-full: no longer watched: it was removed",
     "hour.slice_web is no longer watched: it was removed"},
    {"psi", "percent", "cpu-idle", CURRENTLY("value", "3", "below the warning", "5"),
     "hour.slice_web: cpu-idle is 3 %; the limit is 5 %"},
    /* not a threshold's */
    {"psi", "derive", "trigger_x", "cpu some: stalled 1 s", "cpu some: stalled 1 s"},
    {"osnoise", "duration", "max_single", LONG_NOISE, LONG_NOISE},
    {"osnoise", "duration", "max_single", NO_NOISE, NO_NOISE},
};

START_TEST(puts_a_threshold_in_words)
{
    struct alert alert = {.host = "h", .instance = "hour.slice_web"};
    char text[ALERT_TEXT_SIZE], line[600];
    strcpy(alert.plugin, threshold_texts[_i].plugin);
    strcpy(alert.type, threshold_texts[_i].type);
    strcpy(alert.type_instance, threshold_texts[_i].type_instance);
    strcpy(alert.message, threshold_texts[_i].message);
    alert_text(&alert, false, text);
    ck_assert_str_eq(text, threshold_texts[_i].text);
    alert_text(&alert, true, text);
    snprintf(line, sizeof(line), "h: %s", threshold_texts[_i].text);
    ck_assert_str_eq(text, line);
}
END_TEST

static const struct {
    const char *instance, *message, *text;
} trigger_texts[] = {
    {"c_h",
     "cpu full: stalled 1067 ms in 2.1 s (limit 150 ms in 1 s) in c/h: neighbours (914 ms); taken "
     "in the next 0.1 s, of 91 ms that its tasks waited, by: b 82 ms, itself 9 ms; waiting: "
     "nginx[4] 66 "
     "ms",
     "all of c_h waits for a CPU, taken by b 82 ms, itself 9 ms; 51 % of the time: neighbours (914 "
     "ms); waiting: nginx[4] 66 ms"},
    {"c_h",
     "cpu some: stalled 150 ms in 1 s (limit 150 ms in 1 s) in c/h, for 12 s now: taken in the "
     "next "
     "2 s, of 9.1 ms that its tasks waited, by: other tasks 9 ms; which tasks wait isn't known: it "
     "is "
     "off",
     "c_h waits for a CPU, taken by other tasks 9 ms; 15 % of the time, for 12 s; which tasks wait "
     "isn't known: it is off"},
    {"c_h",
     "cpu some: stalled 150 ms in 1 s (limit 150 ms in 1 s) in c/h: neighbours (9 ms); taken in "
     "the "
     "next 0.1 s, of 210 ms that its tasks waited together, by: b 182 ms",
     "c_h waits for a CPU, taken by b 182 ms; 15 % of the time: neighbours (9 ms)"},
    {"system",
     "memory some: stalled 212 ms in 1 s (limit 150 ms in 1 s) in the system: reclaim; longest in "
     "c/h, 820 ms of the last 9.8 s; waiting: nginx[4] 66 ms",
     "some task in the machine waits for memory 21 % of the time: reclaim; longest in c/h, 820 ms "
     "of the last 9.8 s; waiting: nginx[4] 66 ms"},
    {"system", "memory some: stalled 212 ms in 1 s (limit 150 ms in 1 s) in the system: reclaim",
     "some task in the machine waits for memory 21 % of the time: reclaim"},
    {"a", "io full: stalled at least 300 ms in 1 s (limit 300 ms in 1 s) in a",
     "all of a waits for disks at least 30 % of the time"},
    /* measured for longer than the window, with a lower share than the limit */
    {"system",
     "memory some: stalled 176 ms in 2.012 s (limit 150 ms in 1 s) in the system: reclaim",
     "some task in the machine waits for memory at least 15 % of the time within 1 s: reclaim"},
    {"a", "cpu full: stalled 220 ms in 0.9 s (limit 200 ms in 0.5 s) in a, for 12 s now",
     "all of a waits for a CPU at least 40 % of the time within 500 ms, for 12 s"},
    {"a", "io some: stalled 301 ms in 2 s (limit 300 ms in 2 s) in a",
     "a waits for disks 15 % of the time"},
    {"a", "irq full: stalled 2.0 s in 1 s (limit 300 ms) in a",
     "irq full: stalled 2.0 s in 1 s (limit 300 ms) in a"},
    {"a",
     "irq full: stalled 1001 ms in 1 s (limit 300 ms in 1 s) in a; waiting: unknown, as no wait "
     "ended",
     "a waits for interrupts 100 % of the time; waiting: unknown, as no wait ended"},
    /* what isn't understood is shown as it is */
    {"pod-1", "cpu some: stalled 300 ms in 1 s (limit 300 ms in 1 s) in c/h: itself",
     "cpu some: stalled 300 ms in 1 s (limit 300 ms in 1 s) in c/h: itself"},
    {"system",
     "memory some: stalled 212 ms in 1 s (limit 150 ms in 1 s) inthe system: reclaim; b: c",
     "memory some: stalled 212 ms in 1 s (limit 150 ms in 1 s) inthe system: reclaim; b: c"},
    {"a", "cpu some: stalled 300 ms in 1 s (limit 300 ms in 1 s)  in a",
     "cpu some: stalled 300 ms in 1 s (limit 300 ms in 1 s)  in a"},
    {"a", "cpu some: stalled 300 ms in 0 s (limit 300 ms in 1 s) in a",
     "cpu some: stalled 300 ms in 0 s (limit 300 ms in 1 s) in a"},
    {"a", "cpu some: stalled 300 ms in 1 s (limit 300 ms in 1 s) in ab: itself",
     "cpu some: stalled 300 ms in 1 s (limit 300 ms in 1 s) in ab: itself"},
    {"a", "cpu some: stalled 300 ms in 1 s (limit 300 ms in 0 s) in a",
     "cpu some: stalled 300 ms in 1 s (limit 300 ms in 0 s) in a"},
    {"a", "cpu some: stalled 300 ms in 1 s (limit 300 ms) in a",
     "cpu some: stalled 300 ms in 1 s (limit 300 ms) in a"},
    {"a", "cpu: itself", "cpu: itself"},
};

START_TEST(puts_a_trigger_in_words)
{
    struct alert alert = {.plugin = "psi", .type = "derive", .type_instance = "trigger_x"};
    char text[ALERT_TEXT_SIZE];

    strcpy(alert.instance, trigger_texts[_i].instance);
    strcpy(alert.message, trigger_texts[_i].message);
    alert_text(&alert, false, text);
    ck_assert_str_eq(text, trigger_texts[_i].text);
}
END_TEST

/* Of an <Alert> of osnoise. */
START_TEST(puts_an_alarm_in_words_that_can_not_go_on)
{
    const struct alert alert = {.plugin = "osnoise",
                                .instance = "cpu3",
                                .type = "duration",
                                .type_instance = "max_single",
                                .message = "max_single: no longer watched: the machine was "
                                           "rebooted"};
    char text[ALERT_TEXT_SIZE];

    alert_text(&alert, false, text);
    ck_assert_str_eq(text, "CPU 3 is no longer watched: the machine was rebooted");
}
END_TEST

/* Of the plugin's notification of an end. */
static const struct {
    const char *instance, *message, *text;
} trigger_ends[] = {
    {"system", "io some: below 500 ms in 2 s for 30 s in the system",
     "the machine waits for disks less than 25 % of the time now"},
    {"system", "memory full: below 1.5 ms in 1 s for 30 s in the system",
     "all of the machine waits for memory less than 0.15 % of the time now"},
    {"c_h", "cpu full: below 150 ms in 1 s for 0.5 s in c/h",
     "all of c_h waits for a CPU less than 15 % of the time now"},
    {"c_h", "cpu some: below 300 ms in 0.5 s for 30 s in c/h",
     "c_h waits for a CPU less than 60 % of the time now"},
    {"a", "irq full: below 300 ms in 1 s for 30 s in a",
     "a waits for interrupts less than 30 % of the time now"},
    {"c_h", "memory some: no longer watched in c/h: no process is left in it",
     "c_h is no longer watched: no process is left in it"},
    {"system", "io full: no longer watched in the system: its pressure can't be read",
     "the machine is no longer watched: its pressure can't be read"},
    /* what isn't understood is shown as it is */
    {"pod-1", "cpu some: below 300 ms in 1 s for 30 s in c/h",
     "cpu some: below 300 ms in 1 s for 30 s in c/h"},
    {"a", "cpu some: below 300 ms in 1 s for 30 s in ab",
     "cpu some: below 300 ms in 1 s for 30 s in ab"},
    {"a", "cpu some: below 300 ms in 0 s for 30 s in a",
     "cpu some: below 300 ms in 0 s for 30 s in a"},
    {"a", "cpu some: below 300 ms in 1 s for 30 s on a",
     "cpu some: below 300 ms in 1 s for 30 s on a"},
    {"a", "cpu some: below -300 ms in 1 s for 30 s in a",
     "cpu some: below -300 ms in 1 s for 30 s in a"},
    {"a", "cpu some: no longer watched in ab: it is gone",
     "cpu some: no longer watched in ab: it is gone"},
};

/* As the mail of the same notification does. */
START_TEST(puts_the_end_of_a_trigger_in_words)
{
    struct alert alert = {
        .severity = ALERT_OKAY, .plugin = "psi", .type = "derive", .type_instance = "trigger_x"};
    char text[ALERT_TEXT_SIZE];

    strcpy(alert.instance, trigger_ends[_i].instance);
    strcpy(alert.message, trigger_ends[_i].message);
    alert_text(&alert, false, text);
    ck_assert_str_eq(text, trigger_ends[_i].text);
}
END_TEST

static const struct {
    const char *plugin, *instance, *type, *type_instance, *value, *text;
} places[] = {
    {"psi", "system", "percent", "io-full", "20",
     "all of the machine waits less for disks: 20 % of the time"},
    {"psi", "system", "percent", "cpu-some", "12",
     "the machine waits less for a CPU: 12 % of the time"},
    {"osnoise", "cpu2", "percent", "available", "96.8", "programs get 97 % of CPU 2"},
    {"osnoise", "cpu2", "duration", "max_single", "0.00035",
     "a single noise takes CPU 2 for 350 us"},
    {"osnoise", "cpu2", "duration", "max_latency_thread", "0.00035",
     "a thread that a timer wakes on CPU 2 is late by 350 us"},
    {"osnoise", "cpu2", "duration", "max_latency_irq", "0.0002",
     "a timer on CPU 2 is late by 200 us"},
    {"osnoise", "cpu2", "derive", "irq_local_timer_us", "25000",
     "irq_local_timer takes 2.5 % of CPU 2"},
};

START_TEST(names_a_place_as_mails_do)
{
    struct alert alert = {.severity = ALERT_OKAY};
    char text[ALERT_TEXT_SIZE], expected[200];

    strcpy(alert.plugin, places[_i].plugin);
    strcpy(alert.instance, places[_i].instance);
    strcpy(alert.type, places[_i].type);
    strcpy(alert.type_instance, places[_i].type_instance);
    snprintf(alert.message, sizeof(alert.message),
             "Host h, plugin p type t: All data sources are within range again. Current value of "
             "\"value\" is %s.",
             places[_i].value);
    alert_text(&alert, false, text);
    snprintf(expected, sizeof(expected), "%s now", places[_i].text);
    ck_assert_str_eq(text, expected);
}
END_TEST

START_TEST(names_the_machine_in_an_alarm)
{
    struct alert alert = {
        .plugin = "psi", .instance = "system", .type = "percent", .type_instance = "cpu-some"};
    char text[ALERT_TEXT_SIZE];

    strcpy(alert.message, CURRENTLY("value", "98.2", "above the warning", "60"));
    alert_text(&alert, false, text);
    ck_assert_str_eq(
        text, "some task in the machine waits for a CPU 98 % of the time; the limit is 60 %");
}
END_TEST

#define ID  "748a7a914a7d0123456789abcdef0123456789abcdef01234567890123308963"
#define UID "00000007_1111_2222_3333_444444444444"

static const struct {
    const char *instance, *name;
} short_names[] = {
    {"system.slice_mysql.service", "system.slice_mysql.service"},
    {"docker_" ID, "docker_748a7a914a7d"},
    {"system.slice_docker-" ID ".scope", "system.slice_docker-748a7a914a7d.scope"},
    {"kubepods.slice_kubepods-pod" UID ".slice_cri-containerd-" ID ".scope",
     "cri-containerd-748a7a914a7d.scope of pod 00000007"},
    {"kubepods_burstable_pod00000007-1111-2222-3333-444444444444_" ID,
     "kubepods_burstable_pod00000007_748a7a914a7d"},
    {"nodes-kubepods_burstable_pod00000007-1111-2222-3333-444444444444_" ID,
     "748a7a914a7d of pod 00000007"},
    {"kubepods.slice_kubepods-burstable.slice_kubepods-burstable-pod" UID ".slice",
     "kubepods-burstable-pod00000007.slice"},
    {"kubepods.slice_kubepods-burstabl~79a6c79c_cri-containerd-" ID ".scope",
     "kubepods.slice/.../cri-containerd-748a7a914a7d.scope"},
    {"a-name-without-units-that-is-long~79a6c79c_a-leaf-of-some-length",
     "a-name-without-units-that-is-long.../a-leaf-of-some-length"},
    {"user.slice_user-1000.slice_user@1000.service_app.slice_app-x.scope",
     "user.slice/.../app-x.scope"},
    {"system.slice_a-service-with-a-name-of-its-own-length_x.service",
     "system.slice_a-service-with-a-name-of-its-own-length_x.service"},
    {"a_directory_of_many_names_none_of_which_is_a_unit_of_systemd",
     "a_directory_of_many_names_none_of_which_is_a_unit_of_systemd"},
    {"a-name-longer-than-its-hash-may-be-at-the-end-of-it~79a6c79c",
     "a-name-longer-than-its-hash-may-be-at-the-end-of-it~79a6c79c"},
};

START_TEST(shortens_a_name_as_mails_do)
{
    char name[SHORT_NAME_SIZE];

    short_name(short_names[_i].instance, NULL, name);
    ck_assert_str_eq(name, short_names[_i].name);
}
END_TEST

#define POD "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID ".slice"
#define CUT "kubepods.slice_kubepods-burstabl~79a6c79c_cri-containerd-" ID ".scope"

static const struct {
    const char *instance, *path, *name;
} paths[] = {
    {CUT, POD "/cri-containerd-" ID ".scope", "cri-containerd-748a7a914a7d.scope of pod 00000007"},
    {CUT, POD "/a/b/cri-containerd-" ID ".scope",
     "cri-containerd-748a7a914a7d.scope of pod 00000007"},
    {"kubepods.slice_kubepods-burstabl~79a6c79c_pod", POD,
     "kubepods.slice_kubepods-burstabl~79a6c79c_pod"},
    {"system.slice_mysql.service", "system.slice/mysql.service", "system.slice_mysql.service"},
};

START_TEST(has_the_pod_of_the_path)
{
    char name[SHORT_NAME_SIZE];

    short_name(paths[_i].instance, paths[_i].path, name);
    ck_assert_str_eq(name, paths[_i].name);
}
END_TEST

/* Of the longest names, and beginnings of them, up to the end of their memory. */
START_TEST(shortens_any_name)
{
    char name[SHORT_NAME_SIZE];
    const char *instance = "pod" UID "_" ID "pod00000007.slice_~79a6c79c_";

    for (size_t length = 0; length <= strlen(instance); length++) {
        char *copy = strndup(instance, length);
        short_name(copy, NULL, name);
        ck_assert_uint_lt(strlen(name), sizeof(name));
        short_name("a", copy, name);
        free(copy);
        ck_assert_uint_lt(strlen(name), sizeof(name));
    }
}
END_TEST

/* collectd cuts messages at 255 bytes. */
static const struct {
    const char *type_instance;
    enum alert_severity severity;
    int length; /* of the host's name */
    const char *text;
} cut_texts[] = {
    {"cpu-full", ALERT_WARNING, 10, "all of @ waits for a CPU 96 % of the time"},
    {"cpu-full", ALERT_WARNING, 28, "all of @ waits for a CPU 95 % of the time"}, /* "95." */
    {"cpu-full", ALERT_WARNING, 29, "all of @ waits for a CPU"},
    {"cpu-full", ALERT_WARNING, 60, "all of @ waits for a CPU"},
    {"cpu-full", ALERT_OKAY, 10, "all of @ waits less for a CPU"},
    {"cpu-idle", ALERT_WARNING, 60, "@: cpu-idle is beyond its limit"},
    {"cpu-idle", ALERT_OKAY, 10, "@: cpu-idle is within its limits again"},
};

START_TEST(words_a_message_that_is_cut)
{
    struct alert alert = {.plugin = "psi",
                          .type = "percent",
                          .instance = "kubepods.slice_kubepods-burstabl~79a6c79c_cri-containerd-" ID
                                      ".scope",
                          .severity = cut_texts[_i].severity};
    char text[ALERT_TEXT_SIZE], expected[200];
    const char *at = strchr(cut_texts[_i].text, '@');

    strcpy(alert.type_instance, cut_texts[_i].type_instance);
    snprintf(alert.message, sizeof(alert.message),
             "Host %.*s, plugin psi (instance %s) type percent (instance %s): %s",
             cut_texts[_i].length,
             "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz",
             alert.instance, alert.type_instance,
             alert.severity == ALERT_OKAY
                 ? "All data sources are within range again. Current value of \"value\" is 3.25."
                 : "Data source \"value\" is currently 95.753198. That is above the warning "
                   "threshold of 40.000000.");
    alert.message[255] = '\0';
    ck_assert_uint_eq(strlen(alert.message), 255);
    alert_text(&alert, false, text);
    snprintf(expected, sizeof(expected), "%.*s%s%s", (int)(at - cut_texts[_i].text),
             cut_texts[_i].text, "kubepods.slice/.../cri-containerd-748a7a914a7d.scope", at + 1);
    ck_assert_str_eq(text, expected);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_loop_test(tests, parses_line, 0, COUNT(good_lines));
    tcase_add_loop_test(tests, passes_over_line, 0, COUNT(other_lines));
    tcase_add_test(tests, parses_beginnings);
    tcase_add_test(tests, takes_no_zero_byte);
    tcase_add_test(tests, cuts_long_texts);
    tcase_add_test(tests, words_an_alert);
    tcase_add_loop_test(tests, puts_a_threshold_in_words, 0, COUNT(threshold_texts));
    tcase_add_test(tests, puts_an_alarm_in_words_that_can_not_go_on);
    tcase_add_loop_test(tests, puts_a_trigger_in_words, 0, COUNT(trigger_texts));
    tcase_add_loop_test(tests, puts_the_end_of_a_trigger_in_words, 0, COUNT(trigger_ends));
    tcase_add_loop_test(tests, names_a_place_as_mails_do, 0, sizeof(places) / sizeof(places[0]));
    tcase_add_test(tests, names_the_machine_in_an_alarm);
    tcase_add_loop_test(tests, shortens_a_name_as_mails_do, 0, COUNT(short_names));
    tcase_add_loop_test(tests, has_the_pod_of_the_path, 0, COUNT(paths));
    tcase_add_test(tests, shortens_any_name);
    tcase_add_loop_test(tests, words_a_message_that_is_cut, 0, COUNT(cut_texts));
    return run_suite("alert lines", tests);
}
