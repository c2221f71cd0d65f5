/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_waiters_live.c - taskstats and waiters on the running kernel: busy processes
 * in cgroups made for the test, compared with what the scheduler reports in /proc/PID/schedstat.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/process.h"
#include "headroom/root.h"
#include "headroom/taskstats.h"
#include "headroom/waiters.h"
#include "process/task_list.h"
#include "support/descriptor_shortage.h"
#include "support/groups.h"
#include "support/second_thread.h"
#include "support/suite.h"

#define MAX   4096 /* all of them, however busy the machine is */
#define LIMIT 30000

static struct groups *groups;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static struct hr_taskstats *taskstats;
static pid_t started[8];
static size_t started_count;

static struct hr_waiter top[MAX];
static struct hr_waiters_report report;

static void set_up(void)
{
    started_count = 0;
    set = NULL;
    groups = groups_new();
    ck_assert_ptr_nonnull(groups);
    ck_assert_int_eq(hr_root_open("/", &root), 0);
    ck_assert_int_eq(hr_taskstats_open(NULL, &taskstats), 0);
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void tear_down(void)
{
    while (started_count > 0)
        end_process(started[--started_count]);
    hr_taskstats_close(taskstats);
    hr_cgroup_set_close(set);
    hr_root_close(root);
    groups_free(groups);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- Busy processes ------------------------------------------------------- */

static void *spin(void *unused)
{
    for (;;)
        __asm__ volatile("" : : "r"(unused));
    return NULL;
}

__attribute__((noreturn)) static void be_busy(pid_t parent, const char *group, int threads,
                                              int ready)
{
    pthread_t thread;
    cpu_set_t cpus;
    char own[16];

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed test leaves no process behind */
    if (getppid() != parent)
        _exit(1);
    prctl(PR_SET_NAME, threads == 2 ? "two busy" : "one busy");
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    sched_setaffinity(0, sizeof(cpus), &cpus);
    snprintf(own, sizeof(own), "%d", (int)getpid());
    if (group != NULL)
        groups_write(groups, group, "cgroup.procs", own);
    if (threads == 2)
        pthread_create(&thread, NULL, spin, NULL);
    if (write(ready, "", 1) == 1)
        spin(NULL);
    _exit(0);
}

/* Starts a process of one or two busy threads; all threads of all such processes share one CPU. It
 * enters the group first, unless that is NULL. */
static pid_t start_busy(const char *group, int threads)
{
    int ends[2];
    char byte;

    ck_assert_int_eq(pipe(ends), 0);
    pid_t parent = getpid(), pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        be_busy(parent, group, threads, ends[1]);
    started[started_count++] = pid;
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1); /* it has entered the group */
    close(ends[0]);
    return pid;
}

/* @return the sum over its threads of the second number in schedstat: "RAN WAITED SLICES". */
static uint64_t read_schedstat(pid_t pid)
{
    char path[512];
    uint64_t ran, waited, sum = 0;
    const struct dirent *entry;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    ck_assert_ptr_nonnull(directory);
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%.16s/schedstat", (int)pid, entry->d_name);
        FILE *stream = fopen(path, "r");
        ck_assert_ptr_nonnull(stream);
        ck_assert_int_eq(fscanf(stream, "%" SCNu64 " %" SCNu64, &ran, &waited), 2);
        fclose(stream);
        sum += waited;
    }
    closedir(directory);
    return sum;
}

/* --- Samples -------------------------------------------------------------- */

/* @param name  of a group of this test, NULL for their parent. */
static const struct hr_cgroup *find_group(const char *name)
{
    char path[128];
    const char *patterns[] = {path};
    const struct hr_cgroup_options options = {.patterns = patterns, .pattern_count = 1};
    const struct hr_cgroup *group = NULL;

    hr_cgroup_set_close(set);
    set = NULL;
    snprintf(path, sizeof(path), "%s%s%s", groups_path(groups), name ? "/" : "", name ? name : "");
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    for (int i = 0; i < 2000 && group == NULL; i++) {
        usleep(10000); /* the kernel reports with a delay that a process entered */
        ck_assert_int_eq(hr_cgroup_set_read(set), 0);
        group = hr_cgroup_set_next(set, NULL);
    }
    ck_assert_ptr_nonnull(group);
    return group;
}

static struct hr_waiters *take_sample_up_to(const struct hr_cgroup *group, size_t limit)
{
    struct hr_waiters *waiters = NULL;

    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, HR_PSI_CPU, limit, &waiters), 0);
    return waiters;
}

static struct hr_waiters *take_first_sample(const struct hr_cgroup *group)
{
    return take_sample_up_to(group, LIMIT);
}

/* The share of the time that a process waited, in percent. The true one is between the least, of
 * the time from before the first sample to after the second, and the most, of the time between
 * them. */
struct share {
    double least, most;
};

/* Measures for half a second, and compares with the scheduler's numbers of the process: these are
 * read before and after each sample, which must be in between. */
static struct share measure_share(const struct hr_cgroup *group, pid_t pid)
{
    uint64_t before_first = read_schedstat(pid);
    uint64_t start = now_ns();
    struct hr_waiters *waiters = take_first_sample(group);
    uint64_t begun = now_ns();
    uint64_t after_first = read_schedstat(pid);
    usleep(500000);
    uint64_t before_second = read_schedstat(pid);
    uint64_t asked = now_ns();
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    uint64_t stop = now_ns();
    uint64_t after_second = read_schedstat(pid);
    hr_waiters_close(waiters);

    ck_assert_uint_ge(report.count, 1);
    ck_assert_uint_eq(report.skipped_count, 0);
    for (size_t i = 0; i < report.count; i++) {
        if (top[i].pid != pid)
            continue;
        ck_assert_uint_ge(top[i].waited_ns, before_second - after_first);
        ck_assert_uint_le(top[i].waited_ns, after_second - before_first);
        double waited = 100 * (double)top[i].waited_ns;
        return (struct share){waited / (double)(stop - start), waited / (double)(asked - begun)};
    }
    ck_abort_msg("%d isn't among those that waited", (int)pid);
    return (struct share){0};
}

/* --- taskstats ------------------------------------------------------------ */

START_TEST(reads_itself)
{
    struct hr_task_delays process, thread;

    ck_assert_int_eq(hr_taskstats_read_process(taskstats, getpid(), &process), 0);
    ck_assert_int_eq(hr_taskstats_read_thread(taskstats, getpid(), &thread), 0);
    ck_assert_uint_eq(process.known, thread.known);
    ck_assert_uint_eq(process.known & 0x0f, 0x0f);
    ck_assert_uint_eq(process.elapsed_us, 0);
    for (int i = 0; i < HR_DELAY_COUNT; i++) /* none is another of the struct's numbers */
        ck_assert_uint_lt(process.ns[i], UINT64_C(60000000000));
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 0, &process), -ESRCH);
}
END_TEST

START_TEST(opens_a_socket_that_never_waits)
{
    struct hr_taskstats *another;
    int fd = dup(STDOUT_FILENO); /* the next free descriptor */

    close(fd);
    ck_assert_int_eq(hr_taskstats_open(NULL, &another), 0);
    ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    hr_taskstats_close(another);
}
END_TEST

START_TEST(reports_the_age_of_a_task)
{
    struct hr_task_delays delays;

    uint64_t before = now_ns();
    groups_make(groups, "a");
    pid_t pid = groups_start_sleeper(groups, "a");
    uint64_t after = now_ns();
    usleep(50000);
    uint64_t asked = now_ns();
    ck_assert_int_eq(hr_taskstats_read_thread(taskstats, pid, &delays), 0);
    uint64_t answered = now_ns();
    ck_assert_uint_ge(delays.elapsed_us, (asked - after) / 1000);
    ck_assert_uint_le(delays.elapsed_us, (answered - before) / 1000);
    groups_end(groups, pid);
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, pid, &delays), -ESRCH);
    ck_assert_int_eq(hr_taskstats_read_thread(taskstats, pid, &delays), -ESRCH);
}
END_TEST

/* Drops the privilege that taskstats requires, or restores it. */
static void set_net_admin(bool allowed)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    ck_assert_int_eq(syscall(SYS_capget, &head, data), 0);
    if (allowed)
        data[0].effective |= 1u << CAP_NET_ADMIN;
    else
        data[0].effective &= ~(1u << CAP_NET_ADMIN);
    ck_assert_int_eq(syscall(SYS_capset, &head, data), 0);
}

START_TEST(reports_a_missing_privilege)
{
    struct hr_taskstats *another = NULL;
    struct hr_task_delays delays;

    set_net_admin(false);
    ck_assert_int_eq(hr_taskstats_open(NULL, &another), -EPERM);
    ck_assert_ptr_null(another);
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, getpid(), &delays), -EPERM);
    set_net_admin(true);
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, getpid(), &delays), 0);
}
END_TEST

START_TEST(takes_neither_memory_nor_descriptors)
{
    struct hr_task_delays delays;
    struct hr_taskstats *another;

    ck_assert_int_eq(hr_taskstats_open(NULL, &another), 0);
    hr_taskstats_close(another);
    size_t heap = mallinfo2().uordblks;
    int descriptors = count_descriptors();
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(hr_taskstats_open(NULL, &another), 0);
        hr_taskstats_close(another);
    }
    for (int i = 0; i < 2000; i++)
        ck_assert_int_eq(hr_taskstats_read_process(taskstats, getpid(), &delays), 0);
    /* A leak would take several times that. What malloc keeps in a cache counts as in use. */
    ck_assert_uint_le(mallinfo2().uordblks, heap + 4096);
    ck_assert_int_eq(count_descriptors(), descriptors);
    leave_descriptors(0);
    ck_assert_int_eq(hr_taskstats_open(NULL, &another), -EMFILE);
}
END_TEST

/* --- Waiters -------------------------------------------------------------- */

START_TEST(finds_waiters_for_the_cpu)
{
    groups_make(groups, "a");
    groups_make(groups, "b");
    groups_start_sleeper(groups, "a");
    pid_t busy = start_busy("a", 1);
    start_busy("b", 1);
    struct share share = measure_share(find_group("a"), busy);
    ck_assert_int_eq(top[0].pid, busy);
    ck_assert_str_eq(top[0].name, "one busy");
    ck_assert_uint_eq(report.sampled_count, 2);
    ck_assert_double_gt(share.most, 25); /* a half, or more if the machine is busy */
    ck_assert_double_lt(share.least, 105);
}
END_TEST

START_TEST(sums_over_threads)
{
    groups_make(groups, "a");
    pid_t busy = start_busy("a", 2);
    struct share share = measure_share(find_group("a"), busy);
    ck_assert_int_eq(top[0].pid, busy);
    ck_assert_str_eq(top[0].name, "two busy");
    ck_assert_uint_eq(report.sampled_count, 2);
    ck_assert_uint_eq(report.count, 1);
    ck_assert_double_gt(share.most, 75); /* each of them a half, or more */
    ck_assert_double_lt(share.least, 210);
}
END_TEST

START_TEST(finds_them_in_the_system)
{
    pid_t busy = start_busy(NULL, 2);

    usleep(100000);
    ck_assert_double_gt(measure_share(NULL, busy).most, 75);
    ck_assert_uint_gt(report.sampled_count, 3);
}
END_TEST

START_TEST(distinguishes_new_from_moved)
{
    char text[16];

    groups_make(groups, "a");
    groups_await_sleep(groups_start_sleeper(groups, "a"));
    pid_t moves = start_busy(NULL, 1);
    usleep(100000);
    const struct hr_cgroup *group = find_group("a");
    struct hr_waiters *waiters = take_first_sample(group);
    snprintf(text, sizeof(text), "%d", (int)moves);
    groups_write(groups, "a", "cgroup.procs", text);
    pid_t begins = start_busy("a", 1);
    usleep(300000);
    uint64_t before = read_schedstat(begins);
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    uint64_t after = read_schedstat(begins);
    hr_waiters_close(waiters);
    ck_assert_uint_eq(report.sampled_count, 1);
    ck_assert_uint_eq(report.count, 1);
    ck_assert_int_eq(top[0].pid, begins);
    ck_assert_uint_ge(top[0].waited_ns, before); /* all of its wait */
    ck_assert_uint_le(top[0].waited_ns, after);
}
END_TEST

START_TEST(gets_over_what_goes)
{
    groups_make(groups, "a");
    groups_make(groups, "a/b");
    pid_t above = groups_start_sleeper(groups, "a");
    pid_t below = groups_start_sleeper(groups, "a/b");
    const struct hr_cgroup *group = find_group("a");
    struct hr_waiters *waiters = take_first_sample(group);
    groups_end(groups, below);
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    ck_assert_uint_eq(report.sampled_count, 2);
    groups_remove(groups, "a/b");
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    groups_end(groups, above);
    groups_remove(groups, "a");
    groups_make(groups, "a"); /* another group of the same name */
    groups_start_sleeper(groups, "a");
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    ck_assert_uint_eq(report.count, 0);
    hr_waiters_close(waiters);
    ck_assert_int_eq(hr_waiters_open(root, group, taskstats, HR_PSI_CPU, LIMIT, &waiters), -ENODEV);
}
END_TEST

/* --- Threaded groups ------------------------------------------------------ */

/* A process whose first thread is in "t", the second in "t/u"; both are threaded groups. */
static pid_t start_in_threaded_groups(pid_t *second)
{
    char text[16];

    groups_make(groups, "t");
    groups_write(groups, "t", "cgroup.type", "threaded");
    groups_make(groups, "t/u");
    groups_write(groups, "t/u", "cgroup.type", "threaded");
    pid_t pid = start_busy(NULL, 2);
    *second = find_second_thread(pid);
    ck_assert_int_ne(*second, 0);
    snprintf(text, sizeof(text), "%d", (int)pid);
    groups_write(groups, ".", "cgroup.procs", text);
    groups_write(groups, "t", "cgroup.procs", text);
    snprintf(text, sizeof(text), "%d", (int)*second);
    groups_write(groups, "t/u", "cgroup.threads", text);
    return pid;
}

START_TEST(sums_threads_of_a_threaded_group)
{
    pid_t second, busy = start_in_threaded_groups(&second);

    measure_share(find_group("t"), busy);
    ck_assert_uint_eq(report.sampled_count, 2); /* threads */
    ck_assert_uint_eq(report.count, 1);         /* processes */
    ck_assert_int_eq(top[0].pid, busy);
    ck_assert_str_eq(top[0].name, "two busy");

    measure_share(find_group(NULL), busy); /* only the group above has the process */
    ck_assert_uint_eq(report.sampled_count, 2);
    ck_assert_uint_eq(report.count, 1);
    ck_assert_int_eq(top[0].pid, busy);
}
END_TEST

static uint64_t read_wait_of_thread(pid_t id)
{
    struct hr_task_delays delays;

    ck_assert_int_eq(hr_taskstats_read_thread(taskstats, id, &delays), 0);
    return delays.ns[HR_DELAY_CPU];
}

START_TEST(leaves_out_threads_elsewhere)
{
    pid_t second, busy = start_in_threaded_groups(&second);
    const uint64_t end = now_ns() + UINT64_C(20000000000);

    while (read_wait_of_thread(second) == 0 && now_ns() < end)
        usleep(1000);
    const struct hr_cgroup *group = find_group("t/u");
    uint64_t before_first = read_wait_of_thread(second);
    struct hr_waiters *waiters = take_first_sample(group);
    uint64_t after_first = read_wait_of_thread(second);
    usleep(500000);
    uint64_t before_second = read_wait_of_thread(second);
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    uint64_t after_second = read_wait_of_thread(second);
    hr_waiters_close(waiters);
    ck_assert_uint_gt(before_first, 0);
    ck_assert_uint_eq(report.sampled_count, 1);
    ck_assert_uint_eq(report.count, 1);
    ck_assert_int_eq(top[0].pid, busy); /* the process, with only this thread's wait */
    ck_assert_uint_ge(top[0].waited_ns, before_second - after_first);
    ck_assert_uint_le(top[0].waited_ns, after_second - before_first);
}
END_TEST

/* A group that becomes threaded in between lists other PIDs: threads instead of processes. */
START_TEST(gets_over_a_group_made_threaded)
{
    char text[16];

    groups_make(groups, "t");
    snprintf(text, sizeof(text), "%d", (int)start_busy("t", 2));
    struct hr_waiters *waiters = take_first_sample(find_group("t"));
    groups_write(groups, ".", "cgroup.procs", text); /* only an empty group can become threaded */
    groups_write(groups, "t", "cgroup.type", "threaded");
    groups_write(groups, "t", "cgroup.procs", text);
    usleep(100000);
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    ck_assert_uint_eq(report.count, 0);
    hr_waiters_close(waiters);
}
END_TEST

/* --- Many tasks ----------------------------------------------------------- */

/* Each report has it with a chance of 500 in 625: in 30 it is there. */
START_TEST(finds_the_lowest_pid_of_many)
{
    bool is_named = false;

    groups_make(groups, "a");
    pid_t busy = start_busy("a", 2);
    for (int i = 0; i < 623; i++)
        groups_start_sleeper(groups, "a");
    const struct hr_cgroup *group = find_group("a");
    for (int reports = 0; reports < 30 && !is_named; reports++) {
        struct hr_waiters *waiters = take_sample_up_to(group, 500);
        uint64_t before = read_schedstat(busy);
        while (read_schedstat(busy) == before)
            usleep(10000);
        ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
        hr_waiters_close(waiters);
        ck_assert_uint_eq(report.sampled_count, 500);
        ck_assert_uint_ge(report.skipped_count, 124); /* not examined, the busy one counts as one */
        ck_assert_uint_le(report.skipped_count, 125);
        for (size_t i = 0; i < report.count; i++)
            is_named |= top[i].pid == busy;
    }
    ck_assert(is_named);
}
END_TEST

/* As the flags in stat have it. */
START_TEST(recognizes_kernel_threads)
{
    struct hr_task_list list = {0};
    struct hr_process process;
    size_t kept = 0;

    if (access("/proc/2/task/2/children", F_OK) < 0)
        return;
    ck_assert_int_eq(hr_task_list_read_system(root, &list), 0);
    size_t listed = list.count;
    ck_assert_int_eq(hr_task_list_drop_kernel_threads(root, &list), 0);
    for (; kept < list.count; kept++) {
        int status = hr_process_open(root, list.ids[kept], &process);
        ck_assert_int_ne(status, -ENXIO);
        if (status == 0)
            hr_process_close(&process);
    }
    ck_assert_uint_lt(kept, listed);
    ck_assert(hr_task_list_has(&list, getpid()));
    hr_task_list_free(&list);
}
END_TEST

static void *sleep_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* A process of 3,002 threads, two of which are busy. */
static pid_t start_big(const char *group)
{
    int ends[2];
    char byte;

    ck_assert_int_eq(pipe(ends), 0);
    pid_t parent = getpid(), pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 16384);
        for (int i = 0; i < 3000; i++)
            if (pthread_create(&thread, &attributes, sleep_for_ever, NULL) != 0)
                _exit(1);
        be_busy(parent, group, 2, ends[1]);
    }
    started[started_count++] = pid;
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

/* By threads, as many as the limit allows: all, then a third of them. */
START_TEST(reads_a_big_process_by_threads)
{
    groups_make(groups, "a");
    pid_t busy = start_big("a");
    const struct hr_cgroup *group = find_group("a");
    uint64_t before_first = read_schedstat(busy);
    struct hr_waiters *waiters = take_sample_up_to(group, 5000);
    uint64_t after_first = read_schedstat(busy);
    usleep(300000);
    uint64_t before_second = read_schedstat(busy);
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    uint64_t after_second = read_schedstat(busy);
    hr_waiters_close(waiters);
    ck_assert_uint_eq(report.sampled_count, 3002);
    ck_assert_uint_eq(report.skipped_count, 0);
    ck_assert_uint_eq(report.count, 1);
    ck_assert_int_eq(top[0].pid, busy);
    ck_assert_uint_ge(top[0].waited_ns, before_second - after_first);
    ck_assert_uint_le(top[0].waited_ns, after_second - before_first);

    waiters = take_sample_up_to(group, 1000);
    ck_assert_uint_eq(hr_waiters_sampled_count(waiters), 1000);
    ck_assert_int_eq(hr_waiters_read(waiters, top, MAX, &report), 0);
    ck_assert_uint_eq(report.skipped_count, 2002);
    hr_waiters_close(waiters);
}
END_TEST

/* @return why these tests can't run here, or NULL. */
static const char *find_obstacle(void)
{
    struct groups *tried = groups_new();
    struct hr_taskstats *opened;

    if (tried == NULL)
        return "no cgroup2 hierarchy that can be written to (root is needed)";
    groups_free(tried);
    int status = hr_taskstats_open(NULL, &opened);
    if (status < 0)
        return strerror(-status);
    hr_taskstats_close(opened);
    return NULL;
}

int main(void)
{
    TCase *tests = tcase_create("waiters live");
    const char *obstacle = find_obstacle();

    if (obstacle != NULL) {
        printf("1..0 # SKIP taskstats or cgroups: %s\n", obstacle);
        return 0;
    }
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, reads_itself);
    tcase_add_test(tests, opens_a_socket_that_never_waits);
    tcase_add_test(tests, reports_the_age_of_a_task);
    tcase_add_test(tests, reports_a_missing_privilege);
    tcase_add_test(tests, takes_neither_memory_nor_descriptors);
    tcase_add_test(tests, finds_waiters_for_the_cpu);
    tcase_add_test(tests, sums_over_threads);
    tcase_add_test(tests, finds_them_in_the_system);
    tcase_add_test(tests, distinguishes_new_from_moved);
    tcase_add_test(tests, gets_over_what_goes);
    tcase_add_test(tests, sums_threads_of_a_threaded_group);
    tcase_add_test(tests, leaves_out_threads_elsewhere);
    tcase_add_test(tests, gets_over_a_group_made_threaded);
    tcase_add_test(tests, finds_the_lowest_pid_of_many);
    tcase_add_test(tests, recognizes_kernel_threads);
    tcase_add_test(tests, reads_a_big_process_by_threads);
    tcase_set_timeout(tests, 120);
    return run_isolated_suite("waiters live", tests);
}
