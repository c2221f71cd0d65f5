/* SPDX-License-Identifier: MIT */
/*
 * command/check_report_table.c - which rows of the report are marked as "at least", as table and as
 * JSON: those whose memory binds without a profile of it; and what binds a machine with idle CPUs.
 */
#include <check.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/label.h"
#include "report/group.h"
#include "report/profile.h"
#include "report/rooms.h"
#include "support/suite.h"

#define MIB 1048576.0

#define DAY_S 86400

static struct room_row rows[4];
static struct rooms rooms;
static char *printed;
static size_t length;

/* The last of the rows. */
static struct room_row *add_row(const char *group, double memory_pct, double cpu_pct)
{
    struct room_row *row = &rows[rooms.count++];

    *row = (struct room_row){
        .host = (char *)"h", .group = (char *)group, .idle_pct = NAN, .cpu_full_pct = NAN};
    for (int i = 0; i < ROOM_VALUE_COUNT; i++)
        row->values[i] = NAN;
    row->values[ROOM_LEAST] = fmin(memory_pct, cpu_pct);
    row->values[ROOM_MEMORY] = memory_pct;
    row->values[ROOM_CPU] = cpu_pct;
    row->values[ROOM_LIMIT] = 2000 * MIB;
    row->values[ROOM_BYTES_LEFT] = memory_pct / 100 * row->values[ROOM_LIMIT];
    row->values[ROOM_NEED] = row->values[ROOM_LIMIT] - row->values[ROOM_BYTES_LEFT];
    row->values[ROOM_CPUS_LEFT] = 0.28;
    row->values[ROOM_TROUBLE] = DAY_S;
    return row;
}

static void set_up(void)
{
    rooms = (struct rooms){.rows = rows};
}

static void tear_down(void)
{
    free(printed);
    printed = NULL;
}

static FILE *begin(void)
{
    free(printed);
    FILE *file = open_memstream(&printed, &length);
    ck_assert_ptr_nonnull(file);
    return file;
}

static const char *print_table(int width)
{
    FILE *file = begin();

    ck_assert_int_eq(rooms_print_table(file, &rooms, width), 0);
    fclose(file);
    return printed;
}

static const char *print_json(void)
{
    FILE *file = begin();

    ck_assert_int_eq(rooms_print_json(file, &rooms, NULL), 0);
    fclose(file);
    return printed;
}

static void assert_has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no %s in\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) == NULL, "%s in\n%s", part, text);
}

START_TEST(memory_without_a_profile)
{
    add_row("mysql", 12, 70);
    add_row("redis", 40, NAN);
    rows[1].has_profile = true;
    ck_assert_str_eq(print_table(80),
                     "group room by      more trouble in        needs waits for\n"
                     "mysql ≥12% memory ≥240M      > 1 d 1.7G of 2.0G -\n"
                     "redis  40% memory +800M      > 1 d 1.2G of 2.0G -\n"
                     "\n"
                     "\"≥\", at least: no profile of the wss plugin shows what the group needs, so "
                     "that\nall of its memory but inactive files counts as needed.\n");
}
END_TEST

START_TEST(in_a_terminal_without_utf_8)
{
    add_row("mysql", 12, 70);
    setlocale(LC_CTYPE, "C");
    print_table(80);
    setlocale(LC_CTYPE, "C.UTF-8");
    ck_assert_str_eq(
        printed, "group  room by       more trouble in        needs waits for\n"
                 "mysql >=12% memory >=240M      > 1 d 1.7G of 2.0G -\n"
                 "\n"
                 "\">=\", at least: no profile of the wss plugin shows what the group needs, so "
                 "that\nall of its memory but inactive files counts as needed.\n");
}
END_TEST

/* The cell of the last row, the machine's, below "binds". */
static void assert_machine_is_bound_by(const char *expected)
{
    const char *title = strstr(print_table(200), "binds");
    const char *last = strstr(printed, "\nsystem ");

    ck_assert(title != NULL && last != NULL);
    const char *cell = last + 1 + (title - printed);
    ck_assert_msg(strncmp(cell, expected, strlen(expected)) == 0 && cell[strlen(expected)] == ' ',
                  "no %s in\n%s", expected, printed);
}

/* Two groups on one CPU leave the machine no room by that, but by the other. */
START_TEST(a_machine_with_idle_cpus)
{
    struct group of_web = {.cpus = 2, .task_cpus = 1, .lacks_cpu_limit = true}, of_batch = of_web,
                 of_machine = {.cpus = 2, .lacks_cpu_limit = true};

    add_row("nc_web", 40, 0)->brief = &of_web;
    add_row("nc_batch", 40, 0)->brief = &of_batch;
    struct room_row *machine = add_row("system", 40, 0);
    machine->brief = &of_machine;
    machine->idle_pct = 49;
    assert_machine_is_bound_by("CPU 0");
    of_batch.first_task_cpu = 1;
    assert_machine_is_bound_by("some CPUs");
    of_batch = of_machine;
    assert_machine_is_bound_by("some CPUs");
    of_batch = of_web;
    rows[1].brief = NULL;
    assert_machine_is_bound_by("some CPUs");
    rows[1].values[ROOM_CPU] = 20; /* then it isn't why */
    assert_machine_is_bound_by("CPU 0");
    machine->idle_pct = 0.5;
    assert_machine_is_bound_by("2 CPUs");
}
END_TEST

static void assert_unmarked(void)
{
    assert_lacks(print_table(80), "≥");
    assert_lacks(printed, "profile");
}

START_TEST(not_with_a_profile)
{
    add_row("mysql", 12, 70)->has_profile = true;
    assert_unmarked();
}
END_TEST

START_TEST(not_where_the_cpu_binds)
{
    add_row("web", 60, 22);
    assert_unmarked();
    assert_has(printed, "web    22% cpu +0.28 CPUs ");
}
END_TEST

/* Room is by all CPUs: 0.5 of 1.5 are used. */
START_TEST(not_more_than_the_cpus_of_its_tasks)
{
    struct group of_web = {.cpus = 2, .task_cpus = 1, .lacks_cpu_limit = true};
    struct room_row *web = add_row("web", 90, 66.67);

    web->values[ROOM_CPUS_LEFT] = 1;
    assert_has(print_table(80), "web    66% cpu +1 CPU ");
    web->brief = &of_web;
    assert_has(print_table(80), "web    66% cpu +0.5 CPUs ");
    web->values[ROOM_CPUS_LEFT] = 0.4; /* less than that CPU has */
    assert_has(print_table(80), "web    66% cpu +0.4 CPUs ");
}
END_TEST

/* Without room, memory isn't passed over for the CPU. */
START_TEST(names_all_rooms_that_are_as_small)
{
    add_row("web", 0, 0)->values[ROOM_TROUBLE] = 0;
    add_row("batch", 0, 22)->values[ROOM_TROUBLE] = 0;
    rows[0].values[ROOM_CPUS_LEFT] = 0;
    ck_assert_str_eq(print_table(80),
                     "group room by          more trouble in        needs waits for\n"
                     "web     0% cpu, memory    -        now 2.0G of 2.0G -\n"
                     "batch   0% memory         -        now 2.0G of 2.0G -\n"
                     "\nRoom by CPU is a mean of some minutes: once the waits are over it comes "
                     "back within these.\n");
    assert_has(print_json(), "\"by\":\"cpu\"");
}
END_TEST

/* Nor where which room is the smallest isn't known yet. */
START_TEST(not_without_a_room)
{
    add_row("new", 60, NAN)->values[ROOM_LEAST] = NAN;
    assert_unmarked();
}
END_TEST

/* It is by what the kernel says is available. */
START_TEST(not_the_system)
{
    add_row("system", 34, 51);
    assert_unmarked();
}
END_TEST

/* Trouble is measured, a need that exceeds what there is isn't. */
START_TEST(no_room_is_at_least_none_unless_in_trouble)
{
    add_row("mysql", 0, 70)->values[ROOM_TROUBLE] = 0;
    assert_unmarked();
    rows[0].values[ROOM_TROUBLE] = 600;
    assert_has(print_table(80), "mysql  ≥0% memory    - ");
}
END_TEST

static void assert_narrow(int width)
{
    print_table(width);
    for (char *line = strtok(printed, "\n"); line != NULL; line = strtok(NULL, "\n"))
        ck_assert_msg(label_width(line, LABEL_UTF8) <= width, "%s", line);
}

/* All columns as wide as they get. */
START_TEST(eighty_columns)
{
    static struct room_cause cause = {(char *)"memory", (char *)"neighbours", 61};

    add_row("kubepods.slice_kubepods-burstable.slice_kubepods-burstable-pod0815.slice", 30, 70);
    rows[0].causes = &cause;
    rows[0].cause_count = 1;
    add_row("system.slice_a-service-with-a-name.service", 60, 22);
    assert_narrow(80);
    setlocale(LC_CTYPE, "C");
    assert_narrow(80);
    setlocale(LC_CTYPE, "C.UTF-8");
}
END_TEST

static void assert_order(const char *first, const char *second, const char *third)
{
    rooms_sort(&rooms, ROOM_LEAST);
    ck_assert_str_eq(rows[0].group, first);
    ck_assert_str_eq(rows[1].group, second);
    ck_assert_str_eq(rows[2].group, third);
}

START_TEST(the_order_is_that_of_the_numbers)
{
    add_row("c", 12, 70);
    add_row("b", 12, 70)->has_profile = true;
    add_row("a", 60, 11);
    assert_order("a", "b", "c");
    rows[1].has_profile = false;
    rows[2].has_profile = true;
    assert_order("a", "b", "c");
}
END_TEST

/* Its CPUs are always busy, and it waits for them. */
static void set_waiting(struct room_row *row, struct room_cause *cause)
{
    row->values[ROOM_LEAST] = row->values[ROOM_CPU] = row->values[ROOM_CPUS_LEFT] = NAN;
    row->causes = cause;
    row->cause_count = 1;
}

START_TEST(who_waits_for_cpus_that_are_always_busy)
{
    static struct room_cause waits = {(char *)"cpu", (char *)"neighbours", 26};

    add_row("tight", 3, 70);
    set_waiting(add_row("web", 97, NAN), &waits);
    add_row("none", 60, 0);
    assert_order("none", "web", "tight");
    assert_has(print_table(80),
               "web      ? cpu             -      > 1 d 60.0M of 2.0G cpu: neighbours 26%\n");
    assert_has(printed, "\n\"?\": how much more CPU time");
    assert_has(print_json(), "\"group\":\"web\",\"by\":\"cpu\",\"room_percent\":null,");
    rooms_sort(&rooms, ROOM_CPU);
    ck_assert_str_eq(rows[1].group, "web");
    rooms_sort(&rooms, ROOM_MEMORY);
    ck_assert_str_eq(rows[2].group, "web");
}
END_TEST

/* What runs now and then may have more of a CPU than it takes, and waits for it all the same. */
START_TEST(who_waits_most_is_named_if_it_is_not_first)
{
    static struct room_cause web[] = {{(char *)"cpu", (char *)"neighbours", 27},
                                      {(char *)"io", (char *)"unknown", 60},
                                      {(char *)"cpu", (char *)"itself", 3}},
                             other = {(char *)"cpu", (char *)"limit", 26},
                             of_system = {(char *)"cpu", (char *)"neighbours", 98},
                             short_wait = {(char *)"memory", (char *)"limit", 9.4};
    struct room_row *row;

    row = add_row("batch", 60, 0);
    row->causes = &web[2];
    row->cause_count = 1;
    row = add_row("system", 60, 3);
    row->causes = &of_system;
    row->cause_count = 1;
    row = add_row("slow", 60, 60);
    row->causes = &short_wait;
    row->cause_count = 1;
    assert_lacks(print_table(80), "Waits most");
    row->causes = &other;
    assert_has(print_table(80),
               "\nWaits most: slow, 26% of the time; headroom top sorts by that.\n");
    row = add_row("web", 97, 97);
    row->causes = web;
    row->cause_count = 3;
    rooms.several_hosts = true;
    assert_has(print_table(80), "\nWaits most: h: web, 27% of the time;");
    row->values[ROOM_LEAST] = 0;
    assert_order("web", "batch", "system");
    assert_lacks(print_table(80), "Waits most");
}
END_TEST

/* In the first interval of a stall. */
START_TEST(whoever_waits_as_a_whole_is_first_until_causes_are_known)
{
    static struct room_cause cause = {(char *)"cpu", (char *)"neighbours", 20};

    add_row("batch", 60, 0)->cpu_full_pct = 20;
    add_row("none", 60, 0);
    add_row("web", 60, 0)->cpu_full_pct = 60;
    assert_order("web", "batch", "none");
    rows[1].causes = &cause;
    rows[1].cause_count = 1;
    assert_order("batch", "web", "none");
}
END_TEST

START_TEST(says_that_room_by_cpu_comes_back_later)
{
    static struct room_cause causes[] = {{(char *)"io", (char *)"unknown", 60},
                                         {(char *)"cpu", (char *)"itself", 0.9}};

    add_row("batch", 60, 0);
    assert_has(print_table(80), "\nRoom by CPU is a mean of some minutes: ");
    rows[0].causes = causes;
    rows[0].cause_count = 2;
    assert_has(print_table(80), "\nRoom by CPU is a mean of some minutes: ");
    causes[1].pct = 1;
    assert_lacks(print_table(80), "a mean of");
    causes[1].pct = 0;
    rows[0].values[ROOM_CPU] = rows[0].values[ROOM_LEAST] = 2;
    assert_lacks(print_table(80), "a mean of");
}
END_TEST

/* It isn't known yet, or waits for something else. */
START_TEST(who_waits_for_no_cpu)
{
    static struct room_cause causes[] = {{(char *)"cpu", (char *)"neighbours", 0.9},
                                         {(char *)"io", (char *)"unknown", 30}};

    add_row("b", 60, 70);
    set_waiting(add_row("a", 97, NAN), &causes[0]);
    set_waiting(add_row("c", 97, NAN), &causes[1]);
    assert_order("b", "a", "c");
    assert_lacks(print_table(80), "?");
    rows[2].causes[0].pct = NAN;
    assert_lacks(print_table(80), "?");
    assert_has(print_json(), "\"group\":\"a\",\"by\":null,");
}
END_TEST

START_TEST(json)
{
    add_row("mysql", 12, 70);
    assert_has(print_json(), ",\"memory_need_is_at_most\":true,");
    rows[0].has_profile = true;
    assert_has(print_json(), ",\"memory_need_is_at_most\":false,");
    rows[0].has_profile = false;
    rows[0].values[ROOM_NEED] = NAN;
    assert_has(print_json(), ",\"memory_need_is_at_most\":null,");
}
END_TEST

START_TEST(json_of_other_rows)
{
    add_row("web", 60, 22);
    assert_has(print_json(), ",\"memory_need_is_at_most\":true,");
    rows[0].group = (char *)"system";
    assert_has(print_json(), ",\"memory_need_is_at_most\":null,");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("report_table");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, memory_without_a_profile);
    tcase_add_test(tests, a_machine_with_idle_cpus);
    tcase_add_test(tests, in_a_terminal_without_utf_8);
    tcase_add_test(tests, not_with_a_profile);
    tcase_add_test(tests, not_where_the_cpu_binds);
    tcase_add_test(tests, not_more_than_the_cpus_of_its_tasks);
    tcase_add_test(tests, names_all_rooms_that_are_as_small);
    tcase_add_test(tests, not_without_a_room);
    tcase_add_test(tests, not_the_system);
    tcase_add_test(tests, no_room_is_at_least_none_unless_in_trouble);
    tcase_add_test(tests, eighty_columns);
    tcase_add_test(tests, the_order_is_that_of_the_numbers);
    tcase_add_test(tests, who_waits_for_cpus_that_are_always_busy);
    tcase_add_test(tests, whoever_waits_as_a_whole_is_first_until_causes_are_known);
    tcase_add_test(tests, says_that_room_by_cpu_comes_back_later);
    tcase_add_test(tests, who_waits_most_is_named_if_it_is_not_first);
    tcase_add_test(tests, who_waits_for_no_cpu);
    tcase_add_test(tests, json);
    tcase_add_test(tests, json_of_other_rows);
    return run_utf8_suite("report_table", tests);
}
