/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_alerts.c - notifications in collectd's log files: the lines, and reading a file
 * as it grows.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/short_name.h"
#include "support/suite.h"
#include "top/alert_text.h"
#include "top/alerts.h"
#include "top/known_series.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* --- Lines ---------------------------------------------------------------- */

#define NOTIFICATION "Notification: severity = "
#define SYSTEM       ", host = h, plugin = psi, plugin_instance = system, type = derive"
#define TRIGGER      SYSTEM ", type_instance = trigger_x, message = "

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
    {"psi", "percent", "cpu-idle", CURRENTLY("value", "3", "below the warning", "5"),
     "hour.slice_web: cpu-idle is 3 %; the limit is 5 %"},
    /* not a threshold's */
    {"psi", "derive", "trigger_x", "cpu some: stalled 1 s", "cpu some: stalled 1 s"},
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
     "cpu full: stalled 1067 ms in 2.1 s (limit 150 ms) in c/h: neighbours (914 ms); taken in the "
     "next 0.1 s, of 91 ms that its tasks waited, by: b 82 ms, itself 9 ms; waiting: nginx[4] 66 "
     "ms",
     "all of c_h waits for a CPU, taken by b 82 ms, itself 9 ms; 51 % of the time: neighbours (914 "
     "ms); waiting: nginx[4] 66 ms"},
    {"c_h",
     "cpu some: stalled 150 ms in 1 s (limit 150 ms) in c/h, for 12 s now: taken in the next 2 s, "
     "of 9.1 ms that its tasks waited, by: other tasks 9 ms; which tasks wait isn't known: it is "
     "off",
     "c_h waits for a CPU, taken by other tasks 9 ms; 15 % of the time, for 12 s; which tasks wait "
     "isn't known: it is off"},
    {"system", "memory some: stalled 212 ms in 1 s (limit 150 ms) in the system: reclaim",
     "something in the machine waits for memory 21 % of the time: reclaim"},
    {"a", "io full: stalled at least 300 ms in 1 s (limit 300 ms) in a",
     "all of a waits for disks at least 30 % of the time"},
    {"a", "irq full: stalled 2.0 s in 1 s (limit 300 ms) in a",
     "irq full: stalled 2.0 s in 1 s (limit 300 ms) in a"},
    {"a",
     "irq full: stalled 1001 ms in 1 s (limit 300 ms) in a; waiting: unknown, as no wait ended",
     "a waits for interrupts 100 % of the time; waiting: unknown, as no wait ended"},
    /* what isn't understood is shown as it is */
    {"pod-1", "cpu some: stalled 300 ms in 1 s (limit 300 ms) in c/h: itself",
     "cpu some: stalled 300 ms in 1 s (limit 300 ms) in c/h: itself"},
    {"a", "cpu some: stalled 300 ms in 0 s (limit 300 ms) in a",
     "cpu some: stalled 300 ms in 0 s (limit 300 ms) in a"},
    {"a", "cpu some: stalled 300 ms in 1 s (limit 300 ms) in ab: itself",
     "cpu some: stalled 300 ms in 1 s (limit 300 ms) in ab: itself"},
    {"a", "cpu some: below 300 ms in 1 s for 30 s in a",
     "cpu some: below 300 ms in 1 s for 30 s in a"},
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

/* @return an alert that lasts */
static struct alert make_lasting(const char *instance, const char *type_instance,
                                 const char *message)
{
    struct alert alert = {.plugin = "psi", .host = "h", .lasts = true};

    strcpy(alert.instance, instance);
    strcpy(alert.type, strncmp(type_instance, "trigger_", 8) == 0 ? "derive" : "percent");
    strcpy(alert.type_instance, type_instance);
    strcpy(alert.message, message);
    return alert;
}

START_TEST(counts_alarms_of_one_wait_once)
{
    static const char stalled[] = "cpu some: stalled 300 ms in 1 s (limit 300 ms) in a";
    struct alert alerts[] = {
        make_lasting("a", "trigger_x", stalled),
        make_lasting("a", "cpu-full", CURRENTLY("value", "54.5", "above the failure", "40.0")),
        make_lasting("a", "memory-some", CURRENTLY("value", "54.5", "above the failure", "40.0")),
        make_lasting("b", "cpu-full", CURRENTLY("value", "54.5", "above the failure", "40.0")),
        make_lasting("a", "cpu-idle", CURRENTLY("value", "1", "below the failure", "4.0")),
        make_lasting("a", "cpu-idle", CURRENTLY("value", "1", "below the failure", "4.0")),
    };
    const struct alert_list list = {.entries = alerts, .count = 6};

    ck_assert_uint_eq(alerts_count_lasting(&list), 5);
    alerts[0].lasts = false;
    ck_assert_uint_eq(alerts_count_lasting(&list), 5);
    alerts[1].is_unwatched = true;
    ck_assert_uint_eq(alerts_count_lasting(&list), 4);
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
        text, "something in the machine waits for a CPU 98 % of the time; the limit is 60 %");
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

/* --- Reading a file as it grows ------------------------------------------- */

static char directory[64], path[128], old_path[128];
static struct alerts *alerts;
static struct known_series known;

static void make_directory(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%.40s/check_alerts-XXXXXX",
             temporary ? temporary : "/tmp");
    if (mkdtemp(directory) == NULL) {
        perror(directory);
        abort();
    }
    snprintf(path, sizeof(path), "%s/log", directory);
    snprintf(old_path, sizeof(old_path), "%s/log.1", directory);
}

static void remove_directory(void)
{
    remove(path);
    remove(old_path);
    rmdir(directory);
}

static void open_alerts(void)
{
    remove(path);
    remove(old_path);
    ck_assert_int_eq(alerts_open(path, &alerts), 0);
}

static void close_alerts(void)
{
    alerts_close(alerts);
    known_series_free(&known);
}

/* Appends as collectd does. */
__attribute__((format(printf, 1, 2))) static void append(const char *format, ...)
{
    va_list arguments;
    FILE *file = fopen(path, "a");
    ck_assert_ptr_nonnull(file);
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fclose(file);
}

#define LINE "[2026-11-21 02:31:12] " NOTIFICATION "WARNING" TRIGGER

/* Alerts with the messages "FIRST" to "LAST". */
static void append_alerts(int first, int last)
{
    for (int number = first; number <= last; number++)
        append(LINE "%d\n", number);
}

static void append_bytes(char byte, size_t count)
{
    FILE *file = fopen(path, "a");
    while (count-- > 0)
        putc(byte, file);
    fclose(file);
}

/* Reads, and expects these messages, each followed by a space; a bar precedes those not fresh. */
static void expect_alerts(int status, const char *expected)
{
    char found[4096] = "";
    size_t used = 0;
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), status);
    const struct alert_list *list = alerts_found(alerts);
    ck_assert_uint_le(list->fresh, list->count);
    for (size_t i = 0; i < list->count && used < sizeof(found); i++) {
        bool fresh = i >= list->count - list->fresh;
        used += (size_t)snprintf(found + used, sizeof(found) - used, "%s%s ", fresh ? "" : "|",
                                 list->entries[i].message);
    }
    ck_assert_str_eq(found, expected);
}

START_TEST(follows_growing_file)
{
    append("[2026-11-21 02:31:12] foreign\n" LINE "a\n" NOTIFICATION "OKAY, plugin = cpu\n");
    expect_alerts(0, "a ");
    expect_alerts(0, "|a ");
    append(LINE "b\nforeign\n");
    expect_alerts(0, "|a b ");
    append(LINE "c\n" LINE "d\n");
    expect_alerts(0, "|a |b c d ");
    expect_alerts(0, "|a |b |c |d ");
}
END_TEST

START_TEST(waits_for_end_of_line)
{
    const char *line = LINE "abc\n";
    append("%s", "");
    expect_alerts(0, "");
    for (; line[1] != '\0'; line++) {
        append("%c", *line);
        expect_alerts(0, "");
    }
    append("\n" LINE "d");
    expect_alerts(0, "abc ");
    append("ef\n\n\n");
    expect_alerts(0, "|abc def ");
}
END_TEST

START_TEST(remembers_the_last)
{
    append_alerts(1, 8);
    expect_alerts(0, "4 5 6 7 8 "); /* of those at the start, no more than are shown */
    append_alerts(9, 9);
    expect_alerts(0, "|4 |5 |6 |7 |8 9 ");
    expect_alerts(0, "|5 |6 |7 |8 |9 ");
    append_alerts(10, 30); /* but all new ones */
    expect_alerts(0,
                  "|5 |6 |7 |8 |9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 ");
    expect_alerts(0, "|26 |27 |28 |29 |30 ");
}
END_TEST

START_TEST(waits_for_file)
{
    expect_alerts(-ENOENT, "");
    expect_alerts(-ENOENT, "");
    append_alerts(1, 6); /* all of it is new */
    expect_alerts(0, "1 2 3 4 5 6 ");
}
END_TEST

START_TEST(starts_again_when_truncated)
{
    append(LINE "a\n" LINE "half");
    expect_alerts(0, "a ");
    ck_assert_int_eq(truncate(path, 0), 0);
    expect_alerts(0, "|a ");
    append("foreign\n");
    expect_alerts(0, "|a ");
    append_alerts(1, 1);
    expect_alerts(0, "|a 1 ");
    ck_assert_int_eq(truncate(path, 0), 0);
    append(LINE "2\n");
    expect_alerts(0, "|a |1 2 ");
    append_bytes('x', 3000); /* a line to be skipped, without an end */
    expect_alerts(0, "|a |1 |2 ");
    ck_assert_int_eq(truncate(path, 0), 0);
    append_alerts(3, 3);
    expect_alerts(0, "|a |1 |2 3 ");
}
END_TEST

START_TEST(follows_rotation)
{
    append(LINE "a\n");
    expect_alerts(0, "a ");
    append(LINE "b\n");
    ck_assert_int_eq(rename(path, old_path), 0);
    append_alerts(1, 6);
    expect_alerts(0, "|a b 1 2 3 4 5 6 "); /* the end of the old one is not lost */
    append(LINE "c\n");
    expect_alerts(0, "|2 |3 |4 |5 |6 c ");
}
END_TEST

START_TEST(survives_time_without_file)
{
    append(LINE "a\n" LINE "half");
    expect_alerts(0, "a ");
    ck_assert_int_eq(rename(path, old_path), 0);
    expect_alerts(-ENOENT, "|a ");
    expect_alerts(-ENOENT, "|a ");
    /* A line begun in the old file doesn't continue in the new one. */
    append("way\n" LINE "b\n");
    expect_alerts(0, "|a b ");
    /* The same file comes back: nothing is read twice. */
    ck_assert_int_eq(rename(path, old_path), 0);
    expect_alerts(-ENOENT, "|a |b ");
    ck_assert_int_eq(rename(old_path, path), 0);
    expect_alerts(0, "|a |b ");
}
END_TEST

START_TEST(reports_what_is_no_file)
{
    ck_assert_int_eq(mkdir(path, 0755), 0);
    expect_alerts(-EISDIR, "");
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(mkfifo(path, 0644), 0);
    expect_alerts(-EINVAL, "");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("log", path), 0);
    expect_alerts(-ELOOP, "");
    ck_assert_int_eq(unlink(path), 0);
    append_alerts(1, 6); /* no reading found it missing, so it may be old */
    expect_alerts(0, "2 3 4 5 6 ");
}
END_TEST

/* A line that begins before the part that is read is skipped; one that begins with it is not. */
START_TEST(reads_end_of_huge_file)
{
    const off_t hole = (off_t)1 << 36;
    append_alerts(1, 1);
    ck_assert_int_eq(truncate(path, hole), 0);
    append("\n" LINE "2\n");
    append_bytes('x', 1024 * 1024 - 2 * strlen(LINE "3\n"));
    append("\n" LINE "4\n");
    expect_alerts(0, "4 ");
    append_alerts(5, 5);
    expect_alerts(0, "|4 5 ");
}
END_TEST

START_TEST(reads_first_whole_line)
{
    const size_t length = strlen(LINE "2\n");
    append_alerts(1, 2);
    append_bytes('\n', 1024 * 1024 - length - (size_t)_i);
    /* The part begins with the second line, or up to two bytes before or behind. */
    expect_alerts(0, _i >= 0 ? "2 " : "");
}
END_TEST

START_TEST(skips_huge_backlog)
{
    append_alerts(1, 1);
    expect_alerts(0, "1 ");
    append_alerts(2, 2);
    append_bytes('\n', 1024 * 1024);
    append_alerts(3, 3);
    append_bytes('\n', 1000 * 1024); /* not too much */
    expect_alerts(0, "|1 3 ");
}
END_TEST

START_TEST(passes_over_long_lines)
{
    append(LINE "1\n" LINE);
    append_bytes('x', 3000);
    expect_alerts(0, "1 ");
    append_bytes('x', 60000);
    append(LINE "no\n" LINE "2\n" LINE "begun");
    expect_alerts(0, "|1 2 ");
    append_bytes('x', 3000);
    append("\n");
    expect_alerts(0, "|1 |2 ");
    append_bytes('y', 2048); /* as long as can be kept */
    append("\n" LINE "3\n");
    expect_alerts(0, "|1 |2 3 ");
}
END_TEST

#define OF(name)                                                                                   \
    ", host = h, plugin = headroom, plugin_instance = " name                                       \
    ", type = percent, type_instance = room, message = Host h, plugin headroom (instance " name    \
    ") type percent (instance room): "
#define AGAIN "All data sources are within range again. Current value of \"value\" is 96.800000.\n"

/* Those of the headroom plugin, too. collectd has an OKAY of each series when it starts. */
START_TEST(passes_over_end_without_alarm)
{
    append(NOTIFICATION "WARNING" OF("web") "low\n");
    for (int i = 0; i < 2000; i++)
        append(NOTIFICATION "OKAY" OF("idle") AGAIN);
    expect_alerts(0, "Host h, plugin headroom (instance web) type percent (instance room): low ");
    append(NOTIFICATION "OKAY" OF("idle") AGAIN NOTIFICATION "OKAY" OF("web") "over\n");
    expect_alerts(0, "|Host h, plugin headroom (instance web) type percent (instance room): low "
                     "Host h, plugin headroom (instance web) type percent (instance room): over ");
    append(NOTIFICATION "OKAY" OF("web") "over\n"); /* its alarm has ended */
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    ck_assert_uint_eq(alerts_found(alerts)->fresh, 0);
    append(NOTIFICATION "OKAY" TRIGGER "the end of an alarm, wherever that is\n");
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    ck_assert_uint_eq(alerts_found(alerts)->fresh, 1);
}
END_TEST

/* SEVERITY:GROUP:WHAT of lines, and of those that are shown: a bar before what was read before.
 * WHAT is RESOURCE-LEVEL of a threshold, or RESOURCE alone of a trigger; room and to_trouble with
 * their value; room-RESOURCE of <Alert>, with a "!" of trouble that is there, or with a value of a
 * threshold; a "?" of a trigger that is no longer watched as its group is gone, a "~" as it is no
 * longer configured, a "^" as there is no value of a threshold. Or "start", of collectd. The time
 * is that of the line, in minutes. */
static const struct {
    const char *what, *lines, *shown;
} causes[] = {
    {"thresholds of one group and resource", "0W:a:cpu-full 1W:a:cpu-some", "W:a:cpu-full"},
    {"but others", "0W:a:cpu-full 0W:a:memory-some 0W:b:cpu-full",
     "W:a:cpu-full W:a:memory-some W:b:cpu-full"},
    {"a worse one", "0W:a:cpu-some 0F:a:cpu-full", "W:a:cpu-some F:a:cpu-full"},
    {"one that gets worse", "0W:a:cpu-some 0F:a:cpu-some", "W:a:cpu-some F:a:cpu-some"},
    {"one that was covered and gets worse", "0W:a:cpu-some 0W:a:cpu-full 0F:a:cpu-full",
     "W:a:cpu-some F:a:cpu-full"},
    {"a trigger before", "0W:a:cpu 0W:a:cpu-full", "W:a:cpu"},
    {"another resource's trigger", "0W:a:io 0W:a:cpu-full", "W:a:io W:a:cpu-full"},
    {"one end, the last", "0W:a:cpu 0W:a:cpu-full 1O:a:cpu 2O:a:cpu-full", "W:a:cpu O:a:cpu-full"},
    {"in whatever order", "0W:a:cpu 0W:a:cpu-full 1O:a:cpu-full 2O:a:cpu", "W:a:cpu O:a:cpu"},
    {"then one begins", "0W:a:cpu 0W:a:cpu-full 1O:a:cpu-full 2O:a:cpu 3W:a:cpu-full",
     "W:a:cpu O:a:cpu W:a:cpu-full"},
    {"of no room", "0W:a:cpu-full 0W:a:room=0 0W:a:to_trouble=0 1O:a:room 1O:a:to_trouble",
     "W:a:cpu-full"},
    {"nor by memory", "0W:a:memory-some 0W:a:room=0", "W:a:memory-some"},
    {"nor by I/O", "0W:a:io-full 0W:a:room=0", "W:a:io-full"},
    {"but interrupts", "0W:a:irq-full 0W:a:room=0", "W:a:irq-full W:a:room=0"},
    {"nor if it came a moment before", "0W:a:to_trouble=0 0W:a:room=0 0W:a:cpu-full",
     "W:a:cpu-full"},
    {"but long before", "0W:a:room=0 1W:a:cpu-full", "W:a:room=0 W:a:cpu-full"},
    {"nor an alarm before that", "0W:a:room=0 5O:a:room 9W:a:cpu-full 9W:a:room=0 9W:b:io-full",
     "W:a:room=0 O:a:room W:a:cpu-full W:b:io-full"},
    {"by what isn't shown itself", "0W:a:cpu-full 0W:a:room=0 1O:a:cpu-full 2W:a:to_trouble=0",
     "W:a:cpu-full O:a:cpu-full W:a:to_trouble=0"},
    {"no room twice", "0W:a:room=0 0W:a:to_trouble=0", "W:a:room=0"},
    {"little room, and trouble to come", "0W:a:cpu-full 0W:a:room=8 0W:a:to_trouble=2500",
     "W:a:cpu-full W:a:room=8 W:a:to_trouble=2500"},
    {"unless <Alert> says so", "0W:a:room-memory 0W:a:room=8 0W:a:to_trouble=2500",
     "W:a:room-memory"},
    {"by I/O, too", "0W:a:room-io 0W:a:room=8", "W:a:room-io"},
    {"which covers no pressure", "0W:a:room-memory 0W:a:memory-full",
     "W:a:room-memory W:a:memory-full"},
    {"the machine's CPUs", "0W:a:cpu-full 0W:system:cpu-some 0W:system:room=0 1O:system:cpu-some",
     "W:a:cpu-full"},
    {"a moment before", "0W:system:cpu-some 0W:system:room=0 0W:a:cpu-full", "W:a:cpu-full"},
    {"the machine's memory", "0W:a:cpu-full 0W:system:memory-some",
     "W:a:cpu-full W:system:memory-some"},
    {"what began a day ago", "0W:a:cpu-full 1440W:system:cpu-some",
     "W:a:cpu-full W:system:cpu-some"},
    {"what isn't pressure", "0W:a:cpu-some 0W:system:cpu-idle 0W:a:cpu-some-avg10",
     "W:a:cpu-some W:system:cpu-idle W:a:cpu-some-avg10"},
    {"nor covers any", "0W:a:cpu-idle 0W:a:cpu-some 0W:a:room=0", "W:a:cpu-idle W:a:cpu-some"},
    {"a kill has no end", "0F:a:oom_kill 1W:a:room=8", "F:a:oom_kill W:a:room=8"},
    {"<Alert> of trouble", "0W:a:room-cpu! 4W:a:cpu-full 4W:a:room=0", "W:a:room-cpu"},
    {"ends with collectd", "0W:a:room-cpu! 1start 2W:a:cpu-full 2W:a:room=0",
     "W:a:room-cpu W:a:cpu-full"},
    {"and is there again", "0W:a:room-cpu! 1start 2W:a:room-cpu! 3W:a:cpu-full",
     "W:a:room-cpu W:a:room-cpu"},
    {"as others may, which threshold notifies again", "0W:a:cpu-full 1start 2W:a:cpu-some",
     "W:a:cpu-full"},
    {"but are shown once", "0F:a:cpu-full 1start 2F:a:cpu-full 3W:b:io-full 4O:a:cpu-full",
     "F:a:cpu-full W:b:io-full O:a:cpu-full"},
    {"also if less severe", "0F:a:cpu-full 1start 2W:a:cpu-full 3F:a:cpu-full",
     "F:a:cpu-full F:a:cpu-full"},
    {"a trigger again", "0F:a:cpu 1start 2W:a:cpu", "F:a:cpu W:a:cpu"},
    {"but worse", "0W:a:cpu-full 1start 2F:a:cpu-full", "W:a:cpu-full F:a:cpu-full"},
    {"of one run it is another one", "0start 0W:a:cpu-full 9W:a:cpu-full",
     "W:a:cpu-full W:a:cpu-full"},
    {"unknown starts", "0W:a:room-cpu! 120W:a:cpu-full", "W:a:room-cpu W:a:cpu-full"},
    {"and ends beside it", "0W:a:cpu-full 0W:a:room-cpu! 120O:a:cpu-full",
     "W:a:cpu-full O:a:cpu-full"},
    {"known ones", "0start 1W:a:room-cpu! 120W:a:cpu-full", "W:a:room-cpu"},
    {"with an end that is the last",
     "0start 0W:a:cpu-full 0W:a:room-cpu! 9O:a:cpu-full 9O:a:room-cpu",
     "W:a:cpu-full O:a:room-cpu"},
    {"who takes the CPU", "0F:a:cpu-full 3W:b:room=0 3W:b:to_trouble=0", "F:a:cpu-full"},
    {"a moment before", "0W:b:room=0 0F:a:cpu-full", "F:a:cpu-full"},
    {"of the machine it isn't known", "0W:system:cpu-some 3W:b:room=0",
     "W:system:cpu-some W:b:room=0"},
    {"nor by a trigger", "0W:system:cpu 3W:b:room=0", "W:system:cpu W:b:room=0"},
    {"nor where others wait for memory", "0F:a:memory-full 3W:b:room=0",
     "F:a:memory-full W:b:room=0"},
    {"a trigger that is gone",
     "0W:a:cpu 1F:a:cpu-full 1start 2F:a:cpu-full 3O:a:cpu~ 9O:a:cpu-full",
     "W:a:cpu F:a:cpu-full O:a:cpu-full"},
    {"a group that is gone", "0W:a:cpu 1F:a:cpu-full 3O:a:cpu? 3O:a:cpu-full^",
     "W:a:cpu F:a:cpu-full O:a:cpu"},
    {"whose trigger wasn't shown", "0W:a:cpu-full 1W:a:cpu 3O:a:cpu? 3O:a:cpu-full^",
     "W:a:cpu-full O:a:cpu-full"},
    {"and that begins again", "0W:a:cpu 1F:a:cpu-full 3O:a:cpu? 9W:a:cpu-full",
     "W:a:cpu F:a:cpu-full O:a:cpu W:a:cpu-full"},
    {"no room by CPU", "0W:a:cpu-full 0W:a:room-cpu=0 1O:a:cpu-full 1O:a:room-cpu=0",
     "W:a:cpu-full O:a:cpu-full"},
    {"a moment before, too", "0W:a:room-cpu=0 0W:a:cpu", "W:a:cpu"},
    {"another resource's is a cause of its own", "0W:a:cpu-full 0W:a:room-memory=0 0W:a:room-io=0",
     "W:a:cpu-full W:a:room-memory=0 W:a:room-io=0"},
    {"whatever it is by", "0W:a:to_trouble=0 0W:a:room-memory=0", "W:a:to_trouble=0"},
    {"that has a name", "0W:a:room-memory=0 0W:a:to_trouble=0", "W:a:room-memory=0"},
    {"little of one", "0W:a:memory-full 0W:a:room-memory=8", "W:a:memory-full W:a:room-memory=8"},
    {"that <Alert> is of", "0W:a:room-memory 0W:a:room-memory=8 0W:a:room-cpu=8",
     "W:a:room-memory W:a:room-cpu=8"},
    {"no room, by the time of a restart",
     "0W:a:cpu-full 0W:a:room=0 1O:a:cpu-full 1start 2W:a:room=0", "W:a:cpu-full O:a:cpu-full"},
    {"whose values end", "0W:a:room-memory=0 1W:a:room-memory 9O:a:room-memory^",
     "W:a:room-memory=0 W:a:room-memory O:a:room-memory"},
    {"by CPU, while others wait for that", "0F:a:cpu-full 3W:b:room-cpu=0 3W:b:room-memory=0",
     "F:a:cpu-full W:b:room-memory=0"},
    {"the machine's, too", "0W:a:cpu-full 0W:system:room-cpu=0 0W:system:room-memory=0",
     "W:a:cpu-full W:system:room-memory=0"},
    {"of trouble, which a trigger comes after", "0W:a:room-cpu! 1W:a:cpu 2O:a:room-cpu 3O:a:cpu",
     "W:a:room-cpu O:a:cpu"},
    {"its last sign", "0W:a:room-memory 10F:a:room-memory 14F:a:room=8",
     "W:a:room-memory F:a:room-memory"},
};

static void write_message(const char *group, const char *what, char severity, FILE *out)
{
    const char *value = strchr(what, '=');
    const char *type = strncmp(what, "to_trouble", 10) == 0 ? "duration" : "percent";
    const int length = (int)strcspn(what, "=!?~^");
    const bool is_room = *type == 'd' || strcmp(what, "room") == 0 || value != NULL;
    const bool is_kill = strcmp(what, "oom_kill") == 0;

    fprintf(out, "host = h, plugin = %s, plugin_instance = %s, ",
            is_room || is_kill || strncmp(what, "room", 4) == 0 ? "headroom" : "psi", group);
    if (is_kill)
        fprintf(out, "type = total_operations, type_instance = %s, message = OOM kill", what);
    else if (what[length] == '^')
        fprintf(out,
                "type = percent, type_instance = %.*s, message = %.*s: no longer watched: late",
                length, what, length, what);
    else if (strncmp(what, "room-", 5) == 0 && value == NULL)
        fprintf(out, "type = percent, type_instance = %.*s, message = %.*s: trouble %s", length,
                what, length - 5, what + 5, what[length] == '!' ? "now in a" : "in 42 min");
    else if (!is_room && strchr(what, '-') == NULL)
        fprintf(out, "type = derive, type_instance = trigger_x_%.*s, message = %.*s some: %s",
                length, what, length, what,
                what[length] == '?' ? "no longer watched in a: it was removed"
                : what[length] == '~'
                    ? "no longer watched in a: the trigger \"x\" is no longer configured"
                    : "stalled");
    else if (severity == 'O')
        fprintf(out, "type = %s, type_instance = %.*s, message = Host h, plugin p: over", type,
                length, what);
    else
        fprintf(out,
                "type = %s, type_instance = %.*s, message = Host h, plugin p type t: Data source "
                "\"value\" is currently %s.000000. That is above the warning threshold of 1.",
                type, length, what, value != NULL ? value + 1 : "9");
    putc('\n', out);
}

static void append_line(const char *line)
{
    char severity, group[32], what[32];
    int minute;
    const int count = sscanf(line, "%d%c:%31[^:]:%31[^ ]", &minute, &severity, group, what);
    FILE *file = fopen(path, "a");

    fprintf(file, "[2026-11-%02d %02d:%02d:12] ", 21 + minute / 1440, minute / 60 % 24,
            minute % 60);
    if (severity == 's') {
        fputs("[info] Initialization complete, entering read-loop.\n", file);
    } else {
        ck_assert_int_eq(count, 4);
        fprintf(file, NOTIFICATION "%s, ",
                severity == 'F'   ? "FAILURE"
                : severity == 'W' ? "WARNING"
                                  : "OKAY");
        write_message(group, what, severity, file);
    }
    fclose(file);
}

static void append_shown(const struct alert *alert, char *text, size_t size)
{
    const char *value = strstr(alert->message, "is currently ");
    const char *which = alert->type_instance;
    const bool has_value = strcmp(alert->plugin, "headroom") == 0 && value != NULL;
    const size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%c:%s:%s", used > 0 ? " " : "",
             *alert_word(alert->severity), alert->instance,
             strncmp(which, "trigger_x_", 10) == 0 ? which + 10 : which);
    if (has_value)
        snprintf(text + strlen(text), size - strlen(text), "=%d",
                 atoi(value + strlen("is currently ")));
}

START_TEST(shows_a_cause_once)
{
    char shown[512] = "";

    for (const char *line = causes[_i].lines; line != NULL; line = strchr(line, ' '))
        append_line(line += *line == ' ');
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    for (size_t i = 0; i < alerts_found(alerts)->count; i++)
        append_shown(&alerts_found(alerts)->entries[i], shown, sizeof(shown));
    ck_assert_msg(strcmp(shown, causes[_i].shown) == 0, "%s: %s", causes[_i].what, shown);
    ck_assert_uint_eq(alerts_found(alerts)->fresh, alerts_found(alerts)->count);
}
END_TEST

static const struct {
    const char *what, *lines, *kept; /* a "+" before what lasts */
} lasting[] = {
    {"ends don't hide it",
     "0W:a:cpu-full 0W:b:io-full 1W:c:cpu-full 1O:c:cpu-full 2W:d:cpu-full 2O:d:cpu-full "
     "3W:e:cpu-full 3O:e:cpu-full",
     "+W:a:cpu-full +W:b:io-full O:d:cpu-full W:e:cpu-full O:e:cpu-full"},
    {"more than are shown",
     "0W:a:cpu 0W:b:cpu 0W:c:cpu 0W:d:cpu 0W:e:cpu 0W:f:cpu 1O:f:cpu 1O:a:cpu",
     "+W:b:cpu +W:c:cpu +W:d:cpu +W:e:cpu O:a:cpu"},
    {"the worse one instead", "0W:a:cpu-full 1F:a:cpu-full", "W:a:cpu-full +F:a:cpu-full"},
    {"until the end of the cause", "0W:a:cpu 0W:a:cpu-full 1O:a:cpu", "+W:a:cpu"},
    {"which another series has", "0W:a:cpu 0W:a:cpu-full 1O:a:cpu 2O:a:cpu-full",
     "W:a:cpu O:a:cpu-full"},
    {"which a trigger has that was covered", "0F:a:cpu-full 1W:a:cpu 2O:a:cpu-full",
     "+F:a:cpu-full"},
    {"which <Alert> has", "0W:a:cpu 1W:a:room-cpu! 2O:a:cpu 3O:a:room-cpu", "W:a:cpu O:a:room-cpu"},
    {"not that of little room", "0F:a:cpu-full 1W:a:room-cpu=8 2O:a:room-cpu=8",
     "+F:a:cpu-full W:a:room-cpu=8 O:a:room-cpu"},
    {"no other resource's", "0W:a:cpu 0W:a:io 1O:a:io", "+W:a:cpu W:a:io O:a:io"},
    {"nor one of what isn't pressure", "0W:a:cpu-idle 0W:a:cpu-some-avg10 1O:a:cpu-idle",
     "W:a:cpu-idle +W:a:cpu-some-avg10 O:a:cpu-idle"},
    {"a kill is no state", "0F:a:oom_kill", "F:a:oom_kill"},
    {"nor what began a day ago", "0W:a:cpu-full 1440W:b:cpu-full", "W:a:cpu-full +W:b:cpu-full"},
    {"nor <Alert> once collectd ended", "0W:a:room-cpu! 0W:b:cpu-full 1start",
     "W:a:room-cpu +W:b:cpu-full"},
};

static void list_kept(char *kept, size_t size)
{
    size_t used = 0;

    kept[0] = '\0';
    for (size_t i = 0; i < alerts_found(alerts)->count && used < size; i++) {
        const struct alert *alert = &alerts_found(alerts)->entries[i];
        char text[128] = "";
        append_shown(alert, text, sizeof(text));
        used += (size_t)snprintf(kept + used, size - used, "%s%s%s", i > 0 ? " " : "",
                                 alert_lasts(alert) ? "+" : "", text);
    }
}

START_TEST(keeps_what_lasts)
{
    char kept[512];

    for (const char *line = lasting[_i].lines; line != NULL; line = strchr(line, ' '))
        append_line(line += *line == ' ');
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    list_kept(kept, sizeof(kept));
    ck_assert_msg(strcmp(kept, lasting[_i].kept) == 0, "%s: %s", lasting[_i].what, kept);
    ck_assert_uint_le(alerts_found(alerts)->fresh, ALERTS_SHOWN);
}
END_TEST

static void know(const char *identifiers)
{
    char *copy = strdup(identifiers), *rest = copy, *each;

    known_series_free(&known);
    while ((each = strsep(&rest, " ")) != NULL)
        ck_assert_int_eq(known_series_add(&known, each), 0);
    known_series_sort(&known);
    free(copy);
}

static const struct {
    const char *what, *known, *lines, *kept; /* a "+" before what lasts */
} watched[] = {
    {"a group that went away while collectd was restarted", "h/psi-b/percent-io-full",
     "0W:a:cpu-full 0W:b:io-full 1start", "W:a:cpu-full +W:b:io-full"},
    {"and is there", "h/psi-b/percent-io-full h/psi-a/percent-cpu-full",
     "0W:a:cpu-full 0W:b:io-full 1start", "+W:a:cpu-full +W:b:io-full"},
    {"as another one of its series", "h/psi-b/percent-io-full h/psi-a/percent-cpu-some",
     "0W:a:cpu-full 0W:b:io-full 1start", "W:a:cpu-full +W:b:io-full"},
    {"or that begins alike", "h/psi-b/percent-io-full h/psi-a/percent-cpu-full-avg10",
     "0W:a:cpu-full 1start", "W:a:cpu-full"},
    {"a start that isn't known", "h/psi-b/percent-io-full", "0W:a:cpu-full", "W:a:cpu-full"},
    {"a plugin without values", "h/headroom-b/percent-room h/psii-b/percent-io-full",
     "0W:a:cpu-full", "+W:a:cpu-full"},
    {"another host", "g/psi-b/percent-io-full", "0W:a:cpu-full", "+W:a:cpu-full"},
    {"a trigger, whose end is told after a restart", "h/psi-b/percent-io-full", "0W:a:cpu 1start",
     "+W:a:cpu"},
    {"more than are shown", "h/psi-a/percent-io-full",
     "0W:a:io-full 0W:b:io-full 0W:c:io-full 0W:d:io-full 0W:e:io-full 0W:f:io-full 1start",
     "+W:a:io-full W:c:io-full W:d:io-full W:e:io-full W:f:io-full"},
    {"others are as they would be without it",
     "h/psi-system/percent-cpu-some h/headroom-b/percent-room",
     "0W:a:cpu-full 1start 2W:system:cpu-some 2W:b:room=0",
     "W:a:cpu-full +W:system:cpu-some +W:b:room=0"},
    {"but for its own group", "h/psi-b/percent-io-full h/headroom-b/percent-room",
     "0W:a:cpu-full 0W:a:room=0 1start", "W:a:cpu-full"},
};

/* Nothing tells of the end of a threshold's alarm if its group went away without collectd. */
START_TEST(looks_for_values_of_what_lasts)
{
    char kept[512];

    know(watched[_i].known);
    for (const char *line = watched[_i].lines; line != NULL; line = strchr(line, ' '))
        append_line(line += *line == ' ');
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    list_kept(kept, sizeof(kept));
    ck_assert_msg(strcmp(kept, watched[_i].kept) == 0, "%s: %s", watched[_i].what, kept);
}
END_TEST

/* When collectd starts it has no values yet. */
START_TEST(has_an_alarm_again_with_its_values)
{
    char kept[512];

    append_line("0W:a:cpu-full");
    know("h/psi-a/percent-cpu-full h/psi-b/percent-io-full");
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    append_line("1start");
    know("h/psi-b/percent-io-full");
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    ck_assert(!alert_lasts(&alerts_found(alerts)->entries[0]));
    know("h/psi-a/percent-cpu-full h/psi-b/percent-io-full");
    append_line("2W:a:cpu-full");
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    list_kept(kept, sizeof(kept));
    ck_assert_str_eq(kept, "+W:a:cpu-full");
}
END_TEST

/* It isn't kept for that, though. */
START_TEST(has_an_alarm_anew_that_was_dropped)
{
    char kept[512];

    append_line("0W:a:cpu-full");
    know("h/psi-b/percent-io-full");
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    append_alerts(1, 6);
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    append_line("1start");
    append_line("2W:a:cpu-full");
    know("h/psi-a/percent-cpu-full");
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    list_kept(kept, sizeof(kept));
    ck_assert_ptr_nonnull(strstr(kept, "+W:a:cpu-full"));
}
END_TEST

START_TEST(says_that_an_alarm_has_no_values)
{
    char text[ALERT_TEXT_SIZE];

    append_line("0W:a:cpu-full");
    know("h/psi-b/percent-io-full");
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    alert_text(&alerts_found(alerts)->entries[0], false, text);
    ck_assert_str_eq(text, "no longer watched, as collectd has no value of it: all of a waits for "
                           "a CPU 9 % of the time; the limit is 1 %");
}
END_TEST

/* And the last of these. */
START_TEST(bounds_what_lasts)
{
    char line[64];

    for (int group = 0; group < 2 * ALERTS_LASTING; group++) {
        snprintf(line, sizeof(line), "0W:%d:io-full", group);
        append_line(line);
    }
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    ck_assert_uint_eq(alerts_found(alerts)->count, ALERTS_LASTING);
    ck_assert_uint_eq(alerts_found(alerts)->fresh, ALERTS_SHOWN);
    ck_assert_str_eq(alerts_found(alerts)->entries[ALERTS_LASTING - 1].instance, "199");
}
END_TEST

/* What was read before is dropped once a later alert says more. */
START_TEST(drops_what_says_less)
{
    append_line("0W:b:io-full");
    append_line("0W:system:cpu-some");
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    ck_assert_uint_eq(alerts_found(alerts)->count, 2);
    append_line("0W:a:cpu-full");
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    ck_assert_uint_eq(alerts_found(alerts)->count, 2);
    ck_assert_uint_eq(alerts_found(alerts)->fresh, 1);
    ck_assert_str_eq(alerts_found(alerts)->entries[0].instance, "b");
    ck_assert_str_eq(alerts_found(alerts)->entries[1].instance, "a");
}
END_TEST

static int count_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 64; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

START_TEST(holds_one_descriptor)
{
    append_alerts(1, 1);
    expect_alerts(0, "1 ");
    int before = count_descriptors();
    expect_alerts(0, "|1 ");
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(rename(path, old_path), 0);
        expect_alerts(-ENOENT, "|1 ");
        append("%s", "");
        expect_alerts(0, "|1 ");
    }
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

static void add_lines(TCase *tests)
{
    tcase_add_loop_test(tests, parses_line, 0, COUNT(good_lines));
    tcase_add_loop_test(tests, passes_over_line, 0, COUNT(other_lines));
    tcase_add_test(tests, parses_beginnings);
    tcase_add_test(tests, takes_no_zero_byte);
    tcase_add_test(tests, cuts_long_texts);
    tcase_add_test(tests, words_an_alert);
    tcase_add_loop_test(tests, puts_a_threshold_in_words, 0, COUNT(threshold_texts));
    tcase_add_loop_test(tests, puts_a_trigger_in_words, 0, COUNT(trigger_texts));
    tcase_add_test(tests, counts_alarms_of_one_wait_once);
    tcase_add_loop_test(tests, names_a_place_as_mails_do, 0, sizeof(places) / sizeof(places[0]));
    tcase_add_test(tests, names_the_machine_in_an_alarm);
    tcase_add_loop_test(tests, shortens_a_name_as_mails_do, 0, COUNT(short_names));
    tcase_add_loop_test(tests, has_the_pod_of_the_path, 0, COUNT(paths));
    tcase_add_test(tests, shortens_any_name);
    tcase_add_loop_test(tests, words_a_message_that_is_cut, 0, COUNT(cut_texts));
}

static void add_following(TCase *tests)
{
    tcase_add_test(tests, follows_growing_file);
    tcase_add_test(tests, waits_for_end_of_line);
    tcase_add_test(tests, remembers_the_last);
    tcase_add_test(tests, waits_for_file);
    tcase_add_test(tests, starts_again_when_truncated);
    tcase_add_test(tests, follows_rotation);
    tcase_add_test(tests, survives_time_without_file);
    tcase_add_test(tests, reports_what_is_no_file);
    tcase_add_test(tests, reads_end_of_huge_file);
    tcase_add_loop_test(tests, reads_first_whole_line, -2, 3);
    tcase_add_test(tests, skips_huge_backlog);
    tcase_add_test(tests, passes_over_long_lines);
    tcase_add_test(tests, passes_over_end_without_alarm);
    tcase_add_loop_test(tests, shows_a_cause_once, 0, COUNT(causes));
    tcase_add_loop_test(tests, keeps_what_lasts, 0, COUNT(lasting));
    tcase_add_loop_test(tests, looks_for_values_of_what_lasts, 0, COUNT(watched));
    tcase_add_test(tests, has_an_alarm_again_with_its_values);
    tcase_add_test(tests, has_an_alarm_anew_that_was_dropped);
    tcase_add_test(tests, says_that_an_alarm_has_no_values);
    tcase_add_test(tests, bounds_what_lasts);
    tcase_add_test(tests, drops_what_says_less);
    tcase_add_test(tests, holds_one_descriptor);
}

int main(void)
{
    TCase *tests = tcase_create("all");
    add_lines(tests);
    add_following(tests);
    /* Unchecked: the directory goes also when a test fails. */
    tcase_add_unchecked_fixture(tests, make_directory, remove_directory);
    tcase_add_checked_fixture(tests, open_alerts, close_alerts);
    return run_suite("alerts", tests);
}
