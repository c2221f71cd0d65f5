/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/check_blame_limits_live.c - what the programs' maps have no room for, and what
 * it takes to load the programs.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collectors/blame/blame_live.h"
#include "support/suite.h"

static struct groups *groups;
static struct live live;

static void set_up(void)
{
    groups = groups_new();
    live_open(&live, &(struct hr_blame_options){.max_groups = 16, .lasting = true}, groups);
}

static void tear_down(void)
{
    live_close(&live);
    groups_free(groups);
}

static void spin(const char *group)
{
    live_add(&live, group, groups_start_busy(groups, group, live_last_cpu()));
}

static const char *const contenders[] = {"web", "backup", "cron"};

/* What has no room is counted once: as a wait that was lost, or as a part of one that wasn't. */
static void expect_lost_once(void)
{
    const double lost = (double)live.delta.lost_ns / 1e6;
    const double unsplit = (double)live.delta.unsplit_ns / 1e6;
    double total = lost, unknown = 0;
    struct live_bounds waited = {0};

    for (size_t i = 0; i < 3; i++) {
        const struct live_bounds of = live_waited(&live, contenders[i]);
        waited.least_ms += of.least_ms;
        waited.most_ms += of.most_ms;
        total += live_total(&live, contenders[i]);
        unknown += live_cell(&live, contenders[i], HR_BLAME_UNKNOWN, NULL);
    }
    live_expect("all waits, and what was lost", total, waited, LIVE_SUM_PCT, LIVE_EDGE_MS);
    printf("# lost: %.1f ms, unsplit: %.1f, unattributed: %.1f\n", lost, unsplit, unknown);
    ck_assert_double_le(unsplit, unknown + 1);
}

/* Until each has waited for a while, however much else the machine does. */
static void read_waits(void)
{
    bool has_waited = false;

    live_read(&live, 0);
    for (int i = 0; i < 100 && !has_waited; i++) {
        usleep(1000 * 1000);
        live_read(&live, 1);
        has_waited = true;
        for (size_t group = 0; group < 3; group++)
            has_waited &= live_waited(&live, contenders[group]).least_ms > 100;
    }
    ck_assert(has_waited);
}

/* Three groups contend where there is room for three cells. */
static void contend_for_cells(bool by_task)
{
    const struct hr_blame_options options = {.max_groups = 16, .max_cells = 3, .by_task = by_task};

    live_close(&live);
    live_open(&live, &options, groups);
    for (size_t i = 0; i < 3; i++)
        groups_make(groups, contenders[i]);
    live_watch(&live, "web", "backup", "cron", NULL);
    for (size_t i = 0; i < 3; i++)
        spin(contenders[i]);
    usleep(300 * 1000);
    read_waits();
    ck_assert_int_eq(hr_blame_delta(&live.before, &live.after, &live.delta), 0);
    ck_assert_uint_le(live.delta.count, 3);
    expect_lost_once();
}

/* How long groups wait is known, but not for whom. */
START_TEST(test_no_pair_of_groups_has_the_room_of_another_wait)
{
    contend_for_cells(false);
    ck_assert_uint_eq(live.delta.lost_ns, 0);
    double waited_ms = 0;
    for (size_t i = 0; i < 3; i++)
        waited_ms += live_total(&live, contenders[i]);
    ck_assert_double_ge((double)live.delta.unsplit_ns / 1e6, waited_ms * 0.98);
}
END_TEST

/* What is lost at first has room once others have left. */
START_TEST(test_what_has_no_room_is_reported)
{
    contend_for_cells(true);
    ck_assert_uint_gt(live.delta.lost_ns, 100 * 1000 * 1000);
    groups_end(groups, live.tasks[1].pid);
    groups_end(groups, live.tasks[2].pid);
    live.task_count = 1;
    uint64_t lost_ns = 1;
    for (int i = 0; i < 100 && lost_ns > 0; i++) {
        live_read(&live, 0);
        usleep(100 * 1000);
        live_read(&live, 1);
        ck_assert_int_eq(hr_blame_delta(&live.before, &live.after, &live.delta), 0);
        lost_ns = live.delta.lost_ns;
    }
    ck_assert_uint_eq(lost_ns, 0);
}
END_TEST

/* The most instructions that the kernel is to verify of each program; some 0.4 to 1.2 us each, in
 * the thread that loads them. By how a loop is written, or which functions are static, there are
 * ten times as many. */
static const struct {
    const char *name;
    unsigned most;
} programs[] = {
    {"on_switch", 8500},  {"on_wakeup", 400},   {"on_start", 1500},
    {"on_migrate", 5500}, {"on_reading", 8500},
};

enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

/* @return whether a program, by its id, is one of ours. Those that count perf events have such
 * names, too, and another type. */
static bool check_program(unsigned id)
{
    struct bpf_prog_info info = {0};
    __u32 size = sizeof(info);
    int fd = bpf_prog_get_fd_by_id(id);

    if (fd < 0)
        return false;
    const int status = bpf_obj_get_info_by_fd(fd, &info, &size);
    close(fd);
    if (status != 0 || info.type != BPF_PROG_TYPE_TRACING)
        return false;
    for (size_t i = 0; i < PROGRAMS; i++)
        if (strcmp(info.name, programs[i].name) == 0) {
            printf("# %s: %u instructions\n", info.name, info.verified_insns);
            ck_assert_uint_le(info.verified_insns, programs[i].most);
            return true;
        }
    return false;
}

START_TEST(test_loading_verifies_few_instructions)
{
    unsigned found = 0;

    for (__u32 id = 0; bpf_prog_get_next_id(id, &id) == 0;)
        found += check_program(id);
    ck_assert_uint_ge(found, PROGRAMS);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("blame limits live");
    tcase_set_timeout(tests, 600); /* only there to end what hangs */

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!live_can_measure())
        return 0;
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_no_pair_of_groups_has_the_room_of_another_wait);
    tcase_add_test(tests, test_what_has_no_room_is_reported);
    tcase_add_test(tests, test_loading_verifies_few_instructions);
    return run_suite("blame limits live", tests);
}
