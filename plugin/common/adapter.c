#include "common/adapter.h"

#include <math.h>
#include <stdarg.h>

#include "headroom/hash.h"

/* Of a shortened instance at least so much of the head is kept, however long the leaf. */
#define MIN_HEAD 16

/* What wasn't seen for so long is news again. */
#define FORGET_AFTER TIME_T_TO_CDTIME_T_STATIC(3600)

uint64_t adapter_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool is_inside_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static void escape(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '/' || (unsigned char)*text < ' ' || *text == 0x7f)
            *text = '_';
}

void adapter_instance(const char *text, const char *path, bool distinct,
                      char instance[DATA_MAX_NAME_LEN])
{
    const size_t most = DATA_MAX_NAME_LEN - 1;
    const size_t length = strlen(text);
    char mark[10];

    snprintf(mark, sizeof(mark), "~%08x", hr_hash(path));
    if (length <= most && !distinct) {
        snprintf(instance, DATA_MAX_NAME_LEN, "%s", text);
    } else if (length + strlen(mark) <= most) {
        snprintf(instance, DATA_MAX_NAME_LEN, "%s%s", text, mark);
    } else {
        const size_t room = most - strlen(mark);
        const char *tail = strrchr(text, '/') != NULL ? strrchr(text, '/') : text;
        if (strlen(tail) > room - MIN_HEAD)
            tail = text + length - (room - MIN_HEAD);
        while (is_inside_character(*tail))
            tail++;
        size_t head = room - strlen(tail);
        while (head > 0 && is_inside_character(text[head]))
            head--;
        snprintf(instance, DATA_MAX_NAME_LEN, "%.*s%s%s", (int)head, text, mark, tail);
    }
    escape(instance);
}

static void submit(const struct submission *submission, const char *type, const char *type_instance,
                   value_t value)
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
    plugin_dispatch_values(&list);
}

void adapter_submit_gauge(const struct submission *submission, const char *type,
                          const char *type_instance, double value)
{
    if (!isnan(value))
        submit(submission, type, type_instance, (value_t){.gauge = value});
}

void adapter_submit_derive(const struct submission *submission, const char *type,
                           const char *type_instance, int64_t value)
{
    submit(submission, type, type_instance, (value_t){.derive = value});
}

bool adapter_is_news(struct tally *tally, size_t count)
{
    cdtime_t now = cdtime();

    if (count == 0) {
        if (now - tally->last_seen > FORGET_AFTER)
            tally->told = 0;
        return false;
    }
    tally->last_seen = now;
    if (count < 2 * tally->told)
        return false;
    tally->told = count;
    return true;
}

static void log_message(int severity, const char *format, va_list arguments)
{
    char message[1024];

    vsnprintf(message, sizeof(message), format, arguments);
    plugin_log(severity, "%s", message);
}

void adapter_complain(struct complaint *complaint, int severity, int cause, const char *format, ...)
{
    va_list arguments;

    if (complaint->cause == cause)
        return;
    complaint->cause = cause;
    va_start(arguments, format);
    log_message(severity, format, arguments);
    va_end(arguments);
}

void adapter_relieve(struct complaint *complaint, const char *format, ...)
{
    va_list arguments;

    if (complaint->cause == 0)
        return;
    complaint->cause = 0;
    va_start(arguments, format);
    log_message(LOG_INFO, format, arguments);
    va_end(arguments);
}
