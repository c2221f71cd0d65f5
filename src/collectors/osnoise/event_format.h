/* SPDX-License-Identifier: MIT */
/*
 * osnoise/event_format.h - which events are read, and where in their binary data the fields are.
 *
 * Sources: their formats in tracefs, by libtraceevent, which finds fields by name;
 * include/trace/events/osnoise.h, kernel/trace/trace_entries.h (osnoise, timerlat).
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_EVENT_FORMAT_H
#define HEADROOM_COLLECTORS_OSNOISE_EVENT_FORMAT_H

#include <stdbool.h>

#include "osnoise/field.h"
#include "osnoise/records.h"
#include "osnoise/tracefs.h"

#define HR_EVENT_NUMBERS 8
#define HR_EVENT_FORMATS 13

/** An event, and the names of its fields: numbers in the order of make_record(), and a text. */
struct hr_event_spec {
    const char *system, *name;
    enum hr_osnoise_record_type type;
    enum hr_osnoise_kind kind;
    const char *numbers[HR_EVENT_NUMBERS];
    const char *text;
    bool may_lack; /**< older kernels, or those without a tracer, have no such event */
};

/** How an event has a text: in the field itself; or the field has its position in the low 16 bits,
 * and its length in the high 16 bits. The position counts from the start of the event (__data_loc),
 * or from the end of the field (__rel_loc). */
enum hr_text_storage { HR_TEXT_ARRAY, HR_TEXT_DATA_LOC, HR_TEXT_REL_LOC };

struct hr_event_format {
    const struct hr_event_spec *spec;
    uint64_t id;                               /**< UINT64_MAX: the kernel has no such event */
    size_t size;                               /**< its minimum size */
    struct hr_field pid, flags, preempt_count; /**< of any event; empty: there is none */
    struct hr_field numbers[HR_EVENT_NUMBERS], text;
    enum hr_text_storage text_storage;
};

struct hr_event_formats {
    struct hr_field type; /**< of any event: the field of its ID */
    size_t commit_size;   /**< of a page's used size, a long of the kernel: 4 or 8 */
    size_t page_size;
    struct hr_event_format events[HR_EVENT_FORMATS];
};

/**
 * Reads the formats.
 *
 * @param formats  all zeros.
 * @return 0; -ENOENT: the kernel has no such events; -EBADMSG: a field that is needed isn't there;
 *         -ENOMEM; with the reason.
 */
int hr_event_formats_read(const struct hr_tracefs *tracefs, struct hr_event_formats *formats,
                          struct hr_reason *reason);

#endif
