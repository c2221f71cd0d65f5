/* SPDX-License-Identifier: MIT */
/*
 * report/page.c - everything about one group, for people.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/chart.h"
#include "common/grid.h"
#include "common/label.h"
#include "common/output.h"
#include "common/short_name.h"
#include "headroom/quantity.h"
#include "headroom/utf8.h"
#include "report/group.h"
#include "report/profile.h"

#define WIDTH_MAX    80
#define CHART_HEIGHT 14

/* Of a paragraph's first word. */
#define INDENT 9

#define MINUTE_S 60
#define HOUR_S   3600
#define MIB      1048576.0

/* What io.max may limit. */
static const char *const io_kinds[HR_STALL_IO_COUNT] = {
    [HR_STALL_READ_BYTES] = "/s read",
    [HR_STALL_WRITTEN_BYTES] = "/s written",
    [HR_STALL_READS] = " reads/s",
    [HR_STALL_WRITES] = " writes/s",
};

/* --- Amounts ------------------------------------------------------------------------------ */

static bool is_of_bytes(const struct group *group, enum group_resource resource)
{
    return resource == GROUP_MEMORY ||
           (resource == GROUP_IO &&
            (group->io_kind == HR_STALL_READ_BYTES || group->io_kind == HR_STALL_WRITTEN_BYTES));
}

static struct hr_quantity number_of(const struct group *group, enum group_resource resource,
                                    double amount)
{
    struct hr_quantity number;

    if (isnan(amount))
        snprintf(number.text, sizeof(number.text), "-");
    else if (is_of_bytes(group, resource))
        return hr_quantity_short_bytes(amount);
    else
        snprintf(number.text, sizeof(number.text),
                 amount < 0.01   ? "0"
                 : amount < 9.95 ? "%.2g"
                                 : "%.0f",
                 amount);
    return number;
}

/* "2 GiB", "0.5 CPUs", "100 reads/s" */
static struct hr_quantity amount_of(const struct group *group, enum group_resource resource,
                                    double amount)
{
    const struct hr_quantity number = is_of_bytes(group, resource)
                                          ? hr_quantity_bytes(amount)
                                          : number_of(group, resource, amount);
    struct hr_quantity whole = number;

    if (resource != GROUP_MEMORY)
        snprintf(whole.text, sizeof(whole.text), "%.16s%s", number.text,
                 resource == GROUP_IO ? io_kinds[group->io_kind]
                 : amount == 1        ? " CPU"
                                      : " CPUs");
    return whole;
}

/* --- The resources -------------------------------------------------------------------------- */

static void add_resource(struct grid *grid, const struct room_row *row, const struct group *group,
                         enum group_resource resource)
{
    const struct group_room *room = &group->rooms[resource];
    const bool is_at_least = resource == GROUP_MEMORY && profile_has_room_at_least(row);
    const char *plus = is_at_least ? profile_mark(true) : "+";

    grid_cell(grid, "%s", group_resource_name(resource));
    grid_cell(grid, "%s", number_of(group, resource, room->used).text);
    grid_cell(grid, "%s", number_of(group, resource, room->attainable).text);
    if (isnan(room->room_pct))
        grid_cell(grid, "-");
    else
        grid_cell(grid, "%s%.0f%%", profile_mark(is_at_least), floor(room->room_pct));
    grid_cell(grid, "%s%s", room->left > 0 ? plus : "",
              number_of(group, resource, room->left).text);
    if (isnan(room->line_pct))
        grid_cell(grid, "-");
    else
        grid_cell(grid, "%g%% %s", room->line_pct, resource == GROUP_IO ? "full" : "some");
}

static int print_resources(FILE *out, const struct room_row *row, const struct group *group)
{
    static const char *const titles[] = {"", "used", "attainable", "room", "more", "trouble line"};
    struct grid grid = {.column_count = 6, .left = 1};

    for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
        grid_cell(&grid, "%s", titles[i]);
    for (int i = 0; i < GROUP_RESOURCE_COUNT; i++)
        add_resource(&grid, row, group, (enum group_resource)i);
    return grid_print(&grid, out);
}

/* --- Paragraphs ---------------------------------------------------------------------------------
 */

/* A text that is made in parts. */
struct text {
    FILE *parts;
    char *bytes;
    size_t length;
};

static int text_begin(struct text *text)
{
    text->bytes = NULL;
    text->parts = open_memstream(&text->bytes, &text->length);
    return text->parts != NULL ? 0 : -ENOMEM;
}

/* Prints it beside its first word, if there is any. */
static int text_end(struct text *text, FILE *out, const char *word, int width)
{
    if (fclose(text->parts) != 0) {
        free(text->bytes);
        return -ENOMEM;
    }
    hr_utf8_make_safe(text->bytes);
    if (text->bytes[0] != '\0') {
        fprintf(out, "%-*s", INDENT, word);
        output_fold(out, text->bytes, INDENT, (size_t)width);
    }
    free(text->bytes);
    return 0;
}

/* As the table cuts them. */
static void add_name(FILE *text, const char *name, int width)
{
    char label[256];

    label_fit(name, width - INDENT - 8, LABEL_UTF8, label, sizeof(label));
    fputs(label, text);
}

static void add_limit(FILE *text, const struct group *group, enum group_resource resource,
                      int width)
{
    const struct group_limit *limit = &group->limits[resource];
    char name[SHORT_NAME_SIZE];

    if (limit->bound == HR_ROOM_MACHINE) {
        fprintf(text, "the machine's memory binds: %s%s", hr_quantity_bytes(limit->amount).text,
                group->path != NULL ? ", less what others need" : "");
        return;
    }
    fputs(limit->group != NULL ? "the limit of " : "its own limit", text);
    if (limit->group != NULL) {
        short_path(limit->group, name);
        add_name(text, name, width);
    }
    fprintf(text, ", %s, %s: %s", hr_room_bound_name(limit->bound, limit->version),
            resource == GROUP_CPU ? "is the lowest" : "binds",
            amount_of(group, resource, limit->amount).text);
    if (resource == GROUP_IO)
        fprintf(text, " on %u:%u", group->io_major, group->io_minor);
    if (limit->group != NULL)
        fprintf(text, ", less what others there %s", resource == GROUP_MEMORY ? "need" : "use");
}

static void add_about_memory(FILE *text, const struct group *group)
{
    if (group->swap_bytes >= MIB)
        fprintf(text, "; swap space makes it %s more", hr_quantity_bytes(group->swap_bytes).text);
    if (!isnan(group->touched_s))
        fprintf(text, "; by the wss plugin: it needs what it touches within %s",
                hr_quantity_seconds(group->touched_s).text);
    else if (group->unsure_file_bytes >= MIB)
        fprintf(text, "; %s of what it uses are files, of which it may not need all",
                hr_quantity_bytes(group->unsure_file_bytes).text);
    if (group->need_unknown.text[0] != '\0')
        fprintf(text, "; its working set doesn't show what it needs: %s", group->need_unknown.text);
}

/* "no cpu.max: the CPUs that it may use bind", "no cpu.max: CPU 1 binds" */
static void add_lack_of_cpu_limit(FILE *text, const struct group *group)
{
    fprintf(text, "no %s: ", hr_room_bound_name(HR_ROOM_CPU_MAX, group->limits[GROUP_CPU].version));
    if (group->task_cpus == 1)
        fprintf(text, "CPU %u binds", group->first_task_cpu);
    else if (group->task_cpus > 1)
        fprintf(text, "%zu CPUs bind", group->task_cpus);
    else
        fputs("the CPUs that it may use bind", text);
}

/* Not where a limit leaves it less than these CPUs anyway. */
static void add_affinity(FILE *text, const struct group *group, bool has_text)
{
    const struct group_limit *limit = &group->limits[GROUP_CPU];

    if (group->task_cpus == 0 || (limit->is_known && limit->amount <= (double)group->task_cpus))
        return;
    fprintf(text,
            "%sits tasks may run on %zu of %zu CPUs, by their affinity or the cpuset of a group "
            "below, while its room is calculated with all",
            has_text ? "; " : "", group->task_cpus, group->cpus);
}

static int print_limit(FILE *out, const struct group *group, enum group_resource resource,
                       int width)
{
    const struct hr_reason *unknown = &group->rooms[resource].unknown;
    const struct group_limit *limit = &group->limits[resource];
    struct text text;

    int status = text_begin(&text);
    if (status < 0)
        return status;
    if (unknown->text[0] != '\0')
        fprintf(text.parts, "its room isn't known: %s%s", unknown->text,
                limit->is_known || (resource == GROUP_CPU && group->lacks_cpu_limit) ? "; " : "");
    if (limit->is_known)
        add_limit(text.parts, group, resource, width);
    else if (resource == GROUP_CPU && group->lacks_cpu_limit)
        add_lack_of_cpu_limit(text.parts, group);
    if (resource == GROUP_CPU)
        add_affinity(text.parts, group,
                     unknown->text[0] != '\0' || limit->is_known || group->lacks_cpu_limit);
    if (resource == GROUP_MEMORY)
        add_about_memory(text.parts, group);
    return text_end(&text, out, group_resource_name(resource), width);
}

/* "memory: limit 12%", "io: cause not known 2%" */
static void print_part(FILE *text, const char *before, const char *resource, const char *cause,
                       double pct)
{
    fprintf(text, "%s%s: %s %.0f%%", before, resource,
            strcmp(cause, "unknown") != 0 ? cause : "cause not known", pct);
}

/* Without a limit of I/O it is one of memory: what was reclaimed for that is read again. */
static bool waits_for_io_by_memory(const struct room_row *row, const struct group *group)
{
    for (size_t i = 0; i < row->cause_count && group->lacks_io_limit; i++)
        if (strcmp(row->causes[i].resource, "io") == 0 &&
            strcmp(row->causes[i].name, "limit") == 0 && row->causes[i].pct >= WORTH_NAMING_PCT)
            return true;
    return false;
}

static bool has_causes(const struct room_row *row)
{
    for (size_t i = 0; i < row->cause_count; i++)
        if (row->causes[i].pct > 0)
            return true;
    return false;
}

static int print_stalls(FILE *out, const struct room_row *row, const struct group *group, int width)
{
    const char *before = "";
    struct text text;

    int status = text_begin(&text);
    if (status < 0)
        return status;
    for (size_t i = 0; i < row->cause_count; i++) {
        const struct room_cause *cause = &row->causes[i];
        if (!(cause->pct >= WORTH_NAMING_PCT))
            continue;
        print_part(text.parts, before, cause->resource, cause->name, cause->pct);
        before = ", ";
    }
    fputs(*before != '\0' ? " of the time"
          : group->is_stalled && !has_causes(row)
              ? "not known yet: collectd has the causes from the second interval of "
                "a stall on"
              : "none of 1% of the time or more",
          text.parts);
    if (waits_for_io_by_memory(row, group))
        fputs("; the limit behind io is that of memory: what is reclaimed is read again",
              text.parts);
    return text_end(&text, out, "stalls", width);
}

static int print_past(FILE *out, const struct past *past, int width)
{
    struct text text;

    if (past->known_s <= 0)
        return 0;
    int status = text_begin(&text);
    if (status < 0)
        return status;
    for (size_t i = 0; i < past->count; i++) {
        const struct past_stall *stall = &past->stalls[i];
        print_part(text.parts, i > 0 ? ", " : "", hr_psi_resource_name(stall->resource),
                   hr_stall_part_name(stall->part), stall->pct);
    }
    if (past->count == 0)
        fprintf(text.parts, "none of %d%% of the time or more", WORTH_NAMING_PCT);
    fprintf(text.parts, "%s %s", past->count > 0 ? " of the" : " in the",
            hr_quantity_seconds(past->known_s).text);
    fprintf(text.parts, " until %s ago", hr_quantity_seconds(past->age_s).text);
    return text_end(&text, out, "hour", width);
}

static void add_shares(FILE *text, const struct shares *shares, const char *none, int width)
{
    const char *before = "";

    for (size_t i = 0; i < shares->count; i++) {
        fputs(before, text);
        add_name(text, shares->list[i].name, width);
        fprintf(text, " %.0f%%", shares->list[i].pct);
        before = ", ";
    }
    if (shares->unknown.text[0] != '\0')
        fprintf(text, "not known: %s", shares->unknown.text);
    else if (shares->count == 0)
        fputs(none, text);
}

static int print_taking(FILE *out, const struct group *group, enum group_resource by, int width)
{
    const struct shares *taking = &group->taking;
    struct text text;

    const bool isnt_read = by == GROUP_MEMORY && group->missing.text[0] != '\0';
    if (by == GROUP_IO || by == GROUP_RESOURCE_COUNT || isnt_read)
        return 0;
    int status = text_begin(&text);
    if (status < 0)
        return status;
    if (taking->count > 0)
        fputs(by == GROUP_MEMORY ? "of what is needed there: " : "the CPU while it waits: ",
              text.parts);
    add_shares(text.parts, taking, "none that is known", width);
    if (taking->count > 0 && by == GROUP_CPU)
        fputs(" of the time", text.parts);
    return text_end(&text, out, "taking", width);
}

static int print_waiting(FILE *out, const struct group *group, enum group_resource by, int width)
{
    struct text text;

    if (by == GROUP_RESOURCE_COUNT || group->missing.text[0] != '\0')
        return 0;
    int status = text_begin(&text);
    if (status < 0)
        return status;
    add_shares(text.parts, &group->waiting, "no other group that is measured", width);
    return text_end(&text, out, "waiting", width);
}

/* --- The trend ----------------------------------------------------------------------------------
 */

static void add_trouble(FILE *text, const struct hr_outlook *outlook)
{
    if (outlook->trouble_s <= 0) {
        fputs(": trouble was to come by now", text);
        return;
    }
    fprintf(text, ": trouble in %s", hr_quantity_seconds(outlook->trouble_s).text);
    if (outlook->has_interval)
        fprintf(text, " (%s..%s)", hr_quantity_seconds(outlook->early_s).text,
                hr_quantity_seconds(outlook->late_s).text);
}

static void add_trend(FILE *text, const struct room_row *row, const struct trend *trend)
{
    const double seconds = row->values[ROOM_TROUBLE];
    const double window_s = trend->point_s * HR_FORECAST_POINTS;

    if (trend->unknown.text[0] != '\0') {
        fprintf(text, "not known: %s", trend->unknown.text);
        return;
    }
    fprintf(text, "as saved %s ago, ", hr_quantity_seconds(trend->age_s).text);
    if (trend->outlook.is_trend) {
        fprintf(text, "it grows %s/min over %s",
                hr_quantity_bytes(MINUTE_S * trend->outlook.slope_per_s).text,
                hr_quantity_seconds(window_s).text);
        add_trouble(text, &trend->outlook);
        return;
    }
    fputs("there is none to be trusted", text);
    if (!isnan(trend->slope_per_s))
        fprintf(text, "; the median slope over %s is %s%s/min", hr_quantity_seconds(window_s).text,
                trend->slope_per_s < 0 ? "-" : "",
                hr_quantity_bytes(fabs(MINUTE_S * trend->slope_per_s)).text);
    if (seconds > 0 && seconds < 86400)
        fputs("; the time to trouble in its row is newer, or that of a group above or the machine",
              text);
}

static int print_trend(FILE *out, const struct room_row *row, const struct group *group, int width)
{
    struct text text;

    int status = text_begin(&text);
    if (status < 0)
        return status;
    if (group->missing.text[0] == '\0')
        add_trend(text.parts, row, &group->trend);
    return text_end(&text, out, "trend", width);
}

/* @return how many points are known. */
static size_t list_points(const struct trend *trend, double unit_s,
                          struct point points[HR_FORECAST_POINTS])
{
    size_t count = 0;

    for (size_t i = 0; i < HR_FORECAST_POINTS; i++)
        if (!isnan(trend->points[i]))
            points[count++] = (struct point){(double)(i + 1) * trend->point_s / unit_s,
                                             (double)trend->points[i] / MIB};
    return count;
}

static int print_chart(FILE *out, const struct trend *trend, int width)
{
    const double window_s = trend->point_s * HR_FORECAST_POINTS;
    const double unit_s = window_s > 2 * HOUR_S ? HOUR_S : MINUTE_S;
    struct point points[HR_FORECAST_POINTS];
    struct canvas canvas;
    struct chart chart = {
        .points = points,
        .title = "what can't be dropped of its memory",
        .x_name = unit_s == HOUR_S ? "h" : "min",
        .y_name = "MiB",
        .linear = true,
        .from_lowest = true,
    };

    if (trend->unknown.text[0] != '\0' || trend->point_s <= 0)
        return 0;
    chart.count = list_points(trend, unit_s, points);
    canvas_of(out, &canvas);
    canvas.width = width;
    canvas.height = CHART_HEIGHT;
    int status = chart.count > 1 ? chart_draw(out, &canvas, &chart) : 0;
    if (chart.count > 1)
        putc('\n', out);
    return status;
}

/* --- Advice -------------------------------------------------------------------------------------
 */

static int print_advice(FILE *out, const struct group *group, int width)
{
    const struct advice *advice = &group->advice;
    struct text text;

    int status = text_begin(&text);
    if (status < 0)
        return status;
    if (group->missing.text[0] != '\0' || advice->none.text[0] != '\0')
        fputs(advice->none.text, text.parts);
    else
        fprintf(text.parts, "%s %s be %s: needs %s, +%d %%",
                hr_room_bound_name(advice->bound, advice->version),
                advice->should_be ? "should" : "could", hr_quantity_bytes(advice->bytes).text,
                hr_quantity_bytes(advice->need).text, ADVICE_MARGIN_PCT);
    return text_end(&text, out, "advice", width);
}

/* What its name is short for. */
static int print_cgroup(FILE *out, const struct room_row *row, const struct group *group, int width)
{
    struct text text;

    if (row->short_group == NULL)
        return 0;
    int status = text_begin(&text);
    if (status < 0)
        return status;
    fputs(group->path != NULL ? group->path : row->group, text.parts);
    return text_end(&text, out, "cgroup", width);
}

/* --- The page -----------------------------------------------------------------------------------
 */

static int print_missing(FILE *out, const struct group *group, int width)
{
    struct text text;

    int status = text_begin(&text);
    if (status < 0)
        return status;
    fputs(group->missing.text, text.parts);
    if (group->are_lines_defaults)
        fputs("the trouble lines are the defaults, as collectd's configuration isn't found "
              "(--config)",
              text.parts);
    return text_end(&text, out, "note", width);
}

int group_print(FILE *out, const struct room_row *row, const struct group *group, int width)
{
    const enum group_resource by = group_binding(row);
    int status;

    width = width < WIDTH_MAX ? width : WIDTH_MAX;
    putc('\n', out);
    status = print_resources(out, row, group);
    if (profile_has_room_at_least(row) && !profile_is_shown_at_least(row)) /* else the row has it */
        profile_print_legend(out);
    putc('\n', out);
    if (status == 0)
        status = print_cgroup(out, row, group, width);
    for (int i = 0; i < GROUP_RESOURCE_COUNT && status == 0; i++)
        status = print_limit(out, group, (enum group_resource)i, width);
    if (status == 0)
        status = print_stalls(out, row, group, width);
    if (status == 0)
        status = print_past(out, &group->past, width);
    if (status == 0)
        status = print_taking(out, group, by, width);
    if (status == 0)
        status = print_waiting(out, group, by, width);
    if (status == 0)
        status = print_trend(out, row, group, width);
    if (status == 0)
        status = print_chart(out, &group->trend, width);
    if (status == 0)
        status = print_advice(out, group, width);
    if (status == 0)
        status = print_missing(out, group, width);
    return status < 0 ? status : output_flush(out);
}
