/* SPDX-License-Identifier: MIT */
/*
 * plugin/common/check_plugin_selection.c - which groups a plugin publishes, as they come and go,
 * and under which names; tried with psi.
 */
#include "support/plugin_harness.h"

#include "support/safe_text.h"
#include "support/suite.h"

const char *const harness_plugin = "psi";

/* All values of a group in its first read, and in later ones. */
#define FIRST 6
#define LATER 12

/* How many values of the last read have an instance. */
static size_t count_of(const char *instance)
{
    size_t all, count = 0;
    const struct fake_value *values = fake_values(&all);

    for (size_t i = 0; i < all; i++)
        count += strcmp(values[i].instance, instance) == 0;
    return count;
}

static void assert_instance(const char *instance, size_t count)
{
    ck_assert_msg(count_of(instance) == count, "%zu values of %s instead of %zu",
                  count_of(instance), instance, count);
}

/* The first instance of the last read that isn't the system's. */
static const char *only_instance(void)
{
    size_t count;
    const struct fake_value *values = fake_values(&count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i].instance, "system") != 0)
            return values[i].instance;
    ck_abort_msg("no group was published");
}

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

static void remove_group_b(const struct fake_value *value, void *context)
{
    bool *removed = context;

    if (*removed || strcmp(value->instance, "a") != 0)
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

static void add_groups(const char *prefix, int count)
{
    char name[32];

    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%s%04d", prefix, i);
        tree_add_group(tree, name, true);
    }
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
    tree_set_populated(tree, "empty0007", true); /* waits behind g0002 */
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

/* --- Names ---------------------------------------------------------------- */

#define POD "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice"

static const struct {
    const char *pattern;
    const char *template; /* NULL: no Instance */
    const char *group;
    const char *instance;
} named[] = {
    {"a/b.service", NULL, "a/b.service", "a_b.service"},
    {"a/b.service", "%0", "a/b.service", "a_b.service"},
    {"a/b.service", "%l", "a/b.service", "b.service"},
    {"a", "%l", "a", "a"},
    {"*/*.service", "%1-%2", "a/b.service", "a-b"},
    {"*/*.service", "%2.%1.%2", "a/b.service", "b.a.b"},
    {"kubepods.slice/**/kubepods-*-pod*.slice", "%1:%2:%3", POD,
     "kubepods-burstable.slice:burstable:1"},
    {"kubepods.slice/**/*-pod?.slice", "pod-%3", POD, "pod-1"},
    {"a**", "%1", "a/b/c", "_b_c"},
    {"*", "100%%", "a", "100%"},
    {"*", "%%1", "a", "%1"},
    {"*", "web", "a", "web"},
    {"a*", "%1", "a", "a"},        /* nothing is left of it: the path */
    {"**/a*", "%1%2", "x/a", "x"}, /* one of two is empty */
    {"**/a*", "%1%2", "a", "a"},   /* both are */
    {"*", NULL, "tab\there", "tab_here"},
    {"*", NULL, "del\x7fhere", "del_here"},
    {"*", NULL, "a b.c-d:e@f", "a b.c-d:e@f"},
    {"user-1\\\\x2d*", NULL, "user-1\\x2dfoo", "user-1\\x2dfoo"},
    {"user-1\\\\x2d*", "%1", "user-1\\x2dfoo", "foo"},
    {"gr\xc3\xbc*", "%1\xc3\xbc", "gr\xc3\xbc\xc3\x9f", "\xc3\x9f\xc3\xbc"},
};

START_TEST(names_groups)
{
    char options[512];

    if (named[_i].template != NULL)
        snprintf(options, sizeof(options), "<Cgroup \"%s\">\nInstance \"%s\"\n</Cgroup>",
                 named[_i].pattern, named[_i].template);
    else
        snprintf(options, sizeof(options), "Cgroup \"%s\"", named[_i].pattern);
    tree_add_group(tree, named[_i].group, true);
    harness_begin(options);
    harness_read();
    assert_instance(named[_i].instance, FIRST);
    harness_read();
    assert_instance(named[_i].instance, LATER);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(names_groups_by_the_first_pattern_that_selects_them)
{
    tree_add_group(tree, "a.service", true);
    tree_add_group(tree, "b.service", true);
    harness_begin("<Cgroup \"a*\">\nInstance \"first%1\"\n</Cgroup>\n"
                  "<Cgroup \"*.service\">\nInstance \"second-%1\"\n</Cgroup>\nCgroup \"*\"");
    harness_read();
    assert_instance("first.service", FIRST);
    assert_instance("second-b", FIRST);
    harness_assert_count("*", 5 + 2 * FIRST);
}
END_TEST

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define LONG_HEAD                                                                                  \
    "kubepods.slice/kubepods-burstable.slice/"                                                     \
    "kubepods-burstable-pod6aaa9ae7_e1b0_4a64_8d70_3c52c7a1d1b1.slice/"
#define LONG_HEAD_NAMED "kubepods.slice_kubepods-burstable.slice_kubepods-burstable-pod6aaa9ae7"
#define LONG_LEAF       "cri-containerd-" ID ".scope"

/* Where "~" and 8 hexadecimal digits begin; asserts that they are there. */
static const char *find_mark(const char *instance)
{
    const char *mark = strchr(instance, '~');

    ck_assert_msg(mark != NULL, "no ~ in %s", instance);
    ck_assert_uint_ge(strspn(mark + 1, "0123456789abcdef"), 8);
    return mark;
}

START_TEST(shortens_long_names)
{
    char first[DATA_MAX_NAME_LEN];

    tree_add_group(tree, LONG_HEAD LONG_LEAF, true);
    harness_begin("Cgroup \"kubepods.slice/**/cri-containerd-*.scope\"");
    harness_read();
    const char *instance = only_instance();
    const char *mark = find_mark(instance);
    ck_assert_uint_ge(strlen(LONG_HEAD LONG_LEAF), 180);
    ck_assert_uint_eq(strlen(instance), DATA_MAX_NAME_LEN - 1); /* no more, and no less */
    ck_assert_int_ge(mark - instance, 16);
    ck_assert_int_eq(strncmp(instance, LONG_HEAD_NAMED, (size_t)(mark - instance)), 0);
    ck_assert_str_eq(mark + 9, "_" LONG_LEAF);
    assert_instance(instance, FIRST);

    snprintf(first, sizeof(first), "%s", instance);
    tree_remove_group(tree, "kubepods.slice");
    harness_read();
    tree_add_group(tree, LONG_HEAD LONG_LEAF, true);
    harness_read();
    assert_instance(first, FIRST);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Two names with the same head and last component differ by the hash of the path. */
START_TEST(distinguishes_long_names)
{
    tree_add_group(tree, LONG_HEAD "one.slice/" LONG_LEAF, true);
    tree_add_group(tree, LONG_HEAD "two.slice/" LONG_LEAF, true);
    harness_begin("Cgroup \"**/cri-containerd-*\"");
    harness_read();
    harness_assert_count("psi-kubepods*/total_time_in_ms-io-some", 2);
    harness_assert_count("psi-kubepods*", 2 * FIRST);
    harness_assert_logs(0, NULL);
}
END_TEST

static const struct {
    size_t length;
    bool shortened;
} lengths[] = {{126, false}, {127, false}, {128, true}, {129, true}, {255, true}};

START_TEST(shortens_no_more_than_needed)
{
    char name[256];

    memset(name, 'x', sizeof(name));
    name[lengths[_i].length] = '\0';
    tree_add_group(tree, name, true);
    harness_begin("Cgroup \"*\"");
    harness_read();
    if (lengths[_i].shortened) {
        ck_assert_uint_le(strlen(only_instance()), DATA_MAX_NAME_LEN - 1);
        find_mark(only_instance());
    } else {
        ck_assert_str_eq(only_instance(), name);
    }
    assert_instance(only_instance(), FIRST);
}
END_TEST

/* Characters of 2, 3 and 4 bytes, pushed along so that each cut falls anywhere in one. */
static const char *const characters[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x90\xa7"};

START_TEST(keeps_characters_whole)
{
    const char *character = characters[_i / 4];
    char name[512];
    size_t length = (size_t)snprintf(name, sizeof(name), "%.*s", _i % 4, "xxx");

    while (length < 80)
        length += (size_t)snprintf(name + length, sizeof(name) - length, "%s", character);
    length += (size_t)snprintf(name + length, sizeof(name) - length, "/");
    for (size_t begin = length; length < begin + 200;)
        length += (size_t)snprintf(name + length, sizeof(name) - length, "%s", character);
    tree_add_group(tree, name, true);
    harness_begin("Cgroup \"*/*\"");
    harness_read();
    const char *instance = only_instance();
    ck_assert_uint_le(strlen(instance), DATA_MAX_NAME_LEN - 1);
    ck_assert_uint_ge(strlen(instance), DATA_MAX_NAME_LEN - 1 - 6);
    find_mark(instance);
    assert_instance(instance, FIRST);
}
END_TEST

/* Names that anybody may give to a group, and what the series is named. */
static const struct {
    const char *group, *instance;
} unsafe[] = {
    {"a\x1b[2Jb", "a_[2Jb"},
    {"a\rb\x7f", "a_b_"},
    {"a\xc2\x9b"
     "31mb",
     "a__31mb"}, /* C1 */
    {"a\xe2\x80\xae"
     "b\xe2\x81\xa6",
     "a___b___"}, /* an override, an isolate */
    {"a\xe2\x80\xa8"
     "b",
     "a___b"},                 /* a line separator */
    {"a\x9b\xff\xc3", "a___"}, /* no UTF-8 */
    {"a\xed\xa0\x80", "a___"}, /* a surrogate */
    /* These are fine, and stay what they are. */
    {"user@1\\x2d2.service", "user@1\\x2d2.service"},
    {"caf\xc3\xa9 \xf0\x9f\x90\xa7", "caf\xc3\xa9 \xf0\x9f\x90\xa7"},
    {"?*[]{}'\"%s$`&<>|;:", "?*[]{}'\"%s$`&<>|;:"},
};

START_TEST(makes_names_safe)
{
    tree_add_group(tree, unsafe[_i].group, true);
    harness_begin("Cgroup \"*\"");
    harness_read();
    assert_instance(unsafe[_i].instance, FIRST);
    harness_assert_count("psi-*", 2 * FIRST - 1); /* the system's, too, without cpu full */
    harness_assert_logs(0, NULL);
}
END_TEST

/* Its pressure can't be read, and the path is in the line. */
START_TEST(logs_names_made_safe)
{
    char options[64];

    tree_add_group(tree, unsafe[_i].group, true);
    snprintf(options, sizeof(options), "Cgroup \"*\"\nResource \"io\"");
    tree_remove_pressure(tree, unsafe[_i].group, "io");
    harness_begin(options);
    harness_read();
    harness_assert_logs(1, "io pressure of cgroup ");
}
END_TEST

/* Whatever the bytes: a long name is shortened to one that is safe. */
START_TEST(shortens_any_bytes)
{
    char name[256];

    memset(name, _i, sizeof(name));
    memcpy(name, "\xe2\x80", 2);
    name[sizeof(name) - 1] = '\0';
    tree_add_group(tree, name, true);
    harness_begin("Cgroup \"*\"");
    harness_read();
    find_mark(only_instance());
    assert_instance(only_instance(), FIRST);
}
END_TEST

/* Two groups that would get one name; which of them comes first is left open. */
static const struct {
    const char *one, *other;
    const char *options;
    const char *name;
} alike[] = {
    {"a/b", "a_b", "Cgroup \"a_b\" \"a/b\"", "a_b"},
    {"x/svc", "y/svc", "<Cgroup \"*/svc\">\nInstance \"%l\"\n</Cgroup>", "svc"},
    {"a\x1b", "a\x9b", "Cgroup \"a*\"", "a_"},
    {"p", "q", "<Cgroup \"[pq]\">\nInstance \"same\"\n</Cgroup>", "same"},
};

START_TEST(distinguishes_two_of_one_name)
{
    char pattern[64];
    const char *plain = alike[_i].name;

    tree_add_group(tree, alike[_i].one, true);
    tree_add_group(tree, alike[_i].other, true);
    harness_begin(alike[_i].options);
    harness_read();
    assert_instance(plain, FIRST);
    snprintf(pattern, sizeof(pattern), "psi-%s~*/*", plain);
    harness_assert_count(pattern, FIRST);
    if (is_safe_text(alike[_i].one))
        ck_assert_uint_eq(fake_logs(LOG_WARNING, alike[_i].one), 1);
    if (is_safe_text(alike[_i].other))
        ck_assert_uint_eq(fake_logs(LOG_WARNING, alike[_i].other), 1);
    harness_assert_logs(1, plain);
    harness_read();
    assert_instance(plain, LATER);
    harness_assert_count(pattern, LATER);
    harness_assert_logs(0, NULL);
}
END_TEST

/* A template that gives many groups one name: a line for each would flood the log. */
START_TEST(reports_many_of_one_name_now_and_then)
{
    add_groups("g", 100);
    harness_begin("System false\nResource \"io\"\n<Cgroup \"g*\">\nInstance \"web\"\n</Cgroup>");
    harness_read();
    harness_assert_count("psi-web*/total_time_in_ms-io-some", 100);
    harness_assert_logs(7, "web is the name of g0000"); /* the 1st, 2nd, 4th … 64th of 99 */
}
END_TEST

START_TEST(frees_the_names_of_groups_that_went)
{
    tree_add_group(tree, "x/svc", true);
    harness_begin("<Cgroup \"*/svc\">\nInstance \"%l\"\n</Cgroup>");
    harness_read();
    assert_instance("svc", FIRST);
    tree_remove_group(tree, "x");
    harness_read();
    tree_add_group(tree, "y/svc", true);
    harness_read();
    assert_instance("svc", FIRST);
    harness_assert_logs(0, NULL);
}
END_TEST

/* A group may be called as the system is. */
START_TEST(keeps_the_name_of_the_system)
{
    tree_add_group(tree, "system", true);
    tree_add_group(tree, "other", true);
    tree_pressure(tree, "system", "io", 77000, 66000);
    harness_begin(_i == 0 ? "Cgroup \"system\""
                          : "<Cgroup \"system\">\nInstance \"%l\"\n</Cgroup>");
    harness_read();
    assert_instance("system", 5);
    ck_assert_double_eq(harness_number("psi-system/total_time_in_ms-io-some"), 0);
    harness_assert_count("psi-system~*/*", FIRST);
    harness_assert_logs(1, "system as a whole");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("selection");

    tcase_add_checked_fixture(tests, harness_set_up, harness_tear_down);
    tcase_add_test(tests, follows_processes_in_and_out);
    tcase_add_test(tests, follows_groups_that_are_made_and_removed);
    tcase_add_test(tests, gets_over_a_group_that_vanishes_before_it_is_read);
    tcase_add_test(tests, takes_a_group_made_again_for_another);
    tcase_add_loop_test(tests, waits_for_the_mount, 0, COUNT(without_mount));
    tcase_add_test(tests, excludes_what_is_selected);
    tcase_add_loop_test(tests, reads_an_included_file, 0, 2);
    tcase_add_test(tests, warns_of_what_an_included_file_may_not_have);
    tcase_add_loop_test(tests, refuses_what_cannot_be_included, 0, COUNT(not_included));
    tcase_add_test(tests, reports_patterns_that_match_nothing);
    tcase_add_loop_test(tests, reports_alternatives_if_nothing_else_matches, 0, 2);
    tcase_add_test(tests, takes_no_more_than_the_limit);
    tcase_add_test(tests, limits_groups_with_processes);
    tcase_add_test(tests, reports_groups_that_cannot_be_read);
    tcase_add_test(tests, goes_on_with_descriptor_shortage);
    tcase_add_loop_test(tests, names_groups, 0, COUNT(named));
    tcase_add_test(tests, names_groups_by_the_first_pattern_that_selects_them);
    tcase_add_test(tests, shortens_long_names);
    tcase_add_test(tests, distinguishes_long_names);
    tcase_add_loop_test(tests, shortens_no_more_than_needed, 0, COUNT(lengths));
    tcase_add_loop_test(tests, keeps_characters_whole, 0, 4 * COUNT(characters));
    tcase_add_loop_test(tests, makes_names_safe, 0, COUNT(unsafe));
    tcase_add_loop_test(tests, logs_names_made_safe, 0, COUNT(unsafe));
    tcase_add_loop_test(tests, shortens_any_bytes, 1, '/');
    tcase_add_loop_test(tests, shortens_any_bytes, '/' + 1, '~'); /* the mark itself */
    tcase_add_loop_test(tests, shortens_any_bytes, '~' + 1, 256);
    tcase_add_loop_test(tests, distinguishes_two_of_one_name, 0, COUNT(alike));
    tcase_add_test(tests, reports_many_of_one_name_now_and_then);
    tcase_add_test(tests, frees_the_names_of_groups_that_went);
    tcase_add_loop_test(tests, keeps_the_name_of_the_system, 0, 2);
    return run_suite("plugin selection", tests);
}
