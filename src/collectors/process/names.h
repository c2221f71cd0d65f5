/* SPDX-License-Identifier: MIT */
/*
 * process/names.h - the names of all processes, as they were at one time.
 *
 * Who looks for processes by name reads a file of each process of the machine, however few have
 * that name: what was read once can serve many who look for a name each.
 *
 * Source: Documentation/filesystems/proc.rst (comm).
 */
#ifndef HEADROOM_COLLECTORS_PROCESS_NAMES_H
#define HEADROOM_COLLECTORS_PROCESS_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "headroom/process.h"

/** A process's name is its first thread's. */
struct hr_process_named {
    pid_t pid;
    char name[HR_PROCESS_NAME_SIZE];
};

/** Sorted by name, then by PID. All zeros: never read. */
struct hr_process_names {
    struct hr_process_named *items;
    size_t count, capacity;
    uint64_t read_ns; /**< when reading them began, of hr_clock_ns(); 0: there is nothing now */
};

/**
 * Reads them from /proc, unless they were read recently enough.
 *
 * @param since_ns  names that were read after this time, of hr_clock_ns(), are recent enough.
 * @return 0; -ENOMEM; or the negative errno of open(2) and read(2). On failure there are none.
 */
int hr_process_names_read(struct hr_process_names *names, const struct hr_root *root,
                          uint64_t since_ns);

/**
 * Finds those with a name, of which the first 15 bytes count.
 *
 * @param count  receives their number.
 * @return the first, which the others follow in the order of their PIDs.
 */
const struct hr_process_named *hr_process_names_find(const struct hr_process_names *names,
                                                     const char *name, size_t *count);

/** Frees what was read. */
void hr_process_names_free(struct hr_process_names *names);

/**
 * Opens references to the processes with a name, as hr_process_list_find() does.
 *
 * @param names  read before. A process that has changed its name since is left out; one that has
 *               taken the name since isn't found.
 * @param known  a list whose processes are left out, too; NULL: none.
 */
int hr_process_list_find_named(const struct hr_root *root, const struct hr_process_names *names,
                               const char *name, const struct hr_process_list *known,
                               struct hr_process_list *list);

#endif
