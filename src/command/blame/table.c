/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "blame/names.h"
#include "blame/report.h"
#include "common/grid.h"
#include "common/output.h"
#include "common/short_name.h"
#include "headroom/array.h"
#include "headroom/clock.h"

#define GROUP_WIDTH  50 /* of the first column, at most: a container with its pod has room */
#define GROUP_LEAST  16
#define GROUP_PART   0.3 /* of a terminal that lacks room */
#define TAKER_WIDTH  20  /* of titles of the others, unless two would be the same */
#define TAKER_MOST   50
#define WORST_SIZE   (4 * TAKER_MOST + 320)
#define COLUMNS_MOST 16
#define ROWS_MOST    20
#define PAIRS_MOST   30

/* What is less is printed as 0.0. */
#define LEAST_NS 50000

/* What took CPUs from the groups that are shown. */
struct taker {
    enum hr_blame_taker kind;
    uint64_t group;
    const char *path; /* of a group */
    uint64_t wait_ns;
    char title[4 * TAKER_MOST];
    int title_width; /* to which it is cut */
    int width;       /* of its column */
};

/* A row for each group that is shown, and a column for each taker that has room. */
struct matrix {
    const struct blame_report *report;
    const struct blame_waiter *rows;
    size_t row_count;
    bool *short_names;    /* by row: whether it has one */
    struct taker *takers; /* the worst first */
    size_t taker_count, taker_capacity, column_count;
    int group_width; /* of the first column, at most */
    bool has_rest;   /* a column of the takers that have none */
    bool has_worst;  /* a column that names the worst taker of each row */
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

static int add_taken(struct matrix *matrix, const struct hr_blame_cell *cell)
{
    size_t at = 0;

    while (at < matrix->taker_count && !is_taker(&matrix->takers[at], cell))
        at++;
    if (at == matrix->taker_count) {
        const struct watched *watched = matrix->report->watched;
        const bool group = cell->taker == HR_BLAME_GROUP;
        if (HR_ARRAY_RESERVE(matrix->takers, matrix->taker_capacity, at + 1) != 0)
            return -ENOMEM;
        matrix->takers[matrix->taker_count++] = (struct taker){
            .kind = cell->taker,
            .group = cell->group,
            .path = group ? watched_path(watched, cell->group) : NULL,
        };
    }
    matrix->takers[at].wait_ns += cell->wait_ns;
    return 0;
}

static const struct hr_blame_cell *cells_of(const struct matrix *matrix, size_t row)
{
    return &matrix->report->matrix->cells[matrix->rows[row].first];
}

static int find_takers(struct matrix *matrix)
{
    for (size_t row = 0; row < matrix->row_count; row++)
        for (size_t i = 0; i < matrix->rows[row].count; i++) {
            int status = add_taken(matrix, &cells_of(matrix, row)[i]);
            if (status != 0)
                return status;
        }
    if (matrix->taker_count > 0)
        qsort(matrix->takers, matrix->taker_count, sizeof(*matrix->takers), compare_takers);
    return 0;
}

/* --- Names ---------------------------------------------------------------- */

/* Whether another group among the takers has the same last component. */
static bool is_ambiguous(const struct matrix *matrix, const struct taker *taker)
{
    const char *leaf = blame_leaf(taker->path);

    for (size_t i = 0; i < matrix->taker_count; i++)
        if (&matrix->takers[i] != taker && matrix->takers[i].kind == HR_BLAME_GROUP &&
            strcmp(blame_leaf(matrix->takers[i].path), leaf) == 0)
            return true;
    return false;
}

static void set_title(const struct matrix *matrix, struct taker *taker)
{
    const bool group = taker->kind == HR_BLAME_GROUP;
    const char *title = group ? taker->path : hr_blame_taker_name(taker->kind);
    const char *slash = group ? blame_slash_before(title) : "";
    char leaf[SHORT_NAME_SIZE];

    if (group && slash[0] == '\0' && !is_ambiguous(matrix, taker)) {
        short_path(blame_leaf(title), leaf);
        title = leaf;
    }
    strcpy(taker->title, slash);
    label_fit(title, taker->title_width - (int)strlen(slash), matrix->report->charset,
              taker->title + strlen(slash), sizeof(taker->title) - strlen(slash));
}

/* Has those that are the same cut less. @return whether there were any. */
static bool widen_same_titles(struct matrix *matrix)
{
    bool any = false;

    for (size_t i = 0; i < matrix->taker_count; i++)
        for (size_t j = 0; j < matrix->taker_count; j++)
            if (i != j && strcmp(matrix->takers[i].title, matrix->takers[j].title) == 0) {
                matrix->takers[i].title_width++;
                any = true;
                break;
            }
    return any;
}

static void set_titles(struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->taker_count; i++)
        matrix->takers[i].title_width = TAKER_WIDTH;
    for (int width = TAKER_WIDTH; width <= TAKER_MOST; width++) {
        for (size_t i = 0; i < matrix->taker_count; i++)
            set_title(matrix, &matrix->takers[i]);
        if (!widen_same_titles(matrix))
            return;
    }
}

static void name_group(const struct blame_report *report, uint64_t id, int width, char label[256])
{
    blame_write_name(report, id, blame_has_short_name(report, id), width, label);
}

/* Once, as the widths of many tables are tried. @return 0 or -ENOMEM. */
static int find_short_names(struct matrix *matrix)
{
    matrix->short_names = calloc(matrix->row_count + 1, sizeof(*matrix->short_names));
    if (matrix->short_names == NULL)
        return -ENOMEM;
    for (size_t row = 0; row < matrix->row_count; row++)
        matrix->short_names[row] =
            blame_has_short_name(matrix->report, cells_of(matrix, row)->waiter);
    return 0;
}

static void name_waiter(const struct matrix *matrix, size_t row, char label[256])
{
    blame_write_name(matrix->report, cells_of(matrix, row)->waiter, matrix->short_names[row],
                     matrix->group_width, label);
}

/* --- Waits ---------------------------------------------------------------- */

static void format_wait(uint64_t wait_ns, char text[32])
{
    snprintf(text, 32, wait_ns == 0 ? "0" : "%.1f", to_ms(wait_ns));
}

static void add_wait(struct grid *grid, uint64_t wait_ns)
{
    char text[32];

    format_wait(wait_ns, text);
    grid_cell(grid, "%s", text);
}

static void widen_for_text(int *width, const char *text)
{
    const int needed = label_width(text, LABEL_UTF8);

    if (needed > *width)
        *width = needed;
}

static void widen_for_wait(int *width, uint64_t wait_ns)
{
    char text[32];

    format_wait(wait_ns, text);
    widen_for_text(width, text);
}

static uint64_t find_wait(const struct matrix *matrix, size_t row, const struct taker *taker)
{
    uint64_t wait_ns = 0;

    for (size_t i = 0; i < matrix->rows[row].count; i++)
        if (is_taker(taker, &cells_of(matrix, row)[i]))
            wait_ns += cells_of(matrix, row)[i].wait_ns;
    return wait_ns;
}

/* The sum of a row's takers that have no column. */
static uint64_t find_rest(const struct matrix *matrix, size_t row)
{
    uint64_t rest_ns = matrix->rows[row].wait_ns;

    for (size_t i = 0; i < matrix->column_count; i++)
        rest_ns -= find_wait(matrix, row, &matrix->takers[i]);
    return rest_ns;
}

/* The index of a row's worst taker. */
static size_t find_worst(const struct matrix *matrix, size_t row)
{
    const struct hr_blame_cell *cells = cells_of(matrix, row), *worst = cells;
    size_t at = 0;

    for (size_t i = 1; i < matrix->rows[row].count; i++)
        if (cells[i].wait_ns > worst->wait_ns)
            worst = &cells[i];
    while (!is_taker(&matrix->takers[at], worst))
        at++;
    return at;
}

/* "backup.service 1602.4" */
static void describe_worst(const struct matrix *matrix, size_t row, char text[WORST_SIZE])
{
    const struct taker *worst = &matrix->takers[find_worst(matrix, row)];

    snprintf(text, WORST_SIZE, "%s %.1f", worst->title, to_ms(find_wait(matrix, row, worst)));
}

/* --- Which columns there is room for --------------------------------------- */

static void set_widths(struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->taker_count && i < COLUMNS_MOST; i++) {
        struct taker *taker = &matrix->takers[i];
        taker->width = 0;
        widen_for_text(&taker->width, taker->title);
        for (size_t row = 0; row < matrix->row_count; row++)
            widen_for_wait(&taker->width, find_wait(matrix, row, taker));
    }
}

/* Finds whether all takers that are worth it have a column, and the worst of each row. */
static void choose_rest(struct matrix *matrix)
{
    uint64_t rest_ns = 0;

    matrix->has_worst = false;
    for (size_t i = matrix->column_count; i < matrix->taker_count; i++)
        rest_ns += matrix->takers[i].wait_ns;
    matrix->has_rest = rest_ns >= LEAST_NS;
    for (size_t row = 0; matrix->has_rest && row < matrix->row_count; row++)
        matrix->has_worst |= find_worst(matrix, row) >= matrix->column_count;
    /* It would be all. */
    if (matrix->column_count == 0)
        matrix->has_rest = false;
}

/* How wide the table is, with one blank between columns. */
static int find_width(const struct matrix *matrix)
{
    int group = strlen("WAITING (ms)"), in_all = strlen("IN ALL"), rest = strlen("(rest)"),
        worst = strlen("MOST BY"), takers = 0;

    for (size_t row = 0; row < matrix->row_count; row++) {
        char text[WORST_SIZE];
        name_waiter(matrix, row, text);
        widen_for_text(&group, text);
        describe_worst(matrix, row, text);
        widen_for_text(&worst, text);
        widen_for_wait(&in_all, matrix->rows[row].wait_ns);
        widen_for_wait(&rest, find_rest(matrix, row));
    }
    for (size_t i = 0; i < matrix->column_count; i++)
        takers += 1 + matrix->takers[i].width;
    return group + 1 + in_all + takers + (matrix->has_rest ? 1 + rest : 0) +
           (matrix->has_worst ? 1 + worst : 0);
}

/* Of --all there may be too many to find out. */
static bool has_same_names(const struct matrix *matrix)
{
    char name[256], other[256];

    if (matrix->row_count > ROWS_MOST)
        return false;
    for (size_t i = 0; i < matrix->row_count; i++) {
        name_waiter(matrix, i, name);
        for (size_t j = 0; j < i; j++) {
            name_waiter(matrix, j, other);
            if (strcmp(name, other) == 0)
                return true;
        }
    }
    return false;
}

static void narrow_names(struct matrix *matrix)
{
    const int width = (int)(matrix->report->width * GROUP_PART);

    if (width >= matrix->group_width)
        return;
    matrix->group_width = width > GROUP_LEAST ? width : GROUP_LEAST;
    while (matrix->group_width < GROUP_WIDTH && has_same_names(matrix))
        matrix->group_width++;
}

static void choose_columns(struct matrix *matrix)
{
    size_t most = 0;

    while (most < matrix->taker_count && most < COLUMNS_MOST &&
           (most == 0 || matrix->takers[most].wait_ns >= LEAST_NS))
        most++;
    set_widths(matrix);
    matrix->column_count = most;
    matrix->group_width = GROUP_WIDTH;
    choose_rest(matrix);
    if (find_width(matrix) > matrix->report->width)
        narrow_names(matrix);
    while (matrix->column_count > 0 && find_width(matrix) > matrix->report->width) {
        matrix->column_count--;
        choose_rest(matrix);
    }
}

/* --- The matrix ----------------------------------------------------------- */

static void add_titles(struct grid *grid, const struct matrix *matrix)
{
    grid_cell(grid, "WAITING (ms)");
    grid_cell(grid, "IN ALL");
    if (matrix->has_worst)
        grid_cell(grid, "MOST BY");
    for (size_t i = 0; i < matrix->column_count; i++)
        grid_cell(grid, "%s", matrix->takers[i].title);
    if (matrix->has_rest)
        grid_cell(grid, "(rest)");
}

static void add_row(struct grid *grid, const struct matrix *matrix, size_t row)
{
    char text[WORST_SIZE];

    name_waiter(matrix, row, text);
    grid_cell(grid, "%s", text);
    add_wait(grid, matrix->rows[row].wait_ns);
    if (matrix->has_worst) {
        describe_worst(matrix, row, text);
        grid_cell(grid, "%s", text);
    }
    for (size_t i = 0; i < matrix->column_count; i++)
        add_wait(grid, find_wait(matrix, row, &matrix->takers[i]));
    if (matrix->has_rest)
        add_wait(grid, find_rest(matrix, row));
}

static int print_rows(FILE *file, const struct matrix *matrix)
{
    struct grid grid = {
        .column_count = (unsigned)(2 + matrix->column_count + matrix->has_rest + matrix->has_worst),
        .left = matrix->has_worst ? 1 | 1 << 2 : 1,
    };

    add_titles(&grid, matrix);
    for (size_t row = 0; row < matrix->row_count; row++)
        add_row(&grid, matrix, row);
    return grid_print(&grid, file);
}

/* How many are shown, of those that waited longest. */
static size_t count_rows(const struct blame_report *report, const struct blame_waiter *waiters,
                         size_t count)
{
    size_t rows = 1;

    if (report->all)
        return count;
    while (rows < count && rows < ROWS_MOST && waiters[rows].wait_ns >= LEAST_NS)
        rows++;
    return rows;
}

/* What is asked at a first look. */
static void print_explanations(FILE *file, const struct matrix *matrix)
{
    const struct blame_report *report = matrix->report;
    const uint64_t time_ns = report->matrix->time_ns;
    bool has_root = false, exceeds_time = false;
    char text[128];

    for (size_t row = 0; row < matrix->row_count; row++) {
        has_root |= cells_of(matrix, row)->waiter == report->watched->top;
        exceeds_time |= matrix->rows[row].wait_ns > time_ns;
    }
    if (has_root)
        output_fold(file, "/ is the root cgroup: tasks that are in no other group.", 0,
                    (size_t)report->width);
    if (!exceeds_time)
        return;
    snprintf(text, sizeof(text),
             "A sum may be more than the %.1f s measured, as several tasks wait at once.",
             (double)time_ns / HR_NS_PER_S);
    output_fold(file, text, 0, (size_t)report->width);
}

static int print_matrix(FILE *file, const struct blame_report *report,
                        const struct blame_waiter *waiters, size_t count)
{
    struct matrix matrix = {
        .report = report,
        .rows = waiters,
        .row_count = count_rows(report, waiters, count),
    };
    int status = find_takers(&matrix);

    if (status == 0)
        status = find_short_names(&matrix);
    if (status == 0) {
        set_titles(&matrix);
        choose_columns(&matrix);
        status = print_rows(file, &matrix);
    }
    free(matrix.short_names);
    free(matrix.takers);
    uint64_t rest_ns = 0;
    for (size_t i = matrix.row_count; i < count; i++)
        rest_ns += waiters[i].wait_ns;
    if (matrix.row_count < count)
        fprintf(file, "and %zu group%s more, %.1f ms\n", count - matrix.row_count,
                count - matrix.row_count == 1 ? "" : "s", to_ms(rest_ns));
    print_explanations(file, &matrix);
    return status;
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
    const bool is_group = cell->taker == HR_BLAME_GROUP || cell->taker == HR_BLAME_ITSELF;
    const uint64_t id = cell->taker == HR_BLAME_GROUP ? cell->group : cell->waiter;
    char group[256] = "", task[64];

    if (is_group)
        name_group(report, id, GROUP_WIDTH, group);
    else
        label_fit(hr_blame_taker_name(cell->taker), GROUP_WIDTH, LABEL_ASCII, group, sizeof(group));
    grid_cell(grid, "%s%s", is_group ? blame_slash_before(watched_path(report->watched, id)) : "",
              group);
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

    name_group(report, cell->waiter, GROUP_WIDTH, group);
    name_task(report, cell->waiter_tid, task);
    add_wait(grid, cell->wait_ns);
    grid_cell(grid, "%s", group);
    grid_cell(grid, "%s[%" PRIu32 "]", task, cell->waiter_tid);
    add_taker(grid, report, cell);
}

static int print_pairs(FILE *file, const struct blame_report *report)
{
    const size_t count = report->matrix->count,
                 shown = report->all || count < PAIRS_MOST ? count : PAIRS_MOST;
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
        fprintf(file,
                "%.1f ms of the waits are unattributed: there were too many groups or tasks.\n",
                to_ms(report->matrix->unsplit_ns));
    return status;
}
