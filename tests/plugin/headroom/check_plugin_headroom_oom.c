/* SPDX-License-Identifier: MIT */
/*
 * plugin/headroom/check_plugin_headroom_oom.c - the option OOM in a stand-in for the daemon, over a
 * tree of files whose log is a FIFO: what notifications say, in which order, that none is lost
 * while handlers are slow; what is logged.
 */
#include "support/plugin_harness.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "support/fake_kernel_log.h"
#include "support/frozen_clock.h"
#include "support/room_tree.h"
#include "support/suite.h"

const char *const harness_plugin = "headroom";

static int log_fd;
static unsigned kills_of_machine;

static void count_on_machine(unsigned more)
{
    kills_of_machine += more;
    tree_write(tree, "proc/vmstat", "oom_kill %u\n", kills_of_machine);
}

/* Takes the place of libc's: threads look at the frozen clock again. */
int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
          __attribute__((unused)) const sigset_t *signals)
{
    return poll(fds, count, timeout->tv_sec > 0 || timeout->tv_nsec > 0 ? 5 : 0);
}

static void set_up(void)
{
    frozen_ns = 1000 * HR_NS_PER_S;
    harness_set_up();
    log_fd = -1;
    kills_of_machine = 0;
    room_tree_machine(tree, 0, 0, 0);
    count_on_machine(7);
    room_tree_add_group(tree, "shop");
    room_tree_add_group(tree, "shop/a");
}

static void tear_down(void)
{
    if (log_fd >= 0)
        close(log_fd);
    harness_tear_down();
    frozen_ns = 0;
}

static void make_log(void)
{
    log_fd = fake_kernel_log_make(tree);
}

static void await_reader(void)
{
    for (int i = 0, waiting = 1; waiting > 0; i++) {
        ck_assert_int_lt(i, 20000);
        ck_assert_int_eq(ioctl(log_fd, FIONREAD, &waiting), 0);
        harness_sleep(waiting > 0);
        frozen_ns += HR_NS_PER_S / 100; /* a pause of the reader */
    }
}

static void print(const char *message)
{
    fake_kernel_log_write(log_fd, message);
    await_reader();
}

static void kill_in(const char *limit, const char *path, int pid, unsigned mib)
{
    count_on_machine(1);
    fake_kernel_log_write_context(log_fd, limit, path, pid);
    await_reader();
    fake_kernel_log_write_victim(log_fd, "Memory cgroup out of memory", pid, mib * 1024);
    await_reader();
}

/* Another thread dispatches them, 20 a second. */
static const notification_t *await_notice(size_t number)
{
    for (int i = 0; i < 5000 && fake_notifications() < number; i++) {
        frozen_ns += HR_NS_PER_S;
        harness_sleep(10);
    }
    ck_assert_uint_ge(fake_notifications(), number);
    return fake_notification(number - 1);
}

static void assert_text(const notification_t *notice, const char *name, const char *text)
{
    const notification_meta_t *meta = harness_find_meta(notice, name);

    ck_assert_ptr_nonnull(meta);
    ck_assert_str_eq(meta->nm_value.nm_string, text);
}

/* --- What they say ------------------------------------------------------------------ */

START_TEST(says_who_was_killed_where_and_why)
{
    make_log();
    room_tree_write(tree, "shop", "memory.max", "2147483648\n");
    harness_begin("<Cgroup \"shop/*\">\nInstance \"web-%1\"\n</Cgroup>\nOOM true");
    harness_read();
    kill_in("shop", "shop/a", 423, 1946);
    const notification_t *notice = await_notice(1);
    ck_assert_int_eq(notice->severity, NOTIF_FAILURE);
    ck_assert_str_eq(notice->message,
                     "OOM kill in shop/a: eater[423], 1.9 GiB, by shop's memory.max of 2 GiB");
    ck_assert_str_eq(notice->plugin_instance, "web-a");
    ck_assert_str_eq(notice->type, "total_operations");
    ck_assert_str_eq(notice->type_instance, "oom_kill");
    assert_text(notice, "Cgroup", "shop/a");
    assert_text(notice, "Resource", "memory");
    assert_text(notice, "Victim", "eater");
    assert_text(notice, "Cause", "by shop's memory.max of 2 GiB");
    assert_text(notice, "LimitCgroup", "shop");
    ck_assert_int_eq(harness_find_meta(notice, "Pid")->nm_value.nm_signed_int, 423);
    ck_assert_double_eq(harness_find_meta(notice, "Resident")->nm_value.nm_double,
                        1946 * 1048576.0);
    ck_assert_double_eq(harness_find_meta(notice, "Limit")->nm_value.nm_double, 2147483648.0);
    kill_in("shop/a/b", "shop/a/b", 424, 1); /* below the one that is measured */
    notice = await_notice(2);
    ck_assert_str_eq(notice->message,
                     "OOM kill in shop/a/b: eater[424], 1 MiB, by its own memory.max");
    ck_assert_str_eq(notice->plugin_instance, "web-a");
    kill_in("other/x", "other/x", 425, 1); /* isn't measured */
    ck_assert_str_eq(await_notice(3)->plugin_instance, "other_x");
    harness_assert_logs(0, NULL);
}
END_TEST

/* Groups younger than MinAge have no series, but their kills are reported. */
START_TEST(whatever_the_age_of_the_group)
{
    make_log();
    harness_begin("<Cgroup \"shop/*\">\nInstance \"web-%1\"\n</Cgroup>\nMinAge 86400\nOOM true");
    harness_read();
    ck_assert_uint_gt(fake_count("headroom-web-a/*"), 0);
    room_tree_add_group(tree, "shop/young");
    harness_read();
    kill_in("shop/young", "shop/young", 423, 1);
    ck_assert_str_eq(await_notice(1)->plugin_instance, "web-young");
    harness_read();
    harness_assert_count("headroom-web-young/*", 0);
    frozen_ns += 86400 * HR_NS_PER_S;
    harness_read();
    ck_assert_uint_gt(fake_count("headroom-web-young/*"), 0);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(says_what_is_not_known)
{
    make_log();
    harness_begin("OOM true");
    harness_read();
    count_on_machine(1);
    print("Out of memory: Killed process 7 (eater) total-vm:9kB");
    const notification_t *notice = await_notice(1);
    ck_assert_str_eq(notice->message, "OOM kill in an unknown cgroup: eater[7], as the "
                                      "machine ran out of memory");
    ck_assert_str_eq(notice->plugin_instance, "system");
    ck_assert_ptr_null(harness_find_meta(notice, "Cgroup"));
    count_on_machine(1);
    print("Memory cgroup out of memory: Killed process 8 (eater) total-vm:9kB");
    ck_assert_str_eq(await_notice(2)->message, "OOM kill in an unknown cgroup: eater[8], "
                                               "by a limit of its cgroup or of one above");
}
END_TEST

/* --- How many ------------------------------------------------------------------------ */

START_TEST(a_hundred_in_order)
{
    char path[32];

    make_log();
    harness_begin("Cgroup \"shop/*\"\nOOM true");
    harness_read();
    for (int i = 1; i <= 100; i++) {
        snprintf(path, sizeof(path), "shop/gone%d", i);
        kill_in(path, path, i, 1);
    }
    await_notice(100);
    for (int i = 1; i <= 100; i++) {
        snprintf(path, sizeof(path), "shop/gone%d", i);
        const notification_t *notice = fake_notification((size_t)i - 1);
        ck_assert_int_eq(harness_find_meta(notice, "Pid")->nm_value.nm_signed_int, i);
        assert_text(notice, "Cgroup", path);
    }
    for (int i = 0; i < 20; i++) {
        frozen_ns += HR_NS_PER_S;
        harness_sleep(10);
    }
    ck_assert_uint_eq(fake_notifications(), 100);
}
END_TEST

/* More than may wait. */
START_TEST(none_is_lost_while_handlers_are_slow)
{
    harness_begin("OOM true");
    harness_read();
    count_on_machine(1200);
    await_notice(1200);
    ck_assert_str_eq(fake_notification(1199)->message,
                     "OOM kill in an unknown cgroup: a process whose name isn't known, by "
                     "a limit that isn't known");
    frozen_ns += 100 * HR_NS_PER_S;
    harness_sleep(50);
    ck_assert_uint_eq(fake_notifications(), 1200);
}
END_TEST

START_TEST(none_without_the_option)
{
    make_log();
    harness_begin("Cgroup \"shop/*\"");
    harness_read();
    count_on_machine(1);
    harness_read();
    harness_sleep(50);
    ck_assert_uint_eq(fake_notifications(), 0);
}
END_TEST

/* --- What can't be read ------------------------------------------------------------------ */

static void await_log(const char *text)
{
    for (int i = 0; i < 5000 && fake_logs(0, text) == 0; i++)
        harness_sleep(10);
    ck_assert_uint_eq(fake_logs(0, text), 1);
}

START_TEST(logs_once_what_can_not_be_read)
{
    harness_begin("OOM true");
    await_log("OOM: notifications lack names and order of the killed processes, as /dev/kmsg can't "
              "be read: No such file or directory: let collectd have the host's /dev/kmsg, as in a "
              "container.");
    tree_write(tree, "proc/vmstat", "nr_free_pages 7\n");
    frozen_ns += 2 * HR_NS_PER_S;
    harness_sleep(1);
    for (int i = 0; i < 2500 && fake_logs(0, NULL) < 2; i++) {
        frozen_ns += 2 * HR_NS_PER_S;
        harness_sleep(20);
    }
    await_log("OOM: kills that aren't in the kernel's log are reported only for selected "
              "cgroups of cgroup2, as oom_kill in /proc/vmstat can't be read: it isn't there.");
}
END_TEST

START_TEST(logs_that_nothing_can_be_reported)
{
    tree_write(tree, "proc/vmstat", "nr_free_pages 7\n");
    tree_write(tree, "proc/1/mounts", "%s", "");
    harness_begin("OOM true");
    await_log("OOM: no kill can be reported, as neither /dev/kmsg (No such file or directory: "
              "let collectd have the host's /dev/kmsg, as in a container) nor oom_kill in "
              "/proc/vmstat (it isn't there) can be read.");
    harness_sleep(50);
    ck_assert_uint_eq(fake_logs(0, NULL), 1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("headroom");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, says_who_was_killed_where_and_why);
    tcase_add_test(tests, whatever_the_age_of_the_group);
    tcase_add_test(tests, says_what_is_not_known);
    tcase_add_test(tests, a_hundred_in_order);
    tcase_add_test(tests, none_is_lost_while_handlers_are_slow);
    tcase_add_test(tests, none_without_the_option);
    tcase_add_test(tests, logs_once_what_can_not_be_read);
    tcase_add_test(tests, logs_that_nothing_can_be_reported);
    return run_suite("headroom_oom", tests);
}
