/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_running.c - the time of threads that haven't left their CPU yet: what the
 * kernel has counted, and how long CPUs were idle, are written here.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "headroom/clock.h"
#include "headroom/root.h"
#include "osnoise/running.h"
#include "support/suite.h"
#include "support/tree.h"

#define MS   HR_NS_PER_MS
#define S    HR_NS_PER_S
#define CPUS 4

static struct tree *tree;
static struct hr_root *root;
static struct hr_osnoise_running *running;
static struct hr_cpu_set cpus, online;
static uint64_t idle_ms[CPUS]; /* since boot */
static struct hr_osnoise_source counted[16];
static struct hr_osnoise_counts counts;
static uint64_t all_ns; /* that was reported of CPU 1 */

static void write_stat(void)
{
    char text[512];
    size_t length = (size_t)snprintf(text, sizeof(text), "cpu  9 0 9 9 0 9 9 0 0 0\n");

    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        if (hr_cpu_set_has(&online, cpu))
            length += (size_t)snprintf(text + length, sizeof(text) - length,
                                       "cpu%u 1 2 3 %lu 7 9 9 0 0 0\n", cpu,
                                       (unsigned long)(idle_ms[cpu] / 10));
    tree_write(tree, "proc/stat", "%sintr 5 6 7\nctxt 5\n", text);
}

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    cpus = online = (struct hr_cpu_set){{0xf}};
    counts = (struct hr_osnoise_counts){0};
    all_ns = 0;
    memset(idle_ms, 0, sizeof(idle_ms));
    write_stat();
    ck_assert_int_eq(hr_osnoise_running_open(root, &cpus, &running), 0);
}

static void tear_down(void)
{
    hr_osnoise_running_close(running);
    hr_root_close(root);
    tree_free(tree);
}

/* --- An interval ---------------------------------------------------------- */

static void begin_interval(void)
{
    counts = (struct hr_osnoise_counts){.sources = counted};
}

static void count(unsigned cpu, enum hr_osnoise_kind kind, const char *name, uint64_t times,
                  uint64_t duration_ns)
{
    struct hr_osnoise_source *source = &counted[counts.source_count++];

    *source = (struct hr_osnoise_source){
        .cpu = cpu, .kind = kind, .count = times, .duration_ns = duration_ns};
    strcpy(source->name, name);
}

static uint64_t sum_of(unsigned cpu)
{
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < counts.source_count; i++)
        sum_ns += counts.sources[i].cpu == cpu ? counts.sources[i].duration_ns : 0;
    return sum_ns;
}

/* @param idle  of CPU 1, in ms; the others are idle all the time. */
static void end_interval_of(uint64_t elapsed_ns, uint64_t idle)
{
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        idle_ms[cpu] += cpu == 1 ? idle : elapsed_ns / MS;
    write_stat();
    ck_assert_int_eq(hr_osnoise_running_add(running, &cpus, elapsed_ns, &counts), 0);
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        ck_assert_uint_le(sum_of(cpu), elapsed_ns);
    all_ns += sum_of(1);
}

static void end_interval(uint64_t idle)
{
    end_interval_of(S, idle);
}

static uint64_t time_of(unsigned cpu, const char *name)
{
    for (size_t i = 0; i < counts.source_count; i++)
        if (counts.sources[i].cpu == cpu && counts.sources[i].kind == HR_OSNOISE_THREAD &&
            strcmp(counts.sources[i].name, name) == 0)
            return counts.sources[i].duration_ns;
    return 0;
}

static void let_idle(void)
{
    begin_interval();
    end_interval(1000);
    ck_assert_uint_eq(counts.source_count, 0);
}

/* Idle at first, then a thread begins that stays. */
static void let_spinner_begin(uint64_t idle)
{
    begin_interval();
    end_interval(idle);
    ck_assert_uint_eq(time_of(1, HR_OSNOISE_RUNNING), S - idle * MS);
}

/* --- A thread that stays -------------------------------------------------- */

START_TEST(what_keeps_its_cpu_is_reported_while_it_runs)
{
    let_idle();
    let_spinner_begin(400);
    for (int i = 0; i < 3600; i++) {
        begin_interval();
        count(1, HR_OSNOISE_IRQ, "local_timer", 250, MS);
        end_interval(0);
        ck_assert_uint_eq(time_of(1, HR_OSNOISE_RUNNING), 999 * MS);
        ck_assert_uint_eq(counts.source_count, 2);
    }
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "spin", 1, 600 * MS + 3600 * 999 * MS + 300 * MS);
    count(1, HR_OSNOISE_THREAD, "short", 9, 200 * MS);
    end_interval(500);
    ck_assert_uint_eq(time_of(1, "spin"), 300 * MS);
    ck_assert_uint_eq(time_of(1, "short"), 200 * MS);
    ck_assert_uint_eq(time_of(1, HR_OSNOISE_RUNNING), 0);
    ck_assert_uint_eq(all_ns, 600 * MS + 3600 * S + 500 * MS);
    let_idle();
}
END_TEST

START_TEST(one_that_is_interrupted_for_a_moment_goes_on)
{
    let_idle();
    let_spinner_begin(0);
    for (int i = 0; i < 100; i++) {
        begin_interval();
        count(1, HR_OSNOISE_THREAD, "spin", 1, S);
        count(1, HR_OSNOISE_THREAD, "kworker/1:0", 1, MS);
        end_interval(0);
        ck_assert_uint_eq(time_of(1, "kworker/1:0"), MS);
        ck_assert_uint_eq(sum_of(1), S);
    }
}
END_TEST

START_TEST(what_is_counted_is_left_alone)
{
    let_idle();
    for (int i = 0; i < 100; i++) {
        begin_interval();
        count(1, HR_OSNOISE_THREAD, "app", 50, 300 * MS);
        count(1, HR_OSNOISE_SOFTIRQ, "NET_RX", 50, 100 * MS);
        end_interval(i % 2 == 0 ? 590 : 610); /* as the ticks have it */
        ck_assert_uint_eq(time_of(1, "app"), 300 * MS);
        ck_assert_uint_eq(counts.source_count, 2);
    }
}
END_TEST

/* Where ticks are all that is known of being idle, short threads may hide from all or none. */
START_TEST(nothing_is_reported_where_threads_change_with_the_ticks)
{
    let_idle();
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "app", 250, 300 * MS);
    end_interval(0);
    ck_assert_uint_eq(counts.source_count, 1);
    ck_assert_uint_eq(time_of(1, "app"), 300 * MS);
}
END_TEST

/* --- CPUs that come and go ------------------------------------------------ */

START_TEST(a_cpu_that_comes_or_goes_is_not_busy)
{
    let_idle();
    online = (struct hr_cpu_set){{0xd}}; /* not idle, as it is offline: reported, but not listed */
    for (int i = 0; i < 2; i++) {
        begin_interval();
        end_interval(0);
        ck_assert_uint_eq(counts.source_count, 0);
    }
    hr_cpu_set_add(&online, 1);
    begin_interval();
    end_interval(200);
    ck_assert_uint_eq(counts.source_count, 0);
    begin_interval();
    end_interval(200);
    ck_assert_uint_eq(time_of(1, HR_OSNOISE_RUNNING), 800 * MS);
    /* It was offline within one interval, after which some kernels begin at 0. */
    for (uint64_t i = 0; i < 2; i++) {
        idle_ms[1] = i == 0 ? idle_ms[1] - 10 : 0;
        begin_interval();
        count(1, HR_OSNOISE_IRQ, "eth0", 5, 100 * MS);
        end_interval(0);
        ck_assert_uint_eq(counts.source_count, 1);
    }
}
END_TEST

/* Others keep its idle time, of which there was none meanwhile. */
START_TEST(a_cpu_that_was_offline_within_an_interval_is_not_busy)
{
    let_idle();
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "cpuhp/1", 3, 2 * MS);
    end_interval(200);
    ck_assert_uint_eq(sum_of(1), 2 * MS);
}
END_TEST

START_TEST(a_thread_that_leaves_an_offline_cpu_is_no_burst)
{
    let_idle();
    for (int i = 0; i < 10; i++)
        let_spinner_begin(0);
    online = (struct hr_cpu_set){{0xd}};
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "spin", 1, 10 * S + 100 * MS);
    end_interval(0);
    ck_assert_uint_eq(time_of(1, "spin"), 100 * MS);
}
END_TEST

START_TEST(a_cpu_that_is_not_reported_begins_anew)
{
    let_idle();
    let_spinner_begin(0);
    cpus = (struct hr_cpu_set){{1}};
    begin_interval();
    end_interval(0);
    ck_assert_uint_eq(counts.source_count, 0);
    cpus = (struct hr_cpu_set){{0xf}};
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "app", 5, 900 * MS);
    end_interval(100);
    ck_assert_uint_eq(time_of(1, "app"), 900 * MS);
}
END_TEST

START_TEST(idle_time_that_is_unknown_tells_nothing)
{
    static const char *const texts[] = {"", "cpu", "cpu  1 2\ncpu1 1 2 3\n",
                                        "cpu  1 2\ncpu1\ncpu2 1 2 3 4 5 6\n"};

    for (size_t i = 0; i <= sizeof(texts) / sizeof(texts[0]); i++) {
        if (i < sizeof(texts) / sizeof(texts[0]))
            tree_write(tree, "proc/stat", "%s", texts[i]);
        else
            tree_remove(tree, "proc/stat");
        begin_interval();
        count(1, HR_OSNOISE_THREAD, "app", 5, 1200 * MS);
        count(3, HR_OSNOISE_IRQ, "eth0", 5, 100 * MS);
        ck_assert_int_eq(hr_osnoise_running_add(running, &cpus, S, &counts), 0);
        ck_assert_uint_eq(counts.source_count, 2);
        ck_assert_uint_eq(time_of(1, "app"), S);
    }
}
END_TEST

/* --- What doesn't come as expected ---------------------------------------- */

/* Such as that of a name for which there was no room. */
START_TEST(the_time_of_one_that_has_left_may_come_late)
{
    let_idle();
    let_spinner_begin(200);
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "short", 3, 100 * MS);
    end_interval(900);
    ck_assert_uint_eq(time_of(1, "short"), 100 * MS);
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "", 1, 850 * MS);
    count(1, HR_OSNOISE_THREAD, "short", 3, 100 * MS);
    end_interval(900);
    ck_assert_uint_eq(time_of(1, ""), 50 * MS);
    ck_assert_uint_eq(time_of(1, "short"), 100 * MS);
    /* But no later. */
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "app", 1, 900 * MS);
    end_interval(100);
    ck_assert_uint_eq(time_of(1, "app"), 900 * MS);
}
END_TEST

/* The kernel's filter leaves out what began before the tracer did. */
START_TEST(one_that_ran_before_the_beginning_is_reported_from_there)
{
    begin_interval();
    end_interval_of(250 * MS, 0);
    ck_assert_uint_eq(time_of(1, HR_OSNOISE_RUNNING), 250 * MS);
    begin_interval(); /* it has left within this */
    count(1, HR_OSNOISE_THREAD, "app", 2, 600 * MS);
    end_interval(300);
    ck_assert_uint_eq(time_of(1, "app"), 600 * MS);
    ck_assert_uint_eq(time_of(1, HR_OSNOISE_RUNNING), 100 * MS);
    begin_interval(); /* of that it isn't known whose it was */
    count(1, HR_OSNOISE_THREAD, "next", 1, 400 * MS);
    end_interval(500);
    ck_assert_uint_eq(time_of(1, "next"), 400 * MS);
    ck_assert_uint_eq(time_of(1, HR_OSNOISE_RUNNING), 100 * MS);
    begin_interval(); /* what is reported from now on is counted */
    count(1, HR_OSNOISE_THREAD, "next", 1, 400 * MS);
    end_interval(700);
    ck_assert_uint_eq(time_of(1, "next"), 300 * MS);
}
END_TEST

/* A poller that a worker interrupts for a moment in each interval. */
START_TEST(one_that_ran_before_the_beginning_gets_its_name_in_time)
{
    for (int i = 0; i < 10; i++) {
        begin_interval();
        if (i > 0)
            count(1, HR_OSNOISE_THREAD, "poll", 1, 999 * MS);
        count(1, HR_OSNOISE_THREAD, "kworker/1:0", 1, MS);
        end_interval(0);
        ck_assert_uint_eq(sum_of(1), S);
        ck_assert_uint_eq(time_of(1, "poll"), i == 0 ? 0 : 999 * MS);
    }
}
END_TEST

/* Such as where reading was late, so that more was taken for missing than was. */
START_TEST(what_was_reported_of_an_idle_cpu_is_forgotten)
{
    let_idle();
    let_spinner_begin(900);
    let_idle();
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "app", 1, 300 * MS);
    end_interval(700);
    ck_assert_uint_eq(time_of(1, "app"), 300 * MS);
}
END_TEST

/* Another run had the tracer before: all of the hour is counted. */
START_TEST(what_was_before_the_beginning_is_dropped)
{
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "app", 30, 600 * MS);
    count(1, HR_OSNOISE_THREAD, "old", 1, 3600 * S);
    count(1, HR_OSNOISE_IRQ, "eth0", 5, 100 * MS);
    end_interval(0);
    ck_assert_uint_eq(time_of(1, "app"), 600 * MS);
    ck_assert_uint_eq(time_of(1, "old"), 300 * MS);
    /* One that is found to be the cause by its stay, though another had more time. */
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "app", 30, 900 * MS);
    count(1, HR_OSNOISE_THREAD, "old", 1, 350 * MS);
    end_interval(0);
    ck_assert_uint_eq(time_of(1, "app"), 900 * MS);
    ck_assert_uint_eq(time_of(1, "old"), 100 * MS);
}
END_TEST

START_TEST(also_what_was_reported_of_one_that_another_run_has_seen)
{
    for (int i = 0; i < 5; i++)
        let_spinner_begin(0);
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "old", 1, 3600 * S);
    count(1, HR_OSNOISE_THREAD, "app", 1, 300 * MS);
    end_interval(0);
    ck_assert_uint_eq(time_of(1, "app"), 300 * MS);
    ck_assert_uint_eq(time_of(1, "old"), 700 * MS);
}
END_TEST

START_TEST(all_of_an_excess_is_deducted)
{
    let_idle();
    begin_interval();
    count(1, HR_OSNOISE_THREAD, "first", 1, 900 * MS);
    count(1, HR_OSNOISE_THREAD, "second", 1, 800 * MS);
    count(1, HR_OSNOISE_THREAD, "third", 4, 700 * MS);
    count(1, HR_OSNOISE_IRQ, "eth0", 1, 950 * MS);
    end_interval(0);
    ck_assert_uint_eq(time_of(1, "first"), 0);
    ck_assert_uint_eq(time_of(1, "second"), 0);
    ck_assert_uint_eq(time_of(1, "third"), 50 * MS);
    ck_assert_uint_eq(sum_of(1), S);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("running");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_keeps_its_cpu_is_reported_while_it_runs);
    tcase_add_test(tests, one_that_is_interrupted_for_a_moment_goes_on);
    tcase_add_test(tests, what_is_counted_is_left_alone);
    tcase_add_test(tests, nothing_is_reported_where_threads_change_with_the_ticks);
    tcase_add_test(tests, a_cpu_that_comes_or_goes_is_not_busy);
    tcase_add_test(tests, a_cpu_that_was_offline_within_an_interval_is_not_busy);
    tcase_add_test(tests, a_thread_that_leaves_an_offline_cpu_is_no_burst);
    tcase_add_test(tests, a_cpu_that_is_not_reported_begins_anew);
    tcase_add_test(tests, idle_time_that_is_unknown_tells_nothing);
    tcase_add_test(tests, the_time_of_one_that_has_left_may_come_late);
    tcase_add_test(tests, one_that_ran_before_the_beginning_is_reported_from_there);
    tcase_add_test(tests, one_that_ran_before_the_beginning_gets_its_name_in_time);
    tcase_add_test(tests, what_was_reported_of_an_idle_cpu_is_forgotten);
    tcase_add_test(tests, what_was_before_the_beginning_is_dropped);
    tcase_add_test(tests, also_what_was_reported_of_one_that_another_run_has_seen);
    tcase_add_test(tests, all_of_an_excess_is_deducted);
    return run_suite("osnoise running", tests);
}
