/* SPDX-License-Identifier: MIT */
#include "report/briefs.h"

#include <errno.h>
#include <stdlib.h>

static int begin(struct rooms *rooms, const struct group_patterns *meant, struct shares **taking,
                 bool *is_any_by_cpu)
{
    for (size_t i = 0; i < rooms->count; i++) {
        struct room_row *row = &rooms->rows[i];
        if (!room_is_meant(row, meant))
            continue;
        row->brief = malloc(sizeof(*row->brief));
        if (row->brief == NULL)
            return -ENOMEM;
        group_begin(row, row->brief);
        if (group_binding(row) != GROUP_CPU)
            continue;
        taking[i] = &row->brief->taking;
        *is_any_by_cpu = true;
    }
    return 0;
}

int briefs_fetch(struct client *client, struct rooms *rooms, const struct group_patterns *meant)
{
    struct shares **taking = calloc(rooms->count + 1, sizeof(*taking));
    bool is_any_by_cpu = false;
    int status = taking != NULL ? begin(rooms, meant, taking, &is_any_by_cpu) : -ENOMEM;

    if (status == 0 && is_any_by_cpu)
        status = shares_fetch_cpu_takers(client, rooms, taking);
    free(taking);
    return status;
}

static int read_rows(const struct hr_root *root, const struct usage *usage,
                     const struct saved_trends *saved, const struct places *places,
                     struct rooms *rooms)
{
    struct hr_room_machine *machine;

    int status = hr_room_machine_open(root, &machine);
    if (status < 0)
        return status;
    hr_room_machine_read(machine);
    for (size_t i = 0; i < rooms->count && status == 0; i++)
        if (rooms->rows[i].brief != NULL)
            status = group_read_brief(root, machine, usage, saved, rooms, places, i,
                                      rooms->rows[i].brief);
    hr_room_machine_close(machine);
    return status;
}

int briefs_read(const struct hr_root *root, const struct usage *usage, const struct places *places,
                struct rooms *rooms)
{
    struct saved_trends saved;
    int status = saved_trends_read(usage, &saved);

    if (status == 0)
        status = read_rows(root, usage, &saved, places, rooms);
    saved_trends_free(&saved);
    return status;
}

void briefs_free(struct room_row *row)
{
    if (row->brief != NULL)
        group_free(row->brief);
    free(row->brief);
    row->brief = NULL;
}
