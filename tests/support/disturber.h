/* SPDX-License-Identifier: MIT */
/*
 * support/disturber.h - a process that takes a CPU for a given time, over and over, and knows for
 * how long.
 */
#ifndef HEADROOM_TESTS_SUPPORT_DISTURBER_H
#define HEADROOM_TESTS_SUPPORT_DISTURBER_H

#include <stdint.h>
#include <sys/types.h>

/** Its name in the kernel. */
#define DISTURBER "disturber"

struct disturber_counts {
    uint64_t cpu_ns;  /**< CPU time that it has had, by its own clock, as of its last spin's end */
    uint64_t wall_ns; /**< how long its spins took; more than that if an emulated CPU stood still */
    uint64_t spin_count;
};

struct disturber {
    pid_t pid;
    struct disturber_counts *shared; /**< with the process; see disturber_read() */
};

/**
 * Starts it, and waits for its first spin. Each takes so much of the CPU in one go: it has a
 * real-time priority. Whatever goes wrong ends the program with a message; the process ends with
 * its parent.
 */
struct disturber disturber_start(unsigned cpu, uint64_t spin_us, uint64_t period_us);

struct disturber_counts disturber_read(const struct disturber *disturber);

/** What it has done since. */
struct disturber_counts disturber_since(const struct disturber *disturber,
                                        const struct disturber_counts *before);

/** Ends it; one of all zeros is allowed. */
void disturber_end(struct disturber *disturber);

#endif
