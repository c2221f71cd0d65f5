/* SPDX-License-Identifier: MIT */
/*
 * command/check_doctor_perf.c - what `headroom doctor` says of events that a machine's PMU counts
 * only in part, or not at all, with a fake of the kernel's perf events.
 */
#include <check.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "collectors/perf/fake_perf.h"
#include "collectors/perf_event/event_source.h"
#include "doctor/checks.h"
#include "perf/calls.h"
#include "support/suite.h"
#include "support/tree.h"

static struct tree *tree;
static struct hr_root *root;

/* --- The kernel ----------------------------------------------------------- */

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                      unsigned long flags)
{
    return fake_perf_calls.open(attr, pid, cpu, group_fd, flags);
}

static int enable_events(int fd)
{
    return fake_perf_calls.enable(fd);
}

static ssize_t read_events(int fd, void *buffer, size_t size)
{
    return fake_perf_calls.read(fd, buffer, size);
}

static void close_event(int fd)
{
    fake_perf_calls.close(fd);
}

/* The doctor takes the kernel's calls: the linker finds these first. */
const struct hr_perf_calls hr_perf_kernel_calls = {
    .open = open_event,
    .enable = enable_events,
    .read = read_events,
    .close = close_event,
};

static void refuse(uint64_t config)
{
    fake_perf_refuse((struct fake_refusal){.error = -ENOENT,
                                           .of_type = true,
                                           .type = PERF_TYPE_HARDWARE,
                                           .of_config = true,
                                           .config = config});
}

/* --- Findings ------------------------------------------------------------- */

static const char *const configured[] = {"cycles", "instructions", "task-clock"};

static struct findings check_events(void)
{
    static const char *const all = "**";
    const char *lines[] = {configured[0], configured[0], configured[0]};
    const char *patterns[] = {all};
    const struct usage usage = {
        .perf = {.loaded = true,
                 .system = true,
                 .counting = HR_PERF_DESCRIPTORS,
                 .events = {.list = (const char **)configured, .count = 3},
                 .lines = {.list = lines, .count = 3},
                 .max_files = 100,
                 .groups = {.patterns = {.list = patterns, .count = 1}, .max_count = 10}},
    };
    struct findings findings = {.count = 0};

    findings_begin(&findings, "cgroup_perf", FINDINGS_AS_CONFIGURED);
    doctor_check_cgroup_perf(root, &usage, &findings);
    return findings;
}

static void assert_found(const struct findings *findings, const char *feature,
                         enum finding_state state, const char *cause, const char *remedy)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (strcmp(finding->feature, feature) != 0)
            continue;
        ck_assert_str_eq(finding->cause, cause);
        ck_assert_str_eq(finding->remedy, remedy);
        ck_assert_int_eq(finding->state, state);
        ck_assert(finding->used);
        return;
    }
    ck_abort_msg("nothing is found of %s", feature);
}

/* The plugin goes on with those that need no PMU: it is no fault. */
static const struct {
    bool refuses_cycles, refuses_instructions;
    enum finding_state state;
    const char *cause, *remedy;
} pmus[] = {
    {false, false, FINDING_WORKS, "", ""},
    {false, true, FINDING_NOTE, "this machine's PMU doesn't count instructions",
     "leave instructions out"},
    {true, false, FINDING_NOTE, "this machine's PMU doesn't count cycles", "leave cycles out"},
    {true, true, FINDING_NOTE, "no PMU of this machine counts them, as in most virtual machines",
     "let the hypervisor pass one through, or leave these events out"},
};

START_TEST(names_the_event_that_the_pmu_lacks)
{
    static const char *const features[] = {"hardware events of the machine",
                                           "hardware events of cgroups"};

    if (pmus[_i].refuses_cycles)
        refuse(PERF_COUNT_HW_CPU_CYCLES);
    if (pmus[_i].refuses_instructions)
        refuse(PERF_COUNT_HW_INSTRUCTIONS);
    const struct findings findings = check_events();
    for (int i = 0; i < 2; i++)
        assert_found(&findings, features[i], pmus[_i].state, pmus[_i].cause, pmus[_i].remedy);
    assert_found(&findings, "software events of cgroups", FINDING_WORKS, "", "");
}
END_TEST

/* --- Fixture -------------------------------------------------------------- */

static void set_up(void)
{
    tree = tree_new();
    event_source_add(tree, "5.10-x86-skylake-uncore", EVENT_SOURCE_LINKS);
    tree_write(tree, "sys/devices/system/cpu/online", "0-1\n");
    tree_write(tree, "sys/devices/system/cpu/possible", "0-1\n");
    tree_add_directory(tree, "sys/devices/system/cpu/cpu0/topology");
    tree_add_directory(tree, "sys/devices/system/cpu/cpu1/topology");
    tree_write(tree, "proc/sys/kernel/osrelease", "7.3.0\n");
    tree_add_group(tree, "a", true);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    fake_perf_reset();
}

static void tear_down(void)
{
    hr_root_close(root);
    tree_free(tree);
    fake_perf_reset(); /* nothing is open */
}

int main(void)
{
    TCase *tests = tcase_create("doctor perf");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, names_the_event_that_the_pmu_lacks, 0,
                        (int)(sizeof(pmus) / sizeof(pmus[0])));
    return run_suite("doctor perf", tests);
}
