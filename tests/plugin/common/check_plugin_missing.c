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
#include "utils/common/common.h"
#include "utils_cache.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void set_up(void)
{
    fake_start_parts();
    missing_end_alarms("psi");
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

/* What the plugin has read last, which becomes no older, and what of it, or of others, has come to
 * the cache; in seconds. */
static const struct {
    const char *host;
    time_t read;
    const char *cached; /* NULL: no other series is */
    time_t cached_s;
    const char *reason;
} lateness[] = {
    {"host.example", 1010, NULL, 0, "no value has come for 31 s"},
    {"host.example", 1030, NULL, 0, "collectd is 30 s behind, as its values wait for its writers"},
    {"host.example", 1030, "host.example/psi-a/percent-cpu-full", 1010,
     "collectd is 20 s behind, as its values wait for its writers"},
    {"host.example", 1030, "host.example/psi-a/percent-cpu-full", 1020,
     "no value has come for 31 s"},
    {"host.example", 1030, "host.example/psi/percent-cpu-full", 1030, "no value has come for 31 s"},
    {"host.example", 1030, "host.example/psi2-a/percent-cpu-full", 1030,
     "collectd is 30 s behind, as its values wait for its writers"},
    {"host.example", 1030, "host.example2/psi-a/percent-cpu-full", 1030,
     "collectd is 30 s behind, as its values wait for its writers"},
    {"another", 1030, NULL, 0, "no value has come for 31 s"},
};

START_TEST(says_that_collectd_is_behind)
{
    const struct submission read = {
        .plugin = "psi", .instance = "b", .time = TIME_T_TO_CDTIME_T(lateness[_i].read)};
    value_list_t series = series_of("psi", "percent", "cpu-full");

    sstrncpy(series.host, lateness[_i].host, sizeof(series.host));
    series.interval = TIME_T_TO_CDTIME_T(10);
    submit_gauge(&read, "percent", "cpu-full", 1);
    if (lateness[_i].cached != NULL)
        fake_cache_set_time(lateness[_i].cached, TIME_T_TO_CDTIME_T(lateness[_i].cached_s));
    fake_set_time(TIME_T_TO_CDTIME_T(1031));
    fake_miss(&series, STATE_WARNING);
    ck_assert_str_eq(text_of(fake_notification(0), "NoLongerWatched"), lateness[_i].reason);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("ends");

    tcase_add_checked_fixture(tests, set_up, fake_stop);
    tcase_add_loop_test(tests, ends_alarms_of_its_plugin, 0, COUNT(cases));
    tcase_add_test(tests, says_which_and_why);
    tcase_add_loop_test(tests, says_that_collectd_is_behind, 0, COUNT(lateness));
    return run_suite("plugin missing", tests);
}
