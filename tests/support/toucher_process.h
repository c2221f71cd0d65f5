/* SPDX-License-Identifier: MIT */
/*
 * support/toucher_process.h - runs tests/support/toucher.c, a process with a known working set.
 */
#ifndef HEADROOM_TESTS_SUPPORT_TOUCHER_PROCESS_H
#define HEADROOM_TESTS_SUPPORT_TOUCHER_PROCESS_H

#include <sys/types.h>

#define TOUCHER_MIB ((double)(1 << 20))

struct toucher {
    pid_t pid; /**< 0: this machine can't do it, see tests/support/toucher.c */
    int input; /**< closing it ends the process */
};

/**
 * Starts one, and waits until it has touched all its memory and begins to touch its working set.
 * Whatever goes wrong ends the program with a message.
 *
 * @param procs_fd  the cgroup.procs of the group in which it runs; -1: in ours.
 * @param kind, hold_mib, touch_mib, file  its arguments; file may be NULL.
 */
struct toucher toucher_start(int procs_fd, const char *kind, int hold_mib, int touch_mib,
                             const char *file);

/** Ends it, and waits until it has ended. */
void toucher_end(struct toucher *toucher);

#endif
