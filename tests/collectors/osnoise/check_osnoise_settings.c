/* SPDX-License-Identifier: MIT */
/*
 * collectors/osnoise/check_osnoise_settings.c - the tracer's settings, set and restored. Over a
 * stand-in for tracefs, which refuses what the kernel refuses.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "headroom/root.h"
#include "osnoise/settings.h"
#include "support/fake_tracefs.h"
#include "support/suite.h"

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

static struct tree *tree;
static struct hr_root *root;
static struct hr_tracefs tracefs;
static struct hr_reason reason;
static struct hr_osnoise_settings original;

static void set_up(void)
{
    tree = tree_new();
    fake_tracefs_begin(tree, 8);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    ck_assert_int_eq(hr_tracefs_open(root, &tracefs, &reason), 0);
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &original, NULL), 0);
}

static void tear_down(void)
{
    hr_tracefs_close(&tracefs);
    hr_root_close(root);
    fake_tracefs_end();
    tree_free(tree);
}

static struct hr_cpu_set parse(const char *list)
{
    struct hr_cpu_set cpus;

    ck_assert_int_eq(hr_cpu_set_parse(list, strlen(list), &cpus), 0);
    return cpus;
}

/* All settings, each different from its initial value. */
static struct hr_osnoise_settings want(void)
{
    struct hr_osnoise_settings wanted = {.cpus = parse("2-3,5"),
                                         .numbers = {[HR_OSNOISE_PERIOD] = 500000,
                                                     [HR_OSNOISE_RUNTIME] = 20000,
                                                     [HR_OSNOISE_THRESHOLD] = 5,
                                                     [HR_OSNOISE_TIMERLAT_PERIOD] = 500,
                                                     [HR_OSNOISE_PRINT_STACK] = 40,
                                                     [HR_OSNOISE_OPTION_IRQ_DISABLE] = 1,
                                                     [HR_OSNOISE_OPTION_PREEMPT_DISABLE] = 1,
                                                     [HR_OSNOISE_OPTION_ALIGN] = 1}};

    for (int i = 0; i < HR_OSNOISE_SETTING_COUNT; i++)
        wanted.has[i] = true;
    return wanted;
}

/* --- Reading -------------------------------------------------------------- */

START_TEST(reads_the_defaults)
{
    char text[64];

    static const char *const printed[] = {"0-7", "1000000", "1000000", "0",   "1000",
                                          "0",   "on",      "off",     "off", "off"};
    for (int i = 0; i < HR_OSNOISE_SETTING_COUNT; i++) {
        ck_assert(original.has[i]);
        hr_osnoise_setting_print(&original, i, text, sizeof(text));
        ck_assert_str_eq(text, printed[i]);
    }
    hr_osnoise_setting_print(&original, HR_OSNOISE_PERIOD, text, 4);
    ck_assert_str_eq(text, "100");
    ck_assert_str_eq(hr_osnoise_setting_name(HR_OSNOISE_THRESHOLD), "tracing_thresh");
}
END_TEST

static const struct {
    const char *file, *text;
    int status;
} unreadable[] = {
    {"osnoise/cpus", "0-9000\n", -EBADMSG},    {"osnoise/cpus", "some\n", -EBADMSG},
    {"osnoise/period_us", "many\n", -EBADMSG}, {"osnoise/runtime_us", "\n", -EBADMSG},
    {"tracing_thresh", "-1\n", -EBADMSG},      {"osnoise/cpus", NULL, -ENOENT},
};

START_TEST(reports_what_it_cannot_read)
{
    struct hr_osnoise_settings settings = want(), before = settings;

    if (unreadable[_i].text != NULL) {
        fake_tracefs_set(unreadable[_i].file, "%s", unreadable[_i].text);
    } else {
        char path[128];
        snprintf(path, sizeof(path), FAKE_TRACEFS "/%s", unreadable[_i].file);
        tree_remove(tree, path);
    }
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &settings, &reason), unreadable[_i].status);
    ck_assert_int_eq(reason.error, unreadable[_i].status);
    ck_assert_ptr_nonnull(
        strstr(reason.text, unreadable[_i].status == -ENOENT
                                ? "no osnoise tracer: it needs Linux"
                                : "can't read the settings of the osnoise tracer"));
    ck_assert_mem_eq(&settings, &before, sizeof(settings));
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &before, &reason), unreadable[_i].status);
    ck_assert_int_eq(reason.error, unreadable[_i].status);
    ck_assert_str_eq(fake_tracefs_log(), "");
}
END_TEST

/* One that was built without timerlat. */
START_TEST(a_kernel_without_timerlat)
{
    struct hr_osnoise_settings settings, wanted = want();

    tree_remove(tree, FAKE_TRACEFS "/osnoise/timerlat_period_us");
    tree_remove(tree, FAKE_TRACEFS "/osnoise/print_stack");
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &settings, NULL), 0);
    ck_assert(settings.has[HR_OSNOISE_PERIOD] && settings.has[HR_OSNOISE_OPTION_WORKLOAD]);
    ck_assert(!settings.has[HR_OSNOISE_TIMERLAT_PERIOD] && !settings.has[HR_OSNOISE_PRINT_STACK]);
    wanted.has[HR_OSNOISE_TIMERLAT_PERIOD] = wanted.has[HR_OSNOISE_PRINT_STACK] = false;
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), 0);
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &settings), 0);
    fake_tracefs_set("osnoise/print_stack", "x\n");
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &settings, NULL), -EBADMSG);
}
END_TEST

START_TEST(finds_hazards)
{
    struct hr_osnoise_hazards hazards;

    ck_assert_int_eq(hr_osnoise_hazards_read(&tracefs, &hazards, NULL), 0);
    ck_assert(hazards.stop_us == 0 && hazards.stop_total_us == 0 && !hazards.panic);
    fake_tracefs_set("osnoise/stop_tracing_us", "30\n");
    fake_tracefs_set("osnoise/stop_tracing_total_us", "50\n");
    fake_tracefs_set("osnoise/options", "OSNOISE_WORKLOAD PANIC_ON_STOP \n");
    ck_assert_int_eq(hr_osnoise_hazards_read(&tracefs, &hazards, NULL), 0);
    ck_assert(hazards.stop_us == 30 && hazards.stop_total_us == 50 && hazards.panic);
}
END_TEST

/* --- Setting and putting back --------------------------------------------- */

static void assert_as_before(void)
{
    struct hr_osnoise_settings now;

    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &now, NULL), 0);
    ck_assert_int_eq(hr_osnoise_settings_differ(&original, &now), HR_OSNOISE_SETTING_COUNT);
    ck_assert(hr_cpu_set_equal(&original.cpus, &now.cpus));
}

START_TEST(sets_and_puts_back)
{
    struct hr_osnoise_settings wanted = want(), now;

    wanted.numbers[HR_OSNOISE_OPTION_WORKLOAD] = 0;
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), 0);
    ck_assert_str_eq(fake_tracefs_get("osnoise/cpus"), "2-3,5\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "20000\n");
    ck_assert_str_eq(fake_tracefs_get("tracing_thresh"), "5\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/options"),
                     "DEFAULTS NO_OSNOISE_WORKLOAD NO_PANIC_ON_STOP OSNOISE_PREEMPT_DISABLE "
                     "OSNOISE_IRQ_DISABLE TIMERLAT_ALIGN \n");
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &now, NULL), 0);
    ck_assert_int_eq(hr_osnoise_settings_differ(&wanted, &now), HR_OSNOISE_SETTING_COUNT);
    ck_assert_int_eq(hr_osnoise_settings_differ(&original, &now), HR_OSNOISE_CPUS);
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), 0);
    assert_as_before();
}
END_TEST

/* A setting with its value isn't written, as that restarts the workload. */
START_TEST(writes_only_what_differs)
{
    struct hr_osnoise_settings wanted = original;

    wanted.numbers[HR_OSNOISE_THRESHOLD] = 1;
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), 0);
    ck_assert_str_eq(fake_tracefs_log(), "tracing_thresh=1\n");
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), 0);
    ck_assert_str_eq(fake_tracefs_log(), "tracing_thresh=0\n");
    struct hr_osnoise_settings none = {0};
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &none, &reason), 0);
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &none, &original), 0);
    ck_assert_str_eq(fake_tracefs_log(), "");
}
END_TEST

/* From one pair of period and runtime to another, and back. */
static const struct {
    unsigned from[2], to[2];
} pairs[] = {
    {{1000000, 1000000}, {100000, 50000}},   /* both less */
    {{100000, 50000}, {2000000, 1000000}},   /* both more */
    {{1000000, 10000}, {100000, 50000}},     /* the period less, the runtime more */
    {{100000, 50000}, {1000000, 10000}},     /* the other way round */
    {{100000, 100000}, {1000000, 1000000}},  /* equal */
    {{1000000, 500000}, {1000000, 1000000}}, /* the runtime alone */
    {{1000000, 500000}, {500000, 500000}},   /* the period alone */
};

START_TEST(keeps_the_runtime_within_the_period)
{
    struct hr_osnoise_settings wanted;

    fake_tracefs_set("osnoise/period_us", "%u\n", pairs[_i].from[0]);
    fake_tracefs_set("osnoise/runtime_us", "%u\n", pairs[_i].from[1]);
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &original, NULL), 0);
    wanted = original;
    wanted.numbers[HR_OSNOISE_PERIOD] = pairs[_i].to[0];
    wanted.numbers[HR_OSNOISE_RUNTIME] = pairs[_i].to[1];
    ck_assert_msg(hr_osnoise_settings_set(&tracefs, &wanted, &reason) == 0, "%s", reason.text);
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), 0);
    assert_as_before();
}
END_TEST

#define SET_NUMBERS                                                                                \
    "osnoise/runtime_us=20000\nosnoise/period_us=500000\ntracing_thresh=5\n"                       \
    "osnoise/timerlat_period_us=500\nosnoise/print_stack=40\n"                                     \
    "osnoise/options=NO_OSNOISE_WORKLOAD\nosnoise/options=TIMERLAT_ALIGN\n"
#define RESTORED_NUMBERS                                                                           \
    "osnoise/period_us=1000000\nosnoise/runtime_us=1000000\ntracing_thresh=0\n"                    \
    "osnoise/timerlat_period_us=1000\nosnoise/print_stack=0\n"                                     \
    "osnoise/options=OSNOISE_WORKLOAD\nosnoise/options=NO_TIMERLAT_ALIGN\n"

/* A process may be killed at any step: interrupts are off only while runtime and period are the
 * small ones. */
START_TEST(interrupts_are_off_only_with_the_right_runtime)
{
    struct hr_osnoise_settings wanted = want();

    wanted.cpus = original.cpus;
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), 0);
    ck_assert_str_eq(fake_tracefs_log(), SET_NUMBERS "osnoise/options=OSNOISE_IRQ_DISABLE\n"
                                                     "osnoise/options=OSNOISE_PREEMPT_DISABLE\n");
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), 0);
    ck_assert_str_eq(fake_tracefs_log(),
                     "osnoise/options=NO_OSNOISE_IRQ_DISABLE\n"
                     "osnoise/options=NO_OSNOISE_PREEMPT_DISABLE\n" RESTORED_NUMBERS);
    assert_as_before();
}
END_TEST

/* Another had interrupts off, and runs of their own length. */
START_TEST(what_was_harsh_is_so_again_last)
{
    struct hr_osnoise_settings wanted;

    fake_tracefs_set("osnoise/runtime_us", "5000\n");
    fake_tracefs_set("osnoise/options", "OSNOISE_WORKLOAD NO_OSNOISE_PREEMPT_DISABLE "
                                        "OSNOISE_IRQ_DISABLE TIMERLAT_ALIGN \n");
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &original, NULL), 0);
    wanted = original;
    wanted.numbers[HR_OSNOISE_OPTION_IRQ_DISABLE] = 0;
    wanted.numbers[HR_OSNOISE_RUNTIME] = 500000;
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), 0);
    ck_assert_str_eq(fake_tracefs_log(),
                     "osnoise/options=NO_OSNOISE_IRQ_DISABLE\nosnoise/runtime_us=500000\n");
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), 0);
    ck_assert_str_eq(fake_tracefs_log(),
                     "osnoise/runtime_us=5000\nosnoise/options=OSNOISE_IRQ_DISABLE\n");
    assert_as_before();
}
END_TEST

/* Another program has changed one setting: it stays, and the others are restored. */
static const struct {
    enum hr_osnoise_setting setting;
    const char *file, *text;
} changes[] = {
    {HR_OSNOISE_CPUS, "osnoise/cpus", "2-3\n"},
    {HR_OSNOISE_PERIOD, "osnoise/period_us", "3000000\n"},
    {HR_OSNOISE_RUNTIME, "osnoise/runtime_us", "30000\n"},
    {HR_OSNOISE_THRESHOLD, "tracing_thresh", "7\n"},
    {HR_OSNOISE_TIMERLAT_PERIOD, "osnoise/timerlat_period_us", "700\n"},
    {HR_OSNOISE_PRINT_STACK, "osnoise/print_stack", "70\n"},
    {HR_OSNOISE_OPTION_WORKLOAD, "osnoise/options",
     "NO_OSNOISE_WORKLOAD OSNOISE_PREEMPT_DISABLE OSNOISE_IRQ_DISABLE "
     "TIMERLAT_ALIGN \n"},
    {HR_OSNOISE_OPTION_IRQ_DISABLE, "osnoise/options",
     "OSNOISE_WORKLOAD OSNOISE_PREEMPT_DISABLE NO_OSNOISE_IRQ_DISABLE "
     "TIMERLAT_ALIGN \n"},
    {HR_OSNOISE_OPTION_PREEMPT_DISABLE, "osnoise/options",
     "OSNOISE_WORKLOAD NO_OSNOISE_PREEMPT_DISABLE OSNOISE_IRQ_DISABLE "
     "TIMERLAT_ALIGN \n"},
};

START_TEST(leaves_what_others_changed)
{
    struct hr_osnoise_settings wanted = want(), changed, now;
    int setting = changes[_i].setting;

    wanted.numbers[HR_OSNOISE_OPTION_WORKLOAD] = 1;
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), 0);
    fake_tracefs_set(changes[_i].file, "%s", changes[_i].text);
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &changed, NULL), 0);
    ck_assert_int_eq(hr_osnoise_settings_differ(&wanted, &changed), setting);
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), 0);
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &now, NULL), 0);
    ck_assert_uint_eq(now.numbers[setting], changed.numbers[setting]);
    for (int i = 0; i < HR_OSNOISE_SETTING_COUNT; i++)
        if (i != setting && i != HR_OSNOISE_CPUS)
            ck_assert_uint_eq(now.numbers[i], original.numbers[i]);
    ck_assert(
        hr_cpu_set_equal(&now.cpus, setting == HR_OSNOISE_CPUS ? &changed.cpus : &original.cpus));
}
END_TEST

/* The administrator chose a period that has no room for the original runtime. */
START_TEST(leaves_the_runtime_that_fits_a_foreign_period)
{
    struct hr_osnoise_settings wanted = want();

    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), 0);
    fake_tracefs_set("osnoise/period_us", "200000\n");
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), 0);
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "20000\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/period_us"), "200000\n");
    ck_assert_str_eq(fake_tracefs_get("tracing_thresh"), "0\n");
}
END_TEST

/* Whichever write fails: what was done before is undone. */
START_TEST(can_be_undone_wherever_it_failed)
{
    struct hr_osnoise_settings wanted = want();
    unsigned nth = 0;
    int status;

    do {
        fake_tracefs_fail_nth(++nth, EIO);
        status = hr_osnoise_settings_set(&tracefs, &wanted, &reason);
        ck_assert_int_eq(status, fake_tracefs_failed() ? -EIO : 0);
        ck_assert(status == 0 || reason.error == -EIO);
        fake_tracefs_fail_nth(0, 0);
        ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), 0);
        assert_as_before();
    } while (status < 0);
    ck_assert_uint_eq(nth, HR_OSNOISE_SETTING_COUNT + 1);
}
END_TEST

START_TEST(puts_back_the_others_if_one_fails)
{
    struct hr_osnoise_settings wanted = want();

    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), 0);
    fake_tracefs_fail("osnoise/cpus", EACCES);
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), -EACCES);
    ck_assert_str_eq(fake_tracefs_get("osnoise/cpus"), "2-3,5\n");
    fake_tracefs_set("osnoise/cpus", "0-7\n");
    assert_as_before();
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), -EACCES);
    ck_assert_ptr_nonnull(
        strstr(reason.text, "osnoise/cpus: run as root, or add CAP_DAC_OVERRIDE"));
}
END_TEST

/* Writing is a success, and yet the value is another one. */
START_TEST(notices_what_did_not_stay)
{
    struct hr_osnoise_settings wanted = want();

    wanted.cpus = parse("0-1");
    fake_tracefs_fail("tracing_thresh", FAKE_TRACEFS_IGNORED);
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, "tracing_thresh"));
}
END_TEST

/* --- Options -------------------------------------------------------------- */

START_TEST(an_option_that_the_kernel_lacks)
{
    struct hr_osnoise_settings wanted = want(), now;

    wanted.numbers[HR_OSNOISE_OPTION_ALIGN] = 0;
    fake_tracefs_set("osnoise/options", "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP \n");
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &now, NULL), 0);
    ck_assert(!now.has[HR_OSNOISE_OPTION_IRQ_DISABLE]);
    ck_assert(!now.has[HR_OSNOISE_OPTION_PREEMPT_DISABLE]);
    ck_assert(now.has[HR_OSNOISE_OPTION_WORKLOAD]);
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(reason.text, "OSNOISE_IRQ_DISABLE: it needs Linux"));
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &now), 0);
    ck_assert_str_eq(fake_tracefs_get("osnoise/options"),
                     "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP \n");
}
END_TEST

/* Kernels before 6.2: they have a workload, and can't do without. */
START_TEST(a_kernel_without_options)
{
    struct hr_osnoise_settings wanted = want();
    struct hr_osnoise_hazards hazards;

    tree_remove(tree, FAKE_TRACEFS "/osnoise/options");
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &original, NULL), 0);
    ck_assert(!original.has[HR_OSNOISE_OPTION_WORKLOAD]);
    ck_assert_int_eq(hr_osnoise_hazards_read(&tracefs, &hazards, NULL), 0);
    ck_assert(!hazards.panic);
    wanted.numbers[HR_OSNOISE_OPTION_IRQ_DISABLE] = 0;
    wanted.numbers[HR_OSNOISE_OPTION_PREEMPT_DISABLE] = 0;
    wanted.numbers[HR_OSNOISE_OPTION_ALIGN] = 0;
    wanted.numbers[HR_OSNOISE_OPTION_WORKLOAD] = 1;
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), 0);
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), 0);
    assert_as_before();
    wanted.numbers[HR_OSNOISE_OPTION_WORKLOAD] = 0;
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(reason.text, "OSNOISE_WORKLOAD"));
}
END_TEST

/* --- Lists of CPUs -------------------------------------------------------- */

/* 64 CPUs, a list of 256 bytes and more as the kernel prints it. */
static void add_regular(struct hr_cpu_set *cpus)
{
    for (unsigned cpu = 128; cpu < 256; cpu += 2)
        hr_cpu_set_add(cpus, cpu);
}

/* No three of them at equal distances. */
static void add_irregular(struct hr_cpu_set *cpus)
{
    for (unsigned i = 0; i < 64; i++)
        hr_cpu_set_add(cpus, 128 + i * (i + 5) / 6 + (i & 1) + i);
}

START_TEST(a_long_list_is_written_as_a_pattern)
{
    struct hr_osnoise_settings wanted = {.has = {[HR_OSNOISE_CPUS] = true}};

    add_regular(&wanted.cpus);
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), 0);
    ck_assert_str_eq(fake_tracefs_log(), "osnoise/cpus=128-254:1/2\n");
    ck_assert_uint_gt(strlen(fake_tracefs_get("osnoise/cpus")), 255);
    /* and so it is restored where another program had it */
    struct hr_osnoise_settings ours = original, long_list;
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &long_list, NULL), 0);
    ours.cpus = parse("3");
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &ours, &reason), 0);
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &ours, &long_list), 0);
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), 0);
    assert_as_before();
}
END_TEST

START_TEST(a_longer_list_is_refused)
{
    struct hr_osnoise_settings wanted = {.has = {[HR_OSNOISE_CPUS] = true}};
    char list[1024];

    add_irregular(&wanted.cpus);
    ck_assert_uint_eq(hr_cpu_set_count(&wanted.cpus), 64);
    ck_assert_int_eq(hr_cpu_set_format(&wanted.cpus, list, 255), -E2BIG);
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), -E2BIG);
    ck_assert_int_eq(reason.error, -E2BIG);
    ck_assert_ptr_nonnull(strstr(reason.text, "ranges or in a regular pattern"));
    assert_as_before();
}
END_TEST

/* A list that couldn't be restored isn't changed. */
START_TEST(a_list_that_could_not_be_put_back_stays)
{
    struct hr_osnoise_settings wanted = want(), now = {0};
    char list[1024];

    add_irregular(&now.cpus);
    ck_assert_int_eq(hr_cpu_set_format(&now.cpus, list, sizeof(list)), 0);
    fake_tracefs_set("osnoise/cpus", "%s\n", list);
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), -E2BIG);
    ck_assert_ptr_nonnull(strstr(reason.text, "restored"));
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &now, NULL), 0);
    ck_assert_uint_eq(hr_cpu_set_count(&now.cpus), 64);
}
END_TEST

/* The kernel takes a newline alone for white space. */
START_TEST(no_cpu_at_all_is_put_back)
{
    struct hr_osnoise_settings wanted = want();
    char text[16];

    fake_tracefs_set("osnoise/cpus", "\n");
    ck_assert_int_eq(hr_osnoise_settings_read(&tracefs, &original, NULL), 0);
    ck_assert_uint_eq(hr_cpu_set_count(&original.cpus), 0);
    hr_osnoise_setting_print(&original, HR_OSNOISE_CPUS, text, sizeof(text));
    ck_assert_str_eq(text, "none");
    ck_assert_int_eq(hr_osnoise_settings_set(&tracefs, &wanted, &reason), 0);
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_settings_restore(&tracefs, &wanted, &original), 0);
    ck_assert_ptr_nonnull(strstr(fake_tracefs_log(), "osnoise/cpus=0-0:0/1\n"));
    assert_as_before();
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, reads_the_defaults);
    tcase_add_loop_test(tests, reports_what_it_cannot_read, 0, COUNT(unreadable));
    tcase_add_test(tests, a_kernel_without_timerlat);
    tcase_add_test(tests, finds_hazards);
    tcase_add_test(tests, sets_and_puts_back);
    tcase_add_test(tests, writes_only_what_differs);
    tcase_add_loop_test(tests, keeps_the_runtime_within_the_period, 0, COUNT(pairs));
    tcase_add_test(tests, interrupts_are_off_only_with_the_right_runtime);
    tcase_add_test(tests, what_was_harsh_is_so_again_last);
    tcase_add_loop_test(tests, leaves_what_others_changed, 0, COUNT(changes));
    tcase_add_test(tests, leaves_the_runtime_that_fits_a_foreign_period);
    tcase_add_test(tests, can_be_undone_wherever_it_failed);
    tcase_add_test(tests, puts_back_the_others_if_one_fails);
    tcase_add_test(tests, notices_what_did_not_stay);
    tcase_add_test(tests, an_option_that_the_kernel_lacks);
    tcase_add_test(tests, a_kernel_without_options);
    tcase_add_test(tests, a_long_list_is_written_as_a_pattern);
    tcase_add_test(tests, a_longer_list_is_refused);
    tcase_add_test(tests, a_list_that_could_not_be_put_back_stays);
    tcase_add_test(tests, no_cpu_at_all_is_put_back);
    return run_suite("osnoise_settings", tests);
}
