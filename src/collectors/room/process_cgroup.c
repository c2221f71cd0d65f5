/* SPDX-License-Identifier: MIT */
#include "room/process_cgroup.h"

#include <string.h>

#include "base/text.h"

/* Finds a word in "cpu,cpuacct", delimited by commas; removes the list and the colon after it. */
static bool take_controllers(struct hr_text *line, const char *controller)
{
    const char *end = memchr(line->start, ':', line->length);
    size_t length = strlen(controller);
    bool found = false;

    if (end == NULL)
        return false;
    for (const char *at = line->start; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *word_end = comma != NULL ? comma : end;
        found |= (size_t)(word_end - at) == length && memcmp(at, controller, length) == 0;
        at = word_end + 1;
    }
    line->length -= (size_t)(end + 1 - line->start);
    line->start = end + 1;
    return found;
}

/* "3:cpu,cpuacct:/a"; cgroup2's is "0::/a". */
static bool take_path(struct hr_text line, const char *controller, struct hr_text *path)
{
    uint64_t hierarchy;

    if (!hr_text_u64(&line, &hierarchy) || !hr_text_skip(&line, ":"))
        return false;
    const bool has_controller = take_controllers(&line, controller != NULL ? controller : "");
    if (!(controller != NULL ? has_controller : hierarchy == 0) || !hr_text_skip(&line, "/"))
        return false;
    *path = line;
    return true;
}

bool hr_process_cgroup_find(const char *start, size_t length, const char *controller,
                            struct hr_text *path)
{
    struct hr_text text = {start, length};

    while (text.length > 0) {
        struct hr_text line = text;
        if (!hr_text_skip_line(&text))
            return false;
        line.length = (size_t)(text.start - line.start) - 1;
        if (take_path(line, controller, path))
            return true;
    }
    return false;
}

bool hr_process_cgroup_is(const char *start, size_t length, const char *controller,
                          const char *path)
{
    struct hr_text found;

    return hr_process_cgroup_find(start, length, controller, &found) &&
           found.length == strlen(path) && memcmp(found.start, path, found.length) == 0;
}
