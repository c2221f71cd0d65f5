/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_plugin_osnoise_alert.c - the notifications of the plugin osnoise: when it notifies
 * of single noises and of their end, and with what text.
 */
#include "plugin/osnoise/alert_harness.h"

#include "headroom/clock.h"
#include "plugin/osnoise/fake_dispatcher.h"
#include "support/suite.h"

/* --- What is said --------------------------------------------------------- */

#define PARTS(...)                                                                                 \
    .parts = {__VA_ARGS__},                                                                        \
    .part_count = sizeof((struct hr_osnoise_part[]){__VA_ARGS__}) / sizeof(struct hr_osnoise_part)
#define SPINNER HR_OSNOISE_THREAD, "spinner", 812, 2001000, .count = 1
#define TIMER   HR_OSNOISE_IRQ, "local_timer", 236, 9000, .count = 1
#define LONG                                                                                       \
    HR_OSNOISE_IRQ, "mlx5_comp3@pci:0000:3b:00.0-and-a-tail-of-it", 124, 9000000, .count = 1000

static const struct {
    struct hr_osnoise_single_noise single_noise;
    const char *message;
    const char *part; /* the last, of metadata */
} said[] = {
    {{3, 2013000, 2, PARTS({SPINNER}, {TIMER}), .parts_are_all = true},
     "noise of 2013 us on CPU 3, above 50 us: thread spinner[812] 2001 us, irq local_timer[236] "
     "9 us; 3 us unexplained",
     "irq local_timer[236] 9 us"},
    {{3, 2013000, 2, PARTS({SPINNER}, {TIMER}), .parts_are_all = false},
     "noise of 2013 us on CPU 3, above 50 us: thread spinner[812] 2001 us, irq local_timer[236] "
     "9 us, and more",
     "irq local_timer[236] 9 us"},
    /* clocks differ a little */
    {{3, 2000000, 1, PARTS({SPINNER}), .parts_are_all = true},
     "noise of 2000 us on CPU 3, above 50 us: thread spinner[812] 2001 us",
     NULL},
    {{8191, 60500, 4,
      PARTS({HR_OSNOISE_SOFTIRQ, "NET_RX", 3, 40400, .count = 3},
            {HR_OSNOISE_NMI, "NMI", 0, 1540, .count = 1},
            {HR_OSNOISE_THREAD, "a\nb", 7, 350, .count = 1}),
      .parts_are_all = true},
     "noise of 60 us on CPU 8191, above 50 us: softirq NET_RX 40 us (3 times), nmi 1.5 us, thread "
     "a?b[7] 0.35 us; 18 us unexplained",
     "thread a?b[7] 0.35 us"},
    /* the functions that ran, of which there may be more than are named */
    {{3, 2013000, 2,
      PARTS({HR_OSNOISE_THREAD, "kworker/3:1", 93, 1900000, .count = 2,
             .functions = {"refresh_vm_stats", "nvme_timeout [nvme]"}, .function_count = 2},
            {HR_OSNOISE_IRQ, "local_timer", 236, 9000, .count = 1, .functions = {"a", "b", "c"},
             .senders = {"", "perf[423] on CPU 0"}, .function_count = 3,
             .has_more_functions = true}),
      .parts_are_all = false},
     "noise of 2013 us on CPU 3, above 50 us: thread kworker/3:1[93] (refresh_vm_stats, "
     "nvme_timeout [nvme]) 1900 us (2 times), irq local_timer[236] (a, b for perf[423] on CPU 0, c "
     "and "
     "more) 9 us, and "
     "more",
     "irq local_timer[236] (a, b for perf[423] on CPU 0, c and more) 9 us"},
    {{3, 51000, 0, .parts_are_all = true},
     "noise of 51 us on CPU 3, above 50 us, without any interference that the kernel saw: "
     "hardware, firmware or the host of a virtual machine",
     NULL},
    {{3, 51000, 2, .parts_are_all = false},
     "noise of 51 us on CPU 3, above 50 us; what interfered isn't known, as its records were lost",
     NULL},
    /* names of any bytes: UTF-8 stays; not so what only looks like it, or is cut off */
    {{3, 60000, 1,
      PARTS({HR_OSNOISE_THREAD, "K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x98\x80", 7, 59000, .count = 1}),
      .parts_are_all = true},
     "noise of 60 us on CPU 3, above 50 us: thread K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x98\x80[7] 59 "
     "us; "
     "1 us unexplained",
     "thread K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x98\x80[7] 59 us"},
    {{3, 60000, 1,
      PARTS({HR_OSNOISE_THREAD, "a\xff\x80 \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xc3", 7, 59000,
             .count = 1}),
      .parts_are_all = true},
     "noise of 60 us on CPU 3, above 50 us: thread a?? ?? ??? ???? ?[7] 59 us; 1 us unexplained",
     "thread a?? ?? ??? ???? ?[7] 59 us"},
    {{3, 60000, 1, PARTS({HR_OSNOISE_THREAD, "a\x1b[2J\x7f\xc2\x9b", 7, 59000, .count = 1}),
      .parts_are_all = true},
     "noise of 60 us on CPU 3, above 50 us: thread a?[2J???[7] 59 us; 1 us unexplained",
     "thread a?[2J???[7] 59 us"},
    /* more than fits */
    {{8191, 60000000, 5000, PARTS({LONG}, {LONG}, {LONG}, {LONG}), .parts_are_all = true},
     "noise of 60000 us on CPU 8191, above 50 us: irq mlx5_comp3@pci:0000:3b:00.0-and-a-tail-of-it"
     "[124] 9000 us (1000 times), irq mlx5_comp3@pci:0000:3b:00.0-and-a-tail-of-it[124] 9000 us "
     "(1000 times), and more; 24000 us unexplained",
     NULL},
};

START_TEST(says_what_interfered)
{
    const struct hr_osnoise_single_noise *single_noise = &said[_i].single_noise;
    char name[32];

    take(single_noise, 1);
    ck_assert_uint_eq(fake_notifications(), 1);
    const notification_t *notice = last();
    ck_assert_str_eq(notice->message, said[_i].message);
    ck_assert_int_eq(notice->severity, NOTIF_FAILURE);
    ck_assert_str_eq(notice->host, hostname_g);
    ck_assert_str_eq(notice->plugin, "osnoise");
    snprintf(name, sizeof(name), "cpu%u", single_noise->cpu);
    ck_assert_str_eq(notice->plugin_instance, name);
    ck_assert_str_eq(notice->type, "duration");
    ck_assert_str_eq(notice->type_instance, "max_single");
    ck_assert_uint_ne(notice->time, 0);
    ck_assert_uint_eq(meta_count(notice, "CPU"), single_noise->cpu);
    ck_assert_uint_eq(meta_count(notice, "Interferences"), single_noise->interference_count);
    ck_assert_double_eq_tol(meta_double(notice, "Limit"), 50e-6, 1e-12);
    ck_assert_double_eq_tol(meta_double(notice, "Duration"),
                            (double)single_noise->duration_ns / 1e9, 1e-12);
    snprintf(name, sizeof(name), "Part%zu", single_noise->part_count + 1);
    ck_assert_ptr_null(meta(notice, name));
    snprintf(name, sizeof(name), "Part%zu", single_noise->part_count);
    if (said[_i].part != NULL)
        ck_assert_str_eq(meta_text(notice, name), said[_i].part);
}
END_TEST

/* However long the names are: what is left out is said to be. */
START_TEST(says_that_there_is_more)
{
    static const char more[] = ", and more";
    struct hr_osnoise_single_noise single_noise = {
        .cpu = 3, .duration_ns = 60000, .part_count = 4, .parts_are_all = true};

    for (size_t i = 0; i < single_noise.part_count; i++) {
        single_noise.parts[i] = (struct hr_osnoise_part){
            .kind = HR_OSNOISE_IRQ, .number = 1, .duration_ns = 15000, .count = 1};
        memset(single_noise.parts[i].name, 'x', HR_OSNOISE_NAME - 1);
    }
    single_noise.parts[0].name[_i] = '\0';
    take(&single_noise, 1);
    const char *message = last()->message;
    ck_assert_msg(strcmp(message + strlen(message) - strlen(more), more) == 0, "%s", message);
}
END_TEST

/* --- When ----------------------------------------------------------------- */

START_TEST(reports_the_end)
{
    take_one(3, 60);
    take_one(3, 61);
    pass(59);
    ck_assert_uint_eq(fake_notifications(), 1);
    pass(1);
    ck_assert_uint_eq(fake_notifications(), 2);
    const notification_t *notice = last();
    ck_assert_int_eq(notice->severity, NOTIF_OKAY);
    ck_assert_str_eq(notice->plugin_instance, "cpu3");
    ck_assert_str_eq(notice->message,
                     "no noise above 50 us on CPU 3 for 60 s; 2 were above, the longest 61 us");
    ck_assert_uint_eq(meta_count(notice, "CPU"), 3);
    pass(100);
    ck_assert_uint_eq(fake_notifications(), 2);
    take_one(3, 55); /* begins again */
    ck_assert_uint_eq(fake_notifications(), 3);
    pass(60);
    ck_assert_str_eq(last()->message, "no noise above 50 us on CPU 3 for 60 s; 1 was above, the "
                                      "longest 55 us");
}
END_TEST

/* A noise in the quiet time restarts it. */
START_TEST(counts_quiet_from_the_last)
{
    take_one(3, 60);
    pass(40);
    take_one(3, 60);
    pass(59);
    ck_assert_uint_eq(fake_notifications(), 1);
    pass(1);
    ck_assert_uint_eq(fake_notifications(), 2);
}
END_TEST

/* One alarm, one end, however many there are. */
START_TEST(does_not_flood)
{
    for (int i = 0; i < 1000; i++)
        take_one(3, 60 + (uint64_t)i % 59);
    for (uint64_t us = 51; us < 10000000; us += us / 10 + 1)
        take_one(3, us);
    ck_assert_uint_eq(fake_notifications(), 1);
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 2);
    ck_assert_int_eq(last()->severity, NOTIF_OKAY);
}
END_TEST

START_TEST(repeats_if_the_rule_says_so)
{
    alert_options.rule.repeat_ns = 10 * HR_NS_PER_S;
    restart_alert();
    take_one(3, 90);
    for (int i = 0; i < 9; i++)
        take_one(3, 60);
    ck_assert_uint_eq(fake_notifications(), 1);
    take_one(3, 70);
    ck_assert_uint_eq(fake_notifications(), 2);
    ck_assert_str_eq(last()->message,
                     "noise of 70 us on CPU 3, above 50 us, 11 in 10 s, the longest 90 us, without "
                     "any interference that the kernel saw: hardware, firmware or the host of a "
                     "virtual machine");
    ck_assert_int_eq(last()->severity, NOTIF_FAILURE);
    pass(30); /* nothing to report */
    ck_assert_uint_eq(fake_notifications(), 2);
    take_one(3, 55);
    take_one(3, 55);
    ck_assert_uint_eq(fake_notifications(), 3);
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 4);
    ck_assert_ptr_nonnull(strstr(last()->message, "; 13 were above, the longest 90 us"));
}
END_TEST

/* Its end would be dispatched after a new beginning. */
START_TEST(goes_on_while_its_end_waits)
{
    take_one(3, 60);
    fake_dispatcher.is_held = true;
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 1);
    take_one(3, 70);
    fake_dispatcher.is_held = false;
    ck_assert_uint_eq(fake_notifications(), 1);
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 2);
    ck_assert_ptr_nonnull(strstr(last()->message, "; 2 were above, the longest 70 us"));
}
END_TEST

/* What couldn't be queued has no end either. */
START_TEST(tries_again_when_the_queue_was_full)
{
    fake_dispatcher.is_full = true;
    take_one(3, 60);
    take_one(4, 60);
    fake_dispatcher.is_full = false;
    take_one(3, 55);
    ck_assert_uint_eq(fake_notifications(), 1);
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 2);
    ck_assert_ptr_nonnull(
        strstr(last()->message, "CPU 3 for 60 s; 2 were above, the longest 60 us"));
}
END_TEST

/* A CPU with hundreds of noises a second neither keeps the alarm of another nor raises one. */
START_TEST(a_noisy_cpu_does_not_concern_others)
{
    const struct hr_osnoise_single_noise noises[] = {{.cpu = 4, .duration_ns = 60000},
                                                     {.cpu = 4, .duration_ns = 70000},
                                                     {.cpu = 4, .duration_ns = 80000},
                                                     {.cpu = 4, .duration_ns = 90000}};
    const struct hr_osnoise_cpu cpus[] = {{.cpu = 3, .sample_count = 1},
                                          {.cpu = 4, .sample_count = 1, .single_count = 500}};
    const struct hr_osnoise_reading reading = {.elapsed_ns = HR_NS_PER_S,
                                               .cpus = cpus,
                                               .cpu_count = 2,
                                               .single_noises = noises,
                                               .single_noise_count = COUNT(noises),
                                               .single_noise_more_count = 496};

    take_one(3, 60);
    for (int i = 0; i < 60; i++)
        osnoise_alert_update(alert, &reading);
    ck_assert_uint_eq(fake_notifications(), 3);
    ck_assert_uint_eq(meta_count(fake_notification(1), "CPU"), 4);
    ck_assert_str_eq(last()->message,
                     "no noise above 50 us on CPU 3 for 60 s; 1 was above, the longest 60 us");
    pass(60);
    ck_assert_str_eq(last()->message, "no noise above 50 us on CPU 4 for 60 s; 30000 were above, "
                                      "the longest 90 us");
}
END_TEST

START_TEST(reports_the_longest_of_a_reading)
{
    const struct hr_osnoise_single_noise single_noises[] = {
        {.cpu = 3, .duration_ns = 60000},  {.cpu = 4, .duration_ns = 70000},
        {.cpu = 3, .duration_ns = 900000}, {.cpu = 3, .duration_ns = 300000},
        {.cpu = 4, .duration_ns = 55000},
    };

    take(single_noises, COUNT(single_noises));
    ck_assert_uint_eq(fake_notifications(), 2);
    for (size_t i = 0; i < 2; i++) {
        const notification_t *notice = fake_notification(i);
        bool is_three = meta_count(notice, "CPU") == 3;
        ck_assert_double_eq_tol(meta_double(notice, "Duration"), is_three ? 900e-6 : 70e-6, 1e-12);
    }
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 4);
    ck_assert_ptr_nonnull(
        strstr(fake_notification(2)->message, "3 were above, the longest 900 us"));
    ck_assert_ptr_nonnull(strstr(fake_notification(3)->message, "2 were above, the longest 70 us"));
}
END_TEST

/* Whether it is quiet is unknown where nothing is measured. */
START_TEST(waits_for_a_cpu_that_is_not_measured)
{
    take_one(3, 60);
    for (int i = 0; i < 100; i++) {
        take_as(HR_OSNOISE_CPU_OFFLINE, 0, NULL, 0);
        take_as(HR_OSNOISE_CPU_SILENT, 0, NULL, 0);
    }
    ck_assert_uint_eq(fake_notifications(), 1);
    pass(60);
    ck_assert_uint_eq(fake_notifications(), 2);
}
END_TEST

/* With a period of an hour the CPU is taken for fine for hours, though nothing comes. */
START_TEST(is_quiet_once_a_sample_says_so)
{
    take_one(3, 60);
    pass_in_period(3599);
    ck_assert_uint_eq(fake_notifications(), 1);
    pass(1);
    ck_assert_uint_eq(fake_notifications(), 2);
    ck_assert_int_eq(last()->severity, NOTIF_OKAY);
}
END_TEST

/* What passed before a noise within the same period isn't quiet after it. */
/* A kernel that has samples for another program alone. */
START_TEST(is_quiet_without_samples)
{
    const struct hr_osnoise_cpu cpu = {.cpu = 3};
    const struct hr_osnoise_reading reading = {
        .elapsed_ns = HR_NS_PER_S, .cpus = &cpu, .cpu_count = 1, .lacks_samples = true};

    take_one(3, 100);
    for (int i = 0; i < 60; i++) {
        ck_assert_uint_eq(fake_notifications(), 1);
        osnoise_alert_update(alert, &reading);
    }
    ck_assert_int_eq(last()->severity, NOTIF_OKAY);
}
END_TEST

START_TEST(counts_quiet_from_a_noise_within_the_period)
{
    const struct hr_osnoise_single_noise single_noise = {.cpu = 3, .duration_ns = 60000};

    take_one(3, 60);
    pass_in_period(100);
    take_as(HR_OSNOISE_CPU_FINE, 0, &single_noise, 1);
    pass_in_period(10);
    pass(1);
    ck_assert_uint_eq(fake_notifications(), 1);
    pass_in_period(48);
    pass(1);
    ck_assert_uint_eq(fake_notifications(), 2);
}
END_TEST

/* Of time after which no sample came for three periods it is known that it wasn't measured. */
START_TEST(forgets_what_was_not_measured)
{
    const enum hr_osnoise_cpu_state absent[] = {HR_OSNOISE_CPU_SILENT, HR_OSNOISE_CPU_OFFLINE};

    take_one(3, 60);
    pass_in_period(100);
    take_as(absent[_i], 0, NULL, 0);
    pass(59);
    ck_assert_uint_eq(fake_notifications(), 1);
    pass(1);
    ck_assert_uint_eq(fake_notifications(), 2);
}
END_TEST

START_TEST(is_not_quiet_while_something_is_unknown)
{
    const struct hr_osnoise_cpu cpus[] = {{.cpu = 3, .sample_count = 1, .lost_count = 1},
                                          {.cpu = 4, .sample_count = 1}};
    const struct hr_osnoise_reading reading = {
        .elapsed_ns = 100 * HR_NS_PER_S, .cpus = cpus, .cpu_count = 2};

    take_one(3, 60);
    take_one(4, 60);
    osnoise_alert_update(alert, &reading);
    ck_assert_uint_eq(fake_notifications(), 3); /* of CPU 4 all is known */
    pass(60);
    ck_assert_str_eq(last()->message, "no noise above 50 us on CPU 3 for 60 s; at least 1 was "
                                      "above, the longest 60 us");
}
END_TEST

START_TEST(says_nothing_of_nothing)
{
    pass(200);
    ck_assert_uint_eq(fake_notifications(), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("alert");

    tcase_add_checked_fixture(tests, alert_set_up, alert_tear_down);
    tcase_add_loop_test(tests, says_what_interfered, 0, COUNT(said));
    tcase_add_loop_test(tests, says_that_there_is_more, 0, HR_OSNOISE_NAME);
    tcase_add_test(tests, reports_the_end);
    tcase_add_test(tests, counts_quiet_from_the_last);
    tcase_add_test(tests, does_not_flood);
    tcase_add_test(tests, repeats_if_the_rule_says_so);
    tcase_add_test(tests, goes_on_while_its_end_waits);
    tcase_add_test(tests, tries_again_when_the_queue_was_full);
    tcase_add_test(tests, a_noisy_cpu_does_not_concern_others);
    tcase_add_test(tests, reports_the_longest_of_a_reading);
    tcase_add_test(tests, waits_for_a_cpu_that_is_not_measured);
    tcase_add_test(tests, is_quiet_once_a_sample_says_so);
    tcase_add_test(tests, is_quiet_without_samples);
    tcase_add_test(tests, counts_quiet_from_a_noise_within_the_period);
    tcase_add_loop_test(tests, forgets_what_was_not_measured, 0, 2);
    tcase_add_test(tests, is_not_quiet_while_something_is_unknown);
    tcase_add_test(tests, says_nothing_of_nothing);
    return run_suite("osnoise alert", tests);
}
