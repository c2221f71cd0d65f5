/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_perf_large.c - what counting takes on 256 CPUs, with fakes of the kernel's calls: the
 * CPU time and the memory of the collectors, without the kernel's part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench_perf.h"
#include "headroom/descriptor.h"
#include "headroom/root.h"
#include "perf/bpf_calls.h"
#include "support/tree.h"

#define CPUS   256
#define FEW    4
#define ROUNDS 11

/* As many descriptors as it takes. */
size_t __wrap_hr_descriptor_share(enum hr_keep what);

size_t __wrap_hr_descriptor_share(__attribute__((unused)) enum hr_keep what)
{
    return SIZE_MAX / 2;
}

/* --- The kernel ----------------------------------------------------------- */

static struct {
    size_t files;     /* descriptors that are open */
    uint64_t time_ns; /* for which each group ran on each CPU */
    uint64_t few_ns;  /* for which it ran longer on the first few */
} fake;

static uint64_t time_on(unsigned cpu)
{
    return fake.time_ns + (cpu < FEW ? fake.few_ns : 0);
}

static int open_event(__attribute__((unused)) struct perf_event_attr *attr,
                      __attribute__((unused)) pid_t pid, int cpu,
                      __attribute__((unused)) int group_fd,
                      __attribute__((unused)) unsigned long flags)
{
    fake.files++;
    return 1000 + cpu;
}

static int enable_events(__attribute__((unused)) int fd)
{
    return 0;
}

/* Two counts, of one line. */
static ssize_t read_events(int fd, void *buffer, size_t size)
{
    const uint64_t ns = time_on((unsigned)fd - 1000), reading[] = {2, ns, ns, ns, ns / 1000};

    memcpy(buffer, reading, size < sizeof(reading) ? size : sizeof(reading));
    return (ssize_t)sizeof(reading);
}

static void close_event(__attribute__((unused)) int fd)
{
    fake.files--;
}

static const struct hr_perf_calls calls = {open_event, enable_events, read_events, close_event};

static int load(__attribute__((unused)) const struct count_settings *settings,
                __attribute__((unused)) size_t slots, __attribute__((unused)) size_t possible,
                void **object)
{
    *object = &fake;
    return 0;
}

static void unload(__attribute__((unused)) void *object)
{
}

static int attach(__attribute__((unused)) void *object)
{
    return 0;
}

static int set_event(__attribute__((unused)) void *object, __attribute__((unused)) size_t event,
                     __attribute__((unused)) unsigned cpu, __attribute__((unused)) int fd)
{
    return 0;
}

static int select_group(__attribute__((unused)) void *object, __attribute__((unused)) uint64_t id,
                        __attribute__((unused)) __u32 slot)
{
    return 0;
}

static int deselect_group(__attribute__((unused)) void *object, __attribute__((unused)) uint64_t id)
{
    return 0;
}

static int read_cpus(__attribute__((unused)) void *object, struct count_cpu *cpus)
{
    memset(cpus, 0, CPUS * sizeof(*cpus));
    return 0;
}

static int flush(__attribute__((unused)) void *object, __attribute__((unused)) unsigned cpu)
{
    return 0;
}

static int begin_reading(__attribute__((unused)) void *object)
{
    return 0;
}

static uint64_t found_ns[CPUS]; /* the times of the reading before */
static bool changed_on[CPUS];

static void find_changed(__attribute__((unused)) void *object, __u32 count, bool *changed)
{
    bool any = false;

    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        changed_on[cpu] = time_on(cpu) != found_ns[cpu];
        any = any || changed_on[cpu];
        found_ns[cpu] = time_on(cpu);
    }
    memset(changed, any, count * sizeof(*changed));
}

static bool is_changed(__attribute__((unused)) const void *object,
                       __attribute__((unused)) __u32 slot, unsigned cpu)
{
    return changed_on[cpu];
}

static void read_slot(__attribute__((unused)) const void *object,
                      __attribute__((unused)) __u32 slot, unsigned cpu, struct count_value *values)
{
    const uint64_t ns = time_on(cpu);

    for (size_t i = 0; i < BENCH_EVENTS; i++)
        values[i] = (struct count_value){ns, ns, ns};
}

static const struct hr_perf_bpf_calls bpf_calls = {
    .load = load,
    .unload = unload,
    .attach = attach,
    .set_event = set_event,
    .select = select_group,
    .deselect = deselect_group,
    .read_cpus = read_cpus,
    .flush = flush,
    .begin_reading = begin_reading,
    .find_changed = find_changed,
    .is_changed = is_changed,
    .read = read_slot,
};

/* --- The machine ---------------------------------------------------------- */

static struct tree *make_machine(size_t count)
{
    struct tree *tree = tree_new();
    char name[64];

    tree_write(tree, "sys/devices/system/cpu/online", "0-%d\n", CPUS - 1);
    tree_write(tree, "sys/devices/system/cpu/possible", "0-%d\n", CPUS - 1);
    tree_write(tree, "proc/sys/kernel/osrelease", "7.3.0\n");
    for (int cpu = 0; cpu < CPUS; cpu++) {
        snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%d/topology", cpu);
        tree_add_directory(tree, name);
    }
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "g%zu", i);
        tree_add_group(tree, name, true);
    }
    return tree;
}

/* @param time_ns  grows with each round; NULL: nothing ran. */
static double time_reading(const struct bench_counting *counting, size_t count, uint64_t *time_ns)
{
    double ours[ROUNDS];

    for (int round = -1; round < ROUNDS; round++) { /* the first one warms up */
        if (time_ns != NULL)
            *time_ns += 1000000;
        const double start = read_us(CLOCK_PROCESS_CPUTIME_ID);
        require(bench_read_counting(counting) == BENCH_EVENTS * count, "every event is counted");
        if (round >= 0)
            ours[round] = read_us(CLOCK_PROCESS_CPUTIME_ID) - start;
    }
    return median(ours, ROUNDS) / 1e3;
}

/* What is resident. */
static double use_mib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages;

    require(file != NULL && fscanf(file, "%*u %lu", &pages) == 1, "/proc/self/statm");
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static void measure(size_t count, bool by_bpf)
{
    const struct hr_perf_options options = {.groups = bench_lines,
                                            .group_count = BENCH_LINES,
                                            .slice_ns = UINT64_MAX,
                                            .max_targets = 1000,
                                            .calls = &calls,
                                            .bpf_calls = &bpf_calls};
    struct bench_counting counting = {.by_bpf = by_bpf, .options = &options};
    struct tree *tree = make_machine(count);
    struct hr_root *root;
    const char *pattern = "g*";

    require(hr_root_open(tree_path(tree), &root) == 0, "open the tree");
    fake.files = 0;
    const double before_mib = use_mib(), start = read_ms(CLOCK_PROCESS_CPUTIME_ID);
    bench_open_counting(&counting, root, &(struct bench_selection){&pattern, 1, count});
    const double opening = read_ms(CLOCK_PROCESS_CPUTIME_ID) - start;
    const double slept = time_reading(&counting, count, NULL);
    const double ran = time_reading(&counting, count, &fake.time_ns);
    const double ran_on_few = time_reading(&counting, count, &fake.few_ns);
    printf("%7zu  %11s  %11zu  %7.1f  %7.2f  %7.2f  %7.2f  %11.1f\n", count,
           by_bpf ? "bpf" : "descriptors", fake.files, opening, slept, ran_on_few, ran,
           use_mib() - before_mib);
    fflush(stdout);
    bench_close_counting(&counting);
    hr_root_close(root);
    tree_free(tree);
}

/* Of a process of its own the memory is new. */
static void measure_apart(size_t count, bool by_bpf)
{
    int status = 1;

    fflush(stdout);
    pid_t pid = fork();
    require(pid >= 0, "fork");
    if (pid == 0) {
        measure(count, by_bpf);
        _exit(0);
    }
    require(waitpid(pid, &status, 0) == pid && status == 0, "measure apart");
}

void bench_perf_large(void)
{
    static const size_t counts[] = {1, 100, 1000};

    printf(
        "\nThe same on %d CPUs, in ms, but for the kernel's part; where all groups ran: on %d of "
        "the CPUs, on all\n\n"
        " groups     Counting  descriptors  opening    slept  on %d       on all  memory, MiB\n",
        CPUS, FEW, FEW);
    for (int by_bpf = 0; by_bpf < 2; by_bpf++)
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
            measure_apart(counts[i], by_bpf != 0);
}
