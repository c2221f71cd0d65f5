/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_wss.c - the cost of measuring working sets: the referenced method against a bare loop
 * of the same writes and reads, and what each method costs the measured program.
 *
 *     bench_wss [MIB]      default: 4096, or a quarter of the machine's memory if that is less
 *
 * First a process that holds so much memory, in pages of 4 KiB and in huge ones, is measured
 * alternately: by writing clear_refs and reading smaps_rollup, and by the collector with its limits
 * on. Then a process that touches an eighth of that over and over counts how often it gets through,
 * while it is left alone and while it is measured each second; by the multi-gen LRU its cgroup is,
 * with aging. The tables have medians.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "headroom/root.h"
#include "headroom/wss.h"
#include "support/groups.h"
#include "support/toucher_process.h"

#define ROUNDS 15

static struct hr_root *root;

/* --- The referenced method against a bare loop ---------------------------- */

static void write_bare(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/clear_refs", (int)pid);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    require(fd >= 0 && write(fd, "1", 1) == 1, "clear_refs");
    close(fd);
}

static void read_bare(pid_t pid)
{
    char path[64], text[4096];

    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    require(fd >= 0, "smaps_rollup");
    while (read(fd, text, sizeof(text)) > 0)
        continue;
    close(fd);
}

static struct hr_wss *open_wss(pid_t pid, enum hr_wss_method method, struct hr_reason *reason)
{
    struct hr_wss_options options = {
        .target = {.scope = HR_WSS_PROCESSES, .processes = {.by = HR_PROCESS_BY_PID, .pid = pid}},
        .method = method,
        .max_scan_ns = UINT64_C(60000000000),
        .max_rss_bytes = UINT64_C(1) << 40,
    };
    struct hr_wss *wss = NULL;

    hr_wss_open(root, &options, &wss, reason);
    return wss;
}

static void compare_with_bare(const char *kind, const char *title, int mib)
{
    struct toucher toucher = toucher_start(-1, kind, mib, 0, NULL);
    struct hr_reason reason;
    struct hr_wss_sample sample;
    double bare_ms[ROUNDS], ours_ms[ROUNDS];

    if (toucher.pid == 0)
        return;
    struct hr_wss *wss = open_wss(toucher.pid, HR_WSS_REFERENCED, &reason);
    require(wss != NULL, reason.text);
    for (int i = 0; i < ROUNDS; i++) {
        double from_ms = read_ms(CLOCK_MONOTONIC);
        write_bare(toucher.pid);
        read_bare(toucher.pid);
        bare_ms[i] = read_ms(CLOCK_MONOTONIC) - from_ms;
        from_ms = read_ms(CLOCK_MONOTONIC);
        require(hr_wss_begin(wss, 1, &reason) == 0, reason.text);
        require(hr_wss_read(wss, 1, &sample, &reason) == 0, reason.text);
        ours_ms[i] = read_ms(CLOCK_MONOTONIC) - from_ms;
    }
    hr_wss_close(wss);
    toucher_end(&toucher);
    double bare = median(bare_ms, ROUNDS), ours = median(ours_ms, ROUNDS);
    printf("%-18s %8d %10.3f %10.3f %8.2f\n", title, mib, bare, ours, ours / bare);
}

/* --- The cost for the measured program ------------------------------------ */

struct worker {
    pid_t pid;
    _Atomic uint64_t *passes; /* shared with it */
};

/* Touches memory over and over; each pass is counted. */
static struct worker start_worker(size_t size, struct groups *groups)
{
    struct worker worker;

    worker.passes = mmap(NULL, sizeof(*worker.passes), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(worker.passes != MAP_FAILED, "memory");
    worker.pid = fork();
    if (worker.pid > 0)
        return worker;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (groups != NULL)
        groups_write(groups, "worker", "cgroup.procs", "0");
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(memory != MAP_FAILED, "memory");
    madvise(memory, size, MADV_NOHUGEPAGE);
    for (;; atomic_fetch_add(worker.passes, 1))
        for (size_t i = 0; i < size; i += 4096)
            ++*(volatile char *)(memory + i);
}

static void end_worker(struct worker *worker)
{
    kill(worker->pid, SIGKILL);
    waitpid(worker->pid, NULL, 0);
    munmap(worker->passes, sizeof(*worker->passes));
}

/* How many passes a second it makes while it is measured in windows of half of each second, or left
 * alone. */
static double passes_per_s(const struct worker *worker, struct hr_wss *wss, double *scan_ms)
{
    struct timespec half = {0, 500000000};
    struct hr_reason reason;
    struct hr_wss_sample sample = {0};
    uint64_t before = atomic_load(worker->passes);
    double from_ms = read_ms(CLOCK_MONOTONIC);

    require(wss == NULL || hr_wss_begin(wss, 500000000, &reason) == 0, reason.text);
    nanosleep(&half, NULL);
    if (wss != NULL) {
        require(hr_wss_read(wss, 500000000, &sample, &reason) == 0, reason.text);
        hr_wss_end(wss);
    }
    nanosleep(&half, NULL);
    *scan_ms = (double)sample.scan_ns / 1e6;
    return (double)(atomic_load(worker->passes) - before) / (read_ms(CLOCK_MONOTONIC) - from_ms) *
           1e3;
}

/* Where the method measures no processes: of its group, in which it is alone. */
static struct hr_wss *open_worker(enum hr_wss_method method, const struct worker *worker,
                                  struct groups *groups, struct hr_reason *reason)
{
    char path[256];
    struct hr_wss *wss = NULL;

    if (hr_wss_measures(method, HR_WSS_PROCESSES))
        return open_wss(worker->pid, method, reason);
    *reason = (struct hr_reason){.text = "no cgroup can be made"};
    if (groups == NULL)
        return NULL;
    snprintf(path, sizeof(path), "%s/worker", groups_path(groups));
    struct hr_wss_options options = {
        .target = {.scope = HR_WSS_CGROUP, .cgroup = path}, .method = method, .aging = true};
    hr_wss_open(root, &options, &wss, reason);
    return wss;
}

static void measure_cost(enum hr_wss_method method, const struct worker *worker,
                         struct groups *groups)
{
    struct hr_reason reason;
    double alone[ROUNDS], measured[ROUNDS], scan_ms[ROUNDS], unused_ms;
    struct hr_wss *wss = open_worker(method, worker, groups, &reason);

    if (wss == NULL || hr_wss_begin(wss, 500000000, &reason) < 0) {
        printf("%-12s %s\n", hr_wss_method_name(method), reason.text);
        hr_wss_close(wss);
        return;
    }
    hr_wss_end(wss);
    for (int i = 0; i < ROUNDS; i++) {
        alone[i] = passes_per_s(worker, NULL, &unused_ms);
        measured[i] = passes_per_s(worker, wss, &scan_ms[i]);
    }
    hr_wss_close(wss);
    double rate = median(alone, ROUNDS), slowed = median(measured, ROUNDS);
    printf("%-12s %10.2f %14.1f %14.1f %9.1f\n", hr_wss_method_name(method),
           median(scan_ms, ROUNDS), rate, slowed, 100 * (rate - slowed) / rate);
}

/* Its memory is known to be the group's own only where that has the controller, if there is one. */
static struct groups *make_group(void)
{
    struct groups *groups = groups_new();

    if (groups == NULL)
        return NULL;
    int fd = openat(groups_dirfd(groups), "cgroup.subtree_control", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "+memory", 7) < 0)
        errno = 0; /* the method reports what is missing */
    close(fd);
    groups_make(groups, "worker");
    return groups;
}

static int default_mib(void)
{
    long quarter = sysconf(_SC_PHYS_PAGES) / 4 / ((1 << 20) / sysconf(_SC_PAGESIZE));

    return quarter < 4096 ? (int)quarter : 4096;
}

int main(int argc, char **argv)
{
    int mib = argc > 1 ? atoi(argv[1]) : default_mib();

    require(mib >= 16, "MIB: 16 or more");
    require(hr_root_open("/", &root) == 0, "/");
    puts("The referenced method: beginning and reading, wall time");
    printf("%-18s %8s %10s %10s %8s\n", "pages", "MiB", "bare, ms", "ours, ms", "ratio");
    compare_with_bare("still", "of 4 KiB", mib);
    compare_with_bare("huge", "of 2 MiB", mib);

    struct groups *groups = make_group();
    struct worker worker = start_worker((size_t)mib / 8 << 20, groups);
    while (atomic_load(worker.passes) < 3)
        usleep(10000);
    printf("\nWhat it costs a process that touches %d MiB over and over, measured each second\n",
           mib / 8);
    printf("%-12s %10s %14s %14s %9s\n", "method", "scan, ms", "passes/s alone", "measured",
           "slower, %");
    for (int method = 0; method < HR_WSS_METHOD_COUNT; method++)
        measure_cost(method, &worker, groups);
    end_worker(&worker);
    if (groups != NULL)
        groups_free(groups);
    hr_root_close(root);
    return 0;
}
