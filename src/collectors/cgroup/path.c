/* SPDX-License-Identifier: MIT */
#include "headroom/cgroup.h"

#include <string.h>

bool hr_cgroup_is_within(const char *path, const char *above)
{
    const size_t length = strlen(above);

    return length == 0 ||
           (strncmp(path, above, length) == 0 && (path[length] == '\0' || path[length] == '/'));
}
