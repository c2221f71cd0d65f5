/* SPDX-License-Identifier: MIT */
#include "headroom/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/array.h"
#include "headroom/root.h"
#include "process/names.h"
#include "process/stat.h"
#include "process/task_list.h"

/* --- One process ---------------------------------------------------------- */

static int map_missing_process(int status)
{
    return status == -ENOENT ? -ESRCH : status;
}

static int open_directory(const struct hr_root *root, pid_t pid)
{
    char path[32];

    snprintf(path, sizeof(path), "proc/%d", (int)pid);
    return map_missing_process(hr_root_openat(root, path, O_RDONLY | O_DIRECTORY));
}

static int read_stat(int dirfd, struct hr_process_stat *stat)
{
    int fd = openat(dirfd, "stat", O_RDONLY | O_CLOEXEC);

    return map_missing_process(hr_process_stat_read_and_close(fd < 0 ? -errno : fd, stat));
}

static bool is_living_thread(const struct hr_root *root, pid_t tid)
{
    struct hr_process_stat stat;
    int dirfd = open_directory(root, tid); /* it is there, though it isn't listed */

    if (dirfd < 0)
        return false;
    int status = read_stat(dirfd, &stat);
    hr_descriptor_close(&dirfd);
    return status == 0 && !stat.is_exiting && !stat.is_zombie;
}

/* A process whose first thread has ended is a zombie, but the others go on, with its memory: any of
 * them stands for it. @return -ECHILD: there is none. */
static int find_living_thread(const struct hr_root *root, pid_t pid, pid_t *tid)
{
    struct hr_task_list threads = {0};
    int status = -ECHILD;

    if (hr_task_list_read_threads(root, pid, &threads) < 0)
        return -ECHILD;
    for (size_t i = 0; i < threads.count && status < 0; i++)
        if (threads.ids[i] != pid && is_living_thread(root, threads.ids[i])) {
            *tid = threads.ids[i];
            status = 0;
        }
    hr_task_list_free(&threads);
    return status;
}

/* Fills in all members but the descriptor. */
static int read_process(const struct hr_root *root, pid_t pid, int dirfd,
                        struct hr_process *process)
{
    struct hr_process_stat stat;
    pid_t tid = pid;

    int status = read_stat(dirfd, &stat);
    if (status == 0 && stat.is_zombie)
        status = find_living_thread(root, pid, &tid);
    if (status < 0)
        return status;
    if (stat.is_kernel_thread)
        return -ENXIO;
    *process = (struct hr_process){
        .root = root, .pid = pid, .tid = tid, .started_ticks = stat.started_ticks, .dirfd = -1};
    memcpy(process->name, stat.name, sizeof(process->name));
    return 0;
}

int hr_process_open(const struct hr_root *root, pid_t pid, struct hr_process *process)
{
    struct hr_process read;
    int dirfd = open_directory(root, pid);

    if (dirfd < 0)
        return dirfd;
    int status = read_process(root, pid, dirfd, &read);
    if (status == 0 && read.tid != pid) {
        hr_descriptor_close(&dirfd);
        dirfd = open_directory(root, read.tid);
        status = dirfd < 0 ? dirfd : 0;
    }
    if (status == 0 && hr_descriptor_keep(&dirfd, HR_KEEP_DIRECTORY))
        read.dirfd = dirfd;
    else
        hr_descriptor_close(&dirfd);
    if (status == 0)
        *process = read;
    return status;
}

void hr_process_close(struct hr_process *process)
{
    hr_descriptor_close(&process->dirfd);
}

/* Opens a file of a process whose directory isn't kept. */
static int open_by_pid(const struct hr_process *process, const char *name, int flags)
{
    struct hr_process_stat stat;
    int dirfd = open_directory(process->root, process->pid);

    if (dirfd < 0)
        return dirfd;
    int status = read_stat(dirfd, &stat);
    if (status == 0 && stat.started_ticks != process->started_ticks)
        status = -ESRCH;
    if (status == 0 && process->tid != process->pid) {
        hr_descriptor_close(&dirfd);
        dirfd = open_directory(process->root, process->tid);
        status = dirfd < 0 ? dirfd : 0;
    }
    int fd = status < 0 ? status : openat(dirfd, name, flags | O_CLOEXEC);
    if (status == 0 && fd < 0)
        fd = -errno;
    hr_descriptor_close(&dirfd);
    return fd;
}

int hr_process_openat(const struct hr_process *process, const char *name, int flags)
{
    if (process->dirfd < 0)
        return open_by_pid(process, name, flags);
    int fd = openat(process->dirfd, name, flags | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    /* Its directory is empty after it has ended. */
    if (errno == ENOENT && faccessat(process->dirfd, "stat", F_OK, AT_EACCESS) < 0)
        return -ESRCH;
    return -errno;
}

/* "999999 2560 812 4 0 6 0\n": in pages; the second is all that is resident, the third what of it
 * belongs to files and shared memory. */
static int parse_statm(struct hr_text text, struct hr_process_resident *resident)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t size, pages, shareable;

    if (!hr_text_u64(&text, &size) || !hr_text_skip(&text, " ") || !hr_text_u64(&text, &pages) ||
        !hr_text_skip(&text, " ") || !hr_text_u64(&text, &shareable) || !hr_text_skip(&text, " ") ||
        pages > UINT64_MAX / page)
        return -EBADMSG;
    /* They are counted one after the other. */
    if (shareable > pages)
        shareable = pages;
    *resident = (struct hr_process_resident){pages * page, shareable * page};
    return 0;
}

int hr_process_read_resident(const struct hr_process *process, struct hr_process_resident *resident)
{
    char text[256];
    size_t length;

    int fd = hr_process_openat(process, "statm", O_RDONLY);
    int status = hr_text_read_and_close(fd, text, sizeof(text), &length);
    return status < 0 ? status : parse_statm((struct hr_text){text, length}, resident);
}

int hr_process_read_rss(const struct hr_process *process, uint64_t *rss_bytes)
{
    struct hr_process_resident resident;

    int status = hr_process_read_resident(process, &resident);
    if (status == 0)
        *rss_bytes = resident.bytes;
    return status;
}

/*
 * One line per hierarchy; version 2's has the number 0 and no controllers:
 *
 *     4:pids:/user.slice
 *     0::/user.slice/user-0.slice
 */
static int parse_cgroup(struct hr_text text, char *path, size_t size)
{
    do {
        if (!hr_text_skip(&text, "0::"))
            continue;
        const char *end = memchr(text.start, '\n', text.length);
        size_t length = end != NULL ? (size_t)(end - text.start) : text.length;
        if (length == 0 || *text.start != '/')
            return -EBADMSG;
        if (length > size)
            return -ENAMETOOLONG;
        memcpy(path, text.start + 1, length - 1);
        path[length - 1] = '\0';
        bool is_outside = strncmp(path, "..", 2) == 0 && (path[2] == '/' || path[2] == '\0');
        return is_outside ? -ENOENT : 0;
    } while (hr_text_skip_line(&text));
    return -ENOENT;
}

int hr_process_read_cgroup(const struct hr_process *process, char *path, size_t size)
{
    char text[16384]; /* paths of at most 4096 bytes, of about a dozen hierarchies */
    size_t length;

    int fd = hr_process_openat(process, "cgroup", O_RDONLY);
    int status = hr_text_read_and_close(fd, text, sizeof(text), &length);
    return status < 0 ? status : parse_cgroup((struct hr_text){text, length}, path, size);
}

/* --- Lists ---------------------------------------------------------------- */

void hr_process_list_release(struct hr_process_list *list)
{
    struct hr_process *items = list->items;
    size_t capacity = list->capacity;

    for (size_t i = 0; i < list->count; i++)
        hr_process_close(&items[i]);
    *list = (struct hr_process_list){.items = items, .capacity = capacity};
}

void hr_process_list_free(struct hr_process_list *list)
{
    hr_process_list_release(list);
    free(list->items);
    *list = (struct hr_process_list){0};
}

/* Counts a process that is left out. @return 0, or the status if it is another failure. */
static int count_left_out(struct hr_process_list *list, int status)
{
    switch (status) {
    case -ESRCH:
        list->ended++;
        return 0;
    case -ECHILD:
        list->zombies++;
        return 0;
    case -ENXIO:
        list->kernel_threads++;
        return 0;
    case -EACCES:
    case -EPERM:
        list->denied++;
        return 0;
    default:
        return status;
    }
}

static int add_process(const struct hr_root *root, pid_t pid, struct hr_process_list *list)
{
    if (HR_ARRAY_RESERVE(list->items, list->capacity, list->count + 1) < 0)
        return -ENOMEM;
    int status = hr_process_open(root, pid, &list->items[list->count]);
    if (status < 0)
        return count_left_out(list, status);
    list->count++;
    return 0;
}

/* @return 0; for an empty list, why processes were left out. */
static int finish_list(struct hr_process_list *list, int status)
{
    if (status < 0) {
        hr_process_list_release(list);
        return status;
    }
    if (list->count > 0)
        return 0;
    if (list->denied > 0)
        return -EACCES;
    if (list->kernel_threads > 0)
        return -ENXIO;
    return list->zombies > 0 ? -ECHILD : -ESRCH;
}

static int compare_to_pid(const void *pid, const void *process)
{
    const pid_t a = *(const pid_t *)pid, b = ((const struct hr_process *)process)->pid;

    return (a > b) - (a < b);
}

static bool is_in(const struct hr_process_list *known, pid_t pid)
{
    return known != NULL && known->count > 0 &&
           bsearch(&pid, known->items, known->count, sizeof(*known->items), compare_to_pid) != NULL;
}

static int add_tasks(const struct hr_root *root, const struct hr_task_list *tasks,
                     const struct hr_process_list *known, struct hr_process_list *list)
{
    int status = 0;

    for (size_t i = 0; i < tasks->count && status == 0; i++)
        if (!is_in(known, tasks->ids[i]))
            status = add_process(root, tasks->ids[i], list);
    return status;
}

/* --- By name -------------------------------------------------------------- */

/* A process may have started another program since, or its PID may have been reused. A name with a
 * newline or a backslash is written differently in stat and comm, and isn't compared. */
static void drop_renamed(const char *name, struct hr_process_list *list)
{
    size_t kept = 0;

    if (strpbrk(name, "\\\n") != NULL)
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (strncmp(list->items[i].name, name, HR_PROCESS_NAME_SIZE - 1) == 0) {
            list->items[kept++] = list->items[i];
            continue;
        }
        hr_process_close(&list->items[i]);
        list->ended++;
    }
    list->count = kept;
}

int hr_process_list_find_named(const struct hr_root *root, const struct hr_process_names *names,
                               const char *name, const struct hr_process_list *known,
                               struct hr_process_list *list)
{
    size_t count;
    const struct hr_process_named *named = hr_process_names_find(names, name, &count);
    int status = 0;

    hr_process_list_release(list);
    for (size_t i = 0; i < count && status == 0; i++)
        if (!is_in(known, named[i].pid))
            status = add_process(root, named[i].pid, list);
    drop_renamed(name, list);
    return finish_list(list, status);
}

static int find_by_name(const struct hr_root *root, const char *name, struct hr_process_list *list)
{
    struct hr_process_names names = {0};

    int status = hr_process_names_read(&names, root, 0);
    if (status == 0)
        status = hr_process_list_find_named(root, &names, name, NULL, list);
    hr_process_names_free(&names);
    return status;
}

/* --- By a file ------------------------------------------------------------ */

static int read_pid_file(const struct hr_root *root, const char *path, pid_t *pid)
{
    char text[4096];
    struct stat stat;
    size_t length;
    uint64_t number;

    /* Opening or reading a pipe or a terminal would block. */
    int fd = hr_root_openat(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fd;
    int status = fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) ? 0 : -EBADMSG;
    if (status == 0)
        status = hr_text_read_file(fd, text, sizeof(text), &length);
    hr_descriptor_close(&fd);
    if (status < 0)
        return status;
    struct hr_text rest = {text, length};
    while (hr_text_skip(&rest, " "))
        ;
    if (!hr_text_u64(&rest, &number) || number == 0 || number > INT32_MAX ||
        (rest.length > 0 && memchr(" \t\r\n", *rest.start, 4) == NULL))
        return -EBADMSG;
    *pid = (pid_t)number;
    return 0;
}

int hr_process_list_find(const struct hr_root *root, const struct hr_process_choice *choice,
                         struct hr_process_list *list)
{
    pid_t pid = choice->pid;
    int status = 0;

    hr_process_list_release(list);
    if (choice->by == HR_PROCESS_BY_NAME)
        return find_by_name(root, choice->text, list);
    if (choice->by == HR_PROCESS_BY_FILE)
        status = read_pid_file(root, choice->text, &pid);
    return finish_list(list, status < 0 ? status : add_process(root, pid, list));
}

int hr_process_list_find_others_in_cgroup(const struct hr_root *root, int dirfd,
                                          const struct hr_process_list *known,
                                          struct hr_process_list *list)
{
    struct hr_task_list tasks = {0};

    hr_process_list_release(list);
    int status = hr_task_list_read_group(dirfd, SIZE_MAX, &tasks);
    if (status == 0)
        status = tasks.of_threads ? -EOPNOTSUPP : add_tasks(root, &tasks, known, list);
    hr_task_list_free(&tasks);
    return finish_list(list, status);
}

int hr_process_list_find_in_cgroup(const struct hr_root *root, int dirfd,
                                   struct hr_process_list *list)
{
    return hr_process_list_find_others_in_cgroup(root, dirfd, NULL, list);
}
