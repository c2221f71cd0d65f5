/* SPDX-License-Identifier: MIT */
#include "report/profile.h"

#include <math.h>

#include "common/label.h"
#include "configured/trouble_lines.h"
#include "configured/used_features.h"
#include "headroom/clock.h"

static bool is_readable(const struct room_row *row, const struct place *place)
{
    return row->has_profile && place->is_here && place->group != NULL;
}

/* A group that is gone, or can't be read, keeps its profile. */
static int check(struct hr_room_machine *machine, const struct usage *usage,
                 const struct hr_cgroup *group, struct room_row *row)
{
    const struct hr_room_lines lines = trouble_lines_of(&usage->headroom, group);
    struct hr_room_reading reading;
    struct hr_room_source *source;

    const int status = hr_room_open(machine, group, HR_NS_PER_S, &source);
    if (status < 0)
        return status;
    hr_room_set_working_set(source, &row->working_set);
    hr_room_read(source, &lines, &reading);
    if (reading.memory.status == 0 && reading.working_set_status != 0)
        row->has_profile = false;
    hr_room_close(source);
    return 0;
}

static int check_all(struct hr_room_machine *machine, const struct usage *usage,
                     const struct places *places, const struct group_patterns *meant,
                     struct rooms *rooms)
{
    int status = 0;

    hr_room_machine_read(machine);
    for (size_t i = 0; i < rooms->count && status == 0; i++) {
        struct room_row *row = &rooms->rows[i];
        if (is_readable(row, &places->rows[i]) && room_is_meant(row, meant))
            status = check(machine, usage, places->rows[i].group, row);
    }
    return status;
}

int profiles_check(const struct hr_root *root, const struct usage *usage,
                   const struct places *places, const struct group_patterns *meant,
                   struct rooms *rooms)
{
    struct hr_room_machine *machine;
    size_t i = 0;

    while (i < rooms->count && !is_readable(&rooms->rows[i], &places->rows[i]))
        i++;
    if (i == rooms->count)
        return 0;
    int status = hr_room_machine_open(root, &machine);
    if (status < 0)
        return status;
    status = check_all(machine, usage, places, meant, rooms);
    hr_room_machine_close(machine);
    return status;
}

bool profile_is_missing(const struct room_row *row)
{
    return !row->has_profile && !room_is_system(row->group) && !isnan(row->values[ROOM_NEED]);
}

bool profile_has_room_at_least(const struct room_row *row)
{
    const bool is_in_trouble = row->values[ROOM_MEMORY] <= 0 && row->values[ROOM_TROUBLE] <= 0;

    return profile_is_missing(row) && !is_in_trouble;
}

bool profile_is_shown_at_least(const struct room_row *row)
{
    return rooms_binding(row) == ROOM_MEMORY && profile_has_room_at_least(row);
}

const char *profile_mark(bool is_at_least)
{
    if (!is_at_least)
        return "";
    return label_charset() == LABEL_UTF8 ? "\xe2\x89\xa5" : ">=";
}

void profile_print_legend(FILE *out)
{
    fprintf(out,
            "\n\"%s\", at least: no profile of the wss plugin shows what the group needs, so that\n"
            "all of its memory but inactive files counts as needed.\n",
            profile_mark(true));
}
