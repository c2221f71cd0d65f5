/* SPDX-License-Identifier: MIT */
/*
 * osnoise/sources.c - what the tables of an instance have counted since the last reading.
 *
 * All tables are read first, beside the values of the last reading, and replace these only when all
 * of them could be read: a failure changes nothing.
 */
#include "osnoise/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "headroom/array.h"
#include "headroom/hash.h"
#include "osnoise/hist.h"
#include "osnoise/instance.h"
#include "osnoise/records.h"
#include "osnoise/unnamed.h"

/* More than any table can have: 65536 entries with the longest names take less than 32 MB. */
#define MAX_TEXT ((size_t)64 << 20)

/* An entry of a table. Names that are the same when truncated are one entry. */
struct entry {
    enum hr_osnoise_table table;
    bool is_sum; /* of all names */
    unsigned cpu;
    unsigned number; /* SOFTIRQ: vector; DURATION: log2 */
    char name[HR_OSNOISE_NAME];
    struct tally {
        uint64_t count, duration_ns;
    } before, now;
    uint64_t reading; /* the last reading that contained it */
};

struct table {
    bool is_used;
    uint64_t dropped_before;
    uint64_t size;                        /* how many entries fit */
    struct hr_osnoise_hist_totals totals; /* now */
    bool was_emptied;                     /* it began at zero again since the last reading */
    bool sum_was_emptied;
    bool is_cleared; /* by hr_osnoise_sources_read(), after this reading */
};

struct hr_osnoise_sources {
    char *instance;
    uint64_t reading;
    struct table tables[HR_OSNOISE_TABLE_COUNT];
    struct hr_file_text text; /* of one table */
    struct entry *entries;
    size_t entry_count, entry_capacity;
    size_t *slots; /* a hash table of indices into entries, plus 1; 0: free */
    size_t slot_count;
    struct hr_osnoise_source *sources;
    size_t source_capacity;
    struct hr_osnoise_bucket *buckets;
    size_t bucket_capacity;
    struct hr_osnoise_unnamed unnamed[HR_OSNOISE_TABLE_COUNT]; /* by table */
};

int hr_osnoise_sources_open(const char *instance, bool by_source, bool histogram,
                            struct hr_osnoise_sources **sources)
{
    struct hr_osnoise_sources *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return -ENOMEM;
    made->instance = strdup(instance);
    if (made->instance == NULL) {
        free(made);
        return -ENOMEM;
    }
    for (size_t i = 0; i < HR_OSNOISE_TABLE_COUNT; i++)
        made->tables[i].is_used = i == HR_OSNOISE_TABLE_DURATION ? histogram : by_source;
    *sources = made;
    return 0;
}

void hr_osnoise_sources_close(struct hr_osnoise_sources *sources)
{
    if (sources == NULL)
        return;
    free(sources->instance);
    free(sources->text.start);
    free(sources->entries);
    free(sources->slots);
    free(sources->sources);
    free(sources->buckets);
    for (size_t i = 0; i < HR_OSNOISE_TABLE_COUNT; i++)
        hr_osnoise_unnamed_end(&sources->unnamed[i]);
    free(sources);
}

/* --- Entries by their key ------------------------------------------------- */

static bool is_same(const struct entry *a, const struct entry *b)
{
    return a->table == b->table && a->is_sum == b->is_sum && a->cpu == b->cpu &&
           a->number == b->number && strcmp(a->name, b->name) == 0;
}

static size_t hash_entry(const struct entry *entry)
{
    uint32_t sum = hr_hash_number(HR_HASH_EMPTY, entry->table << 1 | entry->is_sum);

    sum = hr_hash_number(sum, entry->cpu);
    sum = hr_hash_number(sum, entry->number);
    return hr_hash_slot(hr_hash_text(sum, entry->name));
}

/* The slot of an entry, or the free one for it. At least half of the slots are free. */
static size_t *find_slot(const struct hr_osnoise_sources *sources, const struct entry *entry)
{
    size_t mask = sources->slot_count - 1, i = hash_entry(entry) & mask;

    while (sources->slots[i] != 0 && !is_same(&sources->entries[sources->slots[i] - 1], entry))
        i = (i + 1) & mask;
    return &sources->slots[i];
}

static void fill_slots(struct hr_osnoise_sources *sources)
{
    memset(sources->slots, 0, sources->slot_count * sizeof(sources->slots[0]));
    for (size_t i = 0; i < sources->entry_count; i++)
        *find_slot(sources, &sources->entries[i]) = i + 1;
}

/* Makes room for one more entry. The number of slots is a power of two, as hashes are masked. */
static int reserve_entry(struct hr_osnoise_sources *sources)
{
    size_t slot_count = sources->slot_count > 0 ? sources->slot_count : 128;

    if (HR_ARRAY_RESERVE(sources->entries, sources->entry_capacity, sources->entry_count + 1) < 0)
        return -ENOMEM;
    while (slot_count < 2 * sources->entry_capacity)
        slot_count *= 2;
    if (slot_count == sources->slot_count)
        return 0;
    size_t *grown = reallocarray(sources->slots, slot_count, sizeof(*grown));
    if (grown == NULL)
        return -ENOMEM;
    sources->slots = grown;
    sources->slot_count = slot_count;
    fill_slots(sources);
    return 0;
}

/* Removes the entries for which `keep` returns false. */
static void keep_entries(struct hr_osnoise_sources *sources,
                         bool (*keep)(const struct hr_osnoise_sources *sources,
                                      const struct entry *entry))
{
    size_t kept = 0;

    for (size_t i = 0; i < sources->entry_count; i++)
        if (keep(sources, &sources->entries[i]))
            sources->entries[kept++] = sources->entries[i];
    if (kept == sources->entry_count)
        return;
    sources->entry_count = kept;
    fill_slots(sources);
}

/* --- Reading a table ------------------------------------------------------ */

/* The kernel prints the whole table at the first read(2), and returns it piece by piece. */
static int read_text(struct hr_osnoise_sources *sources, const struct hr_tracefs *tracefs,
                     enum hr_osnoise_table table, struct hr_text *text)
{
    char path[PATH_MAX];

    hr_osnoise_instance_table_path(sources->instance, table, path, sizeof(path));
    int fd = openat(tracefs->fd, path, O_RDONLY | O_CLOEXEC);
    int status = hr_file_text_read_and_close(fd < 0 ? -errno : fd, MAX_TEXT, &sources->text);
    if (status == 0)
        *text = (struct hr_text){sources->text.start, sources->text.length};
    return status;
}

/* Durations up to 1 ns, the bucket 2^0, are added to those up to 2^1. */
static void set_key(const struct hr_osnoise_hist_reader *reader,
                    const struct hr_osnoise_hist_entry *taken, struct entry *entry)
{
    const enum hr_osnoise_table table = reader->table;
    size_t length = taken->name.length;

    *entry = (struct entry){.table = table, .is_sum = reader->is_sum, .cpu = taken->cpu};
    if (length >= sizeof(entry->name))
        length = sizeof(entry->name) - 1;
    if (length > 0)
        memcpy(entry->name, taken->name.start, length);
    if (table == HR_OSNOISE_TABLE_SOFTIRQ)
        entry->number = (unsigned)taken->vector;
    else if (table == HR_OSNOISE_TABLE_DURATION)
        entry->number = taken->log2 > 0 ? taken->log2 : 1;
}

static int add_entry(struct hr_osnoise_sources *sources,
                     const struct hr_osnoise_hist_reader *reader,
                     const struct hr_osnoise_hist_entry *taken)
{
    struct entry key;

    int status = reserve_entry(sources);
    if (status < 0)
        return status;
    set_key(reader, taken, &key);
    size_t *slot = find_slot(sources, &key);
    if (*slot == 0) {
        sources->entries[sources->entry_count++] = key;
        *slot = sources->entry_count;
    }
    struct entry *entry = &sources->entries[*slot - 1];
    if (entry->reading != sources->reading)
        entry->now = (struct tally){0};
    entry->reading = sources->reading;
    entry->now.duration_ns += taken->duration_ns; /* may wrap, see advance_entry() */
    return __builtin_add_overflow(entry->now.count, taken->count, &entry->now.count) ? -EBADMSG : 0;
}

static int read_histogram(struct hr_osnoise_sources *sources, struct hr_osnoise_hist_reader *reader)
{
    struct hr_osnoise_hist_entry taken;
    int status;

    while ((status = hr_osnoise_hist_next(reader, &taken)) == 1) {
        status = add_entry(sources, reader, &taken);
        if (status < 0)
            break;
    }
    return status;
}

/* The file has one histogram, and maybe one of the sums. */
static int read_table(struct hr_osnoise_sources *sources, const struct hr_tracefs *tracefs,
                      enum hr_osnoise_table number)
{
    struct hr_osnoise_hist_reader reader = {.table = number};
    struct table *table = &sources->tables[number];
    size_t histograms = 0, sums = 0;

    int status = read_text(sources, tracefs, number, &reader.rest);
    while (status == 0 && (histograms == 0 || reader.rest.length > 0)) {
        status = read_histogram(sources, &reader);
        histograms++;
        sums += reader.is_sum;
        if (status < 0 || reader.is_sum)
            continue;
        table->totals = reader.totals;
        table->size = reader.size;
    }
    return status == 0 && histograms != sums + 1 ? -EBADMSG : status;
}

/* --- Differences ---------------------------------------------------------- */

/* A table was cleared if one of its counts is lower than before, or is gone. */
static void find_emptied_tables(struct hr_osnoise_sources *sources)
{
    for (size_t i = 0; i < HR_OSNOISE_TABLE_COUNT; i++) {
        struct table *table = &sources->tables[i];
        table->was_emptied = table->totals.dropped_count < table->dropped_before;
        table->sum_was_emptied = false;
    }
    for (size_t i = 0; i < sources->entry_count; i++) {
        const struct entry *entry = &sources->entries[i];
        bool is_gone = entry->reading != sources->reading && entry->before.count > 0;
        if (!is_gone && entry->now.count >= entry->before.count)
            continue;
        if (entry->is_sum)
            sources->tables[entry->table].sum_was_emptied = true;
        else
            sources->tables[entry->table].was_emptied = true;
    }
}

static bool was_read(const struct hr_osnoise_sources *sources, const struct entry *entry)
{
    return entry->reading == sources->reading;
}

static void fill_source(const struct entry *entry, struct tally more,
                        struct hr_osnoise_source *source)
{
    *source = (struct hr_osnoise_source){.cpu = entry->cpu,
                                         .kind = (enum hr_osnoise_kind)entry->table,
                                         .count = more.count,
                                         .duration_ns = more.duration_ns};
    if (entry->table == HR_OSNOISE_TABLE_SOFTIRQ)
        hr_osnoise_softirq_name((int)entry->number, source->name);
    else if (entry->table == HR_OSNOISE_TABLE_NMI)
        memcpy(source->name, "NMI", sizeof("NMI"));
    else
        memcpy(source->name, entry->name, sizeof(source->name));
}

static void fill_bucket(const struct entry *entry, uint64_t count, struct hr_osnoise_bucket *bucket)
{
    *bucket = (struct hr_osnoise_bucket){
        .cpu = entry->cpu, .lower_ns = UINT64_C(1) << (entry->number - 1), .count = count};
}

/* The kernel may compute a negative duration, when an interrupt comes in between, and adds it up
 * all the same: a sum can fall, even below 0, which reads as a huge number. A negative difference
 * isn't reported. */
static struct tally advance_entry(struct hr_osnoise_sources *sources, struct entry *entry)
{
    const struct table *table = &sources->tables[entry->table];
    bool was_emptied = entry->is_sum ? table->sum_was_emptied : table->was_emptied;
    struct tally before = was_emptied ? (struct tally){0} : entry->before;
    struct tally more = {entry->now.count - before.count,
                         entry->now.duration_ns - before.duration_ns};

    entry->before = entry->now;
    hr_osnoise_unnamed_add(&sources->unnamed[entry->table], entry->cpu, entry->is_sum, more.count,
                           more.duration_ns);
    if (more.duration_ns > INT64_MAX)
        more.duration_ns = 0;
    return more;
}

static void report_unnamed(struct hr_osnoise_sources *sources, const struct hr_cpu_set *cpus,
                           struct hr_osnoise_counts *counts)
{
    struct hr_osnoise_source source;

    for (size_t i = 0; i < HR_OSNOISE_KIND_COUNT; i++)
        for (unsigned cpu = 0; cpu < sources->unnamed[i].cpu_end; cpu++) {
            source = (struct hr_osnoise_source){.cpu = cpu, .kind = (enum hr_osnoise_kind)i};
            if (hr_osnoise_unnamed_take(&sources->unnamed[i], cpu, &source.count,
                                        &source.duration_ns) &&
                hr_cpu_set_has(cpus, cpu))
                sources->sources[counts->source_count++] = source;
        }
}

static void report_entries(struct hr_osnoise_sources *sources, const struct hr_cpu_set *cpus,
                           struct hr_osnoise_counts *counts)
{
    for (size_t i = 0; i < sources->entry_count; i++) {
        struct entry *entry = &sources->entries[i];
        struct tally more = advance_entry(sources, entry);
        if (entry->is_sum || (more.count == 0 && more.duration_ns == 0) ||
            !hr_cpu_set_has(cpus, entry->cpu))
            continue;
        if (entry->table == HR_OSNOISE_TABLE_DURATION)
            fill_bucket(entry, more.count, &sources->buckets[counts->bucket_count++]);
        else
            fill_source(entry, more, &sources->sources[counts->source_count++]);
    }
    report_unnamed(sources, cpus, counts);
    counts->sources = sources->sources;
    counts->buckets = sources->buckets;
}

static uint64_t advance_dropped(struct table *table)
{
    uint64_t before = table->was_emptied ? 0 : table->dropped_before;

    table->dropped_before = table->totals.dropped_count;
    return table->totals.dropped_count - before;
}

static bool was_kept(const struct hr_osnoise_sources *sources, const struct entry *entry)
{
    return entry->is_sum || !sources->tables[entry->table].is_cleared;
}

/* A table that can't be cleared is used as it is until the next reading. */
static void clear_table(struct hr_osnoise_sources *sources, const struct hr_tracefs *tracefs,
                        enum hr_osnoise_table table)
{
    struct table *cleared = &sources->tables[table];

    if (hr_osnoise_instance_clear_table(tracefs, sources->instance, table) < 0)
        return;
    cleared->is_cleared = true;
    cleared->dropped_before = 0;
}

/* @return how many noises the tables had no room for. */
static uint64_t clear_full_tables(struct hr_osnoise_sources *sources,
                                  const struct hr_tracefs *tracefs)
{
    uint64_t dropped_count = 0;

    for (size_t i = 0; i < HR_OSNOISE_TABLE_COUNT; i++) {
        struct table *table = &sources->tables[i];
        uint64_t dropped = table->is_used ? advance_dropped(table) : 0;
        table->is_cleared = false;
        if (dropped > 0 || (table->size > 0 && table->totals.entry_count > table->size / 4 * 3))
            clear_table(sources, tracefs, (enum hr_osnoise_table)i);
        dropped_count += dropped;
    }
    keep_entries(sources, was_kept);
    return dropped_count;
}

/* Each CPU may have a source without a name. */
static int reserve_counts(struct hr_osnoise_sources *sources)
{
    size_t source_count = sources->entry_count;
    int status = 0;

    for (size_t i = 0; status == 0 && i < sources->entry_count; i++)
        if (sources->entries[i].is_sum)
            status = hr_osnoise_unnamed_reserve(&sources->unnamed[sources->entries[i].table],
                                                sources->entries[i].cpu);
    for (size_t i = 0; i < HR_OSNOISE_TABLE_COUNT; i++)
        source_count += sources->unnamed[i].cpu_end;
    if (status == 0)
        status = HR_ARRAY_RESERVE(sources->sources, sources->source_capacity, source_count);
    if (status == 0)
        status = HR_ARRAY_RESERVE(sources->buckets, sources->bucket_capacity, sources->entry_count);
    return status;
}

/* What is missing is found from now on. */
static void forget_emptied_sums(struct hr_osnoise_sources *sources)
{
    for (size_t i = 0; i < HR_OSNOISE_TABLE_COUNT; i++)
        if (sources->tables[i].sum_was_emptied)
            hr_osnoise_unnamed_reset(&sources->unnamed[i]);
}

int hr_osnoise_sources_read(struct hr_osnoise_sources *sources, const struct hr_tracefs *tracefs,
                            const struct hr_cpu_set *cpus, struct hr_osnoise_counts *counts)
{
    struct hr_osnoise_counts found = {0};
    int status = 0;

    sources->reading++;
    for (size_t i = 0; status == 0 && i < HR_OSNOISE_TABLE_COUNT; i++)
        if (sources->tables[i].is_used)
            status = read_table(sources, tracefs, (enum hr_osnoise_table)i);
    if (status == 0)
        status = reserve_counts(sources);
    if (status < 0)
        return status;
    find_emptied_tables(sources);
    forget_emptied_sums(sources);
    keep_entries(sources, was_read);
    report_entries(sources, cpus, &found);
    found.dropped_count = clear_full_tables(sources, tracefs);
    *counts = found;
    return 0;
}
