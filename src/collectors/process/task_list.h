/* SPDX-License-Identifier: MIT */
/*
 * process/task_list.h - the processes or threads of a cgroup and all below it, or of the system, by
 * number.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst (cgroup.procs, cgroup.threads, threaded mode).
 */
#ifndef HEADROOM_COLLECTORS_PROCESS_TASK_LIST_H
#define HEADROOM_COLLECTORS_PROCESS_TASK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hr_root;

/** Numbers in ascending order, none of them twice. All zeros is an empty list. */
struct hr_task_list {
    pid_t *ids;
    size_t count;
    size_t capacity;
    bool of_threads; /**< rather than of processes: the group is a threaded one */
};

/**
 * Lists the processes in a group and below it; of a threaded group, which has threads only, these.
 *
 * Processes of another pid namespace have no number here and are left out. Groups below that vanish
 * meanwhile are passed over.
 *
 * @param dirfd            the group's directory.
 * @param max_directories  how many are read at most, the nearest first.
 * @param list             an empty one.
 * @return 0; -ENODEV: the group was removed; -EBADMSG; -ENOMEM; or the negative errno of open(2)
 *         or read(2). The list is empty on failure.
 */
int hr_task_list_read_group(int dirfd, size_t max_directories, struct hr_task_list *list);

/** Lists the processes of the system, from the root's /proc. */
int hr_task_list_read_system(const struct hr_root *root, struct hr_task_list *list);

/** Tells whether the list has a number. */
bool hr_task_list_has(const struct hr_task_list *list, pid_t id);

/** Frees the list's memory and leaves an empty one. */
void hr_task_list_free(struct hr_task_list *list);

#endif
