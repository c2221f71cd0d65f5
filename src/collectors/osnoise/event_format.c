/* SPDX-License-Identifier: MIT */
/*
 * osnoise/event_format.c - the formats of events in tracefs.
 *
 * They are read here rather than by libtracefs, whose tracefs_local_events_system() also reads all
 * symbols of the kernel (13 MB of /proc/kallsyms).
 */
#include "osnoise/event_format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <event-parse.h>

#include "base/reason.h"
#include "osnoise/ipi_senders.h"

#define FORMAT_SIZE 8192
#define HEADER_PAGE "events/header_page"

static const struct hr_event_spec event_specs[] = {
    {"ftrace",
     "osnoise",
     HR_OSNOISE_RECORD_SAMPLE,
     0,
     {"runtime", "noise", "max_sample", "hw_count", "nmi_count", "irq_count", "softirq_count",
      "thread_count"},
     NULL,
     false},
    /* The same for instances without the tracer; since Linux 6.15. */
    {"osnoise",
     "osnoise_sample",
     HR_OSNOISE_RECORD_SAMPLE,
     0,
     {"runtime", "noise", "max_sample", "hw_count", "nmi_count", "irq_count", "softirq_count",
      "thread_count"},
     NULL,
     true},
    {"osnoise",
     "sample_threshold",
     HR_OSNOISE_RECORD_SINGLE_NOISE,
     0,
     {"start", "duration", "interference"},
     NULL,
     false},
    {"osnoise",
     "irq_noise",
     HR_OSNOISE_RECORD_PART,
     HR_OSNOISE_IRQ,
     {"start", "duration", "vector"},
     "desc",
     false},
    {"osnoise",
     "softirq_noise",
     HR_OSNOISE_RECORD_PART,
     HR_OSNOISE_SOFTIRQ,
     {"start", "duration", "vector"},
     NULL,
     false},
    {"osnoise",
     "thread_noise",
     HR_OSNOISE_RECORD_PART,
     HR_OSNOISE_THREAD,
     {"start", "duration", "pid"},
     "comm",
     false},
    {"osnoise",
     "nmi_noise",
     HR_OSNOISE_RECORD_PART,
     HR_OSNOISE_NMI,
     {"start", "duration"},
     NULL,
     false},
    /* With CONFIG_TIMERLAT_TRACER. */
    {"ftrace",
     "timerlat",
     HR_OSNOISE_RECORD_LATENCY,
     0,
     {"seqnum", "context", "timer_latency"},
     NULL,
     true},
    {"workqueue", "workqueue_execute_start", HR_OSNOISE_RECORD_CAUSE, 0, {"function"}, NULL, true},
    {"timer", "hrtimer_expire_entry", HR_OSNOISE_RECORD_CAUSE, 0, {"function"}, NULL, true},
    {"timer", "timer_expire_entry", HR_OSNOISE_RECORD_CAUSE, 0, {"function"}, NULL, true},
    {"csd", "csd_function_entry", HR_OSNOISE_RECORD_CAUSE, 0, {"func", "csd"}, NULL, true},
    {HR_OSNOISE_IPI_SYSTEM,
     HR_OSNOISE_IPI_EVENT,
     HR_OSNOISE_RECORD_IPI,
     0,
     {"function", "csd", "last", "pid", "flags", "cpu"},
     NULL,
     true},
};

_Static_assert(sizeof(event_specs) / sizeof(event_specs[0]) == HR_EVENT_FORMATS, "");

/* --- Fields --------------------------------------------------------------- */

static void extend_event_size(struct hr_event_format *event, struct hr_field place)
{
    if (event->size < place.offset + place.size)
        event->size = place.offset + place.size;
}

static bool locate_field(const struct tep_format_field *field, struct hr_field *place)
{
    if (field == NULL || field->offset < 0 || field->size <= 0 || field->offset > UINT16_MAX ||
        field->size > UINT16_MAX)
        return false;
    *place = (struct hr_field){(size_t)field->offset, (size_t)field->size};
    return true;
}

static bool locate_number(const struct tep_format_field *field, struct hr_field *place)
{
    if (!locate_field(field, place) || (field->flags & TEP_FIELD_IS_ARRAY))
        return false;
    return place->size == 1 || place->size == 2 || place->size == 4 || place->size == 8;
}

static bool locate_text(const struct tep_format_field *field, struct hr_event_format *event)
{
    if (!locate_field(field, &event->text) || !(field->flags & TEP_FIELD_IS_ARRAY))
        return false;
    if (!(field->flags & TEP_FIELD_IS_DYNAMIC))
        event->text_storage = HR_TEXT_ARRAY;
    else
        event->text_storage =
            field->flags & TEP_FIELD_IS_RELATIVE ? HR_TEXT_REL_LOC : HR_TEXT_DATA_LOC;
    return event->text_storage == HR_TEXT_ARRAY || event->text.size == 4;
}

static int explain_missing_field(const struct hr_event_spec *event_spec, const char *field,
                                 struct hr_reason *reason)
{
    return hr_reason_set(
        reason, -EBADMSG,
        "the kernel's event %s:%s has no field %s that is understood: this version "
        "of headroom doesn't support this kernel",
        event_spec->system, event_spec->name, field);
}

static int locate_fields(struct tep_event *format, const struct hr_event_spec *event_spec,
                         struct hr_event_format *event, struct hr_reason *reason)
{
    for (size_t i = 0; i < HR_EVENT_NUMBERS && event_spec->numbers[i] != NULL; i++) {
        if (!locate_number(tep_find_field(format, event_spec->numbers[i]), &event->numbers[i]))
            return explain_missing_field(event_spec, event_spec->numbers[i], reason);
        extend_event_size(event, event->numbers[i]);
    }
    if (event_spec->text != NULL && !locate_text(tep_find_field(format, event_spec->text), event))
        return explain_missing_field(event_spec, event_spec->text, reason);
    extend_event_size(event, event->text);
    return 0;
}

/* What is of use, but not needed. */
static void locate_common_field(struct tep_event *format, const char *name,
                                struct hr_event_format *event, struct hr_field *place)
{
    if (locate_number(tep_find_common_field(format, name), place))
        extend_event_size(event, *place);
    else
        *place = (struct hr_field){0, 0};
}

static void locate_common_fields(struct tep_event *format, struct hr_event_format *event)
{
    locate_common_field(format, "common_pid", event, &event->pid);
    locate_common_field(format, "common_flags", event, &event->flags);
    locate_common_field(format, "common_preempt_count", event, &event->preempt_count);
}

/* Reads a format in tracefs, about 1 kB. @return its length, or a negative errno. */
static int read_format(const struct hr_tracefs *tracefs, const char *path, char text[FORMAT_SIZE],
                       struct hr_reason *reason)
{
    size_t length;

    int status = hr_tracefs_read(tracefs, path, text, FORMAT_SIZE, &length);
    if (status == -ENOENT)
        return hr_reason_set(reason, status,
                             "the kernel has no %s in tracefs: it needs CONFIG_OSNOISE_TRACER",
                             path);
    if (status < 0)
        return hr_reason_set(reason, status, "can't read %s in tracefs (%s)", path,
                             strerror(-status));
    return (int)length;
}

/* Errors in the rest of the format, such as how to print the event, don't matter. */
static struct tep_event *parse_format(struct tep_handle *tep,
                                      const struct hr_event_spec *event_spec, const char *text,
                                      int length)
{
    tep_parse_event(tep, text, (unsigned long)length, event_spec->system);
    return tep_find_event_by_name(tep, event_spec->system, event_spec->name);
}

static int read_event_format(struct hr_event_formats *formats, struct tep_handle *tep,
                             const struct hr_tracefs *tracefs, size_t i, struct hr_reason *reason)
{
    struct hr_event_format *event = &formats->events[i];
    const struct hr_event_spec *event_spec = &event_specs[i];
    char path[128], text[FORMAT_SIZE];

    snprintf(path, sizeof(path), "events/%s/%s/format", event_spec->system, event_spec->name);
    event->spec = event_spec;
    int length = read_format(tracefs, path, text, reason);
    if (length == -ENOENT && event_spec->may_lack) {
        event->id = UINT64_MAX;
        return 0;
    }
    if (length < 0)
        return length;
    struct tep_event *format = parse_format(tep, event_spec, text, length);
    if (format == NULL)
        return hr_reason_set(reason, -EBADMSG,
                             "can't parse the format of the kernel's event %s:%s: this version of "
                             "headroom doesn't support this kernel",
                             event_spec->system, event_spec->name);
    event->id = (uint64_t)format->id;
    if (!locate_number(tep_find_common_field(format, "common_type"), &formats->type))
        return explain_missing_field(event_spec, "common_type", reason);
    extend_event_size(event, formats->type);
    locate_common_fields(format, event);
    return locate_fields(format, event_spec, event, reason);
}

/* A run does without the events of causes. */
static int read_event(struct hr_event_formats *formats, struct tep_handle *tep,
                      const struct hr_tracefs *tracefs, size_t i, struct hr_reason *reason)
{
    const bool is_cause = hr_osnoise_is_of_function(event_specs[i].type);
    int status = read_event_format(formats, tep, tracefs, i, is_cause ? NULL : reason);

    if (status == 0 || !is_cause)
        return status;
    formats->events[i] = (struct hr_event_format){.spec = &event_specs[i], .id = UINT64_MAX};
    return 0;
}

/* "	field: local_t commit;	offset:8;	size:8;	signed:1;", and so on */
static int read_page_format(struct hr_event_formats *formats, struct tep_handle *tep,
                            const struct hr_tracefs *tracefs, struct hr_reason *reason)
{
    char text[FORMAT_SIZE];

    int length = read_format(tracefs, HEADER_PAGE, text, reason);
    if (length < 0)
        return length;
    int status = tep_parse_header_page(tep, text, (unsigned long)length, sizeof(long));
    int commit_size = tep_get_header_page_size(tep), page_size = tep_get_sub_buffer_size(tep);
    if (status != 0 || (commit_size != 4 && commit_size != 8) || page_size < 1024)
        return hr_reason_set(reason, -EBADMSG,
                             "can't parse tracefs' " HEADER_PAGE
                             ": this version of headroom doesn't support this kernel");
    formats->commit_size = (size_t)commit_size;
    formats->page_size = (size_t)page_size;
    return 0;
}

static int read_formats(struct hr_event_formats *formats, struct tep_handle *tep,
                        const struct hr_tracefs *tracefs, struct hr_reason *reason)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < HR_EVENT_FORMATS; i++)
        status = read_event(formats, tep, tracefs, i, reason);
    return status < 0 ? status : read_page_format(formats, tep, tracefs, reason);
}

int hr_event_formats_read(const struct hr_tracefs *tracefs, struct hr_event_formats *formats,
                          struct hr_reason *reason)
{
    struct tep_handle *tep = tep_alloc();

    if (tep == NULL)
        return hr_reason_set(reason, -ENOMEM, "out of memory");
    tep_set_loglevel(TEP_LOG_NONE); /* it would print what it can't parse */
    int status = read_formats(formats, tep, tracefs, reason);
    tep_free(tep);
    return status;
}
