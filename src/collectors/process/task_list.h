/* SPDX-License-Identifier: MIT */
/*
 * process/task_list.h - the PIDs of a cgroup and all below it, or of the system.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst (cgroup.procs, cgroup.threads, threaded mode);
 * Documentation/filesystems/proc.rst (/proc/PID/task/TID/children).
 */
#ifndef HEADROOM_COLLECTORS_PROCESS_TASK_LIST_H
#define HEADROOM_COLLECTORS_PROCESS_TASK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hr_root;

/** PIDs in ascending order, without duplicates. All zeros is an empty list. */
struct hr_task_list {
    pid_t *ids;
    size_t count;
    size_t capacity;
    bool of_threads; /**< rather than of processes: the group is threaded */
};

/**
 * Lists the processes in a group and below it; the threads, if the group is threaded.
 *
 * Processes of another PID namespace have no PID here and are left out. Groups below that are
 * removed meanwhile are skipped.
 *
 * @param dirfd            the group's directory.
 * @param max_directories  the largest number of groups to read, the nearest first.
 * @param list             an empty one.
 * @return 0; -ENODEV: the group was removed; -EBADMSG; -ENOMEM; or the negative errno of open(2)
 *         or read(2). The list is empty on failure.
 */
int hr_task_list_read_group(int dirfd, size_t max_directories, struct hr_task_list *list);

/** Lists the processes of the system, from the root's /proc. */
int hr_task_list_read_system(const struct hr_root *root, struct hr_task_list *list);

/** Lists the threads of a process. @return as hr_task_list_read_system(); -ENOENT: it has ended. */
int hr_task_list_read_threads(const struct hr_root *root, pid_t process, struct hr_task_list *list);

/**
 * Removes the kernel's threads from a list of the system: kthreadd and its children, read from one
 * file. A program that the kernel starts, such as a handler of core dumps, is one of these
 * children, too. Without that file (CONFIG_PROC_CHILDREN) only kthreadd is removed.
 *
 * @return 0, -EBADMSG, -ENOMEM, or the negative errno of read(2); the list is then unchanged.
 */
int hr_task_list_drop_kernel_threads(const struct hr_root *root, struct hr_task_list *list);

/** Whether the list has a PID. */
bool hr_task_list_has(const struct hr_task_list *list, pid_t id);

/** Removes the PIDs of another list. */
void hr_task_list_drop(struct hr_task_list *list, const struct hr_task_list *dropped);

/** Frees the list's memory and leaves an empty one. */
void hr_task_list_free(struct hr_task_list *list);

#endif
