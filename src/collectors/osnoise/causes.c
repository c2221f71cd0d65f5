/* SPDX-License-Identifier: MIT */
#include "osnoise/causes.h"

#include <stdlib.h>
#include <string.h>

/* --- The functions of an interference ------------------------------------- */

static bool is_same(const struct hr_osnoise_span *a, const struct hr_osnoise_span *b)
{
    return a->function == b->function && a->has_sender == b->has_sender &&
           a->sender.cpu == b->sender.cpu && a->sender.in_interrupt == b->sender.in_interrupt &&
           (a->sender.in_interrupt || a->sender.pid == b->sender.pid);
}

static void add_span(struct hr_osnoise_spans *spans, struct hr_osnoise_span span)
{
    struct hr_osnoise_span *shortest = &spans->of[0];

    for (size_t i = 0; i < spans->count; i++) {
        if (is_same(&spans->of[i], &span)) {
            spans->of[i].span_ns += span.span_ns;
            return;
        }
        if (spans->of[i].span_ns < shortest->span_ns)
            shortest = &spans->of[i];
    }
    if (spans->count < HR_OSNOISE_SPANS) {
        spans->of[spans->count++] = span;
        return;
    }
    spans->has_more = true;
    if (span.span_ns > shortest->span_ns)
        *shortest = span;
}

void hr_osnoise_spans_add(struct hr_osnoise_spans *spans, const struct hr_osnoise_spans *more)
{
    for (size_t i = 0; i < more->count; i++)
        add_span(spans, more->of[i]);
    spans->has_more = spans->has_more || more->has_more;
}

static int compare_span(const void *left, const void *right)
{
    const struct hr_osnoise_span *a = left, *b = right;

    return (a->span_ns < b->span_ns) - (a->span_ns > b->span_ns);
}

void hr_osnoise_spans_sort(struct hr_osnoise_spans *spans)
{
    qsort(spans->of, spans->count, sizeof(spans->of[0]), compare_span);
}

/* --- The functions of a CPU ----------------------------------------------- */

static void set_sender(struct hr_osnoise_pending *pending,
                       const struct hr_osnoise_ipi_sender *sender)
{
    pending->has_sender = true;
    pending->sender = *sender;
}

/* It is recorded before the function's beginning; but after it, where the kernel had to write that
 * directly into the buffer (trace_event_buffer_lock_reserve). */
static void add_sender(struct hr_osnoise_causes *causes, const struct hr_osnoise_record *record)
{
    struct hr_osnoise_pending *last =
        causes->count > 0 ? &causes->pending[causes->count - 1] : NULL;

    if (record->cause.request == 0)
        return;
    if (last != NULL && last->request == record->cause.request && !last->has_sender) {
        set_sender(last, &record->cause.sender);
        return;
    }
    causes->request = record->cause.request;
    causes->sender = record->cause.sender;
}

static void add_function(struct hr_osnoise_causes *causes, const struct hr_osnoise_record *record)
{
    struct hr_osnoise_pending *pending = causes->pending;

    if (causes->count == HR_OSNOISE_PENDING) {
        memmove(&pending[0], &pending[1], (HR_OSNOISE_PENDING - 1) * sizeof(pending[0]));
        causes->count--;
    }
    pending[causes->count++] = (struct hr_osnoise_pending){
        .time_ns = record->time_ns,
        .function = record->cause.function,
        .request = record->cause.request,
        .in_irq = (record->flags & HR_OSNOISE_FLAG_HARDIRQ) != 0,
    };
    if (causes->request != 0 && record->cause.request == causes->request)
        set_sender(&pending[causes->count - 1], &causes->sender);
    causes->request = 0;
}

void hr_osnoise_causes_add(struct hr_osnoise_causes *causes, const struct hr_osnoise_record *record)
{
    if (record->type == HR_OSNOISE_RECORD_IPI)
        add_sender(causes, record);
    else
        add_function(causes, record);
}

/* What ran in an interrupt of which the tracer knows nothing, as some architectures have, isn't
 * what the interrupted one did. */
static bool is_own(const struct hr_osnoise_pending *pending, const struct hr_osnoise_record *record)
{
    return !pending->in_irq || record->part.kind == HR_OSNOISE_IRQ;
}

struct hr_osnoise_spans hr_osnoise_causes_take(struct hr_osnoise_causes *causes,
                                               const struct hr_osnoise_record *record)
{
    struct hr_osnoise_spans spans = {.count = 0};
    uint64_t end_ns = record->time_ns;

    while (causes->count > 0) {
        const struct hr_osnoise_pending *last = &causes->pending[causes->count - 1];
        if (last->time_ns < record->part.start_ns)
            break;
        const uint64_t span_ns = end_ns > last->time_ns ? end_ns - last->time_ns : 0;
        if (is_own(last, record))
            add_span(&spans, (struct hr_osnoise_span){.function = last->function,
                                                      .span_ns = span_ns,
                                                      .has_sender = last->has_sender,
                                                      .sender = last->sender});
        end_ns = last->time_ns;
        causes->count--;
    }
    return spans;
}

void hr_osnoise_causes_forget(struct hr_osnoise_causes *causes)
{
    causes->count = 0;
    causes->request = 0;
}
