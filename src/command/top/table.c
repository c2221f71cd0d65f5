/* SPDX-License-Identifier: MIT */
#include "top/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/client.h"
#include "common/short_name.h"
#include "headroom/array.h"
#include "top/memory.h"
#include "top/takers.h"

int identifier_column(const struct identifier *parts)
{
    if (parts->instance.length == 0)
        return -ENOENT;
    for (size_t i = 0; i < column_count; i++) {
        if (piece_is(&parts->type_instance, columns[i].type_instance) &&
            piece_is(&parts->type, columns[i].type) && piece_is(&parts->plugin, columns[i].plugin))
            return columns[i].not_of_system && piece_is(&parts->instance, SYSTEM_GROUP) ? -ENOENT
                                                                                        : (int)i;
    }
    return -ENOENT;
}

/* A series that a column shows, or of how many CPUs a machine has. */
struct series {
    char *text;
    struct identifier parts; /* pieces of `text` */
    int column;              /* -ENOENT: none */
};

/* The machine's counter of CPU time runs on each of its CPUs all the time. */
#define NS_PER_CPU 1e9

static bool is_cpu_count(const struct identifier *parts)
{
    return piece_is(&parts->plugin, "cgroup_perf") && piece_is(&parts->instance, SYSTEM_GROUP) &&
           piece_is(&parts->type, "perf") && piece_is(&parts->type_instance, "task-clock");
}

struct series_list {
    struct series *entries;
    size_t count, capacity;
    struct known_series *known; /* NULL: not wanted */
};

static void free_series(struct series_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].text);
    free(list->entries);
}

/* For client_list(): keeps series that a column shows, and which others there are. */
static int collect_series(void *context, const char *text)
{
    struct series_list *list = context;
    struct identifier parts;
    int status = list->known != NULL ? known_series_add(list->known, text) : 0;
    if (status != 0 || identifier_parse(text, &parts) != 0 ||
        (identifier_column(&parts) < 0 && !is_cpu_count(&parts)))
        return status;
    if (HR_ARRAY_RESERVE(list->entries, list->capacity, list->count + 1) != 0)
        return -ENOMEM;
    struct series *series = &list->entries[list->count];
    series->text = strdup(text);
    if (series->text == NULL)
        return -ENOMEM;
    identifier_parse(series->text, &series->parts);
    series->column = identifier_column(&series->parts);
    list->count++;
    return 0;
}

static int compare_groups(const struct series *a, const struct series *b)
{
    int order = compare_pieces(&a->parts.host, &b->parts.host);
    return order != 0 ? order : compare_pieces(&a->parts.instance, &b->parts.instance);
}

static int compare_series(const void *a, const void *b)
{
    return compare_groups(a, b);
}

static int fetch_values(struct client *client, const struct series_list *list, double *values)
{
    const char **identifiers = calloc(list->count + 1, sizeof(*identifiers));
    if (identifiers == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < list->count; i++)
        identifiers[i] = list->entries[i].text;
    int status = client_get(client, identifiers, values, list->count);
    free(identifiers);
    return status;
}

static int append_row(struct table *table, const struct series *series)
{
    struct row *row = &table->rows[table->count];
    const struct identifier *parts = &series->parts;
    row->host = strndup(parts->host.start, parts->host.length);
    row->group = strndup(parts->instance.start, parts->instance.length);
    table->count++;
    for (size_t i = 0; i < COLUMN_MAX; i++)
        row->values[i] = NAN;
    row->cpu_count = NAN;
    if (row->host == NULL || row->group == NULL)
        return -ENOMEM;
    if (strcmp(row->host, table->rows[0].host) != 0)
        table->several_hosts = true;
    return 0;
}

/* Makes rows of series that are sorted by group. */
static int build_rows(const struct series_list *list, const double *values, struct table *table)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct series *series = &list->entries[i];
        if (i == 0 || compare_groups(series - 1, series) != 0) {
            int status = append_row(table, series);
            if (status != 0)
                return status;
        }
        struct row *row = &table->rows[table->count - 1];
        if (series->column < 0)
            row->cpu_count = values[i] / NS_PER_CPU;
        else
            row->values[series->column] = values[i] / columns[series->column].divisor;
    }
    return 0;
}

static double realtime_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int table_fetch(struct client *client, struct known_series *known, struct table *table)
{
    struct known_series found = {.list = NULL};
    struct series_list list = {.known = known != NULL ? &found : NULL};
    struct table fetched = {.time = realtime_s()};
    double *values = NULL;
    int status = client_list(client, collect_series, &list);
    if (status != 0)
        goto out;
    if (list.count > 1)
        qsort(list.entries, list.count, sizeof(*list.entries), compare_series);
    /* At least one, as calloc(0) may return NULL. */
    values = calloc(list.count + 1, sizeof(*values));
    fetched.rows = calloc(list.count + 1, sizeof(*fetched.rows));
    status = values == NULL || fetched.rows == NULL ? -ENOMEM : fetch_values(client, &list, values);
    if (status == 0)
        status = build_rows(&list, values, &fetched);
out:
    free(values);
    free_series(&list);
    if (status != 0) {
        table_free(&fetched);
        known_series_free(&found);
        return status;
    }
    known_series_sort(&found);
    if (known != NULL)
        *known = found;
    *table = fetched;
    return 0;
}

static const char *name_for_people(const struct row *row)
{
    return row->short_group != NULL ? row->short_group : row->group;
}

static int find_path(struct row *row, const struct memory_reader *memory)
{
    const char *path = memory != NULL ? memory_find_path(memory, row->host, row->group) : NULL;

    if (path == NULL)
        return 0;
    row->path = strdup(path);
    return row->path != NULL ? 0 : -ENOMEM;
}

int table_shorten_names(struct table *table, const struct memory_reader *memory)
{
    /* At least one, as calloc(0) may return NULL. */
    struct short_name_of *groups = calloc(table->count + 1, sizeof(*groups));
    char **names = calloc(table->count + 1, sizeof(*names));
    int status = groups == NULL || names == NULL ? -ENOMEM : 0;
    for (size_t i = 0; i < table->count && status == 0; i++) {
        struct row *row = &table->rows[i];
        status = find_path(row, memory);
        groups[i] = (struct short_name_of){row->host, row->group, row->path};
    }
    if (status == 0)
        status = short_names_find(groups, table->count, names);
    for (size_t i = 0; i < table->count && names != NULL; i++)
        table->rows[i].short_group = names[i];
    free(names);
    free(groups);
    return status;
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free(table->rows[i].host);
        free(table->rows[i].group);
        free(table->rows[i].short_group);
        free(table->rows[i].path);
    }
    free(table->rows);
    *table = (struct table){0};
}

bool row_is_system(const struct row *row)
{
    return strcmp(row->group, SYSTEM_GROUP) == 0;
}

enum severity row_severity(const struct row *row, size_t column)
{
    enum severity severity = column_severity(&columns[column], row->values[column]);
    if (severity == SEVERITY_ALARM && column == column_find("cpu_some") &&
        row->values[column_find("cpu_idle")] >= IDLE_PCT)
        return SEVERITY_WARN;
    return severity;
}

/* What the sort key "pressure" compares, in this order; NaN: absent. */
enum { FULL, RANK, SOME, PRESSURE_COUNT };

/* Of rows that have the same "full" those that wait are first, then who takes a CPU from them. */
static double rank_of(const struct row *row, double some)
{
    if (row->takes_most)
        return 1;
    return some >= columns[column_find("cpu_some")].warn ? 2 : 0;
}

/* The "full" of a CPU of who takes it counts in part, so that its victim is before it. */
static void find_pressure(const struct row *row, double pressure[PRESSURE_COUNT])
{
    pressure[FULL] = pressure[SOME] = NAN;
    for (size_t i = 0; i < column_count; i++) {
        /* fmax() returns the other where one is NaN. */
        const double part = row->takes_most && i == column_find("cpu_full") ? TAKER_FULL_FACTOR : 1;
        if (columns[i].in_full)
            pressure[FULL] = fmax(pressure[FULL], row->values[i] / part);
        if (columns[i].in_pressure)
            pressure[SOME] = fmax(pressure[SOME], row->values[i]);
    }
    /* Less than that is chance; and "full" of a CPU isn't known before Linux 5.13. */
    pressure[FULL] = isnan(pressure[FULL]) && !isnan(pressure[SOME]) ? 0 : round(pressure[FULL]);
    pressure[RANK] = rank_of(row, pressure[SOME]);
}

/* The highest first, absent ones last. */
static int compare_values(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a < b) - (a > b);
}

/* The worst first. */
static int compare_in_column(const struct column *column, double a, double b)
{
    return column->low_is_bad ? compare_values(-a, -b) : compare_values(a, b);
}

static int compare_by_key(const struct row *a, const struct row *b, const struct sort_key *key)
{
    double pressure_a[PRESSURE_COUNT], pressure_b[PRESSURE_COUNT];
    if (key->column == SORT_NAME)
        return 0;
    if (key->column != SORT_PRESSURE)
        return compare_in_column(&columns[key->column], a->values[key->column],
                                 b->values[key->column]);
    find_pressure(a, pressure_a);
    find_pressure(b, pressure_b);
    int order = 0;
    for (int i = 0; i < PRESSURE_COUNT && order == 0; i++)
        order = compare_values(pressure_a[i], pressure_b[i]);
    return order;
}

static int compare_rows(const void *first, const void *second, void *key)
{
    const struct row *a = first, *b = second;
    if (row_is_system(a) != row_is_system(b))
        return row_is_system(a) ? -1 : 1;
    int order = compare_by_key(a, b, key);
    if (order == 0)
        order = a->is_others - b->is_others;
    if (order == 0)
        order = strcmp(a->group, b->group);
    return order != 0 ? order : strcmp(a->host, b->host);
}

void table_sort(struct table *table, const struct sort_key *key)
{
    struct sort_key copy = *key;
    if (table->count > 1)
        qsort_r(table->rows, table->count, sizeof(*table->rows), compare_rows, &copy);
}

bool row_is_of_group(const struct row *row)
{
    return !row_is_system(row) && !row->is_others && isnan(row->values[column_find("processes")]);
}

/* See headroom/instance.h. */
static bool name_lies_within(const char *inner, const char *outer)
{
    const size_t length = strlen(outer), head = strcspn(inner, "~");
    if (inner[head] == '~' && length > head)
        return strchr(outer, '~') == NULL && strncmp(inner, outer, head) == 0;
    return strncmp(inner, outer, length) == 0 && inner[length] == '_';
}

bool row_lies_within(const struct row *inner, const struct row *outer)
{
    if (strcmp(inner->host, outer->host) != 0)
        return false;
    if (inner->path == NULL || outer->path == NULL)
        return name_lies_within(inner->group, outer->group);
    const size_t length = strlen(outer->path);
    return strncmp(inner->path, outer->path, length) == 0 && inner->path[length] == '/';
}

bool table_lacks_groups(const struct table *table)
{
    bool has_system = false;

    for (size_t i = 0; i < table->count; i++) {
        if (row_is_of_group(&table->rows[i]))
            return false;
        has_system |= row_is_system(&table->rows[i]);
    }
    return has_system;
}

size_t table_count_groups(const struct table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < table->count; i++)
        count += !table->rows[i].is_others;
    return count;
}

void table_present(const struct table *table, bool present[COLUMN_MAX])
{
    for (size_t column = 0; column < COLUMN_MAX; column++) {
        present[column] = false;
        for (size_t i = 0; i < table->count && column < column_count; i++)
            present[column] = present[column] || !isnan(table->rows[i].values[column]);
    }
    for (size_t column = 1; column < column_count; column++)
        present[column - 1] |= present[column] && columns[column].drawn == COLUMN_BESIDE;
}

static void write_name(const struct table *table, const char *host, const char *group, char *name,
                       size_t size)
{
    if (table->several_hosts)
        snprintf(name, size, "%s: %s", host, group);
    else
        snprintf(name, size, "%s", group);
}

void row_name(const struct table *table, const struct row *row, char *name, size_t size)
{
    write_name(table, row->host, row->group, name, size);
}

void row_label(const struct table *table, const struct row *row, char *label, size_t size)
{
    double count = row->values[column_find("processes")];
    write_name(table, row->host, name_for_people(row), label, size);
    size_t length = strlen(label);
    if (!isnan(count))
        snprintf(label + length, size - length, " (%.0f process%s)", count, count == 1 ? "" : "es");
}

int table_longest_label(const struct table *table, enum label_charset charset)
{
    char label[ROW_NAME_SIZE];
    int longest = 0;

    for (size_t i = 0; i < table->count; i++) {
        row_label(table, &table->rows[i], label, sizeof(label));
        const int width = label_width(label, charset);
        longest = width > longest ? width : longest;
    }
    return longest;
}

bool table_has_mark(const struct table *table)
{
    size_t row = 0;

    while (row < table->count && !table->rows[row].takes_most)
        row++;
    return row < table->count;
}

void row_format(const struct row *row, size_t column, char text[16])
{
    const char *mark = row->takes_most && column == column_find("cpus_used") ? "*" : "";
    int decimals = columns[column].decimals;
    double beside = column + 1 < column_count && columns[column + 1].drawn == COLUMN_BESIDE
                        ? row->values[column + 1]
                        : NAN;
    if (isnan(row->values[column]) && !isnan(beside)) {
        snprintf(text, 16, beside < 99.5 ? "%.0f %s" : "%.0f%s", beside, columns[column + 1].title);
        return;
    }
    do {
        char number[16];
        column_format(&columns[column], row->values[column], decimals, number);
        snprintf(text, 16, "%s%.14s", mark, number);
    } while (strlen(text) > VALUE_WIDTH && decimals-- > 0);
}
