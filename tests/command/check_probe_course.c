/* SPDX-License-Identifier: MIT */
/*
 * command/check_probe_course.c - what a probe does next, and what it has found.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/clock.h"
#include "probe/course.h"
#include "probe/output.h"
#include "support/suite.h"

#define MIB 1048576ull

static const struct hr_reclaim_state calm = {
    .current_bytes = 300 * MIB, .takeable_bytes = 100 * MIB, .refault_count = 50};

static const struct {
    uint64_t takeable_bytes, step_bytes;
} sizes[] = {
    {0, 0},         {4095, 0},        {4096, 4096},
    {409600, 4096}, {100 * MIB, MIB}, {(uint64_t)1 << 50, ((uint64_t)1 << 50) / 100},
};

START_TEST(a_step_is_a_hundredth)
{
    struct hr_reclaim_state state = calm;

    state.takeable_bytes = sizes[_i].takeable_bytes;
    ck_assert_uint_eq(probe_step_bytes(&state), sizes[_i].step_bytes);
}
END_TEST

static const struct {
    double memory_pct, io_pct;
    bool is_stalled;
    enum hr_psi_resource resource;
} stalls[] = {
    {0, 0, false, HR_PSI_MEMORY}, {0.09, 0.09, false, HR_PSI_MEMORY}, {0.1, 0, true, HR_PSI_MEMORY},
    {0, 0.1, true, HR_PSI_IO},    {0.3, 40, true, HR_PSI_IO},         {55, 40, true, HR_PSI_MEMORY},
};

START_TEST(ends_at_the_first_sign)
{
    struct probe_course course;
    struct hr_reclaim_state state = calm;

    probe_course_begin(&course, &state);
    ck_assert_int_eq(course.end, PROBE_GOES_ON);
    state.stalled_pct[HR_PSI_MEMORY] = stalls[_i].memory_pct;
    state.stalled_pct[HR_PSI_IO] = stalls[_i].io_pct;
    probe_course_note(&course, &state);
    ck_assert_int_eq(course.end, stalls[_i].is_stalled ? PROBE_STALLED : PROBE_GOES_ON);
    ck_assert_int_eq(course.stalled, stalls[_i].resource);
    /* also before the first step */
    probe_course_begin(&course, &state);
    ck_assert_int_eq(course.end, stalls[_i].is_stalled ? PROBE_STALLED : PROBE_GOES_ON);
}
END_TEST

START_TEST(ends_when_nothing_is_left)
{
    struct probe_course course;
    struct hr_reclaim_state state = calm;

    state.takeable_bytes = 100;
    probe_course_begin(&course, &state);
    ck_assert_int_eq(course.end, PROBE_NOTHING_LEFT);
}
END_TEST

/* What the group uses more between two steps isn't counted against what was taken. */
START_TEST(adds_up_what_was_taken)
{
    struct probe_course course;
    struct hr_reclaim_state state = calm;

    probe_course_begin(&course, &state);
    state.current_bytes = 299 * MIB;
    probe_course_add_step(&course, &state);
    state.current_bytes = 305 * MIB;
    probe_course_note(&course, &state);
    state.current_bytes = 303 * MIB;
    state.refault_count = 57;
    probe_course_add_step(&course, &state);
    state.current_bytes = 310 * MIB; /* it used more within the step than was taken */
    probe_course_add_step(&course, &state);
    ck_assert_uint_eq(course.step_count, 3);
    ck_assert_uint_eq(course.taken_bytes, 3 * MIB);
    ck_assert_uint_eq(probe_refault_count(&course), 7);
    ck_assert_uint_eq(course.before.current_bytes, 300 * MIB);
    ck_assert_uint_eq(course.now.current_bytes, 310 * MIB);
}
END_TEST

/* --- Texts ------------------------------------------------------------------------ */

static const struct probe_course found = {
    .before = {.current_bytes = 300 * MIB, .takeable_bytes = 100 * MIB, .refault_count = 50},
    .now = {.current_bytes = 280 * MIB,
            .takeable_bytes = 80 * MIB,
            .refault_count = 60,
            .stalled_pct = {[HR_PSI_MEMORY] = 0.05, [HR_PSI_IO] = 0.25}},
    .step_count = 21,
    .taken_bytes = 20 * MIB,
    .time_ns = 126 * HR_NS_PER_S,
    .end = PROBE_STALLED,
    .stalled = HR_PSI_IO,
};

/* One line of text; the caller frees it. */
static char *print(void (*print_result)(FILE *, const char *, const struct probe_course *,
                                        uint64_t),
                   const struct probe_course *course)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(file);
    print_result(file, "a.slice/\x1b[1mb", course, 4096);
    fclose(file);
    for (char *c = text; *c != '\0' && c[1] != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    return text;
}

START_TEST(the_result_as_text)
{
    char *text = print(probe_output_result, &found);

    ck_assert_str_eq(text,
                     "Taken from a.slice/?[1mb: 20 MiB of 300 MiB, in 21 steps within 2 min; "
                     "40 KiB of it was read again. Then its tasks waited for I/O 0.25 % of the "
                     "time (limit 0.1 %). It has 280 MiB now, and the limits that it had.\n");
    free(text);
}
END_TEST

START_TEST(each_end_has_a_text_of_its_own)
{
    struct probe_course course = found;
    char *texts[PROBE_FAILED + 1];

    for (int end = PROBE_STALLED; end <= PROBE_FAILED; end++) {
        course.end = (enum probe_end)end;
        texts[end] = print(probe_output_result, &course);
        for (int other = PROBE_STALLED; other < end; other++)
            ck_assert_str_ne(texts[end], texts[other]);
    }
    for (int end = PROBE_STALLED; end <= PROBE_FAILED; end++)
        free(texts[end]);
}
END_TEST

START_TEST(the_result_as_json)
{
    char *text = print(probe_output_json, &found);

    ck_assert_str_eq(text, "{\"group\":\"a.slice/\\u001b[1mb\",\"taken_bytes\":20971520,"
                           "\"read_again_bytes\":40960,\"before_bytes\":314572800,"
                           "\"now_bytes\":293601280,\"takeable_bytes\":83886080,\"steps\":21,"
                           "\"seconds\":126.000,\"ended\":\"stalled\","
                           "\"memory_stalled_percent\":0.05,\"io_stalled_percent\":0.25}\n");
    free(text);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("probe_course");

    tcase_add_loop_test(tests, a_step_is_a_hundredth, 0, sizeof(sizes) / sizeof(sizes[0]));
    tcase_add_loop_test(tests, ends_at_the_first_sign, 0, sizeof(stalls) / sizeof(stalls[0]));
    tcase_add_test(tests, ends_when_nothing_is_left);
    tcase_add_test(tests, adds_up_what_was_taken);
    tcase_add_test(tests, the_result_as_text);
    tcase_add_test(tests, each_end_has_a_text_of_its_own);
    tcase_add_test(tests, the_result_as_json);
    return run_suite("probe_course", tests);
}
