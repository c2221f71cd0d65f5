/* SPDX-License-Identifier: MIT */
#include "report/working_set.h"

#include <string.h>

#define WINDOW_BEGIN "referenced-"

const char *working_set_window(const struct identifier *parts)
{
    const size_t begin = strlen(WINDOW_BEGIN);

    if (!piece_is(&parts->plugin, "wss") || !piece_is(&parts->type, "memory") ||
        parts->type_instance.length <= begin ||
        memcmp(parts->type_instance.start, WINDOW_BEGIN, begin) != 0)
        return NULL;
    return parts->type_instance.start + begin;
}

bool working_set_is_of_processes(const struct identifier *parts)
{
    return piece_is(&parts->plugin, "wss") && piece_is(&parts->type, "count") &&
           piece_is(&parts->type_instance, "processes");
}
