/* SPDX-License-Identifier: MIT */
#include "collectors/blame/blame_live.h"

#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A task that has run for so long is in its group, and spins. */
#define SPINNING_MS 20

/* The kernel adds to what a task has run at least so often. */
#define TICK_MS 10.0

bool live_can_measure(void)
{
    const struct hr_blame_options options = {.max_groups = 16};
    struct hr_reason reason = {0};
    struct hr_blame *blame;
    int status = hr_blame_open(&options, &blame, &reason);

    if (status != 0) {
        printf("1..0 # SKIP %s\n", reason.text);
        return false;
    }
    hr_blame_close(blame);
    struct groups *some = groups_new();
    if (some == NULL)
        puts("1..0 # SKIP no cgroup2 hierarchy to make groups in");
    else
        groups_free(some);
    return some != NULL;
}

int live_last_cpu(void)
{
    cpu_set_t own;

    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof(own), &own);
    int last = CPU_SETSIZE - 1;
    while (last > 0 && !CPU_ISSET(last, &own))
        last--;
    return last;
}

static void spin_and_sleep(long busy_ms, long idle_ms)
{
    const struct timespec nap = {.tv_nsec = idle_ms * 1000000};

    for (;;) {
        struct timespec begin, now;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do
            clock_gettime(CLOCK_MONOTONIC, &now);
        while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec <
               busy_ms * 1000000);
        nanosleep(&nap, NULL);
    }
}

pid_t live_start_real_time(struct groups *groups, const char *group, int cpu, long busy_ms,
                           long idle_ms)
{
    const struct sched_param priority = {.sched_priority = 10};
    cpu_set_t only;
    char number[32];
    pid_t pid = fork();

    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed test leaves no process behind */
        if (sched_setaffinity(0, sizeof(only), &only) < 0 ||
            sched_setscheduler(0, SCHED_FIFO, &priority) < 0)
            _exit(1);
        spin_and_sleep(busy_ms, idle_ms);
    }
    snprintf(number, sizeof(number), "%d", (int)pid);
    groups_write(groups, group, "cgroup.procs", number);
    return pid;
}

void live_open(struct live *live, const struct hr_blame_options *options, struct groups *groups)
{
    struct hr_reason reason = {0};

    *live = (struct live){.groups = groups};
    int status = hr_blame_open(options, &live->blame, &reason);
    if (status == 0)
        status = hr_blame_attach(live->blame, &reason);
    ck_assert_msg(status == 0, "%s", reason.text);
}

void live_close(struct live *live)
{
    hr_blame_close(live->blame);
    hr_blame_matrix_free(&live->before);
    hr_blame_matrix_free(&live->after);
    hr_blame_matrix_free(&live->delta);
}

static double read_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

struct live_sums live_read_sums(pid_t pid)
{
    char path[64];
    unsigned long long ran_ns, waited_ns;

    snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%llu %llu", &ran_ns, &waited_ns), 2);
    fclose(file);
    return (struct live_sums){(double)ran_ns / 1e6, (double)waited_ns / 1e6, read_ms()};
}

void live_await_run(pid_t pid, double ms)
{
    while (live_read_sums(pid).ran_ms < ms)
        usleep(1000);
}

void live_await_wait(pid_t pid, double ms)
{
    while (live_read_sums(pid).waited_ms < ms)
        usleep(1000);
}

int live_count_time(pid_t pid)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_TASK_CLOCK};
    int counter = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

    ck_assert_int_ge(counter, 0);
    return counter;
}

double live_read_time(int counter)
{
    uint64_t ns;

    ck_assert_int_eq(read(counter, &ns, sizeof(ns)), sizeof(ns));
    return (double)ns / 1e6;
}

/* What it waited for before it spins was in another group, on another CPU. */
void live_add(struct live *live, const char *group, pid_t pid)
{
    ck_assert_uint_lt(live->task_count, LIVE_TASKS);
    live_await_run(pid, SPINNING_MS);
    live->tasks[live->task_count++] =
        (struct live_task){.group = group, .pid = pid, .began_ms = INFINITY};
}

uint64_t live_id(const struct live *live, const char *group)
{
    struct stat status;

    ck_assert_int_eq(fstatat(groups_dirfd(live->groups), group, &status, 0), 0);
    return status.st_ino;
}

static size_t find_ids(const struct live *live, va_list names, uint64_t ids[LIVE_TASKS])
{
    size_t count = 0;

    for (const char *name; (name = va_arg(names, const char *)) != NULL;)
        ids[count++] = live_id(live, name);
    return count;
}

void live_watch(struct live *live, ...)
{
    uint64_t ids[LIVE_TASKS];
    va_list names;

    va_start(names, live);
    const size_t count = find_ids(live, names, ids);
    va_end(names);
    ck_assert_int_eq(hr_blame_watch(live->blame, ids, count), 0);
}

void live_watch_first(struct live *live, size_t measured, ...)
{
    uint64_t ids[LIVE_TASKS];
    va_list names;

    va_start(names, measured);
    const size_t count = find_ids(live, names, ids);
    va_end(names);
    ck_assert_int_eq(hr_blame_watch_first(live->blame, ids, count, measured), 0);
}

/* --- Measuring ------------------------------------------------------------ */

/* It has run or waited since it began, but for the wait that hasn't ended, which isn't in its sum.
 * So where that is shortest the rest is when it began. */
static struct live_sums read_task(struct live_task *task)
{
    const struct live_sums sums = live_read_sums(task->pid);

    task->began_ms = fmin(task->began_ms, sums.at_ms - sums.ran_ms - sums.waited_ms);
    return sums;
}

static void read_between_sums(struct live *live, int which,
                              int (*read)(struct hr_blame *blame, struct hr_blame_matrix *matrix))
{
    struct hr_blame_matrix *matrix = which == 0 ? &live->before : &live->after;

    live->other_before[which] = live->other_sum != NULL ? live->other_sum(live) : 0;
    for (size_t i = 0; i < live->task_count; i++)
        live->tasks[i].before[which] = read_task(&live->tasks[i]);
    ck_assert_int_eq(read(live->blame, matrix), 0);
    live->other_after[which] = live->other_sum != NULL ? live->other_sum(live) : 0;
    for (size_t i = 0; i < live->task_count; i++)
        live->tasks[i].after[which] = read_task(&live->tasks[i]);
}

void live_read(struct live *live, int which)
{
    read_between_sums(live, which, hr_blame_read);
}

void live_peek(struct live *live, int which)
{
    read_between_sums(live, which, hr_blame_peek);
}

/* Waits that began before attaching are unknown: they end first. */
void live_measure(struct live *live, unsigned ms)
{
    for (int i = 0; i < 30; i++) {
        usleep(10 * 1000);
        for (size_t task = 0; task < live->task_count; task++)
            read_task(&live->tasks[task]);
    }
    live_read(live, 0);
    usleep(ms * 1000);
    live_read(live, 1);
    ck_assert_int_eq(hr_blame_delta(&live->before, &live->after, &live->delta), 0);
    ck_assert_uint_eq(live->delta.lost_ns, 0);
}

/* --- What the kernel says ------------------------------------------------- */

static bool is_of(const struct live_task *task, const char *group)
{
    return strcmp(task->group, group) == 0;
}

struct live_bounds live_waited(const struct live *live, const char *group)
{
    struct live_bounds bounds = {0};

    for (size_t i = 0; i < live->task_count; i++) {
        const struct live_task *task = &live->tasks[i];
        if (!is_of(task, group))
            continue;
        bounds.least_ms += task->before[1].waited_ms - task->after[0].waited_ms;
        bounds.most_ms += task->after[1].waited_ms - task->before[0].waited_ms;
    }
    return bounds;
}

struct live_bounds live_ran(const struct live *live, const char *group)
{
    struct live_bounds bounds = {0};

    for (size_t i = 0; i < live->task_count; i++) {
        const struct live_task *task = &live->tasks[i];
        if (!is_of(task, group))
            continue;
        bounds.least_ms += task->before[1].ran_ms - task->after[0].ran_ms;
        bounds.most_ms += task->after[1].ran_ms - task->before[0].ran_ms;
    }
    return bounds;
}

double live_under_way(const struct live *live, const char *group, int which)
{
    double ms = 0;

    for (size_t i = 0; i < live->task_count; i++) {
        const struct live_task *task = &live->tasks[i];
        const struct live_sums *sums = &task->before[which];
        if (is_of(task, group))
            ms += sums->at_ms - sums->ran_ms - sums->waited_ms - task->began_ms;
    }
    return ms;
}

struct live_bounds live_other(const struct live *live)
{
    return (struct live_bounds){live->other_before[1] - live->other_after[0],
                                live->other_after[1] - live->other_before[0]};
}

double live_read_throttled(const struct live *live)
{
    char line[128];
    double ms = -1;
    int fd = openat(groups_dirfd(live->groups), "limited/cpu.stat", O_RDONLY);

    ck_assert_int_ge(fd, 0);
    FILE *file = fdopen(fd, "r");
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "throttled_time ", 15) == 0)
            ms = strtod(line + 15, NULL) / 1e6;
        else if (strncmp(line, "throttled_usec ", 15) == 0)
            ms = strtod(line + 15, NULL) / 1e3;
    fclose(file);
    ck_assert_double_ge(ms, 0);
    return ms;
}

/* --- What was measured ---------------------------------------------------- */

double live_cell_by_id(const struct live *live, uint64_t waiter, enum hr_blame_taker taker,
                       uint64_t group)
{
    double ms = 0;

    for (size_t i = 0; i < live->delta.count; i++) {
        const struct hr_blame_cell *cell = &live->delta.cells[i];
        if (cell->waiter == waiter && cell->taker == taker && cell->group == group)
            ms += (double)cell->wait_ns / 1e6;
    }
    return ms;
}

double live_cell(const struct live *live, const char *waiter, enum hr_blame_taker taker,
                 const char *group)
{
    return live_cell_by_id(live, live_id(live, waiter), taker,
                           group != NULL ? live_id(live, group) : 0);
}

double live_total_by_id(const struct live *live, uint64_t waiter)
{
    double ms = 0;

    for (size_t i = 0; i < live->delta.count; i++)
        if (live->delta.cells[i].waiter == waiter)
            ms += (double)live->delta.cells[i].wait_ns / 1e6;
    return ms;
}

double live_total(const struct live *live, const char *waiter)
{
    return live_total_by_id(live, live_id(live, waiter));
}

void live_print(const struct live *live)
{
    const struct hr_blame_matrix *delta = &live->delta;

    for (size_t i = 0; i < delta->count; i++)
        printf("# %" PRIu64 " waited %.1f ms for %s %" PRIu64 "\n", delta->cells[i].waiter,
               (double)delta->cells[i].wait_ns / 1e6, hr_blame_taker_name(delta->cells[i].taker),
               delta->cells[i].group);
    printf("# no room for %.1f ms, and to split %.1f ms\n", (double)delta->lost_ns / 1e6,
           (double)delta->unsplit_ns / 1e6);
}

void live_expect(const char *what, double ms, struct live_bounds bounds, double pct, double edge_ms)
{
    printf("# %s: %.1f ms, the kernel's: %.1f to %.1f\n", what, ms, bounds.least_ms,
           bounds.most_ms);
    ck_assert_msg(ms >= bounds.least_ms * (1 - pct / 100) - edge_ms &&
                      ms <= bounds.most_ms * (1 + pct / 100) + edge_ms,
                  "%s: %.1f ms is not within %.1f to %.1f ms, give or take %.1f %%", what, ms,
                  bounds.least_ms, bounds.most_ms, pct);
}

void live_expect_sum(const struct live *live, const char *group)
{
    char what[64];

    snprintf(what, sizeof(what), "waits of %s", group);
    live_expect(what, live_total(live, group), live_waited(live, group), LIVE_SUM_PCT, 0);
    double unknown = live_cell(live, group, HR_BLAME_UNKNOWN, NULL);
    ck_assert_msg(unknown <= live_total(live, group) / 100, "%s: %.1f ms unattributed", what,
                  unknown);
}

/* Waits count when they end, what others ran counts at once: what is under way at the beginning is
 * counted with all of it, and what is at the end isn't yet. */
void live_expect_ran(const struct live *live, const char *waiter, const char *taker, double ms)
{
    struct live_bounds ran = live_ran(live, taker);
    char what[64];

    ran.least_ms -= live_under_way(live, waiter, 1);
    ran.most_ms += live_under_way(live, waiter, 0);
    snprintf(what, sizeof(what), "%s by %s", waiter, taker);
    /* Where the machine switches often what is unattributed may be of that group; it is little, as
     * live_expect_sum() checks. */
    live_expect(what, ms, ran, LIVE_TAKEN_PCT,
                TICK_MS + live_cell(live, waiter, HR_BLAME_UNKNOWN, NULL));
}

void live_expect_taken(const struct live *live, const char *waiter, const char *taker)
{
    live_expect_ran(live, waiter, taker, live_cell(live, waiter, HR_BLAME_GROUP, taker));
}
