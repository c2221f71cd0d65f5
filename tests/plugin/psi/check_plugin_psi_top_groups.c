/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_top_groups.c - which groups have series with the option TopGroups of
 * the plugin psi.
 */
#include "support/plugin_harness.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "psi/top_groups.h"
#include "support/suite.h"
#include "utils_cache.h"

const char *const harness_plugin = "psi";

/* When the first read is. */
#define BEGUN TIME_T_TO_CDTIME_T(1800000000)

/* What a group waits for at least one of its tasks, and for all, in % over a minute. */
static void set_average(const char *group, const char *resource, double some_pct, double full_pct)
{
    char path[256];

    snprintf(path, sizeof(path), TREE_CGROUPS "/%s/%s.pressure", group, resource);
    tree_write(tree, path,
               "some avg10=0.00 avg60=%.2f avg300=0.00 total=0\n"
               "full avg10=0.00 avg60=%.2f avg300=0.00 total=0\n",
               some_pct, full_pct);
}

/* Groups that don't wait. */
static void add_groups(const char *names)
{
    static const char *const resources[] = {"cpu", "memory", "io"};
    char name[2] = "";

    for (; *names != '\0'; names++) {
        name[0] = *names;
        tree_add_group(tree, name, true);
        for (size_t i = 0; i < COUNT(resources); i++)
            set_average(name, resources[i], 0, 0);
    }
}

/* Groups that have had values since the last read_at(): the last ones of a group that empties come
 * from the plugin's thread, or from the next read, whichever is first. */
static atomic_bool has_values['z' + 1];

static void note_group(const struct fake_value *value, __attribute__((unused)) void *context)
{
    const char name = value->instance[0];

    if (name >= 'a' && name <= 'z' && value->instance[1] == '\0')
        has_values[(size_t)name] = true;
}

static void begin(const char *options)
{
    char text[512];

    snprintf(text, sizeof(text), "System false\nCgroup \"*\"\n%s", options);
    memset(has_values, 0, sizeof(has_values));
    fake_on_dispatch(note_group, NULL);
    harness_begin(text);
}

/* Reads so many seconds after the beginning, and asserts which groups have values. */
static void read_at(unsigned seconds, const char *names)
{
    char found[27] = "";

    fake_set_time(BEGUN + TIME_T_TO_CDTIME_T(seconds));
    harness_read();
    for (char name = 'a'; name <= 'z'; name++)
        if (atomic_exchange(&has_values[(size_t)name], false))
            found[strlen(found)] = name;
    ck_assert_str_eq(found, names);
}

START_TEST(without_it_all_have_series)
{
    add_groups("abc");
    begin("");
    read_at(0, "abc");
}
END_TEST

START_TEST(those_that_wait_most_have_series)
{
    add_groups("abcde");
    set_average("a", "cpu", 1, 0);
    set_average("b", "cpu", 30, 0);
    set_average("c", "cpu", 2.5, 0);
    set_average("d", "cpu", 2.49, 90);
    set_average("e", "memory", 99, 99);
    begin("TopGroups 2 \"cpu-some\"");
    read_at(0, "bc");
    harness_assert_count("psi-b/total_time_in_ms-*", 6); /* of all resources */
    harness_assert_count("psi-b/percent-*", 0);
    read_at(10, "bc");
    harness_assert_count("psi-b/percent-*", 6);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(those_that_do_not_wait_have_none)
{
    add_groups("abc");
    set_average("b", "cpu", 0.01, 0);
    begin("TopGroups 3 \"cpu-some\"");
    read_at(0, "b");
}
END_TEST

/* The share of the interval that made it one of them is there. */
START_TEST(a_group_has_all_of_its_first_interval)
{
    add_groups("ab");
    set_average("a", "cpu", 5, 0);
    begin("TopGroups 1 \"cpu-some\"");
    read_at(0, "a");
    set_average("b", "cpu", 6, 0);
    read_at(10, "ab");
    harness_assert_count("psi-b/percent-*", 6);
}
END_TEST

START_TEST(it_has_series_for_a_while_after)
{
    add_groups("ab");
    set_average("a", "io", 5, 5);
    begin("TopGroups 1 \"IO-Full\"");
    read_at(0, "a");
    set_average("a", "io", 0, 0);
    set_average("b", "io", 1, 1);
    read_at(10, "ab");
    read_at(PSI_TOP_HOLD_S, "ab");
    read_at(PSI_TOP_HOLD_S + 10, "b");
    set_average("a", "io", 2, 2);
    read_at(PSI_TOP_HOLD_S + 20, "ab");
}
END_TEST

START_TEST(as_many_again_at_most)
{
    add_groups("abcd");
    begin("TopGroups 1 \"cpu-some\"");
    set_average("a", "cpu", 1, 0);
    read_at(0, "a");
    set_average("b", "cpu", 2, 0);
    read_at(10, "ab");
    set_average("c", "cpu", 3, 0);
    read_at(20, "bc");
    set_average("d", "cpu", 4, 0);
    read_at(30, "cd");
}
END_TEST

START_TEST(a_clock_that_is_set_back_changes_nothing)
{
    add_groups("ab");
    set_average("a", "cpu", 1, 0);
    begin("TopGroups 1 \"cpu-some\"");
    read_at(86400, "a");
    set_average("a", "cpu", 0, 0);
    set_average("b", "cpu", 1, 0);
    fake_set_time(BEGUN);
    harness_read();
    ck_assert_uint_gt(fake_count("psi-b/*"), 0);
}
END_TEST

START_TEST(no_group_at_all)
{
    begin("TopGroups 1 \"cpu-some\"");
    read_at(0, "");
}
END_TEST

/* As threshold doesn't end it. */
START_TEST(an_alarm_of_one_that_leaves_says_why_it_ends)
{
    value_list_t series = VALUE_LIST_INIT;

    add_groups("ab");
    set_average("a", "cpu", 1, 0);
    begin("TopGroups 1 \"cpu-some\"");
    read_at(0, "a");
    set_average("a", "cpu", 0, 0);
    set_average("b", "cpu", 1, 0);
    read_at(PSI_TOP_HOLD_S + 10, "b");
    snprintf(series.host, sizeof(series.host), "%s", hostname_g);
    snprintf(series.plugin, sizeof(series.plugin), "psi");
    snprintf(series.plugin_instance, sizeof(series.plugin_instance), "a");
    snprintf(series.type, sizeof(series.type), "percent");
    snprintf(series.type_instance, sizeof(series.type_instance), "cpu-some");
    fake_miss(&series, STATE_WARNING);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_str_eq(fake_notification(0)->message,
                     "cpu-some: no longer watched: other cgroups wait more (TopGroups)");
}
END_TEST

START_TEST(each_pressure_has_its_own)
{
    add_groups("abcd");
    set_average("a", "cpu", 9, 0);
    set_average("b", "memory", 9, 1);
    set_average("c", "memory", 8, 2);
    set_average("d", "io", 99, 99);
    begin("TopGroups 1 \"cpu-some\"\nTopGroups 1 \"memory-full\"");
    read_at(0, "ac");
}
END_TEST

/* Groups that can't be read aren't ranked; they don't keep others from it. */
START_TEST(those_that_cannot_be_read_have_none)
{
    add_groups("ab");
    set_average("b", "cpu", 1, 0);
    tree_write(tree, TREE_CGROUPS "/a/cpu.pressure", "nonsense\n");
    begin("TopGroups 1 \"cpu-some\"");
    read_at(0, "b");
    harness_assert_logs(1, "cgroup a");
}
END_TEST

/* What one that is none of them did last isn't published either. */
START_TEST(the_last_values_are_of_those_too)
{
    add_groups("ab");
    set_average("b", "cpu", 1, 0);
    begin("TopGroups 1 \"cpu-some\"");
    read_at(0, "b");
    tree_set_populated(tree, "a", false);
    tree_set_populated(tree, "b", false);
    read_at(11, "b"); /* the last values are later than those before, whoever publishes them */
    read_at(22, "");
}
END_TEST

/* A group that comes between two reads. */
START_TEST(without_it_last_values_of_new_groups_are_published)
{
    add_groups("a");
    begin("");
    read_at(0, "a");
    add_groups("b");
    read_at(11, "ab");
    tree_set_populated(tree, "b", false);
    read_at(22, "ab");
}
END_TEST

START_TEST(what_is_not_sampled_is_refused)
{
    char text[256];

    snprintf(text, sizeof(text),
             "<Plugin psi>\nRoot \"%s\"\nResource \"cpu\" \"io\"\n"
             "TopGroups 5 \"memory-some\"\n</Plugin>\n",
             tree_path(tree));
    ck_assert_int_eq(fake_configure(text), 0);
    ck_assert_int_ne(fake_init(), 0);
    harness_assert_logs(1, "TopGroups can't choose groups by \"memory-some\", as the option "
                           "Resource leaves it out: add it there, or remove it from TopGroups.");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("top_groups");

    tcase_add_checked_fixture(tests, harness_set_up, harness_tear_down);
    tcase_add_test(tests, without_it_all_have_series);
    tcase_add_test(tests, those_that_wait_most_have_series);
    tcase_add_test(tests, those_that_do_not_wait_have_none);
    tcase_add_test(tests, a_group_has_all_of_its_first_interval);
    tcase_add_test(tests, it_has_series_for_a_while_after);
    tcase_add_test(tests, as_many_again_at_most);
    tcase_add_test(tests, a_clock_that_is_set_back_changes_nothing);
    tcase_add_test(tests, no_group_at_all);
    tcase_add_test(tests, an_alarm_of_one_that_leaves_says_why_it_ends);
    tcase_add_test(tests, each_pressure_has_its_own);
    tcase_add_test(tests, those_that_cannot_be_read_have_none);
    tcase_add_test(tests, the_last_values_are_of_those_too);
    tcase_add_test(tests, without_it_last_values_of_new_groups_are_published);
    tcase_add_test(tests, what_is_not_sampled_is_refused);
    return run_suite("plugin psi, TopGroups", tests);
}
