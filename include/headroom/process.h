/*
 * process.h - processes of the running system, held so that they can't be mistaken for others.
 *
 * A process is held by its directory in /proc. When it ends, every file in there gives ESRCH, even
 * if its number is given to another one by then.
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
    pid_t pid;
    char name[HR_PROCESS_NAME_SIZE]; /**< as it was when it was opened */
    int dirfd;                       /**< its directory in /proc */
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
    size_t short_of;       /**< file descriptors ran out */
};

/**
 * Holds a process.
 *
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
 *         number; as hr_process_open() where only one is meant; -ECHILD, -ENXIO, -EACCES or -EMFILE
 *         if all that are meant are so; -ENOMEM, … The list then has no items, but tells what was
 *         left out.
 */
int hr_process_list_find(const struct hr_root *root, const struct hr_process_choice *choice,
                         struct hr_process_list *list);

/**
 * Holds all processes of a cgroup and of those below it.
 *
 * @param dirfd  the cgroup's directory.
 * @return as hr_process_list_find(); -ENODEV: the cgroup was removed.
 */
int hr_process_list_find_in_cgroup(const struct hr_root *root, int dirfd,
                                   struct hr_process_list *list);

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
 * Reads a file of a process, as hr_text_read() does.
 *
 * @param name  such as "smaps_rollup".
 * @return 0; -ESRCH: it has ended; -ENOENT: the kernel has no such file; -EACCES, …; -EBADMSG: it
 *         doesn't fit.
 */
int hr_process_read_file(const struct hr_process *process, const char *name, char *buffer,
                         size_t size, size_t *length);

#endif
