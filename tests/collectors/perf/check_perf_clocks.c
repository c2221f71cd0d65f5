/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_clocks.c - clocks in groups of events, where the kernel's running time
 * of cgroups is wrong: on which kernels, what they cost, and what the counts are; on the fake
 * kernel.
 */
#include <errno.h>
#include <stdlib.h>

#include "collectors/perf/perf_harness.h"

#define G(n)  (HR_NS_PER_S * (n))
#define MS(n) (HR_NS_PER_MS * (n))

/* --- Kernels -------------------------------------------------------------- */

static const struct {
    const char *release;
    bool right;
} releases[] = {
    {"4.18.0-553.el8_10.x86_64", false},
    {"4.19.0-27-amd64", true},
    {"5.4.0-200-generic", true},
    {"5.10.0-32-amd64", true},
    {"5.14.0-427.13.1.el9_4.x86_64", false}, /* has the code of 6.5 */
    {"5.15.0-119-generic", true},
    {"6.1.0-50-arm64", true},
    {"6.2.0", false},
    {"6.6.120", false},
    {"6.8.0-45-generic", false},
    {"6.12.0-55.el10.x86_64", false},
    {"6.12.9", false},
    {"6.12.107+deb13-amd64", false},
    {"6.12.114", false},
    {"6.12.115", true},
    {"6.12.117+deb13.1-amd64", true},
    {"6.12-rc1", false},
    {"6.18.44", false},
    {"7.0.13", false},
    {"7.2", false},
    {"7.2.12", false},
    {"7.2.13+deb14-amd64", true},
    {"7.2.13-rc1", true},
    {"7.3", true},
    {"7.3.4", true},
    {"7.10.1", true},
    {"8.0-rc1", true},
    {"", false},
    {"7", false},
    {"7.", false},
    {"seven.three", false},
};

START_TEST(knows_kernels)
{
    set_release(releases[_i].release);
    ck_assert_msg(hr_perf_is_running_time_right(root) == releases[_i].right, "%s",
                  releases[_i].release);
}
END_TEST

START_TEST(trusts_no_kernel_without_a_release)
{
    tree_remove(tree, "proc/sys/kernel/osrelease");
    ck_assert(!hr_perf_is_running_time_right(root));
}
END_TEST

/* --- Descriptors ---------------------------------------------------------- */

static struct hr_perf_target *read_new(struct hr_perf_target *target, int status)
{
    ck_assert_int_eq(read_target(target), status);
    return target;
}

START_TEST(opens_clocks_in_cgroups_only)
{
    set_release(WRONG_RELEASE);
    open_perf("12 3");
    read_new(open_machine(), 0);
    ck_assert_uint_eq(fake_perf_log().open, 6);
    read_new(open_cgroup("a"), 0);
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        ck_assert_uint_eq(fake_perf_clocks_on(FAKE_MACHINE, cpu), 0);
        ck_assert_uint_eq(fake_perf_clocks_on(id_of("a"), cpu), 2);
        ck_assert_uint_eq(fake_perf_open_on(id_of("a"), cpu), 5);
    }
    ck_assert_uint_eq(hr_perf_files(perf).open, 16);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 16);
}
END_TEST

START_TEST(opens_none_where_the_kernel_is_right)
{
    open_perf("12 3");
    read_new(open_cgroup("a"), 0);
    ck_assert_uint_eq(fake_perf_clocks_on(id_of("a"), 0), 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 6);
}
END_TEST

/* Software events and tracepoints take no turns; a PMU may be that of some CPUs. */
START_TEST(opens_clocks_with_events_of_a_pmu_only)
{
    set_release(WRONG_RELEASE);
    count_on(1, PERF_TYPE_SOFTWARE, "0-1");
    count_on(2, PERF_TYPE_TRACEPOINT, "0-1");
    count_on(3, PERF_TYPE_RAW, "1");
    open_perf("12 13");
    read_new(open_cgroup("a"), 0);
    ck_assert_uint_eq(fake_perf_clocks_on(id_of("a"), 0), 0);
    ck_assert_uint_eq(fake_perf_open_on(id_of("a"), 0), 3);
    ck_assert_uint_eq(fake_perf_clocks_on(id_of("a"), 1), 1);
    ck_assert_uint_eq(fake_perf_open_on(id_of("a"), 1), 5);
    ck_assert_uint_eq(hr_perf_files(perf).open, 8);
}
END_TEST

/* An event that can't be counted needs none. */
START_TEST(opens_none_for_events_that_cannot_be_counted)
{
    set_release(WRONG_RELEASE);
    count_on(1, PERF_TYPE_SOFTWARE, "0-1");
    fake_perf_refuse((struct fake_refusal){.error = -ENOENT, .of_config = true, .config = 2});
    open_perf("12");
    read_new(open_cgroup("a"), 0);
    ck_assert_uint_eq(fake_perf_log().open, 2);
    ck_assert_uint_eq(hr_perf_files(perf).open, 2);
}
END_TEST

START_TEST(keeps_clocks_within_max_files)
{
    set_release(WRONG_RELEASE);
    perf_options.max_files = 5;
    open_perf("12");
    read_new(open_cgroup("a"), -EMFILE);
    ck_assert_uint_eq(hr_perf_files(perf).wanted, 6);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    close_perf();
    perf_options.max_files = 6;
    open_perf("12");
    read_new(open_cgroup("a"), 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 6);
}
END_TEST

static const int failures[] = {-EMFILE, -ENFILE, -ENOMEM, -EACCES, -EINVAL};

/* Without its clock a group isn't counted, as its times would be wrong. */
START_TEST(counts_nothing_without_a_clock)
{
    set_release(WRONG_RELEASE);
    perf_options.retry_ns = RETRY_NS;
    fake_perf_refuse((struct fake_refusal){.error = failures[_i],
                                           .of_type = true,
                                           .type = PERF_TYPE_SOFTWARE,
                                           .after = 1,
                                           .count = 1});
    open_perf("12");
    struct hr_perf_target *target = read_new(open_cgroup("a"), failures[_i]);
    ck_assert_uint_eq(fake_perf_log().open, 0);
    ck_assert_uint_eq(hr_perf_files(perf).open, 0);
    ck_assert(!hr_perf_target_value(target, 0, 0).counted);
    wait_for_retry();
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_log().open, 6);
}
END_TEST

START_TEST(takes_the_largest_group)
{
    char text[HR_PERF_GROUP_MAX + 1] = "";

    for (int i = 0; i < HR_PERF_GROUP_MAX; i++)
        text[i] = (char)('1' + (i % MAX_CONFIG));
    text[HR_PERF_GROUP_MAX] = '\0';
    set_release(WRONG_RELEASE);
    set_online("0");
    open_perf(text);
    struct hr_perf_target *target = read_new(open_cgroup("a"), 0);
    ck_assert_uint_eq(fake_perf_log().open, HR_PERF_GROUP_MAX + 1);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, HR_PERF_GROUP_MAX - 1, 0, 0);
}
END_TEST

/* --- Counts --------------------------------------------------------------- */

#define STEPS 4

/* Since the previous reading: the time in which the group should have counted, in which it did by
 * the kernel and by the clock, and the count; and what is expected. */
static const struct {
    const char *what;
    struct {
        uint64_t enabled_ns, kernel_ns, clock_ns, count, delta, running_ns;
        bool counted;
    } steps[STEPS];
    size_t count;
} readings[] = {
    {"all the time", {{G(1), G(1), G(1), 10, 10, G(1), true}}, 1},
    {"by the kernel a tenth, in truth half", {{G(10), G(1), G(5), 50, 100, G(5), true}}, 1},
    {"by the kernel always, in truth half", {{G(10), G(10), G(5), 50, 100, G(5), true}}, 1},
    {"by the kernel never, in truth a fifth",
     {{G(10), 0, G(2), 20, 100, G(2), true}, {G(10), G(15), G(10), 100, 100, G(10), true}},
     2},
    {"by the kernel in part, in truth never",
     {{G(4), G(3), 0, 0, 0, 0, false}, {G(4), G(4), G(4), 40, 80, G(4), true}},
     2},
    {"time of switches isn't others' turn: a sixteenth of the time",
     {{G(16), G(16), G(15), 15, 15, G(16), true}, {G(16), G(17), G(16) - 1, 16, 16, G(16), true}},
     2},
    {"time of switches isn't others' turn: less than the shortest turn",
     {{MS(2), MS(2), MS(1) + 1, 15, 15, MS(2), true}, {500, 500, 10, 2, 2, 500, true}},
     2},
    {"a clock that lacks more than switches take",
     {{G(16), G(16), G(15) - 1, 15000, 16000, G(15) - 1, true},
      {MS(2), MS(2), MS(1), 10, 20, MS(1), true}},
     2},
    {"a turn of others that the kernel has seen",
     {{MS(2), MS(2) - 1, MS(1) + 1, 1000001, 2000000, MS(1) + 1, true}},
     1},
    {"a clock that is ahead",
     {{MS(10), MS(10), MS(11), 10, 10, MS(10), true}, {MS(10), 5, MS(5), 50, 100, MS(5), true}},
     2},
    {"didn't run", {{G(1), G(1), G(1), 10, 10, G(1), true}, {0, 0, 0, 0, 0, 0, true}}, 2},
    {"the clock moves while the times stand still",
     {{G(1), 0, G(1), 10, 10, G(1), true},
      {0, 0, G(1), 10, 10, 0, true}, /* it has counted, though for no time that is known */
      {G(4), 0, G(1), 20, 40, G(2), true}},
     3},
    {"the times make up for what they stood still",
     {{G(1), G(1), G(1), 10, 10, G(1), true},
      {0, 0, G(2), 20, 20, 0, true},
      {0, 0, G(1), 10, 10, 0, true},
      {G(4), G(4), G(1), 10, 10, G(4), true}},
     4},
    {"and never make up",
     {{0, 0, G(2), 20, 20, 0, true}, {G(1), G(1), G(1), 10, 10, G(1), true}},
     2},
};

START_TEST(takes_the_time_of_the_clock)
{
    uint64_t total = 0;

    set_release(WRONG_RELEASE);
    set_online("0");
    open_perf("1");
    struct hr_perf_target *target = read_new(open_cgroup("a"), 0);
    for (size_t i = 0; i < readings[_i].count; i++) {
        const __typeof__(readings[_i].steps[0]) *step = &readings[_i].steps[i];
        fake_perf_add_times(id_of("a"), 0, 1, step->enabled_ns, step->kernel_ns);
        fake_perf_add_clock(id_of("a"), 0, 1, step->clock_ns);
        fake_perf_add_count(id_of("a"), 0, 1, step->count);
        ck_assert_int_eq(read_target(target), 0);
        const struct hr_perf_value value = hr_perf_target_value(target, 0, 0);
        total += step->delta;
        ck_assert_msg(value.counted == step->counted && value.delta == step->delta &&
                          value.total == total && value.enabled_ns == step->enabled_ns &&
                          value.running_ns == step->running_ns,
                      "%s, reading %zu: %llu, running %llu", readings[_i].what, i,
                      (unsigned long long)value.delta, (unsigned long long)value.running_ns);
    }
}
END_TEST

/* Turns of any length, and any time of the kernel's: the total never decreases, and stays near the
 * true count. */
START_TEST(stays_near_the_truth)
{
    uint64_t truth = 0, total = 0;

    set_release(WRONG_RELEASE);
    set_online("0");
    open_perf("1");
    struct hr_perf_target *target = read_new(open_cgroup("a"), 0);
    srand(815 + (unsigned)_i);
    for (int i = 0; i < 2000; i++) {
        const uint64_t time = (uint64_t)rand() % 1000000 + 1;
        const uint64_t turn = rand() % 4 == 0 ? 0 : (uint64_t)rand() % time + 1;
        fake_perf_add_times(id_of("a"), 0, 1, time, (uint64_t)rand() % time);
        fake_perf_add_clock(id_of("a"), 0, 1, turn);
        fake_perf_add_count(id_of("a"), 0, 1, turn * 3);
        truth += time * 3;
        ck_assert_int_eq(read_target(target), 0);
        const struct hr_perf_value value = hr_perf_target_value(target, 0, 0);
        ck_assert_int_eq(value.counted, turn > 0);
        ck_assert_uint_eq(value.running_ns, turn);
        ck_assert_uint_ge(value.total, total);
        total = value.total;
        if (turn > 0) /* rounding, each time */
            ck_assert_uint_le(total > truth ? total - truth : truth - total, (uint64_t)i + 1);
    }
}
END_TEST

/* Each group has its own clock, on each CPU. */
START_TEST(distinguishes_clocks)
{
    set_release(WRONG_RELEASE);
    count_on(4, PERF_TYPE_SOFTWARE, "0-1");
    open_perf("31 2 4");
    struct hr_perf_target *target = read_new(open_cgroup("a"), 0);
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        const uint64_t id = id_of("a");
        fake_perf_add_times(id, cpu, 3, 100, 3);
        fake_perf_add_times(id, cpu, 2, 100, 7);
        fake_perf_add_times(id, cpu, 4, 100, 100);
        fake_perf_add_clock(id, cpu, 3, cpu == 0 ? 50 : 25);
        fake_perf_add_clock(id, cpu, 2, 10);
        for (uint64_t config = 1; config <= 4; config++)
            fake_perf_add_count(id, cpu, config, config * 100);
    }
    ck_assert_int_eq(read_target(target), 0);
    assert_cpu_value(target, 0, 0, 0, 600, 600);
    assert_cpu_value(target, 1, 0, 0, 1200, 1200);
    assert_value(target, 0, 1, 600, 600);
    assert_value(target, 1, 0, 4000, 4000);
    assert_value(target, 2, 0, 800, 800);
    ck_assert_uint_eq(hr_perf_target_value(target, 0, 1).running_ns, 75);
}
END_TEST

START_TEST(starves_by_the_clock)
{
    set_release(WRONG_RELEASE);
    set_online("0");
    open_perf("1");
    struct hr_perf_target *target = read_new(open_cgroup("a"), 0);
    fake_perf_add_times(id_of("a"), 0, 1, G(5), G(5));
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(hr_perf_target_starved_ns(target, 0), G(5));
    assert_absent(target, 0, 0, 0);
}
END_TEST

/* The counts and the clock of a CPU that goes offline are read from each event; and the CPU begins
 * with a new clock when it comes back. */
START_TEST(follows_cpus_off_and_on)
{
    set_release(WRONG_RELEASE);
    open_perf("12");
    struct hr_perf_target *target = read_new(open_cgroup("a"), 0);
    const uint64_t id = id_of("a");
    for (int i = 0; i < 2; i++) {
        fake_perf_add_times(id, 1, 1, G(10), G(1));
        fake_perf_add_clock(id, 1, 1, G(5));
        fake_perf_add_count(id, 1, 1, 10);
        fake_perf_add_count(id, 1, 2, 20);
        if (i == 1) {
            fake_perf_take_cpu_away(1);
            set_online("0");
        }
        ck_assert_int_eq(read_target(target), 0);
        assert_value(target, 0, 0, 20 * (uint64_t)(i + 1), 20);
        assert_value(target, 0, 1, 40 * (uint64_t)(i + 1), 40);
    }
    ck_assert_uint_eq(hr_perf_files(perf).open, 3);
    renew_cpu(1);
    fake_perf_bring_cpu_back(1);
    set_online("0-1");
    ck_assert_int_eq(read_target(target), 0);
    ck_assert_uint_eq(fake_perf_clocks_on(id, 1), 1);
    fake_perf_add_times(id, 1, 1, G(2), G(2));
    fake_perf_add_clock(id, 1, 1,
                        G(2) - 1); /* switches, as the kernel has seen no turn of others */
    fake_perf_add_count(id, 1, 1, 1);
    ck_assert_int_eq(read_target(target), 0);
    assert_value(target, 0, 0, 41, 1);
    ck_assert_uint_eq(hr_perf_target_value(target, 0, 0).running_ns, G(2));
}
END_TEST

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

int main(void)
{
    TCase *tests = tcase_create("perf_clocks");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, knows_kernels, 0, COUNT(releases));
    tcase_add_test(tests, trusts_no_kernel_without_a_release);
    tcase_add_test(tests, opens_clocks_in_cgroups_only);
    tcase_add_test(tests, opens_none_where_the_kernel_is_right);
    tcase_add_test(tests, opens_clocks_with_events_of_a_pmu_only);
    tcase_add_test(tests, opens_none_for_events_that_cannot_be_counted);
    tcase_add_test(tests, keeps_clocks_within_max_files);
    tcase_add_loop_test(tests, counts_nothing_without_a_clock, 0, COUNT(failures));
    tcase_add_test(tests, takes_the_largest_group);
    tcase_add_loop_test(tests, takes_the_time_of_the_clock, 0, COUNT(readings));
    tcase_add_loop_test(tests, stays_near_the_truth, 0, 3);
    tcase_add_test(tests, distinguishes_clocks);
    tcase_add_test(tests, starves_by_the_clock);
    tcase_add_test(tests, follows_cpus_off_and_on);
    tcase_set_timeout(tests, 30);
    return run_suite("perf_clocks", tests);
}
