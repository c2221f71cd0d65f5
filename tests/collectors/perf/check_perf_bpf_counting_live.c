/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_bpf_counting_live.c - counting by BPF on the running kernel: that
 * nothing is lost or counted twice, whatever else uses BPF, and that it agrees with counting by
 * descriptors.
 */
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/perf/perf_live.h"
#include "perf/bpf_calls.h"
#include "perf/calls.h"
#include "support/descriptor_shortage.h"

#define PATIENCE_NS (20 * HR_NS_PER_S)
#define WINDOW_MS   300

/* --- Loads ---------------------------------------------------------------- */

static long bpf(enum bpf_cmd command, union bpf_attr *attr)
{
    return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* Updates a map for ever: while it does, the CPU runs no BPF programs of perf events. */
__attribute__((noreturn)) static void update_map(void)
{
    union bpf_attr made = {.map_type = BPF_MAP_TYPE_HASH,
                           .key_size = sizeof(uint32_t),
                           .value_size = sizeof(uint32_t),
                           .max_entries = 1024};
    uint32_t key = 0;
    const int map = (int)bpf(BPF_MAP_CREATE, &made);

    for (;; key = (key + 1) % 1024) {
        union bpf_attr update = {.map_fd = (uint32_t)map,
                                 .key = (uint64_t)(uintptr_t)&key,
                                 .value = (uint64_t)(uintptr_t)&key};
        bpf(BPF_MAP_UPDATE_ELEM, &update);
    }
}

static void pin_to(int cpu)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

/* Starts such a process, outside of the groups. */
static pid_t start_updates(int cpu)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin_to(cpu);
    update_map();
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* --- Sums ----------------------------------------------------------------- */

struct moment {
    uint64_t time_ns, outer_ns, inner_ns; /* of the clock and of the processes */
    uint64_t machine, outer, inner;       /* as counted */
    uint64_t took_ns;                     /* reading them */
};

static struct moment try_moment(struct hr_perf_target *const targets[3], const pid_t busy[2])
{
    struct moment moment = {.time_ns = hr_clock_ns(),
                            .outer_ns = live_cpu_time_ns(busy[0]),
                            .inner_ns = live_cpu_time_ns(busy[1])};

    moment.machine = live_read(targets[0]).of[LIVE_TASK_CLOCK];
    ck_assert_int_eq(hr_perf_target_read(targets[1]), 0);
    ck_assert_int_eq(hr_perf_target_read(targets[2]), 0);
    moment.outer = hr_perf_target_value(targets[1], 0, LIVE_TASK_CLOCK).total;
    moment.inner = hr_perf_target_value(targets[2], 0, LIVE_TASK_CLOCK).total;
    moment.took_ns = hr_clock_ns() - moment.time_ns;
    return moment;
}

/* All at one moment: others may use the CPU in between. */
static struct moment take_moment(struct hr_perf_target *const targets[3], const pid_t busy[2])
{
    struct moment moment = try_moment(targets, busy);

    for (int i = 0; i < LIVE_TRIES && moment.took_ns > LIVE_SHORT_NS; i++) {
        usleep(1000);
        const struct moment next = try_moment(targets, busy);
        if (next.took_ns < moment.took_ns)
            moment = next;
    }
    return moment;
}

static bool is_within(double is, double expected, double share)
{
    return fabs(is - expected) <= share * expected;
}

/* Each has what its own clock says, the group above both, and the machine all of its CPUs. */
static bool agrees(const struct moment *from, const struct moment *to, double cpus)
{
    const double outer = (double)(to->outer - from->outer);
    const double inner = (double)(to->inner - from->inner);
    const double own = outer - inner;
    const double machine = (double)(to->machine - from->machine);
    const double time = (double)(to->time_ns - from->time_ns);
    const bool agreed = is_within(own, (double)(to->outer_ns - from->outer_ns), 0.01) &&
                        is_within(inner, (double)(to->inner_ns - from->inner_ns), 0.01) &&
                        is_within(machine, cpus * time, 0.002);

    if (!agreed)
        printf("# %.6f s of %.0f CPUs: %.6f; own %.6f (%.6f), nested %.6f (%.6f)\n", time / 1e9,
               cpus, machine / 1e9, own / 1e9, (double)(to->outer_ns - from->outer_ns) / 1e9,
               inner / 1e9, (double)(to->inner_ns - from->inner_ns) / 1e9);
    return agreed;
}

/* So that no ordinary task takes the CPU from the test while it reads, or changes. */
static void set_priority(int policy)
{
    const struct sched_param parameter = {.sched_priority = policy == SCHED_FIFO};

    sched_setscheduler(0, policy, &parameter); /* it may not be permitted */
}

/* With sanitizers all tests are of one process: what the next one starts would inherit that. */
static void tear_down(void)
{
    set_priority(SCHED_OTHER);
    live_tear_down();
}

/* _i: whether something else calls bpf(2) all the time, on the same CPUs. */
START_TEST(nothing_is_lost_or_counted_twice)
{
    const int last_cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    const uint64_t end_ns = hr_clock_ns() + PATIENCE_NS;
    pid_t busy[2], updates[2] = {0};
    bool agreed = false;

    groups_make(groups, "a");
    groups_make(groups, "a/b");
    busy[0] = groups_start_busy(groups, "a", 0);
    busy[1] = groups_start_busy(groups, "a/b", 0);
    for (int i = 0; i < 2 && _i == 1; i++)
        updates[i] = start_updates(i == 0 ? 0 : last_cpu);
    struct hr_perf_target *const targets[] = {live_open(NULL), live_open("a"), live_open("a/b")};
    set_priority(SCHED_FIFO);
    take_moment(targets, busy);
    while (!agreed && hr_clock_ns() < end_ns) {
        const struct moment from = take_moment(targets, busy);
        live_nap(WINDOW_MS, from.took_ns);
        const struct moment to = take_moment(targets, busy);
        agreed = agrees(&from, &to, last_cpu + 1);
    }
    for (int i = 0; i < 2 && _i == 1; i++)
        end_process(updates[i]);
    ck_assert(agreed);
}
END_TEST

/* --- Many switches -------------------------------------------------------- */

#define TRIPS 10000

/* One of two processes that pass a byte to and fro, on one CPU. Its answer: how often it left it.
 */
static pid_t start_player(const char *name, int in, int out, int result)
{
    struct rusage before, after;
    long left = 0;
    char byte = 'x';
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    groups_write(groups, name, "cgroup.procs", "0");
    pin_to((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
    if (write(result, &left, sizeof(left)) != sizeof(left)) /* it is in its group */
        _exit(1);
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < TRIPS; i++)
        if (read(in, &byte, 1) != 1 || write(out, &byte, 1) != 1)
            _exit(1);
    getrusage(RUSAGE_SELF, &after);
    left = after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw;
    if (write(result, &left, sizeof(left)) == sizeof(left))
        pause();
    _exit(1);
}

/* At more than 10,000 switches a second: as many are counted as the processes know of, and their
 * CPU time, but for what a switch takes, which is counted for the next task. */
START_TEST(counts_tens_of_thousands_of_switches)
{
    int there[2], back[2], result[2];
    long left[2];

    groups_make(groups, "a");
    groups_make(groups, "a/x");
    groups_make(groups, "a/y");
    ck_assert(pipe(there) == 0 && pipe(back) == 0 && pipe(result) == 0);
    const pid_t players[] = {start_player("a/x", there[0], back[1], result[1]),
                             start_player("a/y", back[0], there[1], result[1])};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(read(result[0], &left[i], sizeof(left[i])), sizeof(left[i]));
    struct hr_perf_target *const targets[] = {live_open("a"), live_open("a/x"), live_open("a/y")};
    struct live_counts before[3], counts[3];
    for (int i = 0; i < 3; i++)
        before[i] = live_read(targets[i]);
    const uint64_t used_before = live_cpu_time_ns(players[0]) + live_cpu_time_ns(players[1]);
    ck_assert_int_eq(write(there[1], "x", 1), 1);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(read(result[0], &left[i], sizeof(left[i])), sizeof(left[i]));
    for (int i = 0; i < 2; i++)
        groups_await_sleep(players[i]);
    const uint64_t used = live_cpu_time_ns(players[0]) + live_cpu_time_ns(players[1]) - used_before;
    for (int i = 0; i < 3; i++)
        counts[i] = live_read_since(targets[i], &before[i]);
    const uint64_t switches = counts[1].of[LIVE_SWITCHES] + counts[2].of[LIVE_SWITCHES];
    const uint64_t clock = counts[1].of[LIVE_TASK_CLOCK] + counts[2].of[LIVE_TASK_CLOCK];
    ck_assert(is_within((double)switches, (double)(left[0] + left[1]), 0.02));
    ck_assert(is_within((double)clock, (double)used, 0.2));
    ck_assert_uint_ge(switches, TRIPS);
    for (int i = 0; i < 2; i++)
        end_process(players[i]);
}
END_TEST

/* --- From descriptors to BPF ---------------------------------------------- */

/* From just before the change on: by descriptors the kernel counts nothing while it goes from one
 * group's events to another's, which a slow machine shows. */
static bool agrees_over_change(const pid_t busy[2], double cpus)
{
    live_open_again();
    struct hr_perf_target *const targets[] = {live_open(NULL), live_open("a"), live_open("a/b")};
    take_moment(targets, busy);
    live_nap(WINDOW_MS, 0);
    const struct moment by_descriptors = take_moment(targets, busy);
    set_priority(SCHED_FIFO);
    ck_assert_int_eq(hr_perf_change_to_bpf(perf, NULL), 0);
    set_priority(SCHED_OTHER);
    const struct moment between = take_moment(targets, busy);
    ck_assert_uint_ge(between.machine, by_descriptors.machine);
    ck_assert_uint_ge(between.outer, by_descriptors.outer);
    ck_assert_uint_ge(between.inner, by_descriptors.inner);
    live_nap(WINDOW_MS, between.took_ns);
    const struct moment to = take_moment(targets, busy);
    ck_assert_uint_eq(hr_perf_files(perf).open, 0);
    return agrees(&by_descriptors, &to, cpus);
}

/* The same over a change: the totals are what the processes' own clocks say. */
START_TEST(totals_go_on_over_a_change)
{
    const uint64_t end_ns = hr_clock_ns() + PATIENCE_NS;
    const double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    bool agreed = false;

    groups_make(groups, "a");
    groups_make(groups, "a/b");
    const pid_t busy[] = {groups_start_busy(groups, "a", 0), groups_start_busy(groups, "a/b", 0)};
    while (!agreed && hr_clock_ns() < end_ns)
        agreed = agrees_over_change(busy, cpus);
    ck_assert(agreed);
}
END_TEST

/* --- The other way of counting -------------------------------------------- */

static struct live_counts read_by_descriptors(struct hr_perf_target *target)
{
    live_swap();
    const struct live_counts counts = live_read(target);
    live_swap();
    return counts;
}

static bool agree_on(struct hr_perf_target *target, struct hr_perf_target *other)
{
    const struct live_work work = {.spin_ms = 50, .pages = 3000, .sleeps = 20};
    const struct live_counts other_before = read_by_descriptors(other);
    const struct live_counts before = live_read(target);
    bool agreed = true;

    live_work(&work);
    const struct live_counts others = read_by_descriptors(other);
    const struct live_counts counts = live_read(target);
    for (int e = 0; e < LIVE_EVENT_COUNT; e++) {
        const double one = (double)(counts.of[e] - before.of[e]);
        const double two = (double)(others.of[e] - other_before.of[e]);
        if (is_within(one, two, 0.01))
            continue;
        printf("# event %d: %.0f by BPF, %.0f by descriptors\n", e, one, two);
        agreed = false;
    }
    return agreed;
}

/* Both count the same worker. A switch takes microseconds, which each way counts for another group.
 */
START_TEST(agrees_with_descriptors)
{
    const uint64_t end_ns = hr_clock_ns() + PATIENCE_NS;
    bool agreed = false;

    groups_make(groups, "a");
    live_start_worker("a");
    struct hr_perf_target *target = live_open("a");
    live_swap();
    struct hr_perf_target *other = live_open("a");
    live_swap();
    read_by_descriptors(other);
    live_read(target);
    while (!agreed && hr_clock_ns() < end_ns)
        agreed = agree_on(target, other);
    ck_assert(agreed);
}
END_TEST

/* --- Groups that come and go ---------------------------------------------- */

START_TEST(groups_that_ended_leave_no_slot)
{
    const int descriptors = count_descriptors();

    for (int i = 0; i < 100; i++) {
        groups_make(groups, "a");
        pid_t pid = groups_start_sleeper(groups, "a");
        struct hr_perf_target *target = live_open("a");
        ck_assert_int_eq(hr_perf_target_read(target), 0); /* -ENOSPC without a slot */
        groups_end(groups, pid);
        live_close(target);
        groups_remove(groups, "a");
    }
    ck_assert_int_le(count_descriptors(), descriptors + 1); /* that of CPUs */
}
END_TEST

#define GROUPS 1000

static void take_added(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    if (event == HR_CGROUP_ADDED)
        *(struct hr_cgroup **)context = group;
}

/* Many more than there are slots; without processes, which take much longer. */
START_TEST(a_thousand_groups_leave_no_slot)
{
    char path[128];
    const char *pattern = path;
    struct hr_cgroup *added = NULL;
    struct hr_cgroup_set *set;
    const struct hr_cgroup_options options = {
        .patterns = &pattern, .pattern_count = 1, .event = take_added, .context = &added};
    const int descriptors = count_descriptors();

    snprintf(path, sizeof(path), "%s/*", groups_path(groups));
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    for (int i = 0; i < GROUPS; i++) {
        struct hr_perf_target *target;
        groups_make(groups, "a");
        ck_assert_int_eq(hr_cgroup_set_read(set), 0);
        ck_assert_ptr_nonnull(added);
        ck_assert_int_eq(hr_perf_target_open_cgroup(perf, added, &target), 0);
        ck_assert_int_eq(hr_perf_read(perf), 0);
        ck_assert_int_eq(hr_perf_target_read(target), 0); /* -ENOSPC without a slot */
        hr_perf_target_close(target);
        groups_remove(groups, "a");
        added = NULL;
    }
    hr_cgroup_set_close(set);
    ck_assert_int_le(count_descriptors(), descriptors + 1); /* that of CPUs */
}
END_TEST

/* --- Slots that are read -------------------------------------------------- */

#define SLOTS 8

/* @return whether a slot is read after some switches of its group. */
static bool is_changed_by_switches(void *object)
{
    const struct live_work work = {.sleeps = 20};
    bool changed[SLOTS];

    for (int i = 0; i < 4; i++) /* what was added to late is read a few times */
        ck_assert_int_eq(hr_perf_kernel_bpf_calls.begin_reading(object), 0);
    live_work(&work);
    hr_perf_kernel_bpf_calls.find_changed(object, SLOTS, changed);
    return changed[COUNT_FIRST_GROUP];
}

static void set_events(void *object)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_TASK_CLOCK};

    for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
        const int fd = hr_perf_kernel_calls.open(&attr, -1, cpu, -1, 0);
        if (fd < 0)
            continue; /* it is offline */
        ck_assert_int_eq(hr_perf_kernel_bpf_calls.set_event(object, 0, (unsigned)cpu, fd), 0);
        hr_perf_kernel_calls.close(fd);
    }
}

START_TEST(a_cpu_without_events_changes_no_slot)
{
    const int possible = libbpf_num_possible_cpus();
    const struct count_settings settings = {
        .event_count = 1, .cpu_limit = (__u32)possible, .slot_count = SLOTS};
    struct stat about;
    void *object = NULL;

    groups_make(groups, "a");
    live_start_worker("a");
    ck_assert_int_eq(fstatat(groups_dirfd(groups), "a", &about, 0), 0);
    ck_assert_int_eq(hr_perf_kernel_bpf_calls.load(&settings, SLOTS, (size_t)possible, &object), 0);
    ck_assert_int_eq(hr_perf_kernel_bpf_calls.select(object, about.st_ino, COUNT_FIRST_GROUP), 0);
    ck_assert_int_eq(hr_perf_kernel_bpf_calls.attach(object), 0);
    ck_assert(!is_changed_by_switches(object));
    set_events(object);
    ck_assert(is_changed_by_switches(object));
    hr_perf_kernel_bpf_calls.unload(object);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("perf bpf counting live");
    const char *obstacle = live_bpf_obstacle();

    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    tcase_add_checked_fixture(tests, live_set_up_bpf, tear_down);
    tcase_add_loop_test(tests, nothing_is_lost_or_counted_twice, 0, 2);
    tcase_add_test(tests, counts_tens_of_thousands_of_switches);
    tcase_add_test(tests, totals_go_on_over_a_change);
    tcase_add_test(tests, agrees_with_descriptors);
    tcase_add_test(tests, groups_that_ended_leave_no_slot);
    tcase_add_test(tests, a_thousand_groups_leave_no_slot);
    tcase_add_test(tests, a_cpu_without_events_changes_no_slot);
    tcase_set_timeout(tests, 120);
    return run_suite("perf bpf counting live", tests);
}
