/* SPDX-License-Identifier: MIT */
/*
 * plugin/common/check_plugin_selection.c - which groups a plugin publishes, as they come and go;
 * tried with psi.
 */
#include "support/plugin_harness.h"

#include <limits.h>
#include <stdlib.h>

#include "headroom/clock.h"
#include "plugin/common/published.h"
#include "support/frozen_clock.h"
#include "support/suite.h"
#include "utils_cache.h"

const char *const harness_plugin = "psi";

/* More than 1,000 groups. */
#define PODS 340

/* --- Coming and going ----------------------------------------------------- */

/* A group that empties is read once more: by the plugin's thread, or by the next read callback. */
static void read_last(void)
{
    harness_read();
    harness_read();
}

START_TEST(follows_processes_in_and_out)
{
    tree_add_group(tree, "a", false);
    harness_begin("Cgroup \"*\"");
    harness_read();
    assert_instance("a", 0);
    tree_set_populated(tree, "a", true);
    harness_read();
    assert_instance("a", FIRST);
    harness_assert_count("psi-a/percent-*", 0);
    harness_read();
    assert_instance("a", LATER);
    tree_set_populated(tree, "a", true); /* written again, as when it is frozen */
    harness_read();
    assert_instance("a", LATER);
    tree_set_populated(tree, "a", false);
    read_last();
    assert_instance("a", 0);
    tree_set_populated(tree, "a", true);
    harness_read();
    assert_instance("a", FIRST);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(follows_groups_that_are_made_and_removed)
{
    harness_begin("Cgroup \"**/*.service\"");
    harness_read();
    harness_assert_count("*", 5);
    tree_add_group(tree, "system.slice/a.service", true);
    harness_read();
    assert_instance("system.slice_a.service", FIRST);
    tree_add_group(tree, "system.slice/sub.slice/b.service", true);
    harness_read();
    assert_instance("system.slice_a.service", LATER);
    assert_instance("system.slice_sub.slice_b.service", FIRST);
    assert_instance("system.slice", 0);
    tree_remove_group(tree, "system.slice/sub.slice");
    read_last();
    assert_instance("system.slice_a.service", LATER);
    assert_instance("system.slice_sub.slice_b.service", 0);
    harness_assert_logs(0, NULL);
}
END_TEST

/* How the alarm of a threshold of a group whose values have ended ends. */
static void assert_end(const char *instance, const char *reason)
{
    value_list_t series = VALUE_LIST_INIT;
    const size_t before = fake_notifications();

    snprintf(series.plugin, sizeof(series.plugin), "psi");
    snprintf(series.plugin_instance, sizeof(series.plugin_instance), "%s", instance);
    snprintf(series.type, sizeof(series.type), "percent");
    snprintf(series.type_instance, sizeof(series.type_instance), "cpu-full");
    ck_assert_int_eq(fake_miss(&series, STATE_WARNING), 0);
    ck_assert_uint_eq(fake_notifications(), before + 1);
    ck_assert_ptr_nonnull(strstr(fake_notification(before)->message, reason));
}

#define WITHOUT_VALUES "cpu-full: no longer watched: no value has come for "
#define REMOVED        "cpu-full: no longer watched: it was removed"
#define EMPTY          "cpu-full: no longer watched: no process is left in it"

START_TEST(says_what_has_become_of_a_group)
{
    tree_add_group(tree, "a/b", true);
    tree_add_group(tree, "c", true);
    harness_begin("Cgroup \"**\"");
    harness_read();
    assert_end("a_b", WITHOUT_VALUES);
    tree_remove_group(tree, "a/b");
    tree_set_populated(tree, "c", false);
    read_last();
    assert_end("a_b", REMOVED);
    assert_end("c", EMPTY);
    tree_remove_group(tree, "c");
    read_last();
    assert_end("c", REMOVED);
    /* what is made again isn't what it was, */
    tree_add_group(tree, "a/b", false);
    harness_read();
    assert_end("a_b", REMOVED);
    /* but may have values itself */
    tree_set_populated(tree, "a/b", true);
    harness_read();
    assert_end("a_b", WITHOUT_VALUES);
    tree_set_populated(tree, "a/b", false);
    read_last();
    assert_end("a_b", EMPTY);
    assert_end("never", WITHOUT_VALUES);
}
END_TEST

/* The system is read first. */
static void remove_group_b(const struct fake_value *value, void *context)
{
    bool *removed = context;

    if (*removed || strcmp(value->instance, "system") != 0)
        return;
    *removed = true;
    tree_remove_group(tree, "b");
}

START_TEST(gets_over_a_group_that_vanishes_before_it_is_read)
{
    bool removed = false;

    tree_add_group(tree, "a", true);
    tree_add_group(tree, "b", true);
    tree_add_group(tree, "c", true);
    harness_begin("Cgroup \"*\"");
    fake_on_dispatch(remove_group_b, &removed);
    harness_read();
    ck_assert(removed);
    assert_instance("a", FIRST);
    assert_instance("b", 0);
    assert_instance("c", FIRST);
    harness_read();
    assert_instance("b", 0);
    assert_instance("c", LATER);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(takes_a_group_made_again_for_another)
{
    tree_add_group(tree, "a", true);
    tree_pressure(tree, "a", "io", 9000000, 8000000);
    harness_begin("Cgroup \"*\"");
    harness_read();
    harness_read();
    assert_instance("a", LATER);
    tree_remove_group(tree, "a");
    tree_add_group(tree, "a", true);
    /* Above the former's, so that a share of the two would show. */
    tree_pressure(tree, "a", "io", 9500000, 8500000);
    harness_read();
    ck_assert(fake_find("psi-a/percent-io-some") == NULL ||
              harness_number("psi-a/percent-io-some") == 0);
    ck_assert_double_eq(harness_number("psi-a/total_time_in_ms-io-some"), 9500);
    harness_read();
    assert_instance("a", LATER);
    ck_assert_double_eq(harness_number("psi-a/percent-io-some"), 0);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- Age ------------------------------------------------------------------ */

/* In the file that is included, or in the block. */
static const char *const with_min_age[] = {
    "Cgroup \"*\"\nMinAge 60",
    "MinAge 5\nInclude \"list.conf\"",
};

static void begin_with_min_age(int option, const char *more)
{
    char options[400];

    tree_add_group(tree, "old", true);
    tree_write(tree, "list.conf", "Cgroup \"*\"\nMinAge 60\n");
    snprintf(options, sizeof(options), "System false\n%s\n%s", with_min_age[option], more);
    frozen_ns = 1000 * HR_NS_PER_S;
    harness_begin(options);
    harness_read();
}

static void read_after(unsigned seconds)
{
    frozen_ns += seconds * HR_NS_PER_S;
    harness_read();
}

START_TEST(publishes_groups_once_they_have_an_age)
{
    begin_with_min_age(_i, "");
    assert_instance("old", FIRST); /* since when it is there isn't known */
    tree_add_group(tree, "new", true);
    tree_pressure(tree, "new", "io", 9000000, 8000000);
    harness_read();
    assert_instance("new", 0);
    read_after(50);
    assert_instance("old", LATER);
    assert_instance("new", 0);
    tree_pressure(tree, "new", "io", 19000000, 18000000);
    read_after(10);
    assert_instance("new", FIRST);
    harness_assert_count("psi-new/percent-*", 0);
    read_after(10);
    assert_instance("new", LATER);
    ck_assert_double_eq(harness_number("psi-new/percent-io-some"), 0);
    tree_set_populated(tree, "new", false);
    read_last();
    tree_set_populated(tree, "new", true); /* is no other group */
    harness_read();
    assert_instance("new", FIRST);
    harness_assert_logs(0, NULL);
    frozen_ns = 0;
}
END_TEST

/* There, young groups are followed, too; their counters of triggers are series as others. */
START_TEST(publishes_groups_with_triggers_once_they_have_an_age)
{
    begin_with_min_age(0, "<Trigger \"m\">\nResource \"memory\"\nStall 0.2\nWindow 0.5\n"
                          "Mode \"poll\"\nScope \"cgroups\"\n</Trigger>");
    assert_instance("old", FIRST + 1);
    tree_add_group(tree, "new", true);
    harness_read();
    assert_instance("new", 0);
    read_after(50);
    assert_instance("new", 0);
    read_after(10); /* that is when its first interval begins */
    assert_instance("new", 0);
    read_after(10);
    assert_instance("new", FIRST + 1);
    harness_assert_count("psi-new/percent-*", 0);
    read_after(10);
    assert_instance("new", LATER + 1);
    tree_add_group(tree, "short", true);
    harness_read();
    tree_set_populated(tree, "short", false);
    read_last();
    assert_instance("short", 0);
    harness_assert_logs(0, NULL);
    frozen_ns = 0;
}
END_TEST

static const char *const without_mount[] = {
    "proc /proc proc rw 0 0\ncgroup /sys/fs/cgroup cgroup rw,memory 0 0\n", "",
    NULL, /* no mount table at all */
};

START_TEST(waits_for_the_mount)
{
    const char *mounts = without_mount[_i];

    if (mounts != NULL)
        tree_write(tree, "proc/1/mounts", "%s", mounts);
    else
        tree_remove(tree, "proc/1/mounts");
    harness_begin("Cgroup \"*\"");
    for (int i = 0; i < 3; i++) {
        harness_read();
        harness_assert_count("psi-system/total*", 5);
        harness_assert_count("*", i == 0 ? 5 : 10);
    }
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "no cgroup is sampled"), 1);
    harness_assert_logs(1, "no cgroup2 hierarchy is mounted");

    tree_add_group(tree, "a", true);
    tree_write(tree, "proc/1/mounts", "none /" TREE_CGROUPS " cgroup2 rw 0 0\n");
    harness_read();
    assert_instance("a", FIRST);
    harness_assert_logs(1, "info: psi: cgroups are being read again");
}
END_TEST

/* --- Which ---------------------------------------------------------------- */

START_TEST(excludes_what_is_selected)
{
    tree_add_group(tree, "system.slice/a.service", true);
    tree_add_group(tree, "system.slice/systemd-b.service", true);
    tree_add_group(tree, "system.slice/c.service", true);
    harness_begin("ExcludeCgroup \"system.slice/systemd-*\"\nCgroup \"system.slice/*\"\n"
                  "Cgroup \"system.slice/systemd-b.service\"\nExcludeCgroup \"x\" \"*/c.*\"");
    harness_read();
    assert_instance("system.slice_a.service", FIRST);
    harness_assert_count("psi-system.slice*", FIRST);
    tree_add_group(tree, "system.slice/systemd-d.service", true);
    harness_read();
    harness_assert_count("psi-system.slice*", LATER);
    harness_assert_logs(0, NULL);
}
END_TEST

/* --- Included files ------------------------------------------------------- */

START_TEST(reads_an_included_file)
{
    char options[200];

    tree_add_group(tree, "a/b", true);
    tree_add_group(tree, "a/c", true);
    tree_add_group(tree, "d", true);
    tree_write(tree, "list.conf",
               "# groups\nCgroup \"a/*\" \\\n \"x\"\nExcludeCgroup \"a/c\"\n"
               "<Cgroup \"d\">\n  Instance \"the-%%l\"\n</Cgroup>\n");
    /* relative to BaseDir, as it isn't in /etc; or absolute */
    fake_set_base_dir(tree_path(tree));
    snprintf(options, sizeof(options), "Include \"%s%s\"", _i == 0 ? "" : tree_path(tree),
             _i == 0 ? "list.conf" : "/list.conf");
    harness_begin(options);
    harness_read();
    assert_instance("a_b", FIRST);
    assert_instance("a_c", 0);
    assert_instance("the-d", FIRST);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(warns_of_what_an_included_file_may_not_have)
{
    tree_add_group(tree, "a", true);
    tree_write(tree, "list.conf", "Cgroup \"a\"\nSystem false\nInclude \"list.conf\"\n");
    fake_set_base_dir(tree_path(tree));
    harness_begin("Include \"list.conf\"");
    harness_read();
    harness_assert_count("*", 5 + FIRST);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "list.conf: option System has no effect there"), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "list.conf: option Include has no effect there"), 1);
    harness_assert_logs(2, "no effect");
}
END_TEST

static const char *const not_included[] = {
    "Include \"none.conf\"", "Include \"/none.conf\"", "Include", "Include 1",
    "Include \"bad.conf\"",
};

START_TEST(refuses_what_cannot_be_included)
{
    char text[100];

    tree_write(tree, "bad.conf", "Cgroup \"[\"\n");
    fake_set_base_dir(tree_path(tree));
    snprintf(text, sizeof(text), "<Plugin psi>\n%s\n</Plugin>", not_included[_i]);
    ck_assert_int_ne(fake_configure(text), 0);
    harness_assert_logs(1, _i < 2 ? "option Include doesn't accept" : "psi: ");
    harness_begin("Cgroup \"a\"");
}
END_TEST

/* --- Patterns that match nothing ------------------------------------------ */

/* Reads until two intervals are over. */
static void read_for_two_intervals(void)
{
    for (int i = 0; i < 3; i++) {
        harness_sleep(60);
        harness_read();
    }
}

#define LISTS_ALL "\"headroom doctor --cgroups\" lists all"

START_TEST(reports_patterns_that_match_nothing)
{
    fake_set_interval(MS_TO_CDTIME_T(50));
    tree_add_group(tree, "system.slice/a.service", true);
    tree_add_group(tree, "user.slice", false);
    harness_begin("Cgroup \"sytem.slice/*\"\nCgroup \"lxc/*\" \"system.slice/*\"\n"
                  "Cgroup \"system.slice/b.*\"");
    harness_read();
    harness_assert_logs(0, NULL);
    read_for_two_intervals();
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "psi: the pattern \"sytem.slice/*\" matches no cgroup "
                                             "(there is system.slice). " LISTS_ALL),
                      1);
    harness_assert_logs(2, "\"headroom doctor --cgroups\" lists all");
    read_for_two_intervals();
    harness_assert_logs(0, NULL);
    tree_add_group(tree, "system.slice/b.service", false);
    harness_read();
    harness_assert_logs(
        1, "info: psi: the Cgroup option of \"system.slice/b.*\" matches a cgroup now.");
    tree_remove_group(tree, "system.slice/b.service");
    read_for_two_intervals();
    harness_assert_logs(0, NULL);
}
END_TEST

/* Layouts of several kinds of machines are none that must be there, unless nothing is. */
START_TEST(reports_alternatives_if_nothing_else_matches)
{
    fake_set_interval(MS_TO_CDTIME_T(50));
    tree_add_group(tree, "system.slice/a.service", true);
    tree_add_group(tree, "user.slice", false);
    harness_begin(_i == 0 ? "Cgroup \"docker/*\" \"lxc/*\"\nCgroup \"system.slice/*\""
                          : "Cgroup \"docker/*\" \"lxc/*\"");
    read_for_two_intervals();
    harness_assert_logs(
        _i, "warning: psi: none of the patterns \"docker/*\", \"lxc/*\" matches a cgroup "
            "(there are: system.slice, user.slice). " LISTS_ALL);
}
END_TEST

/* A user who isn't root is a plain one already. */
static void set_user(uid_t user)
{
    ck_assert(getuid() != 0 || seteuid(user) == 0);
}

START_TEST(takes_no_more_than_the_limit)
{
    add_groups("g", 1000);
    harness_begin("System false\nResource \"io\"\nCgroup \"g*\"\nMaxCgroups 100");
    harness_read();
    harness_assert_count("psi-g*/total_time_in_ms-io-some", 100);
    harness_assert_count("psi-g00*", 200);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "900 cgroups with processes match"), 1);
    harness_assert_logs(1, "MaxCgroups is 100");
    tree_remove_group(tree, "g0050");
    read_last();
    harness_assert_count("psi-g*/total_time_in_ms-io-some", 100); /* another moved up */
    assert_instance("g0050", 0);
    harness_assert_count("*/percent-*", 2 * 100);
    harness_assert_logs(0, NULL);
}
END_TEST

/* A pod is its slice, the container that holds its network, and one more. */
START_TEST(the_snippet_has_room_for_many_pods)
{
    const char *folder = getenv("srcdir");
    char options[PATH_MAX + 100], source[PATH_MAX], group[100];

    ck_assert_ptr_nonnull(realpath(folder != NULL ? folder : ".", source));
    for (int i = 0; i < 2 * PODS; i++) {
        snprintf(group, sizeof(group),
                 "kubepods.slice/kubepods-pod%d.slice/cri-containerd-%d.scope", i / 2, i);
        tree_add_group(tree, group, true);
    }
    snprintf(options, sizeof(options),
             "System false\nResource \"io\"\n"
             "Include \"%s/contrib/collectd.conf.d/headroom-cgroups.conf\"",
             source);
    harness_begin(options);
    harness_read();
    harness_assert_count("psi-*/total_time_in_ms-io-some", 3 * PODS);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Groups without processes keep none out, and aren't counted as left out. */
START_TEST(limits_groups_with_processes)
{
    char name[32];

    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "empty%04d", i);
        tree_add_group(tree, name, false);
    }
    add_groups("g", 3);
    harness_begin("System false\nResource \"io\"\nCgroup \"*\"\nMaxCgroups 2");
    harness_read();
    harness_assert_count("psi-*/total_time_in_ms-io-some", 2);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "1 cgroups with processes match"), 1);
    harness_assert_logs(1, "MaxCgroups is 2");
    fake_ignore_logs("2 cgroups with processes match"); /* which is so between these changes */
    tree_set_populated(tree, "empty0007", true);        /* waits behind g0002 */
    tree_set_populated(tree, "g0000", false);
    harness_read();
    harness_assert_count("psi-g0002/total_time_in_ms-io-some", 1);
    harness_assert_count("psi-empty*", 0);
    tree_set_populated(tree, "g0001", false);
    harness_read();
    harness_assert_count("psi-empty0007/total_time_in_ms-io-some", 1);
    harness_assert_logs(0, NULL);
}
END_TEST

/* A cgroup that can't be read is logged once, safely, and costs the others nothing. */
START_TEST(reports_groups_that_cannot_be_read)
{
    char folder[256];

    add_groups("g", 3);
    tree_add_group(tree, "bad\033name", true);
    snprintf(folder, sizeof(folder), "%s/" TREE_CGROUPS "/bad\033name", tree_path(tree));
    ck_assert_int_eq(chmod(tree_path(tree), 0755) + chmod(folder, 0), 0);
    set_user(65534); /* before the plugin's thread reads them */
    harness_begin("System false\nResource \"io\"\nCgroup \"*\"");
    for (int i = 0; i < 5; i++) {
        harness_read();
        harness_assert_count("psi-g*/total_time_in_ms-io-some", 3);
        harness_assert_count("psi-bad*", 0);
        ck_assert_uint_eq(fake_logs(LOG_WARNING, "1 cgroups can't be read, such as bad?name; "),
                          i == 0);
        harness_assert_logs(i == 0, i == 0 ? "let collectd's user read it" : NULL);
    }
    set_user(0);
    ck_assert_int_eq(chmod(folder, 0755), 0);
}
END_TEST

START_TEST(goes_on_with_descriptor_shortage)
{
    harness_run_short_of_descriptors();
    add_groups("g", 20);
    harness_begin("Cgroup \"g*\"");
    harness_read();
    harness_assert_count("psi-g*", 20 * FIRST);
    harness_read();
    harness_assert_count("psi-g*", 20 * LATER);
    ck_assert_uint_eq(fake_logs(0, "LimitNOFILE="), fake_logs(0, NULL));
    ck_assert_uint_ge(fake_logs(0, NULL), 1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, harness_set_up, harness_tear_down);
    tcase_add_test(tests, follows_processes_in_and_out);
    tcase_add_test(tests, follows_groups_that_are_made_and_removed);
    tcase_add_test(tests, says_what_has_become_of_a_group);
    tcase_add_test(tests, gets_over_a_group_that_vanishes_before_it_is_read);
    tcase_add_test(tests, takes_a_group_made_again_for_another);
    tcase_add_loop_test(tests, publishes_groups_once_they_have_an_age, 0, COUNT(with_min_age));
    tcase_add_test(tests, publishes_groups_with_triggers_once_they_have_an_age);
    tcase_add_loop_test(tests, waits_for_the_mount, 0, COUNT(without_mount));
    tcase_add_test(tests, excludes_what_is_selected);
    tcase_add_loop_test(tests, reads_an_included_file, 0, 2);
    tcase_add_test(tests, warns_of_what_an_included_file_may_not_have);
    tcase_add_loop_test(tests, refuses_what_cannot_be_included, 0, COUNT(not_included));
    tcase_add_test(tests, reports_patterns_that_match_nothing);
    tcase_add_loop_test(tests, reports_alternatives_if_nothing_else_matches, 0, 2);
    tcase_add_test(tests, takes_no_more_than_the_limit);
    tcase_add_test(tests, the_snippet_has_room_for_many_pods);
    tcase_add_test(tests, limits_groups_with_processes);
    tcase_add_test(tests, reports_groups_that_cannot_be_read);
    tcase_add_test(tests, goes_on_with_descriptor_shortage);
    return run_suite("plugin selection", tests);
}
