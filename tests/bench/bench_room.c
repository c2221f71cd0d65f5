/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_room.c - the cost of computing the room of groups, as a ratio against a bare loop of
 * pread(2) of the same files, kept open; what an interval of 10 s takes beyond that, as limits are
 * read again each minute, and trends go on; that of reading all their counts of killed processes,
 * as after a kill of which the log doesn't say all, against a loop that opens these; and that of a
 * forecast.
 *
 *     bench_room [GROUPS…]      default: 100 1000
 *
 * With 1,000 groups version 1 takes 19,000 descriptors; with fewer not all files are kept open.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "bench.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/descriptor.h"
#include "headroom/forecast.h"
#include "headroom/room.h"
#include "headroom/root.h"
#include "oom/counts.h"
#include "support/frozen_clock.h"
#include "support/groups.h"

#define ROUNDS     21
#define INTERVAL_S 10
#define MINUTES    3

static const struct hr_room_lines lines = {{40, 10, 40, 101}};

/* The hierarchies: of cgroup2, and of each controller, which may be the same. */
enum { UNIFIED, CPU, MEMORY, HIERARCHY_COUNT };

static const char *const controllers[HIERARCHY_COUNT] = {NULL, "cpu", "memory"};

static const struct {
    int hierarchy;
    const char *name[2]; /* in version 1 and 2 */
} files[] = {
    {UNIFIED, {"cpu.pressure", "cpu.pressure"}},
    {UNIFIED, {"memory.pressure", "memory.pressure"}},
    {UNIFIED, {"io.pressure", "io.pressure"}},
    {UNIFIED, {"cpu.stat", "cpu.stat"}},
    {MEMORY, {"memory.stat", "memory.stat"}},
    {MEMORY, {"memory.usage_in_bytes", "memory.current"}},
    {MEMORY, {"memory.memsw.usage_in_bytes", "memory.swap.current"}},
    {MEMORY, {"memory.oom_control", "memory.events"}},
};

#define FILE_COUNT (sizeof(files) / sizeof(files[0]))

static struct hr_root *root;
static struct groups *groups[HIERARCHY_COUNT];
static int versions[HIERARCHY_COUNT];
static struct hr_room_machine *machine;
static struct hr_cgroup_set *set;

/* --- Groups ---------------------------------------------------------------------- */

static void open_hierarchies(void)
{
    groups[UNIFIED] = groups_new();
    require(groups[UNIFIED] != NULL, "no cgroup2 hierarchy that can be written to");
    versions[UNIFIED] = 2;
    for (int i = CPU; i < HIERARCHY_COUNT; i++) {
        int mount = hr_root_open_cgroup(root, controllers[i], &versions[i]);
        require(mount >= 0, controllers[i]);
        close(mount);
        groups[i] = versions[i] == 1 ? groups_new_v1(controllers[i]) : groups[UNIFIED];
        require(groups[i] != NULL, controllers[i]);
    }
    if (groups[CPU] == groups[UNIFIED])
        groups_write(groups[UNIFIED], ".", "cgroup.subtree_control", "+cpu +memory");
}

static void make_group(size_t number)
{
    char name[32], text[32];

    snprintf(name, sizeof(name), "g%zu", number);
    groups_make(groups[UNIFIED], name);
    snprintf(text, sizeof(text), "%d", (int)groups_start_sleeper(groups[UNIFIED], name));
    for (int i = CPU; i < HIERARCHY_COUNT; i++) {
        if (groups[i] == groups[UNIFIED])
            continue;
        groups_make(groups[i], name);
        groups_write(groups[i], name, "cgroup.procs", text);
    }
}

static void handle_event(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    struct hr_room_source *source = group->data;

    (void)context;
    if (event == HR_CGROUP_POPULATED) {
        require(hr_room_open(machine, group, 20 * HR_NS_PER_S, &source) == 0, "open a group");
        group->data = source;
    } else if (event == HR_CGROUP_EMPTIED) {
        hr_room_close(source);
    }
}

/* --- Two ways of reading ------------------------------------------------------------ */

static size_t read_by_collectors(void)
{
    struct hr_room_reading reading;
    size_t count = 0;

    hr_room_machine_read(machine);
    for (struct hr_cgroup *group = NULL; (group = hr_cgroup_set_next(set, group)) != NULL; count++)
        require(hr_room_read(group->data, &lines, &reading) == 0 && reading.memory.status == 0,
                "read a group");
    return count;
}

/* @return the descriptors; -1: a kernel without swap accounting, or no swap space. */
static int *open_bare(size_t count)
{
    char path[128];
    int *fds = calloc(count * FILE_COUNT, sizeof(*fds));
    struct sysinfo info;

    require(sysinfo(&info) == 0, "sysinfo");
    const bool has_swap = info.totalswap > 0;
    require(fds != NULL, "memory");
    for (size_t i = 0; i < count * FILE_COUNT; i++) {
        const int hierarchy = files[i % FILE_COUNT].hierarchy;
        snprintf(path, sizeof(path), "g%zu/%s", i / FILE_COUNT,
                 files[i % FILE_COUNT].name[versions[hierarchy] - 1]);
        fds[i] = openat(groups_dirfd(groups[hierarchy]), path, O_RDONLY | O_CLOEXEC);
        require(fds[i] >= 0 || errno == ENOENT, path);
        if (fds[i] >= 0 && !has_swap && strstr(path, "sw") != NULL) {
            close(fds[i]); /* nobody reads it then */
            fds[i] = -1;
        }
    }
    return fds;
}

static void close_bare(int *fds, size_t count)
{
    for (size_t i = 0; i < count * FILE_COUNT; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(fds);
}

static void read_bare(const int *fds, size_t count)
{
    char text[8192];

    for (size_t i = 0; i < count * FILE_COUNT; i++)
        require(fds[i] < 0 || pread(fds[i], text, sizeof(text), 0) >= 0, "pread");
}

/* --- Counts of killed processes ------------------------------------------------------- */

static double read_kills_bare(size_t count)
{
    static const char *const names[] = {"memory.events", "memory.events.local"};
    double start = read_us(CLOCK_PROCESS_CPUTIME_ID);
    char path[128], text[1024];

    for (size_t i = 0; i < 2 * count; i++) {
        snprintf(path, sizeof(path), "g%zu/%s", i / 2, names[i % 2]);
        int fd = openat(groups_dirfd(groups[MEMORY]), path, O_RDONLY | O_CLOEXEC);
        require(fd >= 0 && pread(fd, text, sizeof(text), 0) >= 0, path);
        close(fd);
    }
    return read_us(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static double read_kills(struct hr_oom_counts *counts)
{
    double start = read_us(CLOCK_PROCESS_CPUTIME_ID);

    hr_oom_counts_read(counts);
    return read_us(CLOCK_PROCESS_CPUTIME_ID) - start;
}

/* What all groups cost when they appear, and a kill of which the log doesn't say all; version 1 has
 * no such counts. */
static void measure_kills(size_t count)
{
    double bare[ROUNDS], ours[ROUNDS];
    struct hr_oom_counts *counts;
    char path[160];

    if (versions[MEMORY] == 1)
        return;
    require(hr_oom_counts_open(root, &counts) == 0, "open the counts");
    const size_t before = mallinfo2().uordblks;
    double added_us = read_us(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/g%zu", groups_path(groups[MEMORY]), i);
        require(hr_oom_counts_add(counts, path) == 0, path);
    }
    added_us = read_us(CLOCK_PROCESS_CPUTIME_ID) - added_us;
    const size_t heap = mallinfo2().uordblks - before;
    for (int round = 0; round < ROUNDS; round++) {
        bare[round] = read_kills_bare(count);
        ours[round] = read_kills(counts);
    }
    printf("  kills  %10.0f  %10.0f  %5.2f  %8.2f  %9.0f  (%.2f us a group to begin)\n",
           median(bare, ROUNDS), median(ours, ROUNDS), median(ours, ROUNDS) / median(bare, ROUNDS),
           median(ours, ROUNDS) / (double)count, (double)heap / (double)count,
           added_us / (double)count);
    fflush(stdout);
    hr_oom_counts_close(counts);
}

/* What an interval takes with all that isn't done in each. @return the mean. */
static double measure_intervals(void)
{
    enum { COUNT = MINUTES * 60 / INTERVAL_S };

    for (int i = 0; i < 60 / INTERVAL_S; i++, frozen_ns += INTERVAL_S * HR_NS_PER_S)
        read_by_collectors(); /* the first minute is shorter, for each group otherwise */
    const double start = read_us(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < COUNT; i++, frozen_ns += INTERVAL_S * HR_NS_PER_S)
        read_by_collectors();
    return (read_us(CLOCK_PROCESS_CPUTIME_ID) - start) / COUNT;
}

static void measure(size_t count)
{
    double bare[ROUNDS], ours[ROUNDS], ratio[ROUNDS];
    char pattern[128];
    const char *patterns[] = {pattern};
    const struct hr_cgroup_options options = {
        .patterns = patterns, .pattern_count = 1, .event = handle_event};

    open_hierarchies();
    for (size_t i = 0; i < count; i++)
        make_group(i);
    snprintf(pattern, sizeof(pattern), "%s/*", groups_path(groups[UNIFIED]));
    require(hr_cgroup_set_open(root, &options, &set) == 0, "open the set");
    size_t heap = mallinfo2().uordblks;
    require(hr_cgroup_set_read(set) == 0, "read the set");
    require(read_by_collectors() == count, "every group is read");
    heap = mallinfo2().uordblks - heap;
    int *fds = open_bare(count);
    for (int round = -2; round < ROUNDS; round++) { /* the first two warm up */
        double start = read_us(CLOCK_PROCESS_CPUTIME_ID);
        read_bare(fds, count);
        frozen_ns += HR_NS_PER_S / 1000; /* so that nothing is due */
        double between = read_us(CLOCK_PROCESS_CPUTIME_ID);
        read_by_collectors();
        double end = read_us(CLOCK_PROCESS_CPUTIME_ID);
        if (round < 0)
            continue;
        bare[round] = between - start;
        ours[round] = end - between;
        ratio[round] = ours[round] / bare[round];
    }
    printf("%7zu  %10.0f  %10.0f  %5.2f  %8.2f  %9.0f", count, median(bare, ROUNDS),
           median(ours, ROUNDS), median(ratio, ROUNDS), median(ours, ROUNDS) / (double)count,
           (double)heap / (double)count);
    printf("  %11.2f\n", measure_intervals() / (double)count);
    fflush(stdout);
    close_bare(fds, count);
    hr_cgroup_set_close(set);
    measure_kills(count);
    groups_free(groups[UNIFIED]); /* which ends the processes */
    for (int i = CPU; i < HIERARCHY_COUNT; i++)
        if (versions[i] == 1)
            groups_free(groups[i]);
}

/* --- A forecast ------------------------------------------------------------------------ */

static void measure_forecast(void)
{
    enum { DAY = 8640 };
    struct hr_forecast forecast;
    struct hr_outlook outlook;

    hr_forecast_init(&forecast, 20 * HR_NS_PER_S);
    double start = read_us(CLOCK_PROCESS_CPUTIME_ID);
    for (uint64_t i = 0; i < DAY; i++)
        hr_forecast_update(&forecast, i * 10 * HR_NS_PER_S, 1e9 + (double)(i * 7919 % 10007), 2e9,
                           &outlook);
    printf("\na forecast: %zu bytes, %.2f us an update, of a day at 10 s\n", sizeof(forecast),
           (read_us(CLOCK_PROCESS_CPUTIME_ID) - start) / DAY);
}

int main(int argc, char **argv)
{
    hr_descriptor_raise_limit(0);
    require(hr_root_open("/", &root) == 0, "/");
    require(hr_room_machine_open(root, &machine) == 0, "/proc");
    printf("room: CPU time of one interval, %zu files a group\n\n"
           " groups   bare (us)   ours (us)  ratio  us/group  heap/grp  us/interval\n",
           FILE_COUNT);
    frozen_ns = hr_clock_ns();
    if (argc > 1)
        for (int i = 1; i < argc; i++)
            measure(strtoul(argv[i], NULL, 10));
    else
        for (size_t count = 100; count <= 1000; count *= 10)
            measure(count);
    measure_forecast();
    hr_room_machine_close(machine);
    hr_root_close(root);
    return 0;
}
