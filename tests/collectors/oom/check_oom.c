/* SPDX-License-Identifier: MIT */
/*
 * collectors/oom/check_oom.c - kills from the log and from counts, joined, over a tree of files:
 * each once, none lost, in order. The log is a FIFO.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "headroom/oom.h"
#include "headroom/root.h"
#include "support/fake_kernel_log.h"
#include "support/frozen_clock.h"
#include "support/suite.h"
#include "support/tree.h"

/* What the clock says when a test begins. */
#define BEGUN_NS (1000 * HR_NS_PER_S)

static struct tree *tree;
static struct hr_root *root;
static struct hr_oom *oom;
static int log_fd; /* -1: there is none */
static unsigned kills_of_machine;

static struct hr_oom_kill kills[16];
static size_t kill_count;

/* --- The machine -------------------------------------------------------------------- */

/* Of a group: below and in it, in it, and how often its limit left nothing. */
static void write_counts(const char *path, unsigned all, unsigned own, unsigned short_of_memory)
{
    char file[PATH_MAX];

    snprintf(file, sizeof(file), TREE_CGROUPS "/%s/memory.events", path);
    tree_write(tree, file, "low 0\nhigh 0\nmax 9\noom 9\noom_kill %u\noom_group_kill 0\n", all);
    strcat(file, ".local");
    tree_write(tree, file, "low 0\nhigh 0\nmax 9\noom %u\noom_kill %u\n", short_of_memory, own);
}

static void write_limit(const char *path, const char *text)
{
    char file[PATH_MAX];

    snprintf(file, sizeof(file), TREE_CGROUPS "/%s/memory.max", path);
    tree_write(tree, file, "%s", text);
}

static void count_on_machine(unsigned more)
{
    kills_of_machine += more;
    tree_write(tree, "proc/vmstat", "nr_free_pages 9\noom_kill %u\n", kills_of_machine);
}

static void make_log(void)
{
    log_fd = fake_kernel_log_make(tree);
}

static void read_kills(void);

static void print_context(const char *limit, const char *path, int pid)
{
    fake_kernel_log_write_context(log_fd, limit, path, pid);
    read_kills();
}

static void print_victim(const char *cause, int pid)
{
    fake_kernel_log_write_victim(log_fd, cause, pid, 4);
    read_kills();
}

#define OF_GROUP   "Memory cgroup out of memory"
#define OF_MACHINE "Out of memory"

static void add_victim(int pid, const char *group)
{
    char file[64];

    tree_add_process(tree, &(struct tree_process){.pid = pid, .name = "eater"});
    snprintf(file, sizeof(file), "proc/%d/cgroup", pid);
    tree_write(tree, file, "0::/%s\n", group);
}

/* --- What is reported --------------------------------------------------------------- */

static void take(const struct hr_oom_kill *kill, __attribute__((unused)) void *context)
{
    ck_assert_uint_lt(kill_count, sizeof(kills) / sizeof(*kills));
    kills[kill_count++] = *kill;
}

static void read_kills(void)
{
    hr_oom_read(oom, take, NULL);
}

static void pass(unsigned seconds)
{
    for (; seconds > 0; seconds--) {
        frozen_ns += HR_NS_PER_S;
        read_kills();
    }
}

static void assert_kill(size_t index, const char *path, bool is_exact, int pid)
{
    ck_assert_uint_lt(index, kill_count);
    ck_assert_str_eq(kills[index].path, path);
    ck_assert(kills[index].is_exact == is_exact);
    ck_assert_str_eq(kills[index].name, pid > 0 ? "eater" : "");
    ck_assert_int_eq(kills[index].pid, pid);
}

static void assert_limit(size_t index, enum hr_oom_limit limit, const char *path, uint64_t bytes)
{
    ck_assert_int_eq(kills[index].limit, limit);
    ck_assert_str_eq(kills[index].limit_path, path);
    ck_assert_uint_eq(kills[index].limit_bytes, bytes);
}

/* --- Life ----------------------------------------------------------------------------- */

static void set_up(void)
{
    frozen_ns = BEGUN_NS;
    kill_count = kills_of_machine = 0;
    log_fd = -1;
    tree = tree_new();
    tree_add_group(tree, "p/a", true);
    tree_add_group(tree, "p/b", true);
    count_on_machine(7); /* before the start */
    write_counts("p", 5, 0, 5);
    write_counts("p/a", 3, 3, 0);
    write_counts("p/b", 2, 2, 2);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_oom_close(oom);
    oom = NULL;
    hr_root_close(root);
    tree_free(tree);
    if (log_fd >= 0)
        close(log_fd);
    frozen_ns = 0;
}

static void begin(void)
{
    ck_assert_int_eq(hr_oom_open(root, &oom), 0);
    ck_assert_int_eq(hr_oom_add_group(oom, "p/a"), 0);
    ck_assert_int_eq(hr_oom_add_group(oom, "p/b"), 0);
    read_kills();
    ck_assert_uint_eq(kill_count, 0);
}

/* --- With the log ------------------------------------------------------------------------ */

START_TEST(takes_group_and_limit_from_the_log)
{
    make_log();
    begin();
    ck_assert_int_eq(hr_oom_sources(oom).log_status, 0);
    write_limit("p", "1048576\n");
    count_on_machine(2);
    write_counts("p", 7, 0, 6);
    print_context("p", "p/a", 11);
    print_victim(OF_GROUP, 11);
    print_context("p/new", "p/new", 12); /* isn't counted */
    print_victim(OF_GROUP, 12);
    ck_assert_uint_eq(kill_count, 2);
    assert_kill(0, "p/a", true, 11);
    assert_limit(0, HR_OOM_OF_GROUP, "p", 1048576);
    assert_kill(1, "p/new", true, 12);
    assert_limit(1, HR_OOM_OF_GROUP, "p/new", UINT64_MAX);
    pass(30); /* the counts have nothing more */
    ck_assert_uint_eq(kill_count, 2);
}
END_TEST

START_TEST(takes_group_from_the_process)
{
    make_log();
    begin();
    add_victim(11, "p/gone (deleted)");
    count_on_machine(1);
    write_counts("p", 6, 0, 6);
    print_victim(OF_GROUP, 11);
    assert_kill(0, "p/gone", true, 11);
    assert_limit(0, HR_OOM_OF_GROUP, "p", UINT64_MAX); /* the only one that was reached */
    pass(30);
    ck_assert_uint_eq(kill_count, 1);
}
END_TEST

START_TEST(takes_no_process_of_another_name)
{
    make_log();
    begin();
    add_victim(11, "p/b");
    tree_write(tree, "proc/11/comm", "other\n");
    count_on_machine(1);
    write_counts("p", 6, 0, 5);
    write_counts("p/a", 4, 4, 1);
    print_victim(OF_GROUP, 11);
    assert_kill(0, "p/a", true, 11); /* by the counts */
    assert_limit(0, HR_OOM_OF_GROUP, "p/a", UINT64_MAX);
}
END_TEST

START_TEST(attributes_by_counts_as_far_as_they_allow)
{
    make_log();
    begin();
    count_on_machine(1); /* in a group of p that has gone */
    write_counts("p", 6, 0, 5);
    print_victim(OF_GROUP, 11);
    count_on_machine(1); /* in a group that isn't counted */
    print_victim(OF_MACHINE, 12);
    pass(2);
    ck_assert_uint_eq(kill_count, 2);
    assert_kill(0, "p", false, 11);
    assert_limit(0, HR_OOM_OF_SOME, "", UINT64_MAX);
    assert_kill(1, "", false, 12);
    assert_limit(1, HR_OOM_OF_MACHINE, "", UINT64_MAX);
    pass(30);
    ck_assert_uint_eq(kill_count, 2);
}
END_TEST

/* Which of two was in which group isn't known. */
START_TEST(does_not_guess_between_groups)
{
    make_log();
    begin();
    count_on_machine(2);
    write_counts("p", 7, 0, 5);
    write_counts("p/a", 4, 4, 1);
    write_counts("p/b", 3, 3, 3);
    print_victim(OF_GROUP, 11);
    print_victim(OF_GROUP, 12);
    assert_kill(0, "p", false, 11);
    pass(30);
    ck_assert_uint_eq(kill_count, 2);
    assert_kill(1, "p", false, 12);
}
END_TEST

/* The log's ring had no place for it. */
START_TEST(reports_what_the_log_lost)
{
    make_log();
    begin();
    count_on_machine(1);
    write_counts("p", 6, 0, 6);
    write_counts("p/a", 4, 4, 0);
    write_limit("p", "4096\n");
    pass(12);
    ck_assert_uint_eq(kill_count, 1);
    assert_kill(0, "p/a", true, 0);
    assert_limit(0, HR_OOM_OF_GROUP, "p", 4096);
    ck_assert_uint_eq(kills[0].resident_bytes, UINT64_MAX);
    pass(30);
    ck_assert_uint_eq(kill_count, 1);
}
END_TEST

/* It was counted when it was compared, and is logged later. */
START_TEST(waits_for_the_log)
{
    make_log();
    begin();
    frozen_ns += 10 * HR_NS_PER_S;
    count_on_machine(1);
    read_kills();
    ck_assert_uint_eq(kill_count, 0);
    frozen_ns += HR_NS_PER_S / 2;
    print_context("p", "p/a", 11);
    print_victim(OF_GROUP, 11);
    count_on_machine(1); /* and another one, in the same way */
    frozen_ns += HR_NS_PER_S;
    read_kills();
    print_context("p", "p/a", 12);
    print_victim(OF_GROUP, 12);
    pass(30);
    ck_assert_uint_eq(kill_count, 2);
    assert_kill(0, "p/a", true, 11);
    assert_kill(1, "p/a", true, 12);
}
END_TEST

START_TEST(takes_no_message_of_a_program)
{
    static const char record[] =
        "11,1,2,-;" OF_MACHINE ": Killed process 11 (eater) total-vm:9kB\n";

    make_log();
    begin();
    ck_assert_int_eq(write(log_fd, record, sizeof(record) - 1), sizeof(record) - 1);
    pass(30);
    ck_assert_uint_eq(kill_count, 0);
}
END_TEST

/* A busy log isn't read at each of its records. */
START_TEST(pauses_after_what_is_no_kill)
{
    struct pollfd polled = {.events = POLLIN};

    make_log();
    begin();
    polled.fd = hr_oom_fd(oom);
    fake_kernel_log_write(log_fd, "a line");
    ck_assert_int_eq(poll(&polled, 1, 0), 1);
    const uint64_t next_ns = hr_oom_read(oom, take, NULL);
    ck_assert_uint_le(next_ns, frozen_ns + HR_NS_PER_S / 50);
    fake_kernel_log_write(log_fd, "a line");
    ck_assert_int_eq(poll(&polled, 1, 0), 0);
    frozen_ns = next_ns;
    hr_oom_read(oom, take, NULL);
    hr_oom_read(oom, take, NULL); /* there was none */
    ck_assert_uint_ge(hr_oom_read(oom, take, NULL), frozen_ns + HR_NS_PER_S);
    fake_kernel_log_write(log_fd, "a line");
    ck_assert_int_eq(poll(&polled, 1, 0), 1);
}
END_TEST

/* --- Without it --------------------------------------------------------------------------- */

START_TEST(reports_by_counts_alone)
{
    begin();
    ck_assert_int_eq(hr_oom_sources(oom).log_status, -ENOENT);
    write_limit("p/b", "8192\n");
    count_on_machine(3);
    write_counts("p", 8, 0, 5);
    write_counts("p/a", 4, 4, 0);
    write_counts("p/b", 4, 4, 4);
    read_kills();
    ck_assert_uint_eq(kill_count, 3);
    const size_t in_a = strcmp(kills[0].path, "p/a") == 0 ? 0 : 2;
    assert_kill(in_a, "p/a", true, 0);
    assert_limit(in_a, HR_OOM_OF_MACHINE, "", UINT64_MAX);
    assert_kill(1, "p/b", true, 0);
    assert_limit(1, HR_OOM_OF_GROUP, "p/b", 8192);
    pass(5);
    ck_assert_uint_eq(kill_count, 3);
    /* ten groups below p and their kills come and go */
    count_on_machine(10);
    write_counts("p", 18, 0, 15);
    read_kills();
    ck_assert_uint_eq(kill_count, 13);
    for (size_t i = 3; i < 13; i++) {
        assert_kill(i, "p", false, 0);
        assert_limit(i, HR_OOM_UNKNOWN, "", UINT64_MAX);
    }
}
END_TEST

/* A kernel without CONFIG_VM_EVENT_COUNTERS. */
START_TEST(does_without_the_count_of_the_machine)
{
    tree_write(tree, "proc/vmstat", "nr_free_pages 9\n");
    begin();
    ck_assert_int_eq(hr_oom_sources(oom).count_status, -ENODATA);
    write_counts("p", 7, 0, 5);
    write_counts("p/a", 4, 4, 1);
    read_kills();
    ck_assert_uint_eq(kill_count, 2);
    const size_t in_a = kills[0].is_exact ? 0 : 1;
    assert_kill(in_a, "p/a", true, 0);
    assert_kill(!in_a, "p", false, 0);
    pass(5);
    ck_assert_uint_eq(kill_count, 2);
}
END_TEST

/* Its counts begin at 0. */
START_TEST(follows_a_group_that_is_made_again)
{
    begin();
    tree_remove_group(tree, "p/a");
    tree_add_group(tree, "p/a", true);
    write_counts("p/a", 1, 1, 1);
    write_counts("p", 6, 0, 5);
    count_on_machine(1);
    read_kills();
    ck_assert_uint_eq(kill_count, 1);
    assert_kill(0, "p/a", true, 0);
    hr_oom_remove_group(oom, "p/a");
    write_counts("p/a", 2, 2, 2);
    write_counts("p", 7, 0, 5);
    count_on_machine(1);
    pass(1);
    assert_kill(1, "p", false, 0);
}
END_TEST

/* As deep as a path can be: anyone who may make groups may make these. */
START_TEST(counts_a_group_far_below)
{
    char path[PATH_MAX] = "p";

    begin();
    while (strlen(path) + 3 < sizeof(path))
        strcat(path, "/a");
    ck_assert_int_eq(hr_oom_add_group(oom, path), 0);
    count_on_machine(1);
    write_counts("p", 6, 0, 5);
    pass(1);
    ck_assert_uint_eq(kill_count, 1);
    assert_kill(0, "p", false, 0);
    hr_oom_remove_group(oom, path);
}
END_TEST

START_TEST(wakes_when_a_group_changes)
{
    struct pollfd polled = {.events = POLLIN};

    begin();
    polled.fd = hr_oom_fd(oom);
    ck_assert_int_eq(poll(&polled, 1, 0), 0);
    write_counts("p", 6, 0, 5);
    ck_assert_int_eq(poll(&polled, 1, 0), 1);
    read_kills();
    ck_assert_int_eq(poll(&polled, 1, 0), 0);
}
END_TEST

START_TEST(says_what_is_missing)
{
    tree_write(tree, "dev/kmsg", "%s", ""); /* as /dev/null: no log */
    tree_write(tree, "proc/vmstat", "nr_free_pages 9\n");
    ck_assert_int_eq(hr_oom_open(root, &oom), 0);
    read_kills();
    ck_assert_int_eq(hr_oom_sources(oom).log_status, -ENODATA);
    ck_assert_int_eq(hr_oom_sources(oom).count_status, -ENODATA);
    ck_assert_int_eq(hr_oom_sources(oom).version, 2);
    pass(5);
    ck_assert_uint_eq(kill_count, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("oom");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, takes_group_and_limit_from_the_log);
    tcase_add_test(tests, takes_group_from_the_process);
    tcase_add_test(tests, takes_no_process_of_another_name);
    tcase_add_test(tests, attributes_by_counts_as_far_as_they_allow);
    tcase_add_test(tests, does_not_guess_between_groups);
    tcase_add_test(tests, reports_what_the_log_lost);
    tcase_add_test(tests, waits_for_the_log);
    tcase_add_test(tests, takes_no_message_of_a_program);
    tcase_add_test(tests, pauses_after_what_is_no_kill);
    tcase_add_test(tests, reports_by_counts_alone);
    tcase_add_test(tests, does_without_the_count_of_the_machine);
    tcase_add_test(tests, follows_a_group_that_is_made_again);
    tcase_add_test(tests, counts_a_group_far_below);
    tcase_add_test(tests, wakes_when_a_group_changes);
    tcase_add_test(tests, says_what_is_missing);
    return run_suite("oom", tests);
}
