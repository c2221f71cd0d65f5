/* SPDX-License-Identifier: MIT */
/*
 * report/group_json.c - everything about one group, as JSON.
 */
#include <math.h>

#include "common/json.h"
#include "report/group.h"

static const char *const io_units[HR_STALL_IO_COUNT] = {
    [HR_STALL_READ_BYTES] = "bytes_read_per_second",
    [HR_STALL_WRITTEN_BYTES] = "bytes_written_per_second",
    [HR_STALL_READS] = "reads_per_second",
    [HR_STALL_WRITES] = "writes_per_second",
};

static const char *unit_of(const struct group *group, enum group_resource resource)
{
    if (resource == GROUP_IO)
        return group->limits[resource].is_known ? io_units[group->io_kind] : NULL;
    return resource == GROUP_MEMORY ? "bytes" : "cpus";
}

struct device {
    char text[24];
};

/* "8:16"; of io only. */
static struct device device_of(const struct group *group, enum group_resource resource)
{
    struct device device = {""};

    if (resource == GROUP_IO && group->limits[resource].is_known)
        snprintf(device.text, sizeof(device.text), "%u:%u", group->io_major, group->io_minor);
    return device;
}

static void print_number(FILE *out, const char *before, double number)
{
    json_print_number(out, before, isfinite(number) != 0, "%.10g", number);
}

static void print_resource(FILE *out, const struct group *group, enum group_resource resource)
{
    const struct group_room *room = &group->rooms[resource];
    const struct group_limit *limit = &group->limits[resource];

    json_print_text(out, "{\"resource\":", group_resource_name(resource));
    json_print_text(out, ",\"unit\":", unit_of(group, resource));
    print_number(out, ",\"used\":", room->used);
    print_number(out, ",\"attainable\":", room->attainable);
    print_number(out, ",\"left\":", room->left);
    print_number(out, ",\"room_percent\":", room->room_pct);
    print_number(out, ",\"trouble_percent\":", room->line_pct);
    json_print_text(out, ",\"trouble_of\":", resource == GROUP_IO ? "full" : "some");
    json_print_text(out, ",\"limit\":",
                    limit->is_known ? hr_room_bound_name(limit->bound, limit->version) : NULL);
    json_print_text(out, ",\"limit_group\":",
                    limit->is_known && limit->bound != HR_ROOM_MACHINE && limit->group == NULL
                        ? group->path
                        : limit->group);
    print_number(out, ",\"limit_amount\":", limit->is_known ? limit->amount : NAN);
    json_print_text(out, ",\"device\":", device_of(group, resource).text);
    json_print_text(out, ",\"unknown\":", room->unknown.text);
    putc('}', out);
}

static void print_shares(FILE *out, const char *before, const struct shares *shares)
{
    fprintf(out, "%s[", before);
    for (size_t i = 0; i < shares->count; i++) {
        json_print_text(out, i > 0 ? ",{\"group\":" : "{\"group\":", shares->list[i].group);
        print_number(out, ",\"percent\":", shares->list[i].pct);
        putc('}', out);
    }
    putc(']', out);
}

void group_print_json_takers(FILE *out, const struct group *group)
{
    static const struct shares none = {.count = 0};

    print_shares(out, ",\"taking\":", group != NULL ? &group->taking : &none);
}

static void print_trend(FILE *out, const struct group *group)
{
    const struct trend *trend = &group->trend;
    const struct hr_outlook *outlook = &trend->outlook;
    const bool is_known = trend->unknown.text[0] == '\0' && trend->point_s > 0;
    const bool has_interval = outlook->is_trend && outlook->has_interval;

    print_number(out, ",\"trend\":{\"age_seconds\":", is_known ? trend->age_s : NAN);
    print_number(out, ",\"bytes_per_second\":", is_known ? trend->slope_per_s : NAN);
    fprintf(out, ",\"is_trusted\":%s", outlook->is_trend ? "true" : "false");
    print_number(out, ",\"trouble_seconds\":", outlook->is_trend ? outlook->trouble_s : NAN);
    print_number(out, ",\"early_seconds\":", has_interval ? outlook->early_s : NAN);
    print_number(out, ",\"late_seconds\":", has_interval ? outlook->late_s : NAN);
    print_number(out, ",\"highest_bytes\":", is_known ? trend->highest : NAN);
    print_number(out, ",\"point_seconds\":", is_known ? trend->point_s : NAN);
    fputs(",\"points_bytes\":[", out);
    for (size_t i = 0; is_known && i < HR_FORECAST_POINTS; i++)
        print_number(out, i > 0 ? "," : "", (double)trend->points[i]);
    json_print_text(out, "],\"unknown\":", trend->unknown.text);
    putc('}', out);
}

static void print_past(FILE *out, const struct past *past)
{
    const bool is_known = past->known_s > 0;

    print_number(out, ",\"hour\":{\"age_seconds\":", is_known ? past->age_s : NAN);
    print_number(out, ",\"seconds\":", past->known_s);
    fputs(",\"stalls\":[", out);
    for (size_t i = 0; i < past->count; i++) {
        const struct past_stall *stall = &past->stalls[i];
        json_print_text(out, i > 0 ? ",{\"resource\":" : "{\"resource\":",
                        hr_psi_resource_name(stall->resource));
        json_print_text(out, ",\"cause\":", hr_stall_part_name(stall->part));
        print_number(out, ",\"percent\":", stall->pct);
        putc('}', out);
    }
    fputs("]}", out);
}

static void print_advice(FILE *out, const struct group *group)
{
    const struct advice *advice = &group->advice;
    const bool is_there = group->missing.text[0] == '\0' && advice->none.text[0] == '\0';

    json_print_text(out, ",\"advice\":{\"limit\":",
                    is_there ? hr_room_bound_name(advice->bound, advice->version) : NULL);
    print_number(out, ",\"bytes\":", is_there ? advice->bytes : NAN);
    print_number(out, ",\"need_bytes\":", is_there ? advice->need : NAN);
    json_print_text(out, ",\"none\":", advice->none.text);
    putc('}', out);
}

void group_print_json(FILE *out, const struct group *group)
{
    json_print_text(out, "{\"path\":", group->path);
    json_print_text(out, ",\"missing\":", group->missing.text);
    fputs(",\"resources\":[", out);
    for (int i = 0; i < GROUP_RESOURCE_COUNT; i++) {
        if (i > 0)
            putc(',', out);
        print_resource(out, group, (enum group_resource)i);
    }
    putc(']', out);
    print_number(out, ",\"touched_seconds\":", group->touched_s);
    print_shares(out, ",\"taking\":", &group->taking);
    print_shares(out, ",\"waiting\":", &group->waiting);
    print_past(out, &group->past);
    print_trend(out, group);
    print_advice(out, group);
    putc('}', out);
}
