/* SPDX-License-Identifier: MIT */
#include "collectors/osnoise/sources_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/tree.h"

#define TRACING "sys/kernel/tracing"

void *__real_reallocarray(void *array, size_t count, size_t size);
void *__wrap_reallocarray(void *array, size_t count, size_t size);
int __wrap_hr_osnoise_instance_clear_table(const struct hr_tracefs *tracefs, const char *name,
                                           enum hr_osnoise_table table);

static struct tree *tree;
struct hr_tracefs tracefs;
struct hr_osnoise_sources *sources;
struct hr_osnoise_counts counts;
struct hr_cpu_set all_cpus;

unsigned cleared[HR_OSNOISE_TABLE_COUNT];
int clear_status;
void (*on_clear)(void);
int allocations, allocations_left = -1; /* -1: without end */

void *__wrap_reallocarray(void *array, size_t count, size_t size)
{
    allocations++;
    if (allocations_left == 0)
        return NULL;
    if (allocations_left > 0)
        allocations_left--;
    return __real_reallocarray(array, count, size);
}

int __wrap_hr_osnoise_instance_clear_table(const struct hr_tracefs *of, const char *name,
                                           enum hr_osnoise_table table)
{
    ck_assert_ptr_eq(of, &tracefs);
    ck_assert_str_eq(name, "ours");
    cleared[table]++;
    if (on_clear != NULL)
        on_clear();
    return clear_status;
}

/* A table's text as it grows. */
static char text[2000000];
static size_t text_length;
unsigned entry_count;

void add_header(const char *keys, unsigned size)
{
    entry_count = 0;
    text_length +=
        (size_t)snprintf(text + text_length, sizeof(text) - text_length,
                         "# event histogram\n#\n# trigger info: hist:keys=%s:vals=hitcount,"
                         "duration:sort=hitcount:size=%u if start != 0 [active]\n#\n\n",
                         keys, size);
}

void begin_table(void)
{
    text_length = 0;
    add_header("common_cpu,name", 4096);
}

void add_totals(unsigned long dropped)
{
    text_length += (size_t)snprintf(text + text_length, sizeof(text) - text_length,
                                    "\nTotals:\n    Hits: 1\n    Entries: %u\n    Dropped: %lu\n",
                                    entry_count, dropped);
}

void add_gap(void)
{
    text_length += (size_t)snprintf(text + text_length, sizeof(text) - text_length, "\n\n");
}

/* A table of sums by CPU, before that of names. */
void begin_sums(void)
{
    text_length = 0;
    add_header("common_cpu", 128);
}

void end_sums(void)
{
    add_totals(0);
    add_gap();
    add_header("common_cpu,comm", 4096);
}

static void add_entry(const char *key, unsigned long count, unsigned long duration)
{
    int length = snprintf(text + text_length, sizeof(text) - text_length, "{ %s } hitcount: %10lu",
                          key, count);

    text_length += (size_t)length;
    if (strstr(key, "2^") == NULL)
        text_length += (size_t)snprintf(text + text_length, sizeof(text) - text_length,
                                        "  duration: %10lu", duration);
    text[text_length++] = '\n';
    entry_count++;
}

void add_irq(unsigned cpu, const char *name, unsigned long count, unsigned long duration)
{
    char key[512];

    snprintf(key, sizeof(key), "common_cpu: %10u, desc: %-50s", cpu, name);
    add_entry(key, count, duration);
}

void add_thread(unsigned cpu, const char *name, unsigned long count, unsigned long duration)
{
    char key[512];

    snprintf(key, sizeof(key), "common_cpu: %10u, comm: %-50s", cpu, name);
    add_entry(key, count, duration);
}

void add_softirq(unsigned cpu, unsigned vector, unsigned long count, unsigned long duration)
{
    char key[512];

    snprintf(key, sizeof(key), "common_cpu: %10u, vector: %10u", cpu, vector);
    add_entry(key, count, duration);
}

void add_nmi(unsigned cpu, unsigned long count, unsigned long duration)
{
    char key[512];

    snprintf(key, sizeof(key), "common_cpu: %10u", cpu);
    add_entry(key, count, duration);
}

void add_power(unsigned cpu, unsigned log2, unsigned long count)
{
    char key[512];

    snprintf(key, sizeof(key), "common_cpu: %10u, duration: ~ 2^%-2u", cpu, log2);
    add_entry(key, count, 0);
}

void end_table(enum hr_osnoise_table table, unsigned long dropped)
{
    char path[512], below[256];

    add_totals(dropped);
    hr_osnoise_instance_table_path("ours", table, below, sizeof(below));
    snprintf(path, sizeof(path), TRACING "/%s", below);
    tree_write(tree, path, "%s", text);
}

void remove_table(enum hr_osnoise_table table)
{
    char path[512], below[256];

    hr_osnoise_instance_table_path("ours", table, below, sizeof(below));
    snprintf(path, sizeof(path), TRACING "/%s", below);
    tree_remove(tree, path);
}

void write_irq(unsigned long count, unsigned long duration)
{
    begin_table();
    add_irq(1, "local_timer", count, duration);
    end_table(HR_OSNOISE_TABLE_IRQ, 0);
}

static void set_up(void)
{
    char path[512];

    tree = tree_new();
    for (int i = 0; i < HR_OSNOISE_TABLE_COUNT; i++) {
        begin_table();
        end_table((enum hr_osnoise_table)i, 0);
    }
    snprintf(path, sizeof(path), "%s/" TRACING, tree_path(tree));
    tracefs.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(tracefs.fd, 0);
    memset(&all_cpus, 0xff, sizeof(all_cpus));
    ck_assert_int_eq(hr_osnoise_sources_open("ours", true, true, &sources), 0);
}

static void tear_down(void)
{
    hr_osnoise_sources_close(sources);
    close(tracefs.fd);
    tree_free(tree);
}

void read_counts(void)
{
    counts = (struct hr_osnoise_counts){.dropped_count = 4711};
    ck_assert_int_eq(hr_osnoise_sources_read(sources, &tracefs, &all_cpus, &counts), 0);
}

void read_fails(int status)
{
    counts = (struct hr_osnoise_counts){.dropped_count = 4711};
    ck_assert_int_eq(hr_osnoise_sources_read(sources, &tracefs, &all_cpus, &counts), status);
    ck_assert_uint_eq(counts.dropped_count, 4711);
    ck_assert_ptr_null(counts.sources);
}

static const struct hr_osnoise_source *find(unsigned cpu, enum hr_osnoise_kind kind,
                                            const char *name)
{
    for (size_t i = 0; i < counts.source_count; i++)
        if (counts.sources[i].cpu == cpu && counts.sources[i].kind == kind &&
            strcmp(counts.sources[i].name, name) == 0)
            return &counts.sources[i];
    ck_abort_msg("no source %s of CPU %u", name, cpu);
    return NULL;
}

void assert_source(unsigned cpu, enum hr_osnoise_kind kind, const char *name, uint64_t count,
                   uint64_t duration_ns)
{
    const struct hr_osnoise_source *source = find(cpu, kind, name);

    ck_assert_uint_eq(source->count, count);
    ck_assert_uint_eq(source->duration_ns, duration_ns);
}

TCase *new_sources_tests(const char *name)
{
    TCase *tests = tcase_create(name);

    tcase_add_checked_fixture(tests, set_up, tear_down);
    return tests;
}
