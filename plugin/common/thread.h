/* SPDX-License-Identifier: MIT */
/*
 * common/thread.h - a plugin's own thread, which an eventfd wakes, and asks to end.
 *
 * Life: thread_init(), thread_open(), whatever the thread needs, thread_start(), thread_stop(). The
 * thread waits by thread_wait_until(), and returns once that says so; or for its wake_fd in an
 * epoll set of its own, and then calls thread_goes_on().
 */
#ifndef HEADROOM_PLUGIN_COMMON_THREAD_H
#define HEADROOM_PLUGIN_COMMON_THREAD_H

#include "collectd.h"

#include "plugin.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/** A thread, started or not. */
struct thread {
    pthread_t id;
    bool is_running;
    _Atomic bool must_end;
    int wake_fd; /**< an eventfd, readable after thread_wake() and thread_stop(); -1: not open */
};

/** Sets a thread to one that isn't open; thread_stop() may then be called. */
void thread_init(struct thread *thread);

/** Opens wake_fd. @return 0 or a negative errno. */
int thread_open(struct thread *thread);

/**
 * Starts the thread, by collectd's plugin_thread_create().
 *
 * @param thread   open; must outlive the thread.
 * @param context  what thread_main gets.
 * @param name     as in ps -L and the like.
 * @return 0 or a negative errno.
 */
int thread_start(struct thread *thread, void *(*thread_main)(void *), void *context,
                 const char *name);

/** Wakes the thread, from any other. */
void thread_wake(const struct thread *thread);

/** Resets wake_fd, in the thread. @return false if the thread must end. */
bool thread_goes_on(const struct thread *thread);

/**
 * Waits, in the thread, until a time, until a descriptor is readable, until the thread is woken, or
 * must end.
 *
 * @param until_ns  of hr_clock_ns(); UINT64_MAX: without a limit.
 * @param fd        -1: there is none.
 * @return false if the thread must end.
 */
bool thread_wait_until(const struct thread *thread, uint64_t until_ns, int fd);

/**
 * Asks the thread to end, and waits for it no longer than some seconds.
 *
 * @return whether it has ended, and wake_fd is closed, as by thread_stop(). If not, all that the
 *         thread uses must be left to it.
 */
bool thread_stop_within(struct thread *thread, unsigned seconds);

/** Ends the thread and waits for it, if it was started, and closes wake_fd, if it was opened. */
void thread_stop(struct thread *thread);

#endif
