/* SPDX-License-Identifier: MIT */
/*
 * plugin/cgroup_perf/check_plugin_cgroup_perf_starvation.c - what is logged of lines of events that
 * get no counter: once where it begins and once where it ends.
 */
#include "cgroup_perf/starvation.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "headroom/clock.h"
#include "support/suite.h"

#define S HR_NS_PER_S

static struct starvation starvation;
static char logged[1024];
static size_t messages;

/* As in plugin/common/log.h, which can't be included beside it. */
void log_safely(int level, const char *format, ...);

void log_safely(int level, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int length = snprintf(logged, sizeof(logged), "%d: ", level);
    vsnprintf(logged + length, sizeof(logged) - (size_t)length, format, arguments);
    va_end(arguments);
    messages++;
}

static void set_up(void)
{
    memset(&starvation, 0, sizeof(starvation));
    messages = 0;
}

/* An interval in which the machine, a and b had no turn for so long, of line 1. */
static void pass(uint64_t machine_ns, uint64_t a_ns, uint64_t b_ns)
{
    starvation_record(&starvation, 1, NULL, machine_ns);
    starvation_record(&starvation, 1, "/a", a_ns);
    starvation_record(&starvation, 1, "/b", b_ns);
    starvation_log(&starvation, 0, "task-clock");
    starvation_log(&starvation, 1, "cycles");
}

#define assert_logged(text)                                                                        \
    ck_assert_msg(messages == 1 && strstr(logged, text) != NULL, "%zu: %s", messages, logged);     \
    messages = 0

START_TEST(logs_where_it_begins_and_that_it_ends)
{
    for (int i = 0; i < 2; i++) {
        pass(0, 5 * S - 1, 0);
        ck_assert_uint_eq(messages, 0);
        pass(0, 5 * S, 0);
        assert_logged("4: cgroup_perf: the Event line with \"cycles\" got no hardware counter "
                      "during 5 s of CPU time of /a, ");
        pass(0, 20 * S, 0);
        pass(0, 20 * S, 30 * S);
        ck_assert_uint_eq(messages, 0);
        pass(0, 0, 40 * S); /* it goes on elsewhere */
        ck_assert_uint_eq(messages, 0);
        pass(0, 0, 0);
        assert_logged("6: cgroup_perf: the Event line with \"cycles\", which got no hardware "
                      "counter in /a, gets one wherever it is counted.");
        pass(0, 0, 0);
        ck_assert_uint_eq(messages, 0);
    }
}
END_TEST

START_TEST(names_the_machine)
{
    pass(9 * S, 9 * S, 9 * S);
    assert_logged("of CPU time of the machine, ");
    starvation_log(&starvation, 1, "cycles"); /* all of them are gone */
    assert_logged("counter in the machine, gets one ");
}
END_TEST

START_TEST(passes_over_lines_beyond_the_last)
{
    starvation_record(&starvation, STARVATION_LINES, "/a", 9 * S);
    starvation_log(&starvation, STARVATION_LINES, "cycles");
    ck_assert_uint_eq(messages, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("starvation");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, logs_where_it_begins_and_that_it_ends);
    tcase_add_test(tests, names_the_machine);
    tcase_add_test(tests, passes_over_lines_beyond_the_last);
    return run_suite("plugin cgroup_perf starvation", tests);
}
