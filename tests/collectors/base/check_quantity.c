/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_quantity.c - amounts of memory and lengths of time as people read them.
 */
#include <check.h>
#include <math.h>

#include "headroom/quantity.h"
#include "support/suite.h"

#define KIB 1024.
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static const struct {
    double bytes;
    const char *text, *short_text;
} sizes[] = {
    {0, "0 B", "0B"},
    {1, "1 B", "1B"},
    {1023, "1023 B", "1.0K"},
    {1024, "1 KiB", "1.0K"},
    {4096, "4 KiB", "4.0K"},
    {1536 * MIB, "1.5 GiB", "1.5G"},
    {256 * MIB, "256 MiB", "256M"},
    {999 * MIB, "999 MiB", "999M"},
    {1000 * MIB, "1000 MiB", "1.0G"}, /* as people set limits */
    {1023 * MIB, "1023 MiB", "1.0G"},
    {GIB - 1, "1 GiB", "1.0G"}, /* not 1024 MiB */
    {1.004 * GIB, "1 GiB", "1.0G"},
    {1.756 * GIB, "1.76 GiB", "1.8G"},
    {12.34 * GIB, "12.3 GiB", "12.3G"},
    {123.4 * GIB, "123 GiB", "123G"},
    {0x1p64, "16 EiB", "16.0E"},
};

START_TEST(bytes)
{
    ck_assert_str_eq(hr_quantity_bytes(sizes[_i].bytes).text, sizes[_i].text);
    ck_assert_str_eq(hr_quantity_short_bytes(sizes[_i].bytes).text, sizes[_i].short_text);
}
END_TEST

static const struct {
    double cpus;
    const char *text;
} cpus[] = {
    {0, "0 CPUs"},     {0.64, "0.64 CPUs"}, {0.996, "1 CPU"},   {1, "1 CPU"},
    {1.04, "1 CPU"},   {1.06, "1.1 CPUs"},  {9.94, "9.9 CPUs"}, {9.96, "10 CPUs"},
    {128, "128 CPUs"}, {1.8, "1.8 CPUs"},
};

START_TEST(some_cpus)
{
    ck_assert_str_eq(hr_quantity_cpus(cpus[_i].cpus).text, cpus[_i].text);
}
END_TEST

static const struct {
    double seconds;
    const char *text;
} times[] = {
    {0, "0 s"},          {42.4, "42 s"},        {119, "119 s"},
    {120, "2 min"},      {42 * 60, "42 min"},   {7199, "120 min"},
    {7200, "2.0 h"},     {3.5 * 3600, "3.5 h"}, {30 * 86400, "720.0 h"},
    {INFINITY, "never"},
};

START_TEST(seconds)
{
    ck_assert_str_eq(hr_quantity_seconds(times[_i].seconds).text, times[_i].text);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("quantity");

    tcase_add_loop_test(tests, bytes, 0, sizeof(sizes) / sizeof(sizes[0]));
    tcase_add_loop_test(tests, some_cpus, 0, sizeof(cpus) / sizeof(cpus[0]));
    tcase_add_loop_test(tests, seconds, 0, sizeof(times) / sizeof(times[0]));
    return run_suite("quantity", tests);
}
