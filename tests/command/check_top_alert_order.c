/* SPDX-License-Identifier: MIT */
/*
 * command/check_top_alert_order.c - which alerts `headroom top` shows first, and who takes the CPU
 * among them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/suite.h"
#include "top/alert_order.h"
#include "top/alert_text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CURRENTLY                                                                                  \
    "Host h, plugin psi (instance a) type percent (instance b): Data source \"value\" is "         \
    "currently 54.498408. That is above the warning threshold of 40.000000."

#define NO_ROOM                                                                                    \
    "Host h, plugin headroom (instance a) type percent (instance b): Data source \"value\" is "    \
    "currently 0.000000. That is below the warning threshold of 10.000000."

static struct alert entries[16];
static struct alert_list list;

static struct alert *add(const char *group, const char *type_instance, enum alert_severity severity)
{
    struct alert *alert = &entries[list.count++];

    list.entries = entries;
    *alert = (struct alert){
        .severity = severity, .host = "h", .plugin = "psi", .type = "percent", .lasts = true};
    strcpy(alert->instance, group);
    strcpy(alert->type_instance, type_instance);
    strcpy(alert->message, CURRENTLY);
    return alert;
}

static void clear(void)
{
    list.count = 0;
}

/* "b a": the groups of up to so many that are picked. */
static void expect_order(size_t most, const char *expected)
{
    const struct alert *picked[COUNT(entries)];
    const size_t count = alert_order(&list, picked, most);
    char groups[256] = "";

    for (size_t i = 0; i < count; i++)
        snprintf(groups + strlen(groups), sizeof(groups) - strlen(groups), "%s%s", i > 0 ? " " : "",
                 picked[i]->instance);
    ck_assert_str_eq(groups, expected);
}

/* Where there are many the newest FAILURE isn't lost among WARNINGs. */
START_TEST(the_worst_and_the_newest_are_first)
{
    add("over", "cpu-full", ALERT_FAILURE)->lasts = false;
    add("f1", "memory-some", ALERT_FAILURE);
    add("f2", "memory-some", ALERT_FAILURE);
    for (int i = 1; i <= 5; i++) {
        char group[16];
        snprintf(group, sizeof(group), "w%d", i);
        add(group, "memory-some", ALERT_WARNING);
    }
    add("gone", "cpu-full", ALERT_FAILURE)->is_unwatched = true;
    expect_order(5, "f2 f1 w5 w4 w3");
    expect_order(1, "f2");
    expect_order(COUNT(entries), "f2 f1 w5 w4 w3 w2 w1 gone over");
    ck_assert_uint_eq(alerts_count_lasting(&list), 7);
}
END_TEST

START_TEST(counts_alarms_of_one_wait_once)
{
    struct alert *trigger = add("a", "trigger_x", ALERT_FAILURE);

    strcpy(trigger->type, "derive");
    strcpy(trigger->message, "cpu some: stalled 300 ms in 1 s (limit 300 ms in 1 s) in a");
    struct alert *threshold = add("a", "cpu-full", ALERT_FAILURE);
    add("a", "memory-some", ALERT_FAILURE);
    add("b", "cpu-full", ALERT_FAILURE);
    add("a", "cpu-idle", ALERT_FAILURE);
    add("a", "cpu-idle", ALERT_FAILURE);
    ck_assert_uint_eq(alerts_count_lasting(&list), 5);
    trigger->lasts = false;
    ck_assert_uint_eq(alerts_count_lasting(&list), 5);
    threshold->is_unwatched = true;
    ck_assert_uint_eq(alerts_count_lasting(&list), 4);
}
END_TEST

static void mark(const char *host, const char *taker)
{
    struct row rows[] = {
        {.host = "g", .group = "web", .takes_most = true},
        {.host = (char *)(uintptr_t)host,
         .group = (char *)(uintptr_t)taker,
         .takes_most = taker[0] != '\0'},
    };

    alert_order_mark(&list, &(struct table){.rows = rows, .count = COUNT(rows)});
}

START_TEST(who_takes_is_below_who_suffers)
{
    const struct alert *web = add("web", "cpu-full", ALERT_WARNING),
                       *batch = add("batch", "cpu-full", ALERT_WARNING);
    char text[ALERT_TEXT_SIZE];

    mark("h", "batch");
    expect_order(5, "web batch");
    ck_assert(!web->takes && batch->takes);
    ck_assert_uint_eq(alerts_count_lasting(&list), 1);
    alert_text(batch, false, text);
    ck_assert_str_eq(text, "it takes the CPU, and waits, too: all of batch waits for a CPU 54 % of "
                           "the time; the limit is 40 %");
    mark("h", ""); /* for a moment none is marked */
    expect_order(5, "web batch");
    mark("h", "web"); /* then another */
    expect_order(5, "batch web");
}
END_TEST

static void mark_by_waits(double system_memory, double group_memory)
{
    struct row rows[2] = {{.host = "h", .group = "system"}, {.host = "h", .group = "db"}};

    for (size_t i = 0; i < COLUMN_MAX; i++)
        rows[0].values[i] = rows[1].values[i] = NAN;
    rows[0].values[column_find("memory_some")] = system_memory;
    rows[1].values[column_find("memory_some")] = group_memory;
    rows[0].values[column_find("io_some")] = 40;
    rows[1].values[column_find("io_some")] = 30;
    alert_order_mark(&list, &(struct table){.rows = rows, .count = COUNT(rows)});
}

/* What a group lacks memory for is read again. */
START_TEST(the_machine_is_below_the_group_that_waits)
{
    add("db", "memory-full", ALERT_WARNING);
    struct alert *memory = add("system", "memory-full", ALERT_WARNING),
                 *io = add("system", "io-full", ALERT_WARNING);
    add("system", "cpu-full", ALERT_WARNING);
    char text[ALERT_TEXT_SIZE];

    mark_by_waits(32, 29);
    expect_order(2, "system db");
    ck_assert(memory->is_wider && io->is_wider);
    ck_assert_uint_eq(alerts_count_lasting(&list), 2);
    alert_text(memory, false, text);
    ck_assert_str_eq(text, "of the same cause: all of the machine waits for memory 54 % of the "
                           "time; the limit is 40 %");
    mark_by_waits(8, 1); /* as the averages of both fall */
    ck_assert(memory->is_wider && io->is_wider);
    entries[0].lasts = false;
    mark_by_waits(8, 1);
    expect_order(3, "system system system");
    ck_assert(!memory->is_wider && !io->is_wider);
}
END_TEST

/* A trigger's alarm of the machine, that names a group. */
static struct alert *add_trigger(const char *resource, const char *longest)
{
    struct alert *alert = add("system", "trigger_stall", ALERT_WARNING);

    strcpy(alert->type, "derive");
    snprintf(
        alert->message, sizeof(alert->message),
        "%s some: stalled 1112 ms in 2.1 s (limit 150 ms in 1 s) in the system%s; waiting tasks "
        "unknown",
        resource, longest);
    return alert;
}

/* Which of both comes first is chance; the group has no alarm yet, or no more. */
START_TEST(disks_are_below_the_memory_that_a_group_lacks)
{
    static const struct {
        const char *of_io, *of_memory;
        bool is_wider;
    } cases[] = {
        {": longest in db, 806 ms of the last 2.1 s", ": longest in db, 199 ms of the last 3.2 s",
         true},
        {": longest in a, b, 806 ms of the last 2.1 s",
         ": longest in a, b, 199 ms of the last 3.2 s", true},
        {": longest in db, 806 ms of the last 2.1 s", ": longest in web, 199 ms of the last 3.2 s",
         false},
        {": longest in db, 806 ms of the last 2.1 s", "", false},
        {"", "", false},
    };

    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        const bool is_io_first = i % 2 == 0;
        clear();
        const struct alert *first = is_io_first ? add_trigger("io", cases[i / 2].of_io)
                                                : add_trigger("memory", cases[i / 2].of_memory);
        const struct alert *second = is_io_first ? add_trigger("memory", cases[i / 2].of_memory)
                                                 : add_trigger("io", cases[i / 2].of_io);
        const struct alert *io = is_io_first ? first : second,
                           *memory = is_io_first ? second : first;
        mark_by_waits(32, 29);
        ck_assert_int_eq(io->is_wider, cases[i / 2].is_wider);
        ck_assert(!memory->is_wider);
        ck_assert_uint_eq(alerts_count_lasting(&list), cases[i / 2].is_wider ? 1 : 2);
    }
}
END_TEST

START_TEST(disks_of_a_group_are_below_the_memory_that_it_lacks)
{
    const struct alert *memory = add("db", "memory-full", ALERT_WARNING),
                       *io = add("db", "io-full", ALERT_WARNING),
                       *worse = add("db", "io-some", ALERT_FAILURE),
                       *other = add("web", "io-full", ALERT_WARNING);
    char text[ALERT_TEXT_SIZE];

    mark_by_waits(32, 29);
    ck_assert(io->is_wider && !memory->is_wider && !worse->is_wider && !other->is_wider);
    ck_assert_uint_eq(alerts_count_lasting(&list), 3);
    alert_text(io, false, text);
    ck_assert_str_eq(text, "of the same cause: all of db waits for disks 54 % of the time; the "
                           "limit is 40 %");
}
END_TEST

START_TEST(the_machine_is_beside_a_group_that_waits_a_little)
{
    add("db", "memory-full", ALERT_WARNING);
    const struct alert *machine = add("system", "memory-full", ALERT_WARNING);

    mark_by_waits(32, 15);
    ck_assert(!machine->is_wider);
    mark_by_waits(NAN, 29);
    ck_assert(!machine->is_wider);
    mark_by_waits(32, 16);
    ck_assert(machine->is_wider);
}
END_TEST

/* A group's waits for disks needn't be what the machine lacks memory for. */
START_TEST(the_machine_is_beside_what_says_less)
{
    add("db", "io-full", ALERT_WARNING);
    add("db", "memory-some", ALERT_FAILURE)->lasts = false;
    const struct alert *memory = add("system", "memory-full", ALERT_WARNING),
                       *worse = add("system", "io-full", ALERT_FAILURE),
                       *io = add("system", "io-some", ALERT_WARNING);

    mark_by_waits(32, 29);
    ck_assert(!memory->is_wider && !worse->is_wider && io->is_wider);
}
END_TEST

/* By the averages of minutes its room comes back later than its waits end. */
START_TEST(who_takes_and_has_no_room_is_below_who_suffers)
{
    static const char message[] = "cpu: trouble now in batch (CPU 0); taking: itself 75 %";
    struct alert *web = add("web", "cpu-some", ALERT_WARNING),
                 *batch = add("batch", "room-cpu", ALERT_WARNING);
    char text[ALERT_TEXT_SIZE];

    strcpy(batch->plugin, "headroom");
    strcpy(batch->message, message);
    mark("h", "batch");
    expect_order(5, "web batch");
    alert_text(batch, false, text);
    ck_assert_str_eq(text, "it takes the CPU: cpu: trouble now in batch (CPU 0); taking: itself "
                           "75 %");
    strcpy(batch->type_instance, "room-memory"); /* of another cause */
    mark("h", "batch");
    expect_order(5, "batch web");
    strcpy(batch->type_instance, "room-cpu");
    web->lasts = false;
    mark("h", "batch");
    expect_order(5, "batch web");
    alert_text(batch, false, text);
    ck_assert_str_eq(text, message);
}
END_TEST

/* As after a restart, before a threshold has notified of who waits. */
START_TEST(the_machine_and_who_takes_are_below_who_has_no_room)
{
    struct alert *web = add("web", "room-cpu", ALERT_WARNING),
                 *batch = add("batch", "room-cpu", ALERT_WARNING),
                 *machine = add("system", "room-cpu", ALERT_WARNING),
                 *waits = add("system", "cpu-some", ALERT_WARNING);

    for (size_t i = 0; i < 3; i++) {
        strcpy(entries[i].plugin, "headroom");
        strcpy(entries[i].message, NO_ROOM);
    }
    mark("h", "batch");
    expect_order(1, "web");
    ck_assert(!web->takes && batch->takes && machine->is_wider && waits->is_wider);
    ck_assert_uint_eq(alerts_count_lasting(&list), 1);
    machine->severity = ALERT_FAILURE; /* no group's is as severe */
    mark("h", "batch");
    expect_order(2, "system web");
    machine->severity = ALERT_WARNING;
    web->lasts = batch->lasts = false;
    mark("h", "batch");
    ck_assert(!machine->is_wider && !waits->is_wider);
    ck_assert_uint_eq(alerts_count_lasting(&list), 2);
    web->lasts = batch->lasts = true;
    strcpy(web->message, CURRENTLY); /* little room is no trouble yet */
    strcpy(batch->message, CURRENTLY);
    mark("h", "batch");
    ck_assert(!batch->takes && !machine->is_wider && !waits->is_wider);
}
END_TEST

/* Each would be the other's victim. */
START_TEST(not_all_are_below_others)
{
    static const char *const groups[] = {"a", "b", "system"};

    for (size_t i = 0; i < COUNT(groups); i++) {
        struct alert *alert = add(groups[i], "room-cpu", ALERT_WARNING);
        strcpy(alert->plugin, "headroom");
        snprintf(alert->message, sizeof(alert->message),
                 "cpu: trouble now in %s (CPU 0); taking: itself 75 %%", groups[i]);
    }
    mark("h", "");
    ck_assert_uint_eq(alerts_count_lasting(&list), 3);
    strcpy(entries[0].message, "cpu: trouble now in a: waits 62 % of the time (its own limit, "
                               "cpu.max 0.5)");
    mark("h", "");
    ck_assert(!entries[2].is_wider);
}
END_TEST

/* An <Alert> of who waits comes before the threshold, which says the same and isn't shown then. */
START_TEST(who_takes_is_below_whose_alert_it_is)
{
    struct alert *web = add("nc_web", "room-cpu", ALERT_WARNING),
                 *batch = add("nc_batch", "room-cpu", ALERT_WARNING);

    strcpy(web->plugin, "headroom");
    strcpy(web->message, "cpu: trouble now in nc/web: waits 62 % of the time (CPU 0); taking: "
                         "nc/batch 0.79 CPUs, nc/web 0.21 CPUs");
    strcpy(batch->plugin, "headroom");
    strcpy(batch->message, "cpu: trouble now in nc/batch: waits 100 % of the time (CPU 0); taking: "
                           "nc/batch 0.79 CPUs, nc/web 0.21 CPUs");
    for (int i = 0; i < 2; i++) {
        mark("h", i == 0 ? "nc_batch" : "");
        expect_order(5, "nc_web nc_batch");
        ck_assert(!web->takes && batch->takes);
    }
}
END_TEST

/* Where no plugin has the CPU time that groups use, none is marked. */
static const struct {
    const char *message;
    bool takes;
} texts[] = {
    {"cpu: trouble now in nc/batch: needs 0.42 CPUs of 0.31 CPUs (CPU 0); taking: nc/batch 0.42 "
     "CPUs, nc/web 0.11 CPUs; waiting: nc/web 60 %",
     true},
    {"cpu: trouble now in nc/batch (CPU 0); taking: itself 75 %, nc/web 15 %", true},
    {"cpu: trouble now in nc/batch; taking: nc/batch2 75 %, itself 15 %", false},
    {"cpu: trouble now in nc/batch; taking: nc 75 %", false},
    {"cpu: trouble now in nc/batch; waiting: nc/batch 75 %", false},
    {"cpu: trouble now; taking: itself 75 %", false},
};

START_TEST(who_takes_by_the_text)
{
    struct alert *batch = add("nc_batch", "room-cpu", ALERT_WARNING);

    add("nc_web", "cpu-some", ALERT_FAILURE);
    strcpy(batch->plugin, "headroom");
    strcpy(batch->message, texts[_i].message);
    mark("h", "");
    ck_assert_int_eq(batch->takes, texts[_i].takes);
    mark("h", "nc_web");
    ck_assert(!batch->takes);
}
END_TEST

static const struct {
    const char *group, *type_instance;
    enum alert_severity severity;
    bool lasts;
    const char *host, *taker;
    bool takes;
} others[] = {
    {"web", "cpu-some", ALERT_WARNING, true, "h", "batch", true},
    {"web", "cpu-some", ALERT_FAILURE, true, "h", "batch", true},
    /* none that is as severe, lasts, or waits for a CPU, is of another group */
    {"web", "cpu-some", ALERT_WARNING, false, "h", "batch", false},
    {"web", "memory-some", ALERT_FAILURE, true, "h", "batch", false},
    {"batch", "cpu-some", ALERT_FAILURE, true, "h", "batch", false},
    {"system", "cpu-some", ALERT_FAILURE, true, "h", "batch", false},
    /* nor does it take */
    {"web", "cpu-some", ALERT_WARNING, true, "h", "other", false},
    {"web", "cpu-some", ALERT_WARNING, true, "i", "batch", false},
};

START_TEST(takes_from_one_that_is_as_severe)
{
    const struct alert *batch = add("batch", "cpu-full", ALERT_WARNING);

    add(others[_i].group, others[_i].type_instance, others[_i].severity)->lasts = others[_i].lasts;
    mark(others[_i].host, others[_i].taker);
    ck_assert_int_eq(batch->takes, others[_i].takes);
    entries[0].severity = ALERT_FAILURE;
    if (others[_i].severity == ALERT_WARNING) {
        mark(others[_i].host, others[_i].taker);
        ck_assert(!batch->takes);
    }
}
END_TEST

START_TEST(says_what_is_over)
{
    struct alert *alert = add("web", "cpu-full", ALERT_WARNING);

    ck_assert_str_eq(alert_state(alert), "");
    alert->lasts = false;
    alert->is_old = true;
    ck_assert_str_eq(alert_state(alert), "a day old: ");
    alert->is_replaced = true;
    ck_assert_str_eq(alert_state(alert), "earlier: ");
    alert->is_over = true;
    ck_assert_str_eq(alert_state(alert), "over: ");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, clear, NULL);
    tcase_add_test(tests, the_worst_and_the_newest_are_first);
    tcase_add_test(tests, counts_alarms_of_one_wait_once);
    tcase_add_test(tests, who_takes_is_below_who_suffers);
    tcase_add_test(tests, the_machine_is_below_the_group_that_waits);
    tcase_add_test(tests, disks_are_below_the_memory_that_a_group_lacks);
    tcase_add_test(tests, disks_of_a_group_are_below_the_memory_that_it_lacks);
    tcase_add_test(tests, the_machine_is_beside_a_group_that_waits_a_little);
    tcase_add_test(tests, the_machine_is_beside_what_says_less);
    tcase_add_test(tests, who_takes_and_has_no_room_is_below_who_suffers);
    tcase_add_test(tests, the_machine_and_who_takes_are_below_who_has_no_room);
    tcase_add_test(tests, not_all_are_below_others);
    tcase_add_test(tests, who_takes_is_below_whose_alert_it_is);
    tcase_add_loop_test(tests, who_takes_by_the_text, 0, (int)COUNT(texts));
    tcase_add_loop_test(tests, takes_from_one_that_is_as_severe, 0, (int)COUNT(others));
    tcase_add_test(tests, says_what_is_over);
    return run_suite("alert_order", tests);
}
