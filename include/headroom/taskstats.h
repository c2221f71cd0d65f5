/* SPDX-License-Identifier: MIT */
/*
 * headroom/taskstats.h - how long tasks have waited, by cause: the kernel's delay accounting, read
 * by generic netlink.
 *
 * Sources: Documentation/accounting/taskstats.rst, delay-accounting.rst and taskstats-struct.rst,
 * include/uapi/linux/taskstats.h, kernel/taskstats.c, kernel/delayacct.c.
 *
 * The kernel accounts a wait at its end: the delays of a task that has been waiting for an hour
 * don't include that hour yet. PIDs are those of this process's PID namespace.
 *
 * An object may be used by one thread at a time. No call blocks: the kernel has replied by the time
 * that sending a request returns.
 */
#ifndef HEADROOM_TASKSTATS_H
#define HEADROOM_TASKSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** The cause of a delay. */
enum hr_delay {
    HR_DELAY_CPU,       /**< runnable, but not running; always accounted */
    HR_DELAY_BLKIO,     /**< synchronous block I/O; this and the rest: for tasks started while
                             kernel.task_delayacct was 1 */
    HR_DELAY_SWAPIN,    /**< swapping in */
    HR_DELAY_FREEPAGES, /**< direct reclaim */
    HR_DELAY_THRASHING, /**< reading page cache that was recently evicted; Linux 4.20 */
    HR_DELAY_COMPACT,   /**< direct compaction; Linux 5.17 */
    HR_DELAY_WPCOPY,    /**< copy on write; Linux 6.0 */
    HR_DELAY_IRQ,       /**< interrupts took the CPU; Linux 6.5 with CONFIG_IRQ_TIME_ACCOUNTING */
    HR_DELAY_COUNT
};

/** The delays of a task, or of all tasks of a process, since its start. */
struct hr_task_delays {
    unsigned known;              /**< bit 1 << enum hr_delay: the kernel's reply has it */
    uint64_t ns[HR_DELAY_COUNT]; /**< 0 where unknown */
    uint64_t elapsed_us;         /**< since the thread's start; 0 for a process, or if unknown */
};

/** The calls on the netlink socket, which tests replace. */
struct hr_taskstats_calls {
    /** @return 0 or a negative errno. */
    int (*open)(void *context);
    /** Sends netlink messages to the kernel. @return 0 or a negative errno. */
    int (*send)(void *context, const void *messages, size_t length);
    /** Receives a datagram without blocking. @return its length; -EAGAIN: there is none; -ENOBUFS:
     * replies were lost; or another negative errno. */
    ssize_t (*receive)(void *context, void *buffer, size_t size);
    void (*close)(void *context);
    void *context;
};

/** An open connection to the kernel's taskstats. */
struct hr_taskstats;

/**
 * Connects to the kernel.
 *
 * @param calls      copied; NULL: a real socket.
 * @param taskstats  receives the connection; the caller closes it with hr_taskstats_close().
 * @return 0; -ENOENT: the kernel has no taskstats (CONFIG_TASKSTATS), or, if it is old, none in
 *         this network namespace; -EPERM: CAP_NET_ADMIN is missing; -EMFILE, -ENFILE, -ENOMEM;
 *         -EBADMSG: the kernel's reply is not understood.
 */
int hr_taskstats_open(const struct hr_taskstats_calls *calls, struct hr_taskstats **taskstats);

/** Closes a connection. NULL is allowed. */
void hr_taskstats_close(struct hr_taskstats *taskstats);

/**
 * Reads the delays of a process: the sum over its threads, including those that have ended.
 *
 * @return 0; -ESRCH: there is no such process; -EPERM; -EAGAIN or -ENOBUFS: the reply
 *         was lost, the connection can be used again; -EBADMSG; -ENOMEM.
 */
int hr_taskstats_read_process(struct hr_taskstats *taskstats, pid_t pid,
                              struct hr_task_delays *delays);

/** Reads the delays of one thread, such as the first thread of a process. */
int hr_taskstats_read_thread(struct hr_taskstats *taskstats, pid_t tid,
                             struct hr_task_delays *delays);

/** The largest number of queries in a batch: their replies fit any socket's queue. */
#define HR_TASKSTATS_BATCH 16

/** One of several processes or threads to read. */
struct hr_taskstats_query {
    pid_t id;
    bool is_thread;               /**< rather than a process */
    int status;                   /**< receives what reading this alone would return */
    struct hr_task_delays delays; /**< receives its delays; untouched on failure */
};

/**
 * Reads the delays of several processes and threads, in half the time of one by one.
 *
 * @return 0; or a negative errno of the connection, which leaves the statuses undefined; -EINVAL:
 *         more than HR_TASKSTATS_BATCH.
 */
int hr_taskstats_read_batch(struct hr_taskstats *taskstats, struct hr_taskstats_query *queries,
                            size_t count);

#endif
