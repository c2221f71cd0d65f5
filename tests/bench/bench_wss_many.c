/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_wss_many.c - what working sets cost where there are many processes, many groups, or
 * much memory beside the one that is measured.
 *
 *     bench_wss_many
 *
 * 100 processes by name, of one target, and of 100: their names are read once for all. 100 and 500
 * groups, by the multi-gen LRU with aging: what the kernel prints is read once for all. A group of
 * 8 MiB, by idle pages, however much memory the machine has. Each beside what it would cost, or has
 * cost, without that: by objects that share nothing, and by a bare loop that reads the group of
 * each page frame.
 *
 * It is CPU time, of beginning and of reading together. Few kernels have the last two, which want
 * the multi-gen LRU on and off. In the emulated machine, from the build's directory:
 *
 *     HEADROOM_VM_CLOCK=real HEADROOM_VM_MIB=8192 tests/vm/run KERNEL 900 \
 *         'for on in y n; do echo $on >/sys/kernel/mm/lru_gen/enabled; ./bench_wss_many; done'
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "headroom/root.h"
#include "headroom/wss.h"
#include "support/groups.h"
#include "support/toucher_process.h"

#define ROUNDS    5
#define WINDOW_NS UINT64_C(2000000000)

static struct hr_root *root;

static struct hr_wss *open_one(enum hr_wss_method method, struct hr_wss_target target,
                               struct hr_wss_shared *shared)
{
    const struct hr_wss_options options = {
        .target = target, .method = method, .aging = true, .shared = shared};
    struct hr_reason reason;
    struct hr_wss *wss = NULL;

    require(hr_wss_open(root, &options, &wss, &reason) == 0, reason.text);
    return wss;
}

/* As the plugin does it: those that are due together end their windows before any is read. */
static double measure_all(struct hr_wss **all, size_t count)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    struct hr_wss_sample sample;
    struct hr_reason reason;

    double from_ms = read_ms(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < count; i++)
        require(hr_wss_begin(all[i], WINDOW_NS, &reason) == 0, reason.text);
    nanosleep(&pause, NULL);
    for (size_t i = 0; i < count; i++)
        hr_wss_end_window(all[i]);
    for (size_t i = 0; i < count; i++)
        require(hr_wss_read(all[i], WINDOW_NS, &sample, &reason) == 0, reason.text);
    double took_ms = read_ms(CLOCK_PROCESS_CPUTIME_ID) - from_ms;
    for (size_t i = 0; i < count; i++)
        hr_wss_end(all[i]);
    return took_ms;
}

static double median_of_all(struct hr_wss **all, size_t count)
{
    double took_ms[ROUNDS];

    for (int round = 0; round < ROUNDS; round++)
        took_ms[round] = measure_all(all, count);
    for (size_t i = 0; i < count; i++)
        hr_wss_close(all[i]);
    return median(took_ms, ROUNDS);
}

/* --- Processes by name ---------------------------------------------------- */

#define PROCESSES 100

static void be_process(const char *name, int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, name);
    require(write(ready, "", 1) == 1, "write");
    for (;;)
        pause();
}

/* All of one name, or each of its own. */
static void start_processes(bool of_one_name, pid_t *pids)
{
    char name[16], byte;
    int ready[2];

    require(pipe(ready) == 0, "pipe");
    for (int i = 0; i < PROCESSES; i++) {
        snprintf(name, sizeof(name), "many-%d", of_one_name ? 0 : i);
        pids[i] = fork();
        require(pids[i] >= 0, "fork");
        if (pids[i] == 0)
            be_process(name, ready[1]);
        require(read(ready[0], &byte, 1) == 1, "a process");
    }
    close(ready[0]);
    close(ready[1]);
}

static void end_processes(const pid_t *pids)
{
    for (int i = 0; i < PROCESSES; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
}

static double measure_names(size_t targets, struct hr_wss_shared *shared)
{
    struct hr_wss *all[PROCESSES];
    char name[16];

    for (size_t i = 0; i < targets; i++) {
        snprintf(name, sizeof(name), "many-%zu", i);
        all[i] =
            open_one(HR_WSS_REFERENCED,
                     (struct hr_wss_target){.scope = HR_WSS_PROCESSES,
                                            .processes = {.by = HR_PROCESS_BY_NAME, .text = name}},
                     shared);
    }
    return median_of_all(all, targets);
}

static void compare_names(void)
{
    pid_t pids[PROCESSES];

    puts("# 100 processes by name, referenced");
    printf("# %-28s %12s %12s\n", "targets", "alone, ms", "shared, ms");
    for (int i = 0; i < 2; i++) {
        const size_t targets = i == 0 ? 1 : PROCESSES;
        struct hr_wss_shared *shared = hr_wss_shared_new();
        start_processes(i == 0, pids);
        double alone_ms = measure_names(targets, NULL);
        printf("# %-28zu %12.2f %12.2f\n", targets, alone_ms, measure_names(targets, shared));
        end_processes(pids);
        hr_wss_shared_free(shared);
    }
    fflush(stdout);
}

/* --- Groups by the multi-gen LRU ------------------------------------------ */

#define GROUPS 500
#define ALONE  5 /* so many of them, as each reads all */

static double measure_groups(struct groups *groups, size_t count, struct hr_wss_shared *shared)
{
    struct hr_wss *all[GROUPS];
    char path[256];

    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/g%zu", groups_path(groups), i);
        all[i] = open_one(HR_WSS_LRU_GEN,
                          (struct hr_wss_target){.scope = HR_WSS_CGROUP, .cgroup = path}, shared);
    }
    return median_of_all(all, count);
}

/* Groups know of memory only where they have the controller. */
static struct groups *make_groups(void)
{
    struct groups *groups = groups_new();

    if (groups != NULL)
        groups_write(groups, ".", "cgroup.subtree_control", "+memory");
    return groups;
}

static void compare_groups(void)
{
    struct hr_reason reason;
    char name[16];
    size_t count = 0;

    if (hr_wss_probe(root, HR_WSS_LRU_GEN, HR_WSS_CGROUP, &reason) < 0) {
        printf("# groups by lru_gen: %s\n", reason.text);
        return;
    }
    struct groups *groups = make_groups();
    require(groups != NULL, "cgroups");
    puts("# groups, lru_gen with aging");
    printf("# %-28s %12s %12s %12s\n", "groups", "alone, ms", "shared, ms", "a group, ms");
    for (size_t wanted = 100; wanted <= GROUPS; wanted += GROUPS - 100) {
        struct hr_wss_shared *shared = hr_wss_shared_new();
        for (; count < wanted; count++) {
            snprintf(name, sizeof(name), "g%zu", count);
            groups_make(groups, name);
        }
        double alone_ms = measure_groups(groups, ALONE, NULL) / ALONE * (double)count;
        double shared_ms = measure_groups(groups, count, shared);
        printf("# %-28zu %12.1f %12.1f %12.3f\n", count, alone_ms, shared_ms,
               shared_ms / (double)count);
        hr_wss_shared_free(shared);
    }
    fflush(stdout);
    groups_free(groups);
}

/* --- A small group by idle pages ------------------------------------------ */

/* Before and after a window, as without knowing where a group's pages are. */
static double read_all_frames_ms(void)
{
    static uint64_t frames[1 << 16];

    int fd = open("/proc/kpagecgroup", O_RDONLY | O_CLOEXEC);
    require(fd >= 0, "/proc/kpagecgroup");
    double from_ms = read_ms(CLOCK_PROCESS_CPUTIME_ID);
    while (read(fd, frames, sizeof(frames)) > 0)
        continue;
    close(fd);
    return 2 * (read_ms(CLOCK_PROCESS_CPUTIME_ID) - from_ms);
}

static void compare_idle(void)
{
    struct hr_reason reason;
    char path[256];

    if (hr_wss_probe(root, HR_WSS_IDLE, HR_WSS_CGROUP, &reason) < 0) {
        printf("# a small group by idle: %s\n", reason.text);
        return;
    }
    struct groups *groups = make_groups();
    require(groups != NULL, "cgroups");
    groups_make(groups, "small");
    snprintf(path, sizeof(path), "small/cgroup.procs");
    int procs = openat(groups_dirfd(groups), path, O_WRONLY | O_CLOEXEC);
    struct toucher toucher = toucher_start(procs, "anon", 8, 4, NULL);
    close(procs);
    snprintf(path, sizeof(path), "%s/small", groups_path(groups));
    struct hr_wss *wss =
        open_one(HR_WSS_IDLE, (struct hr_wss_target){.scope = HR_WSS_CGROUP, .cgroup = path}, NULL);
    double bare_ms = read_all_frames_ms();
    printf("# a group of 8 MiB in a machine of %ld MiB: idle %.1f ms, the group of each frame %.1f "
           "ms\n",
           sysconf(_SC_PHYS_PAGES) >> 8, median_of_all(&wss, 1), bare_ms);
    fflush(stdout);
    toucher_end(&toucher);
    groups_free(groups);
}

int main(void)
{
    require(hr_root_open("/", &root) == 0, "/");
    compare_names();
    compare_groups();
    compare_idle();
    hr_root_close(root);
    return 0;
}
