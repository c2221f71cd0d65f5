/* SPDX-License-Identifier: MIT */
/*
 * common/waiting.h - waiting within a measurement: until a time, a signal, or the end of who reads
 * our output; with a word on the terminal of how far it is.
 */
#ifndef HEADROOM_COMMAND_COMMON_WAITING_H
#define HEADROOM_COMMAND_COMMON_WAITING_H

#include <stdbool.h>
#include <stdint.h>

/**
 * From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT come through only in waiting_wait(), so that
 * none of them ends the process while the kernel isn't as it was found; nor does SIGPIPE.
 */
void waiting_hold_signals(void);

/** @return the signal that came; 0: none. */
int waiting_signal(void);

/** Ends the process by a signal. */
void waiting_end_by_signal(int number);

struct waiting {
    uint64_t from_ns, until_ns; /**< the times of hr_clock_ns() that it is about */
    const char *what;           /**< what goes on, for the terminal: "" or "pause, " */
    bool has_fd;                /**< the waiting also ends once `fd`, if not -1, can be read */
    int fd;
    /** Asked about once a second; false ends the waiting. May be NULL. */
    bool (*should_continue)(void *context);
    void *context;
};

/**
 * Waits.
 *
 * @return 0: the time has come, or what is watched can be read; -EINTR: a signal came, see
 *         waiting_signal(); -EPIPE: nobody reads standard output any more; -ESRCH:
 * should_continue() says no; or another negative errno.
 */
int waiting_wait(const struct waiting *wait);

#endif
