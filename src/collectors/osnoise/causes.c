/* SPDX-License-Identifier: MIT */
#include "osnoise/causes.h"

#include <stdlib.h>
#include <string.h>

/* --- The functions of an interference ------------------------------------- */

static void add_span(struct hr_osnoise_spans *spans, struct hr_osnoise_span span)
{
    struct hr_osnoise_span *shortest = &spans->of[0];

    for (size_t i = 0; i < spans->count; i++) {
        if (spans->of[i].function == span.function) {
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

void hr_osnoise_causes_add(struct hr_osnoise_causes *causes, const struct hr_osnoise_record *record)
{
    struct hr_osnoise_pending *pending = causes->pending;

    if (causes->count == HR_OSNOISE_PENDING) {
        memmove(&pending[0], &pending[1], (HR_OSNOISE_PENDING - 1) * sizeof(pending[0]));
        causes->count--;
    }
    pending[causes->count++] = (struct hr_osnoise_pending){
        .time_ns = record->time_ns,
        .function = record->cause.function,
        .in_irq = (record->flags & HR_OSNOISE_FLAG_HARDIRQ) != 0,
    };
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
            add_span(&spans, (struct hr_osnoise_span){last->function, span_ns});
        end_ns = last->time_ns;
        causes->count--;
    }
    return spans;
}

void hr_osnoise_causes_forget(struct hr_osnoise_causes *causes)
{
    causes->count = 0;
}
