/* SPDX-License-Identifier: MIT */
#include "osnoise/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reason.h"
#include "osnoise/event_format.h"
#include "osnoise/ring_page.h"

struct hr_osnoise_decoder {
    struct hr_event_formats formats;
};

int hr_osnoise_decoder_open(const struct hr_tracefs *tracefs, struct hr_osnoise_decoder **decoder,
                            struct hr_reason *reason)
{
    struct hr_osnoise_decoder *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return hr_reason_set(reason, -ENOMEM, "out of memory");
    int status = hr_event_formats_read(tracefs, &made->formats, reason);
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
    return decoder->formats.page_size;
}

/* --- One event ------------------------------------------------------------ */

/* A text ends at a NUL, or with its field. */
static int get_text(const unsigned char *data, size_t size, const struct hr_event_format *event,
                    char name[HR_OSNOISE_NAME])
{
    struct hr_field place = event->text;

    if (event->text_storage != HR_TEXT_ARRAY) {
        uint64_t where = hr_field_get(data, place);
        size_t from = event->text_storage == HR_TEXT_REL_LOC ? place.offset + place.size : 0;
        place = (struct hr_field){from + (where & UINT16_MAX), where >> 16};
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
    record->cause.request = numbers[1];
}

/* Unless the last request on that CPU was another one. */
static void make_ipi(const uint64_t *numbers, struct hr_osnoise_record *record)
{
    make_cause(numbers, record);
    if (numbers[2] != numbers[1])
        record->cause.request = 0;
    record->cause.sender = (struct hr_osnoise_ipi_sender){
        .pid = (int)(uint32_t)numbers[3],
        .in_interrupt = (numbers[4] & (HR_OSNOISE_FLAG_HARDIRQ | HR_OSNOISE_FLAG_SOFTIRQ)) != 0,
        .cpu = (unsigned)numbers[5]};
}

static void set_common(const unsigned char *data, const struct hr_event_format *event,
                       struct hr_osnoise_record *record)
{
    record->pid = (int)(uint32_t)hr_field_get(data, event->pid);
    record->flags = (uint8_t)hr_field_get(data, event->flags);
    record->preempt_count = (uint8_t)hr_field_get(data, event->preempt_count);
}

static int make_record(const unsigned char *data, size_t size, const struct hr_event_format *event,
                       struct hr_osnoise_record *record)
{
    const struct hr_event_spec *event_spec = event->spec;
    uint64_t numbers[HR_EVENT_NUMBERS] = {0};

    if (size < event->size)
        return -EBADMSG;
    for (size_t i = 0; i < HR_EVENT_NUMBERS && event_spec->numbers[i] != NULL; i++)
        numbers[i] = hr_field_get(data, event->numbers[i]);
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
    else if (event_spec->type == HR_OSNOISE_RECORD_CAUSE)
        make_cause(numbers, record);
    else
        make_ipi(numbers, record);
    return event_spec->text != NULL ? get_text(data, size, event, record->part.name) : 0;
}

/* @return 1: a record; 0: another event; -EBADMSG. */
static int decode_event(const struct hr_event_formats *formats, const unsigned char *data,
                        size_t size, struct hr_osnoise_record *record)
{
    if (size < formats->type.offset + formats->type.size)
        return -EBADMSG;
    uint64_t id = hr_field_get(data, formats->type);
    for (size_t i = 0; i < HR_EVENT_FORMATS; i++)
        if (formats->events[i].id == id)
            return make_record(data, size, &formats->events[i], record) < 0 ? -EBADMSG : 1;
    return 0;
}

int hr_osnoise_decode(struct hr_osnoise_decoder *decoder, const void *page, size_t size,
                      void (*handle)(const struct hr_osnoise_record *record, void *context),
                      void *context, uint64_t *lost)
{
    struct hr_ring_page ring_page;
    struct hr_osnoise_record record;
    const unsigned char *data;
    size_t data_size;

    int status = hr_ring_page_begin(&ring_page, page, size, decoder->formats.commit_size, lost);
    if (status < 0)
        return status;
    while ((status = hr_ring_page_next(&ring_page, &data, &data_size)) > 0) {
        status = decode_event(&decoder->formats, data, data_size, &record);
        if (status < 0)
            break;
        if (status == 0)
            continue;
        record.time_ns = ring_page.time_ns;
        handle(&record, context);
    }
    return status;
}
