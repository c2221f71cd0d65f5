/*
 * taskstats.h - how long tasks have waited, by what they waited for: the kernel's delay accounting,
 * asked for by generic netlink.
 *
 * Sources: Documentation/accounting/taskstats.rst, delay-accounting.rst and taskstats-struct.rst,
 * include/uapi/linux/taskstats.h, kernel/taskstats.c, kernel/delayacct.c.
 *
 * The kernel adds a wait up when it is over: who has been waiting since an hour has not waited yet.
 * Tasks are numbered as in the pid namespace of this process.
 *
 * The objects here are used by one thread at a time. No call waits: the kernel has answered by the
 * time a request is sent.
 */
#ifndef HEADROOM_TASKSTATS_H
#define HEADROOM_TASKSTATS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** What a task waits for. */
enum hr_delay {
    HR_DELAY_CPU,       /**< runnable, but not running; always accounted */
    HR_DELAY_BLKIO,     /**< synchronous block I/O; this and the rest: of tasks that began while
                             kernel.task_delayacct was 1 */
    HR_DELAY_SWAPIN,    /**< swapping in */
    HR_DELAY_FREEPAGES, /**< direct reclaim */
    HR_DELAY_THRASHING, /**< pages of the page cache that were evicted a moment ago; 4.20 */
    HR_DELAY_COMPACT,   /**< direct compaction; Linux 5.17 */
    HR_DELAY_WPCOPY,    /**< copying on write; Linux 6.0 */
    HR_DELAY_IRQ,       /**< interrupts took the CPU; Linux 6.5 with CONFIG_IRQ_TIME_ACCOUNTING */
    HR_DELAY_COUNT
};

/** What was accounted of a task, or of all tasks of a process, since it began. */
struct hr_task_delays {
    unsigned known;              /**< bit 1 << enum hr_delay: the kernel's reply has it */
    uint64_t ns[HR_DELAY_COUNT]; /**< waited, in nanoseconds; 0 where it isn't known */
    uint64_t elapsed_us;         /**< since the thread began; 0 of a process, or if not known */
};

/** The netlink socket, as functions, so that a test can answer in the kernel's place. */
struct hr_taskstats_calls {
    /** @return 0 or a negative errno. */
    int (*open)(void *context);
    /** Sends netlink messages to the kernel. @return 0 or a negative errno. */
    int (*send)(void *context, const void *messages, size_t length);
    /** Receives a datagram, without waiting. @return its length; -EAGAIN: there is none; -ENOBUFS:
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
 * @param taskstats  receives the connection; the caller ends it with hr_taskstats_close().
 * @return 0; -ENOENT: the kernel has no taskstats (CONFIG_TASKSTATS), or, an old one, none in this
 *         network namespace; -EPERM: CAP_NET_ADMIN is missing; -EMFILE, -ENFILE, -ENOMEM;
 *         -EBADMSG: the kernel's reply is not understood.
 */
int hr_taskstats_open(const struct hr_taskstats_calls *calls, struct hr_taskstats **taskstats);

/** Ends a connection. NULL is allowed. */
void hr_taskstats_close(struct hr_taskstats *taskstats);

/**
 * Asks for a process: the sum over its threads, those that have ended included.
 *
 * @return 0; -ESRCH: there is no such process (any more); -EPERM; -EAGAIN or -ENOBUFS: the reply
 *         was lost, the connection can be used again; -EBADMSG; -ENOMEM.
 */
int hr_taskstats_read_process(struct hr_taskstats *taskstats, pid_t pid,
                              struct hr_task_delays *delays);

/** Likewise for one thread, or the first thread of a process. */
int hr_taskstats_read_thread(struct hr_taskstats *taskstats, pid_t tid,
                             struct hr_task_delays *delays);

#endif
