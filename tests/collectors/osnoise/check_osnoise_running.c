/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_running.c - threads that keep their CPU are counted while they run: on
 * counts as the kernel has them, and a /proc that is written here.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/clock.h"
#include "headroom/root.h"
#include "osnoise/running.h"
#include "osnoise/running_task.h"
#include "support/suite.h"
#include "support/tree.h"

#define MS HR_NS_PER_MS
#define S  HR_NS_PER_S

static struct tree *tree;
static struct hr_root *root;
static struct hr_osnoise_running *running;
static struct hr_cpu_set cpus;
static struct hr_osnoise_counts counts;
static struct hr_osnoise_source sources[8];
static struct hr_osnoise_idle idle[2];
static uint64_t idle_ticks[2];

/* --- The machine ---------------------------------------------------------- */

static void write_idle(void)
{
    tree_write(tree, "proc/stat",
               "cpu  1 2 3 4 5 6\ncpu0 0 0 0 %" PRIu64 " 0 0 0\ncpu1 0 0 0 %" PRIu64
               " 7 0 0\nintr 5\n",
               idle_ticks[0], idle_ticks[1]);
}

static void write_thread(int process, int id, const char *name, char state, unsigned cpu,
                         unsigned priority, unsigned policy)
{
    char path[64], text[512];

    snprintf(text, sizeof(text),
             "%d (%s) %c 1 1 1 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 %d 0 99 0 0 18446744073709551615 "
             "0 0 0 0 0 0 0 0 0 0 0 0 17 %u %u %u 0 0 0\n",
             id, name, state, process == id ? 1 : 2, cpu, priority, policy);
    snprintf(path, sizeof(path), "proc/%d/task/%d/stat", process, id);
    tree_write(tree, path, "%s", text);
    if (process != id)
        return;
    snprintf(path, sizeof(path), "proc/%d/stat", process);
    tree_write(tree, path, "%s", text);
}

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    memset(idle_ticks, 0, sizeof(idle_ticks));
    counts = (struct hr_osnoise_counts){0};
    write_idle();
    cpus = (struct hr_cpu_set){{3}};
    ck_assert_int_eq(hr_osnoise_running_open(root, &cpus, &running), 0);
}

static void tear_down(void)
{
    hr_osnoise_running_close(running);
    hr_root_close(root);
    tree_free(tree);
}

/* --- What the kernel counts ----------------------------------------------- */

static void begin_interval(void)
{
    counts = (struct hr_osnoise_counts){.sources = sources, .idle = idle};
}

static void count_source(unsigned cpu, enum hr_osnoise_kind kind, const char *name, uint64_t ns)
{
    struct hr_osnoise_source *source = &sources[counts.source_count++];

    *source = (struct hr_osnoise_source){.cpu = cpu, .kind = kind, .count = 1, .duration_ns = ns};
    snprintf(source->name, sizeof(source->name), "%s", name);
}

static void count_idle(unsigned cpu, uint64_t ns)
{
    idle[counts.idle_count++] = (struct hr_osnoise_idle){cpu, 1, ns};
}

/* A second that CPU 0 was idle, and CPU 1 for so many milliseconds. */
static void end_interval(uint64_t idle_ms)
{
    idle_ticks[0] += 100;
    idle_ticks[1] += idle_ms / 10;
    write_idle();
    ck_assert_int_eq(hr_osnoise_running_add(running, &cpus, S, &counts), 0);
}

static uint64_t time_of(unsigned cpu, const char *name)
{
    for (size_t i = 0; i < counts.source_count; i++)
        if (counts.sources[i].cpu == cpu && strcmp(counts.sources[i].name, name) == 0)
            return counts.sources[i].duration_ns;
    return 0;
}

static void let_idle(void)
{
    begin_interval();
    end_interval(1000);
    ck_assert_uint_eq(counts.source_count, 0);
}

/* Begins after 0.2 s of an interval, before which the CPU had been idle. */
static void let_spinner_begin(uint64_t idle_ns)
{
    write_thread(7, 7, "spin (1)", 'R', 1, 0, 0);
    begin_interval();
    count_idle(1, idle_ns);
    end_interval(200);
}

/* --- Tests ---------------------------------------------------------------- */

START_TEST(what_keeps_its_cpu_is_counted_while_it_runs)
{
    let_idle();
    begin_interval();
    count_idle(1, 900 * MS); /* from here on all of its time is known */
    count_source(1, HR_OSNOISE_THREAD, "short", 50 * MS);
    end_interval(950);
    ck_assert_uint_eq(time_of(1, "short"), 50 * MS);
    let_spinner_begin(250 * MS);
    ck_assert_uint_eq(counts.source_count, 1);
    ck_assert_uint_eq(time_of(1, "spin (1)"), 800 * MS);
    for (int i = 0; i < 3; i++) {
        begin_interval();
        count_source(1, HR_OSNOISE_IRQ, "local_timer", 10 * MS);
        end_interval(0);
        ck_assert_uint_eq(time_of(1, "spin (1)"), 990 * MS);
        ck_assert_uint_eq(time_of(1, "local_timer"), 10 * MS);
    }
    /* It ends after another 0.3 s: the kernel has all of it. */
    begin_interval();
    count_source(1, HR_OSNOISE_THREAD, "spin (1)", (800 + 3 * 990 + 300) * MS);
    write_thread(7, 7, "spin (1)", 'S', 1, 0, 0);
    end_interval(700);
    ck_assert_uint_eq(time_of(1, "spin (1)"), 300 * MS);
    ck_assert_uint_eq(counts.source_count, 1);
    let_idle();
}
END_TEST

START_TEST(another_name_gets_only_what_is_left)
{
    let_idle();
    let_spinner_begin(1200 * MS);
    ck_assert_uint_eq(time_of(1, "spin (1)"), 800 * MS);
    begin_interval();
    count_source(1, HR_OSNOISE_THREAD, "renamed", 1100 * MS);
    count_source(1, HR_OSNOISE_THREAD, "short", 5 * MS);
    write_thread(7, 7, "renamed", 'S', 1, 0, 0);
    end_interval(695);
    ck_assert_uint_eq(time_of(1, "renamed"), 300 * MS);
    ck_assert_uint_eq(time_of(1, "short"), 5 * MS);
}
END_TEST

/* One that had begun before isn't counted by the kernel, nor is its end. */
START_TEST(what_ran_at_the_beginning_is_counted_from_there)
{
    write_thread(7, 7, "spin", 'R', 1, 0, 0);
    begin_interval();
    end_interval(0);
    ck_assert_uint_eq(time_of(1, "spin"), S);
    begin_interval();
    end_interval(0);
    ck_assert_uint_eq(time_of(1, "spin"), S);
    write_thread(7, 7, "spin", 'S', 1, 0, 0);
    begin_interval();
    end_interval(900);
    ck_assert_uint_eq(counts.source_count, 0);
    let_idle();
    /* Nor is the first end of being idle. */
    write_thread(8, 8, "next", 'R', 1, 0, 0);
    begin_interval();
    end_interval(300);
    ck_assert_uint_eq(time_of(1, "next"), 700 * MS);
}
END_TEST

/* It began so shortly before a reading that it didn't count as running: that comes later. */
START_TEST(no_interval_has_more_than_its_time)
{
    let_idle();
    write_thread(7, 7, "spin", 'R', 1, 0, 0);
    begin_interval();
    count_idle(1, 1600 * MS); /* 0.4 s before the end of this */
    end_interval(600);
    ck_assert_uint_eq(counts.source_count, 0);
    uint64_t sum_ns = 0;
    for (int i = 0; i < 3; i++) {
        begin_interval();
        end_interval(0);
        ck_assert_uint_le(time_of(1, "spin"), S);
        sum_ns += time_of(1, "spin");
    }
    begin_interval();
    count_source(1, HR_OSNOISE_THREAD, "spin", 3500 * MS);
    end_interval(900);
    sum_ns += time_of(1, "spin");
    ck_assert_uint_eq(sum_ns, 3500 * MS);
}
END_TEST

START_TEST(an_hour_at_once_is_no_spike)
{
    let_idle();
    begin_interval();
    count_source(1, HR_OSNOISE_THREAD, "hidden", 3600 * S);
    end_interval(500);
    ck_assert_uint_eq(time_of(1, "hidden"), S);
}
END_TEST

START_TEST(one_that_is_not_found_has_no_name)
{
    let_idle();
    begin_interval();
    count_idle(1, 1200 * MS);
    end_interval(200);
    ck_assert_uint_eq(counts.source_count, 1);
    ck_assert_uint_eq(time_of(1, ""), 800 * MS);
    begin_interval();
    count_source(1, HR_OSNOISE_THREAD, "spin", 900 * MS);
    end_interval(900);
    ck_assert_uint_eq(time_of(1, "spin"), 100 * MS);
}
END_TEST

START_TEST(a_cpu_that_is_idle_or_left_out_has_none)
{
    let_idle();
    let_idle();
    write_thread(7, 7, "spin", 'R', 1, 0, 0);
    cpus = (struct hr_cpu_set){{1}};
    for (int i = 0; i < 3; i++) {
        begin_interval();
        end_interval(0);
        ck_assert_uint_eq(counts.source_count, 0);
    }
}
END_TEST

START_TEST(the_highest_priority_runs)
{
    struct hr_osnoise_running_task found[2] = {{0}};

    write_thread(7, 7, "starved", 'R', 1, 0, 0);
    write_thread(8, 8, "leader", 'S', 1, 0, 0);
    write_thread(8, 9, "second", 'R', 1, 10, 1);
    write_thread(10, 10, "lower", 'R', 1, 5, 1);
    write_thread(11, 11, "elsewhere", 'R', 0, 99, 1);
    write_thread(12, 12, "beyond", 'R', 300, 99, 1);
    /* The leader of two threads. */
    write_thread(8, 8, "leader", 'S', 1, 0, 0);
    tree_write(tree, "proc/8/stat",
               "8 (leader) S 1 1 1 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 2 0 99\n");
    cpus = (struct hr_cpu_set){{2}};
    ck_assert_int_eq(hr_osnoise_running_task_find(root, &cpus, found), 0);
    ck_assert_str_eq(found[1].name, "second");
    ck_assert_int_eq(found[1].id, 9);
    ck_assert_int_eq(found[0].id, 0);
    write_thread(13, 13, "deadline", 'R', 1, 0, 6);
    ck_assert_int_eq(hr_osnoise_running_task_find(root, &cpus, found), 0);
    ck_assert_str_eq(found[1].name, "deadline");
}
END_TEST

START_TEST(a_text_that_is_not_understood_is_refused)
{
    static const char *const texts[] = {"", "7", "7 (x", "7 (x)", "7 (x) ", "7 (x) R 1 2 3"};
    struct hr_osnoise_running_task task;
    unsigned cpu;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        ck_assert_int_eq(hr_osnoise_running_task_parse(texts[i], strlen(texts[i]), &cpu, &task),
                         -EBADMSG);
    ck_assert_int_eq(hr_osnoise_running_task_parse("7 (x) S", 7, &cpu, &task), 0);
    struct hr_file_text text = {0};
    uint64_t ns[2] = {5, 5};
    tree_write(tree, "proc/stat", "cpu  1 2\ncpu0 1 2 3\n");
    ck_assert_int_eq(hr_osnoise_read_idle(root, &text, ns, 2), -EBADMSG);
    tree_write(tree, "proc/stat", "cpu  1 2\ncpu1 1 2 3 40 2 9\ncpu9 1 2 3 4 5 6\nintr 0\n");
    ck_assert_int_eq(hr_osnoise_read_idle(root, &text, ns, 2), 0);
    ck_assert_uint_eq(ns[0], 5);
    ck_assert_uint_eq(ns[1], 420 * MS);
    free(text.start);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("running");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_keeps_its_cpu_is_counted_while_it_runs);
    tcase_add_test(tests, another_name_gets_only_what_is_left);
    tcase_add_test(tests, what_ran_at_the_beginning_is_counted_from_there);
    tcase_add_test(tests, no_interval_has_more_than_its_time);
    tcase_add_test(tests, an_hour_at_once_is_no_spike);
    tcase_add_test(tests, one_that_is_not_found_has_no_name);
    tcase_add_test(tests, a_cpu_that_is_idle_or_left_out_has_none);
    tcase_add_test(tests, the_highest_priority_runs);
    tcase_add_test(tests, a_text_that_is_not_understood_is_refused);
    return run_suite("osnoise running", tests);
}
