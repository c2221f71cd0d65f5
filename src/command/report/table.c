/* SPDX-License-Identifier: MIT */
/*
 * report/table.c - the report for people.
 */
#include <math.h>
#include <string.h>

#include "common/grid.h"
#include "common/label.h"
#include "common/output.h"
#include "common/short_name.h"
#include "headroom/quantity.h"
#include "report/group.h"
#include "report/profile.h"
#include "report/rooms.h"

#define NAME_SIZE 256

/* How wide columns are, and how many causes are named: at first what all would like. */
struct fit {
    int name_width, causes_width;
    size_t cause_count;
    bool with_taking, with_binds, with_intervals;
};

#define NAME_LEAST   15
#define CAUSES_LEAST 16

/* "web1: mysql" where there are several hosts; safe to show. */
static void write_name(const struct rooms *rooms, const struct room_row *row, int width, char *safe,
                       size_t size)
{
    char name[2 * NAME_SIZE];

    snprintf(name, sizeof(name), "%s%s%s", rooms->several_hosts ? row->host : "",
             rooms->several_hosts ? ": " : "", room_name(row));
    label_fit(name, width, LABEL_UTF8, safe, size);
}

static void add_name(struct grid *grid, const struct rooms *rooms, const struct room_row *row,
                     const struct fit *fit)
{
    char safe[128];

    write_name(rooms, row, fit->name_width, safe, sizeof(safe));
    grid_cell(grid, "%s", safe);
}

static void add_room(struct grid *grid, const struct room_row *row)
{
    const double pct = row->values[ROOM_LEAST];
    char by[ROOM_NAMES_SIZE];

    rooms_binding_names(row, by);
    if (isnan(pct))
        grid_cell(grid, room_waits_for_cpu(row) ? "?" : "-");
    else
        grid_cell(grid, "%s%.0f%%", profile_mark(profile_is_shown_at_least(row)), floor(pct));
    grid_cell(grid, "%s", by);
}

/* Of tasks that may run on some CPUs only no more than these have left, whatever the others have.
 */
static double cpus_left(const struct room_row *row)
{
    const double left = row->values[ROOM_CPUS_LEFT], pct = row->values[ROOM_CPU];

    if (row->brief == NULL || row->brief->task_cpus == 0 || !(pct > 0))
        return left;
    const double used = left * (100 / pct - 1);
    return fmin(left, fmax((double)row->brief->task_cpus - used, 0));
}

/* How much more it could take of what it has the least room by. */
static void add_left(struct grid *grid, const struct room_row *row)
{
    const enum room_value by = rooms_binding(row);
    const double cpus = cpus_left(row), bytes = row->values[ROOM_BYTES_LEFT];

    if (by == ROOM_CPU && row->values[ROOM_CPUS_LEFT] > 0) {
        grid_cell(grid, cpus < 9.95 ? "+%.2g CPU%s" : "+%.0f CPU%s", cpus, cpus == 1 ? "" : "s");
    } else if (by == ROOM_MEMORY && bytes > 0) {
        grid_cell(grid, "%s%s", profile_is_shown_at_least(row) ? profile_mark(true) : "+",
                  hr_quantity_short_bytes(bytes).text);
    } else {
        grid_cell(grid, "-");
    }
}

/* "42 min", "42 min (31 min..1.0 h)" */
static void add_trouble(struct grid *grid, const struct room_row *row, const struct fit *fit)
{
    const double seconds = row->values[ROOM_TROUBLE];
    const struct group *brief = row->brief;

    if (isnan(seconds))
        grid_cell(grid, "-");
    else if (seconds <= 0)
        grid_cell(grid, "now");
    else if (!room_has_trouble_to_come(row))
        grid_cell(grid, "> 1 d");
    else if (fit->with_intervals && brief != NULL && group_has_interval(row, brief))
        grid_cell(grid, "%s (%s..%s)", hr_quantity_seconds(seconds).text,
                  hr_quantity_seconds(brief->trend.outlook.early_s).text,
                  hr_quantity_seconds(brief->trend.outlook.late_s).text);
    else
        grid_cell(grid, "%s", hr_quantity_seconds(seconds).text);
}

static void add_memory(struct grid *grid, const struct room_row *row)
{
    if (isnan(row->values[ROOM_NEED]) || isnan(row->values[ROOM_LIMIT])) {
        grid_cell(grid, "-");
        return;
    }
    grid_cell(grid, "%s of %s", hr_quantity_short_bytes(row->values[ROOM_NEED]).text,
              hr_quantity_short_bytes(row->values[ROOM_LIMIT]).text);
}

/* While CPUs are idle it isn't all of them that have no room. */
static bool has_idle_cpus(const struct room_row *row)
{
    return rooms_binding(row) == ROOM_CPU && row->values[ROOM_CPU] <= 0 &&
           row->idle_pct >= WORTH_NAMING_PCT;
}

/* "cpu: limit 61%, cpu: neighbours 8%", "cpu 98%, 47% idle" */
static void add_causes(struct grid *grid, const struct room_row *row, const struct fit *fit)
{
    char text[128] = "", safe[128];
    size_t used = 0;

    for (size_t i = 0; i < row->cause_count && i < fit->cause_count; i++) {
        const struct room_cause *cause = &row->causes[i];
        if (!(cause->pct >= WORTH_NAMING_PCT) || used >= sizeof(text))
            break;
        const bool is_known = room_cause_is_known(cause);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s%s %.0f%%",
                                 i > 0 ? ", " : "", cause->resource, is_known ? ": " : "",
                                 is_known ? cause->name : "", cause->pct);
    }
    if (has_idle_cpus(row) && used < sizeof(text))
        snprintf(text + used, sizeof(text) - used, "%s%.0f%% idle", used > 0 ? ", " : "",
                 row->idle_pct);
    label_fit_start(text, fit->causes_width, LABEL_UTF8, safe, sizeof(safe));
    grid_cell(grid, "%s", safe[0] != '\0' ? safe : "-");
}

/* --- What binds, and who takes it --- */

#define NAME_IN_BINDS  22
#define NAME_IN_TAKING 16
#define TAKERS_MOST    2

/* "shop.slice 2.5G", "cpu.max 0.5" */
static void describe_limit(const struct group_limit *limit, bool is_cpu, char *text, size_t size)
{
    char path[SHORT_NAME_SIZE], name[64];

    if (limit->bound == HR_ROOM_MACHINE) {
        snprintf(text, size, "machine");
        return;
    }
    if (limit->group != NULL)
        short_path(limit->group, path);
    label_fit(limit->group != NULL ? path : hr_room_bound_name(limit->bound, limit->version),
              NAME_IN_BINDS, LABEL_UTF8, name, sizeof(name));
    if (is_cpu)
        snprintf(text, size, limit->amount < 9.95 ? "%s %.2g" : "%s %.0f", name, limit->amount);
    else
        snprintf(text, size, "%s %s", name, hr_quantity_short_bytes(limit->amount).text);
}

/* "2 CPUs"; of tasks that may not run on all of these "CPU 1", "2 of 4 CPUs". */
static void describe_cpus(const struct group *group, char *text, size_t size)
{
    if (group->task_cpus == 1)
        snprintf(text, size, "CPU %u", group->first_task_cpu);
    else if (group->task_cpus > 1)
        snprintf(text, size, "%zu of %zu CPUs", group->task_cpus, group->cpus);
    else
        snprintf(text, size, "%zu CPU%s", group->cpus, group->cpus == 1 ? "" : "s");
}

/* Of a machine with CPUs that are idle: the one on which all wait that have no room, if it is
 * known; the others have room. */
static void describe_full_cpus(const struct rooms *rooms, const struct room_row *machine,
                               char *text, size_t size)
{
    const struct group *first = NULL;

    snprintf(text, size, "some CPUs");
    for (size_t i = 0; i < rooms->count; i++) {
        const struct room_row *row = &rooms->rows[i];
        const struct group *group = row->brief;
        if (row == machine || strcmp(row->host, machine->host) != 0 ||
            !(row->values[ROOM_CPU] <= 0))
            continue;
        if (group == NULL || group->task_cpus != 1 ||
            (first != NULL && group->first_task_cpu != first->first_task_cpu))
            return;
        first = group;
    }
    if (first != NULL)
        describe_cpus(first, text, size);
}

static void describe_binds(const struct rooms *rooms, const struct room_row *row, char *text,
                           size_t size)
{
    const enum group_resource by = group_binding(row);
    const enum group_bound bound =
        row->brief != NULL ? group_find_bound(row, row->brief) : GROUP_BOUND_UNKNOWN;

    snprintf(text, size, "-");
    if (bound == GROUP_BOUND_LIMIT)
        describe_limit(&row->brief->limits[by], by == GROUP_CPU, text, size);
    else if (bound == GROUP_BOUND_CPUS && has_idle_cpus(row))
        describe_full_cpus(rooms, row, text, size);
    else if (bound == GROUP_BOUND_CPUS)
        describe_cpus(row->brief, text, size);
}

static void add_binds(struct grid *grid, const struct rooms *rooms, const struct room_row *row)
{
    char text[128];

    describe_binds(rooms, row, text, sizeof(text));
    grid_cell(grid, "%s", text);
}

/* "mysql 71%, cron 22%" */
static void add_taking(struct grid *grid, const struct room_row *row)
{
    char text[128] = "", name[64];
    size_t used = 0;

    for (size_t i = 0; row->brief != NULL && i < row->brief->taking.count && i < TAKERS_MOST; i++) {
        const struct share *share = &row->brief->taking.list[i];
        label_fit(share->name, NAME_IN_TAKING, LABEL_UTF8, name, sizeof(name));
        if (used < sizeof(text))
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %.0f%%",
                                     i > 0 ? ", " : "", name, share->pct);
    }
    grid_cell(grid, "%s", text[0] != '\0' ? text : "-");
}

static bool has_binds(const struct room_row *row)
{
    return row->brief != NULL && group_find_bound(row, row->brief) != GROUP_BOUND_UNKNOWN;
}

static bool has_taking(const struct room_row *row)
{
    return row->brief != NULL && row->brief->taking.count > 0;
}

/* --- Rows --- */

static void begin_rows(struct grid *grid, const struct fit *fit)
{
    static const char *const titles[] = {"group", "room", "by", "more", "trouble in", "needs"};
    const unsigned count = sizeof(titles) / sizeof(titles[0]);

    *grid = (struct grid){.column_count = count + fit->with_binds + fit->with_taking + 1,
                          .left = 1 | 1 << 2 | ~0u << count};
    for (size_t i = 0; i < count; i++)
        grid_cell(grid, "%s", titles[i]);
    if (fit->with_binds)
        grid_cell(grid, "binds");
    if (fit->with_taking)
        grid_cell(grid, "taking");
    grid_cell(grid, "waits for");
}

static void add_rows(struct grid *grid, const struct rooms *rooms, const struct fit *fit)
{
    begin_rows(grid, fit);
    for (size_t i = 0; i < rooms->count; i++) {
        const struct room_row *row = &rooms->rows[i];
        add_name(grid, rooms, row, fit);
        add_room(grid, row);
        add_left(grid, row);
        add_trouble(grid, row, fit);
        add_memory(grid, row);
        if (fit->with_binds)
            add_binds(grid, rooms, row);
        if (fit->with_taking)
            add_taking(grid, row);
        add_causes(grid, row, fit);
    }
}

/* Makes it narrower by so many columns, where the least is lost. Returns whether it could. */
static bool make_narrower(struct fit *fit, int name_width, int causes_width, int excess)
{
    if (fit->with_taking) {
        fit->with_taking = false;
    } else if (fit->with_binds) {
        fit->with_binds = false;
    } else if (fit->with_intervals) {
        fit->with_intervals = false;
    } else if (fit->cause_count > 1) {
        fit->cause_count--;
    } else if (name_width > NAME_LEAST) {
        fit->name_width = name_width - excess > NAME_LEAST ? name_width - excess : NAME_LEAST;
    } else if (causes_width > CAUSES_LEAST) {
        fit->causes_width =
            causes_width - excess > CAUSES_LEAST ? causes_width - excess : CAUSES_LEAST;
    } else {
        return false;
    }
    return true;
}

/* Without room, though trouble is known: after some of another resource. */
static bool lacks_room(const struct room_row *row)
{
    return isnan(row->values[ROOM_LEAST]) && !isnan(row->values[ROOM_TROUBLE]) &&
           !room_waits_for_cpu(row);
}

/* Its room is a mean of some minutes. */
static bool has_just_waited(const struct room_row *row)
{
    double sum = 0;

    for (size_t i = 0; i < row->cause_count; i++)
        if (strcmp(row->causes[i].resource, "cpu") == 0 && !isnan(row->causes[i].pct))
            sum += row->causes[i].pct;
    return rooms_binding(row) == ROOM_CPU && row->values[ROOM_CPU] <= 0 && sum < WORTH_NAMING_PCT;
}

static bool has_any(const struct rooms *rooms, bool (*is_one)(const struct room_row *row))
{
    size_t i = 0;

    while (i < rooms->count && !is_one(&rooms->rows[i]))
        i++;
    return i < rooms->count;
}

/* Less isn't worth a line. */
#define LONG_WAIT_PCT 10

/* Who waits though it has room, as what runs now and then, is far below in the order. */
static void print_longest_wait(FILE *out, const struct rooms *rooms)
{
    const struct room_row *longest = NULL;
    char safe[NAME_SIZE];

    for (size_t i = 0; i < rooms->count; i++) {
        const struct room_row *row = &rooms->rows[i];
        if (!room_is_system(row->group) && room_waited_pct(row) >= LONG_WAIT_PCT &&
            (longest == NULL || room_waited_pct(row) > room_waited_pct(longest)))
            longest = row;
    }
    if (longest == NULL || longest == rooms->rows)
        return;
    write_name(rooms, longest, NAME_SIZE - 1, safe, sizeof(safe));
    fprintf(out, "\nWaits most: %s, %.0f%% of the time;", safe, room_waited_pct(longest));
    fputs(" headroom top sorts by that.\n", out);
}

static void print_legend(FILE *out, const struct rooms *rooms)
{
    print_longest_wait(out, rooms);
    if (has_any(rooms, profile_is_shown_at_least))
        profile_print_legend(out);
    if (has_any(rooms, has_just_waited))
        fputs(
            "\nRoom by CPU is a mean of some minutes: once the waits are over it comes back within "
            "these.\n",
            out);
    if (has_any(rooms, room_waits_for_cpu))
        fputs("\n\"?\": how much more CPU time it could have isn't known, while it waits for a "
              "CPU:\nthe CPUs are always busy, or it isn't known yet.\n",
              out);
    if (has_any(rooms, lacks_room))
        fputs("\n\"-\" isn't known, see headroom doctor headroom; \"> 1 d\" beside it: no trouble "
              "now,\n"
              "and none is seen to come, by what the group waits for.\n",
              out);
    if (rooms->without_count > 0)
        fprintf(out, "\n%zu other group%s: room unknown, or not selected by the headroom plugin.\n",
                rooms->without_count, rooms->without_count == 1 ? "" : "s");
}

int rooms_print_table(FILE *out, const struct rooms *rooms, int width)
{
    struct fit fit = {.name_width = 60,
                      .causes_width = 60,
                      .cause_count = 2,
                      .with_intervals = true,
                      .with_taking = has_any(rooms, has_taking),
                      .with_binds = has_any(rooms, has_binds)};
    struct grid grid;
    int excess;

    add_rows(&grid, rooms, &fit);
    while ((excess = grid_width(&grid) - width) > 0 &&
           make_narrower(&fit, grid_column_width(&grid, 0),
                         grid_column_width(&grid, grid.column_count - 1), excess)) {
        grid_free(&grid);
        add_rows(&grid, rooms, &fit);
    }
    int status = grid_print(&grid, out);

    print_legend(out, rooms);
    return status < 0 ? status : output_flush(out);
}
