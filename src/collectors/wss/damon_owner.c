/* SPDX-License-Identifier: MIT */
#include "wss/damon_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/hash.h"
#include "headroom/pid_namespace.h"
#include "memory/damon_sysfs.h"
#include "process/stat.h"
#include "process/task_list.h"

/* A tag is an interval that no program would choose: more than 70 million years, in milliseconds.
 * Added to it are, from the lowest digit on, our PID, our PID namespace, our start,
 * and a number for each measurement. */
#define TAG_BASE       (UINT64_C(1) << 61)
#define TAG_PIDS       4194304 /* PID_MAX_LIMIT of the kernel */
#define TAG_NAMESPACES 65536
#define TAG_STARTS     16384
#define TAG_COUNTS     512

struct parts {
    uint64_t count, start, namespace, pid;
};

static uint64_t join_parts(const struct parts *parts)
{
    return TAG_BASE +
           ((parts->count * TAG_STARTS + parts->start) * TAG_NAMESPACES + parts->namespace) *
               TAG_PIDS +
           parts->pid;
}

/* @return whether the tag is one of ours. */
static bool split_tag(uint64_t tag, struct parts *parts)
{
    if (tag < TAG_BASE)
        return false;
    const uint64_t rest = tag - TAG_BASE;
    *parts = (struct parts){
        .count = rest / TAG_PIDS / TAG_NAMESPACES / TAG_STARTS,
        .start = rest / TAG_PIDS / TAG_NAMESPACES % TAG_STARTS,
        .namespace = rest / TAG_PIDS % TAG_NAMESPACES,
        .pid = rest % TAG_PIDS,
    };
    return parts->count < TAG_COUNTS && parts->pid != 0;
}

/* --- This namespace ------------------------------------------------------- */

/* The low bits of its inode number. @return 0: unknown. */
static uint64_t read_own_namespace(void)
{
    struct stat stat_of;

    return stat("/proc/self/ns/pid", &stat_of) == 0 ? stat_of.st_ino % TAG_NAMESPACES : 0;
}

/* Reads a part of when a process started, from our own /proc. @return 0; -ENOENT: it doesn't exist;
 * -ESRCH: it has ended; … */
static int read_start(pid_t pid, uint64_t *start)
{
    struct hr_process_stat stat;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int status = hr_process_stat_read_and_close(fd < 0 ? -errno : fd, &stat);
    if (status < 0)
        return status;
    uint32_t sum = hr_hash_number(HR_HASH_EMPTY, (uint32_t)stat.started_ticks);
    *start = hr_hash_slot(hr_hash_number(sum, (uint32_t)(stat.started_ticks >> 32))) % TAG_STARTS;
    return stat.is_zombie ? -ESRCH : 0;
}

uint64_t hr_damon_make_tag(uint64_t number)
{
    struct parts parts = {
        .count = number % TAG_COUNTS,
        .namespace = read_own_namespace(),
        .pid = (uint64_t)getpid(),
    };

    read_start(getpid(), &parts.start);
    return join_parts(&parts);
}

bool hr_damon_is_own_tag(uint64_t tag)
{
    struct parts parts;

    return split_tag(tag, &parts) && parts.pid == (uint64_t)getpid() &&
           parts.namespace == read_own_namespace();
}

/* With hidepid= the files of other users' processes are hidden, but not that these exist. */
static bool exists(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

/* If in doubt, it is alive: then its monitoring isn't touched. */
static enum hr_damon_owner find_here(const struct parts *parts)
{
    uint64_t start = parts->start;

    int status = read_start((pid_t)parts->pid, &start);
    if (status == -ESRCH || (status == -ENOENT && !exists((pid_t)parts->pid)))
        return HR_DAMON_OWNER_DEAD;
    return start == parts->start ? HR_DAMON_OWNER_ALIVE : HR_DAMON_OWNER_DEAD;
}

/* --- Other namespaces ----------------------------------------------------- */

/* Reads a process's namespace: a link to "pid:[4026531836]". */
static int read_namespace(const struct hr_root *root, pid_t pid, uint64_t *inode)
{
    char path[32], link[64];

    snprintf(path, sizeof(path), "proc/%d/ns", (int)pid);
    int directory = hr_root_openat(root, path, O_RDONLY | O_DIRECTORY);
    if (directory < 0)
        return directory;
    ssize_t length = readlinkat(directory, "pid", link, sizeof(link));
    int status = length < 0 ? -errno : 0;
    hr_descriptor_close(&directory);
    if (status < 0)
        return status;
    struct hr_text text = {link, (size_t)length};
    return hr_text_skip(&text, "pid:[") && hr_text_u64(&text, inode) ? 0 : -EBADMSG;
}

/* Whether a process has a number in its own namespace: the last one of "NSpid:\t4711\t7\n". */
static bool has_inner_pid(const struct hr_root *root, pid_t pid, uint64_t inner)
{
    char path[32], buffer[8192];
    size_t length;
    uint64_t last = 0;

    snprintf(path, sizeof(path), "proc/%d/status", (int)pid);
    if (hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), buffer, sizeof(buffer),
                               &length) < 0)
        return false;
    struct hr_text text = {buffer, length};
    while (!hr_text_skip(&text, "NSpid:"))
        if (!hr_text_skip_line(&text))
            return false;
    while (hr_text_skip(&text, "\t") && hr_text_u64(&text, &last))
        ;
    return last == inner;
}

/* Looks at all processes of the machine. */
static enum hr_damon_owner find_in_all(const struct hr_root *root, const struct parts *parts,
                                       const struct hr_task_list *tasks)
{
    uint64_t inode = 0;

    for (size_t i = 0; i < tasks->count; i++) {
        int status = read_namespace(root, tasks->ids[i], &inode);
        if (status < 0 && status != -ENOENT && status != -ESRCH)
            return HR_DAMON_OWNER_UNKNOWN;
        if (status == 0 && inode % TAG_NAMESPACES == parts->namespace &&
            has_inner_pid(root, tasks->ids[i], parts->pid))
            return HR_DAMON_OWNER_ALIVE;
    }
    return HR_DAMON_OWNER_DEAD;
}

/* Only who sees the initial namespace sees all processes, and only who may look into PID 1 sees
 * them in spite of hidepid. */
static enum hr_damon_owner find_elsewhere(const struct hr_root *root, const struct parts *parts)
{
    struct hr_task_list tasks = {0};
    uint64_t inode;

    if (read_namespace(root, 1, &inode) < 0 || inode != HR_FIRST_PID_NAMESPACE ||
        hr_task_list_read_system(root, &tasks) < 0)
        return HR_DAMON_OWNER_UNKNOWN;
    enum hr_damon_owner owner = find_in_all(root, parts, &tasks);
    hr_task_list_free(&tasks);
    return owner;
}

/* --- The owner ------------------------------------------------------------ */

/* Finds the tag of an existing monitoring. @return 0; -ENOENT: it has none that could be ours; … */
static int find_tag(const struct hr_root *root, uint64_t *tag, struct parts *parts)
{
    int status = hr_damon_read_tag(root, tag);

    if (status < 0)
        return status;
    return split_tag(*tag, parts) ? 0 : -ENOENT;
}

int hr_damon_find_owner(const struct hr_root *root, struct hr_damon_found *found)
{
    uint64_t count = 0;
    struct parts parts = {0};

    *found = (struct hr_damon_found){.owner = HR_DAMON_OWNER_NONE};
    int status = hr_damon_read_count(root, &count);
    if (status == -ENOENT || (status == 0 && count == 0))
        return 0;
    if (status == 0)
        status = find_tag(root, &found->tag, &parts);
    if (status < 0) {
        found->owner = HR_DAMON_OWNER_OTHER;
        return status == -ENOENT ? 0 : status;
    }
    found->pid = (pid_t)parts.pid;
    if (parts.namespace == 0)
        found->owner = HR_DAMON_OWNER_UNKNOWN;
    else if (parts.namespace == read_own_namespace())
        found->owner = find_here(&parts);
    else
        found->owner = find_elsewhere(root, &parts);
    return 0;
}
