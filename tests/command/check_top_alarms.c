/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_alarms.c - which alerts are shown: one for each cause, and those that last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/alert_log.h"
#include "support/suite.h"
#include "top/alert_text.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

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
    {"goes on after a restart", "0W:a:room-cpu! 1start 2W:a:cpu-full 2W:a:room=0", "W:a:room-cpu"},
    {"and ends", "0W:a:room-cpu! 1start 2W:a:cpu-full 3O:a:cpu-full 4O:a:room-cpu 5W:a:cpu-full",
     "W:a:room-cpu O:a:room-cpu W:a:cpu-full"},
    {"and is notified again after a crash", "0W:a:room-cpu! 1start 2W:a:room-cpu! 3W:a:cpu-full",
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
    {"unknown starts", "0W:a:room-cpu! 120W:a:cpu-full", "W:a:room-cpu"},
    {"and ends beside it", "0W:a:cpu-full 0W:a:room-cpu! 120O:a:cpu-full 130O:a:room-cpu",
     "W:a:cpu-full O:a:room-cpu"},
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
    {"or is the most", "0W:a:memory-full 0W:a:room-memory-most=0", "W:a:memory-full"},
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
    {"the machine's, before an <Alert> of who waits", "0W:system:cpu-some 0W:a:room-cpu!",
     "W:a:room-cpu"},
    {"and after it", "0W:a:room-cpu! 0W:system:cpu-some 0W:b:room=0", "W:a:room-cpu"},
    {"its <Alert>, too", "0W:a:room-cpu! 1W:system:room-cpu!", "W:a:room-cpu"},
    {"not of who takes", "0W:system:cpu-some 0W:a:room-cpu* 0W:b:room=0",
     "W:system:cpu-some W:a:room-cpu W:b:room=0"},
    {"its last sign", "0W:a:room-memory 10F:a:room-memory 14F:a:room=8",
     "W:a:room-memory F:a:room-memory"},
};

static void write_message(const char *group, const char *what, char severity, FILE *out)
{
    const char *value = strchr(what, '=');
    const char *type = strncmp(what, "to_trouble", 10) == 0 ? "duration" : "percent";
    const int length = (int)strcspn(what, "=!?~^*");
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
                what, length - 5, what + 5,
                what[length] == '!'   ? "now in a; taking: b 75 %"
                : what[length] == '*' ? "now in a; taking: itself 75 %"
                                      : "in 42 min");
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
    {"<Alert>, over a restart", "0W:a:room-cpu! 0W:b:cpu-full 1start",
     "+W:a:room-cpu +W:b:cpu-full"},
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

static const struct {
    const char *what, *lines, *kept; /* a "-" before what is over */
} ended[] = {
    {"an alarm", "0W:a:cpu-full 0W:b:io-full 1O:a:cpu-full",
     "-W:a:cpu-full W:b:io-full O:a:cpu-full"},
    {"that got worse", "0W:a:cpu-full 1F:a:cpu-full", "W:a:cpu-full F:a:cpu-full"},
    {"and then ended", "0W:a:cpu-full 1F:a:cpu-full 2O:a:cpu-full",
     "-W:a:cpu-full -F:a:cpu-full O:a:cpu-full"},
    {"of two series", "0W:a:cpu 0F:a:cpu-full 1O:a:cpu-full 2O:a:cpu",
     "-W:a:cpu -F:a:cpu-full O:a:cpu"},
    {"and began again", "0W:a:cpu 1O:a:cpu 2W:a:cpu", "-W:a:cpu O:a:cpu W:a:cpu"},
    {"not what began a day ago", "0W:a:cpu-full 1440W:b:cpu-full", "W:a:cpu-full W:b:cpu-full"},
    {"nor a kill", "0F:a:oom_kill 0W:a:cpu 1O:a:cpu", "F:a:oom_kill -W:a:cpu O:a:cpu"},
};

START_TEST(knows_what_is_over)
{
    char kept[512] = "";

    for (const char *line = ended[_i].lines; line != NULL; line = strchr(line, ' '))
        append_line(line += *line == ' ');
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    for (size_t i = 0; i < alerts_found(alerts)->count; i++) {
        const struct alert *alert = &alerts_found(alerts)->entries[i];
        char text[128] = "";
        append_shown(alert, text, sizeof(text));
        snprintf(kept + strlen(kept), sizeof(kept) - strlen(kept), "%s%s%s", i > 0 ? " " : "",
                 alert->is_over ? "-" : "", text);
    }
    ck_assert_msg(strcmp(kept, ended[_i].kept) == 0, "%s: %s", ended[_i].what, kept);
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
    {"a group that went away while collectd was restarted",
     "h/psi-b/percent-io-full h/psi-b/percent-cpu-full", "0W:a:cpu-full 0W:b:io-full 1start",
     "W:a:cpu-full +W:b:io-full"},
    {"and is there", "h/psi-b/percent-io-full h/psi-a/percent-cpu-full",
     "0W:a:cpu-full 0W:b:io-full 1start", "+W:a:cpu-full +W:b:io-full"},
    {"as another one of its series",
     "h/psi-b/percent-io-full h/psi-b/percent-cpu-full h/psi-a/percent-cpu-some",
     "0W:a:cpu-full 0W:b:io-full 1start", "W:a:cpu-full +W:b:io-full"},
    {"or that begins alike", "h/psi-b/percent-cpu-full h/psi-a/percent-cpu-full-avg10",
     "0W:a:cpu-full 1start", "W:a:cpu-full"},
    {"a start that isn't known", "h/psi-b/percent-cpu-full", "0W:a:cpu-full", "W:a:cpu-full"},
    {"a plugin without values", "h/headroom-b/percent-room h/psii-b/percent-io-full",
     "0W:a:cpu-full", "+W:a:cpu-full"},
    {"a plugin's first interval, which has counters only",
     "h/psi-a/derive-cpu-full h/psi-b/derive-cpu-full h/psi-system/derive-cpu-full",
     "0F:a:cpu-full 1start", "+F:a:cpu-full"},
    {"or values of the system", "h/psi-system/percent-cpu-idle h/psi-b/derive-cpu-full",
     "0F:a:cpu-full 1start", "+F:a:cpu-full"},
    {"or those that need one interval", "h/headroom-a/percent-room-memory",
     "0W:a:room-cpu=0 1start", "+W:a:room-cpu=0"},
    {"of another host", "g/psi-b/percent-cpu-full h/psi-b/percent-io-full", "0W:a:cpu-full",
     "+W:a:cpu-full"},
    {"or plugin", "h/psii-b/percent-cpu-full h/psi/percent-cpu-full", "0W:a:cpu-full",
     "+W:a:cpu-full"},
    {"another host", "g/psi-b/percent-io-full", "0W:a:cpu-full", "+W:a:cpu-full"},
    {"a trigger of before a restart, that isn't there any more",
     "h/psi-b/percent-cpu-full h/psi-b/derive-trigger_x_cpu", "0W:a:cpu 1start", "W:a:cpu"},
    {"one that is", "h/psi-b/percent-cpu-full h/psi-a/derive-trigger_x_cpu", "0W:a:cpu 1start",
     "+W:a:cpu"},
    {"one of after it, of a group without series", "h/psi-b/percent-cpu-full", "0start 1W:a:cpu",
     "+W:a:cpu"},
    {"a trigger while psi has no values", "h/headroom-b/percent-room g/psi-b/percent-cpu-full",
     "0W:a:cpu 1start", "+W:a:cpu"},
    {"more than are shown", "h/psi-a/percent-io-full",
     "0W:a:io-full 0W:b:io-full 0W:c:io-full 0W:d:io-full 0W:e:io-full 0W:f:io-full 1start",
     "+W:a:io-full W:c:io-full W:d:io-full W:e:io-full W:f:io-full"},
    {"others are as they would be without it",
     "h/psi-b/percent-cpu-full h/psi-system/percent-cpu-some h/headroom-b/percent-room",
     "0W:a:cpu-full 1start 2W:system:cpu-some 2W:b:room=0",
     "W:a:cpu-full +W:system:cpu-some +W:b:room=0"},
    {"but for its own group", "h/psi-b/percent-cpu-full h/headroom-b/percent-room",
     "0W:a:cpu-full 0W:a:room=0 1start", "W:a:cpu-full"},
};

/* Nothing reports the end of a threshold's alarm if its group went away without collectd. */
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

static void expect_kept(const char *expected)
{
    char kept[512];

    ck_assert_int_eq(alerts_read(alerts, &known, NULL), 0);
    list_kept(kept, sizeof(kept));
    ck_assert_str_eq(kept, expected);
}

/* When collectd starts it has no values yet, then those of some groups, at any moment. */
START_TEST(keeps_an_alarm_while_collectd_starts)
{
    append_line("0W:a:cpu-full");
    know("h/psi-a/percent-cpu-full h/psi-b/percent-cpu-full");
    expect_kept("+W:a:cpu-full");
    append_line("1start");
    know("h/psi-a/derive-cpu-full h/psi-b/derive-cpu-full");
    expect_kept("+W:a:cpu-full");
    expect_kept("+W:a:cpu-full");
    know("h/psi-b/percent-cpu-full");
    expect_kept("+W:a:cpu-full");
    know("h/psi-a/percent-cpu-full h/psi-b/percent-cpu-full");
    expect_kept("+W:a:cpu-full");
    know("h/psi-b/percent-cpu-full");
    expect_kept("+W:a:cpu-full");
    expect_kept("W:a:cpu-full");
}
END_TEST

/* The list of series is from before the alert. */
START_TEST(has_an_alarm_of_a_group_that_is_new)
{
    know("h/psi-b/percent-cpu-full");
    append_line("0W:b:cpu-full");
    expect_kept("+W:b:cpu-full");
    append_line("1W:a:cpu-full");
    expect_kept("+W:b:cpu-full +W:a:cpu-full");
    know("h/psi-a/percent-cpu-full h/psi-b/percent-cpu-full");
    expect_kept("+W:b:cpu-full +W:a:cpu-full");
}
END_TEST

/* As when a group is selected again. */
START_TEST(has_an_alarm_again_with_its_values)
{
    append_line("0W:a:cpu-full");
    know("h/psi-a/percent-cpu-full h/psi-b/percent-cpu-full");
    expect_kept("+W:a:cpu-full");
    append_line("1start");
    know("h/psi-b/percent-cpu-full");
    expect_kept("+W:a:cpu-full");
    expect_kept("W:a:cpu-full");
    know("h/psi-a/percent-cpu-full h/psi-b/percent-cpu-full");
    append_line("2W:a:cpu-full");
    expect_kept("+W:a:cpu-full");
}
END_TEST

/* It isn't kept for that, though. */
START_TEST(has_an_alarm_again_that_was_dropped)
{
    char kept[512];

    append_line("0W:a:cpu-full");
    know("h/psi-b/percent-cpu-full");
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
    know("h/psi-b/percent-cpu-full");
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

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, passes_over_end_without_alarm);
    tcase_add_loop_test(tests, shows_a_cause_once, 0, COUNT(causes));
    tcase_add_loop_test(tests, keeps_what_lasts, 0, COUNT(lasting));
    tcase_add_loop_test(tests, knows_what_is_over, 0, COUNT(ended));
    tcase_add_loop_test(tests, looks_for_values_of_what_lasts, 0, COUNT(watched));
    tcase_add_test(tests, keeps_an_alarm_while_collectd_starts);
    tcase_add_test(tests, has_an_alarm_of_a_group_that_is_new);
    tcase_add_test(tests, has_an_alarm_again_with_its_values);
    tcase_add_test(tests, has_an_alarm_again_that_was_dropped);
    tcase_add_test(tests, says_that_an_alarm_has_no_values);
    tcase_add_test(tests, bounds_what_lasts);
    tcase_add_test(tests, drops_what_says_less);
    add_alert_log(tests);
    return run_suite("alarms", tests);
}
