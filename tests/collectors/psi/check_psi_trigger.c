/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_psi_trigger.c - triggers on pressure files of a tree, by a clock that stands
 * still: what is refused, how polling detects events, and what is written to and read from the
 * kernel. check_psi_window.c has the estimate, check_psi_trigger_live.c what needs a kernel.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/psi_trigger.h"
#include "headroom/root.h"
#include "support/descriptor_shortage.h"
#include "support/one_group.h"
#include "support/suite.h"
#include "support/tree.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define SECOND 1000000

/* A window that doesn't end during a test, however busy the machine is. */
#define LONG (10 * SECOND)

/* The initial total. */
#define BEGINNING UINT64_C(5000000000)

/* --- What can be asked for ------------------------------------------------ */

static const struct {
    enum hr_psi_resource resource;
    enum hr_psi_level level;
    uint64_t stall_us, window_us;
    bool of_system;
    const char *reason; /* a part of it; NULL: accepted */
} checks[] = {
    /* the window's limits */
    {HR_PSI_MEMORY, HR_PSI_SOME, 1, 100000, true, NULL},
    {HR_PSI_MEMORY, HR_PSI_SOME, 1, 99999, true, "window"},
    {HR_PSI_MEMORY, HR_PSI_SOME, 1, 10000000, true, NULL},
    {HR_PSI_MEMORY, HR_PSI_SOME, 1, 10000001, true, "window"},
    {HR_PSI_MEMORY, HR_PSI_SOME, 1, 0, true, "window"},
    {HR_PSI_MEMORY, HR_PSI_SOME, 1, UINT64_MAX, true, "window"},
    /* the stall's limits */
    {HR_PSI_MEMORY, HR_PSI_SOME, 0, 100000, true, "stall"},
    {HR_PSI_MEMORY, HR_PSI_SOME, 100000, 100000, true, NULL},
    {HR_PSI_MEMORY, HR_PSI_SOME, 100001, 100000, true, "stall"},
    {HR_PSI_MEMORY, HR_PSI_SOME, UINT64_MAX, 100000, true, "stall"},
    {HR_PSI_MEMORY, HR_PSI_SOME, 10000000, 10000000, false, NULL},
    {HR_PSI_MEMORY, HR_PSI_SOME, 10000001, 10000000, false, "stall"},
    /* what the kernel doesn't measure */
    {HR_PSI_IRQ, HR_PSI_SOME, 1000, 100000, true, "irq"},
    {HR_PSI_IRQ, HR_PSI_SOME, 1000, 100000, false, "irq"},
    {HR_PSI_IRQ, HR_PSI_FULL, 1000, 100000, true, NULL},
    {HR_PSI_IRQ, HR_PSI_FULL, 1000, 100000, false, NULL},
    {HR_PSI_CPU, HR_PSI_FULL, 1000, 100000, true, "cpu"},
    {HR_PSI_CPU, HR_PSI_FULL, 1000, 100000, false, NULL},
    {HR_PSI_CPU, HR_PSI_SOME, 1000, 100000, true, NULL},
    {HR_PSI_MEMORY, HR_PSI_FULL, 1000, 100000, true, NULL},
    {HR_PSI_IO, HR_PSI_FULL, 1000, 100000, true, NULL},
};

START_TEST(checks_what_is_asked_for)
{
    const struct hr_psi_trigger_options options = {checks[_i].resource, checks[_i].level,
                                                   checks[_i].stall_us, checks[_i].window_us,
                                                   HR_PSI_TRIGGER_AUTO};
    const char *const untouched = "untouched";
    const char *reason = untouched;
    int status = hr_psi_trigger_check(&options, checks[_i].of_system, &reason);

    if (checks[_i].reason == NULL) {
        ck_assert_msg(status == 0, "refused: %s", reason);
        ck_assert_ptr_eq(reason, untouched);
        return;
    }
    ck_assert_int_eq(status, -EINVAL);
    ck_assert_msg(strstr(reason, checks[_i].reason) != NULL, "no %s in: %s", checks[_i].reason,
                  reason);
}
END_TEST

/* --- A tree, and a trigger on its memory pressure ------------------------- */

/* The collector's clock moves only when a test moves it. */
static uint64_t clock_us = UINT64_C(1000000000);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    now->tv_sec = (time_t)(clock_us / SECOND);
    now->tv_nsec = (long)(clock_us % SECOND * 1000);
    return 0;
}

static struct tree *tree;
static struct hr_root *root;
static struct hr_psi_trigger *trigger;
static uint64_t total_us; /* of the system's memory, some; full has half of it */

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    total_us = BEGINNING;
    tree_pressure(tree, NULL, "memory", total_us, total_us / 2);
}

static void tear_down(void)
{
    hr_psi_trigger_close(trigger);
    trigger = NULL;
    hr_root_close(root);
    tree_free(tree);
}

static int open_trigger(enum hr_psi_trigger_mode mode, uint64_t stall_us, uint64_t window_us)
{
    const struct hr_psi_trigger_options options = {HR_PSI_MEMORY, HR_PSI_SOME, stall_us, window_us,
                                                   mode};

    return hr_psi_trigger_open_system(root, &options, &trigger);
}

static void begin_polling(uint64_t stall_us, uint64_t window_us)
{
    ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_POLL, stall_us, window_us), 0);
    ck_assert_int_eq(hr_psi_trigger_fd(trigger), -1);
    ck_assert_uint_gt(hr_psi_trigger_due_ns(trigger), clock_us * 1000);
    ck_assert_uint_le(hr_psi_trigger_due_ns(trigger), (clock_us + window_us) * 1000);
    ck_assert_int_eq(hr_psi_trigger_refusal(trigger), 0);
}

static void add_stall(uint64_t stalled_us)
{
    total_us += stalled_us;
    tree_pressure(tree, NULL, "memory", total_us, total_us / 2);
}

static int read_trigger(struct hr_psi_event *event)
{
    return hr_psi_trigger_read(trigger, 0, event);
}

static void sleep_ms(unsigned milliseconds)
{
    clock_us += milliseconds * 1000;
}

static void assert_quiet(uint32_t events)
{
    struct hr_psi_event event, before;

    memset(&event, 0x5a, sizeof(event));
    before = event;
    ck_assert_int_eq(hr_psi_trigger_read(trigger, events, &event), -EAGAIN);
    ck_assert_mem_eq(&event, &before, sizeof(event));
}

static void wait_until_due(void)
{
    uint64_t due_us = hr_psi_trigger_due_ns(trigger) / 1000;

    if (due_us > clock_us)
        clock_us = due_us;
}

/* Adds a stall before each read until there is an event, which must come. */
static void grow_until_event(uint64_t stalled_us, struct hr_psi_event *event)
{
    int status = -EAGAIN;

    for (int reads = 0; status == -EAGAIN && reads < 100; reads++) {
        wait_until_due();
        add_stall(stalled_us);
        status = read_trigger(event);
    }
    ck_assert_int_eq(status, 0);
}

/* --- Polling -------------------------------------------------------------- */

START_TEST(measures_a_stall)
{
    uint64_t before_ns = hr_clock_ns();
    struct hr_psi_event event;

    begin_polling(SECOND / 10, LONG);
    sleep_ms(20);
    assert_quiet(0);
    sleep_ms(30);
    add_stall(123456);
    uint64_t grown_ns = hr_clock_ns();
    ck_assert_int_eq(read_trigger(&event), 0);
    uint64_t after_ns = hr_clock_ns();
    ck_assert(event.measured);
    ck_assert_uint_eq(event.stalled_us, 123456);
    ck_assert_uint_ge(event.time_ns, grown_ns);
    ck_assert_uint_le(event.time_ns, after_ns);
    ck_assert_uint_ge(event.elapsed_us, 50000); /* since it was armed */
    ck_assert_uint_le(event.elapsed_us, (after_ns - before_ns) / 1000);
}
END_TEST

START_TEST(measures_the_level_asked_for)
{
    const struct hr_psi_trigger_options options = {HR_PSI_MEMORY, HR_PSI_FULL, 60000, LONG,
                                                   HR_PSI_TRIGGER_POLL};
    struct hr_psi_event event;

    ck_assert_int_eq(hr_psi_trigger_open_system(root, &options, &trigger), 0);
    add_stall(100000);
    assert_quiet(0);
    add_stall(50000);
    ck_assert_int_eq(read_trigger(&event), 0);
    ck_assert_uint_eq(event.stalled_us, 75000);
}
END_TEST

/* The kernel's total is rounded down to a microsecond, so that the difference may lack one. */
static const struct {
    uint64_t stall_us, grown_us;
    int status;
} limits[] = {
    {500000, 500000, 0},       {500000, 499999, 0}, {500000, 499998, -EAGAIN},
    {500000, 0, -EAGAIN},      {500000, 800000, 0}, {LONG, LONG - 1, 0},
    {LONG, LONG - 2, -EAGAIN}, {2, 1, 0},           {2, 0, -EAGAIN},
};

START_TEST(allows_for_rounding)
{
    struct hr_psi_event event;

    begin_polling(limits[_i].stall_us, LONG);
    add_stall(limits[_i].grown_us);
    ck_assert_int_eq(read_trigger(&event), limits[_i].status);
    if (limits[_i].status == 0)
        ck_assert_uint_eq(event.stalled_us, limits[_i].grown_us);
}
END_TEST

START_TEST(reports_a_stall_once)
{
    struct hr_psi_event event;

    begin_polling(50000, SECOND / 10);
    grow_until_event(50000, &event);
    for (int i = 0; i < 40; i++) {
        assert_quiet(0);
        sleep_ms(10);
    }
}
END_TEST

START_TEST(reports_one_event_a_window)
{
    const uint64_t window_us = SECOND / 10;
    struct hr_psi_event former = {0}, event;
    uint64_t reported_us = 0;

    begin_polling(50000, window_us);
    for (int i = 0; i < 5; i++) {
        grow_until_event(50000, &event);
        if (i > 0)
            ck_assert_uint_ge(event.time_ns - former.time_ns, window_us * 1000);
        ck_assert(event.measured);
        /* it was in one window, however late we are */
        ck_assert_uint_ge(event.stalled_us + 1, 50000);
        ck_assert_uint_ge(event.stalled_us + 1 + window_us, 50000 + event.elapsed_us);
        /* Its stall began after that of the previous event. */
        if (i > 0)
            ck_assert_uint_le(event.elapsed_us, (event.time_ns - former.time_ns) / 1000);
        reported_us += event.stalled_us;
        ck_assert_uint_le(reported_us, total_us - BEGINNING);
        former = event;
    }
}
END_TEST

START_TEST(gets_over_a_total_that_goes_back)
{
    struct hr_psi_event event;

    begin_polling(50000, SECOND / 10);
    total_us = 10;
    add_stall(0);
    assert_quiet(0);
    assert_quiet(EPOLLPRI);
    grow_until_event(50000, &event);
    ck_assert_uint_le(event.stalled_us, total_us - 10);
}
END_TEST

/* What was stalled in the window after an event is reported when that is over. */
START_TEST(reports_a_stall_that_had_to_wait)
{
    struct hr_psi_event event;

    begin_polling(50000, SECOND / 10);
    add_stall(60000);
    sleep_ms(100);
    ck_assert_int_eq(read_trigger(&event), 0);
    ck_assert_uint_ge(hr_psi_trigger_due_ns(trigger), (clock_us + SECOND / 10) * 1000);
    add_stall(70000);
    sleep_ms(50);
    assert_quiet(0);
    wait_until_due();
    ck_assert_int_eq(read_trigger(&event), 0);
    ck_assert(event.measured);
    ck_assert_uint_eq(event.stalled_us, 70000);
}
END_TEST

/* The limit is the window, all of the time is stalled, and each read is of a total a little after
 * its time: the first one most. */
START_TEST(reports_a_stall_as_long_as_the_window)
{
    static const uint64_t late_us[] = {1000, 300, 0, 700, 200, 500, 100};
    uint64_t begin_us = clock_us, events = 0;
    struct hr_psi_event event;

    add_stall(late_us[0]);
    begin_polling(SECOND, SECOND);
    for (unsigned i = 1; i <= 300; i++) {
        sleep_ms(100);
        total_us = BEGINNING + clock_us - begin_us;
        add_stall(late_us[i % COUNT(late_us)]);
        events += read_trigger(&event) == 0;
    }
    ck_assert_uint_ge(events, 25);
    ck_assert_uint_le(events, 30);
}
END_TEST

/* --- Whether it goes on --------------------------------------------------- */

static int confirm(struct hr_psi_event *event)
{
    return hr_psi_trigger_confirm(trigger, event);
}

static const enum hr_psi_trigger_mode both[] = {HR_PSI_TRIGGER_POLL, HR_PSI_TRIGGER_KERNEL};

/* By the average since the last event, or since it was opened. */
static const struct {
    unsigned elapsed_ms;
    uint64_t stalled_us;
    int status;
} averages[] = {
    {3000, 450000, 0},       {3000, 449999, 0},  {3000, 449990, -EAGAIN}, {3000, 3000000, 0},
    {3000, 150000, -EAGAIN}, {3000, 0, -EAGAIN}, {0, 0, -EAGAIN},         {600000, 90000000, 0},
};

START_TEST(confirms_that_it_still_stalls)
{
    const int row = _i / (int)COUNT(both);
    struct hr_psi_event event = {0};

    ck_assert_int_eq(open_trigger(both[_i % (int)COUNT(both)], 150000, SECOND), 0);
    for (int i = 0; i < 2; i++) {
        sleep_ms(averages[row].elapsed_ms);
        add_stall(averages[row].stalled_us);
        ck_assert_int_eq(confirm(&event), averages[row].status);
        if (averages[row].status < 0)
            return;
        ck_assert(event.measured);
        ck_assert_uint_eq(event.time_ns, clock_us * 1000);
        ck_assert_uint_eq(event.stalled_us, averages[row].stalled_us);
        ck_assert_uint_eq(event.elapsed_us, (uint64_t)averages[row].elapsed_ms * 1000);
    }
}
END_TEST

/* What was confirmed isn't reported again. */
START_TEST(confirms_a_stall_once)
{
    struct hr_psi_event event;

    ck_assert_int_eq(open_trigger(both[_i], 150000, SECOND), 0);
    sleep_ms(1000);
    add_stall(200000);
    ck_assert_int_eq(confirm(&event), 0);
    sleep_ms(1100);
    ck_assert_int_eq(confirm(&event), -EAGAIN);
    assert_quiet(both[_i] == HR_PSI_TRIGGER_KERNEL ? EPOLLPRI : 0);
    ck_assert_int_eq(confirm(&event), -EAGAIN);
}
END_TEST

START_TEST(reports_that_it_can_not_be_confirmed)
{
    struct hr_psi_event event;

    ck_assert_int_eq(open_trigger(both[_i], 150000, SECOND), 0);
    tree_write(tree, "proc/pressure/memory", "?");
    ck_assert_int_eq(confirm(&event), -EBADMSG);
}
END_TEST

/* --- What can't be read --------------------------------------------------- */

#define SOME "some avg10=0.00 avg60=0.00 avg300=0.00 total=4\n"
#define FULL "full avg10=0.00 avg60=0.00 avg300=0.00 total=4\n"

static const struct {
    enum hr_psi_resource resource;
    enum hr_psi_level level;
    const char *path;
    const char *text; /* NULL: the file is missing */
    int status;
} faults[] = {
    {HR_PSI_MEMORY, HR_PSI_FULL, "proc/pressure/memory", SOME, -ENOENT},
    {HR_PSI_MEMORY, HR_PSI_SOME, "proc/pressure/memory", FULL, -ENOENT},
    {HR_PSI_IRQ, HR_PSI_SOME, "proc/pressure/irq", FULL, -ENOENT},
    {HR_PSI_IRQ, HR_PSI_FULL, "proc/pressure/irq", NULL, -ENOENT},
    {HR_PSI_MEMORY, HR_PSI_SOME, "proc/pressure/memory", NULL, -ENOENT},
    {HR_PSI_CPU, HR_PSI_FULL, "proc/pressure/cpu", SOME FULL, -ENOENT}, /* undefined */
};

/* Changes of a file while it is open. Its removal needs a kernel. */
static const struct {
    const char *text;
    int status;
} turns[] = {{"some words\n", -EBADMSG}, {"", -ENODATA}, {FULL, -ENOENT}};

static void set_fault(size_t i)
{
    if (faults[i].text != NULL)
        tree_write(tree, faults[i].path, "%s", faults[i].text);
    else if (faults[i].resource != HR_PSI_IRQ)
        tree_remove(tree, faults[i].path);
}

/* In every mode. */
START_TEST(reports_what_can_not_be_read)
{
    static const enum hr_psi_trigger_mode modes[] = {HR_PSI_TRIGGER_POLL, HR_PSI_TRIGGER_AUTO,
                                                     HR_PSI_TRIGGER_KERNEL};
    const int before = count_descriptors();

    set_fault((size_t)_i);
    for (size_t i = 0; i < COUNT(modes); i++) {
        const struct hr_psi_trigger_options options = {faults[_i].resource, faults[_i].level, 1000,
                                                       SECOND, modes[i]};
        ck_assert_int_eq(hr_psi_trigger_open_system(root, &options, &trigger), faults[_i].status);
        ck_assert_ptr_null(trigger);
        ck_assert_int_eq(count_descriptors(), before);
    }
}
END_TEST

START_TEST(reports_what_can_no_longer_be_read)
{
    struct hr_psi_event event;

    begin_polling(50000, SECOND);
    tree_write(tree, "proc/pressure/memory", "%s", turns[_i].text);
    ck_assert_int_eq(read_trigger(&event), turns[_i].status);
    hr_psi_trigger_close(trigger);
    trigger = NULL;
    ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_POLL, 50000, SECOND), turns[_i].status);
}
END_TEST

static int by_address(const void *a, const void *b)
{
    struct hr_psi_trigger *const *left = a, *const *right = b;

    return (*left > *right) - (*left < *right);
}

/* Idle ones that are neighbours in memory, as those that are opened one after the other. */
START_TEST(polls_neighbours_at_the_same_time)
{
    struct hr_psi_trigger *many[200];
    struct hr_psi_event event;
    size_t changes = 0;

    for (size_t i = 0; i < COUNT(many); i++) {
        ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_POLL, 50000, LONG), 0);
        many[i] = trigger;
    }
    trigger = NULL;
    for (int reads = 0; reads < 5; reads++) {
        sleep_ms(10000);
        for (size_t i = 0; i < COUNT(many); i++)
            ck_assert_int_eq(hr_psi_trigger_read(many[i], 0, &event), -EAGAIN);
    }
    qsort(many, COUNT(many), sizeof(many[0]), by_address);
    for (size_t i = 1; i < COUNT(many); i++)
        changes += hr_psi_trigger_due_ns(many[i]) != hr_psi_trigger_due_ns(many[i - 1]);
    ck_assert_uint_le(changes, COUNT(many) / 10);
    hr_psi_trigger_close_many(many, COUNT(many));
}
END_TEST

/* --- Groups --------------------------------------------------------------- */

static int open_group_trigger(const struct hr_cgroup *group, enum hr_psi_level level)
{
    const struct hr_psi_trigger_options options = {HR_PSI_CPU, level, 50000, LONG,
                                                   HR_PSI_TRIGGER_POLL};

    return hr_psi_trigger_open_cgroup(group, &options, &trigger);
}

/* A group's cpu has "full", the system's doesn't. */
START_TEST(watches_a_group)
{
    struct hr_cgroup_set *set;
    struct hr_psi_event event;

    tree_add_group(tree, "a", true);
    struct hr_cgroup *group = one_group_open(root, "a", &set);
    tree_pressure(tree, "a", "cpu", 1000, 500);
    ck_assert_int_eq(open_group_trigger(group, HR_PSI_FULL), 0);
    tree_pressure(tree, NULL, "cpu", 990000, 990000);
    tree_pressure(tree, "a", "memory", 990000, 990000);
    tree_pressure(tree, "a", "cpu", 990000, 50000);
    assert_quiet(0);
    tree_pressure(tree, "a", "cpu", 990000, 50500);
    ck_assert_int_eq(read_trigger(&event), 0);
    ck_assert_uint_eq(event.stalled_us, 50000);
    hr_psi_trigger_close(trigger);
    trigger = NULL;
    hr_cgroup_set_close(set);
}
END_TEST

START_TEST(reports_why_a_group_can_not_be_watched)
{
    struct hr_cgroup_set *set;

    tree_add_group(tree, "a", true);
    struct hr_cgroup *group = one_group_open(root, "a", &set);
    tree_remove_pressure(tree, "a", "cpu");
    ck_assert_int_eq(open_group_trigger(group, HR_PSI_SOME), -ENOENT);
    tree_write(tree, TREE_CGROUPS "/a/cgroup.pressure", "0\n");
    ck_assert_int_eq(open_group_trigger(group, HR_PSI_SOME), -EOPNOTSUPP);
    tree_remove_group(tree, "a");
    ck_assert_int_eq(open_group_trigger(group, HR_PSI_SOME), -ENODEV);
    tree_add_group(tree, "a", true); /* another group */
    ck_assert_int_eq(open_group_trigger(group, HR_PSI_SOME), -ENODEV);
    ck_assert_ptr_null(trigger);
    hr_cgroup_set_close(set);
}
END_TEST

/* --- Few descriptors ------------------------------------------------------ */

START_TEST(polls_without_keeping_a_file)
{
    struct hr_psi_event event;

    leave_descriptors(6);
    const int before = count_descriptors();
    begin_polling(50000, LONG);
    ck_assert_int_eq(count_descriptors(), before);
    assert_quiet(0);
    ck_assert_int_eq(count_descriptors(), before);
    add_stall(50000);
    ck_assert_int_eq(read_trigger(&event), 0);
    ck_assert_uint_eq(event.stalled_us, 50000);
    ck_assert_int_eq(count_descriptors(), before);
    tree_write(tree, "proc/pressure/memory", "?");
    ck_assert_int_eq(read_trigger(&event), -EBADMSG);
    tree_remove(tree, "proc/pressure/memory");
    ck_assert_int_eq(read_trigger(&event), -ENOENT);
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

/* A trigger of the kernel needs its file to be kept open. As this is transient, nothing is polled
 * instead for ever. */
START_TEST(reports_that_descriptors_are_short)
{
    leave_descriptors(6);
    const int before = count_descriptors();
    ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_KERNEL, 50000, SECOND), -EMFILE);
    ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_AUTO, 50000, SECOND), -EMFILE);
    ck_assert_ptr_null(trigger);
    ck_assert_int_eq(count_descriptors(), before);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur += 64;
    setrlimit(RLIMIT_NOFILE, &limit);
    ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_AUTO, 50000, SECOND), 0);
    ck_assert_int_ge(hr_psi_trigger_fd(trigger), 0);
}
END_TEST

START_TEST(reports_that_descriptors_ran_out)
{
    struct hr_psi_event event;
    struct rlimit limit;

    leave_descriptors(1);
    begin_polling(50000, SECOND);
    int last = dup(STDOUT_FILENO);
    ck_assert_int_ge(last, 0);
    wait_until_due();
    ck_assert_int_eq(read_trigger(&event), -EMFILE);
    ck_assert_uint_gt(hr_psi_trigger_due_ns(trigger),
                      clock_us * 1000); /* tried again, not at once */
    hr_psi_trigger_close(trigger);
    trigger = NULL;
    ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_POLL, 50000, SECOND), -EMFILE);
    ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_AUTO, 50000, SECOND), -EMFILE);
    ck_assert_ptr_null(trigger);
    close(last);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur += 64;
    setrlimit(RLIMIT_NOFILE, &limit);
}
END_TEST

/* --- The kernel's triggers ------------------------------------------------ */

/* A regular file accepts whatever is written, as a kernel does with CAP_SYS_RESOURCE. */
static void begin_armed(uint64_t stall_us, uint64_t window_us)
{
    ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_KERNEL, stall_us, window_us), 0);
    ck_assert_int_ge(hr_psi_trigger_fd(trigger), 0);
    ck_assert_uint_eq(hr_psi_trigger_due_ns(trigger), UINT64_MAX);
    ck_assert_int_eq(hr_psi_trigger_refusal(trigger), 0);
}

static const struct {
    uint64_t stall_us, window_us;
    const char *text;
} writes[] = {
    {150000, SECOND, "some 150000 1000000"},
    {1, 100000, "some 1 100000"},
    {SECOND, 3 * SECOND, "some 1000000 3000000"},
    /* without the capability the kernel refuses it rather than watch badly */
    {150000, 2 * SECOND, "some 150000 1999999"},
    {10 * SECOND, 10 * SECOND, "some 9999999 9999999"},
};

/* Including the terminating NUL: the kernel overwrites the last byte. */
START_TEST(writes_what_the_kernel_takes)
{
    char text[64];
    size_t length = strlen(writes[_i].text) + 1;

    begin_armed(writes[_i].stall_us, writes[_i].window_us);
    ck_assert_int_eq(pread(hr_psi_trigger_fd(trigger), text, sizeof(text), 0), sizeof(text));
    ck_assert_mem_eq(text, writes[_i].text, length);
}
END_TEST

/* It may fire again for a stall that was reported. */
START_TEST(takes_no_event_without_a_stall)
{
    struct hr_psi_event event;

    begin_armed(150000, LONG);
    add_stall(149999);
    ck_assert_int_eq(hr_psi_trigger_read(trigger, EPOLLPRI, &event), 0);
    ck_assert(event.measured);
    ck_assert_uint_eq(event.stalled_us, 149999);
    add_stall(149998);
    assert_quiet(EPOLLPRI);
    add_stall(200000);
    assert_quiet(0);
    ck_assert_int_eq(hr_psi_trigger_read(trigger, EPOLLPRI, &event),
                     0); /* the kernel's clock counts */
    ck_assert_uint_eq(event.stalled_us, 349998);
}
END_TEST

/* After a quiet time the start of the stall is unknown. */
START_TEST(reports_an_event_that_was_not_measured)
{
    struct hr_psi_event event;

    begin_armed(50000, SECOND / 10);
    sleep_ms(200);
    add_stall(70000);
    ck_assert_int_eq(hr_psi_trigger_read(trigger, EPOLLPRI, &event), 0);
    ck_assert(!event.measured);
    ck_assert_uint_eq(event.stalled_us, 50000);
    ck_assert_uint_eq(event.elapsed_us, SECOND / 10);
}
END_TEST

static const uint32_t endings[] = {EPOLLERR, EPOLLERR | EPOLLPRI, EPOLLHUP,
                                   EPOLLERR | EPOLLHUP | EPOLLPRI};

START_TEST(reports_that_the_kernel_watches_no_longer)
{
    struct hr_psi_event event;

    begin_armed(50000, SECOND);
    add_stall(100000);
    ck_assert_int_eq(hr_psi_trigger_read(trigger, endings[_i], &event), -ENODEV);
}
END_TEST

START_TEST(closes_nothing)
{
    struct hr_psi_trigger *none[] = {NULL, NULL};

    hr_psi_trigger_close(NULL);
    hr_psi_trigger_close_many(none, 0);
    hr_psi_trigger_close_many(none, COUNT(none));
}
END_TEST

/* Whether threads can't be created. */
static bool no_threads;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *context);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *context)
{
    return no_threads ? EAGAIN : __real_pthread_create(thread, attributes, start, context);
}

START_TEST(closes_many)
{
    struct hr_psi_trigger *many[100] = {NULL};
    const int before = count_descriptors();

    no_threads = _i == 1;
    for (size_t i = 1; i < COUNT(many); i++) {
        add_stall(0); /* arming overwrites the file */
        ck_assert_int_eq(open_trigger(both[i % 3 == 0], 50000, SECOND), 0);
        many[i] = trigger;
    }
    trigger = NULL;
    ck_assert_int_ge(count_descriptors(), before + (int)COUNT(many) - 1);
    hr_psi_trigger_close_many(many, COUNT(many));
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("psi trigger");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, checks_what_is_asked_for, 0, COUNT(checks));
    tcase_add_test(tests, measures_a_stall);
    tcase_add_test(tests, measures_the_level_asked_for);
    tcase_add_loop_test(tests, allows_for_rounding, 0, COUNT(limits));
    tcase_add_test(tests, reports_a_stall_once);
    tcase_add_test(tests, reports_one_event_a_window);
    tcase_add_test(tests, gets_over_a_total_that_goes_back);
    tcase_add_test(tests, reports_a_stall_that_had_to_wait);
    tcase_add_test(tests, reports_a_stall_as_long_as_the_window);
    tcase_add_loop_test(tests, confirms_that_it_still_stalls, 0, COUNT(averages) * COUNT(both));
    tcase_add_loop_test(tests, confirms_a_stall_once, 0, COUNT(both));
    tcase_add_loop_test(tests, reports_that_it_can_not_be_confirmed, 0, COUNT(both));
    tcase_add_loop_test(tests, reports_what_can_not_be_read, 0, COUNT(faults));
    tcase_add_loop_test(tests, reports_what_can_no_longer_be_read, 0, COUNT(turns));
    tcase_add_test(tests, polls_neighbours_at_the_same_time);
    tcase_add_test(tests, watches_a_group);
    tcase_add_test(tests, reports_why_a_group_can_not_be_watched);
    tcase_add_test(tests, polls_without_keeping_a_file);
    tcase_add_test(tests, reports_that_descriptors_are_short);
    tcase_add_test(tests, reports_that_descriptors_ran_out);
    tcase_add_loop_test(tests, writes_what_the_kernel_takes, 0, COUNT(writes));
    tcase_add_test(tests, takes_no_event_without_a_stall);
    tcase_add_test(tests, reports_an_event_that_was_not_measured);
    tcase_add_loop_test(tests, reports_that_the_kernel_watches_no_longer, 0, COUNT(endings));
    tcase_add_test(tests, closes_nothing);
    tcase_add_loop_test(tests, closes_many, 0, 2);
    return run_suite("psi trigger", tests);
}
