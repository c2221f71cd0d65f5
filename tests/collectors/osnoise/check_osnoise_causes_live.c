/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_causes_live.c - which functions ran in noises, on the running kernel: what
 * the kernel is asked here to run on CPU 1 is named, by its name in /proc/kallsyms.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
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
    bool is_asked; /* by another CPU */
} causes[] = {
    {"workqueue/workqueue_execute_start", queue_work, HR_OSNOISE_THREAD,
     "kworker/1:", "refresh_vm_stats", false},
    {"timer/hrtimer_expire_entry", sleep_there, HR_OSNOISE_IRQ, "local_timer", "hrtimer_wakeup",
     false},
    {"csd/csd_function_entry", call_function, HR_OSNOISE_IRQ, "call_function_single",
     "remote_function", true},
};

static bool is_real_time(void)
{
    struct utsname name;

    return uname(&name) == 0 && strstr(name.version, "PREEMPT_RT") != NULL;
}

/* With PREEMPT_RT such a sleep ends in the thread of soft timers. */
static struct cause cause_here(int i)
{
    struct cause cause = causes[i];

    if (cause.make == sleep_there && is_real_time()) {
        cause.kind = HR_OSNOISE_THREAD;
        cause.name = "ktimers/1";
    }
    return cause;
}

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

/* The program that asks; the workload's CPU has no room for it. */
static char sender[64];

static void name_sender(pid_t pid)
{
    char name[32] = "";
    FILE *file = fopen("/proc/self/comm", "re");

    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(name, sizeof(name), file));
    fclose(file);
    name[strcspn(name, "\n")] = '\0';
    snprintf(sender, sizeof(sender), "%s[%d] on CPU 0", name, (int)pid);
}

/* The interferences of that kind and name, and those of them, or of others, that have the function;
 * functions with that sender, and with another; and noises that are a tick alone. */
struct count {
    unsigned expected, found, elsewhere, sent, sent_else, named, unnamed;
};

static void count_senders(const struct hr_osnoise_part *part, const char *function,
                          struct count *count)
{
    for (size_t i = 0; i < part->function_count; i++) {
        if (strcmp(part->functions[i], function) != 0)
            continue;
        count->sent += strcmp(part->senders[i], sender) == 0;
        if (part->senders[i][0] == '\0' || strcmp(part->senders[i], sender) == 0)
            continue;
        count->sent_else++;
        printf("# %s for %s\n", function, part->senders[i]);
    }
}

static void count_part(const struct cause *cause, const struct hr_osnoise_part *part,
                       struct count *count)
{
    const bool is_there =
        part->kind == cause->kind && strncmp(part->name, cause->name, strlen(cause->name)) == 0;
    const bool has = has_function(part, cause->function);

    count->expected += is_there;
    count->found += is_there && has;
    count_senders(part, cause->function, count);
    count->elsewhere += !is_there && has;
}

/* One that comes while another thread runs has none. */
static void count_tick(const struct hr_osnoise_single_noise *noise, struct count *count)
{
    const struct hr_osnoise_part *part = &noise->parts[0];

    if (noise->part_count != 1 || part->kind != HR_OSNOISE_IRQ ||
        strcmp(part->name, "local_timer") != 0)
        return;
    count->named += part->function_count > 0;
    count->unnamed += part->function_count == 0;
}

static void count_noises(const struct cause *cause, struct count *count)
{
    for (size_t i = 0; i < live.reading.single_noise_count; i++) {
        const struct hr_osnoise_single_noise *noise = &live.reading.single_noises[i];
        for (size_t p = 0; p < noise->part_count; p++)
            count_part(cause, &noise->parts[p], count);
        count_tick(noise, count);
    }
}

START_TEST(names_what_ran)
{
    const struct cause here = cause_here(_i), *cause = &here;
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
    name_sender(pid);
    for (int i = 0; i < 100 && count.found < 5; i++) {
        live_sleep_ms(100);
        live_read();
        count_noises(cause, &count);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    printf("# %s: %u of %u %s..., %u elsewhere, %u for %s; of ticks %u have a function, %u have "
           "none\n",
           cause->function, count.found, count.expected, cause->name, count.elsewhere, count.sent,
           sender, count.named, count.unnamed);
    fflush(stdout);
    ck_assert_uint_ge(count.found, 5);
    ck_assert_uint_eq(count.elsewhere, 0);
    ck_assert_uint_eq(count.sent, cause->is_asked ? count.found : 0);
    ck_assert_uint_eq(count.sent_else, 0);
    if (!is_real_time()) /* where an interrupt may only wake that thread */
        ck_assert_uint_eq(count.unnamed, 0);
}
END_TEST

/* --- What is kept of it --------------------------------------------------- */

/* The trace of CPU 1; "" if there is none. */
static const char *trace_of_1(void)
{
    static char text[65536];
    FILE *file = fmemopen(text, sizeof(text), "w");

    hr_osnoise_trace_print(&live.reading, 1, file);
    const long length = ftell(file);
    fclose(file);
    text[length] = '\0';
    return text;
}

/* Whether a kworker's thread_noise follows the work's beginning in the trace. */
static bool has_work(const char *trace)
{
    const char *work = strstr(trace, ": workqueue_execute_start: function=refresh_vm_stats\n");

    return work != NULL && strstr(work, ": thread_noise: kworker/1:") != NULL;
}

/* The record of the longest noise, with its length and number of interferences, is in the trace. */
START_TEST(keeps_what_was_recorded)
{
    const struct hr_osnoise_single_noise *longest;
    char expected[128];
    unsigned kept = 0, works = 0;

    live_choose_cpus("1");
    live.options.threshold_us = 10;
    live.options.max_single_ns = 10000;
    live.options.causes = live.options.traces = true;
    live_begin();
    const pid_t pid = start(queue_work);
    for (int i = 0; i < 100 && (kept < 5 || works < 3); i++) {
        live_sleep_ms(100);
        live_read();
        longest = NULL;
        for (size_t n = 0; n < live.reading.single_noise_count; n++)
            if (longest == NULL || live.reading.single_noises[n].duration_ns > longest->duration_ns)
                longest = &live.reading.single_noises[n];
        const char *trace = trace_of_1();
        ck_assert_int_eq(longest != NULL, trace[0] == '#');
        if (longest == NULL)
            continue;
        snprintf(expected, sizeof(expected), " duration %" PRIu64 " ns interference %" PRIu64 "\n",
                 longest->duration_ns, longest->interference_count);
        ck_assert_msg(strstr(trace, expected) != NULL, "no%s in\n%s", expected, trace);
        kept++;
        works += has_work(trace);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert_uint_ge(kept, 5);
    ck_assert_uint_ge(works, 3);
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
    tcase_add_test(tests, keeps_what_was_recorded);
    tcase_add_test(tests, names_nothing_unasked);
    tcase_set_timeout(tests, 60);
    return run_suite("osnoise causes live", tests);
}
