/* SPDX-License-Identifier: MIT */
#include "report/working_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/client.h"
#include "common/identifier.h"

#define WINDOW_BEGIN "referenced-"

struct windows {
    const struct room_row *row;
    char *list[HR_ROOM_WINDOWS];
    size_t count;
    bool is_of_processes; /* a Process block's */
};

/* Of the type instance; NULL: the series isn't that of a window. */
static const char *find_window(const struct identifier *parts)
{
    const size_t begin = strlen(WINDOW_BEGIN);

    if (!piece_is(&parts->type, "memory") || parts->type_instance.length <= begin ||
        memcmp(parts->type_instance.start, WINDOW_BEGIN, begin) != 0)
        return NULL;
    return parts->type_instance.start + begin; /* which ends the series */
}

static int collect(void *context, const char *text)
{
    struct windows *windows = context;
    struct identifier parts;

    if (identifier_parse(text, &parts) != 0 || !piece_is(&parts.host, windows->row->host) ||
        !piece_is(&parts.plugin, "wss") || !piece_is(&parts.instance, windows->row->group))
        return 0;
    windows->is_of_processes |= piece_is(&parts.type, "count");
    if (find_window(&parts) == NULL || windows->count == HR_ROOM_WINDOWS)
        return 0;
    windows->list[windows->count] = strdup(text);
    return windows->list[windows->count++] != NULL ? 0 : -ENOMEM;
}

int working_set_fetch(struct client *client, const struct room_row *row,
                      struct hr_room_working_set *set)
{
    struct windows windows = {.row = row};
    double bytes[HR_ROOM_WINDOWS];
    struct identifier parts;

    set->count = 0;
    int status = client_list(client, collect, &windows);
    if (status == 0)
        status = client_get(client, (const char *const *)windows.list, bytes, windows.count);
    for (size_t i = 0; i < windows.count; i++) {
        if (status == 0 && !windows.is_of_processes &&
            identifier_parse(windows.list[i], &parts) == 0)
            hr_room_working_set_add(set, find_window(&parts), bytes[i]);
        free(windows.list[i]);
    }
    return status;
}
