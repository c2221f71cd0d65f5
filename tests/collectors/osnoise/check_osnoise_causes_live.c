/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_causes_live.c - which functions ran in noises, on the running kernel: what
 * the kernel is asked here to run on CPU 1 is named, by its name in /proc/kallsyms.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/osnoise/osnoise_live.h"
#include "support/suite.h"

/* --- What asks the kernel to run something on CPU 1 ------------------------ */

/* Reading the file has each CPU's kworker run refresh_vm_stats() (mm/vmstat.c). */
static void queue_work(void)
{
    char text[16];

    int fd = open("/proc/sys/vm/stat_refresh", O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ge(read(fd, text, sizeof(text)), 0);
    close(fd);
}

/* Opening an event of that CPU has it run remote_function() (kernel/events/core.c). */
static void call_function(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK};
    int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 1, -1, PERF_FLAG_FD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    close(fd);
}

/* A program's sleep on that CPU ends by hrtimer_wakeup() (kernel/time/hrtimer.c). */
static void sleep_there(void)
{
    cpu_set_t cpu1;

    CPU_ZERO(&cpu1);
    CPU_SET(1, &cpu1);
    if (sched_setaffinity(0, sizeof(cpu1), &cpu1) < 0)
        _exit(1);
    live_sleep_ms(3);
}

static const struct cause {
    const char *event; /* without which there is no such cause */
    void (*make)(void);
    enum hr_osnoise_kind kind;
    const char *name; /* what that of the interference begins with */
    const char *function;
} causes[] = {
    {"workqueue/workqueue_execute_start", queue_work, HR_OSNOISE_THREAD,
     "kworker/1:", "refresh_vm_stats"},
    {"timer/hrtimer_expire_entry", sleep_there, HR_OSNOISE_IRQ, "local_timer", "hrtimer_wakeup"},
    {"csd/csd_function_entry", call_function, HR_OSNOISE_IRQ, "call_function_single",
     "remote_function"},
};

static pid_t start(void (*make)(void))
{
    const pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid > 0)
        return pid;
    for (;;) {
        make();
        live_sleep_ms(3);
    }
}

/* --- Finding it ----------------------------------------------------------- */

static bool is_known(const char *function)
{
    char command[128];

    snprintf(command, sizeof(command), "grep -q ' %s$' /proc/kallsyms", function);
    return system(command) == 0;
}

static bool has_function(const struct hr_osnoise_part *part, const char *function)
{
    for (size_t i = 0; i < part->function_count; i++)
        if (strcmp(part->functions[i], function) == 0)
            return true;
    return false;
}

/* Counts the interferences of that kind and name, and those of them, or of others, that have the
 * function. */
struct count {
    unsigned expected, found, elsewhere, named, unnamed;
};

static void count_part(const struct cause *cause, const struct hr_osnoise_part *part,
                       struct count *count)
{
    const bool is_there =
        part->kind == cause->kind && strncmp(part->name, cause->name, strlen(cause->name)) == 0;
    const bool has = has_function(part, cause->function);

    count->expected += is_there;
    count->found += is_there && has;
    count->elsewhere += !is_there && has;
    if (part->kind == HR_OSNOISE_IRQ && strcmp(part->name, "local_timer") == 0)
        part->function_count > 0 ? count->named++ : count->unnamed++;
}

static void count_noises(const struct cause *cause, struct count *count)
{
    for (size_t i = 0; i < live.reading.single_noise_count; i++) {
        const struct hr_osnoise_single_noise *noise = &live.reading.single_noises[i];
        for (size_t p = 0; p < noise->part_count; p++)
            count_part(cause, &noise->parts[p], count);
    }
}

START_TEST(names_what_ran)
{
    const struct cause *cause = &causes[_i];
    struct count count = {0};
    char path[128];

    snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s", cause->event);
    if (access(path, F_OK) != 0) {
        printf("# %s not tried: this kernel has no such event\n", cause->event);
        return;
    }
    ck_assert_msg(is_known(cause->function), "%s", cause->function);
    live_choose_cpus("1");
    live.options.threshold_us = 10;
    live.options.max_single_ns = 10000;
    live.options.causes = true;
    live_begin();
    const pid_t pid = start(cause->make);
    for (int i = 0; i < 100 && count.found < 5; i++) {
        live_sleep_ms(100);
        live_read();
        count_noises(cause, &count);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    printf("# %s: %u of %u %s..., %u elsewhere; of ticks %u have a function, %u have none\n",
           cause->function, count.found, count.expected, cause->name, count.elsewhere, count.named,
           count.unnamed);
    fflush(stdout);
    ck_assert_uint_ge(count.found, 5);
    ck_assert_uint_eq(count.elsewhere, 0);
    ck_assert_uint_eq(count.unnamed, 0);
}
END_TEST

/* Without the option nothing is recorded that isn't needed, and nothing is named. */
START_TEST(names_nothing_unasked)
{
    live_choose_cpus("1");
    live.options.threshold_us = 10;
    live.options.max_single_ns = 10000;
    live_begin();
    const pid_t pid = start(queue_work);
    uint64_t noise_count = 0;
    for (int i = 0; i < 10; i++) {
        live_sleep_ms(100);
        live_read();
        for (size_t n = 0; n < live.reading.single_noise_count; n++)
            for (size_t p = 0; p < live.reading.single_noises[n].part_count; p++)
                ck_assert_uint_eq(live.reading.single_noises[n].parts[p].function_count, 0);
        noise_count += live.reading.single_noise_count;
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert_uint_gt(noise_count, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("osnoise causes live");

    if (!live_can_run(HR_OSNOISE_WORKLOAD))
        return 0;
    tcase_add_checked_fixture(tests, live_set_up, live_tear_down);
    tcase_add_loop_test(tests, names_what_ran, 0, (int)(sizeof(causes) / sizeof(causes[0])));
    tcase_add_test(tests, names_nothing_unasked);
    tcase_set_timeout(tests, 60);
    return run_suite("osnoise causes live", tests);
}
