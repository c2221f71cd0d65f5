/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss_lru_gen_live.c - the lru_gen method on the running kernel: programs
 * with known working sets, in groups made for the test. It ages only its own groups.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "headroom/root.h"
#include "headroom/wss.h"
#include "memory/lru_gen.h"
#include "memory/lru_gen_file.h"
#include "support/groups.h"
#include "support/suite.h"
#include "support/tlb_flushers.h"
#include "support/toucher_process.h"

#define HOLD_MIB    128
#define TOUCHED_MIB 64

static struct groups *groups;
static struct hr_root *root;
static struct hr_wss *wss;
static struct hr_reason reason;
static struct toucher toucher;
static char file[64];

static void set_up(void)
{
    wss = NULL;
    start_tlb_flushers();
    toucher = (struct toucher){.input = -1};
    groups = groups_new();
    ck_assert_ptr_nonnull(groups);
    groups_write(groups, ".", "cgroup.subtree_control", "+memory");
    ck_assert_int_eq(hr_root_open("/", &root), 0);
    snprintf(file, sizeof(file), "/var/tmp/headroom-touched-%d", (int)getpid());
}

static void tear_down(void)
{
    toucher_end(&toucher);
    unlink(file);
    hr_wss_close(wss);
    hr_root_close(root);
    groups_free(groups);
}

static bool start(const char *group, const char *kind, int hold_mib, int touch_mib)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/cgroup.procs", group);
    int fd = openat(groups_dirfd(groups), path, O_WRONLY | O_CLOEXEC);
    toucher = toucher_start(fd, kind, hold_mib, touch_mib, file);
    close(fd);
    return toucher.pid > 0;
}

/* On the emulated machine everything must work; elsewhere what doesn't is skipped with its reason.
 */
static void cannot_try(const char *what)
{
    ck_assert_ptr_null(getenv("HEADROOM_EMULATED"));
    printf("# not tried: %s\n", what);
}

static void open_wss(enum hr_wss_scope scope, const char *group, bool aging)
{
    char path[128];
    struct hr_wss_options options = {
        .target = {.scope = scope, .cgroup = path},
        .method = HR_WSS_LRU_GEN,
        .aging = aging,
    };

    snprintf(path, sizeof(path), "%s%s%s", groups_path(groups), *group != '\0' ? "/" : "", group);
    ck_assert_msg(hr_wss_open(root, &options, &wss, &reason) == 0, "%s", reason.text);
}

static void begin(void)
{
    ck_assert_msg(hr_wss_begin(wss, 10 * HR_NS_PER_S, &reason) == 0, "%s", reason.text);
}

static double read_mib(void)
{
    struct hr_wss_sample sample;

    ck_assert_msg(hr_wss_read(wss, HR_NS_PER_S, &sample, &reason) == 0, "%s", reason.text);
    printf("# referenced %.1f MiB, window %.3f s, scan %.3f s\n",
           (double)sample.referenced_bytes / TOUCHER_MIB, (double)sample.window_ns / 1e9,
           (double)sample.scan_ns / 1e9);
    fflush(stdout);
    return (double)sample.referenced_bytes / TOUCHER_MIB;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What the program's own text, stack and C library may add. */
#define ALLOWANCE_MIB 4.0

static void assert_about(double mib, double expected_mib)
{
    ck_assert_double_ge(mib, expected_mib - ALLOWANCE_MIB);
    ck_assert_double_le(mib, expected_mib + ALLOWANCE_MIB);
}

/* Measures for a second. A low reading is repeated for longer, as touching may be delayed. */
static void assert_measured(double low_mib, double high_mib)
{
    double mib = -1;

    for (unsigned time_s = 1; time_s <= 8 && mib < low_mib; time_s *= 2) {
        begin();
        sleep(time_s);
        mib = read_mib();
        ck_assert_double_le(mib, high_mib);
    }
    ck_assert_double_ge(mib, low_mib);
}

static void assert_measured_about(double expected_mib)
{
    assert_measured(expected_mib - ALLOWANCE_MIB, expected_mib + ALLOWANCE_MIB);
}

static const struct {
    const char *kind;
    double expected_mib;
} kinds[] = {
    {"anon", TOUCHED_MIB},   {"huge", TOUCHED_MIB}, {"file", TOUCHED_MIB},
    {"shared", TOUCHED_MIB}, {"swap", TOUCHED_MIB}, {"still", 0},
};

/* A page of a file belongs to the group that first touched it, so a process of the group creates
 * the file. */
static void make_file(const char *group)
{
    char path[128];
    int status;

    snprintf(path, sizeof(path), "%s/cgroup.procs", group);
    pid_t child = fork();
    if (child == 0) {
        int procs = openat(groups_dirfd(groups), path, O_WRONLY | O_CLOEXEC);
        int fd = open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        _exit(write(procs, "0", 1) != 1 || posix_fallocate(fd, 0, HOLD_MIB << 20) != 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

START_TEST(knows_what_is_touched)
{
    groups_make(groups, "a b");
    if (strcmp(kinds[_i].kind, "file") == 0)
        make_file("a b");
    if (!start("a b", kinds[_i].kind, HOLD_MIB, TOUCHED_MIB)) {
        cannot_try(kinds[_i].kind);
        return;
    }
    open_wss(HR_WSS_CGROUP, "a b", true);
    ck_assert_uint_eq(hr_wss_max_windows(wss), 2);
    assert_measured_about(kinds[_i].expected_mib);
    if (_i > 0)
        return;
    sleep(1);
    assert_about(read_mib(), kinds[_i].expected_mib);
    assert_measured_about(kinds[_i].expected_mib);
}
END_TEST

/* Memory touched only before the first reading is still counted by the second. */
START_TEST(readings_show_what_was_touched_since_the_beginning)
{
    groups_make(groups, "a");
    ck_assert(start("a", "anon", HOLD_MIB, TOUCHED_MIB));
    open_wss(HR_WSS_CGROUP, "a", true);
    double mib = -1;
    for (unsigned time_s = 1; time_s <= 8 && mib < TOUCHED_MIB - ALLOWANCE_MIB; time_s *= 2) {
        kill(toucher.pid, SIGCONT);
        begin();
        sleep(time_s);
        kill(toucher.pid, SIGSTOP);
        mib = read_mib();
    }
    assert_about(mib, TOUCHED_MIB);
    sleep(1);
    assert_about(read_mib(), TOUCHED_MIB);
    begin();
    sleep(1);
    assert_about(read_mib(), 0);
    kill(toucher.pid, SIGCONT);
}
END_TEST

/* The groups below are part of a group, though the kernel lists each separately. */
START_TEST(sums_the_groups_below)
{
    groups_make(groups, "a");
    groups_write(groups, "a", "cgroup.subtree_control", "+memory");
    groups_make(groups, "a/b");
    groups_make(groups, "ab");
    ck_assert(start("a/b", "anon", HOLD_MIB, TOUCHED_MIB));
    struct toucher other = toucher;
    ck_assert(start("ab", "anon", HOLD_MIB, TOUCHED_MIB));
    open_wss(HR_WSS_CGROUP, "a", true);
    assert_measured_about(TOUCHED_MIB);
    toucher_end(&other);
}
END_TEST

START_TEST(measures_the_system)
{
    groups_make(groups, "a");
    ck_assert(start("a", "anon", HOLD_MIB, TOUCHED_MIB));
    open_wss(HR_WSS_SYSTEM, "", true);
    assert_measured(TOUCHED_MIB - ALLOWANCE_MIB, TOUCHED_MIB + 32);
}
END_TEST

/* Makes the kernel age a group, as another program would. */
static void age(const char *group)
{
    struct hr_file_text text = {0};
    struct hr_lru_gen_list list;
    char path[128];

    snprintf(path, sizeof(path), "/%s/%s", groups_path(groups), group);
    ck_assert_int_eq(hr_lru_gen_file_read(root, &text), 0);
    int fd = hr_root_openat(root, HR_LRU_GEN_FILE, O_WRONLY);
    struct hr_lru_gen_reader reader = {.rest = {text.start, text.length}};
    while (hr_lru_gen_parse_next(&reader, &list) > 0)
        if (hr_lru_gen_is_of(&list, path))
            ck_assert_int_eq(
                hr_lru_gen_file_age(fd, list.memcg_id, list.node, hr_lru_gen_youngest(&list)), 0);
    close(fd);
    free(text.start);
}

static int read_error(uint64_t window_ns)
{
    struct hr_wss_sample sample;
    int status = hr_wss_read(wss, window_ns, &sample, &reason);

    printf("# %s\n", reason.text);
    fflush(stdout);
    return status;
}

/* Generations created 2 and 1 s ago cover 2 s, not the 60 s asked for. */
START_TEST(looks_back_as_far_as_the_kernel_knows)
{
    struct hr_wss_sample sample;

    groups_make(groups, "a");
    ck_assert(start("a", "anon", HOLD_MIB, TOUCHED_MIB));
    open_wss(HR_WSS_CGROUP, "a", false);
    ck_assert(hr_wss_looks_back(wss));
    ck_assert_uint_eq(hr_wss_max_windows(wss), 0);
    /* None may be as old as the window when it is read. */
    for (int i = 0, tries = 0; i < 4; tries++) {
        if (tries == 20)
            ck_abort_msg("the machine is too busy");
        uint64_t before_ns = now_ns();
        sleep(1);
        age("a");
        i = now_ns() - before_ns < 1400 * HR_NS_PER_S / 1000 ? i + 1 : 0;
    }
    begin();
    ck_assert_int_eq(hr_wss_read(wss, 2500 * HR_NS_PER_S / 1000, &sample, &reason), 0);
    printf("# %.3f s\n", (double)sample.window_ns / 1e9);
    assert_about((double)sample.referenced_bytes / TOUCHER_MIB, TOUCHED_MIB);
    ck_assert_double_ge((double)sample.window_ns / 1e9, 0.9);
    ck_assert_double_le((double)sample.window_ns / 1e9, 2.5);
    sleep(3);
    ck_assert_int_eq(read_error(HR_NS_PER_S), -ENODATA);
}
END_TEST

START_TEST(reports_that_others_began_generations)
{
    groups_make(groups, "a");
    ck_assert(start("a", "still", HOLD_MIB, 0));
    open_wss(HR_WSS_CGROUP, "a", true);
    begin();
    age("a");
    assert_about(read_mib(), 0);
    begin();
    age("a");
    age("a");
    ck_assert_int_eq(read_error(HR_NS_PER_S), -EBUSY);
}
END_TEST

START_TEST(reports_a_group_that_is_gone)
{
    groups_make(groups, "a");
    open_wss(HR_WSS_CGROUP, "a", true);
    begin();
    groups_remove(groups, "a");
    ck_assert_int_eq(read_error(HR_NS_PER_S), -ENODEV);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -ENODEV);
}
END_TEST

START_TEST(reports_a_group_without_memory_controller)
{
    groups_make(groups, "a");
    groups_make(groups, "a/b");
    open_wss(HR_WSS_CGROUP, "a/b", true);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -EOPNOTSUPP);
    printf("# %s\n", reason.text);
    ck_assert_ptr_nonnull(strstr(reason.text, "subtree_control"));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss lru_gen live");
    struct groups *probe = groups_new();

    if (probe == NULL) {
        puts("1..0 # SKIP no cgroup2 hierarchy that can be written to (root is needed)");
        return 0;
    }
    groups_free(probe);
    if (hr_root_open("/", &root) < 0 || hr_lru_gen_file_probe(root, true, &reason) < 0) {
        printf("1..0 # SKIP %s\n", reason.text);
        return 0;
    }
    hr_root_close(root);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, knows_what_is_touched, 0, sizeof(kinds) / sizeof(kinds[0]));
    tcase_add_test(tests, readings_show_what_was_touched_since_the_beginning);
    tcase_add_test(tests, sums_the_groups_below);
    tcase_add_test(tests, measures_the_system);
    tcase_add_test(tests, looks_back_as_far_as_the_kernel_knows);
    tcase_add_test(tests, reports_that_others_began_generations);
    tcase_add_test(tests, reports_a_group_that_is_gone);
    tcase_add_test(tests, reports_a_group_without_memory_controller);
    tcase_set_timeout(tests, 60);
    return run_suite("wss lru_gen live", tests);
}
