/* SPDX-License-Identifier: MIT */
#include "collectors/psi/psi_trigger_harness.h"

#include <errno.h>
#include <string.h>
#include <time.h>

uint64_t clock_us = UINT64_C(1000000000);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    now->tv_sec = (time_t)(clock_us / SECOND);
    now->tv_nsec = (long)(clock_us % SECOND * 1000);
    return 0;
}

struct tree *tree;
struct hr_root *root;
struct hr_psi_trigger *trigger;
uint64_t total_us;

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

int open_trigger(enum hr_psi_trigger_mode mode, uint64_t stall_us, uint64_t window_us)
{
    const struct hr_psi_trigger_options options = {HR_PSI_MEMORY, HR_PSI_SOME, stall_us, window_us,
                                                   mode};

    return hr_psi_trigger_open_system(root, &options, &trigger);
}

void begin_polling(uint64_t stall_us, uint64_t window_us)
{
    ck_assert_int_eq(open_trigger(HR_PSI_TRIGGER_POLL, stall_us, window_us), 0);
    ck_assert_int_eq(hr_psi_trigger_fd(trigger), -1);
    ck_assert_uint_gt(hr_psi_trigger_due_ns(trigger), clock_us * 1000);
    ck_assert_uint_le(hr_psi_trigger_due_ns(trigger), (clock_us + window_us) * 1000);
    ck_assert_int_eq(hr_psi_trigger_refusal(trigger), 0);
}

void add_stall(uint64_t stalled_us)
{
    total_us += stalled_us;
    tree_pressure(tree, NULL, "memory", total_us, total_us / 2);
}

int read_trigger(struct hr_psi_event *event)
{
    return hr_psi_trigger_read(trigger, 0, event);
}

void sleep_ms(unsigned milliseconds)
{
    clock_us += milliseconds * 1000;
}

void assert_quiet(uint32_t events)
{
    struct hr_psi_event event, before;

    memset(&event, 0x5a, sizeof(event));
    before = event;
    ck_assert_int_eq(hr_psi_trigger_read(trigger, events, &event), -EAGAIN);
    ck_assert_mem_eq(&event, &before, sizeof(event));
}

void wait_until_due(void)
{
    uint64_t due_us = hr_psi_trigger_due_ns(trigger) / 1000;

    if (due_us > clock_us)
        clock_us = due_us;
}

void grow_until_event(uint64_t stalled_us, struct hr_psi_event *event)
{
    int status = -EAGAIN;

    for (int reads = 0; status == -EAGAIN && reads < 100; reads++) {
        wait_until_due();
        add_stall(stalled_us);
        status = read_trigger(event);
    }
    ck_assert_int_eq(status, 0);
}

void add_trigger_fixture(TCase *tests)
{
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
}
