/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_osnoise_hist.c - hr_osnoise_hist_next: an input is the number of a table, as a digit,
 * and its text. Whatever the text, a table that is accepted says what printing it as the kernel
 * does says; a sum of names, which has none, is printed as the table of NMIs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "headroom/cpu_set.h"
#include "osnoise/hist.h"

const char fuzz_corpus[] = "osnoise_hist";

/* What is printed of the table. */
struct copy {
    char *text;
    size_t length;
};

static size_t print_name(const struct hr_osnoise_hist_entry *entry, const char *label, char *text)
{
    size_t used = (size_t)sprintf(text, ", %s: ", label), length = entry->name.length;

    if (length > 0)
        memcpy(text + used, entry->name.start, length);
    for (used += length; length < 50; length++)
        text[used++] = ' ';
    return used;
}

static size_t print_key(const struct hr_osnoise_hist_entry *entry, enum hr_osnoise_table table,
                        char *text)
{
    switch (table) {
    case HR_OSNOISE_TABLE_IRQ:
        return print_name(entry, "desc", text);
    case HR_OSNOISE_TABLE_THREAD:
        return print_name(entry, "comm", text);
    case HR_OSNOISE_TABLE_SOFTIRQ:
        return (size_t)sprintf(text, ", vector: %10" PRId64, entry->vector);
    case HR_OSNOISE_TABLE_DURATION:
        return (size_t)sprintf(text, ", duration: ~ 2^%-2u", entry->log2);
    default:
        return 0;
    }
}

static void print_table(const struct hr_osnoise_hist_entry *entry, enum hr_osnoise_table table,
                        struct copy *copy)
{
    copy->text = realloc(copy->text, copy->length + entry->name.length + 512);
    require(copy->text != NULL);
    char *at = copy->text + copy->length;
    at += sprintf(at, "{ common_cpu: %10u", entry->cpu);
    at += print_key(entry, table, at);
    at += sprintf(at, " } hitcount: %10" PRIu64, entry->count);
    if (table != HR_OSNOISE_TABLE_DURATION)
        at += sprintf(at, "  duration: %10" PRIu64, entry->duration_ns);
    at += sprintf(at, "\n");
    copy->length = (size_t)(at - copy->text);
}

static void print_totals(const struct hr_osnoise_hist_totals *totals, struct copy *copy)
{
    copy->text = realloc(copy->text, copy->length + 512);
    require(copy->text != NULL);
    copy->length += (size_t)sprintf(copy->text + copy->length,
                                    "\nTotals:\n    Hits: %" PRIu64 "\n    Entries: %" PRIu64
                                    "\n    Dropped: %" PRIu64 "\n",
                                    totals->hit_count, totals->entry_count, totals->dropped_count);
}

static void require_same(const struct hr_osnoise_hist_entry *a,
                         const struct hr_osnoise_hist_entry *b)
{
    require(a->cpu == b->cpu && a->vector == b->vector && a->log2 == b->log2);
    require(a->count == b->count && a->duration_ns == b->duration_ns);
    require(a->name.length == b->name.length);
    require(a->name.length == 0 || memcmp(a->name.start, b->name.start, a->name.length) == 0);
    require(a->cpu < HR_CPU_MAX && a->vector >= 0 && a->log2 < 64);
}

static void read_again(struct hr_text text, const struct copy *copy, enum hr_osnoise_table table,
                       enum hr_osnoise_table shown)
{
    struct hr_osnoise_hist_reader reader = {.rest = text, .table = table};
    struct hr_osnoise_hist_reader again = {.rest = {copy->text, copy->length}, .table = shown};
    struct hr_osnoise_hist_entry entry, same;
    int status;

    do {
        status = hr_osnoise_hist_next(&reader, &entry);
        require(hr_osnoise_hist_next(&again, &same) == status && status >= 0);
        if (status == 1)
            require_same(&entry, &same);
    } while (status == 1);
    require(reader.totals.hit_count == again.totals.hit_count);
    require(reader.totals.dropped_count == again.totals.dropped_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct copy copy = {NULL, 0};
    struct hr_osnoise_hist_entry entry;
    int status;

    if (size == 0)
        return 0;
    enum hr_osnoise_table table = data[0] % HR_OSNOISE_TABLE_COUNT;
    char *input = malloc(size); /* of just this size, so that reading past it is seen */
    memcpy(input, data, size);
    struct hr_text text = {input + 1, size - 1};
    struct hr_osnoise_hist_reader reader = {.rest = text, .table = table};
    copy.text = strdup("# event histogram\n\n");
    copy.length = strlen(copy.text);
    while ((status = hr_osnoise_hist_next(&reader, &entry)) == 1)
        print_table(&entry, reader.is_sum ? HR_OSNOISE_TABLE_NMI : table, &copy);
    if (status == 0) {
        print_totals(&reader.totals, &copy);
        read_again(text, &copy, table, reader.is_sum ? HR_OSNOISE_TABLE_NMI : table);
    }
    free(copy.text);
    free(input);
    return 0;
}
