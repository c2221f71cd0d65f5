/* SPDX-License-Identifier: MIT */
/*
 * bench/wakings.h - when the kernel woke a thread of this process, and which task caused it: the
 * tracepoint sched:sched_waking, read through perf events.
 */
#ifndef HEADROOM_TESTS_WAKINGS_H
#define HEADROOM_TESTS_WAKINGS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct waking {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    pid_t waker, woken;
};

struct wakings;

/* Records the wakings of all threads whose name is one of two. Enters a mount namespace of its own,
 * to mount tracefs in, so it must be called before threads are started. @return NULL, errno set, if
 * that's not possible. */
struct wakings *wakings_open(const char *name, const char *other_name);

/* Copies the records from the ring buffers; to be called several times a second. */
void wakings_read(struct wakings *wakings);

/* The last waking of a thread by another (0: by any) until a moment; NULL: none. */
const struct waking *wakings_find(const struct wakings *wakings, pid_t woken, pid_t waker,
                                  uint64_t until_ns);

void wakings_close(struct wakings *wakings);

#endif
