/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_alerts.c - alert_parse: an input is a log file, each line of which is parsed. Whatever
 * it holds, nothing beyond its end is read. An accepted line has no zero byte; its severity and
 * texts are parts of it, and it has a time or none. Any other line leaves the alert unchanged.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "top/alert_text.h"
#include "top/alerts.h"

const char fuzz_corpus[] = "alerts";

static void require_part(const char *text, size_t size, const char *line, size_t length)
{
    size_t used = strnlen(text, size);
    require(used < size && memchr(text, '\n', used) == NULL);
    require(used == 0 || memmem(line, length, text, used) != NULL);
}

static void require_time(const char *time)
{
    static const char shape[] = "dddd-dd-dd dd:dd:dd";
    if (time[0] == '\0')
        return;
    for (size_t i = 0; i < sizeof(shape); i++)
        require(shape[i] == 'd' ? isdigit((unsigned char)time[i]) : time[i] == shape[i]);
}

static void require_sensible(const struct alert *alert, const char *line, size_t length)
{
    require(alert->severity == ALERT_FAILURE || alert->severity == ALERT_WARNING ||
            alert->severity == ALERT_OKAY);
    require(memchr(line, '\0', length) == NULL);
    const char *word = alert_word(alert->severity);
    require(memmem(line, length, word, strlen(word)) != NULL);
    require_part(alert->time, sizeof(alert->time), line, length);
    require_part(alert->host, sizeof(alert->host), line, length);
    require_part(alert->instance, sizeof(alert->instance), line, length);
    require_part(alert->type_instance, sizeof(alert->type_instance), line, length);
    require_part(alert->message, sizeof(alert->message), line, length);
    require_time(alert->time);
}

/* Behind the group's name, which is as long as the instance, come the cause, who took a CPU and who
 * waits, each behind a colon, a semicolon between them. */
static void require_findings(const struct alert *alert, const char *text)
{
    static const char before[] = " ms) in ";
    const bool is_system = strcmp(alert->instance, "system") == 0;
    const char *at = strstr(alert->message, before);

    require(at != NULL);
    at += strlen(before) + strlen(is_system ? "the system" : alert->instance);
    while (*at != '\0') {
        const char *next = strstr(at, "; "), *end = next != NULL ? next : at + strlen(at);
        const char *found = memmem(at, (size_t)(end - at), ": ", strlen(": "));
        if (found != NULL) {
            found += strlen(": ");
            require(memmem(text, strlen(text), found, (size_t)(end - found)) != NULL);
        }
        at = next != NULL ? next + strlen("; ") : end;
    }
}

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Of a trigger's message: behind its resource and level come the stall and its findings, or how it
 * has ended. */
static void require_in_words(const struct alert *alert, const char *text)
{
    const char *what = strstr(alert->message, ": ");

    require(strcmp(alert->plugin, "psi") == 0 && what != NULL);
    if (begins_with(what, ": stalled "))
        require_findings(alert, text);
    else
        require(begins_with(what, ": below ") || begins_with(what, ": no longer watched in "));
}

/* The text that is shown: the whole message, but that of a threshold, or of the end of its alarm as
 * no value comes, in other words; and so a trigger's stall, of which nothing that was found out is
 * missing, and its end. Before it the host, or not. */
static void require_shown(const struct alert *alert)
{
    char text[ALERT_TEXT_SIZE], with_host[ALERT_TEXT_SIZE];
    const char *message = alert->message[0] != '\0' ? alert->message : "-";

    require(alert_clock(alert)[0] != '\0');
    alert_text(alert, false, text);
    require(text[0] != '\0' && memchr(text, '\n', strlen(text)) == NULL);
    if (!alert_is_by_threshold(alert) && strstr(alert->message, ": no longer watched: ") == NULL &&
        strcmp(text, message) != 0)
        require_in_words(alert, text);
    alert_text(alert, true, with_host);
    require(strncmp(with_host, alert->host, strlen(alert->host)) == 0);
    require(strstr(with_host, text) != NULL);
}

static void parse_line(const uint8_t *data, size_t length)
{
    struct alert alert, before;
    char *line = malloc(length > 0 ? length : 1); /* of just this size: beyond is not ours */
    memcpy(line, data, length);
    memset(&alert, 0xa5, sizeof(alert));
    before = alert;
    int status = alert_parse(line, length, &alert);
    require(status == 0 || status == -ENOENT || status == -EBADMSG);
    if (status == 0) {
        require_sensible(&alert, line, length);
        require_shown(&alert);
    } else {
        require(memcmp(&alert, &before, sizeof(alert)) == 0);
    }
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t length = end != NULL ? (size_t)(end - data) : size;
        parse_line(data, length);
        if (end == NULL)
            break;
        data += length + 1;
        size -= length + 1;
    }
    return 0;
}
