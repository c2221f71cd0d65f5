/* SPDX-License-Identifier: MIT */
/*
 * cgroup/nearest.c - what is there where a pattern matches nothing.
 */
#include "headroom/cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "cgroup/subdirectories.h"
#include "headroom/option.h"
#include "headroom/root.h"

#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* A longer line would be hard to read. */
#define NAMES_SHOWN 6

/* The length of the pattern's component at `text`, if that is a name; 0: it has a wildcard, or
 * there is none. */
static size_t name_length(const char *text)
{
    size_t length = strcspn(text, "/");

    return strcspn(text, "*?[") < length ? 0 : length;
}

/* Opens the directory of that name in *fd, which is replaced. */
static bool open_below(int *fd, const char *name, size_t length)
{
    char *copy = strndup(name, length);
    int below = copy != NULL ? openat(*fd, copy, OPEN_FLAGS) : -1;

    free(copy);
    if (below < 0)
        return false;
    close(*fd);
    *fd = below;
    return true;
}

/* @param fd  the mount, replaced by the directory. @return the length of the pattern's part that
 * leads there. */
static size_t descend_while_there(int *fd, const char *pattern)
{
    size_t taken = 0, length;

    while ((length = name_length(pattern + taken)) > 0 && open_below(fd, pattern + taken, length)) {
        taken += length;
        taken += pattern[taken] == '/';
    }
    return taken > 0 && pattern[taken - 1] == '/' ? taken - 1 : taken;
}

/* "a, b, c and 5 more" */
static void print_names(FILE *out, const struct hr_scan *scan)
{
    const size_t shown = scan->count <= NAMES_SHOWN ? scan->count : NAMES_SHOWN - 1;

    for (size_t i = 0; i < shown; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : "", scan->entries[i].name);
    if (shown < scan->count)
        fprintf(out, " and %zu more", scan->count - shown);
}

/* What a ".service" has in common with others says nothing. */
static unsigned compare_names(const char *wanted, const char *name)
{
    const char *end = strrchr(wanted, '.'), *name_end = strrchr(name, '.');
    const bool has_same_end = end != NULL && name_end != NULL && strcmp(end, name_end) == 0;
    char *stem = has_same_end ? strndup(wanted, (size_t)(end - wanted)) : NULL;
    char *name_stem = has_same_end ? strndup(name, (size_t)(name_end - name)) : NULL;
    const unsigned difference = stem != NULL && name_stem != NULL
                                    ? hr_option_compare(stem, name_stem)
                                    : hr_option_compare(wanted, name);

    free(stem);
    free(name_stem);
    return difference;
}

/* @return the name that is like the one at `text`; NULL: none, or that is no name. */
static const char *find_closest(const struct hr_scan *scan, const char *text)
{
    char *wanted = strndup(text, name_length(text));
    const char *closest = NULL;
    unsigned difference = UINT_MAX;

    for (size_t i = 0; wanted != NULL && i < scan->count; i++) {
        const unsigned other = compare_names(wanted, scan->entries[i].name);
        closest = other < difference ? scan->entries[i].name : closest;
        difference = other < difference ? other : difference;
    }
    free(wanted);
    return closest;
}

static void describe_names(FILE *out, const struct hr_scan *scan, const char *pattern,
                           size_t length)
{
    const char *closest = find_closest(scan, pattern + length + (pattern[length] == '/'));

    if (length > 0)
        fprintf(out, "in %.*s ", (int)length, pattern);
    if (closest != NULL) {
        fprintf(out, "there is %s", closest);
        return;
    }
    fprintf(out, scan->count > 0 ? "there are: " : "there is none");
    print_names(out, scan);
}

/* @param fd  the mount, which is closed. @return whether a cgroup is there, and has none below. */
static bool describe_below(FILE *out, int fd, const char *pattern)
{
    struct hr_scan scan = {0};
    const size_t length = descend_while_there(&fd, pattern);
    const bool is_known = hr_scan_read(fd, &scan) == 0;
    const bool is_awaited = is_known && scan.count == 0 && length > 0 && pattern[length] == '/';

    if (is_known)
        describe_names(out, &scan, pattern, length);
    hr_scan_free(&scan);
    close(fd);
    return is_awaited;
}

bool hr_cgroup_describe_nearest(const struct hr_root *root, const char *controller,
                                const char *pattern, char *text, size_t size)
{
    int mount = hr_root_open_cgroup(root, controller, NULL);
    int fd = mount >= 0 ? openat(mount, ".", OPEN_FLAGS) : -1; /* with a position of its own */
    FILE *out = fmemopen(text, size, "w");
    bool is_awaited = false;

    memset(text, 0, size);
    if (fd >= 0 && out != NULL)
        is_awaited = describe_below(out, fd, pattern + (*pattern == '/'));
    else
        hr_descriptor_close(&fd);
    if (out != NULL)
        fclose(out);
    text[size - 1] = '\0';
    hr_descriptor_close(&mount);
    return is_awaited;
}
