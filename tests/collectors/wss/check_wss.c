/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss.c - what all methods have in common, and the referenced method, in a
 * tree of files, where memory is referenced only if the test writes so.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "headroom/root.h"
#include "headroom/wss.h"
#include "support/descriptor_shortage.h"
#include "support/suite.h"
#include "support/tree.h"

#define KIB UINT64_C(1024)

static struct tree *tree;
static struct hr_root *root;
static struct hr_wss *wss;
static struct hr_reason reason;
static struct hr_wss_sample sample;

static void write_memory(int pid, int rss_kib, int referenced_kib)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/smaps_rollup", pid);
    tree_write(tree, path,
               "1-2 ---p 0 00:00 0 [rollup]\nRss: %d kB\nPss: %d kB\nReferenced: %d kB\n", rss_kib,
               rss_kib / 2, referenced_kib);
    tree_set_resident(tree, pid, (uint64_t)rss_kib * 1024);
}

static void add_process(int pid, const char *name, char state, unsigned flags, uint64_t started)
{
    const struct tree_process process = {
        .pid = pid, .name = name, .state = state, .flags = flags, .started = started};
    char path[64];

    tree_add_process(tree, &process);
    snprintf(path, sizeof(path), "proc/%d/clear_refs", pid);
    tree_write(tree, path, "%s", "");
    write_memory(pid, 4096, 0);
}

static void set_up(void)
{
    tree = tree_new();
    wss = NULL;
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    add_process(1, "init", 'S', 0, 1);
    add_process(42, "mysqld", 'S', 0, 500);
}

static void tear_down(void)
{
    hr_wss_close(wss);
    hr_root_close(root);
    tree_free(tree);
}

/* Whether the bits of a process were cleared since the last call. */
static bool is_cleared(int pid)
{
    char path[64], text[8];

    snprintf(path, sizeof(path), "proc/%d/clear_refs", pid);
    int fd = hr_root_openat(root, path, O_RDONLY);
    ssize_t length = read(fd, text, sizeof(text));
    close(fd);
    tree_write(tree, path, "%s", "");
    return length == 1 && text[0] == '1';
}

static struct hr_wss_options options_of_pid(pid_t pid)
{
    return (struct hr_wss_options){
        .target = {.scope = HR_WSS_PROCESSES, .processes = {.by = HR_PROCESS_BY_PID, .pid = pid}},
        .method = HR_WSS_REFERENCED,
    };
}

static void open_wss(const struct hr_wss_options *options)
{
    ck_assert_int_eq(hr_wss_open(root, options, &wss, &reason), 0);
    ck_assert_int_eq(reason.error, 0);
    if (options->method != HR_WSS_AUTO)
        ck_assert_str_eq(reason.text, "");
}

static void open_name(const char *name)
{
    struct hr_wss_options options = options_of_pid(0);

    options.target.processes = (struct hr_process_choice){.by = HR_PROCESS_BY_NAME, .text = name};
    open_wss(&options);
}

static int begin(void)
{
    return hr_wss_begin(wss, 1000000000, &reason);
}

static int read_sample(void)
{
    return hr_wss_read(wss, 1000000000, &sample, &reason);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- Methods and targets -------------------------------------------------- */

START_TEST(knows_methods_by_name)
{
    enum hr_wss_method method;

    for (int i = 0; i <= HR_WSS_AUTO; i++) {
        ck_assert_int_eq(hr_wss_method_parse(hr_wss_method_name(i), &method), 0);
        ck_assert_int_eq(method, i);
    }
    ck_assert_int_eq(hr_wss_method_parse("Referenced", &method), -ENOENT);
    ck_assert_int_eq(hr_wss_method_parse("", &method), -ENOENT);
}
END_TEST

START_TEST(reports_what_a_method_cannot_do)
{
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_REFERENCED, HR_WSS_SYSTEM, &reason), -EOPNOTSUPP);
    ck_assert_int_eq(reason.error, -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(reason.text, "the whole system"));
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_REFERENCED, HR_WSS_PROCESSES, &reason), 0);
    ck_assert_int_eq(reason.error, 0);
    ck_assert_str_eq(reason.text, "");
}
END_TEST

static const char *const needed[] = {"proc/1/clear_refs", "proc/1/smaps_rollup"};

START_TEST(reports_what_the_kernel_lacks)
{
    struct hr_wss_options options = options_of_pid(42);

    tree_remove(tree, needed[_i]);
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_REFERENCED, HR_WSS_PROCESSES, &reason), -ENOENT);
    ck_assert_ptr_nonnull(strstr(reason.text, "CONFIG_PROC_PAGE_MONITOR"));
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), -ENOENT);
    ck_assert_ptr_null(wss);
}
END_TEST

START_TEST(takes_what_works)
{
    struct hr_wss_options options = options_of_pid(42);

    options.method = HR_WSS_AUTO;
    open_wss(&options);
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_REFERENCED);
    ck_assert_uint_eq(hr_wss_max_windows(wss), 0);
    ck_assert(!hr_wss_looks_back(wss));
}
END_TEST

/* No method works in a tree; each one's reason is reported. */
START_TEST(reports_why_nothing_works)
{
    struct hr_wss_options options = {.target = {.scope = HR_WSS_SYSTEM}, .method = HR_WSS_AUTO};

    ck_assert_int_lt(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_ptr_nonnull(strstr(reason.text, "damon: "));
    ck_assert_ptr_nonnull(strstr(reason.text, "; lru_gen: "));
    ck_assert_int_lt(hr_wss_open(root, &options, &wss, NULL), 0);
}
END_TEST

/* The multi-gen LRU has four generations: two windows with aging, any number without. */
static const struct {
    bool aging;
    enum hr_wss_scope scope;
    enum hr_wss_method method, takes;
    size_t window_count;
    int status;
} readings[] = {
    {true, HR_WSS_SYSTEM, HR_WSS_LRU_GEN, HR_WSS_LRU_GEN, 2, 0},
    {true, HR_WSS_SYSTEM, HR_WSS_LRU_GEN, HR_WSS_LRU_GEN, 3, -E2BIG},
    {true, HR_WSS_CGROUP, HR_WSS_LRU_GEN, HR_WSS_LRU_GEN, SIZE_MAX, -E2BIG},
    {false, HR_WSS_SYSTEM, HR_WSS_LRU_GEN, HR_WSS_LRU_GEN, SIZE_MAX, 0},
    {true, HR_WSS_CGROUP, HR_WSS_AUTO, HR_WSS_LRU_GEN, 0, 0},
    {true, HR_WSS_CGROUP, HR_WSS_AUTO, HR_WSS_LRU_GEN, 2, 0},
    {true, HR_WSS_CGROUP, HR_WSS_AUTO, HR_WSS_REFERENCED, 3, 0},
    {true, HR_WSS_CGROUP, HR_WSS_AUTO, HR_WSS_REFERENCED, SIZE_MAX, 0},
    {true, HR_WSS_SYSTEM, HR_WSS_AUTO, HR_WSS_LRU_GEN, 3, -E2BIG},
    {false, HR_WSS_CGROUP, HR_WSS_REFERENCED, HR_WSS_REFERENCED, SIZE_MAX, 0},
};

START_TEST(takes_what_can_be_read_so_often)
{
    struct hr_wss_options options = {
        .target = {.scope = readings[_i].scope, .cgroup = "a.slice"},
        .method = readings[_i].method,
        .window_count = readings[_i].window_count,
        .aging = readings[_i].aging,
    };

    tree_write(tree, "sys/kernel/mm/lru_gen/enabled", "0x0007\n");
    tree_write(tree, "sys/kernel/debug/lru_gen", "%s", "");
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), readings[_i].status);
    if (wss != NULL)
        ck_assert_int_eq(hr_wss_method(wss), readings[_i].takes);
    else
        ck_assert_ptr_nonnull(strstr(reason.text, "lru_gen method can read at most 2 windows"));
}
END_TEST

static const struct {
    const char *path;
    int status;
} cgroups[] = {
    {"a.slice", 0},        {"a.slice/b.service", 0}, {"", 0},           {"..a/.b/...", 0},
    {"/a.slice", -EINVAL}, {"a.slice/", -EINVAL},    {"a//b", -EINVAL}, {"..", -EINVAL},
    {"a/../..", -EINVAL},  {"./a", -EINVAL},         {"/", -EINVAL},
};

START_TEST(keeps_within_the_mount)
{
    struct hr_wss_options options = {
        .target = {.scope = HR_WSS_CGROUP, .cgroup = cgroups[_i].path},
        .method = HR_WSS_REFERENCED,
    };

    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), cgroups[_i].status);
    ck_assert(cgroups[_i].status == 0 || strstr(reason.text, "below the mount") != NULL);
}
END_TEST

/* --- Measuring ------------------------------------------------------------ */

START_TEST(reads_what_was_touched_since)
{
    struct hr_wss_options options = options_of_pid(42);
    struct timespec wait = {0, 30000000};

    open_wss(&options);
    write_memory(42, 4096, 77);
    uint64_t before_ns = now_ns();
    ck_assert_int_eq(begin(), 0);
    ck_assert(is_cleared(42));
    ck_assert(!is_cleared(1));
    nanosleep(&wait, NULL);
    write_memory(42, 8192, 1000);
    ck_assert_int_eq(read_sample(), 0);
    uint64_t elapsed_ns = now_ns() - before_ns;
    ck_assert_uint_eq(sample.referenced_bytes, 1000 * KIB);
    ck_assert(sample.has_rss && sample.has_pss);
    ck_assert_uint_eq(sample.rss_bytes, 8192 * KIB);
    ck_assert_uint_eq(sample.pss_bytes, 4096 * KIB);
    ck_assert_uint_eq(sample.process_count, 1);
    ck_assert_uint_eq(sample.ended_count + sample.left_count, 0);
    ck_assert_uint_ge(sample.window_ns, 30000000);
    ck_assert_uint_gt(sample.scan_ns, 0);
    ck_assert_uint_le(sample.scan_ns, elapsed_ns - 30000000); /* without the wait */
}
END_TEST

/* One beginning, several windows: nothing is cleared in between, and its cost is reported once. */
START_TEST(reads_again_and_again)
{
    struct hr_wss_options options = options_of_pid(42);
    uint64_t window_ns = 0, first_ns = 0;

    open_wss(&options);
    ck_assert_int_eq(begin(), 0);
    ck_assert(is_cleared(42));
    for (int i = 1; i <= 20; i++) {
        write_memory(42, 4096, i);
        ck_assert_int_eq(read_sample(), 0);
        ck_assert_uint_eq(sample.referenced_bytes, i * KIB);
        ck_assert_uint_gt(sample.window_ns, window_ns);
        window_ns = sample.window_ns;
        first_ns = i == 1 ? sample.scan_ns : first_ns;
    }
    ck_assert(!is_cleared(42));
    ck_assert_uint_gt(first_ns, 0);
    uint64_t before_ns = now_ns();
    ck_assert_int_eq(begin(), 0);
    ck_assert(is_cleared(42));
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_uint_le(sample.window_ns, now_ns() - before_ns);
}
END_TEST

START_TEST(needs_a_beginning)
{
    struct hr_wss_options options = options_of_pid(42);

    open_wss(&options);
    ck_assert_int_eq(read_sample(), -EINVAL);
    options.target.processes.pid = 43;
    hr_wss_close(wss);
    open_wss(&options);
    ck_assert_int_eq(begin(), -ESRCH);
    ck_assert_int_eq(read_sample(), -EINVAL);
}
END_TEST

START_TEST(ends_before_the_next_begins)
{
    struct hr_wss_options options = options_of_pid(42);
    int before = count_descriptors();

    open_wss(&options);
    hr_wss_end(wss);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_gt(count_descriptors(), before);
    hr_wss_end(wss);
    ck_assert_int_eq(count_descriptors(), before);
    ck_assert_int_eq(read_sample(), -EINVAL);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_sample(), 0);
}
END_TEST

START_TEST(adds_up_processes)
{
    add_process(43, "mysqld", 'S', 0, 1);
    add_process(44, "mysqld", 'S', 0, 1);
    add_process(45, "other", 'S', 0, 1);
    open_name("mysqld");
    ck_assert_int_eq(begin(), 0);
    ck_assert(is_cleared(42) && is_cleared(43) && is_cleared(44) && !is_cleared(45));
    write_memory(42, 4096, 1);
    write_memory(43, 4096, 20);
    tree_remove(tree, "proc/44");
    write_memory(45, 4096, 4000);
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_uint_eq(sample.referenced_bytes, 21 * KIB);
    ck_assert_uint_eq(sample.rss_bytes, 8192 * KIB);
    ck_assert_uint_eq(sample.process_count, 2);
    ck_assert_uint_eq(sample.ended_count, 1);
    tree_remove(tree, "proc/42");
    tree_remove(tree, "proc/43");
    add_process(43, "mysqld", 'S', 0, 2); /* the PID was reused */
    ck_assert_int_eq(read_sample(), -ESRCH);
    ck_assert_str_ne(reason.text, "");
    ck_assert_int_eq(begin(), 0);
    write_memory(43, 4096, 5);
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_uint_eq(sample.referenced_bytes, 5 * KIB);
}
END_TEST

/* With its directory kept open, and without. */
START_TEST(measures_a_cgroup)
{
    struct hr_wss_options options = {
        .target = {.scope = HR_WSS_CGROUP, .cgroup = "a.slice"},
        .method = HR_WSS_REFERENCED,
    };

    open_wss(&options);
    ck_assert_int_eq(begin(), -ENODEV);
    tree_add_group(tree, "a.slice", false);
    tree_write(tree, TREE_CGROUPS "/a.slice/cgroup.procs", "%s", "");
    ck_assert_int_eq(begin(), -ESRCH);
    tree_write(tree, TREE_CGROUPS "/a.slice/cgroup.procs", "42\n");
    ck_assert(!is_cleared(42));
    if (_i == 1)
        leave_descriptors(12);
    int before = count_descriptors();
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(count_descriptors() - before, _i == 0 ? 2 : 0);
    ck_assert(is_cleared(42));
    write_memory(42, 4096, 9);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(read_sample(), 0);
        ck_assert_uint_eq(sample.referenced_bytes, 9 * KIB);
        ck_assert_int_eq(count_descriptors() - before, _i == 0 ? 2 : 0);
    }
    if (_i == 0)
        return;
    tree_remove_group(tree, "a.slice");
    ck_assert_int_eq(read_sample(), -ENODEV);
    tree_add_group(tree, "a.slice", false); /* another one */
    ck_assert_int_eq(read_sample(), -ENODEV);
}
END_TEST

static const struct {
    char state;
    unsigned flags;
    int status;
    const char *text;
} kinds[] = {
    {'S', 0, 0, ""},
    {'Z', 0, -ECHILD, "zombie"},
    {'S', 0x200000, -ENXIO, "kernel thread"},
};

START_TEST(distinguishes_kinds_of_processes)
{
    struct hr_wss_options options = options_of_pid(50);

    add_process(50, "a", kinds[_i].state, kinds[_i].flags, 1);
    open_wss(&options);
    ck_assert_int_eq(begin(), kinds[_i].status);
    ck_assert_int_eq(reason.error, kinds[_i].status);
    ck_assert_ptr_nonnull(strstr(reason.text, kinds[_i].text));
}
END_TEST

START_TEST(detects_an_old_kernel)
{
    struct hr_wss_options options = options_of_pid(42);

    tree_write(tree, "proc/42/smaps_rollup", "Rss: 4 kB\nPss: 4 kB\n");
    open_wss(&options);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_sample(), -ENOENT);
    ck_assert_ptr_nonnull(strstr(reason.text, "CONFIG_PROC_PAGE_MONITOR"));
}
END_TEST

/* A process that can't be marked isn't counted, whatever it referenced before. */
START_TEST(counts_only_marked_processes)
{
    char path[300];

    add_process(43, "mysqld", 'S', 0, 1);
    write_memory(43, 4096, 4000);
    chmod(tree_path(tree), 0755);
    snprintf(path, sizeof(path), "%s/proc/42/clear_refs", tree_path(tree));
    ck_assert_int_eq(chmod(path, 0666), 0);
    open_name("mysqld");
    ck_assert_int_eq(seteuid(65534), 0);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_uint_eq(sample.referenced_bytes, 0);
    ck_assert_uint_eq(sample.process_count, 1);
    ck_assert_uint_eq(sample.left_count, 1);
    ck_assert_int_eq(seteuid(0), 0);
    tree_remove(tree, "proc/42");
    ck_assert_int_eq(read_sample(), -EACCES);
}
END_TEST

START_TEST(takes_hidden_processes_for_forbidden)
{
    struct hr_wss_options options = options_of_pid(42);

    tree_remove(tree, "proc/1");
    tree_remove(tree, "proc/42");
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_REFERENCED, HR_WSS_PROCESSES, &reason), -EACCES);
    ck_assert_ptr_nonnull(strstr(reason.text, "hidepid"));
    add_process(42, "ours", 'S', 0, 1);
    open_wss(&options);
    ck_assert_int_eq(begin(), 0);
}
END_TEST

START_TEST(needs_cgroups)
{
    tree_write(tree, "proc/1/mounts", "%s", "");
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_REFERENCED, HR_WSS_CGROUP, &reason), -ENOENT);
    ck_assert_ptr_nonnull(strstr(reason.text, "no cgroup2 hierarchy is mounted: "));
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_REFERENCED, HR_WSS_PROCESSES, &reason), 0);
}
END_TEST

/* --- Limits --------------------------------------------------------------- */

START_TEST(leaves_the_large_alone)
{
    struct hr_wss_options options = options_of_pid(42);

    options.max_rss_bytes = 4096 * KIB;
    open_wss(&options);
    int before = count_descriptors();
    ck_assert_int_eq(begin(), 0);
    ck_assert(is_cleared(42));
    write_memory(42, 4100, 0);
    ck_assert_int_eq(begin(), -EFBIG);
    ck_assert_int_eq(count_descriptors(), before);
    ck_assert_ptr_nonnull(strstr(reason.text, "raise the limit"));
    ck_assert(!is_cleared(42));
    ck_assert_int_eq(read_sample(), -EINVAL);
    write_memory(42, 4096, 0);
    ck_assert_int_eq(begin(), 0);
}
END_TEST

/* All processes of the target together. */
START_TEST(leaves_the_many_alone)
{
    struct hr_wss_options options = options_of_pid(0);

    add_process(43, "mysqld", 'S', 0, 1);
    options.target.processes =
        (struct hr_process_choice){.by = HR_PROCESS_BY_NAME, .text = "mysqld"};
    options.max_rss_bytes = 8191 * KIB;
    open_wss(&options);
    ck_assert_int_eq(begin(), -EFBIG);
    ck_assert(!is_cleared(42) && !is_cleared(43));
}
END_TEST

/* Even reading the file takes longer than a nanosecond; no bit is cleared then. */
START_TEST(does_not_begin_what_takes_too_long)
{
    struct hr_wss_options options = options_of_pid(42);

    options.max_scan_ns = 1;
    open_wss(&options);
    ck_assert_int_eq(begin(), -ETIME);
    ck_assert_ptr_nonnull(strstr(reason.text, "mysqld[42]"));
    ck_assert(!is_cleared(42));
    /* Each call tries again, by reading. */
    tree_write(tree, "proc/42/smaps_rollup", "%s", "nonsense");
    ck_assert_int_eq(begin(), -EBADMSG);
    ck_assert(!is_cleared(42));
    write_memory(42, 4096, 0);
    hr_wss_close(wss);
    options.max_scan_ns = UINT64_C(60000000000);
    open_wss(&options);
    ck_assert_int_eq(begin(), 0);
    ck_assert(is_cleared(42));
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof(array[0]))

int main(void)
{
    TCase *tests = tcase_create("wss");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, knows_methods_by_name);
    tcase_add_test(tests, reports_what_a_method_cannot_do);
    tcase_add_loop_test(tests, reports_what_the_kernel_lacks, 0, COUNT(needed));
    tcase_add_test(tests, takes_what_works);
    tcase_add_test(tests, reports_why_nothing_works);
    tcase_add_loop_test(tests, takes_what_can_be_read_so_often, 0, COUNT(readings));
    tcase_add_loop_test(tests, keeps_within_the_mount, 0, COUNT(cgroups));
    tcase_add_test(tests, reads_what_was_touched_since);
    tcase_add_test(tests, reads_again_and_again);
    tcase_add_test(tests, needs_a_beginning);
    tcase_add_test(tests, ends_before_the_next_begins);
    tcase_add_test(tests, adds_up_processes);
    tcase_add_loop_test(tests, measures_a_cgroup, 0, 2);
    tcase_add_loop_test(tests, distinguishes_kinds_of_processes, 0, COUNT(kinds));
    tcase_add_test(tests, detects_an_old_kernel);
    if (geteuid() == 0)
        tcase_add_test(tests, counts_only_marked_processes);
    tcase_add_test(tests, takes_hidden_processes_for_forbidden);
    tcase_add_test(tests, needs_cgroups);
    tcase_add_test(tests, leaves_the_large_alone);
    tcase_add_test(tests, leaves_the_many_alone);
    tcase_add_test(tests, does_not_begin_what_takes_too_long);
    return run_suite("wss", tests);
}
