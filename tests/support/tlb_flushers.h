/* SPDX-License-Identifier: MIT */
/*
 * support/tlb_flushers.h - keeps pages from staying in the TLB.
 *
 * The kernel clears accessed bits without flushing the TLB, and a page that is in there gets no new
 * one. That of an emulated CPU has room for hundreds of MiB, and is flushed only when another
 * process runs there. So one does, on each CPU, every few milliseconds.
 */
#ifndef HEADROOM_TESTS_SUPPORT_TLB_FLUSHERS_H
#define HEADROOM_TESTS_SUPPORT_TLB_FLUSHERS_H

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/** Starts the processes; they end with the caller. */
static inline void start_tlb_flushers(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    for (int cpu = 0; cpu < count && cpu < CPU_SETSIZE; cpu++) {
        if (fork() != 0)
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sched_setaffinity(0, sizeof(one), &one);
        for (;;)
            usleep(5000);
    }
}

#endif
