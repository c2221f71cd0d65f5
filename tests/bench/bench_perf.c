/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_perf.c - the cost of counting perf events.
 *
 *     bench_perf [read | workload]      default: both
 *
 * "read": the CPU time of reading all counters of 100 groups, 2 event groups each, on all CPUs, as
 * a ratio against a bare loop of the same reads; by BPF against copying the maps.
 *
 * "workload": the cost for monitored groups, for 1 event and for 4, as the kernel changes counters
 * each time it goes from a task of one group to a task of another. Two processes in two groups pass
 * a byte back and forth on one CPU, while none, one (of the two), or more groups (the two among
 * them) are monitored.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "headroom/cgroup.h"
#include "headroom/perf.h"
#include "headroom/perf_event.h"
#include "headroom/root.h"
#include "perf/bpf_calls.h"
#include "perf/calls.h"
#include "perf/open_group.h"
#include "support/groups.h"

#define ROUNDS 41

/* Two lines of the option Event: the default one, and one more. */
static const char *const names[2][2] = {{"task-clock", "context-switches"},
                                        {"cpu-migrations", "page-faults"}};

static struct hr_root *root;
static struct hr_perf_event *events[2][2];
static struct hr_perf_event_group event_groups[2];
static const struct hr_perf_event_group one_event = {events[0], 1};

/* Groups, and what counts them. */
struct setup {
    struct groups *groups;
    size_t made; /* how many */
    struct hr_perf *perf;
    struct hr_cgroup_set *set;
    bool by_bpf;
};

static void find_events(void)
{
    struct hr_perf_vocabulary *vocabulary;
    struct hr_perf_event_error error;

    require(hr_root_open("/", &root) == 0, "/");
    require(hr_perf_vocabulary_open(root, &vocabulary) == 0, "vocabulary");
    for (int g = 0; g < 2; g++) {
        for (int e = 0; e < 2; e++)
            require(hr_perf_event_find(vocabulary, names[g][e], &events[g][e], &error) == 0,
                    names[g][e]);
        event_groups[g] = (struct hr_perf_event_group){events[g], 2};
    }
    hr_perf_vocabulary_close(vocabulary);
}

static void name_group(char name[32], size_t number)
{
    snprintf(name, 32, "g%zu", number);
}

static const struct hr_perf_options all_events = {
    .groups = event_groups, .group_count = 2, .slice_ns = UINT64_MAX};
static const struct hr_perf_options only_one = {
    .groups = &one_event, .group_count = 1, .slice_ns = UINT64_MAX};

/* --- The collectors ------------------------------------------------------- */

static void open_target(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    struct hr_perf_target *target;

    if (event == HR_CGROUP_POPULATED) {
        require(hr_perf_target_open_cgroup(context, group, &target) == 0, "open a group");
        group->data = target;
    } else if (event == HR_CGROUP_EMPTIED) {
        hr_perf_target_close(group->data);
        group->data = NULL;
    }
}

/* Reads as the plugin does. @return how many values were counted. */
static size_t read_by_collectors(const struct setup *setup)
{
    size_t count = 0;

    require(hr_perf_read(setup->perf) == 0, "online CPUs");
    for (struct hr_cgroup *group = NULL; (group = hr_cgroup_set_next(setup->set, group)) != NULL;) {
        require(hr_perf_target_read(group->data) == 0, "read a group");
        for (size_t g = 0; g < 2; g++)
            for (size_t e = 0; e < 2; e++)
                count += hr_perf_target_value(group->data, g, e).counted;
    }
    return count;
}

/* @param options  what is counted of the first `count` groups, g0, g1, … */
static void open_set(struct setup *setup, const struct hr_perf_options *options, size_t count)
{
    char(*paths)[128] = calloc(count, sizeof(*paths));
    const char **patterns = calloc(count, sizeof(*patterns));

    require(paths != NULL && patterns != NULL, "memory");
    const size_t pattern_count = count < setup->made ? count : 1;
    for (size_t i = 0; i < pattern_count; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s/g%zu", groups_path(setup->groups), i);
        patterns[i] = paths[i];
    }
    if (count == setup->made) /* else each would be compared with each group */
        snprintf(paths[0], sizeof(paths[0]), "%s/g*", groups_path(setup->groups));
    if (setup->by_bpf)
        require(hr_perf_open_bpf(root, options, &setup->perf, NULL) == 0, "open by BPF");
    else
        require(hr_perf_open(root, options, &setup->perf) == 0, "open");
    const struct hr_cgroup_options set_options = {.patterns = patterns,
                                                  .pattern_count = pattern_count,
                                                  .controller = "perf_event",
                                                  .event = open_target,
                                                  .context = setup->perf};
    require(hr_cgroup_set_open(root, &set_options, &setup->set) == 0, "open the set");
    for (int i = 0; i < 100 && hr_cgroup_set_counts(setup->set).populated < count; i++) {
        usleep(10000);
        require(hr_cgroup_set_read(setup->set) == 0, "read the set");
    }
    free(patterns);
    free(paths);
}

static void close_set(struct setup *setup)
{
    hr_cgroup_set_close(setup->set);
    hr_perf_close(setup->perf);
    setup->set = NULL;
    setup->perf = NULL;
}

static void make_setup(struct setup *setup, size_t count)
{
    char name[32];

    *setup = (struct setup){.groups = groups_new(), .made = count};
    require(setup->groups != NULL, "no cgroup2 hierarchy that can be written to");
    for (size_t i = 0; i < count; i++) {
        name_group(name, i);
        groups_make(setup->groups, name);
        groups_start_sleeper(setup->groups, name);
    }
}

/* --- Reading -------------------------------------------------------------- */

/* The descriptors of the event groups' leaders, opened like the collectors'. */
static int *open_bare(const struct setup *setup, size_t count, size_t cpus, size_t *fd_count)
{
    static int fds[HR_PERF_GROUP_MAX];
    static uint64_t words[HR_PERF_GROUP_MAX];
    int *leaders = calloc(count * cpus * 2, sizeof(*leaders));
    char name[32];

    *fd_count = 0;
    for (size_t i = 0; i < count * cpus * 2; i++) {
        struct hr_perf_open_group open_group = {.fds = fds, .base_counts = words, .deltas = words};
        name_group(name, i / (2 * cpus));
        int dirfd = openat(groups_dirfd(setup->groups), name, O_RDONLY | O_DIRECTORY);
        const struct hr_perf_place place = {
            .calls = &hr_perf_kernel_calls, .cgroup = dirfd, .cpu = (unsigned)(i / 2 % cpus)};
        require(dirfd >= 0 && hr_perf_group_open(&open_group, &place, &event_groups[i % 2], 3) == 0,
                "open bare counters");
        close(dirfd);
        leaders[(*fd_count)++] = open_group.fds[0];
    }
    return leaders;
}

/* What has to be read, without what is computed of it. */
struct bare {
    int *leaders;               /* of event groups; NULL: by BPF */
    void *object;               /* the programs */
    struct count_value *values; /* their slots' */
    size_t count;               /* of leaders, or slots */
};

static void read_bare(const struct bare *bare)
{
    uint64_t buffer[5];

    if (bare->leaders == NULL)
        require(hr_perf_kernel_bpf_calls.read(bare->object, COUNT_REST, (__u32)bare->count,
                                              bare->values) == 0,
                "read");
    for (size_t i = 0; bare->leaders != NULL && i < bare->count; i++)
        require(read(bare->leaders[i], buffer, sizeof(buffer)) == sizeof(buffer), "read");
}

static void compare_reading(struct setup *setup, const struct bare *what, size_t count, size_t cpus,
                            const char *how)
{
    double bare[ROUNDS], ours[ROUNDS], ratio[ROUNDS];

    for (int round = -2; round < ROUNDS; round++) { /* the first two warm up */
        double start = read_us(CLOCK_PROCESS_CPUTIME_ID);
        read_bare(what);
        double between = read_us(CLOCK_PROCESS_CPUTIME_ID);
        require(read_by_collectors(setup) == 4 * count, "every event is counted");
        double end = read_us(CLOCK_PROCESS_CPUTIME_ID);
        if (round < 0)
            continue;
        bare[round] = between - start;
        ours[round] = end - between;
        ratio[round] = ours[round] / bare[round];
    }
    printf("%7zu  %4zu  %12.0f  %10.0f  %5.2f%s\n", count, cpus, median(bare, ROUNDS),
           median(ours, ROUNDS), median(ratio, ROUNDS), how);
    fflush(stdout);
}

static void measure_reading(size_t count)
{
    const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    struct bare bare = {.leaders = NULL};
    struct setup setup;

    make_setup(&setup, count);
    open_set(&setup, &all_events, count);
    require(read_by_collectors(&setup) == 4 * count, "every event is counted");
    bare.leaders = open_bare(&setup, count, cpus, &bare.count);
    compare_reading(&setup, &bare, count, cpus, "");
    free(bare.leaders);
    close_set(&setup);
    groups_free(setup.groups);
}

/* The programs' slots of as many groups, without what is computed of them. */
static void *load_bare(size_t count, size_t cpus, struct count_value **values)
{
    const struct count_settings settings = {
        .event_count = 4, .cpu_limit = (__u32)cpus, .slot_count = (__u32)count + COUNT_FIRST_GROUP};
    void *object;

    *values = calloc((count + COUNT_FIRST_GROUP) * cpus * 4, sizeof(**values));
    require(*values != NULL, "memory");
    require(hr_perf_kernel_bpf_calls.load(&settings, count + COUNT_FIRST_GROUP, cpus, &object) == 0,
            "load the programs");
    return object;
}

static void measure_reading_by_bpf(size_t count)
{
    const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF);
    struct bare bare = {.count = count + 1};
    struct setup setup;

    make_setup(&setup, count);
    setup.by_bpf = true;
    open_set(&setup, &all_events, count);
    require(read_by_collectors(&setup) == 4 * count, "every event is counted");
    bare.object = load_bare(count, cpus, &bare.values);
    compare_reading(&setup, &bare, count, cpus, "  by BPF");
    hr_perf_kernel_bpf_calls.unload(bare.object);
    free(bare.values);
    close_set(&setup);
    groups_free(setup.groups);
}

/* --- The workload --------------------------------------------------------- */

/* Moves the caller into a group and onto the last CPU, where other load doesn't hold it up if that
 * is permitted. */
static void join_group(const struct setup *setup, const char *name)
{
    cpu_set_t cpus;

    groups_write(setup->groups, name, "cgroup.procs", "0");
    CPU_ZERO(&cpus);
    CPU_SET((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, &cpus);
    require(sched_setaffinity(0, sizeof(cpus), &cpus) == 0, "sched_setaffinity");
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
}

static pid_t start_echo(const struct setup *setup, int in, int out)
{
    pid_t pid = fork();
    char byte;

    require(pid >= 0, "fork");
    if (pid > 0)
        return pid;
    join_group(setup, "g1");
    while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
        continue;
    _exit(0);
}

/* Microseconds per round trip. */
static double time_round_trips(int in, int out)
{
    enum { TRIPS = 50000 };
    char byte = 'x';

    double from_us = read_us(CLOCK_MONOTONIC);
    for (int i = 0; i < TRIPS; i++)
        require(write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1, "pipe");
    return (read_us(CLOCK_MONOTONIC) - from_us) / TRIPS;
}

/* Another process makes the round trips and returns their time: this one reads the counters. */
static double time_between_groups(const struct setup *setup)
{
    int there[2], back[2], result[2];
    double us;

    require(pipe(there) == 0 && pipe(back) == 0 && pipe(result) == 0, "pipe");
    pid_t echo = start_echo(setup, there[0], back[1]);
    pid_t sender = fork();
    require(sender >= 0, "fork");
    if (sender == 0) {
        join_group(setup, "g0");
        us = time_round_trips(back[0], there[1]);
        require(write(result[1], &us, sizeof(us)) == sizeof(us), "pipe");
        _exit(0);
    }
    require(read(result[0], &us, sizeof(us)) == sizeof(us), "pipe");
    waitpid(sender, NULL, 0);
    kill(echo, SIGKILL);
    waitpid(echo, NULL, 0);
    for (int i = 0; i < 2; i++) {
        close(there[i]);
        close(back[i]);
        close(result[i]);
    }
    return us;
}

/* Round trips with this many groups monitored. */
static double time_monitored(struct setup *setup, const struct hr_perf_options *options,
                             size_t count)
{
    if (count == 0)
        return time_between_groups(setup);
    open_set(setup, options, count);
    require(hr_perf_read(setup->perf) == 0, "online CPUs");
    for (struct hr_cgroup *group = NULL; (group = hr_cgroup_set_next(setup->set, group)) != NULL;)
        require(hr_perf_target_read(group->data) == 0, "open a group");
    double us = time_between_groups(setup);
    close_set(setup);
    return us;
}

static void measure_workload(void)
{
    enum { RUNS = 5, KINDS = 7, MOST = 1000 };
    static const struct {
        const char *how;
        size_t monitored;
    } kinds[KINDS] = {{"", 0},    {"descriptors", 1}, {"descriptors", 8}, {"descriptors", 64},
                      {"bpf", 1}, {"bpf", 100},       {"bpf", MOST}};
    double one[KINDS][RUNS], all[KINDS][RUNS];
    struct setup setup;

    make_setup(&setup, MOST);
    /* Alternating, so that other load of the machine affects all equally. */
    for (int run = 0; run < RUNS; run++) {
        for (size_t kind = 0; kind < KINDS; kind++) {
            setup.by_bpf = strcmp(kinds[kind].how, "bpf") == 0;
            one[kind][run] = time_monitored(&setup, &only_one, kinds[kind].monitored);
            all[kind][run] = time_monitored(&setup, &all_events, kinds[kind].monitored);
        }
    }
    printf("\nA byte there and back between two groups on one CPU (2 switches), in us:\n\n"
           "    Counting  groups monitored  1 event   more  4 events   more\n");
    for (size_t kind = 0; kind < KINDS; kind++)
        printf("%12s  %16zu  %7.2f  %3.0f %%  %8.2f  %3.0f %%\n", kinds[kind].how,
               kinds[kind].monitored, median(one[kind], RUNS),
               100 * (median(one[kind], RUNS) / median(one[0], RUNS) - 1), median(all[kind], RUNS),
               100 * (median(all[kind], RUNS) / median(all[0], RUNS) - 1));
    groups_free(setup.groups);
}

int main(int argc, char **argv)
{
    struct rlimit limit;

    require(getrlimit(RLIMIT_NOFILE, &limit) == 0, "RLIMIT_NOFILE");
    limit.rlim_cur = limit.rlim_max;
    require(setrlimit(RLIMIT_NOFILE, &limit) == 0, "RLIMIT_NOFILE");
    find_events();
    if (argc < 2 || strcmp(argv[1], "read") == 0) {
        printf("cgroup_perf: CPU time of reading all counters, 2 event groups of 2 events\n\n"
               " groups  CPUs  read only (us)  ours (us)  ratio\n");
        measure_reading(100);
        measure_reading(400);
        measure_reading_by_bpf(100);
        measure_reading_by_bpf(1000);
    }
    if (argc < 2 || strcmp(argv[1], "workload") == 0)
        measure_workload();
    return 0;
}
