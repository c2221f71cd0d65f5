/* SPDX-License-Identifier: MIT */
#include "headroom/allowed_cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "headroom/cpu_set.h"
#include "headroom/root.h"
#include "process/task_list.h"

/* "Cpus_allowed_list:\t0-3\n" */
int hr_allowed_cpus_read(const struct hr_root *root, pid_t task, struct hr_cpu_set *cpus)
{
    static const char key[] = "\nCpus_allowed_list:\t";
    char path[32], text[8192];
    size_t length;

    snprintf(path, sizeof(path), "proc/%d/status", (int)task);
    int status = hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), text,
                                        sizeof(text) - 1, &length);
    if (status < 0)
        return status;
    text[length] = '\0';
    const char *list = strstr(text, key);
    const char *end = list != NULL ? strchr(list + strlen(key), '\n') : NULL;
    if (end == NULL)
        return -EBADMSG;
    list += strlen(key);
    return hr_cpu_set_parse(list, (size_t)(end - list), cpus);
}

/* What was found so far. */
struct search {
    const struct hr_root *root;
    const struct hr_cpu_set *most; /* NULL: all */
    size_t enough;
    size_t *threads; /* that may be read */
    struct hr_cpu_set found;
};

static bool has_found_all(const struct search *search)
{
    return hr_cpu_set_count(&search->found) >= search->enough;
}

static bool has_ended(int status)
{
    return status == -ENOENT || status == -ESRCH;
}

static int add_tasks(struct search *search, const struct hr_task_list *tasks)
{
    int status = 0;

    for (size_t i = 0; i < tasks->count && status == 0 && !has_found_all(search); i++) {
        struct hr_cpu_set allowed;
        if (*search->threads == 0)
            return -E2BIG;
        (*search->threads)--;
        status = hr_allowed_cpus_read(search->root, tasks->ids[i], &allowed);
        if (has_ended(status)) {
            status = 0;
            continue;
        }
        if (status < 0)
            return status;
        if (search->most != NULL)
            hr_cpu_set_keep(&allowed, search->most);
        hr_cpu_set_merge(&search->found, &allowed);
    }
    return status;
}

/* The threads of each process, as any of them may have been pinned by itself. */
static int add_threads(struct search *search, const struct hr_task_list *processes)
{
    int status = 0;

    for (size_t i = 0; i < processes->count && status == 0 && !has_found_all(search); i++) {
        struct hr_task_list threads = {.count = 0};
        status = hr_task_list_read_threads(search->root, processes->ids[i], &threads);
        if (status == 0)
            status = add_tasks(search, &threads);
        else if (has_ended(status))
            status = 0;
        hr_task_list_free(&threads);
    }
    return status;
}

int hr_allowed_cpus_read_group(const struct hr_root *root, int dirfd, const struct hr_cpu_set *most,
                               size_t enough, size_t *threads, struct hr_cpu_set *cpus)
{
    struct search search = {.root = root, .most = most, .enough = enough, .threads = threads};
    struct hr_task_list tasks = {.count = 0};

    int status = hr_task_list_read_group(dirfd, SIZE_MAX, &tasks);
    if (status == 0)
        status = tasks.of_threads ? add_tasks(&search, &tasks) : add_threads(&search, &tasks);
    hr_task_list_free(&tasks);
    if (status == 0 && hr_cpu_set_count(&search.found) == 0)
        status = -ENODATA;
    if (status == 0)
        *cpus = search.found;
    return status;
}
