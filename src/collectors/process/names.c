/* SPDX-License-Identifier: MIT */
#include "process/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "headroom/array.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "process/task_list.h"

static int compare(const void *left, const void *right)
{
    const struct hr_process_named *a = left, *b = right;

    int order = memcmp(a->name, b->name, sizeof(a->name));
    return order != 0 ? order : (a->pid > b->pid) - (a->pid < b->pid);
}

/* "mysqld\n"; the name may have any bytes but a zero. @return 0; a failure, as the process has
 * ended. */
static int read_name(const struct hr_root *root, pid_t pid, char name[HR_PROCESS_NAME_SIZE])
{
    char path[32], text[HR_PROCESS_NAME_SIZE + 1];
    size_t length;

    snprintf(path, sizeof(path), "proc/%d/comm", (int)pid);
    int status =
        hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), text, sizeof(text), &length);
    if (status < 0)
        return status;
    if (length == 0 || text[length - 1] != '\n')
        return -EBADMSG;
    memset(name, 0, HR_PROCESS_NAME_SIZE);
    memcpy(name, text, length - 1);
    return 0;
}

/* One whose name can't be read has ended, or is none of those that anything could be read of. */
static int read_names(struct hr_process_names *names, const struct hr_root *root)
{
    struct hr_task_list tasks = {0};

    int status = hr_task_list_read_system(root, &tasks);
    if (status == 0 && HR_ARRAY_RESERVE(names->items, names->capacity, tasks.count + 1) < 0)
        status = -ENOMEM;
    names->count = 0;
    for (size_t i = 0; i < tasks.count && status == 0; i++) {
        struct hr_process_named *named = &names->items[names->count];
        named->pid = tasks.ids[i];
        names->count += read_name(root, named->pid, named->name) == 0;
    }
    hr_task_list_free(&tasks);
    return status;
}

int hr_process_names_read(struct hr_process_names *names, const struct hr_root *root,
                          uint64_t since_ns)
{
    const uint64_t now_ns = hr_clock_ns();

    if (names->read_ns != 0 && names->read_ns > since_ns)
        return 0;
    int status = read_names(names, root);
    if (status < 0) {
        hr_process_names_free(names);
        return status;
    }
    if (names->count > 0)
        qsort(names->items, names->count, sizeof(*names->items), compare);
    names->read_ns = now_ns;
    return 0;
}

/* @return the index of the first that doesn't come before `wanted`. */
static size_t find_first(const struct hr_process_names *names,
                         const struct hr_process_named *wanted)
{
    return HR_ARRAY_FIND_FIRST(names->count, i, compare(&names->items[i], wanted) < 0);
}

const struct hr_process_named *hr_process_names_find(const struct hr_process_names *names,
                                                     const char *name, size_t *count)
{
    struct hr_process_named wanted = {0};

    memcpy(wanted.name, name, strnlen(name, HR_PROCESS_NAME_SIZE - 1));
    const size_t first = find_first(names, &wanted);
    size_t end = first;
    while (end < names->count &&
           memcmp(names->items[end].name, wanted.name, sizeof(wanted.name)) == 0)
        end++;
    *count = end - first;
    return names->items + first;
}

void hr_process_names_free(struct hr_process_names *names)
{
    free(names->items);
    *names = (struct hr_process_names){0};
}
