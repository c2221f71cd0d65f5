/* SPDX-License-Identifier: MIT */
#include "osnoise/hist.h"

#include <errno.h>

#include "headroom/cpu_set.h"

/* A name is padded with blanks to this width: "%-50s". */
#define NAME_WIDTH 50

static const char behind_key[] = " } hitcount:";

static void skip_blanks(struct hr_text *text)
{
    while (hr_text_skip(text, " "))
        ;
}

/* A number after its label and blanks: "%10llu". */
static bool take_number(struct hr_text *text, const char *label, uint64_t *number)
{
    if (!hr_text_skip(text, label) || !hr_text_skip(text, " "))
        return false;
    skip_blanks(text);
    return hr_text_u64(text, number);
}

/* --- Header and totals ---------------------------------------------------- */

static bool has_names(enum hr_osnoise_table table)
{
    return table == HR_OSNOISE_TABLE_IRQ || table == HR_OSNOISE_TABLE_THREAD;
}

/* " hist:keys=common_cpu,desc:vals=hitcount,duration:sort=hitcount:size=4096 if start != 0
 * [active]"
 */
static void parse_info(struct hr_text line, struct hr_osnoise_hist_reader *reader)
{
    static const char size[] = ":size=";

    reader->is_sum = has_names(reader->table) && hr_text_skip(&line, " hist:keys=common_cpu:");
    const char *at = memmem(line.start, line.length, size, sizeof(size) - 1);
    if (at == NULL)
        return;
    line.length -= (size_t)(at - line.start) + sizeof(size) - 1;
    line.start = at + sizeof(size) - 1;
    if (!hr_text_u64(&line, &reader->size))
        reader->size = 0;
}

/* # event histogram
 * #
 * # trigger info: hist:keys=common_cpu,desc:vals=hitcount,duration:sort=hitcount:size=4096 [active]
 * #
 *
 */
static bool take_header(struct hr_osnoise_hist_reader *reader)
{
    struct hr_text *text = &reader->rest;

    reader->is_sum = false;
    reader->size = reader->entry_count = 0;
    if (!hr_text_skip(text, "# event histogram\n"))
        return false;
    while (text->length > 0 && *text->start == '#') {
        struct hr_text line = *text;
        if (!hr_text_skip_line(text))
            return false;
        line.length -= text->length;
        if (hr_text_skip(&line, "# trigger info:"))
            parse_info(line, reader);
    }
    return hr_text_skip(text, "\n");
}

/*
 * Totals:
 *     Hits: 2195
 *     Entries: 3
 *     Dropped: 0
 */
static bool take_totals(struct hr_text *text, struct hr_osnoise_hist_totals *totals)
{
    struct hr_text rest = *text;
    struct hr_osnoise_hist_totals taken;

    if (!hr_text_skip(&rest, "\nTotals:\n") || !take_number(&rest, "    Hits:", &taken.hit_count) ||
        !take_number(&rest, "\n    Entries:", &taken.entry_count) ||
        !take_number(&rest, "\n    Dropped:", &taken.dropped_count) || !hr_text_skip(&rest, "\n"))
        return false;
    *text = rest;
    *totals = taken;
    return true;
}

/* --- An entry ------------------------------------------------------------- */

static size_t find_end_of_name(const struct hr_text *text)
{
    const size_t length = sizeof(behind_key) - 1;
    const char *end = NULL;

    if (text->length > NAME_WIDTH)
        end = memmem(text->start + NAME_WIDTH, text->length - NAME_WIDTH, behind_key, length);
    return end != NULL ? (size_t)(end - text->start) : 0;
}

/* ", desc: local_timer                                       " */
static bool take_name(struct hr_text *text, const char *label, struct hr_osnoise_hist_entry *entry)
{
    if (!hr_text_skip(text, label) || !hr_text_skip(text, " "))
        return false;
    size_t length = find_end_of_name(text);
    if (length == 0)
        return false;
    entry->name = (struct hr_text){text->start, length};
    text->start += length;
    text->length -= length;
    while (entry->name.length > 0 && entry->name.start[entry->name.length - 1] == ' ')
        entry->name.length--;
    return memchr(entry->name.start, '\0', entry->name.length) == NULL;
}

static bool take_irq(struct hr_text *text, struct hr_osnoise_hist_entry *entry)
{
    return take_name(text, ", desc:", entry);
}

static bool take_thread(struct hr_text *text, struct hr_osnoise_hist_entry *entry)
{
    return take_name(text, ", comm:", entry);
}

/* ", vector:          7" */
static bool take_softirq(struct hr_text *text, struct hr_osnoise_hist_entry *entry)
{
    uint64_t vector;

    if (!take_number(text, ", vector:", &vector) || vector > INT32_MAX)
        return false;
    entry->vector = (int64_t)vector;
    return true;
}

static bool take_nothing(struct hr_text *text, struct hr_osnoise_hist_entry *entry)
{
    (void)text;
    (void)entry;
    return true;
}

/* ", duration: ~ 2^17", or ", duration: ~ 2^9 " */
static bool take_log2(struct hr_text *text, struct hr_osnoise_hist_entry *entry)
{
    uint64_t log2;

    if (!hr_text_skip(text, ", duration: ~ 2^") || !hr_text_u64(text, &log2) || log2 > 63)
        return false;
    if (log2 < 10 && !hr_text_skip(text, " "))
        return false;
    entry->log2 = (unsigned)log2;
    return true;
}

/* What an entry of each table has besides the CPU. */
static const struct {
    bool (*take_key)(struct hr_text *text, struct hr_osnoise_hist_entry *entry);
    bool has_duration;
} tables[HR_OSNOISE_TABLE_COUNT] = {
    [HR_OSNOISE_TABLE_IRQ] = {take_irq, true},
    [HR_OSNOISE_TABLE_SOFTIRQ] = {take_softirq, true},
    [HR_OSNOISE_TABLE_THREAD] = {take_thread, true},
    [HR_OSNOISE_TABLE_NMI] = {take_nothing, true},
    [HR_OSNOISE_TABLE_DURATION] = {take_log2, false},
};

/* { common_cpu:          1, desc: virtio0 [blanks] } hitcount:        129  duration:    3708735
 * { common_cpu:          1, vector:          7 } hitcount:          4  duration:      90067
 * { common_cpu:          1 } hitcount:          4  duration:      90067
 * { common_cpu:          1, duration: ~ 2^24 } hitcount:          3 */
static bool take_entry(struct hr_osnoise_hist_reader *reader, struct hr_osnoise_hist_entry *entry)
{
    const enum hr_osnoise_table table = reader->table;
    struct hr_text rest = reader->rest;
    struct hr_osnoise_hist_entry taken = {0};
    uint64_t cpu;

    if (!take_number(&rest, "{ common_cpu:", &cpu) || cpu >= HR_CPU_MAX)
        return false;
    taken.cpu = (unsigned)cpu;
    if (!reader->is_sum && !tables[table].take_key(&rest, &taken))
        return false;
    if (!take_number(&rest, behind_key, &taken.count))
        return false;
    if (tables[table].has_duration && !take_number(&rest, "  duration:", &taken.duration_ns))
        return false;
    if (!hr_text_skip(&rest, "\n"))
        return false;
    reader->rest = rest;
    *entry = taken;
    return true;
}

/* Two histograms are two lines apart. */
static bool take_end(struct hr_osnoise_hist_reader *reader)
{
    if (!take_totals(&reader->rest, &reader->totals) ||
        reader->totals.entry_count != reader->entry_count)
        return false;
    reader->is_inside = false;
    return reader->rest.length == 0 || hr_text_skip(&reader->rest, "\n\n");
}

int hr_osnoise_hist_next(struct hr_osnoise_hist_reader *reader, struct hr_osnoise_hist_entry *entry)
{
    if (!reader->is_inside && !take_header(reader))
        return -EBADMSG;
    reader->is_inside = true;
    if (take_entry(reader, entry)) {
        reader->entry_count++;
        return 1;
    }
    return take_end(reader) ? 0 : -EBADMSG;
}
