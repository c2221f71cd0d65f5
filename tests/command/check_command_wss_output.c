/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_wss_output.c - what `headroom wss` prints: columns, JSON, CSV.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"
#include "wss/output.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static char printed[65536];

static FILE *open_print(void)
{
    memset(printed, 0, sizeof(printed));
    FILE *file = fmemopen(printed, sizeof(printed), "w");
    ck_assert_ptr_nonnull(file);
    return file;
}

/* --- Lines ---------------------------------------------------------------- */

static const struct wss_reading known = {
    .time = {1795261677, 450999999},
    .method = HR_WSS_REFERENCED,
    .asked_ns = 100000000,
    .sample = {.referenced_bytes = 29381099,
               .has_rss = true,
               .has_pss = true,
               .rss_bytes = 423268188,
               .pss_bytes = 420049060,
               .window_ns = 107400000,
               .scan_ns = 12345678,
               .process_count = 3,
               .ended_count = 2,
               .left_count = 1},
};

static const struct wss_reading unknown = {
    .time = {1, 0},
    .method = HR_WSS_LRU_GEN,
    .asked_ns = 1,
    .sample = {.referenced_bytes = UINT64_MAX, .rss_bytes = 7, .window_ns = 1000000000000},
};

static const struct {
    enum wss_format format;
    bool timestamps;
    const char *text;
} outputs[] = {
    {WSS_COLUMNS, false,
     "Est(s)    RSS(MiB)   PSS(MiB)   Ref(MiB)\n"
     "0.107       403.66     400.59      28.02\n"
     "1000.000          -          - 17592186044416.00\n"},
    {WSS_COLUMNS, true,
     "Time                    Est(s)    RSS(MiB)   PSS(MiB)   Ref(MiB)\n"
     "2026-11-21T11:47:57.450 0.107       403.66     400.59      28.02\n"
     "1970-01-01T00:00:01.000 1000.000          -          - 17592186044416.00\n"},
    {WSS_JSON, false,
     "{\"time_s\":1795261677.450,\"method\":\"referenced\",\"asked_s\":0.100000,\"window_s\":"
     "0.107400,\"referenced_bytes\":29381099,\"rss_bytes\":423268188,\"pss_bytes\":420049060,"
     "\"scan_s\":0.012346,\"process_count\":3,\"ended_count\":2,\"left_count\":1}\n"
     "{\"time_s\":1.000,\"method\":\"lru_gen\",\"asked_s\":0.000000,\"window_s\":1000.000000,"
     "\"referenced_bytes\":18446744073709551615,\"rss_bytes\":null,\"pss_bytes\":null,"
     "\"scan_s\":0.000000,\"process_count\":0,\"ended_count\":0,\"left_count\":0}\n"},
    {WSS_CSV, false,
     "time_s,method,asked_s,window_s,referenced_bytes,rss_bytes,pss_bytes,scan_s,process_count,"
     "ended_count,left_count\n"
     "1795261677.450,\"referenced\",0.100000,0.107400,29381099,423268188,420049060,0.012346,3,2,1\n"
     "1.000,\"lru_gen\",0.000000,1000.000000,18446744073709551615,,,0.000000,0,0,0\n"},
};

START_TEST(prints_lines)
{
    struct wss_output output = {
        .file = open_print(), .format = outputs[_i].format, .timestamps = outputs[_i].timestamps};

    ck_assert_int_eq(wss_output_heading(&output), 0);
    ck_assert_int_eq(wss_output_reading(&output, &known), 0);
    ck_assert_int_eq(wss_output_reading(&output, &unknown), 0);
    fclose(output.file);
    ck_assert_str_eq(printed, outputs[_i].text);
}
END_TEST

START_TEST(reports_that_the_disk_is_full)
{
    struct wss_output output = {.file = fopen("/dev/full", "w"), .format = WSS_COLUMNS};

    ck_assert_int_eq(wss_output_heading(&output), -ENOSPC);
    fclose(output.file);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss_output");

    setenv("TZ", "UTC", 1);
    setlocale(LC_CTYPE, "C.UTF-8");
    tcase_add_loop_test(tests, prints_lines, 0, COUNT(outputs));
    tcase_add_test(tests, reports_that_the_disk_is_full);
    return run_suite("wss_output", tests);
}
