/* SPDX-License-Identifier: MIT */
/*
 * support/fake_taskstats.h - replies in the kernel's place to what is asked of taskstats, about
 * tasks that a test makes up. The messages are put together by hand, without the library that the
 * collector uses.
 */
#ifndef HEADROOM_TESTS_SUPPORT_FAKE_TASKSTATS_H
#define HEADROOM_TESTS_SUPPORT_FAKE_TASKSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "headroom/taskstats.h"

/* The number that taskstats has with the fake kernel. */
#define FAKE_FAMILY 29

/* The kernel's struct taskstats since version 16. Earlier ones, but 15, are the beginning of it. */
struct fake_stats {
    uint16_t version;
    uint32_t exit_code;
    uint8_t flag, nice;
    _Alignas(8) uint64_t cpu_count;
    uint64_t cpu_total, blkio_count, blkio_total, swapin_count, swapin_total;
    uint64_t run_real_total, run_virtual_total;
    char comm[32];
    _Alignas(8) uint8_t sched;
    uint8_t pad[3];
    _Alignas(8) uint32_t uid;
    uint32_t gid, pid, ppid, btime;
    _Alignas(8) uint64_t etime;
    uint64_t utime, stime, minflt, majflt;
    uint64_t coremem, virtmem, hiwater_rss, hiwater_vm;
    uint64_t read_char, write_char, read_syscalls, write_syscalls;
    uint64_t read_bytes, write_bytes, cancelled_write_bytes;
    uint64_t nvcsw, nivcsw;
    uint64_t utimescaled, stimescaled, scaled_run_real_total;
    uint64_t freepages_count, freepages_total; /* version 8 ends here */
    uint64_t thrashing_count, thrashing_total; /* 9 */
    uint64_t btime64;                          /* 10 */
    uint64_t compact_count, compact_total;     /* 11 */
    uint32_t tgid;
    _Alignas(8) uint64_t tgetime;
    uint64_t exe_dev, exe_inode;              /* 12 */
    uint64_t wpcopy_count, wpcopy_total;      /* 13 */
    uint64_t irq_count, irq_total;            /* 14 */
    uint64_t max_and_min[2 * HR_DELAY_COUNT]; /* 16 */
};

/* And that of version 15. */
struct fake_stats_15 {
    uint16_t version;
    uint32_t exit_code;
    uint8_t flag, nice;
    _Alignas(8) uint64_t cpu_count;
    uint64_t cpu_total, cpu_max, cpu_min;
    uint64_t blkio_count, blkio_total, blkio_max, blkio_min;
    uint64_t swapin_count, swapin_total, swapin_max, swapin_min;
    uint64_t run_real_total, run_virtual_total;
    char comm[32];
    _Alignas(8) uint8_t sched;
    uint8_t pad[3];
    _Alignas(8) uint32_t uid;
    uint32_t gid, pid, ppid, btime;
    _Alignas(8) uint64_t etime;
    uint64_t utime, stime, minflt, majflt;
    uint64_t coremem, virtmem, hiwater_rss, hiwater_vm;
    uint64_t read_char, write_char, read_syscalls, write_syscalls;
    uint64_t read_bytes, write_bytes, cancelled_write_bytes;
    uint64_t nvcsw, nivcsw;
    uint64_t utimescaled, stimescaled, scaled_run_real_total;
    uint64_t freepages_count, freepages_total, freepages_max, freepages_min;
    uint64_t thrashing_count, thrashing_total, thrashing_max, thrashing_min;
    uint64_t btime64;
    uint64_t compact_count, compact_total, compact_max, compact_min;
    uint32_t tgid;
    _Alignas(8) uint64_t tgetime;
    uint64_t exe_dev, exe_inode;
    uint64_t wpcopy_count, wpcopy_total, wpcopy_max, wpcopy_min;
    uint64_t irq_count, irq_total, irq_max, irq_min;
};

/* How the next requests fail. */
enum fake_trouble {
    FAKE_NONE,
    FAKE_LOST,         /* no reply: the socket reports an overrun */
    FAKE_OVERRUN,      /* the socket reports an overrun, then has the reply */
    FAKE_SILENT,       /* no reply, and no error */
    FAKE_STALE_FIRST,  /* a reply to the request before, of another total, comes before it */
    FAKE_STALE_ONLY,   /* and alone */
    FAKE_TWO_MESSAGES, /* both in one datagram */
    FAKE_OTHER_PID,    /* a reply about the next task */
    FAKE_OTHER_FAMILY, /* a reply of another family than taskstats */
};

struct fake_taskstats {
    uint16_t version; /* of the kernel's struct; 16 at first */
    size_t size;      /* its length in a reply; all of it at first */
    enum fake_trouble trouble;
    int family_error;  /* the reply to a request for the family's number, or 0 */
    int error;         /* the reply to any other request, or 0 */
    int open_error;    /* or 0 */
    ssize_t cut;       /* bytes taken from a reply's end, off the datagram; 0 at first */
    size_t bad_offset; /* a byte of a reply that is replaced, or 0 */
    uint8_t bad_byte;  /* by this */
    unsigned requests; /* about tasks, so far */
    uint32_t sequence; /* of the last request */
    bool is_open;
    struct fake_reply *first; /* to be received */
    struct fake_task *tasks;
};

/* Makes one that knows this process, as any kernel does. */
struct fake_taskstats *fake_taskstats_new(void);
void fake_taskstats_free(struct fake_taskstats *fake);

/* The calls for the collector. */
struct hr_taskstats_calls fake_taskstats_calls(struct fake_taskstats *fake);

/* Sets the numbers of a process or of a thread; NULL: it doesn't exist. */
void fake_taskstats_set_process(struct fake_taskstats *fake, pid_t pid,
                                const struct hr_task_delays *delays);
void fake_taskstats_set_thread(struct fake_taskstats *fake, pid_t tid,
                               const struct hr_task_delays *delays);

/* The bytes of a reply to such a request, as if it were received. @return its length. */
size_t fake_taskstats_reply(struct fake_taskstats *fake, uint32_t sequence, bool of_process,
                            pid_t pid, void *buffer, size_t size);

#endif
