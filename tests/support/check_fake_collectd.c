/* SPDX-License-Identifier: MIT */
/*
 * support/check_fake_collectd.c - the stand-in daemon itself: what it rejects, and how it reads
 * configuration. Values are handed to it as a plugin would.
 */
#include "support/fake_collectd.h"

#include <check.h>
#include <math.h>

#include "support/fake_config.h"
#include "support/suite.h"
#include "utils/common/common.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- Values --------------------------------------------------------------- */

static void set_up(void)
{
    fake_start("psi"); /* any plugin: it is never called */
}

static void tear_down(void)
{
    fake_shutdown();
    fake_stop();
}

static int dispatch(const char *plugin, const char *instance, const char *type,
                    const char *type_instance, size_t count, value_t value, cdtime_t time)
{
    value_t values[2] = {value, value};
    value_list_t list = VALUE_LIST_INIT;

    list.values = values;
    list.values_len = count;
    list.time = time;
    sstrncpy(list.plugin, plugin, sizeof(list.plugin));
    sstrncpy(list.plugin_instance, instance, sizeof(list.plugin_instance));
    sstrncpy(list.type, type, sizeof(list.type));
    sstrncpy(list.type_instance, type_instance, sizeof(list.type_instance));
    return plugin_dispatch_values(&list);
}

static const struct {
    const char *plugin, *instance, *type, *type_instance;
    size_t count;
    double value;
    const char *fault; /* NULL: taken */
} lists[] = {
    {"psi", "system", "percent", "cpu-some", 1, 12.5, NULL},
    {"psi", "", "percent", "", 1, 0, NULL},
    {"psi", "a-b c.d", "percent", "x", 1, 100.1, NULL},
    {"cgroup_perf", "a", "ipc", "", 1, 1e9, NULL},
    {"if", "a", "if_octets", "", 2, 5, NULL},
    {"if", "a", "if_octets", "", 1, 5, "number of values"},
    {"psi", "a", "percent", "x", 2, 1, "number of values"},
    {"psi", "a", "percent", "x", 0, 1, "number of values"},
    {"psi", "a", "per_cent", "x", 1, 1, "no such type"},
    {"psi", "a", "percent", "x", 1, 100.2, "range"},
    {"psi", "a", "percent", "x", 1, -0.1, "range"},
    {"psi", "a", "percent", "x", 1, INFINITY, "range"},
    {"psi", "a", "percent", "x", 1, NAN, "not a number"},
    {"", "a", "percent", "x", 1, 1, "empty"},
    {"psi", "a", "", "x", 1, 1, "empty"},
    {"p-si", "a", "percent", "x", 1, 1, "has a -"},
    {"psi", "a", "per-cent", "x", 1, 1, "has a -"},
    {"psi", "a/b", "percent", "x", 1, 1, "slash"},
    {"psi", "a", "percent", "x/y", 1, 1, "slash"},
    {"psi", "a\tb", "percent", "x", 1, 1, "safe"},
    {"psi", "a\x7f", "percent", "x", 1, 1, "safe"},
    {"psi", "a\xc2\x9b", "percent", "x", 1, 1, "safe"},
    {"psi", "a\xe2\x80\xa8", "percent", "x", 1, 1, "safe"},
    {"psi", "a", "percent", "\xe2\x80\xae", 1, 1, "safe"},
    {"psi", "a\xff", "percent", "x", 1, 1, "safe"},
    {"psi", "a\xc3", "percent", "x", 1, 1, "safe"},
    {"psi", "caf\xc3\xa9 \xf0\x9f\x90\xa7", "percent", "x", 1, 1, NULL},
};

START_TEST(rejects_what_no_receiver_can_use)
{
    int status =
        dispatch(lists[_i].plugin, lists[_i].instance, lists[_i].type, lists[_i].type_instance,
                 lists[_i].count, (value_t){.gauge = lists[_i].value}, cdtime());
    size_t count;
    const struct fake_value *value = fake_values(&count);

    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(fake_rejections(), lists[_i].fault != NULL);
    ck_assert_int_eq(status, lists[_i].fault != NULL ? -1 : 0);
    if (lists[_i].fault != NULL)
        ck_assert_msg(strstr(value->rejected, lists[_i].fault) != NULL, "%s", value->rejected);
    else
        ck_assert_ptr_null(value->rejected);
}
END_TEST

START_TEST(rejects_a_part_that_is_not_terminated)
{
    value_t number = {.gauge = 1};
    value_list_t list = VALUE_LIST_INIT;

    list.values = &number;
    list.values_len = 1;
    strcpy(list.plugin, "psi");
    strcpy(list.type, "percent");
    memset(list.plugin_instance, 'x', sizeof(list.plugin_instance));
    ck_assert_int_eq(plugin_dispatch_values(&list), -1);
    list.plugin_instance[sizeof(list.plugin_instance) - 1] = '\0';
    ck_assert_int_eq(plugin_dispatch_values(&list), 0);
}
END_TEST

START_TEST(rejects_what_is_not_later)
{
    const value_t value = {.gauge = 1};

    ck_assert_int_eq(dispatch("psi", "a", "percent", "x", 1, value, 1000), 0);
    ck_assert_int_eq(dispatch("psi", "a", "percent", "x", 1, value, 1000), -1);
    ck_assert_int_eq(dispatch("psi", "a", "percent", "x", 1, value, 999), -1);
    ck_assert_int_eq(dispatch("psi", "a", "percent", "y", 1, value, 1000), 0);
    ck_assert_int_eq(dispatch("psi", "a", "percent", "x", 1, value, 1001), 0);
    ck_assert_uint_eq(fake_rejections(), 2);
    ck_assert_uint_eq(fake_count("psi-a/percent-x"), 4);
}
END_TEST

START_TEST(notes_what_decreases)
{
    static const int64_t numbers[] = {5, 5, 4, 7};

    for (size_t i = 0; i < COUNT(numbers); i++) {
        dispatch("psi", "a", "total_time_in_ms", "x", 1, (value_t){.derive = numbers[i]}, cdtime());
        ck_assert_int_eq(fake_find("psi-a/total_time_in_ms-x")->decreased, i == 2);
    }
    ck_assert_uint_eq(fake_rejections(), 0);
}
END_TEST

START_TEST(notes_what_is_cut_off)
{
    char buffer[4];

    ck_assert_str_eq(sstrncpy(buffer, "abc", sizeof(buffer)), "abc");
    ck_assert_uint_eq(fake_truncations(), 0);
    ck_assert_str_eq(sstrncpy(buffer, "abcd", sizeof(buffer)), "abc");
    ck_assert_uint_eq(fake_truncations(), 1);
}
END_TEST

START_TEST(lets_time_pass)
{
    cdtime_t before = cdtime();

    ck_assert_uint_gt(cdtime(), before);
    fake_read();
    ck_assert_uint_ge(cdtime(), before + plugin_get_interval());
    fake_set_time(5);
    ck_assert_uint_eq(cdtime(), 5);
}
END_TEST

START_TEST(keeps_lines_by_severity)
{
    ERROR("psi: %d", 1);
    WARNING("psi: 2");
    WARNING("psi: 3");
    ck_assert_uint_eq(fake_logs(0, NULL), 3);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, NULL), 2);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "2"), 1);
    ck_assert_str_eq(fake_log(0), "error: psi: 1");
    ck_assert_ptr_null(fake_log(3));
    fake_forget_logs();
    ck_assert_uint_eq(fake_logs(0, NULL), 0);
}
END_TEST

START_TEST(keeps_notifications_with_their_metadata)
{
    notification_t given = {.severity = NOTIF_WARNING, .message = "stalled"};

    plugin_notification_meta_add_string(&given, "Cgroup", "a/b");
    plugin_notification_meta_add_double(&given, "Stall", 0.15);
    plugin_notification_meta_add_signed_int(&given, "Below", -3);
    plugin_notification_meta_add_unsigned_int(&given, "Above", 3);
    plugin_notification_meta_add_boolean(&given, "Kernel", true);
    ck_assert_int_eq(plugin_dispatch_notification(&given), 0);
    plugin_notification_meta_free(given.meta);

    ck_assert_uint_eq(fake_notifications(), 1);
    const notification_t *kept = fake_notification(0);
    ck_assert_str_eq(kept->message, "stalled");
    const notification_meta_t *meta = kept->meta;
    ck_assert_str_eq(meta->name, "Cgroup");
    ck_assert_str_eq(meta->nm_value.nm_string, "a/b");
    meta = meta->next;
    ck_assert_double_eq(meta->nm_value.nm_double, 0.15);
    meta = meta->next;
    ck_assert_int_eq(meta->nm_value.nm_signed_int, -3);
    meta = meta->next;
    ck_assert_uint_eq(meta->nm_value.nm_unsigned_int, 3);
    meta = meta->next;
    ck_assert(meta->nm_value.nm_boolean);
    ck_assert_int_eq(meta->type, NM_TYPE_BOOLEAN);
    ck_assert_ptr_null(meta->next);
    ck_assert_ptr_null(fake_notification(1));
}
END_TEST

/* --- Configuration -------------------------------------------------------- */

static const struct {
    const char *text;
    int type;
    const char *string;
    double number; /* or boolean */
} values[] = {
    {"K \"a b\"", OCONFIG_TYPE_STRING, "a b", 0},
    {"K \"a\nb\"", OCONFIG_TYPE_STRING, "a\nb", 0},
    {"K \"\"", OCONFIG_TYPE_STRING, "", 0},
    {"K \"a\\\"b\\\\c\\x\"", OCONFIG_TYPE_STRING, "a\"b\\cx", 0},
    {"K \"# not a comment\" # a comment", OCONFIG_TYPE_STRING, "# not a comment", 0},
    {"K word_1", OCONFIG_TYPE_STRING, "word_1", 0},
    {"K 1e12", OCONFIG_TYPE_STRING, "1e12", 0},
    {"K \"true\"", OCONFIG_TYPE_STRING, "true", 0},
    {"K True", OCONFIG_TYPE_STRING, "True", 0},
    {"K 10", OCONFIG_TYPE_NUMBER, NULL, 10},
    {"K 010", OCONFIG_TYPE_NUMBER, NULL, 10},
    {"K 12ab", OCONFIG_TYPE_STRING, "12ab", 0},
    {"K -1.5", OCONFIG_TYPE_NUMBER, NULL, -1.5},
    {"K .25", OCONFIG_TYPE_NUMBER, NULL, 0.25},
    {"K 1.0e+3", OCONFIG_TYPE_NUMBER, NULL, 1000},
    {"K 0x1F", OCONFIG_TYPE_NUMBER, NULL, 31},
    {"K true", OCONFIG_TYPE_BOOLEAN, NULL, 1},
    {"K yes", OCONFIG_TYPE_BOOLEAN, NULL, 1},
    {"K on", OCONFIG_TYPE_BOOLEAN, NULL, 1},
    {"K false", OCONFIG_TYPE_BOOLEAN, NULL, 0},
    {"K no", OCONFIG_TYPE_BOOLEAN, NULL, 0},
    {"K off", OCONFIG_TYPE_BOOLEAN, NULL, 0},
    {"# first\n\n  K \\\n  7  ", OCONFIG_TYPE_NUMBER, NULL, 7},
};

START_TEST(parses_values)
{
    oconfig_item_t *top = fake_config_parse(values[_i].text);

    ck_assert_int_eq(top->children_num, 1);
    ck_assert_str_eq(top->children[0].key, "K");
    ck_assert_int_eq(top->children[0].values_num, 1);
    const oconfig_value_t *value = &top->children[0].values[0];
    ck_assert_int_eq(value->type, values[_i].type);
    if (value->type == OCONFIG_TYPE_STRING)
        ck_assert_str_eq(value->value.string, values[_i].string);
    else if (value->type == OCONFIG_TYPE_NUMBER)
        ck_assert_double_eq(value->value.number, values[_i].number);
    else
        ck_assert_int_eq(value->value.boolean, (int)values[_i].number);
    fake_config_free(top);
}
END_TEST

START_TEST(parses_blocks)
{
    oconfig_item_t *top = fake_config_parse("<Plugin \"psi\">\n"
                                            "  A 1 \"b\" true\n"
                                            "  <Cgroup \"x\"> # a comment\n"
                                            "    B\n"
                                            "  </Cgroup>\n"
                                            "</Plugin>\n"
                                            "C 5\n");

    ck_assert_int_eq(top->children_num, 2);
    const oconfig_item_t *plugin = &top->children[0];
    ck_assert_str_eq(plugin->key, "Plugin");
    ck_assert_str_eq(plugin->values[0].value.string, "psi");
    ck_assert_int_eq(plugin->children_num, 2);
    ck_assert_int_eq(plugin->children[0].values_num, 3);
    const oconfig_item_t *cgroup = &plugin->children[1];
    ck_assert_str_eq(cgroup->values[0].value.string, "x");
    ck_assert_str_eq(cgroup->children[0].key, "B");
    ck_assert_int_eq(cgroup->children[0].values_num, 0);
    ck_assert_ptr_eq(cgroup->children[0].parent, cgroup);
    ck_assert_ptr_eq(cgroup->parent, plugin);
    fake_config_free(top);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("fake_collectd");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, rejects_what_no_receiver_can_use, 0, COUNT(lists));
    tcase_add_test(tests, rejects_a_part_that_is_not_terminated);
    tcase_add_test(tests, rejects_what_is_not_later);
    tcase_add_test(tests, notes_what_decreases);
    tcase_add_test(tests, notes_what_is_cut_off);
    tcase_add_test(tests, lets_time_pass);
    tcase_add_test(tests, keeps_lines_by_severity);
    tcase_add_test(tests, keeps_notifications_with_their_metadata);
    tcase_add_loop_test(tests, parses_values, 0, COUNT(values));
    tcase_add_test(tests, parses_blocks);
    return run_suite("fake collectd", tests);
}
