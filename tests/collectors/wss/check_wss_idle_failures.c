/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss_idle_failures.c - the idle method when something is missing or fails:
 * missing kernel features, processes that end meanwhile, too little time, and too little memory.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/memory/count_pages.h"
#include "collectors/wss/idle_harness.h"
#include "headroom/clock.h"
#include "memory/page_set.h"
#include "support/suite.h"

/* --- What can go wrong ---------------------------------------------------- */

static void break_v1(void)
{
    tree_add_directory(tree, "sys/fs/cgroup/memory");
    tree_write(tree, "sys/fs/cgroup/memory/cgroup.procs", "%s", "");
    tree_write(tree, "proc/1/mounts",
               "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
               "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n");
}

static void break_pagemap(void)
{
    fake_pages_set_own(PRESENT);
}

static void disable_memory(void)
{
    tree_write(tree, TREE_CGROUPS "/cgroup.controllers", "cpu io pids memory.not\n");
}

static void enable_lru_gen(void)
{
    tree_write(tree, "sys/kernel/mm/lru_gen/enabled", "0x0005\n");
}

static void garble_lru_gen(void)
{
    tree_write(tree, "sys/kernel/mm/lru_gen/enabled", "yes\n");
}

static const struct {
    const char *removed;
    void (*break_it)(void);
    bool of_cgroup;
    int error;
    const char *text;
} obstacles[] = {
    {BITMAP, NULL, false, -ENOENT, "CONFIG_IDLE_PAGE_TRACKING=y"},
    {"proc/kpageflags", NULL, false, -ENOENT, "CONFIG_PROC_PAGE_MONITOR=y"},
    {"proc/self/pagemap", NULL, false, -ENOENT, "CONFIG_PROC_PAGE_MONITOR=y"},
    {"proc/kpagecgroup", NULL, true, -ENOENT, "CONFIG_MEMCG=y"},
    {NULL, break_pagemap, false, -EPERM, "CAP_SYS_ADMIN"},
    {NULL, break_v1, true, -ENOENT, "cgroup_no_v1=memory"},
    {NULL, disable_memory, true, -ENOENT, "cgroup_disable=memory"},
    {NULL, enable_lru_gen, true, -EBUSY, "lru_gen/enabled, or choose lru_gen"},
    {NULL, enable_lru_gen, false, -EBUSY, "lru_gen/enabled, or choose referenced"},
    {NULL, garble_lru_gen, false, -EBADMSG, "lru_gen/enabled can't be read"},
    {"proc/1/pagemap", NULL, false, -ENOENT, "/proc/1/pagemap"},
};

START_TEST(reports_what_is_missing)
{
    enum hr_wss_scope scope = obstacles[_i].of_cgroup ? HR_WSS_CGROUP : HR_WSS_PROCESSES;

    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_IDLE, scope, &reason), 0);
    if (obstacles[_i].removed != NULL)
        tree_remove(tree, obstacles[_i].removed);
    else
        obstacles[_i].break_it();
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_IDLE, scope, &reason), obstacles[_i].error);
    ck_assert_msg(strstr(reason.text, obstacles[_i].text) != NULL, "%s", reason.text);
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_IDLE, HR_WSS_SYSTEM, &reason), -EOPNOTSUPP);
}
END_TEST

static const struct scene one_page = {
    "", 0, {{0x10000, PRESENT, 100, 1, PLAIN, 0, ALWAYS, TOUCHED, 100}}};

START_TEST(never_takes_hidden_frames_for_none)
{
    begin_scene(&one_page);
    fake_pages_put("proc/42/pagemap", 0x10000 / page_size, PRESENT);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -EPERM);
    ck_assert_ptr_nonnull(strstr(reason.text, "CAP_SYS_ADMIN"));
}
END_TEST

static const char *const no_maps[] = {
    "x\n",
    "00010000-00020000 rw-p 0 00:00 0",
    "00020000-00010000 r\n",
    "11112222333344445-6 r\n",
    "00010000-00020000\n",
};

START_TEST(refuses_what_is_no_maps)
{
    open_process();
    tree_write(tree, "proc/42/maps", "%s", no_maps[_i]);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -EBADMSG);
}
END_TEST

/* Its addresses are in maps, but pagemap ends: the memory was unmapped in between. */
START_TEST(notices_an_end_in_between)
{
    open_process();
    tree_write(tree, "proc/42/maps", "00010000-00040000 rw-p 0 00:00 0\n");
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -ESRCH);
}
END_TEST

/* maps had only the kernel's addresses; the rest was unmapped meanwhile. */
START_TEST(notices_an_end_of_maps)
{
    open_process();
    tree_write(tree, "proc/42/maps",
               "ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]\n");
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), 0);
    tree_write(tree, "proc/42/pagemap", "%s", "");
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -ESRCH);
}
END_TEST

/* The multi-gen LRU is enabled between beginning and reading. */
START_TEST(reports_nothing_of_generations)
{
    begin_scene(&one_page);
    tree_write(tree, "sys/kernel/mm/lru_gen/enabled", "0x0000\n");
    ck_assert_uint_eq(read_pages(), 0);
    enable_lru_gen();
    ck_assert_int_eq(hr_wss_read(wss, HR_NS_PER_S, &sample, &reason), -EBUSY);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, "multi-gen LRU"));
}
END_TEST

/* For a cgroup the limit applies to what its processes have. */
START_TEST(leaves_large_groups_alone)
{
    struct hr_wss_options options = {.target = {.scope = HR_WSS_CGROUP, .cgroup = "a"},
                                     .method = HR_WSS_IDLE,
                                     .max_rss_bytes = (uint64_t)3 << 30};

    set_groups();
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), 0);
    tree_set_resident(tree, 50, 5368709120);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -EFBIG);
    ck_assert_ptr_nonnull(strstr(reason.text, "5 GiB are resident"));
    ck_assert_ptr_nonnull(strstr(reason.text, "limit of 3 GiB"));
}
END_TEST

/* More lines than fit one read, ranges without a gap, and ranges of several reads. */
START_TEST(reads_long_maps)
{
    size_t size = (size_t)1 << 20, length = 0;
    char *text = malloc(size);

    open_process();
    for (unsigned i = 0; i < 5000; i++)
        length +=
            (size_t)snprintf(text + length, size - length,
                             "%08x-%08x rw-p 00000000 00:00 0     /some/file/%04d.so\n",
                             0x10000 + i * 0x4000, 0x10000 + i * 0x4000 + 0x1000 * (2 + i % 3), i);
    snprintf(text + length, size - length, "7f0000000000-7f0020000000 rw-p 00000000 00:00 0\n");
    tree_write(tree, "proc/42/maps", "%s", text);
    fake_pages_put("proc/42/pagemap", 0x7f0020000000 / page_size - 1, PRESENT | 6000);
    fake_pages_put("proc/kpageflags", 6000, PLAIN);
    for (unsigned i = 0; i < 5000; i++) {
        fake_pages_put("proc/42/pagemap", (0x10000 + i * 0x4000) / page_size + 1,
                       PRESENT | (100 + i));
        fake_pages_put("proc/kpageflags", 100 + i, PLAIN);
    }
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), 0);
    ck_assert_uint_eq(count_pages(&fake_pages.written), 5001);
    free(text);
}
END_TEST

/* Three ranges, in memory in two chunks. */
static const struct scene spread = {
    "",
    0,
    {{0x10000, PRESENT, 100, 1, PLAIN, 0, ALWAYS, TOUCHED, 100},
     {0x20000, PRESENT, 101, 1, PLAIN, 0, ALWAYS, TOUCHED, 101},
     {0x30000, PRESENT, 40000, 1, PLAIN, 0, ALWAYS, TOUCHED, 40000}}};

/* The clock is read for the deadline, at each range, and after each chunk. */
START_TEST(gives_up_in_time)
{
    int begin_count = 0, read_count = 0;

    place(42, &spread, false);
    open_wss(&(struct hr_wss_target){.processes = {.by = HR_PROCESS_BY_PID, .pid = 42}},
             HR_NS_PER_S);
    fake_pages.jump_ns = 2 * HR_NS_PER_S;
    for (int look = 0; look < 20; look++) {
        fake_pages.clock_reads_left = look;
        int status = hr_wss_begin(wss, HR_NS_PER_S, &reason);
        ck_assert(status == 0 || status == -ETIME);
        begin_count += status == -ETIME;
        ck_assert(status == 0 || strstr(reason.text, "1000 ms") != NULL);
        fake_pages.clock_reads_left = 20;
        ck_assert_int_eq(hr_wss_read(wss, HR_NS_PER_S, &sample, &reason),
                         status == 0 ? 0 : -EINVAL);
    }
    ck_assert_int_eq(begin_count, 5);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), 0);
    for (int look = 0; look < 20; look++) {
        fake_pages.clock_reads_left = look;
        int status = hr_wss_read(wss, HR_NS_PER_S, &sample, &reason);
        ck_assert(status == 0 || status == -ETIME);
        read_count += status == -ETIME;
    }
    ck_assert_int_eq(read_count, 5);
}
END_TEST

/* No process waits for it; but no more than ten times the limit, of a second. */
static const struct {
    uint64_t seconds, limit_s;
    const char *text;
} windows[] = {{30, 3, "3000 ms"}, {3600, 10, "10000 ms"}};

START_TEST(may_take_a_tenth_of_the_longest_window)
{
    place(42, &spread, false);
    open_wss(&(struct hr_wss_target){.processes = {.by = HR_PROCESS_BY_PID, .pid = 42}},
             HR_NS_PER_S);
    for (uint64_t jump_s = windows[_i].limit_s - 1; jump_s <= windows[_i].limit_s + 1;
         jump_s += 2) {
        fake_pages.jump_ns = jump_s * HR_NS_PER_S;
        fake_pages.clock_reads_left = 3;
        int status = hr_wss_begin(wss, windows[_i].seconds * HR_NS_PER_S, &reason);
        ck_assert_int_eq(status, jump_s < windows[_i].limit_s ? 0 : -ETIME);
        ck_assert(status == 0 || strstr(reason.text, windows[_i].text) != NULL);
        if (status < 0)
            continue;
        fake_pages.clock_reads_left = 3;
        ck_assert_int_eq(hr_wss_read(wss, HR_NS_PER_S, &sample, &reason), 0);
    }
}
END_TEST

/* Others had the CPU meanwhile. */
START_TEST(does_not_give_up_for_having_waited)
{
    place(42, &spread, false);
    open_wss(&(struct hr_wss_target){.processes = {.by = HR_PROCESS_BY_PID, .pid = 42}},
             HR_NS_PER_S);
    fake_pages.jump_ns = 2 * HR_NS_PER_S;
    fake_pages.is_preempted = true;
    for (int look = 0; look < 10; look++) {
        fake_pages.clock_reads_left = look;
        ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), 0);
    }
    fake_pages.clock_reads_left = 3;
    ck_assert_int_eq(hr_wss_read(wss, HR_NS_PER_S, &sample, &reason), 0);
}
END_TEST

START_TEST(gives_up_a_cgroup_in_time)
{
    int count = 0;

    set_groups();
    open_wss(&(struct hr_wss_target){.scope = HR_WSS_CGROUP, .cgroup = "a"}, HR_NS_PER_S);
    fake_pages.jump_ns = 2 * HR_NS_PER_S;
    for (int look = 0; look < 30; look++) {
        fake_pages.clock_reads_left = look;
        count += hr_wss_begin(wss, HR_NS_PER_S, &reason) == -ETIME;
    }
    ck_assert_int_eq(count, 5 + 2); /* before each range of its two processes; after each chunk */
}
END_TEST

/* Each allocation of a beginning and a reading fails once. */
START_TEST(survives_a_lack_of_memory)
{
    int status = -ENOMEM, failures = -1;

    set_groups();
    place(42, &one_page, false);
    if (_i == 0)
        open_process();
    else
        open_group();
    for (; status == -ENOMEM && failures < 100; failures++) {
        fake_pages.allocations_left = failures + 1;
        status = hr_wss_begin(wss, HR_NS_PER_S, NULL);
        if (status == 0)
            status = hr_wss_read(wss, HR_NS_PER_S, &sample, NULL);
        fake_pages.allocations_left = -1;
    }
    ck_assert_int_eq(status, 0);
    ck_assert_int_gt(failures, 8);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss_idle_trouble");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, reports_what_is_missing, 0, COUNT(obstacles));
    tcase_add_test(tests, never_takes_hidden_frames_for_none);
    tcase_add_loop_test(tests, refuses_what_is_no_maps, 0, COUNT(no_maps));
    tcase_add_test(tests, notices_an_end_in_between);
    tcase_add_test(tests, notices_an_end_of_maps);
    tcase_add_test(tests, reports_nothing_of_generations);
    tcase_add_test(tests, leaves_large_groups_alone);
    tcase_add_test(tests, reads_long_maps);
    tcase_add_test(tests, gives_up_in_time);
    tcase_add_loop_test(tests, may_take_a_tenth_of_the_longest_window, 0, 2);
    tcase_add_test(tests, does_not_give_up_for_having_waited);
    tcase_add_test(tests, gives_up_a_cgroup_in_time);
    tcase_add_loop_test(tests, survives_a_lack_of_memory, 0, 2);
    return run_suite("wss_idle_trouble", tests);
}
