/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/check_blame_matrix.c - what of a wait is unknown, and the matrix of an interval.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/matrix.h"
#include "support/suite.h"

enum { WEB = 10, BACKUP = 20, CRON = 30 };

static void add(struct hr_blame_matrix *matrix, uint64_t waiter, enum hr_blame_taker taker,
                uint64_t group, uint64_t wait_ns)
{
    const struct hr_blame_cell cell = {
        .waiter = waiter, .taker = taker, .group = group, .wait_ns = wait_ns};

    ck_assert_int_eq(hr_blame_matrix_add(matrix, &cell), 0);
}

static uint64_t wait_of(const struct hr_blame_matrix *matrix, uint64_t waiter,
                        enum hr_blame_taker taker, uint64_t group)
{
    for (size_t i = 0; i < matrix->count; i++) {
        const struct hr_blame_cell *cell = &matrix->cells[i];
        if (cell->waiter == waiter && cell->taker == taker && cell->group == group)
            return cell->wait_ns;
    }
    return UINT64_MAX;
}

START_TEST(test_what_others_lack_of_a_wait_is_unknown)
{
    struct hr_blame_matrix matrix = {0};

    add(&matrix, WEB, HR_BLAME_UNKNOWN, 0, 1000);
    add(&matrix, BACKUP, HR_BLAME_GROUP, WEB, 70);
    add(&matrix, WEB, HR_BLAME_GROUP, BACKUP, 600);
    add(&matrix, BACKUP, HR_BLAME_UNKNOWN, 0, 70);
    add(&matrix, WEB, HR_BLAME_ITSELF, 0, 150);
    hr_blame_matrix_sort(&matrix);
    hr_blame_matrix_finish(&matrix);
    ck_assert_uint_eq(wait_of(&matrix, WEB, HR_BLAME_UNKNOWN, 0), 250);
    ck_assert_uint_eq(wait_of(&matrix, WEB, HR_BLAME_GROUP, BACKUP), 600);
    ck_assert_uint_eq(wait_of(&matrix, WEB, HR_BLAME_ITSELF, 0), 150);
    ck_assert_uint_eq(wait_of(&matrix, BACKUP, HR_BLAME_UNKNOWN, 0), UINT64_MAX);
    hr_blame_matrix_free(&matrix);
    ck_assert_ptr_null(matrix.cells);
}
END_TEST

/* The cells aren't read at one moment. */
START_TEST(test_unknown_is_never_below_0)
{
    struct hr_blame_matrix matrix = {0};

    add(&matrix, WEB, HR_BLAME_UNKNOWN, 0, 100);
    add(&matrix, WEB, HR_BLAME_OTHER, 0, 130);
    hr_blame_matrix_sort(&matrix);
    hr_blame_matrix_finish(&matrix);
    ck_assert_uint_eq(matrix.count, 1);
    ck_assert_uint_eq(wait_of(&matrix, WEB, HR_BLAME_OTHER, 0), 130);
    hr_blame_matrix_free(&matrix);
}
END_TEST

START_TEST(test_tasks_have_unknowns_of_their_own)
{
    struct hr_blame_matrix matrix = {0};
    const struct hr_blame_cell cells[] = {
        {.waiter = WEB, .waiter_tid = 2, .taker = HR_BLAME_UNKNOWN, .wait_ns = 50},
        {.waiter = WEB, .waiter_tid = 1, .taker = HR_BLAME_UNKNOWN, .wait_ns = 100},
        {.waiter = WEB, .waiter_tid = 1, .taker = HR_BLAME_OTHER, .taker_tid = 9, .wait_ns = 40},
    };

    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(hr_blame_matrix_add(&matrix, &cells[i]), 0);
    hr_blame_matrix_sort(&matrix);
    hr_blame_matrix_finish(&matrix);
    ck_assert_uint_eq(matrix.cells[0].wait_ns, 40);
    ck_assert_uint_eq(matrix.cells[1].wait_ns, 60);
    ck_assert_uint_eq(matrix.cells[2].waiter_tid, 2);
    ck_assert_uint_eq(matrix.cells[2].wait_ns, 50);
    hr_blame_matrix_free(&matrix);
}
END_TEST

START_TEST(test_delta_has_what_grew)
{
    struct hr_blame_matrix before = {.time_ns = 1000, .lost_ns = 5}, after = {.time_ns = 3500};
    struct hr_blame_matrix delta = {0};

    add(&before, WEB, HR_BLAME_GROUP, BACKUP, 600);
    add(&before, WEB, HR_BLAME_GROUP, CRON, 10); /* will be gone */
    add(&before, BACKUP, HR_BLAME_OTHER, 0, 70); /* the same */
    hr_blame_matrix_sort(&before);
    add(&after, WEB, HR_BLAME_GROUP, BACKUP, 900);
    add(&after, BACKUP, HR_BLAME_OTHER, 0, 70);
    add(&before, WEB, HR_BLAME_KWORKER, 0, 50);
    hr_blame_matrix_sort(&before);
    add(&after, WEB, HR_BLAME_KWORKER, 0, 20); /* was removed, and made again */
    add(&after, CRON, HR_BLAME_LIMIT, 0, 8);   /* new */
    hr_blame_matrix_sort(&after);
    after.lost_ns = 25;
    for (int i = 0; i < 2; i++) { /* the second time into what the first has left */
        ck_assert_int_eq(hr_blame_delta(&before, &after, &delta), 0);
        ck_assert_uint_eq(delta.count, 3);
        ck_assert_uint_eq(wait_of(&delta, WEB, HR_BLAME_GROUP, BACKUP), 300);
        ck_assert_uint_eq(wait_of(&delta, WEB, HR_BLAME_KWORKER, 0), 20);
        ck_assert_uint_eq(wait_of(&delta, CRON, HR_BLAME_LIMIT, 0), 8);
        ck_assert_uint_eq(delta.time_ns, 2500);
        ck_assert_uint_eq(delta.lost_ns, 20);
    }
    hr_blame_matrix_free(&before);
    hr_blame_matrix_free(&after);
    hr_blame_matrix_free(&delta);
}
END_TEST

/* Whole waits are compared, so what a taker had that vanished isn't unknown. */
START_TEST(test_delta_has_what_is_unknown_of_its_waits)
{
    struct hr_blame_matrix before = {0}, after = {0}, delta = {0};

    add(&before, WEB, HR_BLAME_GROUP, BACKUP, 600); /* will be gone */
    add(&before, WEB, HR_BLAME_UNKNOWN, 0, 700);
    hr_blame_matrix_sort(&before);
    add(&after, WEB, HR_BLAME_GROUP, CRON, 30);
    add(&after, WEB, HR_BLAME_UNKNOWN, 0, 750);
    hr_blame_matrix_sort(&after);
    ck_assert_int_eq(hr_blame_delta(&before, &after, &delta), 0);
    ck_assert_uint_eq(wait_of(&delta, WEB, HR_BLAME_GROUP, CRON), 30);
    ck_assert_uint_eq(wait_of(&delta, WEB, HR_BLAME_UNKNOWN, 0), 20);
    hr_blame_matrix_free(&before);
    hr_blame_matrix_free(&after);
    hr_blame_matrix_free(&delta);
}
END_TEST

/* As where the programs were loaded again in between. */
START_TEST(test_delta_of_sums_that_went_back_has_what_they_are)
{
    struct hr_blame_matrix before = {.lost_ns = 500, .unsplit_ns = 300}, delta = {0};
    struct hr_blame_matrix after = {.lost_ns = 20, .unsplit_ns = 7};

    ck_assert_int_eq(hr_blame_delta(&before, &after, &delta), 0);
    ck_assert_uint_eq(delta.lost_ns, 20);
    ck_assert_uint_eq(delta.unsplit_ns, 7);
    hr_blame_matrix_free(&delta);
}
END_TEST

START_TEST(test_delta_of_nothing_is_empty)
{
    struct hr_blame_matrix before = {.time_ns = 1}, after = {.time_ns = 2}, delta = {0};

    ck_assert_int_eq(hr_blame_delta(&before, &after, &delta), 0);
    ck_assert_uint_eq(delta.count, 0);
    hr_blame_matrix_finish(&delta);
    hr_blame_matrix_free(&delta);
}
END_TEST

START_TEST(test_takers_have_names)
{
    for (int i = 0; i < HR_BLAME_TAKER_COUNT; i++) {
        const char *name = hr_blame_taker_name(i);
        ck_assert_uint_gt(strlen(name), 0);
        ck_assert_ptr_null(strpbrk(name, " _/\""));
        for (int other = 0; other < i; other++)
            ck_assert_str_ne(name, hr_blame_taker_name(other));
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("matrix");

    tcase_add_test(tests, test_what_others_lack_of_a_wait_is_unknown);
    tcase_add_test(tests, test_unknown_is_never_below_0);
    tcase_add_test(tests, test_tasks_have_unknowns_of_their_own);
    tcase_add_test(tests, test_delta_has_what_grew);
    tcase_add_test(tests, test_delta_has_what_is_unknown_of_its_waits);
    tcase_add_test(tests, test_delta_of_sums_that_went_back_has_what_they_are);
    tcase_add_test(tests, test_delta_of_nothing_is_empty);
    tcase_add_test(tests, test_takers_have_names);
    return run_suite("blame_matrix", tests);
}
