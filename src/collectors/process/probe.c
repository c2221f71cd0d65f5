/* SPDX-License-Identifier: MIT */
#include "process/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "headroom/root.h"
#include "process/task_list.h"

#define TRIED_MAX 256

int hr_process_try_file(const struct hr_process *process, const char *name, int flags)
{
    int fd = hr_process_openat(process, name, flags);

    if (fd < 0)
        return fd;
    hr_descriptor_close(&fd);
    return 0;
}

static int try_process(const struct hr_root *root, int (*try_files)(const struct hr_process *),
                       pid_t pid)
{
    struct hr_process process;

    int status = hr_process_open(root, pid, &process);
    if (status < 0)
        return status;
    status = try_files(&process);
    hr_process_close(&process);
    return status;
}

static bool is_of_other_user(const struct hr_root *root, pid_t pid)
{
    struct stat stat;
    char path[32];

    snprintf(path, sizeof(path), "proc/%d", (int)pid);
    int dirfd = hr_root_openat(root, path, O_PATH | O_DIRECTORY);
    bool is_other = dirfd >= 0 && fstat(dirfd, &stat) == 0 && stat.st_uid != geteuid();
    hr_descriptor_close(&dirfd);
    return is_other;
}

/* Where PID 1 is protected, as in some containers, others may not be. As root any other process is
 * tried, else those of other users. @return 0, or the status of PID 1. */
static int try_others(const struct hr_root *root, int (*try_files)(const struct hr_process *),
                      int status)
{
    struct hr_task_list tasks = {0};

    if (hr_task_list_read_system(root, &tasks) < 0)
        return status;
    for (size_t i = 0, tried = 0; i < tasks.count && status < 0 && tried < TRIED_MAX; i++) {
        pid_t pid = tasks.ids[i];
        if (pid == getpid() || (geteuid() != 0 && !is_of_other_user(root, pid)))
            continue;
        int tried_status = try_process(root, try_files, pid);
        if (tried_status == 0)
            status = 0;
        /* Kernel threads have no memory that could be refused. */
        tried += tried_status != -ENXIO;
    }
    hr_task_list_free(&tasks);
    return status;
}

int hr_process_probe(const struct hr_root *root, int (*try_files)(const struct hr_process *))
{
    int status = try_process(root, try_files, 1);

    if (status == -EACCES || status == -EPERM || status == -ESRCH)
        status = try_others(root, try_files, status);
    return status;
}
