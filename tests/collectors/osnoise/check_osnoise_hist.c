/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_hist.c - tables of hist triggers. The recorded ones are of a machine with
 * tasks named "a } hitcount: 1" and "new\nline".
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "osnoise/hist.h"
#include "support/suite.h"

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

#define HEADER                                                                                     \
    "# event histogram\n#\n# trigger info: hist:keys=common_cpu,comm:vals=hitcount,duration:"      \
    "sort=hitcount:size=4096 if start != 0 [active]\n#\n\n"

/* --- Parsing -------------------------------------------------------------- */

static size_t read_fixture(const char *file, char *buffer, size_t size)
{
    const char *directory = getenv("srcdir");
    char path[512];

    snprintf(path, sizeof(path), "%s/tests/fixtures/osnoise/6.12-singles/%s.hist",
             directory ? directory : ".", file);
    FILE *stream = fopen(path, "r");
    ck_assert_msg(stream != NULL, "%s", path);
    size_t length = fread(buffer, 1, size, stream);
    ck_assert_uint_lt(length, size);
    fclose(stream);
    buffer[length] = '\0';
    return length;
}

struct expected {
    const char *name;
    int64_t number; /* vector or log2 */
    uint64_t count, duration_ns;
};

static const struct {
    const char *file;
    enum hr_osnoise_table table;
    uint64_t hit_count, entry_count;
    struct expected entries[10];
} recorded[] = {
    {"irq_noise",
     HR_OSNOISE_TABLE_IRQ,
     2195,
     3,
     {{"call_function_single", 0, 4, 90067},
      {"virtio0", 0, 129, 3708735},
      {"local_timer", 0, 2062, 94404917}}},
    {"softirq_noise",
     HR_OSNOISE_TABLE_SOFTIRQ,
     152,
     3,
     {{"", 1, 13, 930162}, {"", 9, 68, 1013832}, {"", 7, 71, 1807521}}},
    {"thread_noise",
     HR_OSNOISE_TABLE_THREAD,
     433,
     6,
     {{"kworker/1:1", 0, 2, 196766},
      {"ksoftirqd/1", 0, 2, 66504},
      {"kworker/u10:1", 0, 3, 1579858},
      {"rcu_preempt", 0, 5, 252061},
      {"a } hitcount: 1", 0, 201, 378837457},
      {"new\nline", 0, 220, 392695725}}},
    {"nmi_noise", HR_OSNOISE_TABLE_NMI, 0, 0, {{"", 0, 0, 0}}},
    {"sample_threshold",
     HR_OSNOISE_TABLE_DURATION,
     1874,
     10,
     {{"", 24, 3, 0},
      {"", 19, 9, 0},
      {"", 23, 9, 0},
      {"", 20, 14, 0},
      {"", 18, 123, 0},
      {"", 21, 137, 0},
      {"", 22, 228, 0},
      {"", 15, 327, 0},
      {"", 16, 408, 0},
      {"", 17, 616, 0}}},
};

static void assert_entry(const struct hr_osnoise_hist_entry *entry, const struct expected *expected,
                         enum hr_osnoise_table table)
{
    ck_assert_uint_eq(entry->cpu, 1);
    ck_assert_uint_eq(entry->name.length, strlen(expected->name));
    if (entry->name.length > 0)
        ck_assert(memcmp(entry->name.start, expected->name, entry->name.length) == 0);
    ck_assert_int_eq(table == HR_OSNOISE_TABLE_DURATION ? (int64_t)entry->log2 : entry->vector,
                     expected->number);
    ck_assert_uint_eq(entry->count, expected->count);
    ck_assert_uint_eq(entry->duration_ns, expected->duration_ns);
}

START_TEST(a_recorded_table_has_what_it_shows)
{
    char text[4096];
    struct hr_osnoise_hist_reader reader = {.table = recorded[_i].table};
    struct hr_osnoise_hist_entry entry;

    reader.rest.length = read_fixture(recorded[_i].file, text, sizeof(text));
    reader.rest.start = text;
    for (uint64_t i = 0; i < recorded[_i].entry_count; i++) {
        ck_assert_int_eq(hr_osnoise_hist_next(&reader, &entry), 1);
        assert_entry(&entry, &recorded[_i].entries[i], recorded[_i].table);
    }
    ck_assert_int_eq(hr_osnoise_hist_next(&reader, &entry), 0);
    ck_assert_uint_eq(reader.totals.hit_count, recorded[_i].hit_count);
    ck_assert_uint_eq(reader.totals.entry_count, recorded[_i].entry_count);
    ck_assert_uint_eq(reader.totals.dropped_count, 0);
}
END_TEST

/* @return how many entries there are in a text of just that length, or -EBADMSG. */
static int parse(const char *text, size_t length, enum hr_osnoise_table table)
{
    char *exact = malloc(length);
    struct hr_osnoise_hist_reader reader = {.rest = {exact, length}, .table = table};
    struct hr_osnoise_hist_entry entry;
    int count = 0, status;

    memcpy(exact, text, length);
    while ((status = hr_osnoise_hist_next(&reader, &entry)) == 1)
        count++;
    free(exact);
    return status < 0 ? status : count;
}

START_TEST(a_table_that_is_cut_off_is_refused)
{
    char text[4096];
    size_t size = read_fixture(recorded[_i].file, text, sizeof(text));

    for (size_t length = 0; length < size; length++)
        ck_assert_int_eq(parse(text, length, recorded[_i].table), -EBADMSG);
    ck_assert_int_eq(parse(text, size, recorded[_i].table), (int)recorded[_i].entry_count);
}
END_TEST

#define TOTALS(entries) "\nTotals:\n    Hits: 1\n    Entries: " #entries "\n    Dropped: 0\n"
#define NMI(count)      "{ common_cpu:          0 } hitcount: " count "  duration:          5\n"

static const struct {
    const char *name;
    enum hr_osnoise_table table;
    const char *text;
} refused[] = {
    {"no trigger", HR_OSNOISE_TABLE_NMI, ""},
    {"no header", HR_OSNOISE_TABLE_NMI, TOTALS(0)},
    {"another file", HR_OSNOISE_TABLE_NMI, "# tracer: osnoise\n#\n"},
    {"header without end", HR_OSNOISE_TABLE_NMI, "# event histogram\n#\n#"},
    {"no totals", HR_OSNOISE_TABLE_NMI, HEADER NMI("         1")},
    {"junk behind", HR_OSNOISE_TABLE_NMI, HEADER TOTALS(0) "x"},
    {"too few entries", HR_OSNOISE_TABLE_NMI, HEADER NMI("         1") TOTALS(2)},
    {"too many entries", HR_OSNOISE_TABLE_NMI, HEADER NMI("         1") TOTALS(0)},
    {"negative", HR_OSNOISE_TABLE_NMI, HEADER NMI("        -1") TOTALS(1)},
    {"huge", HR_OSNOISE_TABLE_NMI, HEADER NMI("18446744073709551616") TOTALS(1)},
    {"no number", HR_OSNOISE_TABLE_NMI, HEADER NMI("") TOTALS(1)},
    {"a CPU beyond all", HR_OSNOISE_TABLE_NMI,
     HEADER "{ common_cpu:       8192 } hitcount:          1  duration:          5\n" TOTALS(1)},
    {"no duration", HR_OSNOISE_TABLE_NMI,
     HEADER "{ common_cpu:          1 } hitcount:          1\n" TOTALS(1)},
    {"another key", HR_OSNOISE_TABLE_SOFTIRQ, HEADER NMI("         1") TOTALS(1)},
    {"a negative vector", HR_OSNOISE_TABLE_SOFTIRQ,
     HEADER "{ common_cpu:          1, vector: 18446744073709551615 } hitcount:          1  "
            "duration:          5\n" TOTALS(1)},
    {"a name too short", HR_OSNOISE_TABLE_THREAD,
     HEADER
     "{ common_cpu:          1, comm: worker } hitcount:          1  duration:          5\n" TOTALS(
         1)},
    {"a power beyond all", HR_OSNOISE_TABLE_DURATION,
     HEADER "{ common_cpu:          1, duration: ~ 2^64 } hitcount:          1\n" TOTALS(1)},
    {"a power without blank", HR_OSNOISE_TABLE_DURATION,
     HEADER "{ common_cpu:          1, duration: ~ 2^9 } hitcount:          1\n" TOTALS(1)},
};

START_TEST(what_is_no_table_is_refused)
{
    const char *text = refused[_i].text;

    ck_assert_msg(parse(text, strlen(text), refused[_i].table) == -EBADMSG, "%s", refused[_i].name);
}
END_TEST

/* --- Sums beside names ----------------------------------------------------- */

#define SUMS                                                                                       \
    "# event histogram\n#\n# trigger info: hist:keys=common_cpu:vals=hitcount,duration:"           \
    "sort=hitcount:size=128 if start != 0 [active]\n#\n\n"
#define WORKER                                                                                     \
    "{ common_cpu:          1, comm: worker                                             } "        \
    "hitcount:          1  duration:          5\n"

static void assert_next(struct hr_osnoise_hist_reader *reader, bool is_sum, uint64_t size,
                        size_t name_length, uint64_t count)
{
    struct hr_osnoise_hist_entry entry;

    ck_assert_int_eq(hr_osnoise_hist_next(reader, &entry), 1);
    ck_assert(reader->is_sum == is_sum);
    ck_assert_uint_eq(reader->size, size);
    ck_assert_uint_eq(entry.name.length, name_length);
    ck_assert_uint_eq(entry.count, count);
    ck_assert_int_eq(hr_osnoise_hist_next(reader, &entry), 0);
    ck_assert_uint_eq(reader->totals.entry_count, 1);
}

/* In either order: each is said to be what it is. */
START_TEST(sums_are_a_histogram_of_their_own)
{
    static const char *const texts[] = {
        SUMS NMI("         7") TOTALS(1) "\n\n" HEADER WORKER TOTALS(1),
        HEADER WORKER TOTALS(1) "\n\n" SUMS NMI("         7") TOTALS(1),
    };
    struct hr_osnoise_hist_reader reader = {.rest = {texts[_i], strlen(texts[_i])},
                                            .table = HR_OSNOISE_TABLE_THREAD};

    if (_i == 0)
        assert_next(&reader, true, 128, 0, 7);
    else
        assert_next(&reader, false, 4096, 6, 1);
    ck_assert_uint_gt(reader.rest.length, 0);
    if (_i == 0)
        assert_next(&reader, false, 4096, 6, 1);
    else
        assert_next(&reader, true, 128, 0, 7);
    ck_assert_uint_eq(reader.rest.length, 0);
}
END_TEST

/* A table that has no names is no sum of any. */
START_TEST(only_names_have_sums)
{
    static const char text[] = SUMS NMI("         7") TOTALS(1);
    struct hr_osnoise_hist_reader reader = {.rest = {text, strlen(text)},
                                            .table = HR_OSNOISE_TABLE_NMI};

    assert_next(&reader, false, 128, 0, 7);
}
END_TEST

/* --- Names ---------------------------------------------------------------- */

static const char *const names[] = {
    "a } hitcount: 1",
    "\n\nTotals:\n    H",
    "{ common_cpu: ",
    "# event histog",
    "\xff\xfe\x01\x1b[31m",
    "",
    "x",
    /* IRQs have longer ones */
    "0123456789012345678901234567890123456789 } hitcount",
    "01234567890123456789012345678901234567890123456789",
    "012345678901234567890123456789012345678901234567890123456789 and more",
    /* they may look like an entry's end up to the fiftieth byte */
    "0123456789012345678901234567890 } hitcount:       1 ",
};

START_TEST(a_name_may_be_anything)
{
    char text[4096];
    struct hr_osnoise_hist_reader reader = {.rest = {text, 0}, .table = HR_OSNOISE_TABLE_IRQ};
    struct hr_osnoise_hist_entry entry;

    reader.rest.length = (size_t)snprintf(
        text, sizeof(text),
        HEADER "{ common_cpu: %10u, desc: %-50s } hitcount: %10u  duration: %10u\n"
               "{ common_cpu: %10u, desc: %-50s } hitcount: %10u  duration: %10u\n" TOTALS(2),
        1, names[_i], 2, 3, 4, "next", 5, 6);
    ck_assert_int_eq(hr_osnoise_hist_next(&reader, &entry), 1);
    size_t length = strlen(names[_i]);
    while (length > 0 && names[_i][length - 1] == ' ')
        length--;
    ck_assert_uint_eq(entry.name.length, length);
    ck_assert(memcmp(entry.name.start, names[_i], length) == 0);
    ck_assert_uint_eq(entry.count, 2);
    ck_assert_uint_eq(entry.duration_ns, 3);
    ck_assert_int_eq(hr_osnoise_hist_next(&reader, &entry), 1);
    ck_assert_uint_eq(entry.cpu, 4);
    ck_assert_uint_eq(entry.name.length, 4);
    ck_assert_int_eq(hr_osnoise_hist_next(&reader, &entry), 0);
}
END_TEST

static TCase *parsing(void)
{
    TCase *tests = tcase_create("hist");

    tcase_add_loop_test(tests, a_recorded_table_has_what_it_shows, 0, COUNT(recorded));
    tcase_add_loop_test(tests, a_table_that_is_cut_off_is_refused, 0, COUNT(recorded));
    tcase_add_loop_test(tests, sums_are_a_histogram_of_their_own, 0, 2);
    tcase_add_test(tests, only_names_have_sums);
    tcase_add_loop_test(tests, what_is_no_table_is_refused, 0, COUNT(refused));
    tcase_add_loop_test(tests, a_name_may_be_anything, 0, COUNT(names));
    return tests;
}

int main(void)
{
    return run_suite("osnoise_hist", parsing());
}
