/* SPDX-License-Identifier: MIT */
/*
 * common/waiting.h - waiting within a measurement until a time, a signal, or until the reader of
 * our output is gone, with a progress line on the terminal.
 */
#ifndef HEADROOM_COMMAND_COMMON_WAITING_H
#define HEADROOM_COMMAND_COMMON_WAITING_H

#include <stdbool.h>
#include <stdint.h>

/**
 * From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT are handled only in waiting_wait(), so that none
 * ends the process while settings of the kernel are changed; SIGPIPE is ignored.
 */
void waiting_hold_signals(void);

/** @return the signal that arrived; 0: none. */
int waiting_signal(void);

/** Ends the process by a signal, whose action becomes the default one. */
void waiting_end_by_signal(int number);

struct waiting {
    uint64_t from_ns, until_ns; /**< times of hr_clock_ns() */
    const char *what;           /**< the progress line begins with it: "" or "pause, " */
    /** Called about once a second; false ends the waiting. May be NULL. */
    bool (*should_continue)(void *context);
    int input; /**< where it has an on_input: a descriptor */
    /** Called when the descriptor has something to read, and after signals that don't end anything,
     * such as SIGWINCH; false ends the waiting. May be NULL. */
    bool (*on_input)(void *context);
    void *context;
};

/**
 * Waits.
 *
 * @return 0: it is `until_ns`; -EINTR: a signal, see waiting_signal(); -EPIPE: the reader of
 *         standard output is gone; -ESRCH: should_continue() returned false; -ECANCELED: on_input()
 *         did; or another negative errno.
 */
int waiting_wait(const struct waiting *wait);

#endif
