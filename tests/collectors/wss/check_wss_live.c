/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss_live.c - known answers of the referenced method on the running kernel:
 * processes that touch a known part of what they hold.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "headroom/root.h"
#include "headroom/wss.h"
#include "memory/smaps.h"
#include "support/groups.h"
#include "support/suite.h"
#include "support/tlb_flushers.h"
#include "support/toucher_process.h"

#define HOLD  256
#define TOUCH 128
#define HUGE  2

/* The allowed error: the program's own code, its libraries and its stack are about 1.3 MiB. */
#define TOLERANCE_MIB (0.02 * TOUCH)

static struct hr_root *root;
static struct hr_wss *wss;
static struct hr_reason reason;
static struct hr_wss_sample sample;
static struct toucher toucher;
static char *file; /* of HOLD MiB; NULL: there is none */

static void set_up(void)
{
    wss = NULL;
    toucher = (struct toucher){0};
    ck_assert_int_eq(hr_root_open("/", &root), 0);
    file = NULL;
}

static void tear_down(void)
{
    toucher_end(&toucher);
    if (file != NULL)
        unlink(file);
    hr_wss_close(wss);
    hr_root_close(root);
}

/* @return whether there is room for it. */
static bool make_file(void)
{
    static char path[] = "/dev/shm/headroom-wss-XXXXXX";
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    file = path;
    bool has_room = posix_fallocate(fd, 0, (off_t)HOLD << 20) == 0;
    close(fd);
    return has_room;
}

/* On the emulated machine everything must work; elsewhere what doesn't is skipped with its reason.
 */
static void cannot_try(const char *what)
{
    ck_assert_ptr_null(getenv("HEADROOM_EMULATED"));
    printf("# not tried: %s\n", what);
}

static void pause_ms(long milliseconds)
{
    struct timespec wait = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    nanosleep(&wait, NULL);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void open_pid(pid_t pid, uint64_t max_scan_ns)
{
    struct hr_wss_options options = {
        .target = {.scope = HR_WSS_PROCESSES, .processes = {.by = HR_PROCESS_BY_PID, .pid = pid}},
        .method = HR_WSS_REFERENCED,
        .max_scan_ns = max_scan_ns,
    };

    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
}

/* Touching continues meanwhile, but may be slow on a busy machine: a low reading is repeated; a
 * high one is final. */
static double measure(double expected_mib)
{
    double seen_mib = 0;

    ck_assert_int_eq(hr_wss_begin(wss, 1, &reason), 0);
    for (int i = 0; i < 50; i++) {
        pause_ms(200);
        ck_assert_int_eq(hr_wss_read(wss, 1, &sample, &reason), 0);
        seen_mib = (double)sample.referenced_bytes / TOUCHER_MIB;
        if (seen_mib >= expected_mib)
            break;
    }
    return seen_mib;
}

/* --- Known answers -------------------------------------------------------- */

static const struct {
    const char *kind;
    double expected_mib, rss_mib;
} kinds[] = {
    {"anon", TOUCH, HOLD},  {"huge", TOUCH, HOLD}, {"file", TOUCH, HOLD},   {"shared", TOUCH, HOLD},
    {"swap", TOUCH, TOUCH}, {"still", 0, HOLD},    {"thread", TOUCH, HOLD},
};

START_TEST(reports_what_is_touched)
{
    if (strcmp(kinds[_i].kind, "file") != 0 || make_file())
        toucher = toucher_start(-1, kinds[_i].kind, HOLD, TOUCH, file);
    if (toucher.pid == 0) {
        cannot_try(kinds[_i].kind);
        return;
    }
    open_pid(toucher.pid, 0);
    double seen_mib = measure(kinds[_i].expected_mib);
    /* Again, as the first clearing may have coincided with touching at the start. */
    seen_mib = measure(kinds[_i].expected_mib);
    ck_assert_double_ge(seen_mib, kinds[_i].expected_mib);
    ck_assert_double_le(seen_mib, kinds[_i].expected_mib + TOLERANCE_MIB);
    /* Some of the untouched memory may not have been swapped out. */
    double rss_mib = (double)sample.rss_bytes / TOUCHER_MIB;
    ck_assert_double_ge(rss_mib, kinds[_i].rss_mib);
    if (strcmp(kinds[_i].kind, "swap") != 0)
        ck_assert_double_le(rss_mib, kinds[_i].rss_mib + 4);
    ck_assert_uint_le(sample.pss_bytes, sample.rss_bytes);
}
END_TEST

/* --- Times ---------------------------------------------------------------- */

/* Est, as Brendan Gregg's wss.pl computes it: the whole time, but half of clearing and of reading.
 */
START_TEST(measures_the_window_as_gregg_does)
{
    double est, window;

    toucher = toucher_start(-1, "anon", HOLD, TOUCH, NULL);
    open_pid(toucher.pid, 0);
    for (int i = 0; i < 20; i++) {
        uint64_t begun = now_ns();
        ck_assert_int_eq(hr_wss_begin(wss, 1, &reason), 0);
        uint64_t marked = now_ns();
        pause_ms(250);
        uint64_t reading = now_ns();
        ck_assert_int_eq(hr_wss_read(wss, 1, &sample, &reason), 0);
        uint64_t read = now_ns();
        est = (double)(read - begun) - (double)(marked - begun) / 2 - (double)(read - reading) / 2;
        window = (double)sample.window_ns;
        uint64_t spent_ns = (marked - begun) + (read - reading), scan_ns = sample.scan_ns;
        ck_assert_uint_le(scan_ns, spent_ns);
        reading = now_ns();
        ck_assert_int_eq(hr_wss_read(wss, 1, &sample, &reason), 0);
        ck_assert_uint_le(sample.scan_ns, now_ns() - reading);
        /* Between our readings of the clock and the collector's the process may be preempted. */
        if (fabs(window - est) < 0.01 * est && scan_ns >= spent_ns / 2)
            return;
    }
    ck_abort_msg("window %.0f ns, est %.0f ns", window, est);
}
END_TEST

/* However long finding the process and marking take, and the reading. */
START_TEST(measures_no_shorter_window_than_one_that_is_awaited)
{
    const uint64_t window_ns = 20000000;

    toucher = toucher_start(-1, "anon", HOLD, TOUCH, NULL);
    open_pid(toucher.pid, 0);
    for (int i = 0; i < 10; i++) {
        const uint64_t before_ns = now_ns();
        ck_assert_int_eq(hr_wss_begin(wss, 1, &reason), 0);
        ck_assert_uint_ge(hr_wss_begun_ns(wss), before_ns);
        ck_assert_uint_le(hr_wss_begun_ns(wss), now_ns());
        while (now_ns() < hr_wss_begun_ns(wss) + window_ns)
            pause_ms(1);
        ck_assert_int_eq(hr_wss_read(wss, 1, &sample, &reason), 0);
        ck_assert_uint_ge(sample.window_ns, window_ns);
    }
}
END_TEST

/* --- Ends and limits ------------------------------------------------------ */

START_TEST(notices_its_end)
{
    toucher = toucher_start(-1, "anon", HUGE, HUGE, NULL);
    open_pid(toucher.pid, 0);
    ck_assert_int_eq(hr_wss_begin(wss, 1, &reason), 0);
    kill(toucher.pid, SIGKILL);
    toucher_end(&toucher);
    ck_assert_int_eq(hr_wss_read(wss, 1, &sample, &reason), -ESRCH);
    ck_assert_int_eq(hr_wss_begin(wss, 1, &reason), -ESRCH);
}
END_TEST

/* Scanning 256 MiB in 4 KiB pages takes milliseconds. A refused process keeps its bits. */
START_TEST(predicts_what_takes_too_long)
{
    struct hr_process process;
    struct hr_smaps sums;

    toucher = toucher_start(-1, "still", HOLD, TOUCH, NULL);
    open_pid(toucher.pid, 100000);
    ck_assert_int_eq(hr_wss_begin(wss, 1, &reason), -ETIME);
    ck_assert_int_eq(hr_process_open(root, toucher.pid, &process), 0);
    ck_assert_int_eq(hr_smaps_read(&process, &sums), 0);
    hr_process_close(&process);
    ck_assert_double_ge((double)sums.referenced_bytes / TOUCHER_MIB, HOLD);
}
END_TEST

static void begin_and_read(void)
{
    ck_assert_int_eq(hr_wss_begin(wss, 1, &reason), 0);
    ck_assert_int_eq(hr_wss_read(wss, 1, &sample, &reason), 0);
}

START_TEST(knows_for_how_long_clearing_locks)
{
    toucher = toucher_start(-1, "still", HOLD, TOUCH, NULL);
    open_pid(toucher.pid, 0);
    begin_and_read();
    if (!hr_wss_scans_are_throttled(root)) { /* then it isn't known */
        ck_assert_uint_eq(sample.worst_lock.held_ns, 0);
        return;
    }
    ck_assert_int_eq(sample.worst_lock.pid, toucher.pid);
    ck_assert_str_eq(sample.worst_lock.name, "toucher");
    ck_assert_uint_gt(sample.worst_lock.cpu_ns, 0);
    ck_assert_uint_ge(sample.worst_lock.held_ns, sample.worst_lock.cpu_ns * 99 / 100);
    ck_assert_uint_le(sample.worst_lock.held_ns, sample.scan_ns);
    ck_assert_int_eq(hr_wss_read(wss, 1, &sample, &reason), 0);
    ck_assert_uint_eq(sample.worst_lock.held_ns, 0); /* it is known already */
}
END_TEST

/* A process that does something for ever. */
static pid_t start(void (*work)(void))
{
    const pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        work();
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void spin(void)
{
}

static void set_policy(int policy, const cpu_set_t *cpus)
{
    const struct sched_param none = {0};

    ck_assert_int_eq(sched_setscheduler(0, policy, &none), 0);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(*cpus), cpus), 0);
}

/* As where collectd is throttled: the lock is held meanwhile. Clearing may be done before the
 * other has its turn. */
START_TEST(knows_that_it_held_the_lock_without_running)
{
    cpu_set_t before, one;

    if (!hr_wss_scans_are_throttled(root))
        return;
    ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    toucher = toucher_start(-1, "still", HOLD, TOUCH, NULL);
    open_pid(toucher.pid, 0);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
    const pid_t spinner = start(spin);
    set_policy(SCHED_IDLE, &one);
    for (int i = 0; i < 100; i++) {
        begin_and_read();
        if (sample.worst_lock.held_ns > 3 * sample.worst_lock.cpu_ns)
            break;
    }
    set_policy(SCHED_OTHER, &before);
    end(spinner);
    ck_assert_uint_gt(sample.worst_lock.held_ns, 3 * sample.worst_lock.cpu_ns);
}
END_TEST

/* Again and again it holds the lock of its memory map itself. */
static void map_memory(void)
{
    const size_t size = (size_t)512 << 20;
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (memory == MAP_FAILED || munmap(memory, size) != 0)
        _exit(1);
}

/* Else its own lock would seem to be ours, nearly each time. A few times we may really have got no
 * CPU. */
START_TEST(counts_no_lock_that_it_waited_for)
{
    const pid_t mapper = start(map_memory);
    int waited = 0;

    open_pid(mapper, 0);
    for (int i = 0; i < 20; i++) {
        begin_and_read();
        waited += hr_wss_lock_waited(&sample.worst_lock);
    }
    end(mapper);
    ck_assert_int_le(waited, 5);
}
END_TEST

static int open_procs(struct groups *groups)
{
    int fd = openat(groups_dirfd(groups), "inner/cgroup.procs", O_WRONLY | O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    return fd;
}

/* A short scan of huge pages must not count as an estimate for another process's small ones. */
START_TEST(predicts_for_each_process)
{
    struct groups *groups = groups_new();
    struct hr_wss_options options = {
        .target = {.scope = HR_WSS_CGROUP}, .method = HR_WSS_REFERENCED, .max_scan_ns = 500000};

    if (groups == NULL) {
        cannot_try("cgroups");
        return;
    }
    groups_make(groups, "inner");
    int fd = open_procs(groups);
    struct toucher huge = toucher_start(fd, "huge", HOLD, TOUCH, NULL);
    toucher = toucher_start(fd, "still", HOLD, TOUCH, NULL);
    close(fd);
    options.target.cgroup = groups_path(groups);
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_int_eq(hr_wss_begin(wss, 1, &reason), -ETIME);
    toucher_end(&huge);
    toucher_end(&toucher);
    groups_free(groups);
}
END_TEST

START_TEST(measures_all_of_a_cgroup)
{
    struct groups *groups = groups_new();
    struct hr_wss_options options = {.target = {.scope = HR_WSS_CGROUP},
                                     .method = HR_WSS_REFERENCED};

    if (groups == NULL) {
        cannot_try("cgroups");
        return;
    }
    groups_make(groups, "inner");
    int fd = open_procs(groups);
    toucher = toucher_start(fd, "anon", HOLD, TOUCH, NULL);
    close(fd);
    options.target.cgroup = groups_path(groups);
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    measure(TOUCH);
    double seen_mib = measure(TOUCH);
    ck_assert_double_eq_tol(seen_mib, TOUCH, TOLERANCE_MIB);
    ck_assert_uint_eq(sample.process_count, 1);
    toucher_end(&toucher);
    groups_free(groups);
}
END_TEST

START_TEST(leaves_threads_to_their_processes)
{
    struct groups *groups = groups_new();
    struct hr_wss_options options = {.target = {.scope = HR_WSS_CGROUP},
                                     .method = HR_WSS_REFERENCED};
    char path[256];

    if (groups == NULL) {
        cannot_try("cgroups");
        return;
    }
    groups_make(groups, "threaded");
    groups_write(groups, "threaded", "cgroup.type", "threaded");
    snprintf(path, sizeof(path), "%s/threaded", groups_path(groups));
    options.target.cgroup = path;
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_int_eq(hr_wss_begin(wss, 1, &reason), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(reason.text, "threaded"));
    groups_free(groups);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss_live");

    if (access("/proc/self/clear_refs", W_OK) < 0) {
        puts("1..0 # SKIP this kernel has no /proc/PID/clear_refs");
        return 0;
    }
    start_tlb_flushers();
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, reports_what_is_touched, 0, sizeof(kinds) / sizeof(kinds[0]));
    tcase_add_test(tests, measures_the_window_as_gregg_does);
    tcase_add_test(tests, measures_no_shorter_window_than_one_that_is_awaited);
    tcase_add_test(tests, notices_its_end);
    tcase_add_test(tests, predicts_what_takes_too_long);
    tcase_add_test(tests, predicts_for_each_process);
    tcase_add_test(tests, knows_for_how_long_clearing_locks);
    tcase_add_test(tests, knows_that_it_held_the_lock_without_running);
    tcase_add_test(tests, counts_no_lock_that_it_waited_for);
    tcase_add_test(tests, measures_all_of_a_cgroup);
    tcase_add_test(tests, leaves_threads_to_their_processes);
    return run_suite("wss_live", tests);
}
