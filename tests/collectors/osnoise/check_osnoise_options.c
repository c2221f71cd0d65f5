/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_options.c - which options a run of the osnoise tracer takes, and on which
 * kernels it begins. Over a stand-in for tracefs.
 */
#include "collectors/osnoise/run_harness.h"

#include <errno.h>

#include "support/fake_tracefs.h"
#include "support/suite.h"

/* --- Options -------------------------------------------------------------- */

START_TEST(options_are_checked)
{
    static const struct {
        enum hr_osnoise_mode mode;
        const char *cpus;
        uint64_t period_us, runtime_us, threshold_us;
        double max_duty_pct;
        const char *expected; /* NULL: they are good */
    } rows[] = {
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 100000, 1, 10, NULL},
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 100001, 1, 10, "10 % of each CPU"},
        {HR_OSNOISE_WORKLOAD, "", 1000000, 10000, 1, 10, "no CPUs are given"},
        {HR_OSNOISE_SOURCES, "", 0, 0, 0, 0, NULL},
        {HR_OSNOISE_WORKLOAD, "1", 999, 100, 1, 100, "period"},
        {HR_OSNOISE_WORKLOAD, "1", 3600000001, 100, 1, 100, "period"},
        {HR_OSNOISE_WORKLOAD, "1", 1000, 99, 1, 100, "too short"},
        {HR_OSNOISE_WORKLOAD, "1", 1000, 1001, 1, 100, "longer than the period"},
        {HR_OSNOISE_WORKLOAD, "1", 1000, 1000, 1, 100, NULL},
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 1000, 0, 10, "threshold"},
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 1000, 1000001, 10, "threshold"},
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 1000, 1, 0, "duty"},
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 1000, 1, 100.1, "duty"},
        {HR_OSNOISE_HARDWARE, "1", 10000000, 100001, 1, 10, "hwnoise"},
        {HR_OSNOISE_HARDWARE, "1", 10000000, 100000, 1, 10, NULL},
    };
    struct hr_osnoise_options options = options_of(rows[_i].mode, rows[_i].cpus);

    options.period_us = rows[_i].period_us;
    options.runtime_us = rows[_i].runtime_us;
    options.threshold_us = rows[_i].threshold_us;
    options.max_duty_pct = rows[_i].max_duty_pct;
    int status = hr_osnoise_check(&options, &reason);
    ck_assert_int_eq(status, rows[_i].expected == NULL ? 0 : -EINVAL);
    if (rows[_i].expected != NULL)
        assert_reason(-EINVAL, rows[_i].expected);
    ck_assert_int_eq(hr_osnoise_open(root, &options, &osnoise, NULL), status);
}
END_TEST

/* The kernel reports no noise below the threshold. */
START_TEST(singles_are_no_shorter_than_the_threshold)
{
    static const struct {
        enum hr_osnoise_mode mode;
        uint64_t threshold_us, max_single_ns;
        bool good;
    } rows[] = {
        {HR_OSNOISE_WORKLOAD, 20, 19999, false}, {HR_OSNOISE_WORKLOAD, 20, 20000, true},
        {HR_OSNOISE_HARDWARE, 20, 19999, false}, {HR_OSNOISE_HARDWARE, 20, 20000, true},
        {HR_OSNOISE_WORKLOAD, 20, 0, true},   /* of none */
        {HR_OSNOISE_ATTACH, 20, 19999, true}, /* the threshold is the other's */
    };
    struct hr_osnoise_options options = options_of(rows[_i].mode, "1");

    options.threshold_us = rows[_i].threshold_us;
    options.max_single_ns = rows[_i].max_single_ns;
    ck_assert_int_eq(hr_osnoise_check(&options, &reason), rows[_i].good ? 0 : -EINVAL);
    if (!rows[_i].good)
        assert_reason(-EINVAL, "below the threshold");
}
END_TEST

START_TEST(sources_have_no_singles)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_SOURCES, "");

    options.max_single_ns = _i;
    options.histogram = _i == 0;
    ck_assert_int_eq(hr_osnoise_check(&options, &reason), -EINVAL);
    assert_reason(-EINVAL, "no single noises");
}
END_TEST

START_TEST(timers_are_checked)
{
    static const struct {
        const char *cpus;
        uint64_t period_us, max_single_ns;
        bool by_source;
        const char *expected; /* NULL: they are good */
    } rows[] = {
        {"1", 1000, 0, false, NULL},
        {"1", 100, 0, false, NULL},
        {"1", 1000000, 0, false, NULL},
        {"1", 99, 0, false, "0.0001 to 1 second"},
        {"1", 1000001, 0, false, "0.0001 to 1 second"},
        {"", 1000, 0, false, "no CPUs are given"},
        {"1", 1000, 1000, false, "use the osnoise mode"},
        {"1", 1000, 0, true, "use the osnoise mode"},
    };
    struct hr_osnoise_options options = options_of(HR_OSNOISE_TIMERLAT, rows[_i].cpus);

    options.period_us = options.runtime_us = 0; /* of the other modes */
    options.timerlat.period_us = rows[_i].period_us;
    options.max_single_ns = rows[_i].max_single_ns;
    options.by_source = rows[_i].by_source;
    options.histogram = true;
    ck_assert_int_eq(hr_osnoise_check(&options, &reason), rows[_i].expected == NULL ? 0 : -EINVAL);
    if (rows[_i].expected != NULL)
        assert_reason(-EINVAL, rows[_i].expected);
}
END_TEST

/* --- The kernel ----------------------------------------------------------- */

START_TEST(what_the_kernel_lacks_is_reported)
{
    static const struct {
        const char *file, *text;
        enum hr_osnoise_mode mode;
        int error;
        const char *expected;
    } rows[] = {
        {"available_tracers", "function nop\n", HR_OSNOISE_WORKLOAD, -ENOENT, "5.17"},
        {"osnoise/options", "OSNOISE_WORKLOAD NO_PANIC_ON_STOP \n", HR_OSNOISE_HARDWARE,
         -EOPNOTSUPP, "interrupts off"},
        {"osnoise/options", "NO_PANIC_ON_STOP \n", HR_OSNOISE_SOURCES, -EOPNOTSUPP,
         "without the workload"},
        {"available_tracers", "osnoise function nop\n", HR_OSNOISE_TIMERLAT, -EOPNOTSUPP,
         "CONFIG_TIMERLAT_TRACER"},
    };
    ck_assert_int_eq(hr_osnoise_probe(root, rows[_i].mode, &reason), 0);
    fake_tracefs_set(rows[_i].file, "%s", rows[_i].text);
    ck_assert_int_eq(hr_osnoise_probe(root, rows[_i].mode, &reason), rows[_i].error);
    assert_reason(rows[_i].error, rows[_i].expected);
    struct hr_osnoise_options options = options_of(rows[_i].mode, "1");
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), rows[_i].error);
}
END_TEST

START_TEST(no_tracefs_at_all)
{
    tree_remove(tree, "sys/kernel/tracing");
    ck_assert_int_eq(hr_osnoise_probe(root, HR_OSNOISE_WORKLOAD, &reason), -ENOENT);
    assert_reason(-ENOENT, "mount -t tracefs");
}
END_TEST

int main(void)
{
    TCase *tests = new_run_tests("osnoise options");

    tcase_add_loop_test(tests, options_are_checked, 0, 15);
    tcase_add_loop_test(tests, singles_are_no_shorter_than_the_threshold, 0, 6);
    tcase_add_loop_test(tests, sources_have_no_singles, 0, 2);
    tcase_add_loop_test(tests, timers_are_checked, 0, 8);
    tcase_add_loop_test(tests, what_the_kernel_lacks_is_reported, 0, 4);
    tcase_add_test(tests, no_tracefs_at_all);
    return run_suite("osnoise options", tests);
}
