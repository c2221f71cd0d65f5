/* SPDX-License-Identifier: MIT */
#include "osnoise/cause_events.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "base/text.h"
#include "headroom/array.h"
#include "headroom/osnoise.h"

/* How many functions the table of an event has room for. */
#define TABLE_SIZE "512"

/* A table with that many, and long names of them. */
#define MAX_TEXT ((size_t)1 << 20)

/* Outside the time in which the workload looks for noise its thread doesn't run, so that timers
 * aren't recorded either. */
#define IN_WORKLOAD "COMM ~ \"osnoise/*\" || COMM ~ \"ksoftirqd/*\" || COMM ~ \"ktimers/*\""

static const struct cause_event {
    const char *event, *field;
    const char *filter; /* NULL: none */
} cause_events[] = {
    {"workqueue/workqueue_execute_start", "function", NULL},
    {"timer/hrtimer_expire_entry", "function", IN_WORKLOAD},
    {"timer/timer_expire_entry", "function", IN_WORKLOAD},
    {"csd/csd_function_entry", "func", IN_WORKLOAD},
};

#define CAUSE_EVENTS (sizeof(cause_events) / sizeof(cause_events[0]))

static void print_path(char path[PATH_MAX], const char *instance, const struct cause_event *event,
                       const char *file)
{
    snprintf(path, PATH_MAX, "instances/%s/events/%s/%s", instance, event->event, file);
}

/* --- Recording ------------------------------------------------------------ */

/* Functions without names would be of no use. */
static int add_table(const struct hr_tracefs *tracefs, const char *instance,
                     const struct cause_event *event)
{
    char path[PATH_MAX], text[256];

    print_path(path, instance, event, "trigger");
    snprintf(text, sizeof(text), "hist:keys=%s.sym:size=" TABLE_SIZE "%s%s", event->field,
             event->filter != NULL ? " if " : "", event->filter != NULL ? event->filter : "");
    return hr_tracefs_append(tracefs, path, text);
}

static void record_event(const struct hr_tracefs *tracefs, const char *instance,
                         const struct cause_event *event)
{
    char path[PATH_MAX];

    int status = add_table(tracefs, instance, event);
    print_path(path, instance, event, "filter");
    if (status == 0 && event->filter != NULL)
        status = hr_tracefs_write(tracefs, path, event->filter);
    print_path(path, instance, event, "enable");
    if (status == 0)
        hr_tracefs_write(tracefs, path, "1");
}

void hr_osnoise_cause_events_record(const struct hr_tracefs *tracefs, const char *instance)
{
    for (size_t i = 0; i < CAUSE_EVENTS; i++)
        record_event(tracefs, instance, &cause_events[i]);
}

/* --- Names ---------------------------------------------------------------- */

struct name {
    uint64_t function;
    char text[HR_OSNOISE_NAME];
};

struct hr_osnoise_function_names {
    char *instance;
    bool is_read; /* since the last hr_osnoise_function_names_renew() */
    struct hr_file_text text;
    struct name *list;
    size_t count, capacity;
};

int hr_osnoise_function_names_open(const char *instance, struct hr_osnoise_function_names **names)
{
    struct hr_osnoise_function_names *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return -ENOMEM;
    made->instance = strdup(instance);
    if (made->instance == NULL) {
        free(made);
        return -ENOMEM;
    }
    *names = made;
    return 0;
}

void hr_osnoise_function_names_close(struct hr_osnoise_function_names *names)
{
    if (names == NULL)
        return;
    free(names->instance);
    free(names->text.start);
    free(names->list);
    free(names);
}

void hr_osnoise_function_names_renew(struct hr_osnoise_function_names *names)
{
    if (names != NULL)
        names->is_read = false;
}

/* "{ function: [ffffffff8110d8e0] tick_nohz_handler                 } hitcount:        109\n" */
static bool parse_name(struct hr_text line, const char *field, struct name *name)
{
    static const char behind[] = " } hitcount:";
    size_t length;

    if (!hr_text_skip(&line, "{ ") || !hr_text_skip(&line, field) || !hr_text_skip(&line, ": [") ||
        !hr_text_hex(&line, &name->function) || !hr_text_skip(&line, "] "))
        return false;
    const char *end = memmem(line.start, line.length, behind, sizeof(behind) - 1);
    if (end == NULL)
        return false;
    for (length = (size_t)(end - line.start); length > 0 && line.start[length - 1] == ' '; length--)
        ;
    if (length >= sizeof(name->text))
        length = sizeof(name->text) - 1;
    memcpy(name->text, line.start, length);
    name->text[length] = '\0';
    return length > 0;
}

static void add_names(struct hr_osnoise_function_names *names, const char *field)
{
    struct hr_text rest = {names->text.start, names->text.length};

    while (rest.length > 0) {
        struct name name;
        const struct hr_text line = rest;
        if (!hr_text_skip_line(&rest))
            return;
        if (!parse_name((struct hr_text){line.start, line.length - rest.length}, field, &name))
            continue;
        if (HR_ARRAY_RESERVE(names->list, names->capacity, names->count + 1) < 0)
            return;
        names->list[names->count++] = name;
    }
}

/* A table that can't be read has no names. */
static void read_names(struct hr_osnoise_function_names *names, const struct hr_tracefs *tracefs)
{
    char path[PATH_MAX];

    names->count = 0;
    for (size_t i = 0; i < CAUSE_EVENTS; i++) {
        print_path(path, names->instance, &cause_events[i], "hist");
        int fd = openat(tracefs->fd, path, O_RDONLY | O_CLOEXEC);
        if (hr_file_text_read_and_close(fd < 0 ? -errno : fd, MAX_TEXT, &names->text) == 0)
            add_names(names, cause_events[i].field);
    }
    names->is_read = true;
}

static const char *find_name(const struct hr_osnoise_function_names *names, uint64_t function)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->list[i].function == function)
            return names->list[i].text;
    return NULL;
}

const char *hr_osnoise_function_name(struct hr_osnoise_function_names *names,
                                     const struct hr_tracefs *tracefs, uint64_t function)
{
    if (names == NULL)
        return NULL;
    const char *found = find_name(names, function);
    if (found != NULL || names->is_read)
        return found;
    read_names(names, tracefs);
    return find_name(names, function);
}
