/*
 * wss_wait.h - waiting within a measurement: until a time, a signal, or the end of who reads our
 * output; with a word on the terminal of how far it is.
 */
#ifndef HEADROOM_WSS_WAIT_H
#define HEADROOM_WSS_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/** Nanoseconds of CLOCK_MONOTONIC. */
uint64_t wss_now_ns(void);

/**
 * From here on SIGINT, SIGTERM and SIGHUP come through only in wss_wait(), so that none of them
 * ends the process while the kernel isn't as it was found; nor does SIGPIPE.
 */
void wss_hold_signals(void);

/** @return the signal that came; 0: none. */
int wss_signal(void);

/** Ends the process by a signal. */
void wss_die_of(int number);

struct wss_wait {
    uint64_t from_ns, until_ns; /**< the times of wss_now_ns() that it is about */
    const char *what;           /**< what goes on, for the terminal: "" or "pause, " */
    /** Asked about once a second; false ends the waiting. May be NULL. */
    bool (*goes_on)(void *context);
    void *context;
};

/**
 * Waits.
 *
 * @return 0: the time has come; -EINTR: a signal came, see wss_signal(); -EPIPE: nobody reads
 *         standard output any more; -ESRCH: goes_on() says no; or another negative errno.
 */
int wss_wait(const struct wss_wait *wait);

#endif
