/* SPDX-License-Identifier: MIT */
#include "memory/lru_gen_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/array.h"
#include "headroom/clock.h"
#include "memory/lru_gen_file.h"

/* --- Order ---------------------------------------------------------------- */

/* A slash comes before all other bytes, so that what is below a group follows it at once. */
static int rank(char byte)
{
    return byte == '/' ? 0 : (unsigned char)byte + 1;
}

static int compare_paths(struct hr_text a, struct hr_text b)
{
    const size_t shorter = a.length < b.length ? a.length : b.length;

    for (size_t i = 0; i < shorter; i++)
        if (a.start[i] != b.start[i])
            return rank(a.start[i]) - rank(b.start[i]);
    return (a.length > b.length) - (a.length < b.length);
}

/* Of one path, in the order of the text, where the paths are. */
static int compare_lists(const void *left, const void *right)
{
    const struct hr_lru_gen_list *a = left, *b = right;

    int order = compare_paths(a->path, b->path);
    if (order != 0)
        return order;
    if (a->path.start != b->path.start)
        return a->path.start < b->path.start ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* --- Reading -------------------------------------------------------------- */

static int parse_all(struct hr_lru_gen_table *table)
{
    struct hr_lru_gen_reader reader = {.rest = {table->text.start, table->text.length}};
    struct hr_lru_gen_list list;
    int status;

    table->count = 0;
    while ((status = hr_lru_gen_parse_next(&reader, &list)) > 0) {
        if (HR_ARRAY_RESERVE(table->lists, table->capacity, table->count + 1) < 0)
            return -ENOMEM;
        table->lists[table->count++] = list;
    }
    if (table->count > 0)
        qsort(table->lists, table->count, sizeof(*table->lists), compare_lists);
    return status;
}

int hr_lru_gen_table_read(struct hr_lru_gen_table *table, const struct hr_root *root,
                          uint64_t number, uint64_t since_ns)
{
    const uint64_t now_ns = hr_clock_ns();

    if (table->read_ns != 0 && table->reads >= number && table->read_ns >= since_ns)
        return 0;
    int status = hr_lru_gen_file_read(root, &table->text);
    if (status == 0)
        status = parse_all(table);
    if (status < 0) {
        hr_lru_gen_table_free(table);
        return status;
    }
    table->reads++;
    table->read_ns = now_ns;
    return 0;
}

void hr_lru_gen_table_free(struct hr_lru_gen_table *table)
{
    free(table->text.start);
    free(table->lists);
    *table = (struct hr_lru_gen_table){.reads = table->reads};
}

/* --- Finding -------------------------------------------------------------- */

/* @return the index of the first list whose path isn't before this one. */
static size_t find_first(const struct hr_lru_gen_table *table, const char *path)
{
    const struct hr_text wanted = {path, strlen(path)};
    return HR_ARRAY_FIND_FIRST(table->count, i, compare_paths(table->lists[i].path, wanted) < 0);
}

/* A removed group of that name is among them, but isn't below it. */
const struct hr_lru_gen_list *hr_lru_gen_table_find(const struct hr_lru_gen_table *table,
                                                    const char *group, size_t *count)
{
    const size_t length = strlen(group);
    size_t first = find_first(table, group), end = first;

    if (strcmp(group, "/") == 0) {
        *count = table->count;
        return table->lists;
    }
    for (; end < table->count; end++) {
        const struct hr_text path = table->lists[end].path;
        if (path.length < length || memcmp(path.start, group, length) != 0 ||
            (path.length > length && path.start[length] != '/'))
            break;
    }
    *count = end - first;
    return table->lists + first;
}
