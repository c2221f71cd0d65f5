/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_names.c - under which names the plugin psi notifies of groups: those
 * of their values.
 */
#include "plugin/psi/alerts_harness.h"

#include "support/suite.h"

const char *const harness_plugin = "psi";

/* The instance of the notification whose metadata names a group. */
static const char *instance_of(const char *path)
{
    for (int waited = 0; waited < ALERTS_PATIENCE_MS; waited += 5) {
        const notification_t *notice;
        for (size_t i = 0; (notice = fake_notification(i)) != NULL; i++)
            if (strcmp(alerts_meta_text(notice, "Cgroup"), path) == 0)
                return notice->plugin_instance;
        harness_sleep(5);
    }
    ck_abort_msg("no notification of %s", path);
}

/* The instance of the last read's values whose io total is so many seconds. */
static const char *instance_with(int seconds)
{
    size_t count;
    const struct fake_value *values = fake_values(&count);

    for (size_t i = 0; i < count; i++)
        if (strstr(values[i].identifier, "total_time_in_ms-io-some") != NULL &&
            values[i].number == seconds * 1000.0)
            return values[i].instance;
    ck_abort_msg("no group has waited for %d s", seconds);
}

static void assert_one_name(const char *path, int seconds)
{
    char identifier[256];
    const char *instance = instance_of(path);

    harness_read();
    ck_assert_str_eq(instance, instance_with(seconds));
    snprintf(identifier, sizeof(identifier), "psi-%s/derive-trigger_m", instance);
    ck_assert_double_ge(harness_number(identifier), 1);
}

START_TEST(takes_the_name_of_a_template)
{
    alerts_add_group("system.slice/a.service", true);
    tree_pressure(tree, "system.slice/a.service", "io", 7000000, 0);
    harness_begin("<Cgroup \"system.slice/*.service\">\nInstance \"svc %1\"\n</Cgroup>\n" RULE(
        "m", OF_GROUPS));
    alerts_await_value("psi-svc a/derive-trigger_m", true);
    alerts_stall("system.slice/a.service", "memory", STALL_US);
    assert_one_name("system.slice/a.service", 7);
    ck_assert_str_eq(instance_of("system.slice/a.service"), "svc a");
    harness_assert_logs(0, NULL);
}
END_TEST

/* Two that would have the same name: which of them has it is decided once, for both purposes. */
START_TEST(distinguishes_groups_that_would_have_one_name)
{
    alerts_add_group("a/b", true);
    alerts_add_group("a_b", true);
    tree_pressure(tree, "a/b", "io", 7000000, 0);
    tree_pressure(tree, "a_b", "io", 8000000, 0);
    harness_begin("Cgroup \"a/b\" \"a_b\"\n" RULE("m", OF_GROUPS));
    alerts_await_count("*/derive-trigger_m", 2);
    harness_assert_count("psi-a_b/derive-trigger_m", 1);
    harness_assert_count("psi-a_b~*/derive-trigger_m", 1);
    alerts_stall("a/b", "memory", STALL_US);
    alerts_stall("a_b", "memory", STALL_US);
    assert_one_name("a/b", 7);
    assert_one_name("a_b", 8);
    ck_assert_str_ne(instance_of("a/b"), instance_of("a_b"));
    harness_assert_logs(1, "is named a_b~");

    /* once both are gone, the name is free for either */
    const char *other = strcmp(instance_of("a/b"), "a_b") == 0 ? "a_b" : "a/b";
    tree_remove_group(tree, "a");
    tree_remove_group(tree, "a_b");
    alerts_await_count("psi-a_b*", 0);
    alerts_add_group(other, true);
    alerts_await_value("psi-a_b/derive-trigger_m", true);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Users who may make groups choose their names; receivers of notifications may rely on UTF-8. */
START_TEST(shows_any_name_safely)
{
    static const char path[] = "a\xff\xc2\x9b[m\x1b\xc3\xa9";

    alerts_add_group(path, true);
    harness_begin("Cgroup \"*\"\n" RULE("m", OF_GROUPS));
    alerts_await_count("*/derive-trigger_m", 1);
    alerts_stall(path, "memory", STALL_US);
    alerts_assert_message(alerts_await(NULL, NOTIF_WARNING, 1), " in a???[m?\xc3\xa9");
}
END_TEST

START_TEST(shortens_a_long_path)
{
    char path[191];

    memset(path, 'x', sizeof(path) - 1);
    memcpy(path, "long.slice/", 11);
    memcpy(path + sizeof(path) - 9, "/leaf.sv", 9);
    path[100] = '/';
    ck_assert_uint_eq(strlen(path), 190);
    alerts_add_group(path, true);
    tree_pressure(tree, path, "io", 7000000, 0);
    harness_begin("Cgroup \"**/leaf.sv\"\n" RULE("m", OF_GROUPS));
    alerts_await_count("*/derive-trigger_m", 1);
    alerts_stall(path, "memory", STALL_US);
    assert_one_name(path, 7);
    const notification_t *notice = fake_notification(0);
    size_t length = strlen(notice->message), tail = strlen(notice->plugin_instance);
    ck_assert_uint_lt(length, NOTIF_MAX_MSG_LEN);
    ck_assert_str_eq(notice->message + length - tail, notice->plugin_instance);
    ck_assert_uint_eq(tail, DATA_MAX_NAME_LEN - 1);
    harness_assert_logs(0, NULL);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, alerts_set_up, harness_tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, takes_the_name_of_a_template);
    tcase_add_test(tests, distinguishes_groups_that_would_have_one_name);
    tcase_add_test(tests, shows_any_name_safely);
    tcase_add_test(tests, shortens_a_long_path);
    return run_suite("plugin psi names", tests);
}
