/* SPDX-License-Identifier: MIT */
/*
 * osnoise/records.c - decoding the trace buffers of the osnoise tracer.
 *
 * Pages are walked here rather than by libtraceevent's kbuffer, which trusts the lengths in them.
 * Formats are read here rather than by libtracefs, whose tracefs_local_events_system() also reads
 * all symbols of the kernel (13 MB of /proc/kallsyms).
 */
#include "osnoise/records.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "base/reason.h"

/* --- Formats of events ---------------------------------------------------- */

#define NUMBERS     8
#define FORMAT_SIZE 8192
#define HEADER_PAGE "events/header_page"

/* An event, and the names of its fields: numbers in the order of make_record(), and a text. */
struct event_spec {
    const char *system, *name;
    enum hr_osnoise_record_type type;
    enum hr_osnoise_kind kind;
    const char *numbers[NUMBERS];
    const char *text;
    bool may_lack; /* older kernels, or those without a tracer, have no such event */
};

static const struct event_spec event_specs[] = {
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
    {"csd", "csd_function_entry", HR_OSNOISE_RECORD_CAUSE, 0, {"func"}, NULL, true},
};

#define EVENT_SPECS (sizeof(event_specs) / sizeof(event_specs[0]))

struct place {
    size_t offset, size;
};

/* How an event has a text: in the field itself; or the field has its position in the low 16 bits,
 * and its length in the high 16 bits. The position counts from the start of the event (__data_loc),
 * or from the end of the field (__rel_loc). */
enum text_storage { TEXT_ARRAY, TEXT_DATA_LOC, TEXT_REL_LOC };

struct event {
    uint64_t id;
    size_t size;                            /* its minimum size */
    struct place pid, flags, preempt_count; /* of any event; empty: there is none */
    struct place numbers[NUMBERS], text;
    enum text_storage text_storage;
};

struct hr_osnoise_decoder {
    struct place type;  /* of any event: the field of its ID */
    size_t header_size; /* of a page: a time and the used size */
    size_t commit_size; /* of the used size, a long of the kernel */
    size_t page_size;
    struct event events[EVENT_SPECS];
};

static void extend_event_size(struct event *event, struct place place)
{
    if (event->size < place.offset + place.size)
        event->size = place.offset + place.size;
}

static bool locate_field(const struct tep_format_field *field, struct place *place)
{
    if (field == NULL || field->offset < 0 || field->size <= 0 || field->offset > UINT16_MAX ||
        field->size > UINT16_MAX)
        return false;
    *place = (struct place){(size_t)field->offset, (size_t)field->size};
    return true;
}

static bool locate_number(const struct tep_format_field *field, struct place *place)
{
    if (!locate_field(field, place) || (field->flags & TEP_FIELD_IS_ARRAY))
        return false;
    return place->size == 1 || place->size == 2 || place->size == 4 || place->size == 8;
}

static bool locate_text(const struct tep_format_field *field, struct event *event)
{
    if (!locate_field(field, &event->text) || !(field->flags & TEP_FIELD_IS_ARRAY))
        return false;
    if (!(field->flags & TEP_FIELD_IS_DYNAMIC))
        event->text_storage = TEXT_ARRAY;
    else
        event->text_storage = field->flags & TEP_FIELD_IS_RELATIVE ? TEXT_REL_LOC : TEXT_DATA_LOC;
    return event->text_storage == TEXT_ARRAY || event->text.size == 4;
}

static int explain_missing_field(const struct event_spec *event_spec, const char *field,
                                 struct hr_reason *reason)
{
    return hr_reason_set(
        reason, -EBADMSG,
        "the kernel's event %s:%s has no field %s that is understood: this version "
        "of headroom doesn't support this kernel",
        event_spec->system, event_spec->name, field);
}

static int locate_fields(struct tep_event *format, const struct event_spec *event_spec,
                         struct event *event, struct hr_reason *reason)
{
    for (size_t i = 0; i < NUMBERS && event_spec->numbers[i] != NULL; i++) {
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
static void locate_common_field(struct tep_event *format, const char *name, struct event *event,
                                struct place *place)
{
    if (locate_number(tep_find_common_field(format, name), place))
        extend_event_size(event, *place);
    else
        *place = (struct place){0, 0};
}

static void locate_common_fields(struct tep_event *format, struct event *event)
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
static struct tep_event *parse_format(struct tep_handle *tep, const struct event_spec *event_spec,
                                      const char *text, int length)
{
    tep_parse_event(tep, text, (unsigned long)length, event_spec->system);
    return tep_find_event_by_name(tep, event_spec->system, event_spec->name);
}

static int read_event_format(struct hr_osnoise_decoder *decoder, struct tep_handle *tep,
                             const struct hr_tracefs *tracefs, size_t i, struct hr_reason *reason)
{
    struct event *event = &decoder->events[i];
    const struct event_spec *event_spec = &event_specs[i];
    char path[128], text[FORMAT_SIZE];

    snprintf(path, sizeof(path), "events/%s/%s/format", event_spec->system, event_spec->name);
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
    if (!locate_number(tep_find_common_field(format, "common_type"), &decoder->type))
        return explain_missing_field(event_spec, "common_type", reason);
    extend_event_size(event, decoder->type);
    locate_common_fields(format, event);
    return locate_fields(format, event_spec, event, reason);
}

/* A run does without the events of causes. */
static int read_event(struct hr_osnoise_decoder *decoder, struct tep_handle *tep,
                      const struct hr_tracefs *tracefs, size_t i, struct hr_reason *reason)
{
    const bool is_cause = event_specs[i].type == HR_OSNOISE_RECORD_CAUSE;
    int status = read_event_format(decoder, tep, tracefs, i, is_cause ? NULL : reason);

    if (status == 0 || !is_cause)
        return status;
    decoder->events[i] = (struct event){.id = UINT64_MAX};
    return 0;
}

/* "	field: local_t commit;	offset:8;	size:8;	signed:1;", and so on */
static int read_page_format(struct hr_osnoise_decoder *decoder, struct tep_handle *tep,
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
    decoder->commit_size = (size_t)commit_size;
    decoder->header_size = sizeof(uint64_t) + decoder->commit_size;
    decoder->page_size = (size_t)page_size;
    return 0;
}

static int read_formats(struct hr_osnoise_decoder *decoder, struct tep_handle *tep,
                        const struct hr_tracefs *tracefs, struct hr_reason *reason)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < EVENT_SPECS; i++)
        status = read_event(decoder, tep, tracefs, i, reason);
    return status < 0 ? status : read_page_format(decoder, tep, tracefs, reason);
}

int hr_osnoise_decoder_open(const struct hr_tracefs *tracefs, struct hr_osnoise_decoder **decoder,
                            struct hr_reason *reason)
{
    struct hr_osnoise_decoder *made = calloc(1, sizeof(*made));
    struct tep_handle *tep = made != NULL ? tep_alloc() : NULL;
    int status;

    tep_set_loglevel(TEP_LOG_NONE); /* it would print what it can't parse */
    if (tep == NULL)
        status = hr_reason_set(reason, -ENOMEM, "out of memory");
    else
        status = read_formats(made, tep, tracefs, reason);
    tep_free(tep);
    if (status < 0)
        free(made);
    else
        *decoder = made;
    return status;
}

void hr_osnoise_decoder_close(struct hr_osnoise_decoder *decoder)
{
    free(decoder);
}

size_t hr_osnoise_decoder_page_size(const struct hr_osnoise_decoder *decoder)
{
    return decoder->page_size;
}

/* --- One event ------------------------------------------------------------ */

/* The byte order is that of the running kernel. */
static uint64_t get_number(const unsigned char *data, struct place place)
{
    uint8_t of_1;
    uint16_t of_2;
    uint32_t of_4;
    uint64_t of_8;

    data += place.offset;
    switch (place.size) {
    case 0:
        return 0;
    case 1:
        memcpy(&of_1, data, sizeof(of_1));
        return of_1;
    case 2:
        memcpy(&of_2, data, sizeof(of_2));
        return of_2;
    case 4:
        memcpy(&of_4, data, sizeof(of_4));
        return of_4;
    default:
        memcpy(&of_8, data, sizeof(of_8));
        return of_8;
    }
}

/* A text ends at a NUL, or with its field. */
static int get_text(const unsigned char *data, size_t size, const struct event *event,
                    char name[HR_OSNOISE_NAME])
{
    struct place place = event->text;

    if (event->text_storage != TEXT_ARRAY) {
        uint64_t where = get_number(data, place);
        size_t from = event->text_storage == TEXT_REL_LOC ? place.offset + place.size : 0;
        place = (struct place){from + (where & UINT16_MAX), where >> 16};
    }
    if (place.offset > size || place.size > size - place.offset)
        return -EBADMSG;
    size_t length = strnlen((const char *)data + place.offset, place.size);
    if (length >= HR_OSNOISE_NAME)
        length = HR_OSNOISE_NAME - 1;
    memcpy(name, data + place.offset, length);
    name[length] = '\0';
    return 0;
}

void hr_osnoise_softirq_name(int vector, char name[HR_OSNOISE_NAME])
{
    /* include/linux/interrupt.h; the kernel keeps them stable, as they are user-visible */
    static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                        "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

    if (vector >= 0 && (size_t)vector < sizeof(names) / sizeof(names[0]))
        snprintf(name, HR_OSNOISE_NAME, "%s", names[vector]);
    else
        snprintf(name, HR_OSNOISE_NAME, "%d", vector);
}

static void make_sample(const uint64_t *numbers, struct hr_osnoise_record *record)
{
    record->sample.runtime_us = numbers[0];
    record->sample.noise_us = numbers[1];
    record->sample.max_single_us = numbers[2];
    record->sample.hw_count = numbers[3];
    record->sample.nmi_count = numbers[4];
    record->sample.irq_count = numbers[5];
    record->sample.softirq_count = numbers[6];
    record->sample.thread_count = numbers[7];
}

static void make_single_noise(const uint64_t *numbers, struct hr_osnoise_record *record)
{
    record->single_noise.start_ns = numbers[0];
    record->single_noise.duration_ns = numbers[1];
    record->single_noise.interference_count = numbers[2];
}

static void make_part(const uint64_t *numbers, enum hr_osnoise_kind kind,
                      struct hr_osnoise_record *record)
{
    record->part.kind = kind;
    record->part.start_ns = numbers[0];
    record->part.duration_ns = numbers[1];
    record->part.number = (int)(uint32_t)numbers[2];
    if (kind == HR_OSNOISE_SOFTIRQ)
        hr_osnoise_softirq_name(record->part.number, record->part.name);
    else if (kind == HR_OSNOISE_NMI)
        snprintf(record->part.name, sizeof(record->part.name), "NMI");
}

static void make_latency(const uint64_t *numbers, struct hr_osnoise_record *record)
{
    record->latency.number = numbers[0];
    record->latency.context = numbers[1];
    record->latency.ns = numbers[2];
}

static void make_cause(const uint64_t *numbers, struct hr_osnoise_record *record)
{
    record->cause.function = numbers[0];
    record->cause.name[0] = '\0';
}

static void set_common(const unsigned char *data, const struct event *event,
                       struct hr_osnoise_record *record)
{
    record->pid = (int)(uint32_t)get_number(data, event->pid);
    record->flags = (uint8_t)get_number(data, event->flags);
    record->preempt_count = (uint8_t)get_number(data, event->preempt_count);
}

static int make_record(const unsigned char *data, size_t size, const struct event_spec *event_spec,
                       const struct event *event, struct hr_osnoise_record *record)
{
    uint64_t numbers[NUMBERS] = {0};

    if (size < event->size)
        return -EBADMSG;
    for (size_t i = 0; i < NUMBERS && event_spec->numbers[i] != NULL; i++)
        numbers[i] = get_number(data, event->numbers[i]);
    record->type = event_spec->type;
    record->event = event_spec->name;
    set_common(data, event, record);
    if (event_spec->type == HR_OSNOISE_RECORD_SAMPLE)
        make_sample(numbers, record);
    else if (event_spec->type == HR_OSNOISE_RECORD_SINGLE_NOISE)
        make_single_noise(numbers, record);
    else if (event_spec->type == HR_OSNOISE_RECORD_LATENCY)
        make_latency(numbers, record);
    else if (event_spec->type == HR_OSNOISE_RECORD_PART)
        make_part(numbers, event_spec->kind, record);
    else
        make_cause(numbers, record);
    return event_spec->text != NULL ? get_text(data, size, event, record->part.name) : 0;
}

/* @return 1: a record; 0: another event; -EBADMSG. */
static int decode_event(const struct hr_osnoise_decoder *decoder, const unsigned char *data,
                        size_t size, struct hr_osnoise_record *record)
{
    if (size < decoder->type.offset + decoder->type.size)
        return -EBADMSG;
    uint64_t id = get_number(data, decoder->type);
    for (size_t i = 0; i < EVENT_SPECS; i++) {
        const struct event *event = &decoder->events[i];
        if (event->id == id)
            return make_record(data, size, &event_specs[i], event, record) < 0 ? -EBADMSG : 1;
    }
    return 0;
}

/* --- A page --------------------------------------------------------------- */

/* include/linux/ring_buffer.h: an event begins with a word of which five bits are its type, and the
 * rest the time since the last event: the low five bits, or in big-endian kernels the high ones.
 * Types up to 28 have that many words of data; with 0 the length in bytes is in the next word,
 * which it includes. */
enum event_type { TYPE_LONG = 0, TYPE_PADDING = 29, TYPE_TIME_EXTEND = 30, TYPE_TIME_STAMP = 31 };

#define TYPE_BITS  5
#define DELTA_BITS 27
#define WORD       ((size_t)4)

/* kernel/trace/ring_buffer.c: the used size; whether events were overwritten before this page; and
 * whether their number is stored behind the used part. */
#define COMMIT_MASK   ((UINT64_C(1) << 27) - 1)
#define MISSED        (UINT64_C(1) << 31)
#define MISSED_STORED (UINT64_C(1) << 30)

static unsigned event_type_of(uint32_t head)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return head >> (32 - TYPE_BITS);
#else
    return head & ((1u << TYPE_BITS) - 1);
#endif
}

static uint32_t event_delta_of(uint32_t head)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return head & ((1u << DELTA_BITS) - 1);
#else
    return head >> TYPE_BITS;
#endif
}

/* As rb_update_read_stamp() does. @param next  the word behind the head. */
static uint64_t advance_time(uint64_t time_ns, uint32_t head, uint64_t next)
{
    const uint32_t delta = event_delta_of(head);

    switch (event_type_of(head)) {
    case TYPE_PADDING:
        return time_ns;
    case TYPE_TIME_EXTEND:
        return time_ns + (next << DELTA_BITS) + delta;
    case TYPE_TIME_STAMP:
        return (next << DELTA_BITS) + delta;
    default:
        return time_ns + delta;
    }
}

/* Removes an event from the front. @param data  receives its contents; empty for padding and times.
 * @param time_ns  becomes that of the event. */
static int parse_event(struct place *rest, const unsigned char *page, struct place *data,
                       uint64_t *time_ns)
{
    size_t head = WORD, length;
    uint64_t next = 0;

    if (rest->size < WORD)
        return -EBADMSG;
    const uint32_t word = (uint32_t)get_number(page, (struct place){rest->offset, WORD});
    const unsigned type = event_type_of(word);
    if (type == TYPE_LONG || type >= TYPE_PADDING) {
        if (rest->size < 2 * WORD)
            return -EBADMSG;
        next = get_number(page, (struct place){rest->offset + WORD, WORD});
        if (type < TYPE_TIME_EXTEND && (next < WORD + (type == TYPE_LONG) || next % WORD != 0))
            return -EBADMSG;
        head = 2 * WORD;
        length = type < TYPE_TIME_EXTEND ? next - WORD : 0;
    } else {
        length = type * WORD;
    }
    if (length > rest->size - head)
        return -EBADMSG;
    *data = (struct place){rest->offset + head, type < TYPE_PADDING ? length : 0};
    *time_ns = advance_time(*time_ns, word, next);
    rest->offset += head + length;
    rest->size -= head + length;
    return 0;
}

/* Parses the header of a page. @param used  receives the range of its events. */
static int read_header(const struct hr_osnoise_decoder *decoder, const unsigned char *page,
                       size_t size, struct place *used, uint64_t *lost)
{
    uint64_t missed = 0;

    if (size < decoder->header_size)
        return -EBADMSG;
    uint64_t commit = get_number(page, (struct place){sizeof(uint64_t), decoder->commit_size});
    struct place events = {decoder->header_size, commit & COMMIT_MASK};
    size_t room = size - decoder->header_size;
    if (events.size > room)
        return -EBADMSG;
    if (commit & MISSED)
        missed = 1;
    if ((commit & MISSED) && (commit & MISSED_STORED)) {
        if (room - events.size < decoder->commit_size)
            return -EBADMSG;
        missed =
            get_number(page, (struct place){events.offset + events.size, decoder->commit_size});
    }
    *used = events;
    *lost += missed > 0 || !(commit & MISSED) ? missed : 1;
    return 0;
}

int hr_osnoise_decode(struct hr_osnoise_decoder *decoder, const void *page, size_t size,
                      void (*handle)(const struct hr_osnoise_record *record, void *context),
                      void *context, uint64_t *lost)
{
    struct hr_osnoise_record record;
    struct place rest, data;
    uint64_t time_ns = 0;

    int status = read_header(decoder, page, size, &rest, lost);
    if (status == 0)
        time_ns = get_number(page, (struct place){0, sizeof(time_ns)});
    while (status >= 0 && rest.size > 0) {
        status = parse_event(&rest, page, &data, &time_ns);
        if (status == 0 && data.size > 0)
            status = decode_event(decoder, (const unsigned char *)page + data.offset, data.size,
                                  &record);
        if (status != 1)
            continue;
        record.time_ns = time_ns;
        handle(&record, context);
    }
    return status < 0 ? status : 0;
}
