/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf_event/check_perf_event_tracepoints.c - tracepoints by name, with and without
 * tracefs or the permission to read it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/perf_event/perf_event_harness.h"
#include "support/descriptor_shortage.h"
#include "support/suite.h"

/* --- Tracepoints --------------------------------------------------------------- */

static void add_tracepoint(const char *place, const char *name, const char *id)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/events/%s/id", place, name);
    tree_write(tree, path, "%s", id);
    snprintf(path, sizeof(path), "%s/events/%s/format", place, name);
    tree_write(tree, path, "name: x\n");
}

static void add_tracepoints(const char *place)
{
    add_tracepoint(place, "sched/sched_switch", "372\n");
    add_tracepoint(place, "sched/sched_wakeup", "374\n");
    add_tracepoint(place, "sched/sched_waking", "373\n");
    add_tracepoint(place, "raw_syscalls/sys_enter", "18\n");
    tree_add_directory(tree, "sys/kernel/tracing/events/ftrace/bprint");
}

static void assert_tracepoint(uint64_t id)
{
    ck_assert_uint_eq(event->encodings[0].attr.type, PERF_TYPE_TRACEPOINT);
    ck_assert_uint_eq(event->encodings[0].attr.config, id);
    ck_assert_uint_eq(event->encodings[0].attr.size, sizeof(struct perf_event_attr));
    ck_assert_uint_eq(event->encodings[0].attr.exclude_hv, 0);
    ck_assert_uint_eq(event->encoding_count, 1);
    ck_assert(event->encodings[0].every_cpu);
    ck_assert_int_eq(event->role, HR_PERF_OTHER);
}

START_TEST(finds_tracepoints)
{
    add_tracepoints("sys/kernel/tracing");
    open_vocabulary(ALDER_LAKE);
    assert_found("sched:sched_switch");
    assert_tracepoint(372);
    ck_assert_str_eq(event->label, "sched:sched_switch");
    assert_found("raw_syscalls:sys_enter:u");
    assert_tracepoint(18);
    ck_assert_uint_eq(event->encodings[0].attr.exclude_kernel, 1);
    ck_assert_str_eq(event->label, "raw_syscalls:sys_enter:u");
}
END_TEST

START_TEST(finds_tracepoints_in_debugfs)
{
    tree_add_directory(tree, "sys/kernel/tracing");
    add_tracepoint("sys/kernel/debug/tracing", "sched/sched_switch", "372\n");
    open_vocabulary(NO_PMU);
    assert_found("sched:sched_switch");
    assert_tracepoint(372);
}
END_TEST

#define NO_TRACEFS "no tracefs is mounted; mount -t tracefs tracefs /sys/kernel/tracing"

START_TEST(needs_tracefs)
{
    open_vocabulary(NO_PMU);
    assert_error("sched:sched_switch", -ENODEV, NO_TRACEFS);
    tree_add_directory(tree, "sys/kernel/tracing");
    tree_add_directory(tree, "sys/kernel/debug");
    assert_error("sched:sched_switch", -ENODEV, NO_TRACEFS);
    /* not tracepoints */
    assert_error("INST_RETIRD:ANY_P", -ENOENT, "this machine knows no such event");
    assert_error("CYCLS:foo", -ENOENT, "this machine knows no such event");
    ck_assert_str_eq(error.nearest[0], "cycles");
    assert_error("cycles:p", -EINVAL, "the event \"cycles\" has no unit mask or modifier \"p\"");
    assert_found("cycles:u");
}
END_TEST

static const struct {
    const char *text;
    int status;
    const char *reason, *nearest[3];
} no_tracepoints[] = {
    {"sched:sched_swich",
     -ENOENT,
     "the subsystem \"sched\" has no tracepoint \"sched_swich\"",
     {"sched:sched_switch"}},
    {"sched:sched_wake",
     -ENOENT,
     "the subsystem \"sched\" has no tracepoint \"sched_wake\"",
     {"sched:sched_wakeup", "sched:sched_waking"}},
    {"sched:switch",
     -ENOENT,
     "the subsystem \"sched\" has no tracepoint \"switch\"",
     {"sched:sched_switch"}},
    {"shed:sched_switch",
     -ENOENT,
     "there is no subsystem \"shed\" with tracepoints",
     {"sched:sched_switch"}},
    {"nothing:at_all", -ENOENT, "there is no subsystem \"nothing\" with tracepoints", {NULL}},
    {"..:sched", -ENOENT, "there is no subsystem \"..\" with tracepoints", {NULL}},
    {"sched:..", -ENOENT, "the subsystem \"sched\" has no tracepoint \"..\"", {NULL}},
    /* more likely libpfm4's */
    {"CYCLS:foo", -ENOENT, "this machine knows no such event", {"cycles"}},
    {"cycls:foo", -ENOENT, "there is no subsystem \"cycls\" with tracepoints", {"cycles"}},
    {"sched_switch", -ENOENT, "this machine knows no such event", {"sched:sched_switch"}},
    {"ftrace:bprint", -ENOENT, "the tracepoint \"bprint\" can be traced, but not counted", {NULL}},
};

START_TEST(says_why_it_is_no_tracepoint)
{
    add_tracepoints("sys/kernel/tracing");
    open_vocabulary(NO_PMU);
    assert_error(no_tracepoints[_i].text, no_tracepoints[_i].status, no_tracepoints[_i].reason);
    for (size_t i = 0; i < 3; i++) {
        if (no_tracepoints[_i].nearest[i] == NULL)
            break;
        ck_assert_uint_gt(error.nearest_count, i);
        ck_assert_str_eq(error.nearest[i], no_tracepoints[_i].nearest[i]);
    }
}
END_TEST

START_TEST(understands_the_id_or_says_so)
{
    static const char *const ids[] = {"", "\n", "x\n", "1 2\n", "-1\n", "18446744073709551616\n"};

    open_vocabulary(NO_PMU);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        add_tracepoint("sys/kernel/tracing", "sched/sched_switch", ids[i]);
        assert_error("sched:sched_switch", -EBADMSG,
                     "the tracepoint's file \"id\" isn't understood");
    }
}
END_TEST

START_TEST(takes_capitals_for_a_subsystem_that_is_there)
{
    add_tracepoint("sys/kernel/tracing", "HYPER/hyper_send_ipi", "5\n");
    open_vocabulary(NO_PMU);
    assert_found("HYPER:hyper_send_ipi");
    assert_tracepoint(5);
    assert_error("HYPER:hyper_send", -ENOENT,
                 "the subsystem \"HYPER\" has no tracepoint \"hyper_send\"");
    ck_assert_str_eq(error.nearest[0], "HYPER:hyper_send_ipi");
}
END_TEST

START_TEST(offers_no_tracepoint_for_a_modifier)
{
    add_tracepoint("sys/kernel/tracing", "cycle/p", "5\n");
    open_vocabulary(NO_PMU);
    assert_error("cycles:p", -EINVAL, "the event \"cycles\" has no unit mask or modifier \"p\"");
    ck_assert_uint_eq(error.nearest_count, 0);
}
END_TEST

START_TEST(leaves_no_file_open)
{
    static const char *const texts[] = {
        "cycles",          "cpu/mem-loads/", "cpu/mem-load/", "sched:sched_switch",
        "sched:sched_swi", "shed:no_such",   "sched_switch",  "energy-pkg",
        "cycles:p",        "nothing:at_all", "cup/mem-loads/"};

    add_tracepoints("sys/kernel/tracing");
    open_vocabulary(SKYLAKE);
    int before = count_descriptors();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        find_event(texts[i]);
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

static void deny_access(const char *path)
{
    char full[512];

    snprintf(full, sizeof(full), "%s/%s", tree_path(tree), path);
    ck_assert_int_eq(chmod(full, 0), 0);
    if (geteuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
}

static void allow_access(const char *path)
{
    char full[512];

    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    snprintf(full, sizeof(full), "%s/%s", tree_path(tree), path);
    ck_assert_int_eq(chmod(full, 0700), 0);
}

/* The tree's top directory is accessible to its owner only. */
static void open_tree_to_all(void)
{
    ck_assert_int_eq(chmod(tree_path(tree), 0755), 0);
}

START_TEST(needs_permission_for_tracefs)
{
    open_tree_to_all();
    add_tracepoints("sys/kernel/tracing");
    open_vocabulary(NO_PMU);
    deny_access("sys/kernel/tracing");
    int status = find_event("sched:sched_switch"), other = find_event("INST_RETIRD:ANY_P");
    find_event("sched:sched_switch");
    allow_access("sys/kernel/tracing");
    ck_assert_int_eq(status, -EACCES);
    ck_assert_int_eq(other, -ENOENT);
    ck_assert_str_eq(error.reason, "no permission to read /sys/kernel/tracing, which needs "
                                   "CAP_DAC_READ_SEARCH, root, or membership in its group");
}
END_TEST

START_TEST(needs_permission_for_the_id)
{
    static const char id[] = "sys/kernel/tracing/events/sched/sched_switch/id";

    open_tree_to_all();
    add_tracepoints("sys/kernel/tracing");
    open_vocabulary(NO_PMU);
    deny_access(id);
    int status = find_event("sched:sched_switch");
    allow_access(id);
    ck_assert_int_eq(status, -EACCES);
}
END_TEST

int main(void)
{
    TCase *tests = perf_event_tests();

    tcase_add_test(tests, finds_tracepoints);
    tcase_add_test(tests, finds_tracepoints_in_debugfs);
    tcase_add_test(tests, needs_tracefs);
    tcase_add_loop_test(tests, says_why_it_is_no_tracepoint, 0, COUNT(no_tracepoints));
    tcase_add_test(tests, understands_the_id_or_says_so);
    tcase_add_test(tests, takes_capitals_for_a_subsystem_that_is_there);
    tcase_add_test(tests, offers_no_tracepoint_for_a_modifier);
    tcase_add_test(tests, leaves_no_file_open);
    tcase_add_test(tests, needs_permission_for_tracefs);
    tcase_add_test(tests, needs_permission_for_the_id);
    return run_suite("perf_event", tests);
}
