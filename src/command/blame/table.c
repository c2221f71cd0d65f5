/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "blame/report.h"
#include "common/grid.h"
#include "headroom/array.h"
#include "headroom/clock.h"

#define GROUP_WIDTH  40 /* of the first column, at most */
#define TAKER_WIDTH  20 /* of titles of the others */
#define COLUMNS_MOST 16
#define PAIRS_MOST   30

/* What took CPUs from the whole machine. */
struct taker {
    enum hr_blame_taker kind;
    uint64_t group;
    uint64_t wait_ns;
    char title[4 * TAKER_WIDTH];
    int width;
};

static double to_ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* --- Takers --------------------------------------------------------------- */

static int compare_takers(const void *first, const void *second)
{
    const struct taker *a = first, *b = second;

    if (a->wait_ns != b->wait_ns)
        return a->wait_ns > b->wait_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

static bool is_taker(const struct taker *taker, const struct hr_blame_cell *cell)
{
    return taker->kind == cell->taker && taker->group == cell->group;
}

static int find_takers(const struct hr_blame_matrix *matrix, struct taker **takers, size_t *count)
{
    struct taker *found = NULL;
    size_t used = 0, capacity = 0;

    for (size_t i = 0; i < matrix->count; i++) {
        const struct hr_blame_cell *cell = &matrix->cells[i];
        size_t at = 0;
        while (at < used && !is_taker(&found[at], cell))
            at++;
        if (at == used) {
            if (HR_ARRAY_RESERVE(found, capacity, used + 1) != 0) {
                free(found);
                return -ENOMEM;
            }
            found[used++] = (struct taker){.kind = cell->taker, .group = cell->group};
        }
        found[at].wait_ns += cell->wait_ns;
    }
    if (used > 0)
        qsort(found, used, sizeof(*found), compare_takers);
    *takers = found;
    *count = used;
    return 0;
}

/* --- Names ---------------------------------------------------------------- */

static const char *leaf_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* Whether another group among the takers has the same last component. */
static bool is_ambiguous(const struct blame_report *report, const struct taker *takers,
                         size_t count, const struct taker *taker)
{
    const char *leaf = leaf_of(watched_path(report->watched, taker->group));

    for (size_t i = 0; i < count; i++)
        if (&takers[i] != taker && takers[i].kind == HR_BLAME_GROUP &&
            strcmp(leaf_of(watched_path(report->watched, takers[i].group)), leaf) == 0)
            return true;
    return false;
}

static void set_titles(const struct blame_report *report, struct taker *takers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *title = hr_blame_taker_name(takers[i].kind);
        if (takers[i].kind == HR_BLAME_GROUP)
            title = watched_path(report->watched, takers[i].group);
        if (takers[i].kind == HR_BLAME_GROUP && !is_ambiguous(report, takers, count, &takers[i]))
            title = leaf_of(title);
        takers[i].width = label_fit(title, TAKER_WIDTH, report->charset, takers[i].title,
                                    sizeof(takers[i].title));
    }
}

static void name_group(const struct blame_report *report, uint64_t id, char label[256])
{
    label_fit(watched_path(report->watched, id), GROUP_WIDTH, report->charset, label, 256);
}

/* --- The matrix ----------------------------------------------------------- */

/* The sum of a waiter's cells that a taker has; takers behind the last column are one. */
static uint64_t find_wait(const struct blame_report *report, const struct blame_waiter *waiter,
                          const struct taker *taker)
{
    uint64_t wait_ns = 0;

    for (size_t i = 0; i < waiter->count; i++) {
        const struct hr_blame_cell *cell = &report->matrix->cells[waiter->first + i];
        if (is_taker(taker, cell))
            wait_ns += cell->wait_ns;
    }
    return wait_ns;
}

/* As many as the terminal has room for, with one more for the rest. */
static size_t count_columns(const struct blame_report *report, const struct taker *takers,
                            size_t count)
{
    int used = GROUP_WIDTH + 2 * 10;
    size_t fits = 0;

    while (fits < count && fits < COLUMNS_MOST) {
        int width = takers[fits].width > 8 ? takers[fits].width : 8;
        if (fits > 0 && used + width + 1 > report->width)
            break;
        used += width + 1;
        fits++;
    }
    return fits;
}

static void add_wait(struct grid *grid, uint64_t wait_ns)
{
    if (wait_ns == 0)
        grid_cell(grid, "0");
    else
        grid_cell(grid, "%.1f", to_ms(wait_ns));
}

static void add_row(struct grid *grid, const struct blame_report *report,
                    const struct blame_waiter *waiter, const struct taker *takers, size_t columns,
                    bool has_rest)
{
    uint64_t rest_ns = waiter->wait_ns;
    char label[256];

    name_group(report, report->matrix->cells[waiter->first].waiter, label);
    grid_cell(grid, "%s", label);
    add_wait(grid, waiter->wait_ns);
    for (size_t i = 0; i < columns; i++) {
        uint64_t wait_ns = find_wait(report, waiter, &takers[i]);
        add_wait(grid, wait_ns);
        rest_ns -= wait_ns;
    }
    if (has_rest)
        add_wait(grid, rest_ns);
}

static int print_matrix(FILE *file, const struct blame_report *report,
                        const struct blame_waiter *waiters, size_t count)
{
    struct taker *takers;
    size_t taker_count;
    int status = find_takers(report->matrix, &takers, &taker_count);

    if (status != 0)
        return status;
    set_titles(report, takers, taker_count);
    size_t columns = count_columns(report, takers, taker_count);
    bool has_rest = columns < taker_count;
    struct grid grid = {.column_count = (unsigned)(2 + columns + has_rest), .left = 1};
    grid_cell(&grid, "WAITING (ms)");
    grid_cell(&grid, "IN ALL");
    for (size_t i = 0; i < columns; i++)
        grid_cell(&grid, "%s", takers[i].title);
    if (has_rest)
        grid_cell(&grid, "(rest)");
    for (size_t i = 0; i < count; i++)
        add_row(&grid, report, &waiters[i], takers, columns, has_rest);
    free(takers);
    return grid_print(&grid, file);
}

/* --- Tasks ---------------------------------------------------------------- */

static int compare_cells_by_wait(const void *first, const void *second)
{
    const struct hr_blame_cell *const *a = first, *const *b = second;

    if ((*a)->wait_ns != (*b)->wait_ns)
        return (*a)->wait_ns > (*b)->wait_ns ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

static void name_task(const struct blame_report *report, uint32_t tid, char label[64])
{
    char name[16];

    if (hr_blame_task_name(report->blame, tid, name, sizeof(name)) != 0)
        strcpy(name, "?");
    label_fit(name, INT_MAX, report->charset, label, 64);
}

static void add_taker(struct grid *grid, const struct blame_report *report,
                      const struct hr_blame_cell *cell)
{
    char group[256] = "", task[64];

    if (cell->taker == HR_BLAME_GROUP || cell->taker == HR_BLAME_ITSELF)
        name_group(report, cell->taker == HR_BLAME_GROUP ? cell->group : cell->waiter, group);
    else
        label_fit(hr_blame_taker_name(cell->taker), GROUP_WIDTH, LABEL_ASCII, group, sizeof(group));
    grid_cell(grid, "%s", group);
    name_task(report, cell->taker_tid, task);
    if (cell->taker_tid != 0)
        grid_cell(grid, "%s[%" PRIu32 "]", task, cell->taker_tid);
    else
        grid_cell(grid, "%s", "");
}

static void add_pair(struct grid *grid, const struct blame_report *report,
                     const struct hr_blame_cell *cell)
{
    char group[256], task[64];

    name_group(report, cell->waiter, group);
    name_task(report, cell->waiter_tid, task);
    add_wait(grid, cell->wait_ns);
    grid_cell(grid, "%s", group);
    grid_cell(grid, "%s[%" PRIu32 "]", task, cell->waiter_tid);
    add_taker(grid, report, cell);
}

static int print_pairs(FILE *file, const struct blame_report *report)
{
    const size_t count = report->matrix->count, shown = count < PAIRS_MOST ? count : PAIRS_MOST;
    const struct hr_blame_cell **cells = calloc(count, sizeof(*cells));
    struct grid grid = {.column_count = 5, .left = 0x1e};

    if (cells == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        cells[i] = &report->matrix->cells[i];
    qsort(cells, count, sizeof(*cells), compare_cells_by_wait);
    grid_cell(&grid, "MS");
    grid_cell(&grid, "WAITING");
    grid_cell(&grid, "%s", "");
    grid_cell(&grid, "TAKEN BY");
    grid_cell(&grid, "%s", "");
    for (size_t i = 0; i < shown; i++)
        add_pair(&grid, report, cells[i]);
    int status = grid_print(&grid, file);
    uint64_t rest_ns = 0;
    for (size_t i = shown; i < count; i++)
        rest_ns += cells[i]->wait_ns;
    if (shown < count)
        fprintf(file, "and %zu pairs more, %.1f ms\n", count - shown, to_ms(rest_ns));
    free(cells);
    return status;
}

/* --- All ------------------------------------------------------------------ */

int blame_table_print(FILE *file, const struct blame_report *report)
{
    struct blame_waiter *waiters;
    size_t count;
    int status = blame_find_waiters(report->matrix, &waiters, &count);

    if (status != 0)
        return status;
    if (count == 0)
        fprintf(file, "No task of these groups waited for a CPU in %.1f s.\n",
                (double)report->matrix->time_ns / HR_NS_PER_S);
    else
        status = report->by_task ? print_pairs(file, report)
                                 : print_matrix(file, report, waiters, count);
    free(waiters);
    if (report->matrix->lost_ns > 0)
        fprintf(file, "Waits of %.1f ms more are missing: there were too many groups or tasks.\n",
                to_ms(report->matrix->lost_ns));
    if (report->matrix->unsplit_ns > 0)
        fprintf(file, "%.1f ms of them are unattributed as there were too many groups or tasks.\n",
                to_ms(report->matrix->unsplit_ns));
    return status;
}
