/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_psi_takers.c - who took the CPU: added up for a group and those below it, and in
 * notifications.
 */
#include <stdlib.h>
#include <string.h>

#include "psi/notification.h"
#include "support/fake_collectd.h"
#include "support/suite.h"

enum { TOP = 1, WEB = 10, WEB_A = 11, WEB_B = 12, BACKUP = 20, OTHER_BACKUP = 21, WEBSTER = 30 };

#define MS 1000000ull

static struct psi_watched_group groups[] = {
    {.id = WEB, .path = "s/web"},
    {.id = WEB_A, .path = "s/web/a"},
    {.id = WEB_B, .path = "s/web/b"},
    {.id = BACKUP, .path = "s/backup.service", .is_gone = true},
    {.id = OTHER_BACKUP, .path = "u/backup.service"},
    {.id = WEBSTER, .path = "s/webster"},
};
static const struct psi_watched watched = {.groups = groups, .count = 6};
static const struct psi_takers_of of_web = {.path = "s/web", .top = TOP};
static const struct psi_takers_of of_all = {.top = TOP};

static struct hr_blame_cell cells[32];
static struct hr_blame_matrix matrix;
static struct psi_takers takers;

static void set_up(void)
{
    matrix = (struct hr_blame_matrix){.time_ns = 100 * MS, .cells = cells};
}

static void add(uint64_t waiter, enum hr_blame_taker taker, uint64_t group, uint64_t ms)
{
    cells[matrix.count++] = (struct hr_blame_cell){
        .waiter = waiter, .taker = taker, .group = group, .wait_ns = ms * MS};
}

/* Each group is named by its path, but for one. */
static const char *contained;

static void sum(const struct psi_takers_of *of)
{
    static char instances[6][HR_INSTANCE_SIZE];

    for (size_t i = 0; i < watched.count; i++) {
        groups[i].instance = instances[i];
        hr_instance_make(groups[i].path, groups[i].path, false, instances[i]);
    }
    if (contained != NULL)
        snprintf(instances[3], HR_INSTANCE_SIZE, "%s", contained);
    memset(&takers, 0xff, sizeof(takers));
    psi_takers_sum(&matrix, &watched, of, &takers);
}

static void expect(size_t index, const char *name, uint64_t ms)
{
    ck_assert_uint_lt(index, takers.count);
    ck_assert_str_eq(takers.list[index].name, name);
    ck_assert_uint_eq(takers.list[index].wait_ns, ms * MS);
}

START_TEST(test_groups_below_count_for_the_group)
{
    add(WEB, HR_BLAME_GROUP, BACKUP, 100);
    add(WEB, HR_BLAME_ITSELF, 0, 10);
    add(WEB_A, HR_BLAME_GROUP, BACKUP, 200);
    add(WEB_A, HR_BLAME_GROUP, WEB_B, 30);
    add(WEB_A, HR_BLAME_GROUP, WEBSTER, 60);
    add(WEB_B, HR_BLAME_KWORKER, 0, 50);
    add(WEBSTER, HR_BLAME_GROUP, BACKUP, 7000); /* not below it */
    sum(&of_web);
    ck_assert_uint_eq(takers.count, 4);
    expect(0, "s/backup.service", 300);
    expect(1, "s/webster", 60);
    expect(2, "kworkers", 50);
    expect(3, "itself", 40);
}
END_TEST

START_TEST(test_of_the_system_each_group_that_ran_is_a_taker)
{
    add(WEB, HR_BLAME_ITSELF, 0, 100);
    add(BACKUP, HR_BLAME_GROUP, WEB, 50);
    add(BACKUP, HR_BLAME_GROUP, TOP, 20);
    add(TOP, HR_BLAME_ITSELF, 0, 5);
    add(TOP, HR_BLAME_LIMIT, 0, 4);
    add(BACKUP, HR_BLAME_GROUP, 999, 3); /* not known */
    sum(&of_all);
    ck_assert_uint_eq(takers.count, 3);
    expect(0, "s/web", 150);
    expect(1, "other tasks", 28);
    expect(2, "limits", 4);
}
END_TEST

START_TEST(test_the_worst_are_kept_and_what_is_not_attributed_is_last)
{
    add(WEB, HR_BLAME_UNKNOWN, 0, 5000);
    add(WEB, HR_BLAME_GROUP, BACKUP, 4000);
    add(WEB, HR_BLAME_STEAL, 0, 1000);
    add(WEB, HR_BLAME_IDLE, 0, 90); /* less than a hundredth */
    sum(&of_web);
    ck_assert_uint_eq(takers.count, 3);
    expect(0, "s/backup.service", 4000);
    expect(1, "the hypervisor", 1000);
    expect(2, "unattributed", 5000);
}
END_TEST

START_TEST(test_without_waits_there_are_no_takers)
{
    add(WEBSTER, HR_BLAME_ITSELF, 0, 5);
    sum(&of_web);
    ck_assert_uint_eq(takers.count, 0);
    ck_assert_uint_eq(psi_takers_count_named(&takers), 0);
}
END_TEST

START_TEST(test_short_names_are_distinct)
{
    add(WEB, HR_BLAME_GROUP, BACKUP, 100);
    add(WEB, HR_BLAME_GROUP, WEBSTER, 90);
    sum(&of_web);
    ck_assert_str_eq(psi_takers_short_name(&takers, 0), "backup.service");
    ck_assert_str_eq(psi_takers_short_name(&takers, 1), "webster");
    add(WEB, HR_BLAME_GROUP, OTHER_BACKUP, 80);
    sum(&of_web);
    ck_assert_str_eq(psi_takers_short_name(&takers, 0), "s/backup.service");
    ck_assert_str_eq(psi_takers_short_name(&takers, 2), "u/backup.service");
}
END_TEST

START_TEST(test_a_message_names_those_that_matter)
{
    for (unsigned i = 0; i < HR_BLAME_UNKNOWN - HR_BLAME_KWORKER; i++)
        add(WEB, HR_BLAME_KWORKER + i, 0, 100);
    sum(&of_web);
    ck_assert_uint_eq(psi_takers_count_named(&takers), 5);
    ck_assert_uint_le(takers.count, PSI_TAKERS_MAX);
    set_up();
    add(WEB, HR_BLAME_OTHER, 0, 100);
    add(WEB, HR_BLAME_RCU, 0, 10);
    add(WEB, HR_BLAME_RECLAIM, 0, 9);
    sum(&of_web);
    ck_assert_uint_eq(takers.count, 3);
    ck_assert_uint_eq(psi_takers_count_named(&takers), 2);
}
END_TEST

/* Only those that no container has. */
START_TEST(test_long_paths_are_shortened)
{
    char path[600];

    memset(path, 'x', sizeof(path));
    memcpy(path + 300, "/leaf", 5);
    groups[3].path = path;
    add(WEB, HR_BLAME_GROUP, BACKUP, 100);
    path[511] = '\0';
    sum(&of_web);
    ck_assert_str_eq(takers.list[0].name, path);
    path[511] = 'x';
    path[512] = '\0';
    sum(&of_web);
    ck_assert_uint_eq(strlen(takers.list[0].name), HR_INSTANCE_SIZE - 1);
    groups[3].path = "s/backup.service";
}
END_TEST

/* A group may have any name. */
START_TEST(test_a_group_is_not_taken_for_a_word)
{
    static const struct {
        char *path;
        const char *name;
    } cases[] = {{"itself", "/itself"},     {"s/its limit", "/s/its limit"},
                 {"limits", "/limits"},     {"other tasks", "/other tasks"},
                 {"s/kswapd", "/s/kswapd"}, {"s/other", "other"}};

    groups[3].path = cases[_i].path;
    add(WEB, HR_BLAME_GROUP, BACKUP, 100);
    add(WEB, HR_BLAME_ITSELF, 0, 90);
    sum(&of_web);
    ck_assert_str_eq(psi_takers_short_name(&takers, 0), cases[_i].name);
    ck_assert_str_eq(psi_takers_short_name(&takers, 1), "itself");
    ck_assert_str_ne(takers.list[0].name, takers.list[1].name);
    groups[3].path = "s/backup.service";
}
END_TEST

/* --- Notifications -------------------------------------------------------- */

static notification_t notice;

static void notify(const char *cause)
{
    static const struct psi_rule rule = {
        .name = "hot",
        .type_instance = "trigger_hot",
        .trigger = {.resource = HR_PSI_CPU, .stall_us = 1000000, .window_us = 2000000},
        .severity = NOTIF_WARNING};
    static const struct psi_subject subject = {&rule, "s_web", "s/web"};
    const struct hr_psi_event event = {
        .measured = true, .stalled_us = 1240000, .elapsed_us = 2000000};
    struct psi_findings findings = {.takers = &takers};

    snprintf(findings.cause, sizeof(findings.cause), "%s", cause);
    psi_notification_write_stall(&notice, &subject, &event, &findings);
}

static const notification_meta_t *find_entry(const char *name)
{
    const notification_meta_t *entry = notice.meta;

    while (entry != NULL && strcmp(entry->name, name) != 0)
        entry = entry->next;
    return entry;
}

static const char *find_meta(const char *name)
{
    const notification_meta_t *entry = find_entry(name);

    return entry != NULL ? entry->nm_value.nm_string : NULL;
}

static double find_number(const char *name)
{
    const notification_meta_t *entry = find_entry(name);

    ck_assert_ptr_nonnull(entry);
    return entry->nm_value.nm_double;
}

START_TEST(test_a_notification_has_the_takers)
{
    add(WEB, HR_BLAME_GROUP, BACKUP, 820);
    add(WEB, HR_BLAME_ITSELF, 0, 210);
    add(WEB, HR_BLAME_KWORKER, 0, 90);
    add(WEB, HR_BLAME_IDLE, 0, 12);
    sum(&of_web);
    notify("");
    ck_assert_str_eq(
        notice.message,
        "cpu some: stalled 1240 ms in 2 s (limit 1000 ms in 2 s) in s/web: taken in the "
        "next 0.1 s, of 1132 ms that its tasks waited together, by: backup.service 820 ms, itself "
        "210 ms, kworkers 90 ms");
    ck_assert_double_eq_tol(find_number("TakersWindow"), 0.1, 1e-9);
    ck_assert_double_eq_tol(find_number("TakersWait"), 1.132, 1e-9);
    ck_assert_str_eq(find_meta("Taker1"), "s/backup.service 820 ms");
    ck_assert_str_eq(find_meta("Taker2"), "itself 210 ms");
    ck_assert_str_eq(find_meta("Taker4"), "waking up 12 ms");
    ck_assert_ptr_null(find_meta("Taker5"));
    plugin_notification_meta_free(notice.meta);
    matrix.time_ns = 12300 * MS;
    sum(&of_web);
    notify("neighbours (900 ms)");
    ck_assert_ptr_nonnull(strstr(notice.message,
                                 "s/web: neighbours (900 ms); taken in the next 12 s, of 1132 ms "
                                 "that its tasks waited, by: backup."));
    plugin_notification_meta_free(notice.meta);
}
END_TEST

#define CONTAINER "docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* In messages; programs get its path, which files have. */
START_TEST(test_a_container_has_its_name)
{
    contained = "shop_web-0_nginx";
    groups[3].path = CONTAINER;
    add(WEB, HR_BLAME_GROUP, BACKUP, 100);
    add(WEB, HR_BLAME_GROUP, WEBSTER, 90);
    sum(&of_web);
    expect(0, CONTAINER, 100);
    notify("");
    ck_assert_ptr_nonnull(strstr(notice.message, "by: shop_web-0_nginx 100 ms, webster 90 ms"));
    ck_assert_str_eq(find_meta("Taker1"), CONTAINER " 100 ms");
    plugin_notification_meta_free(notice.meta);
    contained = "itself";
    sum(&of_web);
    ck_assert_str_eq(psi_takers_short_name(&takers, 0), "/itself");
    contained = "webster";
    sum(&of_web);
    ck_assert_str_eq(psi_takers_short_name(&takers, 0), "webster");
    ck_assert_str_eq(psi_takers_short_name(&takers, 1), "s/webster");
    contained = NULL;
    groups[3].path = "s/backup.service";
}
END_TEST

/* However little of it the message has room for. */
START_TEST(test_a_notification_has_the_size_of_a_sample)
{
    static const struct psi_rule rule = {.name = "hot", .type_instance = "trigger_hot"};
    static const struct psi_subject subject = {&rule, "s_web", "s/web"};
    const struct hr_psi_event event = {.stalled_us = 150000, .elapsed_us = 1000000};
    struct psi_waiting waiting = {.report = {1, 200, (size_t)_i},
                                  .top = {{.pid = 1, .name = "a", .waited_ns = 9 * MS}}};
    struct psi_findings findings = {.waiting = &waiting};
    memset(findings.cause, 'x', 180);
    psi_notification_write_stall(&notice, &subject, &event, &findings);
    ck_assert_ptr_null(strstr(notice.message, "waiting"));
    ck_assert_str_eq(find_meta("Task1"), "a[1] 9 ms");
    const notification_meta_t *sampled = find_entry("TasksSampled");
    ck_assert_int_eq(sampled != NULL, _i > 0);
    if (sampled != NULL)
        ck_assert_uint_eq(sampled->nm_value.nm_unsigned_int, 200);
    plugin_notification_meta_free(notice.meta);
}
END_TEST

/* Why no task is named, with as much around it as there is room for; the metadata has it, too. */
static const struct {
    size_t cause_length;
    const char *end;
} unknown_tasks[] = {
    {143, "x; waiting tasks unknown: it is off"},
    {173, "x; it is off"},
};

START_TEST(test_a_notification_says_why_no_task_is_named)
{
    static const struct psi_rule rule = {.name = "hot", .type_instance = "trigger_hot"};
    static const struct psi_subject subject = {&rule, "s_web", "s/web"};
    const struct hr_psi_event event = {.stalled_us = 150000, .elapsed_us = 1000000};
    const struct psi_waiting waiting = {.unknown = "it is off"};
    struct psi_findings findings = {.waiting = &waiting};
    const char *end = unknown_tasks[_i].end;

    memset(findings.cause, 'x', unknown_tasks[_i].cause_length);
    psi_notification_write_stall(&notice, &subject, &event, &findings);
    ck_assert_str_eq(notice.message + strlen(notice.message) - strlen(end), end);
    ck_assert_str_eq(find_meta("TasksUnknown"), "it is off");
    plugin_notification_meta_free(notice.meta);
}
END_TEST

START_TEST(test_takers_leave_room_for_why_no_task_is_named)
{
    static const struct psi_rule rule = {.name = "hot", .type_instance = "trigger_hot"};
    static const struct psi_subject subject = {&rule, "s_web", "s/web"};
    const struct hr_psi_event event = {.stalled_us = 150000, .elapsed_us = 1000000};
    const struct psi_waiting waiting = {.unknown = "CAP_NET_ADMIN is missing"};
    const struct psi_findings findings = {
        .cause = "neighbours (914 ms)", .takers = &takers, .waiting = &waiting};

    for (unsigned i = 0; i < HR_BLAME_UNKNOWN - HR_BLAME_KWORKER; i++)
        add(WEB, HR_BLAME_KWORKER + i, 0, 100);
    sum(&of_web);
    psi_notification_write_stall(&notice, &subject, &event, &findings);
    ck_assert_ptr_nonnull(strstr(notice.message, "; taken in the next 0.1 s"));
    ck_assert_ptr_nonnull(
        strstr(notice.message, "; waiting tasks unknown: CAP_NET_ADMIN is missing"));
    plugin_notification_meta_free(notice.meta);
}
END_TEST

START_TEST(test_names_are_made_safe)
{
    groups[3].path = "s/bad\033[31m\xff.service";
    add(WEB, HR_BLAME_GROUP, BACKUP, 820);
    sum(&of_web);
    notify("");
    ck_assert_ptr_nonnull(strstr(notice.message, "waited together, by: bad?[31m?.service 820 ms"));
    ck_assert_str_eq(find_meta("Taker1"), "s/bad?[31m?.service 820 ms");
    plugin_notification_meta_free(notice.meta);
    groups[3].path = "s/backup.service";
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("takers");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, test_groups_below_count_for_the_group);
    tcase_add_test(tests, test_of_the_system_each_group_that_ran_is_a_taker);
    tcase_add_test(tests, test_the_worst_are_kept_and_what_is_not_attributed_is_last);
    tcase_add_test(tests, test_without_waits_there_are_no_takers);
    tcase_add_test(tests, test_short_names_are_distinct);
    tcase_add_test(tests, test_a_message_names_those_that_matter);
    tcase_add_test(tests, test_long_paths_are_shortened);
    tcase_add_test(tests, test_a_container_has_its_name);
    tcase_add_loop_test(tests, test_a_group_is_not_taken_for_a_word, 0, 6);
    tcase_add_test(tests, test_a_notification_has_the_takers);
    tcase_add_loop_test(tests, test_a_notification_has_the_size_of_a_sample, 0, 2);
    tcase_add_loop_test(tests, test_a_notification_says_why_no_task_is_named, 0,
                        sizeof(unknown_tasks) / sizeof(unknown_tasks[0]));
    tcase_add_test(tests, test_takers_leave_room_for_why_no_task_is_named);
    tcase_add_test(tests, test_names_are_made_safe);
    return run_suite("psi_takers", tests);
}
