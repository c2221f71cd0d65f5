/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_perf_switches.c - what counting costs those that are counted, as the kernel changes
 * counters, or the program adds to them, each time a CPU goes from a task of one cgroup to a task
 * of another: the worst case, two processes in two groups that pass a byte back and forth on one
 * CPU.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench_perf.h"
#include "support/groups.h"

/* Groups g0, g1, ..., each with a process. Within the first two are others: "in", "in/in", ... */
#define MOST_GROUPS 1000
#define MOST_DEPTH  4

#define ROUNDS 11

/* Each with one event, and with four. */
enum { ONE_EVENT, ALL_EVENTS, LOADS };

enum how { UNCOUNTED, DESCRIPTORS, BPF };
static const char *const names[] = {"", "descriptors", "bpf"};

static const struct kind {
    enum how how;
    size_t groups;    /* that are counted: g0, g1, ... */
    size_t depth;     /* of the groups in which the processes are */
    size_t nested;    /* how many of these, from above, are counted if the first is */
    size_t reference; /* number of the kind that counts one group by descriptors at this depth */
} kinds[] = {
    {UNCOUNTED, 0, 1, 0, 1},     {DESCRIPTORS, 1, 1, 1, 1},   {DESCRIPTORS, 64, 1, 1, 1},
    {BPF, 1, 1, 1, 1},           {BPF, 10, 1, 1, 1},          {BPF, 100, 1, 1, 1},
    {BPF, MOST_GROUPS, 1, 1, 1}, {UNCOUNTED, 0, 4, 0, 8},     {DESCRIPTORS, 1, 4, 1, 8},
    {DESCRIPTORS, 1, 4, 4, 8},   {BPF, MOST_GROUPS, 4, 1, 8}, {BPF, MOST_GROUPS, 4, 2, 8},
    {BPF, MOST_GROUPS, 4, 3, 8}, {BPF, MOST_GROUPS, 4, 4, 8},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct groups *groups;

/* --- Groups --------------------------------------------------------------- */

/* "g1/in/in" */
static void name_group(char name[32], size_t number, size_t depth)
{
    int length = snprintf(name, 32, "g%zu", number);

    while (--depth > 0)
        length += snprintf(name + length, 32 - (size_t)length, "/in");
}

static void make_groups(void)
{
    char name[32];

    groups = groups_new();
    require(groups != NULL, "no cgroup2 hierarchy that can be written to");
    for (size_t i = 0; i < MOST_GROUPS; i++) {
        for (size_t depth = 1; depth <= (i < 2 ? MOST_DEPTH : 1); depth++) {
            name_group(name, i, depth);
            groups_make(groups, name);
        }
        groups_start_sleeper(groups, name);
    }
}

static void open_counting(struct bench_counting *counting, const struct kind *kind)
{
    static char paths[MOST_GROUPS + 2 * MOST_DEPTH][128];
    static const char *patterns[MOST_GROUPS + 2 * MOST_DEPTH];
    struct bench_selection selection = {.patterns = patterns};
    const size_t last = kind->groups < MOST_GROUPS ? kind->groups : 1;
    char name[32];

    for (size_t i = 0; i < last; i++) {
        name_group(name, i, 1);
        if (kind->groups == MOST_GROUPS) /* else each would be compared with each group */
            strcpy(name, "g*");
        snprintf(paths[selection.pattern_count++], sizeof(paths[0]), "%s/%s", groups_path(groups),
                 name);
    }
    selection.count = kind->groups;
    for (size_t i = 0; i < 2 && i < kind->groups; i++) {
        for (size_t depth = 2; depth <= kind->nested; depth++) {
            name_group(name, i, depth);
            snprintf(paths[selection.pattern_count++], sizeof(paths[0]), "%s/%s",
                     groups_path(groups), name);
            selection.count++;
        }
    }
    for (size_t i = 0; i < selection.pattern_count; i++)
        patterns[i] = paths[i];
    counting->by_bpf = kind->how == BPF;
    bench_open_counting(counting, bench_root, &selection);
}

/* --- The processes -------------------------------------------------------- */

/* Moves the caller into a group and onto the last CPU, where other load doesn't hold it up if that
 * is permitted. */
static void join_group(size_t number, size_t depth)
{
    cpu_set_t cpus;
    char name[32];

    name_group(name, number, depth);
    groups_write(groups, name, "cgroup.procs", "0");
    CPU_ZERO(&cpus);
    CPU_SET((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, &cpus);
    require(sched_setaffinity(0, sizeof(cpus), &cpus) == 0, "sched_setaffinity");
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
}

static pid_t start_echo(size_t depth, int in, int out)
{
    pid_t pid = fork();
    char byte;

    require(pid >= 0, "fork");
    if (pid > 0)
        return pid;
    join_group(1, depth);
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
static double time_between_groups(size_t depth)
{
    int there[2], back[2], result[2];
    double us;

    require(pipe(there) == 0 && pipe(back) == 0 && pipe(result) == 0, "pipe");
    pid_t echo = start_echo(depth, there[0], back[1]);
    pid_t sender = fork();
    require(sender >= 0, "fork");
    if (sender == 0) {
        join_group(0, depth);
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

static double time_kind(const struct kind *kind, int load)
{
    const struct hr_perf_event_group first = {bench_lines[0].events, 1};
    const struct hr_perf_options options = {.groups = load == ONE_EVENT ? &first : bench_lines,
                                            .group_count = load == ONE_EVENT ? 1 : BENCH_LINES,
                                            .slice_ns = UINT64_MAX,
                                            .max_targets = MOST_GROUPS + 2 * MOST_DEPTH};
    struct bench_counting counting = {.options = &options};

    if (kind->how == UNCOUNTED)
        return time_between_groups(kind->depth);
    open_counting(&counting, kind);
    const double us = time_between_groups(kind->depth);
    bench_close_counting(&counting);
    return us;
}

/* --- Results -------------------------------------------------------------- */

static double times_us[LOADS][KINDS][ROUNDS];

/* As a share of what it takes by descriptors of one group in the same round. */
static void print_share(int load, size_t kind)
{
    double shares[ROUNDS], own_us[ROUNDS];

    for (size_t i = 0; i < ROUNDS; i++) {
        own_us[i] = times_us[load][kind][i];
        shares[i] = own_us[i] / times_us[load][kinds[kind].reference][i];
    }
    const double middle_us = median(own_us, ROUNDS), middle = median(shares, ROUNDS);
    printf("  %6.2f  %5.2f  %4.2f (%.2f to %.2f)", own_us[0], middle_us, middle, shares[ROUNDS / 4],
           shares[ROUNDS - 1 - ROUNDS / 4]);
}

void bench_perf_switches(void)
{
    make_groups();
    /* Alternating, so that other load of the machine affects all equally. */
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t kind = 0; kind < KINDS; kind++)
            for (int load = 0; load < LOADS; load++)
                times_us[load][kind][round] = time_kind(&kinds[kind], load);
    groups_free(groups);
    printf(
        "\nA byte there and back between two groups on one CPU (2 switches), in us: the fastest "
        "of %d rounds, the median,\nand as a share of what it takes by descriptors of one group, "
        "with quartiles. So many groups within each other\nare counted as `nested` says.\n\n"
        "    Counting  groups  depth  nested  1 event                              4 events\n",
        ROUNDS);
    for (size_t kind = 0; kind < KINDS; kind++) {
        const struct kind *of = &kinds[kind];
        printf("%12s  %6zu  %5zu  %6zu", names[of->how], of->groups, of->depth, of->nested);
        for (int load = 0; load < LOADS; load++)
            print_share(load, kind);
        printf("\n");
    }
}
