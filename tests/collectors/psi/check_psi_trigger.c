/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_psi_trigger.c - triggers on pressure files of a tree: what is refused, what
 * is written to and read from the kernel, and what can't be read.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "collectors/psi/psi_trigger_harness.h"
#include "headroom/cgroup.h"
#include "support/descriptor_shortage.h"
#include "support/one_group.h"
#include "support/suite.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

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
    static const enum hr_psi_trigger_mode modes[] = {HR_PSI_TRIGGER_POLL, HR_PSI_TRIGGER_KERNEL};
    struct hr_psi_trigger *many[100] = {NULL};
    const int before = count_descriptors();

    no_threads = _i == 1;
    for (size_t i = 1; i < COUNT(many); i++) {
        add_stall(0); /* arming overwrites the file */
        ck_assert_int_eq(open_trigger(modes[i % 3 == 0], 50000, SECOND), 0);
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
    TCase *tests = tcase_create("all");

    add_trigger_fixture(tests);
    tcase_add_loop_test(tests, checks_what_is_asked_for, 0, COUNT(checks));
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
    return run_isolated_suite("psi trigger", tests);
}
