/* SPDX-License-Identifier: MIT */
/*
 * command/check_doctor_perf.c - what `headroom doctor` says of events that a machine's PMU counts
 * only in part, or not at all, with a fake of the kernel's perf events.
 */
#include <check.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/perf/fake_bpf.h"
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

static int load(const struct count_settings *settings, size_t slots, size_t possible, void **object)
{
    return fake_bpf_calls.load(settings, slots, possible, object);
}

static void unload(void *object)
{
    fake_bpf_calls.unload(object);
}

static int attach(void *object)
{
    return fake_bpf_calls.attach(object);
}

static int set_event(void *object, size_t event, unsigned cpu, int fd)
{
    return fake_bpf_calls.set_event(object, event, cpu, fd);
}

static void unset_event(void *object, size_t event, unsigned cpu)
{
    fake_bpf_calls.unset_event(object, event, cpu);
}

static int read_cpus(void *object, struct count_cpu *cpus)
{
    return fake_bpf_calls.read_cpus(object, cpus);
}

static int flush(void *object, unsigned cpu)
{
    return fake_bpf_calls.flush(object, cpu);
}

static int begin_reading(void *object)
{
    return fake_bpf_calls.begin_reading(object);
}

static void find_changed(void *object, __u32 count, bool *changed)
{
    fake_bpf_calls.find_changed(object, count, changed);
}

static bool is_changed(const void *object, __u32 slot, unsigned cpu)
{
    return fake_bpf_calls.is_changed(object, slot, cpu);
}

static void read_slot(const void *object, __u32 slot, unsigned cpu, struct count_value *values)
{
    fake_bpf_calls.read(object, slot, cpu, values);
}

/* Without cgroups no more are called. */
const struct hr_perf_bpf_calls hr_perf_kernel_bpf_calls = {
    .load = load,
    .unload = unload,
    .attach = attach,
    .set_event = set_event,
    .unset_event = unset_event,
    .read_cpus = read_cpus,
    .flush = flush,
    .begin_reading = begin_reading,
    .find_changed = find_changed,
    .is_changed = is_changed,
    .read = read_slot,
};

static void refuse(uint64_t config, int error)
{
    fake_perf_refuse((struct fake_refusal){.error = error,
                                           .of_type = true,
                                           .type = PERF_TYPE_HARDWARE,
                                           .of_config = true,
                                           .config = config});
}

/* --- Findings ------------------------------------------------------------- */

static const char *const configured[] = {"cycles", "instructions", "task-clock"};

static const char *const all = "**";
static const char *patterns[] = {all};

static struct usage usage_of(const char **events, const char **lines, size_t count)
{
    return (struct usage){
        .perf = {.loaded = true,
                 .system = true,
                 .counting = HR_PERF_DESCRIPTORS,
                 .events = {.list = events, .count = count},
                 .lines = {.list = lines, .count = count},
                 .max_files = 100,
                 .groups = {.patterns = {.list = patterns, .count = 1}, .max_count = 10}},
    };
}

static struct findings check_events(void)
{
    const char *lines[] = {configured[0], configured[0], configured[0]};
    const struct usage usage = usage_of((const char **)configured, lines, 3);
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
    int of_cycles, of_instructions; /* errors */
    enum finding_state state;
    const char *cause, *remedy;
} pmus[] = {
    {0, 0, FINDING_WORKS, "", ""},
    {0, -ENOENT, FINDING_NOTE, "this machine's PMU doesn't count instructions",
     "leave instructions out"},
    {-ENOENT, 0, FINDING_NOTE, "this machine's PMU doesn't count cycles", "leave cycles out"},
    {-ENOENT, -ENOENT, FINDING_NOTE,
     "no PMU of this machine counts them, as in most virtual machines",
     "let the hypervisor pass one through, or leave these events out"},
    {-EOPNOTSUPP, -EOPNOTSUPP, FINDING_NOTE,
     "no PMU of this machine counts them, or virtual machines that run have the PMU to themselves",
     "count the host alone, by the modifier :H (Event), or leave these events out"},
};

START_TEST(names_the_event_that_the_pmu_lacks)
{
    static const char *const features[] = {"hardware events of the machine",
                                           "hardware events of cgroups"};

    if (pmus[_i].of_cycles < 0)
        refuse(PERF_COUNT_HW_CPU_CYCLES, pmus[_i].of_cycles);
    if (pmus[_i].of_instructions < 0)
        refuse(PERF_COUNT_HW_INSTRUCTIONS, pmus[_i].of_instructions);
    const struct findings findings = check_events();
    for (int i = 0; i < 2; i++)
        assert_found(&findings, features[i], pmus[_i].state, pmus[_i].cause, pmus[_i].remedy);
    assert_found(&findings, "software events of cgroups", FINDING_WORKS, "", "");
}
END_TEST

/* --- By both -------------------------------------------------------------- */

static const char *mixed_events[] = {"task-clock", "cycles", "power/energy-pkg/"};

/* Lines that BPF can't count: of what, and the descriptors that they take. */
static const struct {
    bool unreadable; /* cycles, too */
    size_t max_files, files;
    const char *cause;
    enum finding_state state;
    const char *shortage, *remedy;
} mixtures[] = {
    {false, 1, 1,
     "the line with \"power/energy-pkg/\" is counted by descriptors, as that event counts for the "
     "whole machine",
     FINDING_WORKS, "", ""},
    {true, 5, 5,
     "the line with \"cycles\" is counted by descriptors, as BPF programs can't read that event; "
     "so is another one",
     FINDING_WORKS, "", ""},
    {true, 4, 5,
     "the line with \"cycles\" is counted by descriptors, as BPF programs can't read that event; "
     "so is another one",
     FINDING_LACKS, "the events of 1 cgroups on 2 CPUs take 5, but no more than 4 are allowed",
     "raise MaxFiles, or count fewer cgroups or events"},
};

START_TEST(says_what_bpf_leaves_to_descriptors)
{
    const char *lines[] = {mixed_events[0], mixed_events[1], mixed_events[2]};
    struct usage usage = usage_of(mixed_events, lines, 3);
    struct findings findings = {.count = 0};
    struct doctor_events events;

    fake_perf_refuse(
        (struct fake_refusal){.error = -EINVAL, .in_cgroups = true, .of_type = true, .type = 9});
    if (mixtures[_i].unreadable)
        fake_bpf_make_unreadable(1);
    usage.perf.counting = HR_PERF_BPF;
    usage.perf.max_files = mixtures[_i].max_files;
    findings_begin(&findings, "cgroup_perf", FINDINGS_AS_CONFIGURED);
    doctor_check_cgroup_perf(root, &usage, &findings);
    assert_found(&findings, "counting by BPF", FINDING_NOTE, mixtures[_i].cause, "");
    assert_found(&findings, "file descriptors for the events of each cgroup", mixtures[_i].state,
                 mixtures[_i].shortage, mixtures[_i].remedy);
    doctor_find_events(root, &usage.perf, &events);
    ck_assert_int_eq(events.choice.counting, HR_PERF_BPF);
    ck_assert_uint_eq(events.exception_files, mixtures[_i].files);
    free((void *)events.texts.list);
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
    fake_bpf_reset(2);
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
    tcase_add_loop_test(tests, says_what_bpf_leaves_to_descriptors, 0,
                        (int)(sizeof(mixtures) / sizeof(mixtures[0])));
    return run_suite("doctor perf", tests);
}
