/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_causes.c - which functions ran in which interference, and the functions'
 * names. The tables of names were printed by Linux 6.12.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collectors/osnoise/osnoise_pages.h"
#include "headroom/root.h"
#include "osnoise/cause_events.h"
#include "osnoise/causes.h"
#include "osnoise/ipi_senders.h"
#include "support/suite.h"
#include "support/tree.h"

static struct tree *tree;
static struct hr_tracefs tracefs;
static struct hr_osnoise_function_names *names;

/* --- Which ran in which --------------------------------------------------- */

static struct hr_osnoise_causes causes;

static void add(uint64_t time_ns, uint64_t function, bool in_irq)
{
    const struct hr_osnoise_record record = {.type = HR_OSNOISE_RECORD_CAUSE,
                                             .time_ns = time_ns,
                                             .flags = in_irq ? HR_OSNOISE_FLAG_HARDIRQ : 0,
                                             .cause = {.function = function}};

    hr_osnoise_causes_add(&causes, &record);
}

static struct hr_osnoise_spans take(enum hr_osnoise_kind kind, uint64_t start_ns, uint64_t end_ns)
{
    struct hr_osnoise_record record = {.type = HR_OSNOISE_RECORD_PART, .time_ns = end_ns};

    record.part.kind = kind;
    record.part.start_ns = start_ns;
    struct hr_osnoise_spans spans = hr_osnoise_causes_take(&causes, &record);
    hr_osnoise_spans_sort(&spans);
    return spans;
}

/* As letters, the longest first: "a40 b10", and "+" if there are more. */
static const char *text_of(const struct hr_osnoise_spans *spans)
{
    static char text[256];
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < spans->count; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%c%u", i > 0 ? " " : "",
                                   (char)spans->of[i].function, (unsigned)spans->of[i].span_ns);
    snprintf(text + length, sizeof(text) - length, "%s", spans->has_more ? "+" : "");
    return text;
}

static void assert_taken(enum hr_osnoise_kind kind, uint64_t start_ns, uint64_t end_ns,
                         const char *expected)
{
    const struct hr_osnoise_spans spans = take(kind, start_ns, end_ns);

    ck_assert_str_eq(text_of(&spans), expected);
}

/* A kworker has two works, in the second of which the tick comes, with two timers. */
START_TEST(what_interrupted_has_its_own)
{
    add(1010, 'a', false);
    add(1050, 'b', false);
    add(1101, 't', true);
    add(1103, 'h', true);
    assert_taken(HR_OSNOISE_IRQ, 1100, 1109, "h6 t2");
    assert_taken(HR_OSNOISE_THREAD, 1000, 1200, "b150 a40");
    assert_taken(HR_OSNOISE_THREAD, 1000, 1300, "");
}
END_TEST

/* What began before isn't of it; a moment later the tracer looks again. */
START_TEST(what_ran_before_is_not_of_it)
{
    add(900, 'a', false);
    assert_taken(HR_OSNOISE_THREAD, 1000, 1200, "");
    add(2000, 'b', false);
    assert_taken(HR_OSNOISE_THREAD, 2000, 2001, "b1");
    assert_taken(HR_OSNOISE_THREAD, 800, 2500, "a1600");
}
END_TEST

/* Where the tracer doesn't see interrupts of a kind, what they run isn't what they interrupt. */
START_TEST(what_ran_in_an_unknown_interrupt_is_of_nothing)
{
    add(1010, 'a', false);
    add(1050, 'i', true);
    add(1060, 'b', false);
    assert_taken(HR_OSNOISE_THREAD, 1000, 1100, "b40 a40");
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

START_TEST(the_same_function_is_added_up)
{
    struct hr_osnoise_spans sum = {.count = 0};

    add(1010, 'a', false);
    add(1020, 'b', false);
    add(1040, 'a', false);
    struct hr_osnoise_spans spans = take(HR_OSNOISE_SOFTIRQ, 1000, 1045);
    ck_assert_str_eq(text_of(&spans), "b20 a15");
    hr_osnoise_spans_add(&sum, &spans);
    add(2010, 'c', false);
    add(2020, 'a', false);
    spans = take(HR_OSNOISE_SOFTIRQ, 2000, 2050);
    hr_osnoise_spans_add(&sum, &spans);
    hr_osnoise_spans_sort(&sum);
    ck_assert_str_eq(text_of(&sum), "a45 b20 c10");
}
END_TEST

START_TEST(the_longest_are_kept)
{
    static const unsigned char lengths[] = {5, 1, 4, 2, 3};
    uint64_t time_ns = 1000;

    for (size_t i = 0; i < sizeof(lengths); i++) {
        add(time_ns, 'a' + i, false);
        time_ns += lengths[i];
    }
    assert_taken(HR_OSNOISE_SOFTIRQ, 1000, time_ns, "a5 c4 e3 d2+");
}
END_TEST

START_TEST(the_oldest_is_forgotten)
{
    add(1000, 'a', false);
    for (unsigned i = 0; i < HR_OSNOISE_PENDING; i++)
        add(1001, 'b', false);
    assert_taken(HR_OSNOISE_SOFTIRQ, 1000, 1002, "b1");
    add(2000, 'a', false);
    hr_osnoise_causes_forget(&causes);
    assert_taken(HR_OSNOISE_SOFTIRQ, 2000, 2002, "");
}
END_TEST

/* --- Who asked for it ------------------------------------------------------ */

static void add_call(uint64_t time_ns, uint64_t request)
{
    const struct hr_osnoise_record record = {.type = HR_OSNOISE_RECORD_CAUSE,
                                             .time_ns = time_ns,
                                             .cause = {.function = 'f', .request = request}};

    hr_osnoise_causes_add(&causes, &record);
}

static void add_sender(uint64_t time_ns, uint64_t request, struct hr_osnoise_ipi_sender sender)
{
    const struct hr_osnoise_record record = {
        .type = HR_OSNOISE_RECORD_IPI,
        .time_ns = time_ns,
        .cause = {.function = 'f', .request = request, .sender = sender}};

    hr_osnoise_causes_add(&causes, &record);
}

#define TASK(number) ((struct hr_osnoise_ipi_sender){.cpu = 4, .pid = (number)})

/* Of each function the sender, and how long it took, the longest first; "-": it isn't known. */
static void assert_senders(const char *expected)
{
    const struct hr_osnoise_spans spans = take(HR_OSNOISE_IRQ, 1000, 2000);
    char text[128] = "";
    size_t length = 0;

    for (size_t i = 0; i < spans.count; i++) {
        const struct hr_osnoise_span *span = &spans.of[i];
        char sender[16] = "-";
        if (span->has_sender)
            snprintf(sender, sizeof(sender), "%d", span->sender.pid);
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s:%u",
                                   i > 0 ? " " : "", sender, (unsigned)span->span_ns);
    }
    ck_assert_str_eq(text, expected);
}

/* The kernel writes it before the function's record, or behind it. */
START_TEST(a_sender_is_that_of_the_same_request)
{
    add_sender(1001, 0x10, TASK(7));
    add_call(1002, 0x10);
    assert_senders("7:998");
    add_call(1001, 0x10);
    add_sender(1002, 0x10, TASK(7));
    assert_senders("7:999");
    add_sender(1001, 0x10, TASK(7));
    add_call(1002, 0x20);
    assert_senders("-:998");
    add_sender(1001, 0x10, TASK(7));
    add(1002, 'w', false); /* what no other CPU asked for */
    assert_senders("-:998");
    add_call(1001, 0x10); /* the one before is used up */
    assert_senders("-:999");
    add(1001, 'w', false);
    add_sender(1002, 0, TASK(7)); /* the last request was another one */
    assert_senders("-:999");
}
END_TEST

/* Three senders, one of them twice, and an unknown one. */
START_TEST(a_function_is_there_for_each_sender)
{
    add_sender(1001, 0x10, TASK(1));
    add_call(1002, 0x10);
    add_sender(1011, 0x20, TASK(2));
    add_call(1012, 0x20);
    add_call(1020, 0x30);
    add_sender(1025, 0x20, TASK(2));
    add_call(1025, 0x20);
    add_sender(1033, 0x40, TASK(3));
    add_call(1033, 0x40);
    assert_senders("3:967 2:16 1:10 -:5");
}
END_TEST

/* Whatever task they interrupt. */
START_TEST(interrupts_of_a_cpu_are_one_sender)
{
    struct hr_osnoise_ipi_sender sender = {.cpu = 4, .pid = 8, .in_interrupt = true};

    add_sender(1001, 0x10, sender);
    add_call(1002, 0x10);
    sender.pid = 7;
    add_sender(1011, 0x20, sender);
    add_call(1012, 0x20);
    assert_senders("7:998");
    add_sender(1001, 0x10, sender);
    add_call(1002, 0x10);
    add_sender(1011, 0x20, TASK(7));
    add_call(1012, 0x20);
    assert_senders("7:988 7:10");
}
END_TEST

static const struct {
    struct hr_osnoise_ipi_sender sender;
    const char *text;
} senders[] = {
    {{0, 423, false}, "perf[423] on CPU 0"},
    {{255, 423, true}, "an interrupt on CPU 255"},
    {{3, 0, false}, "the idle task on CPU 3"},
    {{3, 99, false}, "task 99 on CPU 3"},
};

START_TEST(a_sender_is_named)
{
    struct hr_root *other;
    char text[HR_OSNOISE_SENDER];

    tree_write(tree, "proc/423/comm", "perf\n");
    ck_assert_int_eq(hr_root_open(tree_path(tree), &other), 0);
    hr_osnoise_ipi_sender_print(other, &senders[_i].sender, text);
    ck_assert_str_eq(text, senders[_i].text);
    hr_root_close(other);
}
END_TEST

/* --- Recording ------------------------------------------------------------ */

static void add_event(const char *event)
{
    static const char *const files[] = {"trigger", "filter", "enable"};
    char path[256];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "instances/other/events/%s/%s", event, files[i]);
        tree_write(tree, path, "%s", "");
    }
}

static void assert_file(const char *file, const char *expected)
{
    char path[256], text[1024];
    size_t length = 0;

    snprintf(path, sizeof(path), "instances/other/events/%s", file);
    ck_assert_int_eq(hr_tracefs_read(&tracefs, path, text, sizeof(text), &length), 0);
    ck_assert_str_eq(text, expected);
}

#define WORKLOAD "COMM ~ \"osnoise/*\" || COMM ~ \"ksoftirqd/*\" || COMM ~ \"ktimers/*\"\n"

/* Before Linux 6.5 there is no csd_function_entry. */
START_TEST(records_what_there_is)
{
    const struct hr_cpu_set all = {{0}};

    add_event("workqueue/workqueue_execute_start");
    add_event("timer/hrtimer_expire_entry");
    add_event("timer/timer_expire_entry");
    hr_osnoise_cause_events_record(&tracefs, "other", &all);
    assert_file("workqueue/workqueue_execute_start/trigger", "hist:keys=function.sym:size=512\n");
    assert_file("workqueue/workqueue_execute_start/filter", "");
    assert_file("workqueue/workqueue_execute_start/enable", "1\n");
    assert_file("timer/hrtimer_expire_entry/trigger",
                "hist:keys=function.sym:size=512 if " WORKLOAD);
    assert_file("timer/hrtimer_expire_entry/filter", WORKLOAD);
    assert_file("timer/hrtimer_expire_entry/enable", "1\n");
    assert_file("timer/timer_expire_entry/enable", "1\n");
    ck_assert(!hr_tracefs_exists(&tracefs, "instances/other/events/csd"));
    add_event("csd/csd_function_entry");
    hr_osnoise_cause_events_record(&tracefs, "other", &all);
    assert_file("csd/csd_function_entry/trigger", "hist:keys=func.sym:size=512 if " WORKLOAD);
    assert_file("csd/csd_function_entry/enable", "1\n");
}
END_TEST

/* The ranges of CPUs, and the filter; of many ranges one around all. */
static const struct {
    unsigned ranges[10][2];
    const char *filter;
} filters[] = {
    {{{2, 7}}, "CPU >= 2 && CPU <= 7"},
    {{{3, 3}}, "CPU >= 3 && CPU <= 3"},
    {{{1, 1}, {3, 63}, {65, 128}, {8191, 8191}},
     "CPU >= 1 && CPU <= 1 || CPU >= 3 && CPU <= 63 || CPU >= 65 && CPU <= 128 || CPU >= 8191 && "
     "CPU <= 8191"},
    {{{1, 1}, {3, 3}, {5, 5}, {7, 7}, {9, 9}, {11, 11}, {13, 13}, {15, 15}, {17, 17}, {19, 20}},
     "CPU >= 1 && CPU <= 20"},
};

#define QUEUE_TRIGGER                                                                              \
    "hist:keys=cpu:from_csd=csd,from_pid=common_pid,from_flags=common_flags,from_cpu=common_cpu"
#define ENTRY_TRIGGER                                                                              \
    "hist:keys=common_cpu:last=$from_csd,pid=$from_pid,flags=$from_flags,cpu=$from_cpu:"           \
    "onmatch(csd.csd_queue_cpu).trace(headroom_ipi,func,csd,$last,$pid,$flags,$cpu)"
#define OF_5                                                                                       \
    "(CPU >= 5 && CPU <= 5) && (COMM ~ \"osnoise/*\" || COMM ~ \"ksoftirqd/*\" || COMM ~ "         \
    "\"ktimers/*\")\n"

/* A file keeps what is appended. */
START_TEST(records_senders)
{
    struct hr_cpu_set cpus = {{0}};
    char text[1024];

    hr_cpu_set_add(&cpus, 5);
    tree_write(tree, "synthetic_events", "%s", "other u32 field\n");
    tree_write(tree, "instances/other/events/synthetic/headroom_ipi/enable", "0\n");
    add_event("csd/csd_queue_cpu");
    add_event("csd/csd_function_entry");
    hr_osnoise_cause_events_record(&tracefs, "other", &cpus);
    ck_assert_int_eq(hr_tracefs_read(&tracefs, "synthetic_events", text, sizeof(text), NULL), 0);
    ck_assert_str_eq(text,
                     "other u32 field\n"
                     "headroom_ipi unsigned long function; unsigned long csd; unsigned long last; "
                     "s32 pid; u8 flags; u32 cpu\n");
    assert_file("csd/csd_queue_cpu/trigger", QUEUE_TRIGGER " if cpu >= 5 && cpu <= 5\n");
    assert_file("csd/csd_queue_cpu/enable", "");
    assert_file("csd/csd_function_entry/trigger",
                ENTRY_TRIGGER " if " OF_5 "hist:keys=func.sym:size=512 if " OF_5);
    assert_file("synthetic/headroom_ipi/enable", "1\n");
    hr_osnoise_ipi_senders_remove(&tracefs, "other");
    assert_file("synthetic/headroom_ipi/enable", "0\n");
    assert_file("csd/csd_function_entry/trigger", "");
    assert_file("csd/csd_queue_cpu/trigger", "");
    ck_assert_int_eq(hr_tracefs_read(&tracefs, "synthetic_events", text, sizeof(text), NULL), 0);
    ck_assert_ptr_nonnull(strstr(text, "\n!headroom_ipi\n"));
}
END_TEST

/* Without CONFIG_SYNTH_EVENTS functions have names, but no senders. */
START_TEST(records_functions_without_senders)
{
    const struct hr_cpu_set all = {{0}};

    add_event("csd/csd_queue_cpu");
    add_event("csd/csd_function_entry");
    hr_osnoise_cause_events_record(&tracefs, "other", &all);
    assert_file("csd/csd_queue_cpu/trigger", "");
    assert_file("csd/csd_function_entry/trigger", "hist:keys=func.sym:size=512 if " WORKLOAD);
    assert_file("csd/csd_function_entry/enable", "1\n");
}
END_TEST

START_TEST(records_of_the_cpus_alone)
{
    struct hr_cpu_set cpus = {{0}};
    char expected[512];

    for (size_t i = 0; i < 10 && filters[_i].ranges[i][1] > 0; i++)
        for (unsigned cpu = filters[_i].ranges[i][0]; cpu <= filters[_i].ranges[i][1]; cpu++)
            hr_cpu_set_add(&cpus, cpu);
    add_event("workqueue/workqueue_execute_start");
    add_event("timer/timer_expire_entry");
    hr_osnoise_cause_events_record(&tracefs, "other", &cpus);
    snprintf(expected, sizeof(expected), "%s\n", filters[_i].filter);
    assert_file("workqueue/workqueue_execute_start/filter", expected);
    snprintf(expected, sizeof(expected), "hist:keys=function.sym:size=512 if %s\n",
             filters[_i].filter);
    assert_file("workqueue/workqueue_execute_start/trigger", expected);
    snprintf(expected, sizeof(expected),
             "(%s) && (COMM ~ \"osnoise/*\" || COMM ~ \"ksoftirqd/*\" || COMM ~ \"ktimers/*\")\n",
             filters[_i].filter);
    assert_file("timer/timer_expire_entry/filter", expected);
    assert_file("timer/timer_expire_entry/enable", "1\n");
}
END_TEST

/* Without CONFIG_HIST_TRIGGERS functions have no names; nor is recorded what can't be filtered. */
START_TEST(records_nothing_in_vain)
{
    const struct hr_cpu_set all = {{0}};

    add_event("workqueue/workqueue_execute_start");
    tree_remove(tree, "instances/other/events/workqueue/workqueue_execute_start/trigger");
    add_event("timer/hrtimer_expire_entry");
    tree_remove(tree, "instances/other/events/timer/hrtimer_expire_entry/filter");
    hr_osnoise_cause_events_record(&tracefs, "other", &all);
    assert_file("workqueue/workqueue_execute_start/enable", "");
    assert_file("timer/hrtimer_expire_entry/enable", "");
}
END_TEST

/* --- Names ---------------------------------------------------------------- */

#define EVENTS "instances/ours/events/"
#define WORK   EVENTS "workqueue/workqueue_execute_start/"
#define CSD    EVENTS "csd/csd_function_entry/"

#define NAMES(info, entries)                                                                       \
    "# event histogram\n#\n# trigger info: hist:keys=" info                                        \
    ":vals=hitcount:sort=hitcount:size=512 [active]\n#\n\n" entries                                \
    "\nTotals:\n    Hits: 3\n    Entries: 2\n    Dropped: 0\n"

static void set_up(void)
{
    causes = (struct hr_osnoise_causes){.count = 0};
    tree = tree_new();
    tree_write(tree, WORK "hist", "%s",
               NAMES("function.sym",
                     "{ function: [ffffffff81249dd0] vmstat_update                                 "
                     "} hitcount:          2\n"
                     "{ function: [ffffffffc0123000] nvme_reset_work [nvme]                        "
                     "} hitcount:          1\n"));
    tree_write(tree, CSD "hist", "%s",
               NAMES("func.sym",
                     "{ func: [ffffffff811e3b80] remote_function                               } "
                     "hitcount:          1\n"
                     "{ func: [ffffffff811e3b90] a_name_that_is_longer_than_the_column_which_has_"
                     "45_characters_and_than_ours } hitcount:          1\n"));
    tracefs = open_tracefs(tree_path(tree));
    ck_assert_int_eq(hr_osnoise_function_names_open("ours", &names), 0);
}

static void tear_down(void)
{
    hr_osnoise_function_names_close(names);
    close(tracefs.fd);
    tree_free(tree);
}

static const char *name(uint64_t function)
{
    return hr_osnoise_function_name(names, &tracefs, function);
}

/* Two of the four events aren't there, as in an older kernel. */
START_TEST(names_are_the_kernels)
{
    ck_assert_str_eq(name(0xffffffff81249dd0), "vmstat_update");
    ck_assert_str_eq(name(0xffffffffc0123000), "nvme_reset_work [nvme]");
    ck_assert_str_eq(name(0xffffffff811e3b80), "remote_function");
    ck_assert_str_eq(name(0xffffffff811e3b90),
                     "a_name_that_is_longer_than_the_column_which_has_45_characters_a");
    ck_assert_ptr_null(name(0xffffffff81249dd1));
    ck_assert_ptr_null(name(0));
    ck_assert_ptr_null(hr_osnoise_function_name(NULL, &tracefs, 0xffffffff81249dd0));
}
END_TEST

/* Tables are read once a reading, and then only if there is a new one. */
START_TEST(new_names_are_read)
{
    ck_assert_str_eq(name(0xffffffff81249dd0), "vmstat_update");
    ck_assert_str_eq(name(0xffffffffc0123000), "nvme_reset_work [nvme]");
    tree_write(tree, WORK "hist", "%s",
               NAMES("function.sym", "{ function: [5] later } hitcount:          2\n"));
    ck_assert_ptr_null(name(5));
    hr_osnoise_function_names_renew(names);
    ck_assert_str_eq(name(0xffffffff81249dd0), "vmstat_update");
    ck_assert_str_eq(name(5), "later");
    hr_osnoise_function_names_renew(names);
    ck_assert_ptr_null(name(0xffffffff81249dd0)); /* the table doesn't have it any more */
}
END_TEST

/* Another module may have been loaded where one was. */
START_TEST(names_of_modules_are_read_again)
{
    ck_assert_str_eq(name(0xffffffffc0123000), "nvme_reset_work [nvme]");
    tree_write(tree, WORK "hist", "%s",
               NAMES("function.sym",
                     "{ function: [ffffffffc0123000] ixgbe_service_task [ixgbe] } hitcount: 1\n"));
    ck_assert_str_eq(name(0xffffffffc0123000), "nvme_reset_work [nvme]");
    hr_osnoise_function_names_renew(names);
    ck_assert_str_eq(name(0xffffffffc0123000), "ixgbe_service_task [ixgbe]");
}
END_TEST

static const char *const broken[] = {
    "",
    "{ function: [5] later",
    "{ function: [5] later }\n",
    "{ function: [5]  } hitcount: 1\n",
    "{ function: [5] 0x5 } hitcount: 1\n", /* of a module that was removed */
    "{ function: 5 later } hitcount: 1\n",
    "{ func: [5] later } hitcount: 1\n",
    "{ function: [11112222333344445] later } hitcount: 1\n",
    "{ function: [",
    "\n\n{",
};

START_TEST(what_is_no_table_has_no_names)
{
    tree_write(tree, WORK "hist", "%s", broken[_i]);
    ck_assert_ptr_null(name(5));
    ck_assert_str_eq(name(0xffffffff811e3b80), "remote_function");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("causes");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_interrupted_has_its_own);
    tcase_add_test(tests, what_ran_before_is_not_of_it);
    tcase_add_test(tests, what_ran_in_an_unknown_interrupt_is_of_nothing);
    tcase_add_test(tests, the_same_function_is_added_up);
    tcase_add_test(tests, the_longest_are_kept);
    tcase_add_test(tests, the_oldest_is_forgotten);
    tcase_add_test(tests, a_sender_is_that_of_the_same_request);
    tcase_add_test(tests, a_function_is_there_for_each_sender);
    tcase_add_test(tests, interrupts_of_a_cpu_are_one_sender);
    tcase_add_loop_test(tests, a_sender_is_named, 0, (int)(sizeof(senders) / sizeof(senders[0])));
    tcase_add_test(tests, records_what_there_is);
    tcase_add_test(tests, records_senders);
    tcase_add_test(tests, records_functions_without_senders);
    tcase_add_loop_test(tests, records_of_the_cpus_alone, 0,
                        (int)(sizeof(filters) / sizeof(filters[0])));
    tcase_add_test(tests, records_nothing_in_vain);
    tcase_add_test(tests, names_are_the_kernels);
    tcase_add_test(tests, new_names_are_read);
    tcase_add_test(tests, names_of_modules_are_read_again);
    tcase_add_loop_test(tests, what_is_no_table_has_no_names, 0,
                        (int)(sizeof(broken) / sizeof(broken[0])));
    return run_suite("osnoise_causes", tests);
}
