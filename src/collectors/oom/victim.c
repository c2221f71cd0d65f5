/* SPDX-License-Identifier: MIT */
#include "oom/victim.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "headroom/root.h"
#include "room/process_cgroup.h"

static const char deleted[] = " (deleted)";

bool hr_oom_victim_parse(const char *text, size_t length, int version, char path[PATH_MAX])
{
    struct hr_text found;

    if (!hr_process_cgroup_find(text, length, version == 1 ? "memory" : NULL, &found) ||
        found.length >= PATH_MAX)
        return false;
    const size_t suffix = strlen(deleted);
    if (found.length >= suffix && memcmp(found.start + found.length - suffix, deleted, suffix) == 0)
        found.length -= suffix;
    memcpy(path, found.start, found.length);
    path[found.length] = '\0';
    return strncmp(path, "..", 2) != 0 && !(version == 1 && path[0] == '\0');
}

static int read_file(const struct hr_root *root, int pid, const char *name, char *text, size_t size,
                     size_t *length)
{
    char file[64];

    snprintf(file, sizeof(file), "proc/%d/%s", pid, name);
    return hr_text_read_and_close(hr_root_openat(root, file, O_RDONLY), text, size, length);
}

static bool has_name(const struct hr_root *root, const struct hr_oom_kill *kill)
{
    char name[sizeof(kill->name) + 1];
    size_t length;

    if (read_file(root, kill->pid, "comm", name, sizeof(name), &length) < 0 || length == 0)
        return false;
    return strlen(kill->name) == length - 1 && memcmp(name, kill->name, length - 1) == 0;
}

bool hr_oom_victim_find(const struct hr_root *root, int version, struct hr_oom_kill *kill)
{
    char text[2 * PATH_MAX], path[PATH_MAX];
    size_t length;

    if (read_file(root, kill->pid, "cgroup", text, sizeof(text), &length) < 0 ||
        !has_name(root, kill) || !hr_oom_victim_parse(text, length, version, path))
        return false;
    memcpy(kill->path, path, sizeof(path));
    return true;
}
