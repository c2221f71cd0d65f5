/* SPDX-License-Identifier: MIT */
/*
 * collectors/process/check_process.c - finding processes and keeping references to them, in a tree
 * of files and on the running system.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headroom/process.h"
#include "headroom/root.h"
#include "process/names.h"
#include "process/stat.h"
#include "support/descriptor_shortage.h"
#include "support/suite.h"
#include "support/tree.h"

static struct tree *tree;
static struct hr_root *root;
static struct hr_process_list list;

static void set_up(void)
{
    tree = tree_new();
    list = (struct hr_process_list){0};
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_process_list_free(&list);
    hr_root_close(root);
    tree_free(tree);
}

/* --- stat ----------------------------------------------------------------- */

/* The fields after the state, up to the flags; between these and the start; and at the end. */
#define TO_FLAGS " 1 4711 4711 0 -1 "
#define TO_START " 1 2 3 4 5 6 7 8 20 0 1 0 "
#define TO_END   " 2703360 236 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0\n"

static const struct {
    const char *text;
    struct hr_process_stat stat;
} stats[] = {
    {"423 (mysqld) S" TO_FLAGS "4194560" TO_START "12345" TO_END,
     {"mysqld", false, false, false, 12345, false}},
    {"1 (a) Z" TO_FLAGS "0" TO_START "0" TO_END, {"a", true, false, false, 0, false}},
    {"1 (a) R" TO_FLAGS "4195404" TO_START "3" TO_END, {"a", false, true, false, 3, false}},
    {"1 (a) X" TO_FLAGS "0" TO_START "0" TO_END, {"a", true, false, false, 0, false}},
    {"2 (kthreadd) S" TO_FLAGS "2129984" TO_START "8" TO_END,
     {"kthreadd", false, false, true, 8, false}},
    {"7 (a) b (c) R" TO_FLAGS "0" TO_START "9" TO_END, {"a) b (c", false, false, false, 9, false}},
    {"7 () R" TO_FLAGS "0" TO_START "9" TO_END, {"", false, false, false, 9, false}},
    {"7 (a\nb c) D" TO_FLAGS "0" TO_START "9" TO_END, {"a\nb c", false, false, false, 9, false}},
    {"7 (kworker/R-mm_percpu_wq) I" TO_FLAGS "69238880" TO_START "9" TO_END,
     {"kworker/R-mm_pe", false, false, true, 9, true}},
    {"7 (a) R" TO_FLAGS "0" TO_START "18446744073709551615\n",
     {"a", false, false, false, UINT64_MAX, false}},
};

START_TEST(parses_stat)
{
    struct hr_process_stat stat;

    ck_assert_int_eq(hr_process_stat_parse(stats[_i].text, strlen(stats[_i].text), &stat), 0);
    ck_assert_str_eq(stat.name, stats[_i].stat.name);
    ck_assert_int_eq(stat.is_zombie, stats[_i].stat.is_zombie);
    ck_assert_int_eq(stat.is_exiting, stats[_i].stat.is_exiting);
    ck_assert_int_eq(stat.is_kernel_thread, stats[_i].stat.is_kernel_thread);
    ck_assert_uint_eq(stat.started_ticks, stats[_i].stat.started_ticks);
    ck_assert_int_eq(stat.is_bound, stats[_i].stat.is_bound);
}
END_TEST

static const char *const no_stats[] = {
    "",
    "423",
    "423 (mysqld",
    "423 mysqld S" TO_FLAGS "0" TO_START "1" TO_END,
    "(mysqld) S" TO_FLAGS "0" TO_START "1" TO_END,
    "423 (mysqld)" TO_FLAGS "0" TO_START "1" TO_END,
    "423 (mysqld) S" TO_FLAGS "x" TO_START "1" TO_END,
    "423 (mysqld) S" TO_FLAGS "-1" TO_START "1" TO_END,
    "423 (mysqld) S" TO_FLAGS "0" TO_START,
    "423 (mysqld) S" TO_FLAGS "0" TO_START "1",
    "423 (mysqld) S" TO_FLAGS "0" TO_START "18446744073709551616" TO_END,
    "423 (mysqld) S  1 4711",
};

START_TEST(refuses_what_is_no_stat)
{
    struct hr_process_stat stat;

    ck_assert_int_eq(hr_process_stat_parse(no_stats[_i], strlen(no_stats[_i]), &stat), -EBADMSG);
}
END_TEST

/* --- In a tree ------------------------------------------------------------ */

#define KERNEL_THREAD 0x200000

static void add_process(int pid, const char *name, char state, unsigned flags, uint64_t started)
{
    const struct tree_process process = {
        .pid = pid,
        .name = name,
        .state = state,
        .flags = flags,
        .started = started,
        .rss_bytes = (uint64_t)pid * (uint64_t)sysconf(_SC_PAGESIZE),
    };

    tree_add_process(tree, &process);
}

static int find_processes(enum hr_process_by by, const char *text, pid_t pid)
{
    struct hr_process_choice choice = {.by = by, .text = text, .pid = pid};

    return hr_process_list_find(root, &choice, &list);
}

START_TEST(holds_a_process)
{
    struct hr_process process;
    uint64_t rss_bytes;

    add_process(42, "mysqld", 'S', 0, 500);
    ck_assert_int_eq(hr_process_open(root, 42, &process), 0);
    ck_assert_int_eq(process.pid, 42);
    ck_assert_str_eq(process.name, "mysqld");
    ck_assert_int_eq(hr_process_read_rss(&process, &rss_bytes), 0);
    ck_assert_uint_eq(rss_bytes, 42 * (uint64_t)sysconf(_SC_PAGESIZE));
    ck_assert_int_eq(hr_process_openat(&process, "smaps_rollup", O_RDONLY), -ENOENT);
}
END_TEST

START_TEST(distinguishes_kinds)
{
    struct hr_process process = {.pid = -7};

    add_process(2, "kthreadd", 'S', KERNEL_THREAD, 0);
    add_process(3, "gone", 'Z', 0, 9);
    tree_write(tree, "proc/5/stat", "nonsense");
    ck_assert_int_eq(hr_process_open(root, 2, &process), -ENXIO);
    ck_assert_int_eq(hr_process_open(root, 3, &process), -ECHILD);
    ck_assert_int_eq(hr_process_open(root, 4, &process), -ESRCH);
    ck_assert_int_eq(hr_process_open(root, 5, &process), -EBADMSG);
    ck_assert_int_eq(process.pid, -7);
}
END_TEST

static void *sleep_for_ever(void *context)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
    return context;
}

/* Starts a process whose first thread ends, while another goes on. */
static pid_t start_without_first_thread(void)
{
    pid_t pid = fork();
    pthread_t thread;

    if (pid != 0)
        return pid;
    if (pthread_create(&thread, NULL, sleep_for_ever, NULL) != 0)
        _exit(1);
    pthread_exit(NULL);
}

/* With its directory kept, and without: it is the same process, and its memory is read. */
START_TEST(reads_a_process_by_a_thread_that_lives)
{
    struct hr_process before, process = {.dirfd = -1};
    struct hr_root *live;
    uint64_t rss_bytes;

    ck_assert_int_eq(hr_root_open("/", &live), 0);
    pid_t pid = start_without_first_thread();
    ck_assert_int_eq(hr_process_open(live, pid, &before), 0);
    if (_i == 1)
        leave_descriptors(8);
    do {
        hr_process_close(&process);
        ck_assert_int_eq(hr_process_open(live, pid, &process), 0);
    } while (process.tid == pid);
    ck_assert_int_eq(process.pid, pid);
    ck_assert_uint_eq(process.started_ticks, before.started_ticks);
    ck_assert_int_eq(hr_process_read_rss(&process, &rss_bytes), 0);
    ck_assert_uint_gt(rss_bytes, 4096);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(hr_process_read_rss(&process, &rss_bytes), -ESRCH);
    hr_process_close(&process);
    hr_process_close(&before);
    hr_root_close(live);
}
END_TEST

/* With its directory kept, and without. */
START_TEST(detects_a_reused_pid)
{
    struct hr_process process;
    uint64_t rss_bytes;

    add_process(42, "mysqld", 'S', 0, 500);
    if (_i == 1)
        leave_descriptors(8);
    ck_assert_int_eq(hr_process_open(root, 42, &process), 0);
    ck_assert_int_eq(process.dirfd < 0, _i);
    ck_assert_int_eq(hr_process_read_rss(&process, &rss_bytes), 0);
    tree_remove(tree, "proc/42");
    ck_assert_int_eq(hr_process_openat(&process, "comm", O_RDONLY), -ESRCH);
    add_process(42, "mysqld", 'S', 0, 501);
    ck_assert_int_eq(hr_process_read_rss(&process, &rss_bytes), -ESRCH);
    ck_assert_int_eq(hr_process_openat(&process, "comm", O_RDONLY), -ESRCH);
    hr_process_close(&process);
}
END_TEST

/* Neither opening nor failing leaves a descriptor behind. */
START_TEST(leaves_no_descriptor)
{
    int before = count_descriptors();

    add_process(42, "a", 'S', 0, 1);
    add_process(43, "a", 'Z', 0, 1);
    add_process(44, "a", 'S', 0, 1);
    tree_write(tree, "proc/45/comm", "a\n");
    tree_write(tree, "proc/45/stat", "nonsense");
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_NAME, "a", 0), -EBADMSG);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_int_eq(count_descriptors(), before);
    tree_remove(tree, "proc/45");
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(find_processes(HR_PROCESS_BY_NAME, "a", 0), 0);
    ck_assert_int_eq(count_descriptors(), before + 2);
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_NAME, "b", 0), -ESRCH);
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

static const char *const no_statms[] = {"", "1000", "1000 ", "1000 x 3\n",
                                        "1000 18446744073709551615 3 4 0 6 0\n"};

START_TEST(refuses_what_is_no_statm)
{
    struct hr_process process;
    uint64_t rss_bytes;

    add_process(42, "mysqld", 'S', 0, 500);
    ck_assert_int_eq(hr_process_open(root, 42, &process), 0);
    tree_write(tree, "proc/42/statm", "%s", no_statms[_i]);
    ck_assert_int_eq(hr_process_read_rss(&process, &rss_bytes), -EBADMSG);
}
END_TEST

START_TEST(finds_by_name)
{
    add_process(900, "postgres", 'S', 0, 1);
    add_process(42, "postgres", 'S', 0, 1);
    add_process(43, "postgres2", 'S', 0, 1);
    add_process(44, "postgre", 'S', 0, 1);
    add_process(45, "postgres", 'Z', 0, 1);
    add_process(46, "postgres", 'S', KERNEL_THREAD, 1);
    tree_write(tree, "proc/version", "postgres\n");
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_NAME, "postgres", 0), 0);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_int_eq(list.items[0].pid, 42);
    ck_assert_int_eq(list.items[1].pid, 900);
    ck_assert_uint_eq(list.zombies, 1);
    ck_assert_uint_eq(list.kernel_threads, 1);
}
END_TEST

START_TEST(cuts_a_name_as_the_kernel_does)
{
    add_process(42, "prometheus-node", 'S', 0, 1);
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_NAME, "prometheus-node-exporter", 0), 0);
    ck_assert_uint_eq(list.count, 1);
}
END_TEST

/* What was read serves until something newer is wanted. */
START_TEST(reads_names_once_for_many)
{
    struct hr_process_names names = {0};
    const struct hr_process_named *found;
    size_t count;

    add_process(43, "mysqld", 'S', 0, 500);
    add_process(7, "mysqld", 'S', 0, 500);
    add_process(42, "mysqld_safe", 'S', 0, 500);
    add_process(8, "mysql", 'S', 0, 500);
    ck_assert_int_eq(hr_process_names_read(&names, root, UINT64_MAX), 0);
    found = hr_process_names_find(&names, "mysqld", &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(found[0].pid, 7);
    ck_assert_int_eq(found[1].pid, 43);
    hr_process_names_find(&names, "zz", &count);
    ck_assert_uint_eq(count, 0);
    add_process(44, "mysqld", 'S', 0, 500);
    ck_assert_int_eq(hr_process_names_read(&names, root, names.read_ns - 1), 0);
    ck_assert_int_eq(hr_process_list_find_named(root, &names, "mysqld", NULL, &list), 0);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_int_eq(hr_process_names_read(&names, root, names.read_ns), 0);
    ck_assert_int_eq(hr_process_list_find_named(root, &names, "mysqld", NULL, &list), 0);
    ck_assert_uint_eq(list.count, 3);
    hr_process_names_free(&names);
}
END_TEST

START_TEST(leaves_out_those_that_are_known)
{
    struct hr_process_names names = {0};
    struct hr_process_list others = {0};

    add_process(7, "mysqld", 'S', 0, 500);
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_NAME, "mysqld", 0), 0);
    add_process(43, "mysqld", 'S', 0, 500);
    ck_assert_int_eq(hr_process_names_read(&names, root, 0), 0);
    ck_assert_int_eq(hr_process_list_find_named(root, &names, "mysqld", &list, &others), 0);
    ck_assert_uint_eq(others.count, 1);
    ck_assert_int_eq(others.items[0].pid, 43);
    hr_process_list_free(&others);
    hr_process_names_free(&names);
}
END_TEST

START_TEST(reports_why_none_was_found)
{
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_NAME, "nobody", 0), -ESRCH);
    add_process(42, "a", 'Z', 0, 1);
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_NAME, "a", 0), -ECHILD);
    add_process(43, "a", 'S', KERNEL_THREAD, 1);
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_NAME, "a", 0), -ENXIO);
    ck_assert_uint_eq(list.zombies, 1);
    add_process(44, "a", 'S', 0, 1);
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_NAME, "a", 0), 0);
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_PID, NULL, 42), -ECHILD);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_PID, NULL, 47), -ESRCH);
}
END_TEST

static const struct {
    const char *text;
    int status;
} files[] = {
    {"42", 0},           {"42\n", 0},
    {"  42\n", 0},       {"42 \n/var/lib/postgresql\n1700000000\n", 0},
    {"43\n", -ESRCH},    {"", -EBADMSG},
    {"\n", -EBADMSG},    {"pid 42\n", -EBADMSG},
    {"42x\n", -EBADMSG}, {"0\n", -EBADMSG},
    {"-1\n", -EBADMSG},  {"4294967338\n", -EBADMSG},
};

START_TEST(finds_by_file)
{
    add_process(42, "a", 'S', 0, 1);
    tree_write(tree, "run/a.pid", "%s", files[_i].text);
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_FILE, "/run/a.pid", 0), files[_i].status);
    ck_assert_uint_eq(list.count, files[_i].status == 0);
}
END_TEST

START_TEST(needs_the_file)
{
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_FILE, "/run/a.pid", 0), -ENOENT);
}
END_TEST

/* Nor does it wait for a writer of a pipe. */
START_TEST(takes_no_pipe_for_a_file)
{
    char path[300];

    tree_add_directory(tree, "run");
    snprintf(path, sizeof(path), "%s/run/a.pid", tree_path(tree));
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_FILE, "/run/a.pid", 0), -EBADMSG);
}
END_TEST

/* Its name changed between comm and stat. */
START_TEST(leaves_out_renamed_processes)
{
    add_process(42, "a", 'S', 0, 1);
    tree_write(tree, "proc/42/comm", "b\n");
    ck_assert_int_eq(find_processes(HR_PROCESS_BY_NAME, "b", 0), -ESRCH);
    ck_assert_uint_eq(list.ended, 1);
}
END_TEST

START_TEST(finds_in_a_cgroup)
{
    add_process(42, "a", 'S', 0, 1);
    add_process(43, "b", 'S', 0, 1);
    tree_add_group(tree, "a.slice", false);
    tree_write(tree, TREE_CGROUPS "/a.slice/cgroup.procs", "42\n99\n");
    tree_add_group(tree, "a.slice/b", false);
    tree_write(tree, TREE_CGROUPS "/a.slice/b/cgroup.procs", "43\n");
    int fd = hr_root_openat(root, TREE_CGROUPS "/a.slice", O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(hr_process_list_find_in_cgroup(root, fd, &list), 0);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_uint_eq(list.ended, 1);
    tree_write(tree, TREE_CGROUPS "/a.slice/cgroup.procs", "%s", "");
    tree_write(tree, TREE_CGROUPS "/a.slice/b/cgroup.procs", "%s", "");
    ck_assert_int_eq(hr_process_list_find_in_cgroup(root, fd, &list), -ESRCH);
    tree_remove_group(tree, "a.slice");
    ck_assert_int_eq(hr_process_list_find_in_cgroup(root, fd, &list), -ENODEV);
    close(fd);
}
END_TEST

/* --- Of the running system ------------------------------------------------ */

START_TEST(holds_one_that_runs_until_it_ends)
{
    struct hr_root *live;
    struct hr_process process, other;
    uint64_t rss_bytes;
    pid_t parent = getpid();

    ck_assert_int_eq(hr_root_open("/", &live), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == parent)
            pause();
        _exit(0);
    }
    ck_assert_int_eq(hr_process_open(live, pid, &process), 0);
    ck_assert_str_eq(process.name, "check_process");
    ck_assert_int_eq(hr_process_read_rss(&process, &rss_bytes), 0);
    ck_assert_uint_gt(rss_bytes, 4096);
    int fd = hr_process_openat(&process, "stat", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    close(fd);
    kill(pid, SIGKILL);
    siginfo_t info;
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    /* A zombie still has its files, but no memory. */
    ck_assert_int_eq(hr_process_open(live, pid, &other), -ECHILD);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(hr_process_openat(&process, "stat", O_RDONLY), -ESRCH);
    ck_assert_int_eq(hr_process_open(live, pid, &other), -ESRCH);
    hr_process_close(&process);
    hr_root_close(live);
}
END_TEST

START_TEST(finds_no_thread_of_the_kernel)
{
    struct hr_root *live;
    struct hr_process process;

    ck_assert_int_eq(hr_root_open("/", &live), 0);
    /* A PID namespace of its own has no kernel threads. */
    if (access("/proc/2/exe", F_OK) < 0 && hr_process_open(live, 2, &process) != -ESRCH)
        ck_assert_int_eq(hr_process_open(live, 2, &process), -ENXIO);
    ck_assert_int_eq(hr_process_open(live, getpid(), &process), 0);
    hr_root_close(live);
}
END_TEST

/* --- Its cgroup ----------------------------------------------------------- */

static const struct {
    const char *text;
    int status;
    const char *path;
} cgroups[] = {
    {"0::/system.slice/a.service\n", 0, "system.slice/a.service"},
    {"4:pids:/b\n1:name=systemd:/c\n0::/a\n", 0, "a"},
    {"0::/\n", 0, ""},
    {"0::/a", 0, "a"},
    {"0::/..a/b:c\n", 0, "..a/b:c"},
    {"0::/0123456789012345678901234567\n", 0, "0123456789012345678901234567"},
    {"0::/../a\n", -ENOENT, "../a"},
    {"0::/..\n", -ENOENT, ".."},
    {"4:pids:/b\n10::/x\n", -ENOENT, NULL},
    {"", -ENOENT, NULL},
    {"0::\n", -EBADMSG, NULL},
    {"0::a\n", -EBADMSG, NULL},
    {"0::/01234567890123456789012345678901\n", -ENAMETOOLONG, NULL},
};

START_TEST(reports_its_cgroup)
{
    struct hr_process process;
    char path[32] = "untouched";

    add_process(42, "mysqld", 'S', 0, 500);
    tree_write(tree, "proc/42/cgroup", "%s", cgroups[_i].text);
    ck_assert_int_eq(hr_process_open(root, 42, &process), 0);
    ck_assert_int_eq(hr_process_read_cgroup(&process, path, sizeof(path)), cgroups[_i].status);
    if (cgroups[_i].path != NULL)
        ck_assert_str_eq(path, cgroups[_i].path);
    hr_process_close(&process);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof(array[0]))

int main(void)
{
    TCase *tests = tcase_create("process");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, parses_stat, 0, COUNT(stats));
    tcase_add_loop_test(tests, refuses_what_is_no_stat, 0, COUNT(no_stats));
    tcase_add_test(tests, holds_a_process);
    tcase_add_test(tests, distinguishes_kinds);
    tcase_add_loop_test(tests, detects_a_reused_pid, 0, 2);
    tcase_add_test(tests, leaves_no_descriptor);
    tcase_add_loop_test(tests, refuses_what_is_no_statm, 0, COUNT(no_statms));
    tcase_add_loop_test(tests, reports_its_cgroup, 0, COUNT(cgroups));
    tcase_add_test(tests, finds_by_name);
    tcase_add_test(tests, cuts_a_name_as_the_kernel_does);
    tcase_add_test(tests, reads_names_once_for_many);
    tcase_add_test(tests, leaves_out_those_that_are_known);
    tcase_add_test(tests, reports_why_none_was_found);
    tcase_add_loop_test(tests, finds_by_file, 0, COUNT(files));
    tcase_add_test(tests, needs_the_file);
    tcase_add_test(tests, takes_no_pipe_for_a_file);
    tcase_add_test(tests, leaves_out_renamed_processes);
    tcase_add_test(tests, finds_in_a_cgroup);
    tcase_add_loop_test(tests, reads_a_process_by_a_thread_that_lives, 0, 2);
    tcase_add_test(tests, holds_one_that_runs_until_it_ends);
    tcase_add_test(tests, finds_no_thread_of_the_kernel);
    return run_isolated_suite("process", tests);
}
