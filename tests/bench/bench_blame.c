/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_blame.c - what it costs to measure who took the CPU: a switch between tasks, and
 * loading.
 *
 * A byte goes there and back between two processes on one CPU, two switches and two wakeups. The
 * fastest of many short batches counts, as other load of the machine is in the others; the cases
 * alternate.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "headroom/blame.h"
#include "support/groups.h"

enum { BATCHES = 400, TRIPS = 250 };

enum { DETACHED, UNWATCHED, WATCHED, WATCHED_BY_TASK, CASES };

static const char *const names[CASES] = {
    [DETACHED] = "detached",
    [UNWATCHED] = "attached, of groups that aren't watched",
    [WATCHED] = "of watched groups",
    [WATCHED_BY_TASK] = "the same, by task",
};

static struct groups *groups;
static int there[2], back[2];

static void join_group(const char *name)
{
    char pid[16];

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    groups_write(groups, name, "cgroup.procs", pid);
}

static pid_t start_echo(void)
{
    char byte;
    pid_t pid = fork();

    require(pid >= 0, "fork");
    if (pid > 0)
        return pid;
    join_group("echo");
    while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
        continue;
    _exit(0);
}

/* Microseconds for a switch. */
static double time_switches(void)
{
    char byte = 'x';
    double from_us = read_us(CLOCK_MONOTONIC);

    for (int i = 0; i < TRIPS; i++)
        require(write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1, "pipe");
    return (read_us(CLOCK_MONOTONIC) - from_us) / (2 * TRIPS);
}

static uint64_t id_of(const char *name)
{
    struct stat status;

    require(fstatat(groups_dirfd(groups), name, &status, 0) == 0, name);
    return status.st_ino;
}

static struct hr_blame *open_blame(const struct hr_blame_options *options)
{
    struct hr_reason reason = {0};
    struct hr_blame *blame;

    if (hr_blame_open(options, &blame, &reason) != 0) {
        fprintf(stderr, "%s\n", reason.text);
        exit(1);
    }
    return blame;
}

static double time_case(int which, struct hr_blame *plain, struct hr_blame *by_task)
{
    const uint64_t other = id_of("other"), own[] = {id_of("echo"), id_of("sender")};
    struct hr_blame *blame = which == WATCHED_BY_TASK ? by_task : plain;
    struct hr_reason reason;

    if (which == DETACHED)
        return time_switches();
    require(which == UNWATCHED ? hr_blame_watch(blame, &other, 1) == 0
                               : hr_blame_watch(blame, own, 2) == 0,
            "watch");
    require(hr_blame_attach(blame, &reason) == 0, "attach");
    time_switches();
    double us = time_switches();
    hr_blame_detach(blame);
    return us;
}

static void measure_switches(void)
{
    struct hr_blame *plain = open_blame(&(struct hr_blame_options){.by_task = false});
    struct hr_blame *by_task = open_blame(&(struct hr_blame_options){.by_task = true});
    double fastest[CASES] = {1e9, 1e9, 1e9, 1e9};

    for (int batch = 0; batch < BATCHES; batch++)
        for (int which = 0; which < CASES; which++) {
            double us = time_case(which, plain, by_task);
            fastest[which] = us < fastest[which] ? us : fastest[which];
        }
    printf("blame: a switch between two tasks on one CPU, with its wakeup, in us:\n\n");
    for (int which = 0; which < CASES; which++)
        printf("%-42s %6.3f  %+6.3f\n", names[which], fastest[which],
               fastest[which] - fastest[DETACHED]);
    hr_blame_close(plain);
    hr_blame_close(by_task);
}

/* What the maps that we have open take in the kernel. */
static double sum_map_memory_mib(void)
{
    struct dirent *entry;
    double bytes = 0;
    DIR *directory = opendir("/proc/self/fdinfo");

    require(directory != NULL, "fdinfo");
    while ((entry = readdir(directory)) != NULL) {
        char path[300], line[128];
        snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
        FILE *file = fopen(path, "r");
        bool is_map = false;
        while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
            is_map |= strncmp(line, "map_type:", 9) == 0;
            if (is_map && strncmp(line, "memlock:", 8) == 0)
                bytes += strtod(line + 8, NULL);
        }
        if (file != NULL)
            fclose(file);
    }
    closedir(directory);
    return bytes / (1 << 20);
}

/* As the plugin psi has them, for alerts. */
static void measure_loading(void)
{
    enum { RUNS = 15 };
    const struct hr_blame_options options = {
        .max_groups = 1001, .max_cells = 16 * 1001, .lasting = true};
    double open_ms[RUNS], attach_ms[RUNS], detach_ms[RUNS], close_ms[RUNS], cpu_ms[RUNS];
    double read_ms_of[RUNS], mib = 0;
    struct hr_blame_matrix matrix = {0};
    struct hr_reason reason;

    for (int run = 0; run < RUNS; run++) {
        double cpu = read_ms(CLOCK_PROCESS_CPUTIME_ID), at = read_ms(CLOCK_MONOTONIC);
        struct hr_blame *blame = open_blame(&options);
        open_ms[run] = read_ms(CLOCK_MONOTONIC) - at;
        at = read_ms(CLOCK_MONOTONIC);
        require(hr_blame_attach(blame, &reason) == 0, "attach");
        attach_ms[run] = read_ms(CLOCK_MONOTONIC) - at;
        cpu_ms[run] = read_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        mib = sum_map_memory_mib();
        at = read_ms(CLOCK_MONOTONIC);
        require(hr_blame_read(blame, &matrix) == 0, "read");
        read_ms_of[run] = read_ms(CLOCK_MONOTONIC) - at;
        at = read_ms(CLOCK_MONOTONIC);
        hr_blame_detach(blame);
        detach_ms[run] = read_ms(CLOCK_MONOTONIC) - at;
        at = read_ms(CLOCK_MONOTONIC);
        hr_blame_close(blame);
        close_ms[run] = read_ms(CLOCK_MONOTONIC) - at;
    }
    hr_blame_matrix_free(&matrix);
    printf("\nloading %.1f ms, attaching %.1f ms (%.1f ms of CPU in all), reading %.1f ms, "
           "detaching %.1f ms, closing %.1f ms; maps of %.1f MiB\n",
           median(open_ms, RUNS), median(attach_ms, RUNS), median(cpu_ms, RUNS),
           median(read_ms_of, RUNS), median(detach_ms, RUNS), median(close_ms, RUNS), mib);
}

int main(void)
{
    cpu_set_t own;

    groups = groups_new();
    require(groups != NULL && sched_getaffinity(0, sizeof(own), &own) == 0, "a cgroup2 mount");
    groups_make(groups, "echo");
    groups_make(groups, "sender");
    groups_make(groups, "other");
    require(pipe(there) == 0 && pipe(back) == 0, "pipe");
    CPU_ZERO(&own);
    CPU_SET(0, &own);
    require(sched_setaffinity(0, sizeof(own), &own) == 0, "CPU 0");
    pid_t echo = start_echo();
    join_group("sender");
    measure_switches();
    measure_loading();
    kill(echo, SIGKILL);
    waitpid(echo, NULL, 0);
    groups_write(groups, "..", "cgroup.procs", "0");
    groups_free(groups);
    return 0;
}
