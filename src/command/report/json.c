/* SPDX-License-Identifier: MIT */
/*
 * report/json.c - the report as one line of JSON.
 */
#include <math.h>

#include "common/json.h"
#include "common/output.h"
#include "report/group.h"
#include "report/profile.h"
#include "report/rooms.h"

static const char *const names[ROOM_VALUE_COUNT] = {
    [ROOM_LEAST] = "room_percent",         [ROOM_CPU] = "room_cpu_percent",
    [ROOM_MEMORY] = "room_memory_percent", [ROOM_IO] = "room_io_percent",
    [ROOM_CPUS_LEFT] = "cpus_left",        [ROOM_BYTES_LEFT] = "memory_left_bytes",
    [ROOM_NEED] = "memory_need_bytes",     [ROOM_LIMIT] = "memory_limit_bytes",
    [ROOM_TROUBLE] = "trouble_seconds",
};

static void print_causes(FILE *out, const struct room_row *row)
{
    const char *before = "";

    fputs(",\"stalls\":[", out);
    for (size_t i = 0; i < row->cause_count; i++) {
        const struct room_cause *cause = &row->causes[i];
        if (isnan(cause->pct))
            continue;
        fprintf(out, "%s{", before);
        json_print_text(out, "\"resource\":", cause->resource);
        json_print_text(out, ",\"cause\":", cause->name);
        json_print_number(out, ",\"percent\":", true, "%.6g", cause->pct);
        putc('}', out);
        before = ",";
    }
    putc(']', out);
}

/* Whether it is by a profile, null where there is no such need. */
static void print_whether_at_most(FILE *out, const struct room_row *row)
{
    const bool is_known = !isnan(row->values[ROOM_NEED]) && !room_is_system(row->group);

    fprintf(out, ",\"memory_need_is_at_most\":%s",
            !is_known                 ? "null"
            : profile_is_missing(row) ? "true"
                                      : "false");
}

/* Of several groups; that of one has more. */
static void print_brief(FILE *out, const struct room_row *row)
{
    const struct group *brief = row->brief;
    const enum group_bound bound =
        brief != NULL ? group_find_bound(row, brief) : GROUP_BOUND_UNKNOWN;
    const struct group_limit *limit =
        bound == GROUP_BOUND_LIMIT ? &brief->limits[group_binding(row)] : NULL;
    const bool has_interval = brief != NULL && group_has_interval(row, brief);

    json_print_number(out, ",\"trouble_early_seconds\":", has_interval, "%.10g",
                      has_interval ? brief->trend.outlook.early_s : 0);
    json_print_number(out, ",\"trouble_late_seconds\":", has_interval, "%.10g",
                      has_interval ? brief->trend.outlook.late_s : 0);
    json_print_text(out, ",\"binds\":",
                    limit != NULL               ? hr_room_bound_name(limit->bound, limit->version)
                    : bound == GROUP_BOUND_CPUS ? "cpus"
                                                : NULL);
    json_print_text(out, ",\"binds_of\":",
                    limit == NULL || limit->bound == HR_ROOM_MACHINE ? NULL
                    : limit->group != NULL                           ? limit->group
                                                                     : brief->path);
    json_print_number(out, ",\"binds_at\":", bound != GROUP_BOUND_UNKNOWN, "%.10g",
                      limit != NULL ? limit->amount
                      : brief == NULL
                          ? 0
                          : (double)(brief->task_cpus > 0 ? brief->task_cpus : brief->cpus));
    group_print_json_takers(out, brief);
}

static void print_row(FILE *out, const struct room_row *row, const struct group *about)
{
    putc('{', out);
    json_print_text(out, "\"host\":", row->host);
    json_print_text(out, ",\"group\":", row->group);
    json_print_text(out, ",\"by\":", rooms_binding_name(row));
    for (int i = 0; i < ROOM_VALUE_COUNT; i++) {
        fprintf(out, ",\"%s\":", names[i]);
        json_print_number(out, "", isfinite(row->values[i]) != 0, "%.10g", row->values[i]);
    }
    print_whether_at_most(out, row);
    json_print_number(out, ",\"cpu_idle_percent\":", isfinite(row->idle_pct) != 0, "%.10g",
                      row->idle_pct);
    print_causes(out, row);
    if (about == NULL)
        print_brief(out, row);
    if (about != NULL) {
        fputs(",\"about\":", out);
        group_print_json(out, about);
    }
    putc('}', out);
}

int rooms_print_json(FILE *out, const struct rooms *rooms, const struct group *about)
{
    fprintf(out, "{\"time\":%.0f,\"groups\":[", rooms->time);
    for (size_t i = 0; i < rooms->count; i++) {
        if (i > 0)
            putc(',', out);
        print_row(out, &rooms->rows[i], about);
    }
    fputs("]}\n", out);
    return output_flush(out);
}
