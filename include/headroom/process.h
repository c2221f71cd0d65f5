/*
 * process.h - processes of the running system, held so that they can't be mistaken for others.
 *
 * A process is held by its directory in /proc: once that is open it stands for this process only,
 * whoever is given its number later. Where descriptors are short (see descriptor.h) it is opened
 * anew each time, and the time at which the process was started tells whether it is still the same.
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

/** Room for a name of the kernel's, which has 15 bytes at most, and its end. */
#define HR_PROCESS_NAME_SIZE 16

/** Which processes are meant. */
enum hr_process_by {
    HR_PROCESS_BY_PID,  /**< one, by its number */
    HR_PROCESS_BY_FILE, /**< one, by the number that a file begins with; looked up each time */
    HR_PROCESS_BY_NAME, /**< all whose name (/proc/PID/comm) is this */
};

struct hr_process_choice {
    enum hr_process_by by;
    pid_t pid;        /**< BY_PID */
    const char *text; /**< BY_FILE: a path below the root; BY_NAME: the name. Of a name longer than
                           the kernel keeps, its first 15 bytes count, as with pgrep(1) */
};

/** A process that is held. */
struct hr_process {
    const struct hr_root *root; /**< beneath which its /proc is */
    pid_t pid;
    uint64_t started_ticks;          /**< after the machine's start; see proc(5), stat, field 22 */
    char name[HR_PROCESS_NAME_SIZE]; /**< as it was when it was found */
    int dirfd; /**< its directory, kept open; -1 where descriptors are short */
};

/** Processes that are held. All zeros is an empty list. */
struct hr_process_list {
    struct hr_process *items;
    size_t count, capacity;
    /** What else was found, and left out. */
    size_t ended;          /**< ended while they were looked for */
    size_t zombies;        /**< have ended, and wait for their parent; no memory */
    size_t kernel_threads; /**< threads of the kernel, which have no memory of their own */
    size_t denied;         /**< no permission even to look */
};

/**
 * Holds a process.
 *
 * @param root     must outlive it.
 * @param process  receives it; the caller ends it with hr_process_close().
 * @return 0; -ESRCH: there is none of that number; -ECHILD: it is a zombie; -ENXIO: it is a thread
 *         of the kernel; -EACCES or -EPERM; -EBADMSG: its stat file isn't understood; -EMFILE, …
 */
int hr_process_open(const struct hr_root *root, pid_t pid, struct hr_process *process);

/** Lets a process go. */
void hr_process_close(struct hr_process *process);

/**
 * Holds the processes that are meant, in the order of their numbers.
 *
 * @param list  what it held before is let go.
 * @return 0, with at least one; -ESRCH: there is none, or the number of BY_PID and BY_FILE is none
 *         of a process; -ENOENT: there is no such file; -EBADMSG: the file doesn't begin with a
 *         number; -ECHILD, -ENXIO or -EACCES if all that are meant are so, see
 *         hr_process_open(); -ENOMEM, -EMFILE, … The list then has no items, but tells what was
 *         left out.
 */
int hr_process_list_find(const struct hr_root *root, const struct hr_process_choice *choice,
                         struct hr_process_list *list);

/**
 * Holds all processes of a cgroup and of those below it.
 *
 * @param dirfd  the cgroup's directory.
 * @return as hr_process_list_find(); -ENODEV: the cgroup was removed; -EOPNOTSUPP: it is threaded,
 *         and has threads of processes that belong to a group above.
 */
int hr_process_list_find_in_cgroup(const struct hr_root *root, int dirfd,
                                   struct hr_process_list *list);

/** Lets all go and forgets what was left out, but keeps the list's memory. */
void hr_process_list_release(struct hr_process_list *list);

/** Lets all go, and frees the list's memory. */
void hr_process_list_free(struct hr_process_list *list);

/**
 * Tells how much memory of a process is resident. It takes no time, however large the process is,
 * and is off by some dozen pages (see proc(5), statm).
 *
 * @return 0, -ESRCH: it has ended; -EBADMSG, …
 */
int hr_process_read_rss(const struct hr_process *process, uint64_t *rss_bytes);

/**
 * Tells in which group of cgroup2 a process is.
 *
 * Source: /proc/PID/cgroup, see Documentation/admin-guide/cgroup-v2.rst ("Processes"). The path is
 * told as seen by the caller's cgroup namespace.
 *
 * @param path  receives its path below the mount, without a leading slash ("" is the top), as in
 *              hr_cgroup.path.
 * @param size  of the buffer.
 * @return 0; -ESRCH: it has ended; -ENOENT: it is in none, or in one outside of the namespace;
 *         -ENAMETOOLONG; -EBADMSG; -EACCES, …
 */
int hr_process_read_cgroup(const struct hr_process *process, char *path, size_t size);

/**
 * Opens a file of a process.
 *
 * @param name   in its directory, such as "smaps_rollup".
 * @param flags  those of open(2); O_CLOEXEC is added.
 * @return a descriptor that the caller closes; -ESRCH: the process has ended; -ENOENT: the kernel
 *         has no such file; -EACCES, …. Whoever reads from it gets ESRCH, or an empty file, when
 * the process ends.
 */
int hr_process_openat(const struct hr_process *process, const char *name, int flags);

#endif
