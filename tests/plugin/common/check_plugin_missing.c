/* SPDX-License-Identifier: MIT */
/*
 * plugin/common/check_plugin_missing.c - alarms of thresholds whose values don't come any more end,
 * once and with the reason; what has none, or is another plugin's, is left alone.
 */
#include <check.h>

#include "common/missing.h"
#include "common/submit.h"
#include "support/fake_cache.h"
#include "support/fake_collectd.h"
#include "support/suite.h"
#include "support/tree.h"
#include "utils/common/common.h"
#include "utils_cache.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static struct tree *tree;

static void start(time_t time)
{
    fake_start_parts();
    fake_set_base_dir(tree_path(tree));
    fake_set_time(TIME_T_TO_CDTIME_T(time));
    missing_register("psi");
    missing_end_overdue_alarms(0);
}

static void restart(void)
{
    missing_close();
    fake_stop();
    start(3000);
}

static void set_up(void)
{
    tree = tree_new();
    start(1000);
}

static void tear_down(void)
{
    missing_close();
    fake_stop();
    tree_free(tree);
}

static value_list_t series_of(const char *plugin, const char *type, const char *type_instance)
{
    value_list_t series = VALUE_LIST_INIT;

    sstrncpy(series.host, "web1", sizeof(series.host));
    sstrncpy(series.plugin, plugin, sizeof(series.plugin));
    sstrncpy(series.plugin_instance, "a_b", sizeof(series.plugin_instance));
    sstrncpy(series.type, type, sizeof(series.type));
    sstrncpy(series.type_instance, type_instance, sizeof(series.type_instance));
    series.time = TIME_T_TO_CDTIME_T(1000);
    return series;
}

static const struct {
    const char *plugin, *type;
    int state;
    size_t ends;
} cases[] = {
    {"psi", "percent", STATE_WARNING, 1}, {"psi", "percent", STATE_ERROR, 1},
    {"psi", "percent", STATE_OKAY, 0},    {"psi", "percent", STATE_UNKNOWN, 0},
    {"psi", "percent", STATE_MISSING, 0}, {"psi", "no_such_type", STATE_WARNING, 0},
    {"cpu", "percent", STATE_WARNING, 0}, {"psi2", "percent", STATE_WARNING, 0},
};

START_TEST(ends_alarms_of_its_plugin)
{
    const value_list_t series = series_of(cases[_i].plugin, cases[_i].type, "cpu-full");

    ck_assert_int_eq(fake_miss(&series, cases[_i].state), 0);
    ck_assert_uint_eq(fake_notifications(), cases[_i].ends);
}
END_TEST

static const char *text_of(const notification_t *notice, const char *name)
{
    for (const notification_meta_t *meta = notice->meta; meta != NULL; meta = meta->next)
        if (strcmp(meta->name, name) == 0)
            return meta->nm_value.nm_string;
    return "";
}

START_TEST(says_which_and_why)
{
    const value_list_t series = series_of("psi", "duration", "to_trouble");

    fake_set_time(TIME_T_TO_CDTIME_T(1021));
    fake_miss(&series, STATE_WARNING);
    const notification_t *notice = fake_notification(0);
    ck_assert_int_eq(notice->severity, NOTIF_OKAY);
    ck_assert(notice->time >= TIME_T_TO_CDTIME_T(1021));
    ck_assert_str_eq(notice->host, "web1");
    ck_assert_str_eq(notice->plugin, "psi");
    ck_assert_str_eq(notice->plugin_instance, "a_b");
    ck_assert_str_eq(notice->type, "duration");
    ck_assert_str_eq(notice->type_instance, "to_trouble");
    ck_assert_str_eq(notice->message, "to_trouble: no longer watched: no value has come for 21 s");
    ck_assert_str_eq(text_of(notice, "DataSource"), "seconds");
    ck_assert_str_eq(text_of(notice, "NoLongerWatched"), "no value has come for 21 s");
}
END_TEST

static const struct {
    const char *cached;
    time_t cached_s;
    bool is_one_of_several;
} others[] = {
    {"web1/psi-a_b/percent-cpu-full", 1020, true},
    {"web1/psi-a_b/percent-cpu-full", 1015, false},
    {"web1/psi-a_bc/percent-cpu-full", 1020, false},
    {"web2/psi-a_b/percent-cpu-full", 1020, false},
};

START_TEST(says_that_others_of_the_group_are_known)
{
    value_list_t series = series_of("psi", "duration", "to_trouble");

    series.interval = TIME_T_TO_CDTIME_T(10);
    fake_cache_set_time(others[_i].cached, TIME_T_TO_CDTIME_T(others[_i].cached_s));
    fake_set_time(TIME_T_TO_CDTIME_T(1021));
    fake_miss(&series, STATE_WARNING);
    ck_assert_str_eq(text_of(fake_notification(0), "NoLongerWatched"),
                     others[_i].is_one_of_several
                         ? "its value isn't known now, though others of the same cgroup or CPU are"
                         : "no value has come for 21 s");
}
END_TEST

/* What the plugin has read last, which becomes no older, and what of it, or of others, has come to
 * the cache; in seconds. The series had its last value at 1000, and is to have one in each 10. */
static const struct {
    const char *host;
    time_t read;
    const char *cached; /* NULL: no other series is */
    time_t cached_s;
    size_t ends;
} lateness[] = {
    {"host.example", 1010, NULL, 0, 0},
    {"host.example", 1030, NULL, 0, 0},
    {"host.example", 1030, "host.example/psi-a/percent-cpu-full", 1014, 0},
    {"host.example", 1030, "host.example/psi-a/percent-cpu-full", 1015, 1},
    {"host.example", 1030, "host.example/psi/percent-cpu-full", 1030, 1},
    {"host.example", 1030, "host.example/psi2-a/percent-cpu-full", 1030, 0},
    {"host.example", 1030, "host.example2/psi-a/percent-cpu-full", 1030, 0},
    {"another", 1030, NULL, 0, 1},
    {"another", 1030, "host.example/psi-a/percent-cpu-full", 1009, 0},
    {"another", 1030, "host.example/psi-a/percent-cpu-full", 1010, 1},
};

static void submit(time_t time)
{
    const struct submission read = {
        .plugin = "psi", .instance = "b", .time = TIME_T_TO_CDTIME_T(time)};

    submit_gauge(&read, "percent", "cpu-full", 1);
}

/* What was read until then has come to the cache. */
static void come(time_t time)
{
    submit(time);
    fake_cache_set_time("host.example/psi-b/percent-cpu-full", TIME_T_TO_CDTIME_T(time));
}

static void check_at(time_t time)
{
    fake_set_time(TIME_T_TO_CDTIME_T(time));
    missing_end_overdue_alarms(0);
}

/* As threshold does; a FAILURE without a data source is of values that are missing. */
static void notify(const value_list_t *series, int severity, const char *data_source)
{
    notification_t notice = {.severity = severity, .time = series->time};

    if (severity == NOTIF_FAILURE && data_source == NULL)
        sstrncpy(notice.message, "web1/psi-a_b/x has not been updated for 20.000 seconds.",
                 sizeof(notice.message));
    sstrncpy(notice.host, series->host, sizeof(notice.host));
    sstrncpy(notice.plugin, series->plugin, sizeof(notice.plugin));
    sstrncpy(notice.plugin_instance, series->plugin_instance, sizeof(notice.plugin_instance));
    sstrncpy(notice.type, series->type, sizeof(notice.type));
    sstrncpy(notice.type_instance, series->type_instance, sizeof(notice.type_instance));
    if (data_source != NULL)
        plugin_notification_meta_add_string(&notice, "DataSource", data_source);
    plugin_dispatch_notification(&notice);
    plugin_notification_meta_free(notice.meta);
    fake_forget_notifications();
}

static value_list_t series_on(const char *host, time_t time)
{
    value_list_t series = series_of("psi", "percent", "cpu-full");

    sstrncpy(series.host, host, sizeof(series.host));
    series.time = TIME_T_TO_CDTIME_T(time);
    series.interval = TIME_T_TO_CDTIME_T(10);
    return series;
}

START_TEST(an_alarm_lasts_while_values_wait)
{
    const value_list_t series = series_on(lateness[_i].host, 1000);

    notify(&series, NOTIF_WARNING, "value");
    submit(lateness[_i].read);
    if (lateness[_i].cached != NULL)
        fake_cache_set_time(lateness[_i].cached, TIME_T_TO_CDTIME_T(lateness[_i].cached_s));
    fake_set_time(TIME_T_TO_CDTIME_T(1031));
    fake_miss(&series, STATE_WARNING);
    ck_assert_uint_eq(fake_notifications(), lateness[_i].ends);
}
END_TEST

START_TEST(it_ends_once_others_have_values_again)
{
    const value_list_t series = series_on("host.example", 2000);

    notify(&series, NOTIF_WARNING, "value");
    come(2009);
    submit(2040);
    fake_miss(&series, STATE_WARNING);
    check_at(2040);
    ck_assert_uint_eq(fake_notifications(), 0);
    come(2050);
    check_at(2051);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_str_eq(text_of(fake_notification(0), "NoLongerWatched"),
                     "no value has come for 51 s");
    check_at(2061);
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

START_TEST(it_lasts_if_it_has_values_then)
{
    const value_list_t series = series_on("host.example", 2100);

    notify(&series, NOTIF_WARNING, "value");
    submit(2140);
    fake_miss(&series, STATE_WARNING);
    fake_cache_set("host.example/psi-a_b/percent-cpu-full", 99);
    come(2150);
    check_at(2151);
    ck_assert_uint_eq(fake_notifications(), 0);
}
END_TEST

/* A machine may have no CPU left for reads. */
START_TEST(it_lasts_while_nothing_is_read)
{
    const value_list_t series = series_on("host.example", 2200);

    notify(&series, NOTIF_WARNING, "value");
    come(2200);
    check_at(2200);
    fake_set_time(TIME_T_TO_CDTIME_T(2231));
    fake_miss(&series, STATE_WARNING);
    check_at(2240);
    ck_assert_uint_eq(fake_notifications(), 0);
    check_at(2250);
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

/* Then the cache has none of the plugin's. */
START_TEST(the_only_series_ends_as_reads_go_on)
{
    const value_list_t series = series_on("host.example", 2300);

    notify(&series, NOTIF_WARNING, "value");
    submit(2300);
    check_at(2300);
    fake_set_time(TIME_T_TO_CDTIME_T(2320));
    fake_miss(&series, STATE_WARNING);
    ck_assert_uint_eq(fake_notifications(), 0);
    for (time_t time = 2330; time <= 2360; time += 10)
        check_at(time);
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

/* A handler before the plugin's takes long, so that it isn't told of the alarm. */
START_TEST(it_lasts_though_its_notification_comes_late)
{
    const value_list_t series = series_on("host.example", 2400);

    submit(2440);
    fake_miss(&series, STATE_WARNING);
    ck_assert_uint_eq(fake_notifications(), 0);
    notify(&series, NOTIF_WARNING, "value");
    come(2450);
    check_at(2451);
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

/* --- First values --------------------------------------------------------- */

#define NONE -1

/* What is notified before, and what state the first value has, and the second if it was asked for.
 */
static const struct {
    const char *plugin, *type;
    int severities[2];
    bool is_restarted;
    int first;
    bool asks;
    int second;
} states[] = {
    {"psi", "percent", {NONE, NONE}, false, STATE_OKAY, false, 0},
    {"psi", "derive", {NONE, NONE}, false, STATE_OKAY, false, 0},
    {"cpu", "percent", {NONE, NONE}, false, STATE_UNKNOWN, false, 0},
    {"psi", "percent", {NOTIF_WARNING, NONE}, false, STATE_WARNING, false, 0},
    {"psi", "percent", {NOTIF_WARNING, NOTIF_FAILURE}, false, STATE_ERROR, false, 0},
    {"psi", "percent", {NOTIF_FAILURE, NOTIF_WARNING}, false, STATE_WARNING, false, 0},
    {"psi", "percent", {NOTIF_FAILURE, NOTIF_OKAY}, false, STATE_OKAY, false, 0},
    {"psi", "derive", {NOTIF_FAILURE, NONE}, false, STATE_OKAY, true, STATE_ERROR},
    {"psi", "percent", {NONE, NONE}, true, STATE_OKAY, false, 0},
    {"psi", "percent", {NOTIF_WARNING, NONE}, true, STATE_UNKNOWN, false, 0},
    {"psi", "percent", {NOTIF_WARNING, NOTIF_OKAY}, true, STATE_OKAY, false, 0},
    {"psi", "derive", {NOTIF_WARNING, NONE}, true, STATE_OKAY, true, STATE_UNKNOWN},
};

/* threshold notifies of an OKAY of what it knows nothing of. */
START_TEST(a_first_value_has_a_state)
{
    const value_list_t series = series_of(states[_i].plugin, states[_i].type, "x");
    int state = STATE_UNKNOWN;

    for (size_t i = 0; i < COUNT(states[_i].severities); i++)
        if (states[_i].severities[i] != NONE)
            notify(&series, states[_i].severities[i], "value");
    if (states[_i].is_restarted)
        restart();
    ck_assert_int_eq(fake_cache_event(CE_VALUE_NEW, &series, &state), states[_i].asks);
    ck_assert_int_eq(state, states[_i].first);
    if (!states[_i].asks)
        return;
    fake_cache_event(CE_VALUE_UPDATE, &series, &state);
    ck_assert_int_eq(state, states[_i].second);
    state = STATE_WARNING; /* as threshold has found */
    fake_cache_event(CE_VALUE_UPDATE, &series, &state);
    ck_assert_int_eq(state, STATE_WARNING);
}
END_TEST

/* Receivers may have alarms then. */
START_TEST(threshold_notifies_where_alarms_are_not_known)
{
    const value_list_t series = series_of("psi", "percent", "x");
    int state = STATE_UNKNOWN;

    tree_write(tree, "headroom-psi.thresholds", "nonsense\n");
    restart();
    fake_cache_event(CE_VALUE_NEW, &series, &state);
    ck_assert_int_eq(state, STATE_UNKNOWN);
    missing_close();
    fake_set_base_dir("/there/is/none");
    fake_cache_event(CE_VALUE_NEW, &series, &state);
    ck_assert_int_eq(state, STATE_UNKNOWN);
}
END_TEST

/* Once, not at each value. */
START_TEST(it_notifies_once_of_a_counter_whose_alarms_are_not_known)
{
    const value_list_t series = series_of("psi", "derive", "x");
    int state = STATE_UNKNOWN;

    tree_write(tree, "headroom-psi.thresholds", "nonsense\n");
    restart();
    ck_assert_int_eq(fake_cache_event(CE_VALUE_NEW, &series, &state), 0);
    ck_assert_int_eq(state, STATE_UNKNOWN);
    state = STATE_OKAY; /* as threshold has found */
    for (int i = 0; i < 2; i++) {
        fake_cache_event(CE_VALUE_UPDATE, &series, &state);
        ck_assert_int_eq(state, STATE_OKAY);
    }
}
END_TEST

/* Of a gauge and a counter, in the same run and in the next one. */
START_TEST(it_notifies_of_values_that_were_missing)
{
    const value_list_t series = series_of("psi", _i % 2 ? "derive" : "percent", "x");
    int state = STATE_UNKNOWN;

    notify(&series, NOTIF_FAILURE, NULL);
    if (_i >= 2)
        restart();
    fake_miss(&series, STATE_UNKNOWN);
    check_at(9000);
    check_at(9010);
    ck_assert_uint_eq(fake_notifications(), 0);
    ck_assert_int_eq(fake_cache_event(CE_VALUE_NEW, &series, &state), _i % 2);
    if (_i % 2)
        fake_cache_event(CE_VALUE_UPDATE, &series, &state);
    ck_assert_int_eq(state, STATE_UNKNOWN);
    notify(&series, NOTIF_OKAY, "value");
    fake_cache_event(CE_VALUE_NEW, &series, &state);
    ck_assert_int_eq(state, STATE_OKAY);
}
END_TEST

/* As it is one series to receivers, whose end says so. */
START_TEST(an_alarm_ends_though_its_values_were_notified_as_missing)
{
    const value_list_t series = series_of("psi", "percent", "x");
    int state = STATE_UNKNOWN;

    notify(&series, NOTIF_WARNING, "value");
    notify(&series, NOTIF_FAILURE, NULL);
    fake_cache_event(CE_VALUE_NEW, &series, &state);
    ck_assert_int_eq(state, STATE_UNKNOWN);
    fake_miss(&series, STATE_UNKNOWN);
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

START_TEST(it_keeps_so_many_that_are_missing)
{
    value_list_t series = series_of("psi", "percent", "x");
    int first = STATE_UNKNOWN, second = STATE_UNKNOWN;

    for (int i = 0; i < 1001; i++) {
        snprintf(series.plugin_instance, sizeof(series.plugin_instance), "%d", i);
        notify(&series, NOTIF_FAILURE, NULL);
    }
    snprintf(series.plugin_instance, sizeof(series.plugin_instance), "0");
    fake_cache_event(CE_VALUE_NEW, &series, &first);
    snprintf(series.plugin_instance, sizeof(series.plugin_instance), "1");
    fake_cache_event(CE_VALUE_NEW, &series, &second);
    ck_assert_int_eq(first, STATE_OKAY);
    ck_assert_int_eq(second, STATE_UNKNOWN);
}
END_TEST

/* --- Over a restart ------------------------------------------------------- */

/* What is notified before the restart, and whether an alarm is left then. */
static const struct {
    int severities[2];
    const char *data_source;
    bool is_left;
} left[] = {
    {{NOTIF_WARNING, NOTIF_FAILURE}, "value", true},
    {{NOTIF_FAILURE, NOTIF_WARNING}, "value", true},
    {{NOTIF_WARNING, NOTIF_OKAY}, "value", false},
    {{NOTIF_OKAY, NOTIF_OKAY}, "value", false},
    {{NOTIF_WARNING, NOTIF_WARNING}, NULL, false},
};

/* It is removed before threshold has judged it again. */
START_TEST(ends_an_alarm_of_the_run_before)
{
    const value_list_t series = series_of("psi", "percent", "cpu-full");

    for (size_t i = 0; i < COUNT(left[_i].severities); i++)
        notify(&series, left[_i].severities[i], left[_i].data_source);
    restart();
    fake_miss(&series, STATE_UNKNOWN);
    ck_assert_uint_eq(fake_notifications(), left[_i].is_left);
    fake_miss(&series, STATE_UNKNOWN);
    ck_assert_uint_eq(fake_notifications(), left[_i].is_left);
}
END_TEST

static value_list_t series_here(const char *type_instance)
{
    value_list_t series = series_of("psi", "percent", type_instance);

    sstrncpy(series.host, hostname_g, sizeof(series.host));
    return series;
}

START_TEST(ends_one_whose_series_never_comes_back)
{
    const value_list_t series = series_here("cpu-full"), other = series_here("io-full");

    notify(&series, NOTIF_FAILURE, "value");
    notify(&other, NOTIF_WARNING, "value");
    restart();
    fake_cache_set("host.example/psi-a_b/percent-io-full", 99);
    fake_cache_set_time("host.example/psi-a_b/percent-io-full", 1); /* long ago */
    come(3029);
    check_at(3041);
    ck_assert_uint_eq(fake_notifications(), 0);
    come(3031);
    check_at(3051);
    ck_assert_uint_eq(fake_notifications(), 1);
    const notification_t *notice = fake_notification(0);
    ck_assert_int_eq(notice->severity, NOTIF_OKAY);
    ck_assert_str_eq(notice->host, "host.example");
    ck_assert_str_eq(notice->plugin_instance, "a_b");
    ck_assert_str_eq(notice->message, "cpu-full: no longer watched: no value has come for 51 s");
    ck_assert_str_eq(text_of(notice, "DataSource"), "value");
    restart();
    come(3021);
    fake_miss(&series, STATE_UNKNOWN);
    ck_assert_uint_eq(fake_notifications(), 0);
    fake_miss(&other, STATE_UNKNOWN);
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

START_TEST(waits_for_series_with_longer_intervals)
{
    const value_list_t series = series_here("cpu-full");

    notify(&series, NOTIF_FAILURE, "value");
    restart();
    come(3129);
    missing_end_overdue_alarms(TIME_T_TO_CDTIME_T(100));
    ck_assert_uint_eq(fake_notifications(), 0);
    come(3131);
    missing_end_overdue_alarms(TIME_T_TO_CDTIME_T(100));
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

/* As of a host that sends its values to a central collectd, which was restarted. */
START_TEST(waits_for_series_of_other_hosts)
{
    const value_list_t series = series_of("psi", "percent", "cpu-full");

    notify(&series, NOTIF_FAILURE, "value");
    restart();
    come(9000);
    check_at(9000);
    ck_assert_uint_eq(fake_notifications(), 0);
    fake_miss(&series, STATE_UNKNOWN);
    ck_assert_uint_eq(fake_notifications(), 1);
}
END_TEST

/* A host that was taken out of service meanwhile; the file forgets it, too. */
START_TEST(ends_one_of_another_host_after_a_day)
{
    const value_list_t series = series_of("psi", "percent", "cpu-full");
    const time_t due = 3000 + 24 * 60 * 60;

    notify(&series, NOTIF_FAILURE, "value");
    restart();
    come(due - 1);
    check_at(due - 1);
    ck_assert_uint_eq(fake_notifications(), 0);
    come(due + 1);
    check_at(due + 1);
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_str_eq(fake_notification(0)->host, "web1");
    restart();
    fake_miss(&series, STATE_UNKNOWN);
    ck_assert_uint_eq(fake_notifications(), 0);
}
END_TEST

START_TEST(other_plugins_alarms_are_not_its_own)
{
    const value_list_t series = series_of("wss", "percent", "cpu-full");
    char path[PATH_MAX];

    notify(&series, NOTIF_FAILURE, "value");
    restart();
    fake_set_time(TIME_T_TO_CDTIME_T(9000));
    missing_end_overdue_alarms(0);
    ck_assert_uint_eq(fake_notifications(), 0);
    missing_close(); /* then all is written */
    snprintf(path, sizeof(path), "%s/headroom-psi.thresholds", tree_path(tree));
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_damaged_file_is_reported)
{
    tree_write(tree, "headroom-psi.thresholds", "nonsense\n");
    restart();
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "can't be used: it isn't what this plugin writes. "
                                             "Alarms of thresholds whose groups have gone"),
                      1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("ends");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, ends_alarms_of_its_plugin, 0, COUNT(cases));
    tcase_add_test(tests, says_which_and_why);
    tcase_add_loop_test(tests, says_that_others_of_the_group_are_known, 0,
                        sizeof(others) / sizeof(others[0]));
    tcase_add_loop_test(tests, an_alarm_lasts_while_values_wait, 0, COUNT(lateness));
    tcase_add_test(tests, it_ends_once_others_have_values_again);
    tcase_add_test(tests, it_lasts_if_it_has_values_then);
    tcase_add_test(tests, it_lasts_while_nothing_is_read);
    tcase_add_test(tests, the_only_series_ends_as_reads_go_on);
    tcase_add_test(tests, it_lasts_though_its_notification_comes_late);
    tcase_add_loop_test(tests, a_first_value_has_a_state, 0, COUNT(states));
    tcase_add_test(tests, threshold_notifies_where_alarms_are_not_known);
    tcase_add_test(tests, it_notifies_once_of_a_counter_whose_alarms_are_not_known);
    tcase_add_loop_test(tests, it_notifies_of_values_that_were_missing, 0, 4);
    tcase_add_test(tests, an_alarm_ends_though_its_values_were_notified_as_missing);
    tcase_add_test(tests, it_keeps_so_many_that_are_missing);
    tcase_add_loop_test(tests, ends_an_alarm_of_the_run_before, 0, COUNT(left));
    tcase_add_test(tests, ends_one_whose_series_never_comes_back);
    tcase_add_test(tests, waits_for_series_with_longer_intervals);
    tcase_add_test(tests, waits_for_series_of_other_hosts);
    tcase_add_test(tests, ends_one_of_another_host_after_a_day);
    tcase_add_test(tests, other_plugins_alarms_are_not_its_own);
    tcase_add_test(tests, a_damaged_file_is_reported);
    return run_suite("plugin missing", tests);
}
