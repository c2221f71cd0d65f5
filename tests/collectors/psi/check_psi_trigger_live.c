/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_psi_trigger_live.c - triggers on the running kernel, in cgroups made for the
 * test. Those of the kernel and those that are polled must report the same events.
 */
#include <check.h>
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/psi_trigger.h"
#include "headroom/root.h"
#include "support/descriptor_shortage.h"
#include "support/groups.h"
#include "support/suite.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Without CAP_SYS_RESOURCE the kernel accepts this, too, but checks it badly. */
#define WINDOW_US (2 * HR_US_PER_S)
#define STALL_US  (HR_US_PER_S / 5)

/* How long to wait for an event that must come, on a machine that may be busy. */
#define PATIENCE_NS (20000 * HR_NS_PER_MS)

static const enum hr_psi_trigger_mode modes[] = {HR_PSI_TRIGGER_KERNEL, HR_PSI_TRIGGER_POLL};

static struct groups *groups;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static struct hr_cgroup *group; /* "a", which is empty at first */
static struct hr_psi_trigger *trigger;
static pid_t burners[2];
static size_t burner_count;

/* --- Set-up --------------------------------------------------------------- */

static void record_added_group(struct hr_cgroup *changed, enum hr_cgroup_event event, void *context)
{
    struct hr_cgroup **added = context;

    if (event == HR_CGROUP_ADDED)
        *added = changed;
}

static void set_up(void)
{
    char path[128];
    const char *pattern = path;
    const struct hr_cgroup_options options = {
        .patterns = &pattern, .pattern_count = 1, .event = record_added_group, .context = &group};

    groups = groups_new();
    if (groups == NULL)
        ck_abort_msg("needs a cgroup2 hierarchy that can be written to");
    groups_make(groups, "a");
    snprintf(path, sizeof(path), "%s/a", groups_path(groups));
    ck_assert_int_eq(hr_root_open("/", &root), 0);
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
    ck_assert_ptr_nonnull(group);
}

static void end_burners(void)
{
    while (burner_count > 0)
        groups_end(groups, burners[--burner_count]);
}

static void tear_down(void)
{
    end_burners();
    hr_psi_trigger_close(trigger);
    trigger = NULL;
    hr_cgroup_set_close(set);
    hr_root_close(root);
    groups_free(groups);
}

/* --- Tasks that compete --------------------------------------------------- */

static int find_cpu(void)
{
    cpu_set_t allowed;
    int cpu = 0;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    return cpu;
}

/* Starts one task in the group and one outside on the same CPU: each waits half of the time. */
static void start_stall(void)
{
    const int cpu = find_cpu();

    burners[burner_count++] = groups_start_busy(groups, "a", cpu);
    burners[burner_count++] = groups_start_busy(groups, NULL, cpu);
}

/* --- The trigger ---------------------------------------------------------- */

/* Whether we have CAP_SYS_RESOURCE. */
static bool is_privileged(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    ck_assert_int_eq((int)syscall(SYS_capget, &header, data), 0);
    return data[0].effective & 1u << CAP_SYS_RESOURCE;
}

static int open_trigger(enum hr_psi_trigger_mode mode, uint64_t window_us)
{
    const struct hr_psi_trigger_options options = {HR_PSI_CPU, HR_PSI_SOME, STALL_US, window_us,
                                                   mode};

    return hr_psi_trigger_open_cgroup(group, &options, &trigger);
}

/* Opens the trigger in the mode of a loop's turn. @return false if that mode isn't possible here.
 */
static bool open_trigger_of_turn(int turn)
{
    if (modes[turn] == HR_PSI_TRIGGER_KERNEL && !is_privileged()) {
        ck_assert_int_eq(open_trigger(modes[turn], WINDOW_US), -EPERM);
        return false;
    }
    ck_assert_int_eq(open_trigger(modes[turn], WINDOW_US), 0);
    ck_assert_int_eq(hr_psi_trigger_refusal(trigger), 0);
    if (modes[turn] == HR_PSI_TRIGGER_POLL) {
        ck_assert_int_eq(hr_psi_trigger_fd(trigger), -1);
        ck_assert_uint_lt(hr_psi_trigger_due_ns(trigger), UINT64_MAX);
    } else {
        ck_assert_int_ge(hr_psi_trigger_fd(trigger), 0);
        ck_assert_uint_eq(hr_psi_trigger_due_ns(trigger), UINT64_MAX);
    }
    return true;
}

/* Reads the group's total of cpu some. */
static uint64_t read_total(void)
{
    char text[256];
    unsigned long long total_us;

    int fd = openat(groups_dirfd(groups), "a/cpu.pressure", O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    ck_assert_int_gt(length, 0);
    text[length] = '\0';
    ck_assert_int_eq(sscanf(text, "some %*s %*s %*s total=%llu", &total_us), 1);
    return total_us;
}

/* The total when the trigger read it, as far as is known from outside. */
struct bracket {
    uint64_t before_ns, after_ns;
    uint64_t before_us, after_us;
};

/* For each reading. */
static struct bracket brackets[1024];
static size_t bracket_count;

static void open_bracket(void)
{
    ck_assert_uint_lt(bracket_count, COUNT(brackets));
    brackets[bracket_count].before_us = read_total();
    brackets[bracket_count].before_ns = hr_clock_ns();
}

static void close_bracket(void)
{
    brackets[bracket_count].after_ns = hr_clock_ns();
    brackets[bracket_count++].after_us = read_total();
}

static const struct bracket *find_bracket(uint64_t time_ns)
{
    for (size_t i = 0; i < bracket_count; i++)
        if (brackets[i].before_ns <= time_ns && time_ns <= brackets[i].after_ns + 1000)
            return &brackets[i];
    ck_abort_msg("an event begins or ends when nothing was read");
}

/* The last time without an event of the kernel: its next event came later. */
static uint64_t quiet_ns;

/* Waits for an event as readers must. @return what the last reading returned: -EAGAIN at the time
 * limit. */
static int wait_for_event(uint64_t patience_ns, struct hr_psi_event *event)
{
    const uint64_t end_ns = hr_clock_ns() + patience_ns;
    struct epoll_event wanted = {.events = EPOLLPRI}, ready;
    int epoll = epoll_create1(EPOLL_CLOEXEC), status = -EAGAIN;

    if (hr_psi_trigger_fd(trigger) >= 0)
        ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, hr_psi_trigger_fd(trigger), &wanted), 0);
    while (status == -EAGAIN && hr_clock_ns() < end_ns) {
        const uint64_t asked_ns = hr_clock_ns();
        ready.events = 0;
        if (epoll_wait(epoll, &ready, 1, 20) == 0) {
            quiet_ns = asked_ns;
            if (hr_clock_ns() < hr_psi_trigger_due_ns(trigger))
                continue;
        }
        open_bracket();
        status = hr_psi_trigger_read(trigger, ready.events, event);
        if (status != -ENODEV)
            close_bracket();
    }
    close(epoll);
    return status;
}

/* --- Tests ---------------------------------------------------------------- */

/* Compares the event with the group's file, read before and after. */
static void assert_measured(const struct hr_psi_event *event)
{
    ck_assert_uint_ge(event->stalled_us + 1, STALL_US);
    if (event->elapsed_us == WINDOW_US) /* estimated for the window */
        return;
    const struct bracket *from = find_bracket(event->time_ns - event->elapsed_us * 1000);
    const struct bracket *to = find_bracket(event->time_ns);
    if (hr_psi_trigger_fd(trigger) >= 0)
        ck_assert_uint_le(event->elapsed_us, WINDOW_US * 3 / 2);
    ck_assert_uint_ge(event->stalled_us + from->after_us, to->before_us);
    ck_assert_uint_le(event->stalled_us + from->before_us, to->after_us);
}

START_TEST(reports_a_stall_once_a_window)
{
    struct hr_psi_event event;
    uint64_t reported_us = 0, before_us = read_total(), former_ns = 0;
    size_t measured = 0;

    open_bracket();
    if (!open_trigger_of_turn(_i))
        return;
    close_bracket();
    start_stall();
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(wait_for_event(PATIENCE_NS, &event), 0);
        if (i > 0)
            ck_assert_uint_ge(event.time_ns - former_ns, WINDOW_US * 950);
        if (event.measured)
            assert_measured(&event);
        else
            ck_assert_uint_eq(event.stalled_us, STALL_US);
        measured += event.measured;
        reported_us += event.stalled_us;
        /* the kernel's clock counts, not the time of our read */
        former_ns = modes[_i] == HR_PSI_TRIGGER_KERNEL ? quiet_ns : event.time_ns;
    }
    ck_assert_uint_ge(measured, 2);
    ck_assert_uint_le(reported_us, read_total() - before_us); /* nothing is reported twice */
}
END_TEST

/* The kernel may fire a trigger at once for a stall before it was armed. */
START_TEST(reports_nothing_of_what_was_before)
{
    struct hr_psi_event event;
    const uint64_t end_ns = hr_clock_ns() + PATIENCE_NS;

    start_stall();
    while (read_total() < 3 * STALL_US && hr_clock_ns() < end_ns)
        usleep(50000);
    end_burners();
    ck_assert_uint_ge(read_total(), 3 * STALL_US);
    if (!open_trigger_of_turn(_i))
        return;
    ck_assert_int_eq(wait_for_event(2500 * HR_NS_PER_MS, &event), -EAGAIN);
}
END_TEST

/* Removes the group, or its pressure files. */
static const struct {
    const char *what;
    int reopened;
} endings[] = {{"removed", -ENODEV}, {"switched off", -EOPNOTSUPP}};

static void end_pressure(size_t ending)
{
    if (ending == 0)
        groups_remove(groups, "a");
    else
        groups_write(groups, "a", "cgroup.pressure", "0");
}

/* @return the events that epoll reports of the trigger within a short time. */
static uint32_t wait_for_end(void)
{
    struct epoll_event wanted = {.events = EPOLLPRI}, ready = {0};
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, hr_psi_trigger_fd(trigger), &wanted), 0);
    ck_assert_int_eq(epoll_wait(epoll, &ready, 1, 5000), 1);
    close(epoll);
    return ready.events;
}

START_TEST(reports_that_there_is_nothing_to_watch)
{
    const size_t ending = (size_t)_i / COUNT(modes);
    const int before = count_descriptors();
    struct hr_psi_event event;
    uint32_t events = 0;

    if (!open_trigger_of_turn(_i % (int)COUNT(modes)))
        return;
    ck_assert_int_eq(hr_psi_trigger_read(trigger, 0, &event), -EAGAIN);
    end_pressure(ending);
    if (hr_psi_trigger_fd(trigger) >= 0) {
        events = wait_for_end();
        ck_assert_msg(events & EPOLLERR, "%s: events %x", endings[ending].what, events);
    }
    ck_assert_int_eq(hr_psi_trigger_read(trigger, events, &event), -ENODEV);
    ck_assert_int_eq(hr_psi_trigger_confirm(trigger, &event), -ENODEV);
    hr_psi_trigger_close(trigger);
    trigger = NULL;
    ck_assert_int_eq(count_descriptors(), before);
    for (size_t i = 0; i < COUNT(modes); i++)
        ck_assert_int_eq(open_trigger(modes[i], WINDOW_US), endings[ending].reopened);
    ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_AUTO, WINDOW_US), endings[ending].reopened);
    ck_assert_ptr_null(trigger);
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

/* --- Who watches ---------------------------------------------------------- */

static int open_system(enum hr_psi_trigger_mode mode, uint64_t window_us)
{
    const struct hr_psi_trigger_options options = {HR_PSI_CPU, HR_PSI_SOME, STALL_US, window_us,
                                                   mode};

    return hr_psi_trigger_open_system(root, &options, &trigger);
}

static void close_trigger(void)
{
    hr_psi_trigger_close(trigger);
    trigger = NULL;
}

static const uint64_t windows_us[] = {HR_US_PER_S, WINDOW_US, HR_US_PER_S / 4};

START_TEST(arms_the_system_with_the_capability)
{
    const int before = count_descriptors();

    if (!is_privileged())
        return;
    for (size_t i = 0; i < COUNT(windows_us); i++) {
        int status = open_system(HR_PSI_TRIGGER_KERNEL, windows_us[i]);
        if (windows_us[i] < HR_US_PER_S / 2 && status == -EINVAL)
            continue; /* before Linux 6.5 */
        ck_assert_int_eq(status, 0);
        close_trigger();
        ck_assert_int_eq(open_system(HR_PSI_TRIGGER_AUTO, windows_us[i]), 0);
        ck_assert_int_eq(hr_psi_trigger_refusal(trigger), 0);
        ck_assert_int_ge(hr_psi_trigger_fd(trigger), 0);
        ck_assert_uint_eq(hr_psi_trigger_due_ns(trigger), UINT64_MAX);
        close_trigger();
    }
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

/* An armed trigger would delay the removal of the group, and others'. */
START_TEST(arms_no_group_by_itself)
{
    ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_AUTO, WINDOW_US), 0);
    ck_assert_int_eq(hr_psi_trigger_fd(trigger), -1);
    ck_assert_int_eq(hr_psi_trigger_refusal(trigger), 0);
}
END_TEST

/* Drops the capability. */
static void drop_privilege(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    ck_assert_int_eq((int)syscall(SYS_capget, &header, data), 0);
    data[0].effective &= ~(1u << CAP_SYS_RESOURCE);
    ck_assert_int_eq((int)syscall(SYS_capset, &header, data), 0);
    ck_assert(!is_privileged());
}

/* In all windows, also those that the kernel would accept. */
START_TEST(polls_without_the_capability)
{
    const int before = count_descriptors();

    drop_privilege();
    for (size_t i = 0; i < COUNT(windows_us); i++) {
        ck_assert_int_eq(open_system(HR_PSI_TRIGGER_KERNEL, windows_us[i]), -EPERM);
        ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_KERNEL, windows_us[i]), -EPERM);
        ck_assert_ptr_null(trigger);
        ck_assert_int_eq(count_descriptors(), before);
        ck_assert_int_eq(open_system(HR_PSI_TRIGGER_AUTO, windows_us[i]), 0);
        ck_assert_int_eq(hr_psi_trigger_refusal(trigger), -EPERM);
        ck_assert_int_eq(hr_psi_trigger_fd(trigger), -1);
        ck_assert_uint_lt(hr_psi_trigger_due_ns(trigger), UINT64_MAX);
        close_trigger();
    }
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

/* An open file accepts one trigger only, so that each has its own. */
START_TEST(arms_several_at_once)
{
    struct hr_psi_trigger *first;

    if (!open_trigger_of_turn(0))
        return;
    first = trigger;
    open_trigger_of_turn(0);
    ck_assert_int_ne(hr_psi_trigger_fd(first), hr_psi_trigger_fd(trigger));
    hr_psi_trigger_close(first);
    start_stall();
    struct hr_psi_event event;
    ck_assert_int_eq(wait_for_event(PATIENCE_NS, &event), 0);
}
END_TEST

enum { MANY = 32 };

/* Arms a trigger on each of many groups, as the kernel releases those of one file one by one. */
static void arm_many(struct hr_cgroup_set *many_set, struct hr_psi_trigger **many)
{
    const struct hr_psi_trigger_options options = {HR_PSI_CPU, HR_PSI_SOME, STALL_US, WINDOW_US,
                                                   HR_PSI_TRIGGER_KERNEL};
    struct hr_cgroup *next = NULL;

    for (size_t i = 0; i < MANY; i++) {
        next = hr_cgroup_set_next(many_set, next);
        ck_assert_ptr_nonnull(next);
        ck_assert_int_eq(hr_psi_trigger_open_cgroup(next, &options, &many[i]), 0);
    }
}

static struct hr_cgroup_set *make_many_groups(void)
{
    char path[128], name[16];
    const char *pattern = path;
    const struct hr_cgroup_options options = {.patterns = &pattern, .pattern_count = 1};
    struct hr_cgroup_set *many_set;

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many%d", i);
        groups_make(groups, name);
        groups_start_sleeper(groups, name);
    }
    snprintf(path, sizeof(path), "%s/many*", groups_path(groups));
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &many_set), 0);
    ck_assert_int_eq(hr_cgroup_set_read(many_set), 0);
    return many_set;
}

/* Closed side by side, the kernel's triggers take less time than one after the other. */
START_TEST(closes_many_side_by_side)
{
    struct hr_psi_trigger *many[MANY];
    uint64_t spent_ns[2];

    if (!is_privileged())
        return;
    struct hr_cgroup_set *many_set = make_many_groups();
    for (size_t turn = 0; turn < 2; turn++) {
        arm_many(many_set, many);
        uint64_t begin_ns = hr_clock_ns();
        for (size_t i = 0; turn == 0 && i < MANY; i++)
            hr_psi_trigger_close(many[i]);
        if (turn == 1)
            hr_psi_trigger_close_many(many, MANY);
        spent_ns[turn] = hr_clock_ns() - begin_ns;
    }
    hr_cgroup_set_close(many_set);
    printf("# closing 32 triggers: %.1f ms one after the other, %.1f ms side by side\n",
           (double)spent_ns[0] / 1e6, (double)spent_ns[1] / 1e6);
    fflush(stdout);
    ck_assert_uint_lt(spent_ns[1], spent_ns[0]);
}
END_TEST

/* --- Whether it can run --------------------------------------------------- */

/* @return why not, or NULL. */
static const char *check_pressure(struct groups *tried)
{
    groups_make(tried, "a");
    int fd = openat(groups_dirfd(tried), "a/cpu.pressure", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return "this kernel has no pressure files";
    close(fd);
    return NULL;
}

static const char *find_obstacle(void)
{
    struct groups *tried = groups_new();

    if (tried == NULL)
        return "no cgroup2 hierarchy that can be written to (root is needed)";
    const char *obstacle = check_pressure(tried);
    groups_free(tried);
    return obstacle;
}

/* Tests that can't run here are skipped, or fail where all are required. */
int main(void)
{
    TCase *tests = tcase_create("psi trigger live");
    const char *obstacle = find_obstacle();

    if (obstacle != NULL && getenv("HEADROOM_REQUIRE_ALL") == NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 90);
    tcase_add_loop_test(tests, reports_a_stall_once_a_window, 0, COUNT(modes));
    tcase_add_loop_test(tests, reports_nothing_of_what_was_before, 0, COUNT(modes));
    tcase_add_loop_test(tests, reports_that_there_is_nothing_to_watch, 0,
                        COUNT(modes) * COUNT(endings));
    tcase_add_test(tests, arms_the_system_with_the_capability);
    tcase_add_test(tests, arms_no_group_by_itself);
    tcase_add_test(tests, polls_without_the_capability);
    tcase_add_test(tests, arms_several_at_once);
    tcase_add_test(tests, closes_many_side_by_side);
    return run_isolated_suite("psi trigger live", tests);
}
