/* SPDX-License-Identifier: MIT */
/*
 * plugin/wss/check_plugin_wss_tree.c - the plugin wss over a tree of files: which files it reads
 * how often, however many targets there are, and what it restores.
 */
#include "plugin/wss/wss_harness.h"

#include <sys/inotify.h>
#include <unistd.h>

#include "support/left_damon.h"
#include "support/suite.h"

const char *const harness_plugin = "wss";

#define REFERENCED "Method \"referenced\"\nWindow 0.01\n"

/* --- A machine ------------------------------------------------------------ */

static void add_process(int pid, const char *name)
{
    char path[64];

    tree_add_process(tree, &(struct tree_process){.pid = pid, .name = name, .started = 5});
    snprintf(path, sizeof(path), "proc/%d/clear_refs", pid);
    tree_write(tree, path, "%s", "");
    snprintf(path, sizeof(path), "proc/%d/smaps_rollup", pid);
    tree_write(tree, path, "%s",
               "1-2 ---p 0 00:00 0 [rollup]\nRss: 40 kB\nPss: 4 kB\nReferenced: 4 kB\n");
}

/* --- Counting ------------------------------------------------------------- */

static int watcher = -1;

/* @return the watch, which counts how often the file or directory is opened. */
static int watch(const char *path)
{
    char whole[512];

    if (watcher < 0)
        watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    snprintf(whole, sizeof(whole), "%s/%s", tree_path(tree), path);
    int added = inotify_add_watch(watcher, whole, IN_OPEN);
    ck_assert_msg(added >= 0, "%s", path);
    return added;
}

/* Adds to each count the openings of its watch, not those of what is in a directory. */
static void count_opens(const int *watches, size_t *counts, size_t size)
{
    _Alignas(struct inotify_event) char buffer[65536];
    ssize_t length;

    while ((length = read(watcher, buffer, sizeof(buffer))) > 0)
        for (char *next = buffer; next < buffer + length;) {
            const struct inotify_event *event = (const struct inotify_event *)next;
            for (size_t i = 0; i < size; i++)
                counts[i] += event->wd == watches[i] && event->len == 0;
            next += sizeof(*event) + event->len;
        }
}

static void tear_down(void)
{
    if (watcher >= 0)
        close(watcher);
    watcher = -1;
    wss_tear_down();
}

/* --- Processes ------------------------------------------------------------ */

/* To find those of a name, all of /proc is read: when a measurement begins, and when it ends, for
 * those that have begun since. */
START_TEST(looks_for_processes_twice_a_measurement)
{
    size_t counts[2] = {0};

    add_process(1, "init");
    add_process(42, "mysqld");
    add_process(43, "nginx");
    wss_set_interval(20);
    const int watches[] = {watch("proc"), watch("proc/42/clear_refs")};
    harness_begin("<Process \"mysqld\">\n" REFERENCED "</Process>\n<Process \"other\">\nPid "
                  "43\n" REFERENCED "</Process>");
    for (int i = 0; i < 10; i++)
        wss_await("wss-mysqld/memory-rss", 1);
    ck_assert_int_eq(fake_shutdown(), 0);
    count_opens(watches, counts, COUNT(counts));
    ck_assert_uint_ge(counts[1], 10); /* and once to see whether it can be opened */
    ck_assert_uint_le(counts[0], 2 * counts[1] + 1);
}
END_TEST

/* Targets by name begin together, and where windows follow each other, one begins as another ends.
 * Each by itself would read it 80 times here; one that is late by half a second does. */
START_TEST(looks_for_all_names_at_once)
{
    char options[8192] = "", of[64], line[128];
    size_t counts[1] = {0};

    add_process(1, "init");
    for (int i = 0; i < 20; i++) {
        snprintf(line, sizeof(line), "name-%d", i);
        add_process(42 + i, line);
        snprintf(line, sizeof(line),
                 "<Process \"name-%d\">\nMethod \"referenced\"\nWindow 5\n</Process>\n", i);
        strcat(options, line);
    }
    wss_set_interval(1000);
    const int watches[] = {watch("proc")};
    harness_begin(options);
    snprintf(of, sizeof(of), "wss-name-%d/memory-rss", 19);
    wss_await(of, 1);
    wss_await(of, 1);
    ck_assert_int_eq(fake_shutdown(), 0);
    count_opens(watches, counts, COUNT(counts));
    ck_assert_uint_ge(counts[0], 1);
    ck_assert_uint_le(counts[0], 40);
}
END_TEST

/* --- Cgroups -------------------------------------------------------------- */

/* The mount table may be long: the set of cgroups looks into it, measuring doesn't. */
START_TEST(finds_cgroups_without_the_mount_table)
{
    size_t counts[2] = {0};

    add_process(1, "init");
    add_process(42, "mysqld");
    tree_add_group(tree, "a", true);
    tree_write(tree, TREE_CGROUPS "/a/cgroup.procs", "42\n");
    wss_set_interval(20);
    const int watches[] = {watch("proc/1/mounts"), watch("proc/42/clear_refs")};
    harness_begin("<Cgroup \"a\">\n" REFERENCED "</Cgroup>");
    for (int i = 0; i < 10; i++)
        wss_await("wss-a/memory-rss", 1);
    ck_assert_int_eq(fake_shutdown(), 0);
    count_opens(watches, counts, COUNT(counts));
    ck_assert_uint_ge(counts[1], 1); /* openings of one file count once if no other is between */
    ck_assert_uint_le(counts[0], 2);
}
END_TEST

/* Without cgroups' namespaces /proc has paths below the mount, within one from its top: those of
 * other groups lie outside. */
static void put_in(int pid, const char *group, const char *top)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/cgroup", pid);
    tree_write(tree, path, "0::/%s%s\n", top, group);
}

static void add_in(int pid, const char *name, const char *group, const char *top)
{
    char path[64];

    add_process(pid, name);
    put_in(pid, group, top);
    tree_add_group(tree, group, true);
    snprintf(path, sizeof(path), TREE_CGROUPS "/%s/cgroup.procs", group);
    tree_write(tree, path, "%d\n", pid);
}

/* Each would clear what the other counts. */
static void assert_not_beside(const char *top)
{
    add_process(1, "init");
    put_in(1, "", top);
    add_in(42, "mysqld", "with", top);
    add_in(43, "nginx", "without", top);
    add_in(44, "sshd", "apart", top);
    wss_set_interval(20);
    harness_begin("<Cgroup \"with*\">\n" REFERENCED "</Cgroup>\n"
                  "<Process \"mysqld\">\nPid 42\n" REFERENCED "</Process>\n"
                  "<Process \"moves\">\nName \"sshd\"\n" REFERENCED "</Process>");
    wss_await_log(1, "such as with: it contains a process of mysqld");
    for (int i = 0; i < 3; i++) {
        wss_await("wss-without/memory-rss", 1);
        wss_await("wss-moves/memory-rss", 1);
        harness_assert_count("wss-with/*", 0);
    }
    put_in(44, "without", top);
    tree_write(tree, TREE_CGROUPS "/without/cgroup.procs", "43\n44\n");
    wss_await_log(1, "moves is not measured: one of its processes lies within the cgroup without");
}

START_TEST(measures_no_process_of_a_measured_group)
{
    assert_not_beside("");
}
END_TEST

START_TEST(measures_none_where_it_sees_a_namespace_of_groups)
{
    assert_not_beside("../../");
}
END_TEST

/* --- What was left behind ------------------------------------------------- */

/* Whatever it measures. */
START_TEST(switches_off_what_a_killed_run_left)
{
    char path[512], text[8] = "";

    add_process(1, "init");
    add_process(42, "mysqld");
    left_damon_add(tree);
    harness_begin("<Process \"mysqld\">\n" REFERENCED "</Process>");
    harness_assert_logs(1, "switched DAMON off, as a run that was killed had left it on");
    snprintf(path, sizeof(path), "%s/" LEFT_DAMON_KDAMONDS "nr_kdamonds", tree_path(tree));
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
    fclose(file);
    ck_assert_str_eq(text, "0");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss tree");

    tcase_add_checked_fixture(tests, harness_set_up, tear_down);
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, looks_for_processes_twice_a_measurement);
    tcase_add_test(tests, looks_for_all_names_at_once);
    tcase_add_test(tests, finds_cgroups_without_the_mount_table);
    tcase_add_test(tests, measures_no_process_of_a_measured_group);
    tcase_add_test(tests, switches_off_what_a_killed_run_left);
    tcase_add_test(tests, measures_none_where_it_sees_a_namespace_of_groups);
    return run_suite("plugin wss tree", tests);
}
