/* SPDX-License-Identifier: MIT */
#include "collectors/psi/waiters_harness.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/one_group.h"

uint64_t skipped_us, delay_us, delayed_us;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_hr_taskstats_read_thread(struct hr_taskstats *taskstats, pid_t id,
                                    struct hr_task_delays *delays);
int __wrap_hr_taskstats_read_thread(struct hr_taskstats *taskstats, pid_t id,
                                    struct hr_task_delays *delays);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = __real_clock_gettime(clock, now);

    now->tv_sec += (time_t)(skipped_us / HR_US_PER_S);
    return status;
}

int __wrap_hr_taskstats_read_thread(struct hr_taskstats *of, pid_t id,
                                    struct hr_task_delays *delays)
{
    int status = __real_hr_taskstats_read_thread(of, id, delays);

    delays->elapsed_us += delayed_us;
    skipped_us += delay_us;
    delayed_us += delay_us;
    delay_us = 0;
    return status;
}

struct tree *tree;
struct hr_root *root;
struct hr_cgroup_set *set;
struct hr_cgroup *group;
struct fake_taskstats *fake;
struct hr_taskstats *taskstats;

struct hr_waiter top[MAX];
struct hr_waiters_report report;

static void set_up(void)
{
    tree = tree_new();
    tree_add_group(tree, "a", true);
    tree_write(tree, TREE_CGROUPS "/a/cgroup.procs", "%s", "");
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    group = one_group_open(root, "a", &set);
    fake = fake_taskstats_new();
    const struct hr_taskstats_calls calls = fake_taskstats_calls(fake);
    ck_assert_int_eq(hr_taskstats_open(&calls, &taskstats), 0);
    fake_taskstats_set_process(fake, getpid(), NULL); /* a test may use its PID */
    skipped_us = delay_us = delayed_us = 0;
    memset(top, 0, sizeof(top));
    memset(&report, 0, sizeof(report));
}

static void tear_down(void)
{
    hr_taskstats_close(taskstats);
    fake_taskstats_free(fake);
    hr_cgroup_set_close(set);
    hr_root_close(root);
    tree_free(tree);
}

void set_processes(const char *name, const char *pids)
{
    char path[128];

    snprintf(path, sizeof(path), TREE_CGROUPS "/%s/cgroup.procs", name);
    tree_write(tree, path, "%s", pids);
}

void set_name(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/comm", (int)pid);
    tree_write(tree, path, "%s\n", name);
}

void set_waited(pid_t pid, uint64_t ns, uint64_t elapsed_us)
{
    const struct hr_task_delays delays = {.ns = {[HR_DELAY_CPU] = ns}, .elapsed_us = elapsed_us};

    fake_taskstats_set_process(fake, pid, &delays);
    fake_taskstats_set_thread(fake, pid, &delays);
}

void end_process(pid_t pid)
{
    fake_taskstats_set_process(fake, pid, NULL);
    fake_taskstats_set_thread(fake, pid, NULL);
}

void set_many(int count)
{
    static char text[400000];
    size_t length = 0;

    for (int i = 0; i < count; i++) {
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%d\n", 100 + i);
        fake_taskstats_set_process(fake, 100 + i, &(struct hr_task_delays){0});
    }
    set_processes("a", text);
}

struct hr_waiters *take_first_sample(const struct hr_cgroup *of, size_t limit)
{
    struct hr_waiters *waiters = NULL;

    ck_assert_int_eq(hr_waiters_open(root, of, taskstats, HR_PSI_CPU, limit, &waiters), 0);
    return waiters;
}

void take_second_sample(struct hr_waiters *waiters, size_t max)
{
    ck_assert_int_eq(hr_waiters_read(waiters, top, max, &report), 0);
    hr_waiters_close(waiters);
}

void require_waiter(size_t i, pid_t pid, uint64_t waited_ns)
{
    ck_assert_uint_lt(i, report.count);
    ck_assert_int_eq(top[i].pid, pid);
    ck_assert_uint_eq(top[i].waited_ns, waited_ns);
}

void add_waiters_fixture(TCase *tests)
{
    tcase_add_checked_fixture(tests, set_up, tear_down);
}
