/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_blame_table.c - the table of `headroom blame`: which rows and columns it
 * has, by the width of the terminal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/report.h"
#include "common/label.h"
#include "support/suite.h"

#define MS 1000000u

static struct hr_blame_cell cells[4096];
static struct hr_blame_matrix matrix;
static struct watched_name names[512];
static struct watched watched;
static char paths[512][256], text[256 * 1024];

static void clear(void)
{
    matrix = (struct hr_blame_matrix){.cells = cells, .time_ns = 100000ull * MS};
    watched = (struct watched){.names = names};
}

/* The number of a group; made if it isn't there. */
static uint64_t group(const char *path)
{
    size_t i = 0;

    while (i < watched.name_count && strcmp(names[i].path, path) != 0)
        i++;
    if (i == watched.name_count) {
        snprintf(paths[i], sizeof(paths[i]), "%s", path);
        names[watched.name_count++] = (struct watched_name){.id = i + 1, .path = paths[i]};
    }
    return i + 1;
}

static void add(const char *waiter, enum hr_blame_taker taker, const char *by, uint64_t wait_ns)
{
    cells[matrix.count++] = (struct hr_blame_cell){.waiter = group(waiter),
                                                   .taker = taker,
                                                   .group = by != NULL ? group(by) : 0,
                                                   .wait_ns = wait_ns};
}

/* The table at that width, in `text`. */
static void print(int width, bool all)
{
    const struct blame_report report = {
        .matrix = &matrix, .watched = &watched, .all = all, .charset = LABEL_ASCII, .width = width};
    FILE *file = fmemopen(text, sizeof(text), "w");

    ck_assert_int_eq(blame_table_print(file, &report), 0);
    fclose(file);
}

static int longest_line(void)
{
    int longest = 0;

    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        if ((int)strcspn(line, "\n") > longest)
            longest = (int)strcspn(line, "\n");
    return longest;
}

static int count_lines(void)
{
    int lines = 0;

    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        lines++;
    return lines;
}

/* Two short names: all of it has room, whatever the widest names could be. */
START_TEST(uses_the_width)
{
    add("hour.slice/shop", HR_BLAME_GROUP, "hour.slice/backup", 1602 * MS);
    add("hour.slice/shop", HR_BLAME_UNKNOWN, NULL, 270 * MS);
    add("hour.slice/backup", HR_BLAME_ITSELF, NULL, 900 * MS);
    add("hour.slice/backup", HR_BLAME_GROUP, "hour.slice/shop", 50 * MS);
    print(80, false);
    ck_assert_str_eq(text, "WAITING (ms)      IN ALL backup itself unattributed shop\n"
                           "hour.slice/shop   1872.0 1602.0      0        270.0    0\n"
                           "hour.slice/backup  950.0      0  900.0            0 50.0\n");
    /* Names are shortened; what has no column is the rest; the worst of each row has one. */
    print(50, false);
    ck_assert_str_eq(text, "WAITING (ms)     IN ALL backup itself (rest)\n"
                           "hour.slice/shop  1872.0 1602.0      0  270.0\n"
                           "hour.sl../backup  950.0      0  900.0   50.0\n");
}
END_TEST

/* Takers of all of them fill the width, but the row's own is another: it is named. */
START_TEST(names_the_worst_taker_of_each_row)
{
    char path[64];

    for (int i = 0; i < 8; i++) {
        snprintf(path, sizeof(path), "system.slice/a-long-name-%d.service", i);
        add(path, HR_BLAME_ITSELF, NULL, 2000 * MS);
        add(path, HR_BLAME_STEAL, NULL, 1000 * MS);
        snprintf(path + strlen("system.slice/"), 40, "culprit-%d", i);
        add(names[2 * (size_t)i].path, HR_BLAME_GROUP, path, (2500 + (uint64_t)i) * MS);
    }
    for (int width = 60; width <= 200; width += 10) {
        print(width, false);
        ck_assert_int_le(longest_line(), width);
        ck_assert_int_eq(count_lines(), 9);
        for (int i = 0; i < 8; i++) {
            snprintf(path, sizeof(path), "culprit-%d", i);
            ck_assert_msg(strstr(text, path) != NULL, "%s at %d:\n%s", path, width, text);
        }
    }
    print(80, false);
    ck_assert_ptr_nonnull(strstr(text, "\nsystem.slic..e-7.service 5507.0 culprit-7 2507.0 "));
}
END_TEST

START_TEST(shows_those_that_waited_most)
{
    char path[64];

    for (int i = 0; i < 300; i++) {
        snprintf(path, sizeof(path), "job-%d", i);
        add(path, HR_BLAME_GROUP, "culprit", i < 25 ? (uint64_t)(100 - i) * MS : 1000);
    }
    print(80, false);
    ck_assert_int_eq(count_lines(), 1 + 20 + 1);
    ck_assert_ptr_nonnull(strstr(text, "\njob-19 "));
    ck_assert_ptr_null(strstr(text, "\njob-20 "));
    ck_assert_ptr_nonnull(strstr(text, "\nand 280 groups more, 390.3 ms\n"));
    print(80, true);
    ck_assert_int_eq(count_lines(), 1 + 300);
}
END_TEST

/* Rows and columns of 0.0 are left out, but one row there is. */
START_TEST(leaves_out_what_is_nothing)
{
    add("a", HR_BLAME_GROUP, "culprit", 5 * MS);
    add("a", HR_BLAME_KWORKER, NULL, 1000);
    add("b", HR_BLAME_ITSELF, NULL, 49000);
    print(80, false);
    ck_assert_str_eq(text, "WAITING (ms) IN ALL culprit\n"
                           "a               5.0     5.0\n"
                           "and 1 group more, 0.0 ms\n");
    clear();
    add("a", HR_BLAME_GROUP, "culprit", 1000);
    print(80, false);
    ck_assert_str_eq(text, "WAITING (ms) IN ALL culprit\n"
                           "a               0.0     0.0\n");
}
END_TEST

START_TEST(explains_what_is_asked_at_first)
{
    add("a", HR_BLAME_GROUP, "/", 5 * MS);
    watched.top = group("/");
    print(80, false);
    ck_assert_str_eq(text, "WAITING (ms) IN ALL   /\n"
                           "a               5.0 5.0\n");
    add("/", HR_BLAME_ITSELF, NULL, 1000 * MS);
    matrix.time_ns = 1000 * MS;
    print(80, false);
    ck_assert_str_eq(text, "WAITING (ms) IN ALL itself   /\n"
                           "a               5.0      0 5.0\n"
                           "/            1000.0 1000.0   0\n"
                           "/ is the root cgroup: tasks that are in no other group.\n");
    matrix.time_ns = 999 * MS;
    print(50, false);
    ck_assert_ptr_nonnull(strstr(text, "group.\nA sum may be more than the 1.0 s measured, as\n"
                                       "several tasks wait at once.\n"));
}
END_TEST

/* Three loops and one that often sleeps, on one CPU: both wait as long for each other. */
START_TEST(who_suffers_is_before_who_takes)
{
    add("batch", HR_BLAME_ITSELF, NULL, 798 * MS);
    add("batch", HR_BLAME_GROUP, "web", 299 * MS);
    add("batch", HR_BLAME_KWORKER, NULL, 4 * MS);
    add("web", HR_BLAME_GROUP, "batch", 298 * MS);
    add("web", HR_BLAME_KWORKER, NULL, 1 * MS);
    add("limited", HR_BLAME_LIMIT, NULL, 310 * MS);
    print(80, false);
    ck_assert_str_eq(text, "WAITING (ms) IN ALL itself limit   web batch kworker\n"
                           "limited       310.0      0 310.0     0     0       0\n"
                           "web           299.0      0     0     0 298.0     1.0\n"
                           "batch        1101.0  798.0     0 299.0     0     4.0\n");
}
END_TEST

/* A group may be called as another taker is. */
START_TEST(tells_groups_from_other_takers)
{
    add("other", HR_BLAME_OTHER, NULL, 30 * MS);
    add("other", HR_BLAME_ITSELF, NULL, 20 * MS);
    add("other", HR_BLAME_GROUP, "a/itself", 10 * MS);
    add("a/itself", HR_BLAME_GROUP, "other", 5 * MS);
    print(80, false);
    ck_assert_str_eq(text, "WAITING (ms) IN ALL other itself /a/itself /other\n"
                           "other          60.0  30.0   20.0      10.0      0\n"
                           "a/itself        5.0     0      0         0    5.0\n");
}
END_TEST

/* Cut to 20 columns, both would be "headroom-..e.service". */
START_TEST(names_that_are_cut_differ)
{
    add("web", HR_BLAME_GROUP, "system.slice/headroom-batch-one.service", 30 * MS);
    add("web", HR_BLAME_GROUP, "system.slice/headroom-web-one.service", 20 * MS);
    print(80, false);
    ck_assert_str_eq(text, "WAITING (ms) IN ALL headroom-b..e.service headroom-w..e.service\n"
                           "web            50.0                  30.0                  20.0\n");
    add("system.slice/headroom-batch-one.service", HR_BLAME_ITSELF, NULL, 30 * MS);
    add("system.slice/headroom-web-one.service", HR_BLAME_ITSELF, NULL, 20 * MS);
    print(60, false);
    ck_assert_msg(strstr(text, "\nsystem.slice/..h-one.service ") != NULL, "%s", text);
}
END_TEST

#define POD                                                                                        \
    "kubepods.slice/kubepods-burstable.slice/"                                                     \
    "kubepods-burstable-pod00000007_1111_2222_3333_444444444444.slice"
#define ID "0123456789abcdef0123456789abcdef01234567890123308963"

/* As headroom top has it; but the path where two would have the same. */
START_TEST(a_container_has_its_short_name)
{
    add(POD "/cri-containerd-748a7a914a7d" ID ".scope", HR_BLAME_GROUP, "culprit", 5 * MS);
    print(120, false);
    ck_assert_str_eq(text, "WAITING (ms)                                      IN ALL culprit\n"
                           "cri-containerd-748a7a914a7d.scope of pod 00000007    5.0     5.0\n");
    clear();
    add("user.slice/user-1000.slice/user@1000.service/app.scope", HR_BLAME_ITSELF, NULL, 5 * MS);
    print(120, false);
    ck_assert_ptr_nonnull(strstr(text, "\nuser.slice/.../app.scope "));
    group("user.slice/user-1001.slice/user@1001.service/app.scope");
    print(120, false);
    ck_assert_ptr_nonnull(strstr(text, "\nuser.slice/user-1000.sl"));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, clear, NULL);
    tcase_add_test(tests, uses_the_width);
    tcase_add_test(tests, names_the_worst_taker_of_each_row);
    tcase_add_test(tests, shows_those_that_waited_most);
    tcase_add_test(tests, leaves_out_what_is_nothing);
    tcase_add_test(tests, explains_what_is_asked_at_first);
    tcase_add_test(tests, who_suffers_is_before_who_takes);
    tcase_add_test(tests, tells_groups_from_other_takers);
    tcase_add_test(tests, names_that_are_cut_differ);
    tcase_add_test(tests, a_container_has_its_short_name);
    return run_suite("blame_table", tests);
}
