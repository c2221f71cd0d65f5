/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_others.c - the row of `headroom top` for tasks that are in none of its groups.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/table_rows.h"
#include "headroom/root.h"
#include "support/suite.h"
#include "top/memory.h"
#include "top/others.h"

enum { ROWS = 9 };

static struct table table;

static void set_up(void)
{
    table = (struct table){.rows = calloc(ROWS, sizeof(*table.rows))};
}

static void tear_down(void)
{
    table_free(&table);
}

static struct row *add(const char *host, const char *group, double cpus)
{
    struct row *row = &table.rows[table.count++];

    row->host = strdup(host);
    row->group = strdup(group);
    row->cpu_count = NAN;
    for (int column = 0; column < COLUMN_MAX; column++)
        row->values[column] = NAN;
    row->values[column_of_key("cpus_used")] = cpus;
    return row;
}

static void add_machine(const char *host, double cpu_count, double idle_pct)
{
    struct row *row = add(host, SYSTEM_GROUP, NAN);

    row->cpu_count = cpu_count;
    row->values[column_of_key("cpu_idle")] = idle_pct;
}

/* @return the CPUs in the only row for others of a host. */
static double others_of(const char *host)
{
    const struct row *found = NULL;

    for (size_t i = 0; i < table.count; i++)
        if (table.rows[i].is_others && strcmp(table.rows[i].host, host) == 0) {
            ck_assert_ptr_null(found);
            found = &table.rows[i];
        }
    ck_assert_ptr_nonnull(found);
    ck_assert_str_eq(found->group, OTHERS_NAME);
    return found->values[column_of_key("cpus_used")];
}

static void expect_cpus(double cpus, double expected)
{
    ck_assert_double_eq_tol(cpus, expected, 1e-6);
}

START_TEST(what_groups_do_not_use_is_of_others)
{
    add("h", "a", 1);
    add("h", "b", 0.5);
    add_machine("h", 4, 25);
    ck_assert_int_eq(table_add_others(&table, NULL), 0);
    ck_assert_uint_eq(table.count, 4);
    expect_cpus(others_of("h"), 1.5);
}
END_TEST

START_TEST(no_group_is_counted_twice)
{
    add("h", "a", 1);
    add("h", "a_b", 0.9);   /* within a */
    add("h", "a_b_c", NAN); /* the same; what it uses is in that of a */
    add("h", "x_y", 0.5);   /* within one that has no row */
    add_machine("h", 4, 0);
    ck_assert_int_eq(table_add_others(&table, NULL), 0);
    expect_cpus(others_of("h"), 2.5);
}
END_TEST

START_TEST(groups_beside_each_other_are_known_by_their_paths)
{
    add("h", "a", 1)->path = strdup("a");
    add("h", "a_b", 0.9)->path = strdup("a_b");
    add("h", "a_c", 0.5)->path = strdup("a/c");
    add_machine("h", 4, 0);
    ck_assert_int_eq(table_add_others(&table, NULL), 0);
    expect_cpus(others_of("h"), 2.1);
}
END_TEST

START_TEST(processes_by_name_are_no_group)
{
    add("h", "a", 1);
    add("h", "mysqld", NAN)->values[column_of_key("processes")] = 2;
    add_machine("h", 2, 0);
    ck_assert_int_eq(table_add_others(&table, NULL), 0);
    expect_cpus(others_of("h"), 1);
}
END_TEST

START_TEST(each_machine_has_its_own)
{
    add("g", "a", 1);
    add_machine("g", 2, 0);
    add("h", "a", 2.3);
    add_machine("h", 4, 50); /* values of different moments */
    add_machine("i", 4, 50); /* no groups */
    ck_assert_int_eq(table_add_others(&table, NULL), 0);
    ck_assert_uint_eq(table.count, 7);
    expect_cpus(others_of("g"), 1);
    expect_cpus(others_of("h"), 0);
}
END_TEST

/* By their names the pods are in no group. */
START_TEST(what_is_counted_twice_is_absent)
{
    add("h", "kubepods", 2);
    add("h", "pod-web", 2);
    add_machine("h", 4, 50);
    ck_assert_int_eq(table_add_others(&table, NULL), 0);
    ck_assert_double_nan(others_of("h"));
}
END_TEST

START_TEST(what_is_not_known_is_absent)
{
    add("f", "a", 1);
    add("f", "b", NAN);
    add_machine("f", 4, 0);
    add("g", "a", 1);
    add_machine("g", NAN, 0);
    add("h", "a", 1);
    add_machine("h", 4, NAN);
    ck_assert_int_eq(table_add_others(&table, NULL), 0);
    ck_assert_double_nan(others_of("f"));
    ck_assert_double_nan(others_of("g"));
    ck_assert_double_nan(others_of("h"));
}
END_TEST

START_TEST(without_cpus_or_a_machine_there_is_none)
{
    add("g", "a", NAN);
    add_machine("g", 4, 0);
    add("h", "a", 1);
    ck_assert_int_eq(table_add_others(&table, NULL), 0);
    ck_assert_uint_eq(table.count, 3);
}
END_TEST

START_TEST(the_kernel_knows_the_cpus_of_this_machine)
{
    const double cpu_count = (double)sysconf(_SC_NPROCESSORS_ONLN);
    struct memory_reader *memory;
    struct hr_root *root;

    ck_assert_int_eq(hr_root_open("/", &root), 0);
    ck_assert_int_eq(memory_open(root, "here", 0, &memory), 0);
    add("elsewhere", "a", 0.25);
    add_machine("elsewhere", NAN, 0);
    add("here", "a", 0.25);
    add_machine("here", NAN, 0);
    ck_assert_int_eq(table_add_others(&table, memory), 0);
    ck_assert_double_nan(others_of("elsewhere"));
    expect_cpus(others_of("here"), cpu_count - 0.25);
    /* The counter is of chosen CPUs, unlike the idle share. */
    table.count -= 2;
    free(table.rows[table.count].host);
    free(table.rows[table.count].group);
    free(table.rows[table.count + 1].host);
    free(table.rows[table.count + 1].group);
    table.rows[table.count - 1].cpu_count = cpu_count + 4;
    ck_assert_int_eq(table_add_others(&table, memory), 0);
    ck_assert_double_nan(others_of("here"));
    memory_close(memory);
    hr_root_close(root);
}
END_TEST

static void expect_order(const char *const *names)
{
    for (size_t i = 0; i < table.count; i++)
        ck_assert_str_eq(table.rows[i].group, names[i]);
}

/* By the only value it has it is among the groups, else behind them. */
START_TEST(it_is_sorted_by_its_cpus)
{
    static const char *const by_cpus[] = {SYSTEM_GROUP, "b", OTHERS_NAME, "a"};
    static const char *const by_others[] = {SYSTEM_GROUP, "a", "b", OTHERS_NAME};
    struct sort_key key;

    add("h", "a", 0.5);
    add("h", "b", 2);
    add_machine("h", 4, 0);
    ck_assert_int_eq(table_add_others(&table, NULL), 0);
    ck_assert_int_eq(sort_key_find("cpus", 0, &key), 0);
    table_sort(&table, &key);
    expect_order(by_cpus);
    ck_assert_int_eq(sort_key_find("name", 0, &key), 0);
    table_sort(&table, &key);
    expect_order(by_others);
    ck_assert_int_eq(sort_key_find("pressure", 0, &key), 0);
    table_sort(&table, &key);
    expect_order(by_others);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("others");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_groups_do_not_use_is_of_others);
    tcase_add_test(tests, no_group_is_counted_twice);
    tcase_add_test(tests, groups_beside_each_other_are_known_by_their_paths);
    tcase_add_test(tests, processes_by_name_are_no_group);
    tcase_add_test(tests, each_machine_has_its_own);
    tcase_add_test(tests, what_is_counted_twice_is_absent);
    tcase_add_test(tests, what_is_not_known_is_absent);
    tcase_add_test(tests, without_cpus_or_a_machine_there_is_none);
    tcase_add_test(tests, the_kernel_knows_the_cpus_of_this_machine);
    tcase_add_test(tests, it_is_sorted_by_its_cpus);
    return run_suite("others", tests);
}
