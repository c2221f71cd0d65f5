/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/check_blame.c - watching groups and reading their waits, without a kernel.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collectors/blame/fake_blame.h"
#include "support/suite.h"

enum { WEB = 10, BACKUP = 20, CRON = 30 };

static struct hr_blame *blame;
static struct hr_blame_matrix matrix, before, delta;

static void set_up(void)
{
    const struct hr_blame_options options = {.max_groups = 3, .calls = &fake_blame_calls};

    fake_blame_new();
    ck_assert_int_eq(hr_blame_open(&options, &blame, NULL), 0);
}

static void tear_down(void)
{
    hr_blame_close(blame);
    hr_blame_matrix_free(&matrix);
    hr_blame_matrix_free(&before);
    hr_blame_matrix_free(&delta);
    ck_assert_uint_eq(fake_blame.loaded, 0);
}

static void watch(size_t count, const uint64_t *ids)
{
    ck_assert_int_eq(hr_blame_watch(blame, ids, count), 0);
}

static uint64_t wait_in(const struct hr_blame_matrix *cells, uint64_t waiter,
                        enum hr_blame_taker taker, uint64_t group)
{
    for (size_t i = 0; i < cells->count; i++) {
        const struct hr_blame_cell *cell = &cells->cells[i];
        if (cell->waiter == waiter && cell->taker == taker && cell->group == group)
            return cell->wait_ns;
    }
    return UINT64_MAX;
}

static uint64_t read_wait(uint64_t waiter, enum hr_blame_taker taker, uint64_t group)
{
    return wait_in(&matrix, waiter, taker, group);
}

/* Reads again, and makes `delta` of the interval since. */
static void read_interval(void)
{
    const struct hr_blame_matrix former = before;

    before = matrix;
    matrix = former;
    ck_assert_int_eq(hr_blame_read(blame, &matrix), 0);
    ck_assert_int_eq(hr_blame_delta(&before, &matrix, &delta), 0);
}

static uint32_t generation(void)
{
    struct blame_control control;
    uint32_t zero = 0;

    fake_blame_calls.lookup(&fake_blame, BLAME_MAP_CONTROL, &zero, &control);
    return control.generation;
}

START_TEST(test_reads_waits_by_group)
{
    watch(2, (const uint64_t[]){WEB, BACKUP});
    uint32_t web = fake_blame_number(WEB), backup = fake_blame_number(BACKUP);
    ck_assert_uint_ge(web, BLAME_FIRST_GROUP);
    ck_assert_uint_ne(web, backup);
    fake_blame_set(web, BLAME_TOTAL, 1000);
    fake_blame_set(web, backup, 500);
    fake_blame_set(web, web, 300);
    fake_blame_set(web, BLAME_KWORKER, 40);
    fake_blame_set(web, BLAME_LIMIT, 60);
    read_interval();
    ck_assert_uint_eq(matrix.count, 5);
    ck_assert_uint_eq(read_wait(WEB, HR_BLAME_GROUP, BACKUP), 500);
    ck_assert_uint_eq(read_wait(WEB, HR_BLAME_ITSELF, 0), 300);
    ck_assert_uint_eq(read_wait(WEB, HR_BLAME_KWORKER, 0), 40);
    ck_assert_uint_eq(read_wait(WEB, HR_BLAME_LIMIT, 0), 60);
    ck_assert_uint_eq(wait_in(&delta, WEB, HR_BLAME_UNKNOWN, 0), 100);
}
END_TEST

/* What was assigned to a group that is no longer watched must not stay with it. */
START_TEST(test_changes_of_the_set_reach_the_programs)
{
    watch(2, (const uint64_t[]){WEB, BACKUP});
    uint32_t former = generation(), web = fake_blame_number(WEB);
    watch(2, (const uint64_t[]){CRON, WEB});
    ck_assert_uint_ne(generation(), former);
    ck_assert_uint_eq(fake_blame_number(WEB), web);
    ck_assert_uint_eq(fake_blame_number(BACKUP), 0);
    ck_assert_uint_ne(fake_blame_number(CRON), 0);
    ck_assert_int_eq(hr_blame_watch(blame, (const uint64_t[]){1, 2, 3, 4}, 4), -E2BIG);
    ck_assert_uint_eq(fake_blame_number(WEB), web);
    /* All three places anew. */
    watch(3, (const uint64_t[]){1, 2, 3});
    ck_assert_uint_ne(fake_blame_number(3), 0);
}
END_TEST

static void expect_measured(bool web, bool backup, bool cron)
{
    ck_assert(fake_blame_is_measured(WEB) == web);
    ck_assert(fake_blame_is_measured(BACKUP) == backup);
    ck_assert(fake_blame_is_measured(CRON) == cron);
}

/* Those that aren't have numbers as takers; a number stays, whether it is measured or not. */
START_TEST(test_waits_of_the_first_groups_are_measured)
{
    static const uint64_t ids[] = {WEB, BACKUP, CRON};

    watch(3, ids);
    const uint32_t web = fake_blame_number(WEB), backup = fake_blame_number(BACKUP);
    expect_measured(true, true, true);
    ck_assert_int_eq(hr_blame_watch_first(blame, ids, 3, 1), 0);
    expect_measured(true, false, false);
    ck_assert_uint_eq(fake_blame_number(WEB), web);
    ck_assert_uint_eq(fake_blame_number(BACKUP), backup);
    ck_assert_uint_ne(fake_blame_number(CRON), 0);
    ck_assert_int_eq(hr_blame_watch_first(blame, ids + 1, 2, 2), 0);
    expect_measured(false, true, true);
    ck_assert_uint_eq(fake_blame_number(WEB), 0);
    ck_assert_int_eq(hr_blame_watch_first(blame, ids, 3, 0), 0);
    expect_measured(false, false, false);
    ck_assert_uint_eq(fake_blame_number(WEB), web);
}
END_TEST

START_TEST(test_numbers_are_not_used_again)
{
    uint32_t last = 0;

    for (uint64_t id = 1; id < 200; id++) {
        watch(1, &id);
        ck_assert_uint_gt(fake_blame_number(id), last);
        last = fake_blame_number(id);
        fake_blame_set(last, BLAME_TOTAL, 5);
        ck_assert_int_eq(hr_blame_read(blame, &matrix), 0);
    }
    /* Nor do the cells of old ones stay. */
    ck_assert_uint_le(fake_blame.maps[BLAME_MAP_CELLS].count, 3);
}
END_TEST

START_TEST(test_cells_of_a_removed_group_are_read_to_their_end)
{
    watch(2, (const uint64_t[]){WEB, BACKUP});
    uint32_t web = fake_blame_number(WEB), backup = fake_blame_number(BACKUP);
    fake_blame_set(web, BLAME_TOTAL, 100);
    fake_blame_set(web, backup, 100);
    read_interval();
    watch(1, (const uint64_t[]){WEB});
    fake_blame_set(web, BLAME_TOTAL, 150); /* its slices were still in the ring */
    fake_blame_set(web, backup, 150);
    read_interval();
    ck_assert_uint_eq(read_wait(WEB, HR_BLAME_GROUP, BACKUP), 150);
    ck_assert_uint_eq(wait_in(&delta, WEB, HR_BLAME_GROUP, BACKUP), 50);
    /* What they had isn't unknown once they are gone. */
    for (int i = 0; i < 3; i++) {
        read_interval();
        ck_assert_uint_eq(delta.count, 0);
    }
    ck_assert_uint_eq(read_wait(WEB, HR_BLAME_GROUP, BACKUP), UINT64_MAX);
    fake_blame_set(web, BLAME_TOTAL, 157);
    read_interval();
    ck_assert_uint_eq(wait_in(&delta, WEB, HR_BLAME_UNKNOWN, 0), 7);
    ck_assert_uint_eq(fake_blame.maps[BLAME_MAP_CELLS].count, 1);
}
END_TEST

START_TEST(test_waits_that_last_are_counted_on_request)
{
    const struct hr_blame_options options = {
        .max_groups = 3, .lasting = true, .calls = &fake_blame_calls};

    ck_assert(!fake_blame.settings.lasting);
    ck_assert_int_eq(hr_blame_attach(blame, NULL), 0);
    ck_assert_int_eq(hr_blame_read(blame, &matrix), 0);
    ck_assert_uint_eq(fake_blame.lasting_counted, 0);
    hr_blame_close(blame);
    ck_assert_int_eq(hr_blame_open(&options, &blame, NULL), 0);
    ck_assert(fake_blame.settings.lasting);
    ck_assert_int_eq(hr_blame_read(blame, &matrix), 0);
    ck_assert_uint_eq(fake_blame.lasting_counted, 0); /* not attached */
    ck_assert_int_eq(hr_blame_attach(blame, NULL), 0);
    fake_blame.lasting_unsplit_ns = 9;
    ck_assert_int_eq(hr_blame_read(blame, &matrix), 0);
    ck_assert_uint_eq(fake_blame.lasting_counted, 1);
    ck_assert_uint_eq(matrix.unsplit_ns, 9); /* of the same waits as the cells */
}
END_TEST

/* As by task, where new ones come all the time. */
START_TEST(test_cells_that_rest_make_room_for_others)
{
    const struct hr_blame_options options = {
        .max_groups = 3, .max_cells = 20, .by_task = true, .calls = &fake_blame_calls};

    hr_blame_close(blame);
    ck_assert_int_eq(hr_blame_open(&options, &blame, NULL), 0);
    watch(1, (const uint64_t[]){WEB});
    const uint32_t web = fake_blame_number(WEB);
    for (uint32_t tid = 1; tid < 500; tid++) {
        const struct blame_key key = {.waiter = web, .taker = web, .waiter_tid = tid};
        const uint64_t ns = 100, lasting_ns = 10 * tid;
        ck_assert_int_eq(fake_blame_calls.update(&fake_blame, BLAME_MAP_CELLS, &key, &ns), 0);
        fake_blame_set(web, BLAME_KWORKER, lasting_ns);
        read_interval();
        ck_assert_uint_eq(delta.count, 2);
        ck_assert_uint_eq(wait_in(&delta, WEB, HR_BLAME_KWORKER, 0), 10);
        ck_assert_uint_eq(wait_in(&delta, WEB, HR_BLAME_ITSELF, 0), 100);
    }
}
END_TEST

static void open_with(size_t max_groups, size_t max_cells)
{
    const struct hr_blame_options options = {
        .max_groups = max_groups, .max_cells = max_cells, .calls = &fake_blame_calls};

    hr_blame_close(blame);
    ck_assert_int_eq(hr_blame_open(&options, &blame, NULL), 0);
}

/* More pairs than there is room for, though never at once. */
START_TEST(test_pairs_that_rest_make_room_for_others)
{
    enum { GROUPS = 30 };
    uint64_t ids[GROUPS];

    open_with(GROUPS, 40);
    for (uint64_t i = 0; i < GROUPS; i++)
        ids[i] = i + 1;
    watch(GROUPS, ids);
    read_interval();
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t waiter = ids[i / GROUPS % GROUPS], taker = ids[i % GROUPS];
        if (waiter == taker)
            continue;
        fake_blame_add(fake_blame_number(waiter), BLAME_TOTAL, 10);
        fake_blame_add(fake_blame_number(waiter), fake_blame_number(taker), 10);
        read_interval();
        ck_assert_uint_eq(delta.count, 1);
        ck_assert_uint_eq(wait_in(&delta, waiter, HR_BLAME_GROUP, taker), 10);
        ck_assert_uint_eq(delta.lost_ns + delta.unsplit_ns, 0);
    }
}
END_TEST

START_TEST(test_what_has_no_room_is_known)
{
    const struct blame_status status = {.lost_ns = 5, .unsplit_ns = 7};
    uint32_t zero = 0;

    read_interval();
    fake_blame_calls.update(&fake_blame, BLAME_MAP_STATUS, &zero, &status);
    read_interval();
    ck_assert_uint_eq(delta.lost_ns, 5);
    ck_assert_uint_eq(delta.unsplit_ns, 7);
}
END_TEST

/* Maps that take all there is, in no time. */
static int take(void *object, enum blame_map map, const void *key, const void *value)
{
    (void)object;
    (void)map;
    (void)key;
    (void)value;
    return 0;
}

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The least of some times that it takes to watch so many groups again. */
static double seconds_to_watch(size_t count)
{
    struct hr_blame_calls calls = fake_blame_calls;
    const struct hr_blame_options options = {.max_groups = count, .max_cells = 10, .calls = &calls};
    uint64_t *ids = calloc(count, sizeof(*ids));
    double least = 1e9;

    ck_assert_ptr_nonnull(ids);
    calls.update = take;
    hr_blame_close(blame);
    ck_assert_int_eq(hr_blame_open(&options, &blame, NULL), 0);
    for (size_t i = 0; i < count; i++)
        ids[i] = (i * 7919) % count + 1;
    watch(count, ids);
    for (int i = 0; i < 5; i++) {
        const double begin = cpu_seconds();
        watch(count, ids);
        least = fmin(least, cpu_seconds() - begin);
    }
    hr_blame_close(blame);
    blame = NULL;
    free(ids);
    return least;
}

/* Not the square: that is 400 times as long. */
START_TEST(test_watching_takes_time_by_the_number_of_groups)
{
    const double few = seconds_to_watch(1000), many = seconds_to_watch(20000);

    printf("# 1,000 groups: %.3f ms, 20,000: %.3f ms\n", few * 1e3, many * 1e3);
    ck_assert_double_lt(many, 120 * few);
}
END_TEST

START_TEST(test_a_group_that_comes_back_goes_on)
{
    watch(1, (const uint64_t[]){WEB});
    uint32_t web = fake_blame_number(WEB);
    fake_blame_set(web, BLAME_TOTAL, 100);
    watch(0, NULL);
    watch(1, (const uint64_t[]){WEB});
    ck_assert_uint_eq(fake_blame_number(WEB), web);
    ck_assert_int_eq(hr_blame_read(blame, &matrix), 0);
    ck_assert_uint_eq(read_wait(WEB, HR_BLAME_UNKNOWN, 0), 100);
}
END_TEST

START_TEST(test_attaches_and_detaches)
{
    struct hr_reason reason = {0};

    ck_assert_uint_eq(fake_blame.attached, 0);
    ck_assert_int_eq(hr_blame_attach(blame, &reason), 0);
    ck_assert_int_eq(hr_blame_attach(blame, &reason), 0);
    ck_assert_uint_eq(fake_blame.attached, 1);
    hr_blame_detach(blame);
    hr_blame_detach(blame);
    ck_assert_uint_eq(fake_blame.detached, 1);
    fake_blame.attach_error = -EPERM;
    ck_assert_int_eq(hr_blame_attach(blame, &reason), -EPERM);
    ck_assert_ptr_nonnull(strstr(reason.text, "CAP_BPF"));
    fake_blame.attach_error = 0;
    ck_assert_int_eq(hr_blame_attach(blame, &reason), 0);
}
END_TEST

START_TEST(test_reading_fails_without_harm)
{
    watch(1, (const uint64_t[]){WEB});
    fake_blame_set(fake_blame_number(WEB), BLAME_TOTAL, 100);
    fake_blame.copy_error = -ENOMEM;
    ck_assert_int_eq(hr_blame_read(blame, &matrix), -ENOMEM);
    ck_assert_uint_eq(matrix.count, 0);
    fake_blame.copy_error = 0;
    ck_assert_int_eq(hr_blame_read(blame, &matrix), 0);
    ck_assert_uint_eq(read_wait(WEB, HR_BLAME_UNKNOWN, 0), 100);
}
END_TEST

START_TEST(test_names_of_tasks_are_known_by_task_only)
{
    const struct hr_blame_options options = {.by_task = true, .calls = &fake_blame_calls};
    const struct blame_name full = {.text = "0123456789abcdef"};
    struct hr_blame *by_task;
    uint32_t tid = 7;
    char name[16];

    ck_assert_int_eq(hr_blame_task_name(blame, tid, name, sizeof(name)), -ENOENT);
    ck_assert_int_eq(hr_blame_open(&options, &by_task, NULL), 0);
    ck_assert_uint_eq(fake_blame.settings.by_task, 1);
    ck_assert_int_eq(fake_blame_calls.update(&fake_blame, BLAME_MAP_NAMES, &tid, &full), 0);
    ck_assert_int_eq(hr_blame_task_name(by_task, tid, name, sizeof(name)), 0);
    ck_assert_str_eq(name, "0123456789abcde");
    ck_assert_int_eq(hr_blame_task_name(by_task, 8, name, sizeof(name)), -ENOENT);
    hr_blame_close(by_task);
}
END_TEST

static const struct {
    int error, status;
    const char *text;
} failures[] = {
    {-EPERM, -EPERM, "run it as root, or with CAP_BPF and CAP_PERFMON"},
    {-ESRCH, -ENOENT, "CONFIG_DEBUG_INFO_BTF"},
    {-EINVAL, -EOPNOTSUPP, "CONFIG_FAIR_GROUP_SCHED"},
    {-ENOMEM, -ENOMEM, "out of memory"},
    {-EBUSY, -EBUSY, "Device or resource busy"},
};

START_TEST(test_opening_fails_with_cause_and_remedy)
{
    const struct hr_blame_options options = {.calls = &fake_blame_calls};
    struct hr_blame *none = NULL;
    struct hr_reason reason = {0};

    fake_blame.load_error = failures[_i].error;
    ck_assert_int_eq(hr_blame_open(&options, &none, &reason), failures[_i].status);
    ck_assert_ptr_null(none);
    ck_assert_int_eq(reason.error, failures[_i].status);
    ck_assert_ptr_nonnull(strstr(reason.text, failures[_i].text));
}
END_TEST

START_TEST(test_controllers_other_than_cpu_are_refused)
{
    struct hr_blame *none = NULL;
    struct hr_blame_options options = {.controller = "memory", .calls = &fake_blame_calls};

    ck_assert_int_eq(hr_blame_open(&options, &none, NULL), -EINVAL);
    ck_assert_uint_eq(fake_blame.settings.of_cpu_controller, 0);
    options.controller = "cpu";
    ck_assert_int_eq(hr_blame_open(&options, &none, NULL), 0);
    ck_assert_uint_eq(fake_blame.settings.of_cpu_controller, 1);
    hr_blame_close(none);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("blame");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_reads_waits_by_group);
    tcase_add_test(tests, test_changes_of_the_set_reach_the_programs);
    tcase_add_test(tests, test_waits_of_the_first_groups_are_measured);
    tcase_add_test(tests, test_numbers_are_not_used_again);
    tcase_add_test(tests, test_cells_of_a_removed_group_are_read_to_their_end);
    tcase_add_test(tests, test_waits_that_last_are_counted_on_request);
    tcase_add_test(tests, test_cells_that_rest_make_room_for_others);
    tcase_add_test(tests, test_pairs_that_rest_make_room_for_others);
    tcase_add_test(tests, test_what_has_no_room_is_known);
    tcase_add_test(tests, test_watching_takes_time_by_the_number_of_groups);
    tcase_add_test(tests, test_a_group_that_comes_back_goes_on);
    tcase_add_test(tests, test_attaches_and_detaches);
    tcase_add_test(tests, test_reading_fails_without_harm);
    tcase_add_test(tests, test_names_of_tasks_are_known_by_task_only);
    tcase_add_loop_test(tests, test_opening_fails_with_cause_and_remedy, 0,
                        sizeof(failures) / sizeof(failures[0]));
    tcase_add_test(tests, test_controllers_other_than_cpu_are_refused);
    return run_suite("blame", tests);
}
