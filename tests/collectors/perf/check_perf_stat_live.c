/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf/check_perf_stat_live.c - the same work counted by the collector and by `perf
 * stat` at the same time, on the running kernel: by descriptors; or, where LIVE_BY_BOTH is
 * defined, by BPF, and by descriptors one line that BPF programs can't read.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/perf/perf_live.h"
#include "support/own_mounts.h"

/* Two named pipes, by which perf's command signals that it has started and is made to end; and the
 * file of perf's counts. */
static char directory[] = "/tmp/headroom-perf-XXXXXX";
static char started[64], finish[64], counted[64];

static void remove_directory(void)
{
    unlink(started);
    unlink(finish);
    unlink(counted);
    rmdir(directory);
}

static void make_directory(void)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(started, sizeof(started), "%s/started", directory);
    snprintf(finish, sizeof(finish), "%s/finish", directory);
    snprintf(counted, sizeof(counted), "%s/counted", directory);
    ck_assert_int_eq(mkfifo(started, 0600), 0);
    ck_assert_int_eq(mkfifo(finish, 0600), 0);
}

static const char *const names[] = {
    [LIVE_TASK_CLOCK] = "task-clock",
    [LIVE_SWITCHES] = "context-switches",
    [LIVE_FAULTS] = "page-faults",
    [LIVE_TSC] = "msr/tsc/",
};

/* @param settle_ms  time to wait until perf counts, as it may start to after its command. */
static FILE *start_perf(const char *name, unsigned settle_ms)
{
    char command[1024], byte;

    snprintf(command, sizeof(command),
             "exec setpriv --pdeathsig KILL perf stat -a -x, -o %s -e "
             "'{task-clock,context-switches,page-faults%s}'"
             " --for-each-cgroup %s/%s -- setpriv --pdeathsig KILL sh -c 'echo > %s; exec cat %s'",
             counted, live_has_tsc() ? ",msr/tsc/" : "", groups_path(groups), name, started,
             finish);
    FILE *perf_tool = popen(command, "r");
    ck_assert_ptr_nonnull(perf_tool);
    int fd = open(started, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(read(fd, &byte, 1), 1);
    close(fd);
    usleep(settle_ms * 1000);
    return perf_tool;
}

static void end_perf(FILE *perf_tool)
{
    int fd = open(finish, O_WRONLY | O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(pclose(perf_tool), 0);
}

/* "403.22,msec,task-clock,GROUP,…": the clock in milliseconds with decimals, others are plain. */
static double read_count(const char *name)
{
    FILE *file = fopen(counted, "r");
    char line[512];
    double count = NAN;

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        char *fields = line, *field[3] = {NULL};
        for (int i = 0; i < 3; i++)
            field[i] = strsep(&fields, ",");
        if (field[2] != NULL && strcmp(field[2], name) == 0)
            count = strtod(field[0], NULL) * (strcmp(field[1], "msec") == 0 ? 1e6 : 1);
    }
    fclose(file);
    return count;
}

/* @return whether all counts of the same work agree; otherwise, the first difference is printed. */
static bool counts_agree(struct hr_perf_target *target, const struct live_work *work,
                         unsigned settle_ms, char *problem, size_t size)
{
    FILE *perf_tool = start_perf("a", settle_ms);
    struct live_counts counts = live_read(target);

    counts = live_read(target);
    live_work(work);
    counts = live_read_since(target, &counts);
    end_perf(perf_tool);
    for (int i = 0; i < (live_has_tsc() ? LIVE_EVENT_COUNT : LIVE_TSC); i++) {
        double count = read_count(names[i]);
        if (fabs((double)counts.of[i] - count) <= count / 100 && count > 0)
            continue;
        snprintf(problem, size, "%s: %llu, by perf %.0f", names[i],
                 (unsigned long long)counts.of[i], count);
        return false;
    }
    return true;
}

/* Retries, as perf doesn't signal when it starts to count. */
START_TEST(agrees_with_perf_stat)
{
    const struct live_work work = {.spin_ms = 500, .pages = 5000, .sleeps = 500};
    static const unsigned settle_ms[] = {200, 200, 1000, 5000};
    char problem[128] = "";

    groups_make(groups, "a");
    live_start_worker("a");
    struct hr_perf_target *target = live_open("a");
    for (size_t i = 0; i < sizeof(settle_ms) / sizeof(settle_ms[0]); i++)
        if (counts_agree(target, &work, settle_ms[i], problem, sizeof(problem)))
            return;
    ck_abort_msg("%s", problem);
}
END_TEST

#ifdef LIVE_BY_BOTH
static void set_up(void)
{
    live_set_up_bpf();
    ck_assert_ptr_null(hr_perf_exception(perf, 0));
    ck_assert_ptr_nonnull(hr_perf_exception(perf, 1));
}

static const char *find_obstacle(void)
{
    const char *obstacle = live_bpf_obstacle();

    live_make_exception();
    return obstacle;
}
#else
#define set_up        live_set_up
#define find_obstacle live_obstacle
#endif

int main(void)
{
    TCase *tests = tcase_create("perf stat");
    const char *obstacle = find_obstacle();

    /* Without tracefs perf can count these events, too. */
    own_mounts_with_tracefs();
    if (obstacle == NULL && system("perf stat -a --for-each-cgroup / -e task-clock true"
                                   " >/dev/null 2>&1") != 0)
        obstacle = "no perf tool that works here";
    if (obstacle != NULL) {
        printf("1..0 # SKIP %s\n", obstacle);
        return 0;
    }
    tcase_add_checked_fixture(tests, set_up, live_tear_down);
    tcase_add_unchecked_fixture(tests, make_directory, remove_directory);
    tcase_add_loop_test(tests, agrees_with_perf_stat, 0, 2);
    tcase_set_timeout(tests, 30);
    return run_suite("perf stat", tests);
}
