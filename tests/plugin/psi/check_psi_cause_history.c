/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_psi_cause_history.c - which counters the causes of a stall come from: those of a
 * window or two ago.
 */
#include <check.h>

#include "headroom/clock.h"
#include "headroom/root.h"
#include "psi/cause_history.h"
#include "support/frozen_clock.h"
#include "support/suite.h"
#include "support/tree.h"

static struct tree *tree;
static struct hr_root *root;
static struct psi_cause_history history;
static struct hr_stall_causes causes;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    history = (struct psi_cause_history){.older = NULL};
    memset(&causes, 0x55, sizeof(causes));
    frozen_ns = 5000 * HR_NS_PER_S;
}

static void tear_down(void)
{
    frozen_ns = 0;
    psi_cause_history_clear(&history);
    hr_root_close(root);
    tree_free(tree);
}

/* How often tasks of the machine had to reclaim memory, since boot; a second later. */
static void reclaim(unsigned count)
{
    frozen_ns += HR_NS_PER_S;
    tree_write(tree, "proc/vmstat",
               "allocstall_normal %u\npgsteal_kswapd 0\nworkingset_refault_anon 0\n", count);
}

static void take(unsigned count)
{
    reclaim(count);
    psi_cause_history_take(&history, root, NULL, HR_PSI_MEMORY);
}

static void attribute(uint64_t stalled_us, uint64_t elapsed_us)
{
    const struct hr_psi_event event = {.stalled_us = stalled_us, .elapsed_us = elapsed_us};

    psi_cause_history_attribute(&history, root, NULL, HR_PSI_MEMORY, &event, &causes);
}

START_TEST(knows_nothing_at_first)
{
    ck_assert(psi_cause_history_is_empty(&history));
    attribute(500000, 1000000);
    ck_assert_uint_eq(causes.count, 0);
    psi_cause_history_clear(&history);
}
END_TEST

START_TEST(compares_with_the_older_counters)
{
    static const unsigned added[] = {7, 7 + 30, 30 + 400, 400 + 5000};
    unsigned count = 0, steps[] = {0, 7, 30, 400, 5000};

    for (int i = 0; i < 4; i++) {
        take(count += steps[i]);
        ck_assert(!psi_cause_history_is_empty(&history));
        reclaim(count + steps[i + 1]);
        attribute(500000, 1000000);
        ck_assert_uint_eq(causes.count, 1);
        ck_assert_int_eq(causes.list[0].kind, HR_STALL_MACHINE_RECLAIM);
        ck_assert_uint_eq(causes.list[0].event_count, added[i]);
    }
    psi_cause_history_clear(&history);
    ck_assert(psi_cause_history_is_empty(&history));
    attribute(500000, 1000000);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

/* Nothing elapsed, or more was stalled than elapsed. */
START_TEST(survives_odd_events)
{
    take(0);
    attribute(500000, 1000000); /* at the same time */
    ck_assert_uint_eq(causes.count, 0);
    reclaim(9);
    attribute(500000, 0);
    ck_assert_uint_eq(causes.count, 0);
    attribute(UINT64_MAX, 1);
    ck_assert_uint_eq(causes.count, 1);
    ck_assert_uint_eq(causes.list[0].event_count, 9);
}
END_TEST

/* The machine's CPUs since boot, in ticks of 10 ms. */
static void run_cpus(unsigned user, unsigned softirq, unsigned steal)
{
    tree_write(tree, "proc/stat", "cpu  %u 0 0 0 0 0 %u %u 0 0\n", user, softirq, steal);
}

/* The stall of the message was 1,008 of 2,000 ms; the counters are of longer, and of shorter. */
static const unsigned counters_ms[] = {4300, 2000, 400};

START_TEST(causes_are_parts_of_the_stall)
{
    const struct hr_psi_event event = {.stalled_us = 1008000, .elapsed_us = 2000000};
    const unsigned ticks = counters_ms[_i] / 10;
    const double stall_us = counters_ms[_i] < 2000 ? 0.504 * 1000 * counters_ms[_i] : 1008000;

    run_cpus(0, 0, 0);
    psi_cause_history_take(&history, root, NULL, HR_PSI_CPU);
    frozen_ns += counters_ms[_i] * HR_NS_PER_MS;
    run_cpus(ticks / 10, ticks * 3 / 10, ticks * 6 / 10);
    psi_cause_history_attribute(&history, root, NULL, HR_PSI_CPU, &event, &causes);
    ck_assert_uint_eq(causes.count, 2);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_HYPERVISOR);
    ck_assert_int_eq(causes.list[1].kind, HR_STALL_INTERRUPTS);
    ck_assert_double_eq_tol((double)causes.list[0].stalled_us, 0.6 * stall_us, 2);
    ck_assert_double_eq_tol((double)causes.list[1].stalled_us, 0.3 * stall_us, 2);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("cause history");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, knows_nothing_at_first);
    tcase_add_test(tests, compares_with_the_older_counters);
    tcase_add_test(tests, survives_odd_events);
    tcase_add_loop_test(tests, causes_are_parts_of_the_stall, 0, 3);
    return run_suite("psi cause history", tests);
}
