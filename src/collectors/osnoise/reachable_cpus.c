/* SPDX-License-Identifier: MIT */
#include "osnoise/reachable_cpus.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "headroom/clock.h"

#define STACK_SIZE (256 * 1024)
#define PAUSE_NS   HR_NS_PER_MS

struct probe {
    unsigned cpu;
    pthread_t thread;
    sem_t pinned;     /* posted once the thread is pinned */
    bool is_unpinned; /* it can't be pinned to the CPU */
    atomic_bool ran;
};

static bool is_late(const struct probe *probe)
{
    return !probe->is_unpinned && !atomic_load(&probe->ran);
}

/* --- CPU masks of the C library ------------------------------------------- */

struct mask {
    cpu_set_t sets[HR_CPU_MAX / CPU_SETSIZE];
};

static int pin_thread(pthread_t thread, const struct mask *mask)
{
    return -pthread_setaffinity_np(thread, sizeof(mask->sets), mask->sets);
}

static int pin_thread_to_cpu(pthread_t thread, unsigned cpu)
{
    struct mask mask;

    CPU_ZERO_S(sizeof(mask.sets), mask.sets);
    CPU_SET_S(cpu, sizeof(mask.sets), mask.sets);
    return pin_thread(thread, &mask);
}

/* --- One probe ------------------------------------------------------------ */

static void *probe_main(void *argument)
{
    struct probe *probe = argument;

    while (sem_wait(&probe->pinned) < 0)
        ;
    atomic_store(&probe->ran, true);
    return NULL;
}

/* The creator pins the thread: pinned by itself, it might do so only after it was given up. If it
 * isn't allowed on the CPU it may run anywhere. */
static int start_probe(struct probe *probe, const pthread_attr_t *attributes)
{
    sem_init(&probe->pinned, 0, 0);
    int status = -pthread_create(&probe->thread, attributes, probe_main, probe);
    if (status < 0) {
        sem_destroy(&probe->pinned);
        return status;
    }
    probe->is_unpinned = pin_thread_to_cpu(probe->thread, probe->cpu) < 0;
    sem_post(&probe->pinned);
    return 0;
}

/* --- All probes ----------------------------------------------------------- */

/* With ordinary priority, as the kernel's workers have, whatever the caller's is. The threads take
 * no signals of the program. */
static int start_probes(struct probe *probes, size_t count, size_t *started)
{
    const struct sched_param ordinary = {.sched_priority = 0};
    pthread_attr_t attributes;
    sigset_t all, before;
    int status = -pthread_attr_init(&attributes);

    if (status < 0)
        return status;
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    pthread_attr_setschedparam(&attributes, &ordinary);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (*started = 0; status == 0 && *started < count; *started += status == 0)
        status = start_probe(&probes[*started], &attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return status;
}

static void wait_for_probes(struct probe *probes, size_t count, uint64_t timeout_ns)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    uint64_t since_ns = hr_clock_ns();
    size_t place = 0;

    while (place < count) {
        if (!is_late(&probes[place]))
            place++;
        else if (hr_clock_ns() - since_ns < timeout_ns)
            nanosleep(&pause, NULL);
        else
            break;
    }
}

/* The CPUs allowed to this thread, without those where a probe didn't run: a thread that is moved
 * to a set that contains its CPU stays there. If none is left, the CPU where this thread runs now.
 */
static void choose_fallback_cpus(const struct probe *probes, size_t count,
                                 const struct hr_cpu_set *reachable, struct mask *mask)
{
    CPU_ZERO_S(sizeof(mask->sets), mask->sets);
    pthread_getaffinity_np(pthread_self(), sizeof(mask->sets), mask->sets);
    for (size_t i = 0; i < count; i++)
        if (!hr_cpu_set_has(reachable, probes[i].cpu))
            CPU_CLR_S(probes[i].cpu, sizeof(mask->sets), mask->sets);
    if (CPU_COUNT_S(sizeof(mask->sets), mask->sets) == 0)
        CPU_SET_S((size_t)sched_getcpu(), sizeof(mask->sets), mask->sets);
}

/* An unpinned probe may have been put on an occupied CPU, too, so it is moved as the others. @param
 * reachable  receives the CPUs whose probe wasn't late. */
static void end_probes(struct probe *probes, size_t count, struct hr_cpu_set *reachable)
{
    struct mask fallback;

    for (size_t i = 0; i < count; i++)
        if (!is_late(&probes[i]))
            hr_cpu_set_add(reachable, probes[i].cpu);
    choose_fallback_cpus(probes, count, reachable, &fallback);
    for (size_t i = 0; i < count; i++)
        if (!atomic_load(&probes[i].ran))
            pin_thread(probes[i].thread, &fallback);
    for (size_t i = 0; i < count; i++) {
        pthread_join(probes[i].thread, NULL);
        sem_destroy(&probes[i].pinned);
    }
}

int hr_osnoise_find_reachable_cpus(const struct hr_cpu_set *cpus, uint64_t timeout_ns,
                                   struct hr_cpu_set *reachable)
{
    size_t count = hr_cpu_set_count(cpus), started = 0, place = 0;
    struct hr_cpu_set found = {0};
    struct probe *probes = calloc(count + 1, sizeof(*probes));

    if (probes == NULL)
        return -ENOMEM;
    for (unsigned cpu = hr_cpu_set_next(cpus, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(cpus, cpu + 1))
        probes[place++].cpu = cpu;
    int status = start_probes(probes, count, &started);
    wait_for_probes(probes, started, status == 0 ? timeout_ns : 0);
    end_probes(probes, started, &found);
    free(probes);
    if (status == 0)
        *reachable = found;
    return status;
}
