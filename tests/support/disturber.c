/* SPDX-License-Identifier: MIT */
#include "support/disturber.h"

#include <err.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pin_to_cpu(unsigned cpu)
{
    const struct sched_param param = {.sched_priority = 1};
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one) < 0)
        err(1, "sched_setaffinity");
    if (sched_setscheduler(0, SCHED_FIFO, &param) < 0)
        err(1, "sched_setscheduler");
}

/* Wakes at multiples of the period from the beginning, so that the spins don't drift. */
static _Noreturn void spin_forever(struct disturber_counts *counts, uint64_t spin_ns,
                                   uint64_t period_ns)
{
    uint64_t due_ns = read_ns(CLOCK_MONOTONIC);

    for (;;) {
        uint64_t begun_ns = read_ns(CLOCK_MONOTONIC);
        uint64_t from_ns = read_ns(CLOCK_THREAD_CPUTIME_ID), now_ns;
        do
            now_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
        while (now_ns - from_ns < spin_ns);
        __atomic_store_n(&counts->cpu_ns, now_ns, __ATOMIC_RELAXED);
        __atomic_add_fetch(&counts->wall_ns, read_ns(CLOCK_MONOTONIC) - begun_ns, __ATOMIC_RELAXED);
        __atomic_add_fetch(&counts->spin_count, 1, __ATOMIC_RELEASE);
        due_ns += period_ns;
        const struct timespec due = {.tv_sec = (time_t)(due_ns / 1000000000),
                                     .tv_nsec = (long)(due_ns % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    }
}

struct disturber disturber_start(unsigned cpu, uint64_t spin_us, uint64_t period_us)
{
    struct disturber disturber = {
        .shared = mmap(NULL, sizeof(*disturber.shared), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0),
    };

    if (disturber.shared == MAP_FAILED)
        err(1, "mmap");
    disturber.pid = fork();
    if (disturber.pid < 0)
        err(1, "fork");
    if (disturber.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, DISTURBER);
        pin_to_cpu(cpu);
        spin_forever(disturber.shared, spin_us * 1000, period_us * 1000);
    }
    while (disturber_read(&disturber).spin_count == 0) {
        if (waitpid(disturber.pid, NULL, WNOHANG) != 0)
            errx(1, "the disturber has ended");
        usleep(1000);
    }
    return disturber;
}

struct disturber_counts disturber_read(const struct disturber *disturber)
{
    struct disturber_counts counts;

    counts.spin_count = __atomic_load_n(&disturber->shared->spin_count, __ATOMIC_ACQUIRE);
    counts.cpu_ns = __atomic_load_n(&disturber->shared->cpu_ns, __ATOMIC_RELAXED);
    counts.wall_ns = __atomic_load_n(&disturber->shared->wall_ns, __ATOMIC_RELAXED);
    return counts;
}

struct disturber_counts disturber_since(const struct disturber *disturber,
                                        const struct disturber_counts *before)
{
    struct disturber_counts counts = disturber_read(disturber);

    counts.cpu_ns -= before->cpu_ns;
    counts.wall_ns -= before->wall_ns;
    counts.spin_count -= before->spin_count;
    return counts;
}

void disturber_end(struct disturber *disturber)
{
    if (disturber->pid <= 0)
        return;
    kill(disturber->pid, SIGKILL);
    waitpid(disturber->pid, NULL, 0);
    munmap(disturber->shared, sizeof(*disturber->shared));
    *disturber = (struct disturber){0};
}
