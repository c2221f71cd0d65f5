/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_plugin_osnoise_kept_traces.c - the files with what was recorded around noises that
 * are notified. What is in them is the stand-in's; that of the kernel is in check_osnoise_traces.
 */
#include "plugin/osnoise/alert_harness.h"

#include <dirent.h>
#include <sys/stat.h>

#include "osnoise/kept_traces.h"
#include "support/suite.h"

static struct kept_traces *traces;
static struct hr_osnoise_reading reading;
static char state_path[PATH_MAX], folder[PATH_MAX];

static void set_up(void)
{
    alert_set_up();
    reading = (struct hr_osnoise_reading){.traces = alert_traces_there};
    snprintf(state_path, sizeof(state_path), "%s/state", tree_path(tree));
    snprintf(folder, sizeof(folder), "%s/state.traces", tree_path(tree));
    ck_assert_int_eq(kept_traces_open(state_path, 3, &traces), 0);
}

/* What waits is written. */
static void close_traces(void)
{
    kept_traces_close(traces);
    traces = NULL;
}

static void tear_down(void)
{
    close_traces();
    fake_forget_logs();
    alert_tear_down();
}

static const char *put(unsigned cpu)
{
    kept_traces_begin_reading(traces);
    return kept_traces_put(traces, &reading, cpu, "noise of 87 us on CPU 3");
}

static const char *text_of(const char *path)
{
    static char text[1024];
    FILE *file = fopen(path, "r");

    ck_assert_msg(file != NULL, "%s", path);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static mode_t mode_of(const char *path)
{
    struct stat stat_of;

    ck_assert_msg(lstat(path, &stat_of) == 0, "%s", path);
    return stat_of.st_mode & 07777;
}

/* Those that are no trace count, too. */
static unsigned count_files(void)
{
    DIR *directory = opendir(folder);
    unsigned count = 0;

    ck_assert_ptr_nonnull(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

START_TEST(a_file_has_what_was_recorded)
{
    const char *path = put(3);

    ck_assert_ptr_nonnull(path);
    char copy[PATH_MAX];
    snprintf(copy, sizeof(copy), "%s", path);
    close_traces();
    ck_assert_int_eq(strncmp(copy, folder, strlen(folder)), 0);
    ck_assert_ptr_nonnull(strstr(copy, "Z-cpu3.txt"));
    ck_assert_str_eq(text_of(copy), "# noise of 87 us on CPU 3\n#\na trace of CPU 3\n");
    ck_assert_uint_eq(mode_of(copy), 0600);
    ck_assert_uint_eq(mode_of(folder), 0700);
    ck_assert_uint_eq(count_files(), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 0);
}
END_TEST

START_TEST(the_oldest_are_removed)
{
    char paths[5][PATH_MAX];

    tree_write(tree, "state.traces/notes.txt", "%s", "mine");
    tree_write(tree, "state.traces/20260101T000000.000Z-cpu9-incident.txt", "%s", "mine");
    tree_write(tree, "state.traces/20260101T000000.000Z-cpu9.txt.old", "%s", "mine");
    tree_write(tree, "state.traces/20260101T000000.000Z-cpu9.txt", "%s", "old");
    tree_write(tree, "state.traces/20260101T000000.000Z-cpu9.txt.new", "%s", "older");
    for (unsigned i = 0; i < 5; i++)
        snprintf(paths[i], sizeof(paths[i]), "%s", put(i));
    close_traces();
    ck_assert_uint_eq(count_files(), 3 + 3);
    for (unsigned i = 0; i < 5; i++)
        ck_assert_int_eq(access(paths[i], F_OK) == 0, i >= 2);
    ck_assert_uint_eq(fake_logs(0, NULL), 0);
}
END_TEST

START_TEST(one_reading_has_half_of_them)
{
    ck_assert_ptr_nonnull(put(1));
    ck_assert_ptr_nonnull(kept_traces_put(traces, &reading, 2, ""));
    ck_assert_ptr_null(kept_traces_put(traces, &reading, 3, ""));
    ck_assert_ptr_nonnull(put(4));
    close_traces();
    ck_assert_uint_eq(count_files(), 3);
}
END_TEST

START_TEST(without_a_trace_there_is_no_file)
{
    reading.traces = NULL;
    ck_assert_ptr_null(put(3));
    reading.traces = alert_traces_there;
    ck_assert_ptr_null(kept_traces_put(NULL, &reading, 3, ""));
    close_traces();
    ck_assert_int_ne(access(folder, F_OK), 0);
}
END_TEST

/* Others than its user could read them, or have them written elsewhere. */
static void refuse(void)
{
    put(3);
    put(4);
    close_traces();
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "osnoise: the traces of noises can't be kept in "), 1);
    ck_assert_uint_eq(fake_logs(0, "it isn't a folder of collectd's user alone"), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 1);
}

START_TEST(a_link_is_refused)
{
    char elsewhere[PATH_MAX];

    tree_add_directory(tree, "elsewhere");
    snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", tree_path(tree));
    ck_assert_int_eq(symlink(elsewhere, folder), 0);
    refuse();
    ck_assert_uint_eq(count_files(), 0);
    unlink(folder);
}
END_TEST

START_TEST(a_folder_of_others_is_refused)
{
    tree_add_directory(tree, "state.traces");
    ck_assert_int_eq(chmod(folder, 0770), 0);
    refuse();
    ck_assert_uint_eq(count_files(), 0);
}
END_TEST

START_TEST(a_folder_that_cannot_be_made_is_reported)
{
    close_traces();
    snprintf(state_path, sizeof(state_path), "%s/none/state", tree_path(tree));
    ck_assert_int_eq(kept_traces_open(state_path, 3, &traces), 0);
    put(3);
    close_traces();
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "No such file or directory; have collectd's user"), 1);
}
END_TEST

START_TEST(that_it_works_again_is_reported)
{
    tree_write(tree, "state.traces", "%s", "a file");
    ck_assert_ptr_nonnull(put(3));
    for (int i = 0; i < 1000 && fake_logs(0, NULL) == 0; i++)
        usleep(10000);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "can't be kept"), 1);
    tree_remove(tree, "state.traces");
    ck_assert_ptr_nonnull(put(3));
    close_traces();
    ck_assert_uint_eq(fake_logs(LOG_INFO, "traces of noises are being kept again"), 1);
    ck_assert_uint_eq(count_files(), 1);
}
END_TEST

/* --- With alerts ---------------------------------------------------------- */

START_TEST(a_notification_has_the_path)
{
    alert_options.rule.kept_traces = 2;
    alert_traces = alert_traces_there;
    restart_alert();
    take_one(3, 87);
    ck_assert_uint_eq(fake_notifications(), 1);
    char path[PATH_MAX], expected[1024];
    snprintf(path, sizeof(path), "%s", meta_text(last(), "Trace"));
    snprintf(expected, sizeof(expected), "# %s\n#\na trace of CPU 3\n", last()->message);
    take_one(3, 88); /* which isn't notified */
    restart_alert();
    ck_assert_str_eq(text_of(path), expected);
    ck_assert_uint_eq(count_files(), 1);
}
END_TEST

START_TEST(without_the_option_there_is_no_path)
{
    alert_traces = alert_traces_there;
    take_one(3, 87);
    ck_assert_ptr_null(meta(last(), "Trace"));
    alert_options.rule.kept_traces = 2;
    alert_traces = NULL;
    restart_alert();
    take_one(4, 87);
    ck_assert_uint_eq(fake_notifications(), 2);
    ck_assert_ptr_null(meta(last(), "Trace"));
    ck_assert_int_ne(access(folder, F_OK), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("kept traces");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_file_has_what_was_recorded);
    tcase_add_test(tests, the_oldest_are_removed);
    tcase_add_test(tests, one_reading_has_half_of_them);
    tcase_add_test(tests, without_a_trace_there_is_no_file);
    tcase_add_test(tests, a_link_is_refused);
    tcase_add_test(tests, a_folder_of_others_is_refused);
    tcase_add_test(tests, a_folder_that_cannot_be_made_is_reported);
    tcase_add_test(tests, that_it_works_again_is_reported);
    tcase_add_test(tests, a_notification_has_the_path);
    tcase_add_test(tests, without_the_option_there_is_no_path);
    return run_suite("plugin osnoise kept traces", tests);
}
