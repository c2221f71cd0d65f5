/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/check_blame_changes_live.c - what changes while tasks wait, and interrupts, on
 * the running kernel: groups that are left or removed, threads in groups of their own, CPUs that go
 * and come.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/blame/blame_live.h"
#include "support/second_thread.h"
#include "support/suite.h"

#define ROUNDS 5

/* A task that wants a CPU and didn't run for so long waits for it. */
#define WAITING_MS 40

static struct groups *groups;
static struct live live;
static int cpu;
static pid_t fast; /* it has the CPU for 300 ms, and leaves it for 200, if it was started */

static void set_up(void)
{
    const struct hr_blame_options options = {.max_groups = 16};

    cpu = live_last_cpu();
    groups = groups_new();
    live_open(&live, &options, groups);
    fast = 0;
}

static void end_fast(void)
{
    if (fast > 0) {
        kill(fast, SIGKILL);
        waitpid(fast, NULL, 0);
    }
    fast = 0;
}

static void tear_down(void)
{
    end_fast();
    live_close(&live);
    groups_free(groups);
}

static void spin(const char *group)
{
    live_add(&live, group, groups_start_busy(groups, group, cpu));
}

/* --- Groups --------------------------------------------------------------- */

static void start_fast(void)
{
    groups_make(groups, "fast");
    fast = live_start_real_time(groups, "fast", cpu, 300, 200);
    live_add(&live, "fast", fast);
}

/* @return what the task that spins had run until it began to wait, also for `fast`. */
static double await_waiting(pid_t pid)
{
    double ran_ms, before_ms, fast_ms;

    do {
        before_ms = live_read_sums(pid).ran_ms;
        fast_ms = live_read_sums(fast).ran_ms;
        usleep(WAITING_MS * 1000);
        fast_ms = live_read_sums(fast).ran_ms - fast_ms;
        ran_ms = live_read_sums(pid).ran_ms;
    } while (ran_ms > before_ms || fast_ms < WAITING_MS / 2.0);
    return ran_ms;
}

/*
 * Some kernels, such as those of some virtual machines, report no switch away from certain tasks.
 * So the arrival of the next one isn't seen, and its wait is counted when it leaves the CPU: the
 * sums are read again until it has, or PATIENCE times, to be compared as they are then; without
 * removing the cells of the group that is no more.
 */
#define PATIENCE 200

/* live.delta gets what was counted in between. */
static bool is_counted(const struct hr_blame_matrix *before, const struct hr_blame_matrix *after,
                       uint64_t one, uint64_t two, double waited_ms)
{
    ck_assert_int_eq(hr_blame_delta(before, after, &live.delta), 0);
    const double counted_ms = live_total_by_id(&live, one) + live_total_by_id(&live, two);
    return fabs(counted_ms - waited_ms) <= waited_ms * LIVE_SUM_PCT / 100;
}

/* Reads what was counted before, while the task, which is the last and has been in no other group,
 * runs: of a wait that lasts the end is counted after that, and what others ran then is less. */
static void read_before(uint64_t group)
{
    static const struct hr_blame_matrix none;
    const struct live_task *task = &live.tasks[live.task_count - 1];

    for (int i = 0; i < PATIENCE; i++) {
        live_await_run(task->pid, live_read_sums(task->pid).ran_ms + 1);
        live_peek(&live, 0);
        if (is_counted(&none, &live.before, group, 0, task->after[0].waited_ms))
            return;
    }
}

static void read_after(uint64_t one, uint64_t two)
{
    const struct live_task *task = &live.tasks[live.task_count - 1];

    for (int i = 0; i < PATIENCE; i++) {
        live_peek(&live, 1);
        if (is_counted(&live.before, &live.after, one, two,
                       task->after[1].waited_ms - task->before[0].waited_ms))
            return;
        usleep(10 * 1000);
    }
}

/* The whole of what one task waited is in two groups. */
static void expect_sum_of(uint64_t one, uint64_t two, const char *task)
{
    const double total = live_total_by_id(&live, one) + live_total_by_id(&live, two);
    const double by_fast = live_cell_by_id(&live, one, HR_BLAME_GROUP, live_id(&live, "fast")) +
                           live_cell_by_id(&live, two, HR_BLAME_GROUP, live_id(&live, "fast"));

    live_print(&live);
    live_expect(task, total, live_waited(&live, task), LIVE_SUM_PCT, 0);
    printf("# of them by fast: %.1f ms\n", by_fast);
    ck_assert_double_ge(by_fast, WAITING_MS / 4.0);
    ck_assert_double_le(by_fast, live_ran(&live, "fast").most_ms * (1 + LIVE_TAKEN_PCT / 100) +
                                     LIVE_EDGE_MS);
}

static void move(pid_t pid, const char *group)
{
    char number[16];

    snprintf(number, sizeof(number), "%d", (int)pid);
    groups_write(groups, group, "cgroup.procs", number);
}

/* @return whether the kernel says that it went on waiting meanwhile. */
static bool remove_while_waiting(pid_t pid)
{
    const double ran_ms = await_waiting(pid);

    move(pid, "heir");
    groups_remove(groups, "brief");
    live_watch(&live, "heir", "fast", NULL);
    const bool waited_on = live_read_sums(pid).ran_ms == ran_ms;
    live_await_run(pid, ran_ms + 5);
    return waited_on;
}

/* Its wait is of the group in which it runs next; nothing of it is lost. */
START_TEST(test_a_group_is_removed_while_its_task_waits)
{
    int waited_on = 0;

    groups_make(groups, "heir");
    start_fast();
    for (int round = 0; waited_on < ROUNDS && round < 20 * ROUNDS; round++) {
        groups_make(groups, "brief");
        const uint64_t brief = live_id(&live, "brief"), heir = live_id(&live, "heir");
        live_watch(&live, "brief", "heir", "fast", NULL);
        const pid_t pid = groups_start_busy(groups, "brief", cpu);
        live_add(&live, "task", pid);
        read_before(brief);
        const bool did = remove_while_waiting(pid);
        read_after(brief, heir);
        expect_sum_of(brief, heir, "task");
        if (did)
            ck_assert_double_ge(live_total_by_id(&live, heir), WAITING_MS * 0.9);
        waited_on += did;
        live_read(&live, 1); /* which removes them */
        groups_end(groups, pid);
        live.task_count--;
    }
    ck_assert_int_eq(waited_on, ROUNDS);
}
END_TEST

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};

    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    return info.si_pid == pid;
}

START_TEST(test_a_task_is_killed_while_it_waits)
{
    start_fast();
    for (int round = 0; round < ROUNDS; round++) {
        groups_make(groups, "brief");
        const uint64_t brief = live_id(&live, "brief");
        live_watch(&live, "brief", "fast", NULL);
        const pid_t pid = groups_start_busy(groups, "brief", cpu);
        live_add(&live, "task", pid);
        read_before(brief);
        await_waiting(pid);
        kill(pid, SIGKILL);
        while (!has_ended(pid))
            usleep(2000);
        groups_remove(groups, "brief");
        read_after(brief, 0);
        expect_sum_of(brief, 0, "task");
        live_read(&live, 1);
        groups_end(groups, pid);
        live.task_count--;
    }
}
END_TEST

/* --- Interrupts ----------------------------------------------------------- */

/* A timer of the CPU that fires 20,000 times a second, in the kernel: no task has to do with it. */
static int start_timer(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .sample_period = 50000};

    return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The interrupts of all timers of the CPU, until now. */
static unsigned long read_timer_interrupts(void)
{
    char line[4096];
    unsigned long count = 0;
    FILE *file = fopen("/proc/interrupts", "r");

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        char *at = strstr(line, "LOC:");
        if (at == NULL)
            continue;
        at += 4;
        for (int i = 0; i <= cpu; i++)
            count = strtoul(at, &at, 10);
    }
    fclose(file);
    return count;
}

/* The time of interrupts and softirqs of the CPU, in ms. */
static double read_interrupt_ms(const struct live *unused)
{
    char line[512], name[16];
    double irq = -1, softirq = 0;
    FILE *file = fopen("/proc/stat", "r");

    (void)unused;
    ck_assert_ptr_nonnull(file);
    snprintf(name, sizeof(name), "cpu%d ", cpu);
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            ck_assert_int_eq(sscanf(line, "%*s %*u %*u %*u %*u %*u %lf %lf", &irq, &softirq), 2);
    fclose(file);
    ck_assert_double_ge(irq, 0);
    return (irq + softirq) * 1000 / (double)sysconf(_SC_CLK_TCK);
}

/* Of two tasks that spin one waits at any time: so what both waited for interrupts are all
 * interrupts of the CPU. Where the kernel doesn't account for them, they are part of what they
 * interrupt, to it as to us. */
START_TEST(test_interrupts_are_nobody_elses)
{
    groups_make(groups, "web");
    groups_make(groups, "backup");
    live_watch(&live, "web", "backup", NULL);
    spin("web");
    spin("backup");
    live.other_sum = read_interrupt_ms;
    int timer = start_timer();
    const unsigned long before = read_timer_interrupts();
    live_measure(&live, 4000);
    const unsigned long interrupts = read_timer_interrupts() - before;
    close(timer);
    live_expect_sum(&live, "web");
    live_expect_sum(&live, "backup");
    /* Where the kernel accounts for them they are in no task's sums. */
    live_expect("web by backup", live_cell(&live, "web", HR_BLAME_GROUP, "backup"),
                live_ran(&live, "backup"), LIVE_TAKEN_PCT, LIVE_EDGE_MS);
    live_expect("backup by web", live_cell(&live, "backup", HR_BLAME_GROUP, "web"),
                live_ran(&live, "web"), LIVE_TAKEN_PCT, LIVE_EDGE_MS);
    printf("# %lu interrupts of timers in 4.3 s\n", interrupts);
    if (timer >= 0)
        ck_assert_uint_ge(interrupts, 8000);
    const double measured = live_cell(&live, "web", HR_BLAME_INTERRUPTS, NULL) +
                            live_cell(&live, "backup", HR_BLAME_INTERRUPTS, NULL);
    if (hr_blame_knows_interrupts(live.blame))
        live_expect("interrupts", measured, live_other(&live), LIVE_TAKEN_PCT, 2 * LIVE_EDGE_MS);
    else
        ck_assert_double_eq(measured, 0);
}
END_TEST

/* --- CPUs ----------------------------------------------------------------- */

/* A CPU that is emulated may stand still for so long: then waits are as long. */
#define SLOW_EDGE_MS 60.0

#define SWITCH "/sys/devices/system/cpu/cpu%d/online"

static bool switch_cpu(const char *state)
{
    char path[64];

    snprintf(path, sizeof(path), SWITCH, cpu);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, state, 1) == 1;
    close(fd);
    return done;
}

static void pin_tasks(void)
{
    cpu_set_t only;

    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    for (size_t i = 0; i < live.task_count; i++)
        ck_assert_int_eq(sched_setaffinity(live.tasks[i].pid, sizeof(only), &only), 0);
}

/* The tasks of a CPU that goes are moved to another one, as they wait. */
static void measure_while_it_goes_and_comes(void)
{
    usleep(300 * 1000);
    live_read(&live, 0);
    for (int i = 0; i < ROUNDS; i++) {
        ck_assert(switch_cpu("0"));
        usleep(300 * 1000);
        ck_assert(switch_cpu("1"));
        pin_tasks();
        usleep(300 * 1000);
    }
    live_read(&live, 1);
    ck_assert_int_eq(hr_blame_delta(&live.before, &live.after, &live.delta), 0);
}

START_TEST(test_cpus_go_and_come)
{
    groups_make(groups, "web");
    groups_make(groups, "backup");
    live_watch(&live, "web", "backup", NULL);
    spin("web");
    spin("backup");
    measure_while_it_goes_and_comes();
    live_expect_sum(&live, "web");
    live_expect_sum(&live, "backup");
    live_expect("web by backup", live_cell(&live, "web", HR_BLAME_GROUP, "backup"),
                live_ran(&live, "backup"), LIVE_TAKEN_PCT, 2 * ROUNDS * SLOW_EDGE_MS);
    /* And where all is as before. */
    live_measure(&live, 4000);
    live_expect_sum(&live, "web");
    live_expect_sum(&live, "backup");
    live_expect("web by backup", live_cell(&live, "web", HR_BLAME_GROUP, "backup"),
                live_ran(&live, "backup"), LIVE_TAKEN_PCT, SLOW_EDGE_MS);
    live_expect("backup by web", live_cell(&live, "backup", HR_BLAME_GROUP, "web"),
                live_ran(&live, "web"), LIVE_TAKEN_PCT, SLOW_EDGE_MS);
}
END_TEST

/* Only in the emulated machine a CPU may be taken from what uses it. */
static bool can_switch(void)
{
    char path[64];

    snprintf(path, sizeof(path), SWITCH, live_last_cpu());
    return getenv("HEADROOM_EMULATED") != NULL && access(path, W_OK) == 0;
}

/* --- Threads in groups of their own -------------------------------------- */

static void *spin_for_ever(void *unused)
{
    (void)unused;
    for (volatile unsigned turns = 0;; turns++)
        ;
    return NULL;
}

/* @return a process of two threads that spin, the first in the group "p/t", the other in "p/t/u";
 * the caller ends it. */
static pid_t spin_in_threaded_groups(void)
{
    char number[16];
    cpu_set_t only;
    pthread_t thread;
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        CPU_ZERO(&only);
        CPU_SET(cpu, &only);
        sched_setaffinity(0, sizeof(only), &only);
        pthread_create(&thread, NULL, spin_for_ever, NULL);
        spin_for_ever(NULL);
    }
    pid_t second;
    while ((second = find_second_thread(pid)) == 0)
        ;
    snprintf(number, sizeof(number), "%d", (int)pid);
    groups_write(groups, "p", "cgroup.procs", number);
    groups_write(groups, "p/t", "cgroup.procs", number);
    snprintf(number, sizeof(number), "%d", (int)second);
    groups_write(groups, "p/t/u", "cgroup.threads", number);
    live_add(&live, "p/t", pid);
    live_add(&live, "p/t/u", second);
    return pid;
}

/* Each thread is of its own group. */
START_TEST(test_threads_of_a_process_are_of_their_groups)
{
    groups_make(groups, "web");
    groups_make(groups, "p");
    groups_make(groups, "p/t");
    groups_write(groups, "p/t", "cgroup.type", "threaded");
    groups_make(groups, "p/t/u");
    groups_write(groups, "p/t/u", "cgroup.type", "threaded");
    live_watch(&live, "web", "p", "p/t", "p/t/u", NULL);
    spin("web");
    const pid_t process = spin_in_threaded_groups();
    live_measure(&live, 3000);
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    live_expect_sum(&live, "web");
    live_expect_sum(&live, "p/t");
    live_expect_sum(&live, "p/t/u");
    live_expect_taken(&live, "web", "p/t");
    live_expect_taken(&live, "web", "p/t/u");
    live_expect_taken(&live, "p/t", "p/t/u");
    live_expect_taken(&live, "p/t/u", "web");
    ck_assert_double_eq(live_total(&live, "p"), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("blame_changes_live");
    tcase_set_timeout(tests, 120); /* only there to end what hangs */

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!live_can_measure())
        return 0;
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_a_group_is_removed_while_its_task_waits);
    tcase_add_test(tests, test_a_task_is_killed_while_it_waits);
    tcase_add_test(tests, test_threads_of_a_process_are_of_their_groups);
    tcase_add_test(tests, test_interrupts_are_nobody_elses);
    if (can_switch())
        tcase_add_test(tests, test_cpus_go_and_come);
    return run_suite("blame_changes_live", tests);
}
