/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_memory.c - the memory of groups beside what collectd has of them, in a tree of
 * files.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "headroom/container.h"
#include "headroom/instance.h"
#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"
#include "top/alert_text.h"
#include "top/alerts.h"
#include "top/memory.h"

#define LONG_LEAF                                                                                  \
    "cri-containerd-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope"
#define LONG_PATH                                                                                  \
    "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0123.slice/" LONG_LEAF

static struct tree *tree;
static struct hr_root *root;
static struct memory_reader *reader;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    ck_assert_int_eq(memory_open(root, "web1.example.org", HR_CONTAINER_DOCKER, &reader), 0);
}

static void tear_down(void)
{
    memory_close(reader);
    hr_root_close(root);
    tree_free(tree);
}

/* A group that has `current` bytes, and a limit. */
static void add_group(const char *group, const char *current, const char *max)
{
    static const char *const names[] = {"memory.current", "memory.max", "memory.high"};
    const char *const texts[] = {current, max, "max\n"};
    char path[512];

    tree_add_group(tree, group, true);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), TREE_CGROUPS "/%s/%s", group, names[i]);
        tree_write(tree, path, "%s", texts[i]);
    }
}

/* Fills a table with one row. @return its memory; NaN: absent. */
static double fill(const char *host, const char *group, double processes, double *limit)
{
    struct row row = {.host = (char *)host, .group = (char *)group};
    struct table table = {.rows = &row, .count = 1};

    for (int column = 0; column < COLUMN_MAX; column++)
        row.values[column] = NAN;
    row.values[column_find("processes")] = processes;
    memory_fill(reader, &table);
    *limit = row.values[column_find("memory_limit_bytes")];
    return row.values[column_find("memory_used_bytes")];
}

START_TEST(finds_a_group_by_its_name)
{
    double limit;

    add_group("a.slice", "700\n", "5000\n");
    add_group("a.slice/b.service", "300\n", "max\n");
    ck_assert_double_eq(fill("web1", "a.slice_b.service", NAN, &limit), 300);
    ck_assert_double_eq(limit, 5000);
    ck_assert_double_eq(fill("web1", "a.slice", NAN, &limit), 700);
    ck_assert_double_eq(limit, 5000);
    add_group("new", "1\n", "max\n");
    ck_assert_double_eq(fill("web1", "new", NAN, &limit), 1);
    ck_assert(isnan(limit));
}
END_TEST

START_TEST(finds_a_long_name)
{
    double limit;

    add_group("kubepods.slice", "1\n", "max\n");
    add_group("kubepods.slice/kubepods-burstable.slice", "1\n", "max\n");
    add_group("kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0123.slice", "1\n",
              "9000\n");
    add_group(LONG_PATH, "300\n", "max\n");
    /* As collectd has it: 127 bytes, with the hash of the path. */
    ck_assert_double_eq(fill("web1",
                             "kubepods.slice_kubepods-burstabl~9b84cdbc_cri-containerd-012"
                             "3456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope",
                             NAN, &limit),
                        300);
    ck_assert_double_eq(limit, 9000);
}
END_TEST

static const struct {
    const char *host, *group;
    double processes;
} strangers[] = {
    {"web2", "a", NAN}, {"web1.example.com", "a", NAN}, {"web", "a", NAN}, {"web1", "b", NAN},
    {"web1", "a", 1},   {"web1", "system", NAN},        {"web1", "", NAN},
};

START_TEST(leaves_others_alone)
{
    double limit;

    add_group("a", "300\n", "max\n");
    add_group("system", "300\n", "max\n");
    ck_assert_double_eq(fill("WEB1", "a", NAN, &limit), 300);
    ck_assert_double_eq(fill("web1.example.org", "a", NAN, &limit), 300);
    ck_assert(
        isnan(fill(strangers[_i].host, strangers[_i].group, strangers[_i].processes, &limit)));
    ck_assert(isnan(limit));
}
END_TEST

/* Which of the two has the name in collectd isn't known. */
START_TEST(a_name_of_two_groups_is_neither)
{
    double limit;

    add_group("a", "1\n", "max\n");
    add_group("a/b", "2\n", "max\n");
    add_group("a_b", "3\n", "max\n");
    ck_assert(isnan(fill("web1", "a_b", NAN, &limit)));
    tree_remove_group(tree, "a_b");
}
END_TEST

START_TEST(a_group_without_the_controller)
{
    double limit;

    tree_add_group(tree, "a", true);
    ck_assert(isnan(fill("web1", "a", NAN, &limit)));
    ck_assert(isnan(limit));
}
END_TEST

START_TEST(without_cgroups)
{
    double limit;

    tree_write(tree, "proc/1/mounts", "proc /proc proc rw 0 0\n");
    ck_assert(isnan(fill("web1", "a", NAN, &limit)));
    ck_assert(isnan(fill("web1", "a", NAN, &limit)));
}
END_TEST

/* Groups of perf_event are those of memory by their path, and their processes. */
START_TEST(version_1_alone)
{
    double limit;

    tree_write(
        tree, "proc/1/mounts",
        "cgroup /v1/memory cgroup rw,memory 0 0\ncgroup /v1/perf cgroup rw,perf_event 0 0\n");
    tree_write(tree, "v1/memory/cgroup.procs", "1\n");
    tree_write(tree, "v1/perf/cgroup.procs", "1\n");
    tree_write(tree, "v1/perf/a/cgroup.procs", "77\n");
    tree_write(tree, "v1/memory/a/cgroup.procs", "77\n");
    tree_write(tree, "v1/memory/a/memory.usage_in_bytes", "300\n");
    tree_write(tree, "v1/memory/a/memory.limit_in_bytes", "4096\n");
    tree_write(tree, "proc/77/cgroup", "2:memory:/a\n1:perf_event:/a\n");
    ck_assert_double_eq(fill("web1", "a", NAN, &limit), 300);
    ck_assert_double_eq(limit, 4096);
}
END_TEST

#define POD                                                                                        \
    "kubepods.slice/kubepods-burstable.slice/"                                                     \
    "kubepods-burstable-pod00000007_1111_2222_3333_444444444444.slice"
#define CONTAINER POD "/" LONG_LEAF

START_TEST(finds_the_pod_of_a_long_name)
{
    struct row row = {.host = "web1"};
    struct table table = {.rows = &row, .count = 1};
    char instance[HR_INSTANCE_SIZE];

    add_group("kubepods.slice", "1\n", "max\n");
    add_group("kubepods.slice/kubepods-burstable.slice", "1\n", "max\n");
    add_group(POD, "1\n", "max\n");
    add_group(CONTAINER, "1\n", "max\n");
    hr_instance_make(CONTAINER, CONTAINER, false, instance);
    ck_assert_ptr_null(memory_find_path(reader, "web1", instance));
    row.group = instance;
    memory_fill(reader, &table);
    ck_assert_str_eq(memory_find_path(reader, "web1", instance), CONTAINER);
    ck_assert_ptr_null(memory_find_path(reader, "web2", instance));
    ck_assert_int_eq(table_shorten_names(&table, reader), 0);
    ck_assert_str_eq(row.short_group, "cri-containerd-0123456789ab.scope of pod 00000007");
    free(row.short_group);
    free(row.path);
}
END_TEST

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define LONG "a-long-name-of-a-container-as-kubernetes-has-it-of-namespace-and-pod"

/* Long or not, that isn't replaced by what its path has. */
START_TEST(finds_a_container_by_its_name)
{
    static const char *const containers[] = {"web", LONG};
    struct row row = {.host = "web1"};
    struct table table = {.rows = &row, .count = 1};

    tree_write(tree, "var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/%s\"}",
               containers[_i]);
    add_group("system.slice", "1\n", "max\n");
    add_group("system.slice/docker-" ID ".scope", "7\n", "max\n");
    row.group = (char *)containers[_i];
    memory_fill(reader, &table);
    ck_assert_str_eq(memory_find_path(reader, "web1", containers[_i]),
                     "system.slice/docker-" ID ".scope");
    ck_assert_int_eq(table_shorten_names(&table, reader), 0);
    if (row.short_group != NULL)
        ck_assert_ptr_null(strstr(row.short_group, "docker"));
    free(row.short_group);
    free(row.path);
}
END_TEST

static void expect_text(struct alerts *alerts, const char *expected)
{
    char text[ALERT_TEXT_SIZE];

    ck_assert_int_eq(alerts_read(alerts, NULL, reader), 0);
    ck_assert_uint_eq(alerts_found(alerts)->count, 1);
    alert_text(&alerts_found(alerts)->entries[0], false, text);
    ck_assert_str_eq(text, expected);
}

START_TEST(an_alert_keeps_its_pod)
{
    static const char expected[] =
        "all of cri-containerd-0123456789ab.scope of pod 00000007 waits for a CPU";
    struct table table = {.count = 0};
    char instance[HR_INSTANCE_SIZE], log[512];
    struct alerts *alerts;

    add_group("kubepods.slice", "1\n", "max\n");
    add_group("kubepods.slice/kubepods-burstable.slice", "1\n", "max\n");
    add_group(POD, "1\n", "max\n");
    add_group(CONTAINER, "1\n", "max\n");
    hr_instance_make(CONTAINER, CONTAINER, false, instance);
    tree_write(tree, "log",
               "Notification: severity = WARNING, host = web1, plugin = psi, plugin_instance = %s, "
               "type = percent, type_instance = cpu-full, message = Host web1, plugin psi "
               "(instance %s) type percent (instance cpu-full): %0100d\n",
               instance, instance, 0);
    snprintf(log, sizeof(log), "%s/log", tree_path(tree));
    ck_assert_int_eq(alerts_open(log, &alerts), 0);
    memory_fill(reader, &table);
    expect_text(alerts, expected);
    tree_remove_group(tree, CONTAINER);
    memory_fill(reader, &table);
    ck_assert_ptr_null(memory_find_path(reader, "web1", instance));
    expect_text(alerts, expected);
    alerts_close(alerts);
}
END_TEST

static void expect_last_texts(struct alerts *alerts, const char *expected)
{
    char text[ALERT_TEXT_SIZE], all[4096] = "";
    size_t used = 0;

    ck_assert_int_eq(alerts_read(alerts, NULL, reader), 0);
    const struct alert_list *list = alerts_found(alerts);
    for (size_t i = list->count - list->fresh; i < list->count; i++) {
        alert_text(&list->entries[i], false, text);
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s\n", text);
    }
    ck_assert_str_eq(all, expected);
}

static void append_line(const char *severity, const char *group, const char *message)
{
    char log[512];

    snprintf(log, sizeof(log), "%s/log", tree_path(tree));
    FILE *file = fopen(log, "a");
    fprintf(file,
            "Notification: severity = %s, host = web1, plugin = psi, plugin_instance = %s, type = "
            "percent, type_instance = cpu-full, message = %s\n",
            severity, group, message);
    fclose(file);
}

#define CURRENTLY                                                                                  \
    "Host web1, plugin psi (instance x) type percent (instance cpu-full): Data source \"value\" "  \
    "is currently 54.0. That is above the warning threshold of 40.0."

/* What its end says, by what the group was when its alarm began, or by its name: "a" goes, "b"
 * stays, "c" never was, "d/e" is empty when it ends and has processes later, "f_g" was empty all
 * the time, "h_i" are two. */
START_TEST(an_alert_knows_what_became_of_its_group)
{
    static const char *const groups[] = {"a", "b", "c", "d_e", "f_g", "h_i"};
    static const char unwatched[] = "cpu-full: no longer watched: no value has come for 21 s";
    static const char expected[] =
        "a is no longer watched: no value has come for 21 s, as its cgroup is gone\n"
        "b is no longer watched: no value has come for 21 s, though its cgroup is there\n"
        "c is no longer watched: no value has come for 21 s, it may be gone\n"
        "d_e is no longer watched: no value has come for 21 s, as no process is left in it\n"
        "f_g is no longer watched: no value has come for 21 s, as no process is left in it\n"
        "h_i is no longer watched: no value has come for 21 s, it may be gone\n";
    struct table table = {.count = 0};
    struct alerts *alerts;
    char log[512], text[ALERT_TEXT_SIZE];

    add_group("a", "1\n", "max\n");
    add_group("b", "1\n", "max\n");
    add_group("d", "1\n", "max\n");
    add_group("d/e", "1\n", "max\n");
    tree_add_group(tree, "f", false);
    tree_add_group(tree, "f/g", false);
    tree_add_group(tree, "h", false);
    tree_add_group(tree, "h/i", false);
    tree_add_group(tree, "h_i", false);
    for (int i = 0; i < 6; i++)
        append_line("WARNING", groups[i], CURRENTLY);
    snprintf(log, sizeof(log), "%s/log", tree_path(tree));
    ck_assert_int_eq(alerts_open(log, &alerts), 0);
    memory_fill(reader, &table);
    ck_assert_int_eq(alerts_read(alerts, NULL, reader), 0);
    tree_remove_group(tree, "a");
    tree_set_populated(tree, "d/e", false);
    memory_fill(reader, &table);
    for (int i = 0; i < 6; i++)
        append_line("OKAY", groups[i], unwatched);
    expect_last_texts(alerts, expected);
    tree_set_populated(tree, "d/e", true);
    memory_fill(reader, &table);
    ck_assert_int_eq(alerts_read(alerts, NULL, reader), 0);
    const struct alert_list *list = alerts_found(alerts);
    alert_text(&list->entries[list->count - 3], false, text);
    ck_assert_ptr_nonnull(strstr(text, "as no process is left in it"));
    alerts_close(alerts);
}
END_TEST

static void describe(const char *host, char *text, size_t size)
{
    struct row row = {.host = (char *)host, .group = "system"};
    struct table table = {.rows = &row, .count = 1};

    memory_describe_groups(reader, &table, text, size);
}

START_TEST(describes_which_groups_there_are)
{
    char text[64];

    add_group("a.slice", "1\n", "max\n");
    add_group("a.slice/b", "1\n", "max\n");
    add_group("c\033d", "1\n", "max\n");
    describe("web1", text, sizeof(text));
    ck_assert_str_eq(text, "there are: a.slice, c?d");
    describe("web2", text, sizeof(text));
    ck_assert_str_eq(text, "");
    tree_write(tree, "proc/1/mounts", "proc /proc proc rw 0 0\n");
    describe("web1", text, sizeof(text));
    ck_assert_str_eq(text, "");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("memory");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, finds_a_group_by_its_name);
    tcase_add_test(tests, finds_a_long_name);
    tcase_add_loop_test(tests, leaves_others_alone, 0, sizeof(strangers) / sizeof(*strangers));
    tcase_add_test(tests, a_name_of_two_groups_is_neither);
    tcase_add_test(tests, a_group_without_the_controller);
    tcase_add_test(tests, without_cgroups);
    tcase_add_test(tests, version_1_alone);
    tcase_add_test(tests, finds_the_pod_of_a_long_name);
    tcase_add_loop_test(tests, finds_a_container_by_its_name, 0, 2);
    tcase_add_test(tests, an_alert_keeps_its_pod);
    tcase_add_test(tests, an_alert_knows_what_became_of_its_group);
    tcase_add_test(tests, describes_which_groups_there_are);
    return run_suite("memory", tests);
}
