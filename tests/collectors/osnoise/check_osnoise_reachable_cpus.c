/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_reachable_cpus.c - on which CPUs ordinary threads get time: with threads on
 * this machine's, and a real-time task.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "osnoise/reachable_cpus.h"
#include "support/suite.h"

#define LONG_NS  UINT64_C(30000000000)
#define SHORT_NS UINT64_C(100000000)

static struct hr_cpu_set cpus, reachable;
static unsigned last_cpu;

static void set_up(void)
{
    cpu_set_t allowed;

    cpus = reachable = (struct hr_cpu_set){0};
    ck_assert_int_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        hr_cpu_set_add(&cpus, cpu);
        last_cpu = cpu;
    }
}

static void assert_alone(void)
{
    struct dirent *entry;
    int count = 0;
    DIR *own = opendir("/proc/self/task");

    ck_assert_ptr_nonnull(own);
    while ((entry = readdir(own)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(own);
    ck_assert_int_eq(count, 1);
}

START_TEST(all_are_reached)
{
    ck_assert_int_eq(hr_osnoise_find_reachable_cpus(&cpus, LONG_NS, &reachable), 0);
    ck_assert(hr_cpu_set_equal(&cpus, &reachable));
    assert_alone();
    struct hr_cpu_set none = {0};
    ck_assert_int_eq(hr_osnoise_find_reachable_cpus(&none, LONG_NS, &reachable), 0);
    ck_assert(hr_cpu_set_equal(&none, &reachable));
}
END_TEST

/* It may not run there: no time would be enough. */
START_TEST(one_that_there_isnt_is_no_obstacle)
{
    hr_cpu_set_add(&cpus, HR_CPU_MAX - 1);
    ck_assert_int_eq(hr_osnoise_find_reachable_cpus(&cpus, LONG_NS, &reachable), 0);
    ck_assert(hr_cpu_set_equal(&cpus, &reachable));
    assert_alone();
}
END_TEST

/* The kernel's workers are no real-time tasks. */
START_TEST(a_high_priority_isnt_inherited)
{
    const struct sched_param high = {.sched_priority = 60}, ordinary = {.sched_priority = 0};

    if (sched_setscheduler(0, SCHED_FIFO, &high) < 0)
        return; /* as in containers */
    ck_assert_int_eq(hr_osnoise_find_reachable_cpus(&cpus, LONG_NS, &reachable), 0);
    ck_assert_int_eq(sched_setscheduler(0, SCHED_OTHER, &ordinary), 0);
    ck_assert(hr_cpu_set_equal(&cpus, &reachable));
    assert_alone();
}
END_TEST

/* --- Beside a task that never sleeps -------------------------------------- */

/* @return its PID, or -1 if it may not be. */
static pid_t spin(void)
{
    const struct sched_param high = {.sched_priority = 50};
    int ready[2];
    char byte;

    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(last_cpu, &one);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(60);
        if (sched_setaffinity(0, sizeof(one), &one) < 0 ||
            sched_setscheduler(0, SCHED_FIFO, &high) < 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            ;
    }
    close(ready[1]);
    bool runs = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    if (runs)
        return child;
    waitpid(child, NULL, 0);
    return -1;
}

/* Where the kernel throttles it, it leaves others 50 ms of a second: a try may well fall into
 * these. Whatever is found, no thread stays. */
START_TEST(one_that_leaves_no_time_is_missed)
{
    bool was_missed = false;

    if (hr_cpu_set_count(&cpus) < 2)
        return;
    pid_t child = spin();
    if (child < 0)
        return; /* as in containers */
    for (int i = 0; i < 100 && !was_missed; i++) {
        ck_assert_int_eq(hr_osnoise_find_reachable_cpus(&cpus, SHORT_NS, &reachable), 0);
        assert_alone();
        was_missed = !hr_cpu_set_has(&reachable, last_cpu);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ck_assert(was_missed);
    ck_assert_int_eq(hr_osnoise_find_reachable_cpus(&cpus, LONG_NS, &reachable), 0);
    ck_assert(hr_cpu_set_equal(&cpus, &reachable));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("osnoise_reach");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, all_are_reached);
    tcase_add_test(tests, one_that_there_isnt_is_no_obstacle);
    tcase_add_test(tests, a_high_priority_isnt_inherited);
    tcase_add_test(tests, one_that_leaves_no_time_is_missed);
    return run_suite("osnoise_reach", tests);
}
