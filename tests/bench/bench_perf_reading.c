/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_perf_reading.c - the CPU time of reading the counters of cgroups on all CPUs, as a
 * ratio against what has to be read: by descriptors a bare loop of the same reads, by BPF a bare
 * lookup of the programs' map.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "bench_perf.h"
#include "perf/calls.h"
#include "perf/open_group.h"
#include "support/groups.h"

#define ROUNDS 41

/* Descriptors don't suffice for all once more: of so many groups at most, and the others' time is
 * taken for the same. */
#define MOST_GROUPS 400

static const struct hr_perf_options options = {
    .groups = bench_lines, .group_count = BENCH_LINES, .slice_ns = UINT64_MAX};

/* What has to be read, without what is computed of it. */
struct bare {
    int *fds;     /* two of each line, the first its leader's; NULL: by BPF */
    size_t count; /* of lines, or slots */
    double share; /* as what all take is a multiple of what these do */
    int map;      /* the programs', of slots */
    uint32_t *keys;
    void *values;
};

/* --- Groups --------------------------------------------------------------- */

struct sleepers {
    struct groups *groups;
    size_t count; /* g0, g1, ...: each has one process */
    pid_t *pids;
};

static void make_sleepers(struct sleepers *sleepers, size_t count)
{
    char name[32];

    *sleepers = (struct sleepers){groups_new(), count, calloc(count, sizeof(*sleepers->pids))};
    require(sleepers->groups != NULL, "no cgroup2 hierarchy that can be written to");
    require(sleepers->pids != NULL, "memory");
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "g%zu", i);
        groups_make(sleepers->groups, name);
        sleepers->pids[i] = groups_start_sleeper(sleepers->groups, name);
    }
}

static void free_sleepers(struct sleepers *sleepers)
{
    groups_free(sleepers->groups);
    free(sleepers->pids);
}

/* Each runs for a moment. */
static void wake_sleepers(const struct sleepers *sleepers)
{
    for (size_t i = 0; i < sleepers->count; i++) {
        kill(sleepers->pids[i], SIGSTOP);
        kill(sleepers->pids[i], SIGCONT);
    }
    usleep(100000); /* they sleep again */
}

/* --- Bare reading --------------------------------------------------------- */

/* The descriptors of the lines, opened like the collectors'. */
static void open_lines(struct bare *bare, const struct sleepers *sleepers)
{
    static uint64_t words[HR_PERF_OPEN_MAX];
    const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    char name[32];

    *bare = (struct bare){.count = sleepers->count * cpus * BENCH_LINES, .share = 1};
    if (bare->count > MOST_GROUPS * cpus * BENCH_LINES) {
        bare->count = MOST_GROUPS * cpus * BENCH_LINES;
        bare->share = (double)sleepers->count / MOST_GROUPS;
    }
    bare->fds = calloc(bare->count, 2 * sizeof(*bare->fds));
    require(bare->fds != NULL, "memory");
    for (size_t i = 0; i < bare->count; i++) {
        struct hr_perf_open_group opened = {
            .fds = &bare->fds[2 * i], .base_counts = words, .deltas = words};
        snprintf(name, sizeof(name), "g%zu", i / (BENCH_LINES * cpus));
        int dirfd = openat(groups_dirfd(sleepers->groups), name, O_RDONLY | O_DIRECTORY);
        const struct hr_perf_place place = {.calls = &hr_perf_kernel_calls,
                                            .cgroup = dirfd,
                                            .cpu = (unsigned)(i / BENCH_LINES % cpus)};
        require(dirfd >= 0, "open a group");
        errno = -hr_perf_group_open(&opened, &place, &bench_lines[i % BENCH_LINES], 3);
        require(errno == 0, "open bare counters");
        close(dirfd);
    }
}

static int call_bpf(int command, union bpf_attr *attributes)
{
    return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

/* @return whether it is a map of slots, as of the programs that were loaded last. */
static bool describe_map(int fd, struct bpf_map_info *info)
{
    union bpf_attr attr = {.info = {.bpf_fd = (uint32_t)fd,
                                    .info_len = sizeof(*info),
                                    .info = (uint64_t)(uintptr_t)info}};

    *info = (struct bpf_map_info){0};
    require(call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0, "describe a map");
    return strcmp(info->name, "slots") == 0;
}

static void find_map(struct bare *bare)
{
    union bpf_attr next = {.start_id = 0};
    struct bpf_map_info info;

    *bare = (struct bare){.share = 1, .map = -1};
    for (; call_bpf(BPF_MAP_GET_NEXT_ID, &next) == 0; next.start_id = next.next_id) {
        union bpf_attr attr = {.map_id = next.next_id};
        int fd = call_bpf(BPF_MAP_GET_FD_BY_ID, &attr);
        if (fd < 0)
            continue;
        const bool found = describe_map(fd, &info);
        if (found)
            bare->count = info.max_entries;
        if (found && bare->map >= 0)
            close(bare->map);
        if (found)
            bare->map = fd;
        else
            close(fd);
    }
    require(bare->map >= 0, "find the programs' map");
    describe_map(bare->map, &info);
    bare->keys = calloc(bare->count, sizeof(*bare->keys));
    bare->values = calloc(bare->count, info.value_size);
    require(bare->keys != NULL && bare->values != NULL, "memory");
}

static void read_bare(const struct bare *bare)
{
    uint64_t buffer[5];
    uint32_t next;

    for (size_t i = 0; bare->fds != NULL && i < bare->count; i++)
        require(read(bare->fds[2 * i], buffer, sizeof(buffer)) == sizeof(buffer), "read");
    if (bare->fds != NULL)
        return;
    union bpf_attr attr = {.batch = {.out_batch = (uint64_t)(uintptr_t)&next,
                                     .keys = (uint64_t)(uintptr_t)bare->keys,
                                     .values = (uint64_t)(uintptr_t)bare->values,
                                     .count = (uint32_t)bare->count,
                                     .map_fd = (uint32_t)bare->map}};
    /* The end of the map is reported as ENOENT, though all was copied. */
    require((call_bpf(BPF_MAP_LOOKUP_BATCH, &attr) == 0 || errno == ENOENT) &&
                attr.batch.count == bare->count,
            "look up the map");
}

static void close_bare(struct bare *bare)
{
    for (size_t i = 0; bare->fds != NULL && i < 2 * bare->count; i++)
        close(bare->fds[i]);
    if (bare->fds == NULL)
        close(bare->map);
    free(bare->fds);
    free(bare->keys);
    free(bare->values);
}

/* --- Comparison ----------------------------------------------------------- */

/* Each by itself, as one would find in the cache what the other has read.
 * @param woken  each group has run since the last reading. */
static void compare(const struct bench_counting *counting, const struct bare *what,
                    const struct sleepers *sleepers, bool woken)
{
    double bare[ROUNDS], ours[ROUNDS], ratio[ROUNDS];

    for (int round = -2; round < ROUNDS; round++) { /* the first two warm up */
        if (woken)
            wake_sleepers(sleepers);
        double start = read_us(CLOCK_PROCESS_CPUTIME_ID);
        read_bare(what);
        const double bare_us = read_us(CLOCK_PROCESS_CPUTIME_ID) - start;
        if (woken)
            wake_sleepers(sleepers);
        start = read_us(CLOCK_PROCESS_CPUTIME_ID);
        require(bench_read_counting(counting) == BENCH_EVENTS * sleepers->count,
                "every event is counted");
        const double ours_us = read_us(CLOCK_PROCESS_CPUTIME_ID) - start;
        if (round < 0)
            continue;
        bare[round] = bare_us * what->share;
        ours[round] = ours_us;
        ratio[round] = ours[round] / bare[round];
    }
    const double middle = median(ratio, ROUNDS);
    printf("%7zu  %11s  %-6s  %10.0f  %9.0f  %5.2f (%.2f to %.2f)\n", sleepers->count,
           counting->by_bpf ? "bpf" : "descriptors", woken ? "ran" : "slept", median(bare, ROUNDS),
           median(ours, ROUNDS), middle, ratio[ROUNDS / 4], ratio[ROUNDS - 1 - ROUNDS / 4]);
    fflush(stdout);
}

static void measure(size_t count, bool by_bpf)
{
    struct bench_counting counting = {.by_bpf = by_bpf, .options = &options};
    struct sleepers sleepers;
    struct bare bare;
    char pattern[128];
    const char *patterns = pattern;

    make_sleepers(&sleepers, count);
    snprintf(pattern, sizeof(pattern), "%s/g*", groups_path(sleepers.groups));
    double start = read_us(CLOCK_PROCESS_CPUTIME_ID);
    bench_open_counting(&counting, bench_root, &(struct bench_selection){&patterns, 1, count});
    const double opening_us = read_us(CLOCK_PROCESS_CPUTIME_ID) - start;
    if (by_bpf)
        find_map(&bare);
    else
        open_lines(&bare, &sleepers);
    compare(&counting, &bare, &sleepers, false);
    compare(&counting, &bare, &sleepers, true);
    printf("%7s  %11s  %-6s  %10s  %9.0f\n", "", "", "opened", "", opening_us);
    close_bare(&bare);
    bench_close_counting(&counting);
    free_sleepers(&sleepers);
}

void bench_perf_reading(void)
{
    static const size_t counts[] = {1, 100, 1000};

    printf("cgroup_perf: CPU time of reading all counters, 2 lines of 2 events, in us; as a ratio, "
           "with quartiles\n\n"
           " groups     Counting          read only       ours  ratio\n");
    for (int by_bpf = 0; by_bpf < 2; by_bpf++)
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
            measure(counts[i], by_bpf != 0);
}
