/* SPDX-License-Identifier: MIT */
/*
 * headroom/process.h - references to running processes that stay valid when a PID is reused.
 *
 * A process is referenced by its directory in /proc, kept open: the descriptor never refers to
 * another process that gets the same PID later. Where descriptors are short (see base/descriptor.h)
 * the directory is opened each time, and the start time shows whether it is still the same process.
 *
 * Sources: Documentation/filesystems/proc.rst (stat, statm, comm), fs/proc/base.c,
 * include/linux/sched.h (PF_KTHREAD).
 */
#ifndef HEADROOM_PROCESS_H
#define HEADROOM_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hr_root;

/** Size of a buffer for a task's name, which has 15 bytes at most. */
#define HR_PROCESS_NAME_SIZE 16

/** How processes are selected. */
enum hr_process_by {
    HR_PROCESS_BY_PID,  /**< one, by its PID */
    HR_PROCESS_BY_FILE, /**< one, by the PID that a file begins with; read each time */
    HR_PROCESS_BY_NAME, /**< all with this name (/proc/PID/comm) */
};

struct hr_process_choice {
    enum hr_process_by by;
    pid_t pid;        /**< BY_PID */
    const char *text; /**< BY_FILE: a path below the root; BY_NAME: the name, of which the first 15
                           bytes count, as the kernel keeps no more (as with pgrep(1)) */
};

/** A reference to a process. */
struct hr_process {
    const struct hr_root *root; /**< has its /proc */
    pid_t pid;
    pid_t
        tid; /**< the thread whose files are read: the first one, or one that lives if that ended */
    uint64_t started_ticks;          /**< since boot; see proc(5), stat, field 22 */
    char name[HR_PROCESS_NAME_SIZE]; /**< when it was found */
    int dirfd; /**< its directory, kept open; -1 where descriptors are short */
};

/** References to processes. All zeros is an empty list. */
struct hr_process_list {
    struct hr_process *items;
    size_t count, capacity;
    /** Found, but left out. */
    size_t ended;          /**< ended meanwhile */
    size_t zombies;        /**< have ended, but not been reaped; they have no memory */
    size_t kernel_threads; /**< have no memory of their own */
    size_t denied;         /**< no permission to look at them */
};

/**
 * Opens a reference to a process.
 *
 * @param root     must outlive it.
 * @param process  receives it; the caller closes it with hr_process_close().
 * @return 0; -ESRCH: there is no such process; -ECHILD: it is a zombie; -ENXIO: it is a kernel
 *         thread; -EACCES or -EPERM; -EBADMSG: its stat file isn't understood; -EMFILE, …
 */
int hr_process_open(const struct hr_root *root, pid_t pid, struct hr_process *process);

/** Closes a reference to a process. */
void hr_process_close(struct hr_process *process);

/**
 * Opens references to the selected processes, in the order of their PIDs.
 *
 * @param list  its former items are closed.
 * @return 0, with at least one; -ESRCH: there is none (BY_PID and BY_FILE: no process has that
 *         PID); -ENOENT: there is no such file; -EBADMSG: the file doesn't begin with a number;
 *         -ECHILD, -ENXIO or -EACCES if that is true of all selected ones, see hr_process_open();
 *         -ENOMEM, -EMFILE, … On failure the list has no items, but still counts what was left out.
 */
int hr_process_list_find(const struct hr_root *root, const struct hr_process_choice *choice,
                         struct hr_process_list *list);

/**
 * Opens references to all processes of a cgroup and of those below it.
 *
 * @param dirfd  the cgroup's directory.
 * @return as hr_process_list_find(); -ENODEV: the cgroup was removed; -EOPNOTSUPP: it is threaded:
 *         its threads belong to processes of a group above.
 */
int hr_process_list_find_in_cgroup(const struct hr_root *root, int dirfd,
                                   struct hr_process_list *list);

/**
 * The same, but for the processes whose PIDs aren't in another list.
 *
 * @param known  as one of these functions returned it; NULL: none.
 * @return as hr_process_list_find(): -ESRCH if there are no others.
 */
int hr_process_list_find_others_in_cgroup(const struct hr_root *root, int dirfd,
                                          const struct hr_process_list *known,
                                          struct hr_process_list *list);

/** Closes all items and resets the counts, but keeps the list's memory. */
void hr_process_list_release(struct hr_process_list *list);

/** Closes all items, and frees the list's memory. */
void hr_process_list_free(struct hr_process_list *list);

/** Resident memory of a process. */
struct hr_process_resident {
    uint64_t bytes; /**< all */
    uint64_t
        shareable_bytes; /**< of it, what other processes may have, too: files and shared memory */
};

/**
 * Reads the resident memory of a process: at once, however large the process is, but inaccurate by
 * some dozen pages (see proc(5), statm).
 *
 * @return 0, -ESRCH: it has ended; -EBADMSG, …
 */
int hr_process_read_resident(const struct hr_process *process,
                             struct hr_process_resident *resident);

/** The same, all of it. */
int hr_process_read_rss(const struct hr_process *process, uint64_t *rss_bytes);

/**
 * Reads the path of the cgroup2 group that a process is in.
 *
 * Source: /proc/PID/cgroup, see Documentation/admin-guide/cgroup-v2.rst ("Processes"). The path is
 * that of the caller's cgroup namespace.
 *
 * @param path  receives the path below the mount, without a leading slash ("" is the top), as in
 *              hr_cgroup.path.
 * @param size  of the buffer.
 * @return 0; -ESRCH: it has ended; -ENOENT: it is in none, or in one outside the namespace, whose
 *         path from its top, "../…", is received; -ENAMETOOLONG; -EBADMSG; -EACCES, …
 */
int hr_process_read_cgroup(const struct hr_process *process, char *path, size_t size);

/**
 * Opens a file of a process.
 *
 * @param name   in its directory, such as "smaps_rollup".
 * @param flags  as for open(2); O_CLOEXEC is added.
 * @return a descriptor that the caller closes; -ESRCH: the process has ended; -ENOENT: the kernel
 *         has no such file; -EACCES, …. Reading gives ESRCH, or an empty file, after the process
 *         has ended.
 */
int hr_process_openat(const struct hr_process *process, const char *name, int flags);

#endif
