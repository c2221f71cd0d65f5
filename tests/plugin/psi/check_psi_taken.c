/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_psi_taken.c - the series of who took the CPU from a group: their names, and that
 * their sum is what its tasks waited.
 */
#include <stdlib.h>
#include <string.h>

#include "psi/blame.h"
#include "psi/groups.h"
#include "psi/taken.h"
#include "support/fake_collectd.h"
#include "support/suite.h"

enum { WEB = 10, FIRST = 100, GROUPS = 20 };

#define US 1000ull

/* What measures is not part of the test. */
static bool has_series;
static size_t updates, samples;

bool psi_blame_has_series(const struct psi_blame *blame)
{
    (void)blame;
    return has_series;
}

void psi_blame_update_groups(struct psi_blame *blame, struct hr_cgroup_set *set, size_t changes)
{
    (void)blame;
    (void)set;
    (void)changes;
    updates++;
}

void psi_blame_sample(struct psi_blame *blame,
                      void (*sampled)(const struct hr_blame_matrix *interval,
                                      const struct psi_watched *watched, void *context),
                      void *context)
{
    (void)blame;
    (void)sampled;
    (void)context;
    samples++;
}

static char names[GROUPS][HR_INSTANCE_SIZE];
static struct psi_watched_group groups[GROUPS];
static const struct psi_watched watched = {.groups = groups, .count = GROUPS};
static struct hr_blame_cell cells[64];
static struct hr_blame_matrix interval;
static struct psi_taken *taken;
static uint64_t sum_us;
static char found[64][HR_INSTANCE_SIZE];
static int64_t values[64];
static size_t found_count;

static void note_value(const struct fake_value *value, void *context)
{
    (void)context;
    const char *series = strstr(value->identifier, "/derive-");
    ck_assert_ptr_nonnull(series);
    snprintf(found[found_count], HR_INSTANCE_SIZE, "%s", series + strlen("/derive-"));
    values[found_count++] = value->value.derive;
}

static void set_up(void)
{
    for (unsigned i = 0; i < GROUPS; i++) {
        snprintf(names[i], sizeof(names[i]), "g%u", i);
        groups[i] =
            (struct psi_watched_group){.id = FIRST + i, .path = names[i], .instance = names[i]};
    }
    interval = (struct hr_blame_matrix){.cells = cells};
    taken = psi_taken_new();
    ck_assert_ptr_nonnull(taken);
    sum_us = 0;
    fake_start_parts();
    fake_on_dispatch(note_value, NULL);
}

static void tear_down(void)
{
    psi_taken_free(taken);
    ck_assert_uint_eq(fake_rejections(), 0);
    fake_stop();
}

static void add(enum hr_blame_taker taker, uint64_t group, uint64_t us)
{
    cells[interval.count++] =
        (struct hr_blame_cell){.waiter = WEB, .taker = taker, .group = group, .wait_ns = us * US};
    sum_us += us;
}

static void end_interval(void)
{
    const struct submission submission = {.plugin = "psi", .instance = "web", .time = cdtime()};

    psi_taken_add(taken, &interval, WEB, &watched);
    found_count = 0;
    psi_taken_publish(taken, &submission);
    interval.count = 0;
}

/* --- Rates ---------------------------------------------------------------- */

#define INTERVAL TIME_T_TO_CDTIME_T(10)

/* What collectd knows of a series: the rate of its first value isn't known, and older ones are
 * refused. */
struct known {
    char series[HR_INSTANCE_SIZE];
    int64_t value;
    cdtime_t time;
};

static struct known known[256];
static size_t known_count;
static int64_t grown_us; /* by all rates */

static void note_rate(const struct fake_value *value, void *context)
{
    (void)context;
    const char *series = strstr(value->identifier, "/derive-") + strlen("/derive-");
    struct known *of = known;
    while (of < known + known_count && strcmp(of->series, series) != 0)
        of++;
    if (of < known + known_count) {
        ck_assert_uint_gt(value->time, of->time);
        ck_assert_int_ge(value->value.derive, of->value);
        grown_us += value->value.derive - of->value;
    } else {
        known_count++;
        snprintf(of->series, sizeof(of->series), "%s", series);
    }
    of->value = value->value.derive;
    of->time = value->time;
}

/* Series without a value for two intervals are forgotten. */
static void forget_old(cdtime_t now)
{
    size_t kept = 0;

    for (size_t i = 0; i < known_count; i++)
        if (known[i].time + 2 * INTERVAL > now)
            known[kept++] = known[i];
    known_count = kept;
}

static void publish_interval(cdtime_t before, cdtime_t now)
{
    struct submission submission = {.plugin = "psi", .instance = "web", .time = before};

    grown_us = 0;
    psi_taken_add(taken, &interval, WEB, &watched);
    psi_taken_publish_begin(taken, &submission);
    submission.time = now;
    psi_taken_publish(taken, &submission);
    forget_old(now);
    interval.count = 0;
}

static int64_t value_of(const char *series)
{
    for (size_t i = 0; i < found_count; i++)
        if (strcmp(found[i], series) == 0)
            return values[i];
    return -1;
}

START_TEST(test_series_by_taker)
{
    cells[interval.count++] =
        (struct hr_blame_cell){.waiter = WEB - 1, .taker = HR_BLAME_LIMIT, .wait_ns = 5};
    add(HR_BLAME_GROUP, FIRST + 3, 100);
    add(HR_BLAME_GROUP, 999, 6); /* not known */
    groups[4].is_young = true;   /* without series of its own */
    add(HR_BLAME_GROUP, FIRST + 4, 1);
    add(HR_BLAME_ITSELF, 0, 50);
    add(HR_BLAME_OTHER, 0, 20);
    add(HR_BLAME_KWORKER, 0, 30);
    add(HR_BLAME_STEAL, 0, 4);
    add(HR_BLAME_UNKNOWN, 0, 2);
    end_interval();
    ck_assert_uint_eq(found_count, 8);
    ck_assert_int_eq(value_of("cpu_taken_by_g3_us"), 100);
    ck_assert_int_eq(value_of("cpu_taken_by_kworker_us"), 30);
    ck_assert_int_eq(value_of("cpu_taken_by_itself_us"), 50);
    ck_assert_int_eq(value_of("cpu_taken_by_other_us"), 27);
    ck_assert_int_eq(value_of("cpu_taken_by_steal_us"), 4);
    ck_assert_int_eq(value_of("cpu_taken_by_limit_us"), 0);
    ck_assert_int_eq(value_of("cpu_taken_by_interrupts_us"), 0);
    ck_assert_int_eq(value_of("cpu_taken_unattributed_us"), 2);
}
END_TEST

START_TEST(test_counters_have_all_of_it_however_many_take_it)
{
    for (int i = 0; i < 50; i++) {
        for (uint64_t group = 0; group < GROUPS; group++)
            add(HR_BLAME_GROUP, FIRST + group, 100 + (uint64_t)(i * 7 + (int)group * 13) % 50);
        add(HR_BLAME_GROUP, FIRST + 11, 5000);
        end_interval();
        ck_assert_uint_le(found_count, PSI_TAKEN_TOP + 6);
    }
    ck_assert_int_ge(value_of("cpu_taken_by_g11_us"), 50 * 5000);
    /* Series that have left the top aren't published, but nothing is counted twice. */
    uint64_t published_us = 0;
    for (size_t i = 0; i < found_count; i++)
        published_us += (uint64_t)values[i];
    ck_assert_uint_le(published_us, sum_us);
    ck_assert_uint_ge(published_us, sum_us * 9 / 10);
}
END_TEST

/* As rates, too, whatever series come, leave, and come back. */
START_TEST(test_each_interval_counts_as_a_rate)
{
    cdtime_t before = cdtime();

    fake_on_dispatch(note_rate, NULL);
    known_count = 0;
    publish_interval(0, before);
    for (unsigned i = 0; i < 200; i++) {
        sum_us = 0;
        for (unsigned j = 0; j < 8; j++)
            add(HR_BLAME_GROUP, FIRST + (i / 7 * 3 + j) % GROUPS, 1 + j * j * 1000 + i);
        add(HR_BLAME_LIMIT, 0, i);
        publish_interval(before, before + INTERVAL);
        ck_assert_int_eq(grown_us, (int64_t)sum_us);
        before += INTERVAL;
        if (i % 50 == 20) /* it had no processes for some time */
            before += 5 * INTERVAL;
        forget_old(before);
    }
}
END_TEST

/* One that was removed, and is there again before the next interval ends. */
START_TEST(test_a_group_of_the_same_name_begins_later)
{
    const cdtime_t before = cdtime();

    fake_on_dispatch(note_rate, NULL);
    known_count = 0;
    publish_interval(0, before);
    psi_taken_free(taken);
    taken = psi_taken_new();
    add(HR_BLAME_LIMIT, 0, 100);
    publish_interval(before, before + INTERVAL);
    ck_assert_int_eq(grown_us, 100);
}
END_TEST

START_TEST(test_a_long_name_keeps_its_end)
{
    memset(names[1], 'x', HR_INSTANCE_SIZE - 1);
    memcpy(names[1] + HR_INSTANCE_SIZE - 14, "mysqld.service", 13);
    add(HR_BLAME_GROUP, FIRST + 1, 200);
    end_interval();
    ck_assert_ptr_nonnull(strstr(found[0], "mysqld.servic_us"));
    ck_assert_uint_eq(strlen(found[0]), HR_INSTANCE_SIZE - 1);
}
END_TEST

START_TEST(test_names_are_distinct_and_fit)
{
    strcpy(names[0], "steal");
    memset(names[1], 'x', HR_INSTANCE_SIZE - 1);
    memset(names[2], 'x', HR_INSTANCE_SIZE - 1);
    names[2][HR_INSTANCE_SIZE - 2] = 'y';
    add(HR_BLAME_STEAL, 0, 1);
    add(HR_BLAME_GROUP, FIRST, 100);
    add(HR_BLAME_GROUP, FIRST + 1, 200);
    add(HR_BLAME_GROUP, FIRST + 2, 300);
    end_interval();
    ck_assert_uint_eq(found_count, 3 + 6);
    ck_assert_int_eq(value_of("cpu_taken_by_steal_us"), 1);
    for (size_t i = 0; i < found_count; i++) {
        ck_assert_uint_lt(strlen(found[i]), HR_INSTANCE_SIZE);
        ck_assert_str_eq(found[i] + strlen(found[i]) - 3, "_us");
        for (size_t other = 0; other < i; other++)
            ck_assert_str_ne(found[i], found[other]);
    }
}
END_TEST

/* Both would wait for a measurement of the alerts' thread. */
START_TEST(test_without_series_nothing_is_locked)
{
    static char set;
    struct psi_groups all = {.set = (struct hr_cgroup_set *)&set};

    for (int i = 0; i < 2; i++) {
        has_series = i == 1;
        updates = samples = 0;
        psi_taken_sample(NULL, &all, cdtime());
        ck_assert_uint_eq(updates, i);
        ck_assert_uint_eq(samples, i);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("taken");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_series_by_taker);
    tcase_add_test(tests, test_counters_have_all_of_it_however_many_take_it);
    tcase_add_test(tests, test_each_interval_counts_as_a_rate);
    tcase_add_test(tests, test_a_group_of_the_same_name_begins_later);
    tcase_add_test(tests, test_a_long_name_keeps_its_end);
    tcase_add_test(tests, test_names_are_distinct_and_fit);
    tcase_add_test(tests, test_without_series_nothing_is_locked);
    return run_suite("psi_taken", tests);
}
