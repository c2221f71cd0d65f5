/* SPDX-License-Identifier: MIT */
#include "process/task_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "cgroup/walk.h"
#include "headroom/array.h"
#include "headroom/root.h"
#include "process/stat.h"

/* The process that starts the kernel's threads. */
#define KTHREADD 2

/* --- PIDs ----------------------------------------------------------------- */

static int append_id(struct hr_task_list *list, pid_t id)
{
    if (HR_ARRAY_RESERVE(list->ids, list->capacity, list->count + 1) < 0)
        return -ENOMEM;
    list->ids[list->count++] = id;
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    const pid_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

/* A task that moved between groups meanwhile may be listed twice. */
static void sort_and_deduplicate(struct hr_task_list *list)
{
    size_t kept = 0;

    if (list->count < 2)
        return;
    qsort(list->ids, list->count, sizeof(*list->ids), compare_numbers);
    for (size_t i = 1; i < list->count; i++)
        if (list->ids[i] != list->ids[kept])
            list->ids[++kept] = list->ids[i];
    list->count = kept + 1;
}

bool hr_task_list_has(const struct hr_task_list *list, pid_t id)
{
    return list->count > 0 &&
           bsearch(&id, list->ids, list->count, sizeof(*list->ids), compare_numbers) != NULL;
}

void hr_task_list_drop(struct hr_task_list *list, const struct hr_task_list *dropped)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (!hr_task_list_has(dropped, list->ids[i]))
            list->ids[kept++] = list->ids[i];
    list->count = kept;
}

void hr_task_list_free(struct hr_task_list *list)
{
    free(list->ids);
    *list = (struct hr_task_list){0};
}

/* --- Files of PIDs -------------------------------------------------------- */

/* A number whose end hasn't been read yet. */
struct partial {
    uint32_t value;
    bool begun;
};

/* Parses a part of "4711\n4712\n"; 0 is a process of another PID namespace. */
static int append_ids(struct hr_task_list *list, const char *text, size_t length, char terminator,
                      struct partial *partial)
{
    for (const char *byte = text; byte < text + length; byte++) {
        uint32_t digit = (uint32_t)(unsigned char)*byte - '0';
        if (digit <= 9) {
            if (partial->value > (INT32_MAX - digit) / 10)
                return -EBADMSG;
            *partial = (struct partial){10 * partial->value + digit, true};
            continue;
        }
        if (*byte != terminator || !partial->begun)
            return -EBADMSG;
        if (partial->value != 0 && append_id(list, (pid_t)partial->value) < 0)
            return -ENOMEM;
        *partial = (struct partial){0};
    }
    return 0;
}

/* Reads the whole file in pieces, as it may be long.
 * @param terminator  ends each PID. */
static int append_file(struct hr_task_list *list, int fd, char terminator)
{
    struct partial partial = {0};
    char text[16384];

    for (;;) {
        ssize_t got = read(fd, text, sizeof(text));
        if (got == 0)
            return partial.begun ? -EBADMSG : 0;
        if (got < 0 && errno == EINTR)
            continue;
        int status = got < 0 ? -errno : append_ids(list, text, (size_t)got, terminator, &partial);
        if (status < 0)
            return status;
    }
}

static bool has_vanished(int status)
{
    return status == -ENOENT || status == -ENODEV;
}

/* @return 0; -ENODEV: the group was removed; -EOPNOTSUPP: it is threaded and has no processes. */
static int append_group(struct hr_task_list *list, int dirfd)
{
    const char *name = list->of_threads ? "cgroup.threads" : "cgroup.procs";
    int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);

    int status = fd < 0 ? -errno : append_file(list, fd, '\n');
    hr_descriptor_close(&fd);
    return has_vanished(status) ? -ENODEV : status;
}

/* --- Whole lists ---------------------------------------------------------- */

static int finish_list(struct hr_task_list *list, int status)
{
    if (status < 0)
        hr_task_list_free(list);
    else
        sort_and_deduplicate(list);
    return status;
}

/* The processes of a threaded group are listed in the first group above that isn't threaded. */
static int append_group_below(void *list, int dirfd)
{
    int status = append_group(list, dirfd);

    return status == -EOPNOTSUPP ? 0 : status;
}

int hr_task_list_read_group(int dirfd, size_t max_directories, struct hr_task_list *list)
{
    int status = append_group(list, dirfd);

    if (status == -EOPNOTSUPP) {
        list->of_threads = true;
        status = append_group(list, dirfd);
    }
    if (status == 0)
        status = hr_cgroup_walk(dirfd, max_directories > 0 ? max_directories - 1 : 0,
                                append_group_below, list);
    return finish_list(list, has_vanished(status) ? -ENODEV : status);
}

/* Parses a name in /proc. @return the PID, or 0 for any other name. */
static pid_t parse_name(const char *name)
{
    uint32_t value = 0;

    for (; *name >= '0' && *name <= '9'; name++) {
        uint32_t digit = (uint32_t)*name - '0';
        if (value > (INT32_MAX - digit) / 10)
            return 0;
        value = 10 * value + digit;
    }
    return *name == '\0' ? (pid_t)value : 0;
}

static int read_directory(const struct hr_root *root, const char *path, struct hr_task_list *list)
{
    DIR *directory = hr_descriptor_opendir(hr_root_openat(root, path, O_RDONLY | O_DIRECTORY));
    const struct dirent *entry;
    int status = 0;

    if (directory == NULL)
        return -errno;
    while (status == 0 && (entry = readdir(directory)) != NULL) {
        pid_t pid = parse_name(entry->d_name);
        status = pid > 0 ? append_id(list, pid) : 0;
    }
    closedir(directory);
    return finish_list(list, status);
}

int hr_task_list_read_system(const struct hr_root *root, struct hr_task_list *list)
{
    return read_directory(root, "proc", list);
}

int hr_task_list_read_threads(const struct hr_root *root, pid_t process, struct hr_task_list *list)
{
    char path[32];

    snprintf(path, sizeof(path), "proc/%d/task", (int)process);
    return read_directory(root, path, list);
}

/* --- Kernel threads ------------------------------------------------------- */

/* In a PID namespace PID 2 is any process, whose children aren't the kernel's. */
static bool is_kernel_thread(const struct hr_root *root, pid_t pid)
{
    struct hr_process_stat stat;
    char path[32];

    snprintf(path, sizeof(path), "proc/%d/stat", (int)pid);
    return hr_process_stat_read_and_close(hr_root_openat(root, path, O_RDONLY), &stat) == 0 &&
           stat.is_kernel_thread;
}

/* Lists kthreadd, and its children: "3 4 5 ". */
static int read_kernel_threads(const struct hr_root *root, struct hr_task_list *list)
{
    if (!is_kernel_thread(root, KTHREADD))
        return 0;
    int status = append_id(list, KTHREADD);
    int fd = hr_root_openat(root, "proc/2/task/2/children", O_RDONLY);
    if (status == 0 && fd >= 0)
        status = append_file(list, fd, ' ');
    hr_descriptor_close(&fd);
    return finish_list(list, status);
}

int hr_task_list_drop_kernel_threads(const struct hr_root *root, struct hr_task_list *list)
{
    struct hr_task_list threads = {0};

    int status = read_kernel_threads(root, &threads);
    if (status == 0)
        hr_task_list_drop(list, &threads);
    hr_task_list_free(&threads);
    return status;
}
