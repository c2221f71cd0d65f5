/* SPDX-License-Identifier: MIT */
#include "isolation/movable.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "headroom/array.h"
#include "headroom/utf8.h"

/* How much of a fault's texts lists of numbers and names may take. */
#define NUMBERS_SIZE 112
#define NAMES_SIZE   128

int hr_movables_add(struct hr_movables *movables, const struct hr_isolation_context *context,
                    unsigned number, const char *name, const struct hr_cpu_set *allowed)
{
    struct hr_movable one = {.number = number};

    if (HR_ARRAY_RESERVE(movables->list, movables->capacity, movables->count + 1) < 0)
        return -ENOMEM;
    snprintf(one.name, sizeof(one.name), "%s", name);
    one.where = hr_isolation_common(allowed, &context->cpus);
    one.target = hr_isolation_common(allowed, &context->others);
    if (hr_cpu_set_count(&one.target) == 0)
        one.target = context->others;
    movables->list[movables->count++] = one;
    return 0;
}

/* Some that go together. */
struct batch {
    const struct hr_movable *first;
    struct hr_cpu_set where;
    size_t count, named_count;
    char numbers[NUMBERS_SIZE], names[NAMES_SIZE];
    size_t numbers_length, names_length;
};

/* @return false: there is no room. */
static bool add_number(struct batch *batch, const struct hr_movable *one)
{
    char number[16];
    const size_t length =
        (size_t)snprintf(number, sizeof(number), batch->count > 0 ? " %u" : "%u", one->number);

    if (batch->numbers_length + length >= sizeof(batch->numbers))
        return false;
    memcpy(batch->numbers + batch->numbers_length, number, length + 1);
    batch->numbers_length += length;
    batch->count++;
    return true;
}

/* "24 (virtio0-config), 25". Names end where one has no room. */
static void add_name(struct batch *batch, const struct hr_movable *one)
{
    char name[sizeof(one->name) + 32];
    const size_t length =
        (size_t)snprintf(name, sizeof(name), one->name[0] != '\0' ? "%s%u (%s)" : "%s%u",
                         batch->named_count > 0 ? ", " : "", one->number, one->name);

    if (batch->named_count + 1 != batch->count ||
        batch->names_length + length >= sizeof(batch->names))
        return;
    memcpy(batch->names + batch->names_length, name, length + 1);
    batch->names_length += length;
    batch->named_count++;
}

static void report_batch(struct hr_isolation_context *context, const struct batch *batch,
                         const struct hr_movable_texts *texts)
{
    char which[NAMES_SIZE + 64], cause[HR_ISOLATION_TEXT], command[160];
    char where[HR_ISOLATION_LIST], target[HR_ISOLATION_LIST], more[32] = "";

    if (batch->named_count < batch->count)
        snprintf(more, sizeof(more), " and %zu more", batch->count - batch->named_count);
    snprintf(which, sizeof(which), "%s %s%s", batch->count == 1 ? texts->one : texts->several,
             batch->names, more);
    hr_isolation_list(&batch->where, where);
    hr_isolation_list(&batch->first->target, target);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(cause, sizeof(cause), texts->may_run, which,
             hr_cpu_set_count(&batch->where) == 1 ? "" : "s", where);
    snprintf(command, sizeof(command), texts->command, target,
             batch->count == 1 ? batch->numbers : "$n");
#pragma GCC diagnostic pop
    hr_utf8_make_safe(cause);
    if (batch->count == 1)
        hr_isolation_add(context, texts->aspect, cause, "%s", command);
    else
        hr_isolation_add(context, texts->aspect, cause, "for n in %s; do %s; done", batch->numbers,
                         command);
}

static bool go_together(const struct hr_movable *a, const struct hr_movable *b)
{
    return hr_cpu_set_equal(&a->target, &b->target);
}

void hr_movables_report(struct hr_movables *movables, struct hr_isolation_context *context,
                        const struct hr_movable_texts *texts)
{
    for (size_t i = 0; i < movables->count; i++) {
        struct batch batch = {.first = &movables->list[i]};
        for (size_t j = i; j < movables->count; j++) {
            struct hr_movable *one = &movables->list[j];
            if (one->is_reported || !go_together(batch.first, one))
                continue;
            if (!add_number(&batch, one))
                break;
            add_name(&batch, one);
            hr_cpu_set_merge(&batch.where, &one->where);
            one->is_reported = true;
        }
        if (batch.count > 0)
            report_batch(context, &batch, texts);
    }
}
