/* SPDX-License-Identifier: MIT */
/*
 * plugin/wss/check_plugin_wss_values.c - the plugin wss: what it publishes of live processes and
 * cgroups, when, and what it logs about those that can't be measured.
 */
#include "plugin/wss/wss_harness.h"

#include <dirent.h>

#include "support/groups.h"
#include "support/suite.h"

const char *const harness_plugin = "wss";

#define REFERENCED "Method \"referenced\"\n"

/* The longest limit on scans, as the machine may be busy. */
#define PATIENT "MaxScanTime 60\n"

/* --- Values --------------------------------------------------------------- */

/* As soon as the process had time to touch all of its memory. */
static double await_touched(const char *identifier, size_t bytes)
{
    const uint64_t end_ms = wss_now_ms() + 60000;

    do {
        ck_assert_msg(wss_now_ms() < end_ms, "%s stays low", identifier);
        wss_await(identifier, 1);
    } while (harness_number(identifier) < (double)bytes);
    return harness_number(identifier);
}

START_TEST(publishes_what_a_process_touches)
{
    pid_t pid = wss_start(NULL, 64, 16);

    wss_set_interval(200);
    wss_begin(PATIENT "<Process \"it\">\nPid %d\nWindow 0.1\n" REFERENCED "</Process>", pid);
    double referenced = await_touched("wss-it/memory-referenced", 16 * MIB);
    /* More than one measurement, if no read came for long. */
    harness_assert_count("*", 6 * fake_count("wss-it/memory-referenced"));
    ck_assert_double_eq(harness_number("wss-it/count-processes"), 1);
    harness_assert_count("wss-it/*", fake_count("*"));
    /* A sanitizer adds memory of its own. */
    ck_assert_double_le(referenced, harness_number("wss-it/memory-rss") / 2);
    ck_assert_double_ge(harness_number("wss-it/memory-rss"), 64.0 * MIB);
    ck_assert_double_ge(harness_number("wss-it/memory-pss"), 64.0 * MIB);
    ck_assert_double_ge(harness_number("wss-it/duration-window"), 0.1);
    ck_assert_double_le(harness_number("wss-it/duration-window"), 10);
    ck_assert_double_gt(harness_number("wss-it/duration-scan"), 0);
    ck_assert_uint_eq(fake_find("wss-it/memory-rss")->time,
                      fake_find("wss-it/memory-referenced")->time);
    ck_assert_uint_eq(fake_find("wss-it/memory-rss")->interval, 0);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(names_series_after_several_windows)
{
    static const char *const names[] = {"memory-referenced-20ms", "duration-window-20ms",
                                        "memory-referenced-1s", "duration-window-1s"};
    pid_t pid = wss_start(NULL, 8, 4);

    wss_set_interval(100);
    wss_begin(PATIENT "<Process \"it\">\nPid %d\nWindow 0.02 1\n" REFERENCED "</Process>", pid);
    wss_await("wss-it/memory-referenced-20ms", 1);
    harness_assert_count("wss-it/duration-window-20ms",
                         fake_count("wss-it/memory-referenced-20ms"));
    harness_assert_count("wss-it/memory-referenced", fake_count("wss-it/memory-referenced-1s"));
    wss_await("wss-it/memory-referenced-1s", 1);
    for (size_t i = 2; i < COUNT(names); i++) {
        char plain[64];
        snprintf(plain, sizeof(plain), "wss-it/%s", names[i]);
        *strrchr(plain, '-') = '\0';
        char named[64];
        snprintf(named, sizeof(named), "wss-it/%s", names[i]);
        ck_assert_double_eq(harness_number(plain), harness_number(named));
    }
    /* It ends with the cycle, which it fills. */
    ck_assert_double_ge(harness_number("wss-it/duration-window"), 0.9);
    harness_assert_count("wss-it/memory-[rp]ss", 2 * fake_count("wss-it/memory-referenced"));
    /* Ten intervals, which the values must have as theirs. */
    ck_assert_uint_eq(fake_find("wss-it/memory-rss")->interval, NS_TO_CDTIME_T(1000000000));
}
END_TEST

START_TEST(reports_how_long_a_cycle_is)
{
    pid_t pid = wss_start(NULL, 8, 4);

    wss_set_interval(100);
    wss_begin(PATIENT "<Process \"it\">\nPid %d\nWindow 0.201\n" REFERENCED "</Process>", pid);
    wss_await("*", 5);
    ck_assert_uint_eq(fake_find("wss-it/memory-rss")->interval, NS_TO_CDTIME_T(300000000));
}
END_TEST

START_TEST(takes_the_interval_for_a_window)
{
    pid_t pid = wss_start(NULL, 8, 4);

    wss_set_interval(300);
    wss_begin(PATIENT "<Process \"it\">\nPid %d\n" REFERENCED "</Process>", pid);
    wss_await("*", 5);
    ck_assert_double_ge(harness_number("wss-it/duration-window"), 0.2);
    ck_assert_uint_eq(fake_find("wss-it/memory-rss")->interval, 0);
    wss_await("*", 5);
}
END_TEST

START_TEST(dispatches_nothing_twice)
{
    pid_t pid = wss_start(NULL, 8, 4);

    wss_begin(PATIENT "<Process \"it\">\nPid %d\nWindow 0.02\n" REFERENCED "</Process>", pid);
    wss_await("*", 5); /* the interval is of 10 s */
    for (int i = 0; i < 5; i++) {
        harness_read();
        harness_assert_count("*", 0);
    }
}
END_TEST

START_TEST(spreads_targets_over_the_interval)
{
    uint64_t first_ms = 0, last_ms = 0;
    int pids[4];

    for (int i = 0; i < 4; i++)
        pids[i] = wss_start(NULL, 4, 1);
    wss_set_interval(5000);
    wss_begin(PATIENT "<Process \"a\">\nPid %d\nWindow 0.02\n" REFERENCED "</Process>\n"
                      "<Process \"b\">\nPid %d\nWindow 0.02\n" REFERENCED "</Process>\n"
                      "<Process \"c\">\nPid %d\nWindow 0.02\n" REFERENCED "</Process>\n"
                      "<Process \"d\">\nPid %d\nWindow 0.02\n" REFERENCED "</Process>\n",
              pids[0], pids[1], pids[2], pids[3]);
    for (int count = 0; count < 4;) {
        wss_await("*/memory-referenced", 1);
        count += (int)fake_count("*/memory-referenced");
        last_ms = wss_now_ms();
        first_ms = first_ms != 0 ? first_ms : last_ms;
    }
    ck_assert_uint_ge(last_ms - first_ms, 500);
}
END_TEST

/* Labels that differ only beyond the length of a name of a series. */
START_TEST(names_targets_with_long_labels_apart)
{
    char label[401], first[DATA_MAX_NAME_LEN] = "";
    pid_t one = wss_start(NULL, 8, 4), other = wss_start(NULL, 8, 4);

    memset(label, 'x', sizeof(label) - 1);
    label[sizeof(label) - 1] = '\0';
    wss_set_interval(50);
    wss_begin(PATIENT "<Process \"%s1\">\nPid %d\nWindow 0.02\n" REFERENCED "</Process>\n"
                      "<Process \"%s2\">\nPid %d\nWindow 0.02\n" REFERENCED "</Process>",
              label, one, label, other);
    for (bool is_other = false; !is_other;) {
        size_t count;
        wss_await("*/memory-rss", 1);
        const struct fake_value *values = fake_values(&count);
        if (first[0] == '\0')
            snprintf(first, sizeof(first), "%s", values[0].instance);
        for (size_t i = 0; i < count; i++)
            is_other = is_other || strcmp(values[i].instance, first) != 0;
    }
    harness_assert_logs(0, NULL);
}
END_TEST

/* A long window of one target doesn't delay another. */
START_TEST(measures_others_while_a_window_lasts)
{
    pid_t one = wss_start(NULL, 8, 4), other = wss_start(NULL, 8, 4);

    wss_set_interval(100);
    wss_begin(PATIENT "<Process \"long\">\nPid %d\nWindow 3600\n" REFERENCED "</Process>\n"
                      "<Process \"short\">\nPid %d\nWindow 0.02\n" REFERENCED "</Process>",
              one, other);
    for (int i = 0; i < 3; i++)
        wss_await("wss-short/*", 5);
    harness_assert_count("wss-long/*", 0);
}
END_TEST

/* --- Processes come and go ------------------------------------------------ */

static void await_last_log(const char *containing)
{
    const uint64_t end_ms = wss_now_ms() + 20000;

    while (strstr(fake_log(fake_logs(0, NULL) - 1), containing) == NULL) {
        ck_assert_msg(wss_now_ms() < end_ms, "no \"%s\"", containing);
        harness_read();
        usleep(2000);
    }
}

START_TEST(follows_a_process_that_comes_and_goes)
{
    char name[32];

    snprintf(name, sizeof(name), "hr-%d", (int)getpid());
    wss_set_interval(50);
    wss_begin(PATIENT "<Process \"%s\">\nWindow 0.02\n" REFERENCED "</Process>", name);
    wss_await_log(1, "is not measured: there is no such process");
    for (size_t i = 0; i < 2; i++) {
        pid_t pid = wss_start(name, 8, 4);
        wss_await("*/memory-referenced", 1);
        wss_await_log(i + 1, "is being measured now");
        wss_end(pid, true);
        await_last_log("is not measured: there is no such process");
    }
    ck_assert_uint_eq(fake_logs(LOG_INFO, "is being measured now"), 2);
    /* Before the test waits for it, it may be found as a zombie. */
    harness_assert_logs(2 + fake_logs(LOG_NOTICE, "no such process") +
                            fake_logs(LOG_NOTICE, "a zombie"),
                        "wss: hr-");
}
END_TEST

START_TEST(goes_on_with_the_others_of_a_name)
{
    char name[32];

    snprintf(name, sizeof(name), "hr-%d", (int)getpid());
    pid_t pid = wss_start(name, 8, 4);
    wss_start(name, 8, 4);
    wss_set_interval(50);
    wss_begin(PATIENT "<Process \"%s\">\nWindow 0.02\n" REFERENCED "</Process>", name);
    wss_await("*/memory-rss", 1);
    wss_end(pid, true);
    for (int i = 0; i < 3; i++)
        wss_await("*/memory-rss", 1);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(reports_a_zombie)
{
    pid_t pid = wss_start(NULL, 1, 1);

    wss_end(pid, false);
    wss_set_interval(50);
    wss_begin(PATIENT "<Process \"it\">\nPid %d\n" REFERENCED "</Process>", pid);
    wss_await_log(1, "a zombie");
    for (int i = 0; i < 20; i++) {
        harness_read();
        usleep(10000);
    }
    /* It may still have been measured once. */
    ck_assert_uint_eq(fake_logs(LOG_NOTICE, "a zombie"), 1);
}
END_TEST

/* --- Limits --------------------------------------------------------------- */

/* The first of the values of which fake_find() finds the latest: there are several after a delay.
 */
static const struct fake_value *find_first(const char *identifier)
{
    size_t count;
    const struct fake_value *values = fake_values(&count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i].identifier, identifier) == 0)
            return &values[i];
    ck_abort_msg("there is no %s", identifier);
    return NULL;
}

/* At least what it has touched: a sanitizer's own memory is resident, too. */
static void assert_size_is_logged(const char *line, double least_mib)
{
    double mib = 0;

    const char *size = strstr(line, "not measured: ");
    ck_assert(size != NULL && sscanf(size, "not measured: %lf MiB", &mib) == 1);
    ck_assert_double_ge(mib, least_mib);
}

START_TEST(leaves_alone_what_is_too_large_until_it_has_shrunk)
{
    pid_t pid = wss_start(NULL, 256, 4);

    wss_set_interval(50);
    wss_begin(PATIENT "MaxRSS \"200M\"\n<Process \"it\">\nPid %d\nWindow 0.02\n" REFERENCED
                      "</Process>",
              pid);
    wss_await_log(1, " MiB are resident, above the limit of 200 MiB");
    assert_size_is_logged(fake_log(0), 256);
    uint64_t until_ms = wss_now_ms() + 500;
    while (wss_now_ms() < until_ms) {
        harness_read();
        harness_assert_count("*", 0);
        usleep(10000);
    }
    ck_assert_uint_eq(fake_logs(0, "Retrying in 0.1 s, then less and less often"), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 1);
    wss_shrink(pid);
    wss_await("wss-it/memory-rss", 1);
    /* It backed off; the values have the longer interval as long as that lasts. */
    ck_assert_uint_gt(find_first("wss-it/memory-rss")->interval, 0);
    wss_await_log(1, "info: wss: it is being measured now");
    while (fake_find("wss-it/memory-rss") == NULL || fake_find("wss-it/memory-rss")->interval != 0)
        wss_await("wss-it/memory-rss", 1);
    harness_assert_logs(2, "wss: it is ");
}
END_TEST

/* --- Overlap -------------------------------------------------------------- */

START_TEST(measures_a_process_for_one_target_only)
{
    char name[32];

    snprintf(name, sizeof(name), "hr-%d", (int)getpid());
    pid_t pid = wss_start(name, 8, 4);
    wss_set_interval(100);
    wss_begin(PATIENT "<Process \"one\">\nPid %d\nWindow 0.02\n" REFERENCED "</Process>\n"
                      "<Process \"%s\">\nWindow 0.02\n" REFERENCED "</Process>",
              pid, name);
    wss_await_log(1, "is not measured: one of its processes is also one of one, which is measured");
    for (int i = 0; i < 3; i++) {
        wss_await("wss-one/memory-rss", 1);
        harness_assert_count("wss-hr*", 0);
    }
    ck_assert_uint_eq(fake_logs(LOG_WARNING, NULL), 1);
    harness_assert_logs(1, "would clear the accessed bits");
}
END_TEST

START_TEST(measures_a_cgroup_or_one_within_it)
{
    struct groups *groups = groups_new();

    ck_assert_msg(groups != NULL, "no cgroup2 hierarchy that can be written to");
    groups_make(groups, "a");
    groups_make(groups, "a/b");
    groups_start_sleeper(groups, "a");
    groups_start_sleeper(groups, "a/b");
    wss_set_interval(100);
    wss_begin(PATIENT "<Cgroup \"%s/**\">\nInstance \"%%l\"\nWindow 0.02\n" REFERENCED "</Cgroup>",
              groups_path(groups));
    wss_await_log(1, "warning: wss: 1 cgroup is not measured, such as");
    ck_assert_uint_eq(fake_logs(0, "a/b: it lies within the cgroup"), 1);
    for (int i = 0; i < 3; i++) {
        wss_await("wss-a/memory-rss", 1);
        harness_assert_count("wss-b/*", 0);
    }
    harness_assert_logs(1, "choose one of them");
    groups_free(groups);
    /* Ended cgroups aren't logged, as nothing could be done about them. */
    wss_await_log(1, "are measured again, or gone");
    harness_assert_logs(1, "info: wss: the cgroups such as");
}
END_TEST

/* --- Methods -------------------------------------------------------------- */

START_TEST(reports_which_method_it_took)
{
    pid_t pid = wss_start(NULL, 8, 4);

    wss_set_interval(50);
    wss_begin(PATIENT "<Process \"it\">\nPid %d\nWindow 0.02\n</Process>", pid);
    for (int i = 0; i < 3; i++)
        wss_await("wss-it/*", 1);
    harness_assert_logs(1, "info: wss: it is measured with the ");
}
END_TEST

START_TEST(reports_once_which_method_it_took_for_a_pattern)
{
    struct groups *groups = groups_new();

    ck_assert_msg(groups != NULL, "no cgroup2 hierarchy that can be written to");
    groups_make(groups, "a");
    groups_make(groups, "b");
    groups_start_sleeper(groups, "a");
    groups_start_sleeper(groups, "b");
    wss_set_interval(100);
    wss_begin(PATIENT "<Cgroup \"%s/*\">\nInstance \"%%l\"\nWindow 0.02\n</Cgroup>",
              groups_path(groups));
    wss_await("wss-a/memory-referenced", 1);
    wss_await("wss-b/memory-referenced", 1);
    harness_assert_logs(1, "/* are measured with the ");
    groups_free(groups);
}
END_TEST

START_TEST(reports_that_the_kernel_lacks_a_method)
{
    tree_add_process(tree, &(struct tree_process){.pid = 1, .name = "init", .started = 5});
    wss_set_interval(20);
    harness_begin("<Process \"it\">\n" REFERENCED "</Process>\n<Process \"other\">\n" REFERENCED
                  "</Process>");
    wss_await_log(2, "CONFIG_PROC_PAGE_MONITOR=y. Retrying every 5 minutes.");
    for (int i = 0; i < 5; i++) {
        harness_read();
        usleep(20000);
    }
    ck_assert_uint_eq(fake_logs(LOG_ERR, NULL), 2);
    harness_assert_logs(2, "is not measured: ");
}
END_TEST

/* --- Windows that the kernel has no record of ----------------------------- */

#define LRU_GEN_FILE "sys/kernel/debug/lru_gen"

/* Generations that are 20 s, 40 s and 300 s old, and the files of the multi-gen LRU. */
static void add_generations(void)
{
    tree_write(tree, "sys/kernel/mm/lru_gen/enabled", "0x0007\n");
    tree_write(tree, LRU_GEN_FILE,
               "memcg     1 /\n node     0\n"
               "          1     300000        100         0 \n"
               "          2      40000         20         0 \n"
               "          3      20000          5         0 \n");
}

START_TEST(leaves_out_a_window_that_is_unknown)
{
    static const char *const plain[] = {"memory-referenced", "duration-window"};
    char name[64], named[64];

    add_generations();
    wss_set_interval(60000); /* one cycle: of a second one a read may see some windows only */
    harness_begin("<System>\nMethod \"lru_gen\"\nWindow 1 60 600\n</System>");
    wss_await("wss-system/memory-referenced", 1);
    harness_assert_count("*-1s", 0);
    harness_assert_count("*", 7 * fake_count("wss-system/memory-referenced"));
    for (size_t i = 0; i < COUNT(plain); i++) {
        snprintf(name, sizeof(name), "wss-system/%s", plain[i]);
        snprintf(named, sizeof(named), "wss-system/%s-600s", plain[i]);
        ck_assert_double_eq(harness_number(name), harness_number(named));
    }
    ck_assert_double_lt(harness_number("wss-system/memory-referenced-60s"),
                        harness_number("wss-system/memory-referenced"));
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(reports_if_all_windows_are_unknown)
{
    add_generations();
    wss_set_interval(50);
    harness_begin("<System>\nMethod \"lru_gen\"\nWindow 1 2\n</System>");
    wss_await_log(1, "notice: wss: system is not measured: the kernel created no generations");
    for (int i = 0; i < 10; i++) {
        harness_read();
        harness_assert_count("*", 0);
        usleep(20000);
    }
    harness_assert_logs(1, "within the last 2 s");
}
END_TEST

START_TEST(reports_that_the_file_of_a_method_is_gone)
{
    add_generations();
    wss_set_interval(50);
    harness_begin("<System>\nMethod \"lru_gen\"\nWindow 60\n</System>");
    wss_await("wss-system/memory-referenced", 1);
    tree_remove(tree, LRU_GEN_FILE);
    wss_await_log(1, "error: wss: system is not measured: ");
    harness_assert_logs(1, "Retrying every 5 minutes.");
}
END_TEST

/* --- Beginning and end ---------------------------------------------------- */

START_TEST(ends_at_once_though_a_window_is_long)
{
    pid_t pid = wss_start(NULL, 8, 4);

    wss_begin(PATIENT "<Process \"it\">\nPid %d\nWindow 0.02 3600\n" REFERENCED "</Process>", pid);
    wss_await("*-20ms", 2);
    uint64_t from_ms = wss_now_ms();
    ck_assert_int_eq(fake_shutdown(), 0);
    ck_assert_uint_lt(wss_now_ms() - from_ms, 30000); /* of an hour */
}
END_TEST

static size_t count_threads(void)
{
    DIR *directory = opendir("/proc/self/task");
    size_t count = 0;

    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

START_TEST(begins_once_though_asked_twice)
{
    pid_t pid = wss_start(NULL, 8, 4);

    wss_begin(PATIENT "<Process \"it\">\nPid %d\nWindow 0.02\n" REFERENCED "</Process>", pid);
    size_t threads = count_threads();
    ck_assert_int_eq(fake_init(), 0);
    ck_assert_uint_eq(fake_read_callbacks(), 1);
    ck_assert_uint_eq(count_threads(), threads);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(starts_nothing_if_there_is_nothing_to_measure)
{
    size_t threads = count_threads();

    ck_assert_int_eq(fake_init(), 0);
    ck_assert_int_eq(fake_init(), 0);
    ck_assert_uint_eq(fake_read_callbacks(), 0);
    ck_assert_uint_eq(count_threads(), threads);
    harness_assert_logs(1, "warning: wss: there is nothing to measure");
}
END_TEST

START_TEST(fails_to_begin_without_its_root_and_begins_later)
{
    char text[256];

    tree_add_directory(tree, "host");
    snprintf(text, sizeof(text),
             "<Plugin wss>\nRoot \"%s/host\"\n<Process \"a\">\n</Process>\n</Plugin>",
             tree_path(tree));
    ck_assert_int_eq(fake_configure(text), 0);
    tree_remove(tree, "host");
    ck_assert_int_ne(fake_init(), 0);
    ck_assert_uint_eq(fake_read_callbacks(), 0);
    snprintf(text, sizeof(text),
             "error: wss: can't use %s/host as root directory: ", tree_path(tree));
    harness_assert_logs(1, text);
    tree_add_directory(tree, "host");
    ck_assert_int_eq(fake_init(), 0);
    ck_assert_uint_eq(fake_read_callbacks(), 1);
}
END_TEST

static bool can_group(void)
{
    struct groups *tried = groups_new();

    if (tried != NULL)
        groups_free(tried);
    return tried != NULL;
}

static void add_tests_of_processes(TCase *tests)
{
    tcase_add_test(tests, publishes_what_a_process_touches);
    tcase_add_test(tests, names_series_after_several_windows);
    tcase_add_test(tests, reports_how_long_a_cycle_is);
    tcase_add_test(tests, takes_the_interval_for_a_window);
    tcase_add_test(tests, dispatches_nothing_twice);
    tcase_add_test(tests, spreads_targets_over_the_interval);
    tcase_add_test(tests, names_targets_with_long_labels_apart);
    tcase_add_test(tests, measures_others_while_a_window_lasts);
    tcase_add_test(tests, follows_a_process_that_comes_and_goes);
    tcase_add_test(tests, goes_on_with_the_others_of_a_name);
    tcase_add_test(tests, reports_a_zombie);
    tcase_add_test(tests, leaves_alone_what_is_too_large_until_it_has_shrunk);
    tcase_add_test(tests, measures_a_process_for_one_target_only);
    tcase_add_test(tests, reports_which_method_it_took);
    tcase_add_test(tests, ends_at_once_though_a_window_is_long);
    tcase_add_test(tests, begins_once_though_asked_twice);
}

/* Tests that can't run here are skipped, or fail where all are required. */
int main(void)
{
    TCase *tests = tcase_create("wss");
    const bool all = getenv("HEADROOM_REQUIRE_ALL") != NULL;
    const char *obstacle = all ? NULL : wss_obstacle();

    tcase_add_checked_fixture(tests, harness_set_up, wss_tear_down);
    tcase_set_timeout(tests, 90);
    tcase_add_test(tests, reports_that_the_kernel_lacks_a_method);
    tcase_add_test(tests, leaves_out_a_window_that_is_unknown);
    tcase_add_test(tests, reports_if_all_windows_are_unknown);
    tcase_add_test(tests, reports_that_the_file_of_a_method_is_gone);
    tcase_add_test(tests, starts_nothing_if_there_is_nothing_to_measure);
    tcase_add_test(tests, fails_to_begin_without_its_root_and_begins_later);
    if (obstacle == NULL)
        add_tests_of_processes(tests);
    else
        printf("# not tried: processes: %s\n", obstacle);
    if (obstacle == NULL && (all || can_group())) {
        tcase_add_test(tests, measures_a_cgroup_or_one_within_it);
        tcase_add_test(tests, reports_once_which_method_it_took_for_a_pattern);
    } else {
        puts("# not tried: cgroups: no cgroup2 hierarchy that can be written to, or no processes");
    }
    return run_suite("plugin wss", tests);
}
