/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss_damon.c - the damon method in a tree of files: what it writes to
 * DAMON's files, how it uses the sums, and how it leaves DAMON.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
#include "memory/damon_sysfs.h"
#include "process/stat.h"
#include "support/suite.h"
#include "support/tree.h"

#define KDAMONDS "sys/kernel/mm/damon/admin/kdamonds/"
#define CONTEXT  KDAMONDS "0/contexts/0/"
#define TAG      CONTEXT "schemes/0/quotas/reset_interval_ms"
#define RELEASE  "proc/sys/kernel/osrelease"
#define MIB      UINT64_C(1048576)

static struct tree *tree;
static struct hr_root *root;
static struct hr_wss *wss;
static struct hr_reason reason;
static struct hr_wss_sample sample;

/* DAMON's sums at consecutive readings; the last one is repeated. */
static uint64_t sums[8][HR_DAMON_SCHEME_COUNT];
static size_t sums_count, looks;
static int sums_status;

int __wrap_hr_damon_read_sums(const struct hr_root *of, uint64_t bytes[HR_DAMON_SCHEME_COUNT]);

int __wrap_hr_damon_read_sums(const struct hr_root *of, uint64_t bytes[HR_DAMON_SCHEME_COUNT])
{
    ck_assert_ptr_eq(of, root);
    if (sums_status < 0)
        return sums_status;
    size_t look = looks < sums_count ? looks : sums_count - 1;
    memcpy(bytes, sums[look], sizeof(sums[look]));
    looks++;
    return 0;
}

/* Whether the files of other processes of this machine, not of the tree, are hidden as by
 * hidepid=2. */
static bool are_hidden;

int __real_hr_process_stat_read_and_close(int fd, struct hr_process_stat *stat);
int __wrap_hr_process_stat_read_and_close(int fd, struct hr_process_stat *stat);

static bool is_hidden(int fd)
{
    char link[64], path[256] = "", own[64];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    snprintf(own, sizeof(own), "/proc/%d/", (int)getpid());
    return are_hidden && readlink(link, path, sizeof(path) - 1) > 0 &&
           strncmp(path, "/proc/", 6) == 0 && strncmp(path, own, strlen(own)) != 0;
}

int __wrap_hr_process_stat_read_and_close(int fd, struct hr_process_stat *stat)
{
    const bool hides = is_hidden(fd);
    int status = __real_hr_process_stat_read_and_close(fd, stat);

    return hides ? -ENOENT : status;
}

/* How far a test has advanced the clock. */
static uint64_t skipped_ms;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = __real_clock_gettime(clock, now);
    uint64_t ns = (uint64_t)now->tv_nsec + skipped_ms % 1000 * HR_NS_PER_MS;

    now->tv_sec += (time_t)(skipped_ms / 1000 + ns / (1000 * HR_NS_PER_MS));
    now->tv_nsec = (long)(ns % (1000 * HR_NS_PER_MS));
    return status;
}

static void set_sums(uint64_t touched, uint64_t all)
{
    sums[sums_count][HR_DAMON_TOUCHED] = touched;
    sums[sums_count++][HR_DAMON_ALL] = all;
}

static void add_process(int pid, uint64_t rss_bytes)
{
    const struct tree_process process = {
        .pid = pid, .name = "worker", .started = (uint64_t)pid, .rss_bytes = rss_bytes};

    tree_add_process(tree, &process);
}

static void add_scheme(int number)
{
    static const char *const files[] = {
        "access_pattern/sz/max",
        "access_pattern/nr_accesses/max",
        "access_pattern/nr_accesses/min",
        "access_pattern/age/max",
        "action",
        "quotas/reset_interval_ms",
    };
    char path[128];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), CONTEXT "schemes/%d/%s", number, files[i]);
        tree_write(tree, path, "0\n");
    }
}

static void add_damon(void)
{
    static const char *const files[] = {
        "nr_kdamonds",
        "0/state",
        "0/contexts/nr_contexts",
        "0/contexts/0/operations",
        "0/contexts/0/monitoring_attrs/intervals/sample_us",
        "0/contexts/0/monitoring_attrs/intervals/aggr_us",
        "0/contexts/0/monitoring_attrs/intervals/update_us",
        "0/contexts/0/monitoring_attrs/nr_regions/min",
        "0/contexts/0/monitoring_attrs/nr_regions/max",
        "0/contexts/0/targets/nr_targets",
        "0/contexts/0/targets/0/pid_target",
        "0/contexts/0/targets/1/pid_target",
        "0/contexts/0/targets/0/regions/nr_regions",
        "0/contexts/0/schemes/nr_schemes",
    };
    char path[128];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), KDAMONDS "%s", files[i]);
        tree_write(tree, path, "0\n");
    }
    add_scheme(0);
    add_scheme(1);
    tree_write(tree, CONTEXT "avail_operations", "vaddr\nfvaddr\npaddr\n");
}

static void set_up(void)
{
    tree = tree_new();
    wss = NULL;
    sums_count = looks = 0;
    skipped_ms = 0;
    sums_status = 0;
    are_hidden = false;
    add_damon();
    tree_write(tree, RELEASE, "6.12.0\n");
    add_process(42, 256 * MIB);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_wss_close(wss);
    hr_root_close(root);
    tree_free(tree);
}

static void open_wss(enum hr_wss_scope scope)
{
    const struct hr_wss_options options = {
        .target = {.scope = scope, .processes = {.by = HR_PROCESS_BY_NAME, .text = "worker"}},
        .method = HR_WSS_DAMON,
    };

    ck_assert_msg(hr_wss_open(root, &options, &wss, &reason) == 0, "%s", reason.text);
    ck_assert_uint_eq(hr_wss_max_windows(wss), 1);
    ck_assert(!hr_wss_looks_back(wss));
}

static int begin(uint64_t window_ms)
{
    return hr_wss_begin(wss, window_ms * HR_NS_PER_MS, &reason);
}

static int read_wss(void)
{
    return hr_wss_read(wss, 0, &sample, &reason);
}

static const char *content(const char *path)
{
    static char text[256];
    char full[512];

    snprintf(full, sizeof(full), "%s/%s", tree_path(tree), path);
    FILE *stream = fopen(full, "r");
    ck_assert_msg(stream != NULL, "%s", full);
    size_t length = fread(text, 1, sizeof(text) - 1, stream);
    text[length] = '\0';
    fclose(stream);
    return text;
}

static void assert_left_as_found(void)
{
    ck_assert_str_eq(content(KDAMONDS "nr_kdamonds"), "0");
}

/* --- What is written ------------------------------------------------------ */

static const struct {
    const char *path, *text;
} written[] = {
    {KDAMONDS "nr_kdamonds", "1"},
    {KDAMONDS "0/state", "on"},
    {KDAMONDS "0/contexts/nr_contexts", "1"},
    {CONTEXT "operations", "vaddr"},
    {CONTEXT "monitoring_attrs/intervals/sample_us", "118750"},
    {CONTEXT "monitoring_attrs/intervals/aggr_us", "950000"},
    {CONTEXT "monitoring_attrs/intervals/update_us", "118750"},
    {CONTEXT "monitoring_attrs/nr_regions/min", "1000"},
    {CONTEXT "monitoring_attrs/nr_regions/max", "4000"},
    {CONTEXT "targets/nr_targets", "2"},
    {CONTEXT "targets/0/pid_target", "42"},
    {CONTEXT "targets/1/pid_target", "43"},
    {CONTEXT "schemes/nr_schemes", "2"},
    {CONTEXT "schemes/0/action", "stat"},
    {CONTEXT "schemes/0/access_pattern/nr_accesses/min", "1"},
    {CONTEXT "schemes/0/access_pattern/nr_accesses/max", "2147483647"},
    {CONTEXT "schemes/0/access_pattern/age/max", "2147483647"},
    {CONTEXT "schemes/0/access_pattern/sz/max", "9223372036854775807"},
    {CONTEXT "schemes/1/action", "stat"},
    {CONTEXT "schemes/1/access_pattern/nr_accesses/min", "0"},
    {CONTEXT "schemes/1/access_pattern/nr_accesses/max", "2147483647"},
};

START_TEST(monitors_processes)
{
    add_process(43, MIB);
    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(begin(1000), 0);
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
        ck_assert_msg(strcmp(content(written[i].path), written[i].text) == 0, "%s: %s",
                      written[i].path, content(written[i].path));
    hr_wss_close(wss);
    wss = NULL;
    ck_assert_str_eq(content(KDAMONDS "0/state"), "off");
    assert_left_as_found();
}
END_TEST

static const struct {
    uint64_t window_ms, sample_us, aggregation_us;
} intervals[] = {
    {300, 35625, 285000},     {1000, 118750, 950000},    {4000, 475000, 3800000},
    {10000, 500000, 9500000}, {60000, 500000, 57000000}, {61000, 499568, 57949888},
};

START_TEST(chooses_intervals_by_the_window)
{
    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(begin(intervals[_i].window_ms), 0);
    ck_assert_uint_eq(strtoull(content(CONTEXT "monitoring_attrs/intervals/sample_us"), NULL, 10),
                      intervals[_i].sample_us);
    ck_assert_uint_eq(strtoull(content(CONTEXT "monitoring_attrs/intervals/aggr_us"), NULL, 10),
                      intervals[_i].aggregation_us);
}
END_TEST

static const struct {
    const char *release; /* NULL: unknown */
    uint64_t window_ms;
    int status;
    const char *remedy;
} limits[] = {
    {"6.12.0", 299, -EINVAL, "use windows of 0.3 s or more"},
    {"6.12.0", 1, -EINVAL, "a window of 0.001 s is too short"},
    {"6.8.0-40-generic", 5000, 0, ""},
    {"6.8.0-40-generic", 5001, -EINVAL, "use windows of up to 5 s"},
    {"5.18.1", 60000, -EINVAL, "before Linux 6.9"},
    {"6.9.0-rc1", 60000, 0, ""},
    {"6.10", 60000, 0, ""},
    {"7.0.1", 60000, 0, ""},
    {"unknown", 60000, 0, ""},
    {NULL, 60000, 0, ""},
};

START_TEST(refuses_windows_that_it_cannot_measure)
{
    tree_remove(tree, RELEASE);
    if (limits[_i].release != NULL)
        tree_write(tree, RELEASE, "%s\n", limits[_i].release);
    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(begin(limits[_i].window_ms), limits[_i].status);
    if (limits[_i].status == 0)
        return;
    ck_assert_msg(strstr(reason.text, limits[_i].remedy) != NULL, "%s", reason.text);
    ck_assert_str_eq(content(KDAMONDS "nr_kdamonds"), "0\n");
}
END_TEST

static void add_regions(int count)
{
    char path[128];

    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), CONTEXT "targets/0/regions/%d/start", i);
        tree_write(tree, path, "0");
        snprintf(path, sizeof(path), CONTEXT "targets/0/regions/%d/end", i);
        tree_write(tree, path, "0");
    }
}

/* More than 64 KiB, and as many ranges as lines. */
START_TEST(reads_a_long_map_of_memory)
{
    size_t length = 0;
    char *text = NULL;

    FILE *stream = open_memstream(&text, &length);
    for (int i = 0; i < 3000; i++)
        fprintf(stream, "%06x000-%06xfff : System RAM\n", 2 * i, 2 * i);
    fclose(stream);
    ck_assert_uint_gt(length, 65536);
    tree_write(tree, "proc/iomem", "%s", text);
    free(text);
    add_regions(3000);
    open_wss(HR_WSS_SYSTEM);
    ck_assert_msg(begin(1000) == 0, "%s", reason.text);
    ck_assert_str_eq(content(CONTEXT "targets/0/regions/nr_regions"), "3000");
    ck_assert_str_eq(content(CONTEXT "targets/0/regions/2999/start"), "24567808");
}
END_TEST

START_TEST(monitors_physical_memory)
{
    add_regions(1100);
    tree_write(tree, "proc/iomem",
               "00001000-0009fbff : System RAM\n  00090000-00090fff : x\n"
               "00100000-7ffdffff : System RAM\n");
    open_wss(HR_WSS_SYSTEM);
    ck_assert_int_eq(begin(60000), 0);
    ck_assert_str_eq(content(CONTEXT "operations"), "paddr");
    ck_assert_str_eq(content(CONTEXT "targets/nr_targets"), "1");
    ck_assert_str_eq(content(CONTEXT "targets/0/regions/nr_regions"), "1000");
    ck_assert_str_eq(content(CONTEXT "targets/0/regions/0/start"), "4096");
    ck_assert_str_eq(content(CONTEXT "targets/0/regions/0/end"), "651264");
    ck_assert_str_eq(content(CONTEXT "targets/0/regions/1/start"), "1048576");
    ck_assert_str_eq(content(CONTEXT "targets/0/regions/999/end"), "2147352576");
    set_sums(300 * MIB, 2047 * MIB);
    ck_assert_int_eq(read_wss(), 0);
    ck_assert_uint_eq(sample.referenced_bytes, 300 * MIB);
    ck_assert(!sample.has_rss);
}
END_TEST

/* --- What is read --------------------------------------------------------- */

START_TEST(waits_for_the_end_of_the_interval)
{
    open_wss(HR_WSS_PROCESSES);
    set_sums(0, 0);
    set_sums(0, 0);
    set_sums(100 * MIB, 300 * MIB);
    ck_assert_int_eq(begin(60000), 0);
    ck_assert_int_eq(read_wss(), 0);
    ck_assert_uint_eq(looks, 3);
    ck_assert_uint_eq(sample.referenced_bytes, 100 * MIB);
    ck_assert_uint_eq(sample.window_ns, 57000 * HR_NS_PER_MS);
    ck_assert_uint_eq(sample.process_count, 1);
    ck_assert(sample.has_rss && !sample.has_pss);
    ck_assert_uint_eq(sample.rss_bytes, 256 * MIB);
    ck_assert_int_eq(read_wss(), -EINVAL);
    ck_assert_int_eq(begin(1000), 0);
}
END_TEST

/* So a thread that has more to do can go on meanwhile, and end. */
START_TEST(can_be_read_without_waiting)
{
    open_wss(HR_WSS_PROCESSES);
    set_sums(0, 0);
    set_sums(500 * MIB, 900 * MIB);
    set_sums(500 * MIB, 900 * MIB);
    set_sums(620 * MIB, 1200 * MIB);
    ck_assert_int_eq(begin(300), 0);
    skipped_ms = 700;
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(hr_wss_try_read(wss, 1, &sample, &reason), -EAGAIN);
        ck_assert_uint_eq(looks, i + 1);
    }
    ck_assert_int_eq(hr_wss_try_read(wss, 1, &sample, &reason), 0);
    ck_assert_uint_eq(sample.referenced_bytes, 120 * MIB);
    ck_assert_int_eq(hr_wss_try_read(wss, 1, &sample, &reason), -EINVAL);
}
END_TEST

/* What a thread may be waiting for is switched off, but only if it is this process's. */
START_TEST(can_be_interrupted)
{
    char tag[64];

    open_wss(HR_WSS_PROCESSES);
    hr_wss_interrupt(root);
    ck_assert_str_ne(content(KDAMONDS "0/state"), "on");
    ck_assert_int_eq(begin(60000), 0);
    ck_assert_str_eq(content(KDAMONDS "0/state"), "on");
    snprintf(tag, sizeof(tag), "%s", content(TAG));
    tree_write(tree, TAG, "1000000");
    hr_wss_interrupt(root);
    ck_assert_str_eq(content(KDAMONDS "0/state"), "on");
    tree_write(tree, TAG, "%s", tag);
    hr_wss_interrupt(root);
    ck_assert_str_eq(content(KDAMONDS "0/state"), "off");
    ck_assert_str_eq(content(KDAMONDS "nr_kdamonds"), "1");
}
END_TEST

/* After two intervals or more the number of those added up is unknown. */
START_TEST(takes_the_next_interval_when_it_is_read_late)
{
    open_wss(HR_WSS_PROCESSES);
    set_sums(500 * MIB, 900 * MIB);
    set_sums(500 * MIB, 900 * MIB);
    set_sums(620 * MIB, 1200 * MIB);
    ck_assert_int_eq(begin(300), 0);
    skipped_ms = 700;
    ck_assert_int_eq(read_wss(), 0);
    ck_assert_uint_eq(sample.referenced_bytes, 120 * MIB);
}
END_TEST

/* There the sums of an interval are available at the end of the next. */
START_TEST(waits_for_one_interval_only_where_the_kernel_answers_late)
{
    tree_write(tree, RELEASE, "6.1.0-18-amd64\n");
    open_wss(HR_WSS_PROCESSES);
    set_sums(100 * MIB, 900 * MIB);
    set_sums(220 * MIB, 1800 * MIB);
    ck_assert_int_eq(begin(5000), 0);
    skipped_ms = 9600; /* the second has ended */
    ck_assert_int_eq(read_wss(), 0);
    ck_assert_uint_eq(sample.referenced_bytes, 100 * MIB);
}
END_TEST

START_TEST(gives_up_on_an_interval_without_end)
{
    open_wss(HR_WSS_PROCESSES);
    set_sums(0, 0);
    ck_assert_int_eq(begin(300), 0);
    ck_assert_int_eq(read_wss(), -ETIME);
    ck_assert_ptr_nonnull(strstr(reason.text, "use a longer window"));
}
END_TEST

START_TEST(reports_no_more_than_is_resident)
{
    open_wss(HR_WSS_PROCESSES);
    set_sums(900 * MIB, 9000 * MIB);
    ck_assert_int_eq(begin(60000), 0);
    add_process(42, 200 * MIB); /* at the end it's less */
    ck_assert_int_eq(read_wss(), 0);
    ck_assert_uint_eq(sample.referenced_bytes, 256 * MIB);
    ck_assert_uint_eq(sample.rss_bytes, 200 * MIB);
}
END_TEST

/* DAMON finds shared memory in each process that touches it. */
START_TEST(counts_what_processes_may_share_once)
{
    add_process(43, 256 * MIB);
    tree_set_shareable(tree, 42, 256 * MIB, 200 * MIB);
    tree_set_shareable(tree, 43, 256 * MIB, 180 * MIB);
    open_wss(HR_WSS_PROCESSES);
    set_sums(500 * MIB, 9000 * MIB);
    ck_assert_int_eq(begin(60000), 0);
    tree_set_shareable(tree, 43, 236 * MIB, 180 * MIB); /* at the end it's less */
    ck_assert_int_eq(read_wss(), 0);
    ck_assert_uint_eq(sample.referenced_bytes, (56 + 76 + 200) * MIB);
    ck_assert_uint_eq(sample.rss_bytes, (256 + 236) * MIB);
    ck_assert_uint_eq(sample.process_count, 2);
}
END_TEST

START_TEST(counts_processes_that_ended)
{
    add_process(43, MIB);
    open_wss(HR_WSS_PROCESSES);
    set_sums(MIB, 9 * MIB);
    ck_assert_int_eq(begin(60000), 0);
    tree_remove(tree, "proc/42");
    ck_assert_int_eq(read_wss(), 0);
    ck_assert_uint_eq(sample.process_count, 1);
    ck_assert_uint_eq(sample.ended_count, 1);
    ck_assert_int_eq(begin(60000), 0);
    tree_remove(tree, "proc/43");
    ck_assert_int_eq(read_wss(), -ESRCH);
}
END_TEST

/* --- Other programs ------------------------------------------------------- */

START_TEST(leaves_alone_what_others_use)
{
    open_wss(HR_WSS_PROCESSES);
    tree_write(tree, KDAMONDS "nr_kdamonds", "1\n");
    ck_assert_int_eq(begin(1000), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, "echo off > 0/state; echo 0 > nr_kdamonds"));
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_DAMON, HR_WSS_SYSTEM, &reason), -EBUSY);
    hr_wss_close(wss);
    wss = NULL;
    ck_assert_str_eq(content(KDAMONDS "nr_kdamonds"), "1\n");
    ck_assert_str_eq(content(TAG), "0\n");
}
END_TEST

static const char *const parts[] = {
    "/sys/module/damon_stat/parameters/enabled",
    "/sys/module/damon_reclaim/parameters/enabled",
    "/sys/module/damon_lru_sort/parameters/enabled",
};

/* Then nr_kdamonds is 0, but nothing else can be switched on. */
START_TEST(leaves_alone_what_the_kernel_uses_itself)
{
    struct hr_wss_options options = {.target = {.scope = HR_WSS_SYSTEM}, .method = HR_WSS_AUTO};

    open_wss(HR_WSS_PROCESSES);
    tree_write(tree, parts[_i], "Y\n");
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_DAMON, HR_WSS_PROCESSES, &reason), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, "echo N >"));
    ck_assert_ptr_nonnull(strstr(reason.text, parts[_i]));
    ck_assert_int_eq(begin(1000), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, parts[_i]));
    ck_assert_str_eq(content(KDAMONDS "nr_kdamonds"), "0\n"); /* untouched */
    hr_wss_close(wss);
    wss = NULL;
    tree_write(tree, "sys/kernel/mm/lru_gen/enabled", "0x0007\n");
    tree_write(tree, "sys/kernel/debug/lru_gen", "%s", "");
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_LRU_GEN);
    tree_write(tree, parts[_i], "N\n");
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_DAMON, HR_WSS_PROCESSES, &reason), 0);
}
END_TEST

START_TEST(notices_that_another_process_took_it)
{
    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(begin(1000), 0);
    tree_write(tree, TAG, "60000000\n");
    ck_assert_int_eq(read_wss(), -EBUSY);
    hr_wss_close(wss);
    wss = NULL;
    ck_assert_str_eq(content(KDAMONDS "nr_kdamonds"), "1");
    ck_assert_str_eq(content(KDAMONDS "0/state"), "on");
}
END_TEST

START_TEST(notices_that_another_process_switched_it_off)
{
    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(begin(1000), 0);
    sums_status = -ESRCH;
    ck_assert_int_eq(read_wss(), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, "switched DAMON off"));
    tree_remove(tree, "proc/42");
    ck_assert_int_eq(read_wss(), -ESRCH);
}
END_TEST

/* Begins in a child that is killed and leaves its monitoring behind. */
static void leave_behind(void)
{
    pid_t child = fork();

    if (child == 0) {
        if (begin(1000) == 0)
            raise(SIGKILL);
        _exit(1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WTERMSIG(status), SIGKILL);
    ck_assert_str_eq(content(KDAMONDS "0/state"), "on");
}

START_TEST(takes_away_what_one_of_ours_left_behind)
{
    open_wss(HR_WSS_PROCESSES);
    leave_behind();
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_DAMON, HR_WSS_PROCESSES, &reason), 0);
    ck_assert_str_eq(content(KDAMONDS "0/state"), "on");
    ck_assert_int_eq(begin(1000), 0);
    hr_wss_end(wss);
    assert_left_as_found();
}
END_TEST

#define PIDS      UINT64_C(4194304)
#define TAG_START (UINT64_C(1) << 61)
#define INITIAL   "pid:[4026531836]" /* the initial PID namespace */

static const struct {
    enum { OF_OTHER_NAMESPACE, OF_NONE, OF_ANOTHER } owner;
} foreign[] = {{OF_OTHER_NAMESPACE}, {OF_NONE}, {OF_ANOTHER}};

static uint64_t read_tag(void)
{
    return strtoull(content(TAG), NULL, 10);
}

static void assert_in_use(void)
{
    ck_assert_int_eq(begin(1000), -EBUSY);
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_DAMON, HR_WSS_PROCESSES, &reason), -EBUSY);
    ck_assert(!hr_wss_recover(root));
    ck_assert_str_eq(content(KDAMONDS "0/state"), "on");
}

/* A monitoring that may be in use isn't removed. */
START_TEST(leaves_what_may_be_in_use)
{
    open_wss(HR_WSS_PROCESSES);
    leave_behind();
    uint64_t tag = read_tag() - TAG_START, pid = tag % PIDS;
    switch (foreign[_i].owner) {
    case OF_OTHER_NAMESPACE:
        tag ^= PIDS;
        break;
    case OF_NONE:
        tag -= pid;
        break;
    case OF_ANOTHER:
        tag = 60000000 - TAG_START;
        break;
    }
    tree_write(tree, TAG, "%" PRIu64 "\n", TAG_START + tag);
    assert_in_use();
    const bool is_ours = foreign[_i].owner == OF_OTHER_NAMESPACE;
    ck_assert_int_eq(hr_wss_left_behind(root, &reason), is_ours ? -EAGAIN : 0);
    ck_assert_int_eq(hr_wss_restore(root, &reason), is_ours ? 1 : -EBUSY);
    ck_assert_str_eq(content(KDAMONDS "0/state"), is_ours ? "off" : "on");
}
END_TEST

/* Another process that exists, and then ends. */
START_TEST(leaves_what_a_living_process_uses)
{
    int go_on[2];

    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(pipe(go_on), 0);
    pid_t child = fork();
    if (child == 0) {
        close(go_on[1]);
        char byte;
        if (begin(1000) == 0)
            (void)!read(go_on[0], &byte, 1);
        raise(SIGKILL);
    }
    close(go_on[0]);
    while (strcmp(content(KDAMONDS "0/state"), "on") != 0)
        usleep(10000);
    assert_in_use();
    ck_assert_int_eq(hr_wss_left_behind(root, &reason), 0);
    ck_assert_int_eq(hr_wss_restore(root, &reason), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, "measures by DAMON now"));
    are_hidden = true;
    assert_in_use();
    ck_assert_int_eq(hr_wss_left_behind(root, &reason), 0);
    close(go_on[1]);
    waitpid(child, NULL, 0);
    ck_assert_int_eq(hr_wss_left_behind(root, &reason), -ESTALE);
    ck_assert(hr_wss_recover(root));
    assert_left_as_found();
    ck_assert_int_eq(hr_wss_restore(root, &reason), 0);
}
END_TEST

/* A folder in the place of a file can't be read, not even by root. */
START_TEST(reports_that_it_may_not_look)
{
    tree_remove(tree, KDAMONDS "nr_kdamonds");
    ck_assert_int_eq(hr_wss_left_behind(root, &reason), 0);
    ck_assert_int_eq(hr_wss_restore(root, &reason), 0);
    tree_add_directory(tree, KDAMONDS "nr_kdamonds");
    ck_assert_int_eq(hr_wss_left_behind(root, &reason), -EISDIR);
    ck_assert_ptr_nonnull(strstr(reason.text, "can't be used"));
    ck_assert_int_eq(hr_wss_restore(root, &reason), -EISDIR);
    ck_assert_ptr_nonnull(strstr(reason.text, "can't be used"));
    ck_assert(!hr_wss_recover(root));
}
END_TEST

/* Another process has got the number since. */
START_TEST(recognizes_a_number_that_was_used_again)
{
    open_wss(HR_WSS_PROCESSES);
    leave_behind();
    uint64_t tag = read_tag();
    tree_write(tree, TAG, "%" PRIu64 "\n", tag - tag % PIDS + 1); /* PID 1 began long ago */
    ck_assert_int_eq(hr_wss_left_behind(root, &reason), -ESTALE);
    ck_assert_int_eq(begin(1000), 0);
    hr_wss_end(wss);
    assert_left_as_found();
}
END_TEST

static void add_namespace(int pid, const char *link, const char *numbers)
{
    char path[256];

    snprintf(path, sizeof(path), "proc/%d/ns", pid);
    tree_add_directory(tree, path);
    snprintf(path, sizeof(path), "%s/proc/%d/ns/pid", tree_path(tree), pid);
    ck_assert_int_eq(symlink(link, path), 0);
    snprintf(path, sizeof(path), "proc/%d/status", pid);
    tree_write(tree, path, "Name:\ta\nNSpid:\t%s\nThreads:\t1\n", numbers);
}

static const struct {
    const char *first, *inner, *numbers; /* of PID 1, and of the process 43 */
    bool is_dead;
} containers[] = {
    {INITIAL, "pid:[196613]", "43\t7", false}, /* 3 * 65536 + 5 */
    {INITIAL, "pid:[196613]", "43\t9\t7", false},
    {INITIAL, "pid:[196613]", "43\t8", true},             /* its first process has ended */
    {INITIAL, "pid:[196614]", "43\t7", true},             /* another container */
    {INITIAL, "nonsense", "43\t8", false},                /* can't be seen */
    {"pid:[4026532000]", "pid:[196614]", "43\t8", false}, /* not all processes are seen */
};

START_TEST(looks_into_other_containers)
{
    open_wss(HR_WSS_PROCESSES);
    leave_behind();
    const uint64_t tag = TAG_START + 5 * PIDS + 7;
    add_process(1, MIB);
    add_namespace(1, containers[_i].first, "1");
    add_namespace(42, INITIAL, "42");
    add_process(43, MIB);
    add_namespace(43, containers[_i].inner, containers[_i].numbers);
    tree_write(tree, TAG, "%" PRIu64 "\n", tag);
    if (containers[_i].is_dead) {
        ck_assert(hr_wss_recover(root));
        assert_left_as_found();
    } else {
        assert_in_use();
    }
}
END_TEST

START_TEST(starts_and_stops_none_but_its_own)
{
    const pid_t pid = 42;
    const struct hr_damon_plan plan = {
        .pids = &pid,
        .pid_count = 1,
        .sample_us = 5000,
        .aggregation_us = 100000,
        .min_regions = 10,
        .max_regions = 100,
        .tag = 4711,
    };

    ck_assert_int_eq(hr_damon_start(root, &plan), 0);
    ck_assert_int_eq(hr_damon_start(root, &plan), -EBUSY);
    hr_damon_stop(root, 4712);
    ck_assert_str_eq(content(KDAMONDS "nr_kdamonds"), "1");
    ck_assert_str_eq(content(KDAMONDS "0/state"), "on");
    hr_damon_stop(root, 4711);
    ck_assert_str_eq(content(KDAMONDS "0/state"), "off");
    assert_left_as_found();
}
END_TEST

START_TEST(no_two_measurements_have_the_same_tag)
{
    uint64_t seen[5];

    open_wss(HR_WSS_PROCESSES);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(begin(1000), 0);
        seen[i] = strtoull(content(TAG), NULL, 10);
        ck_assert_uint_ge(seen[i], UINT64_C(1000000000000000));
        ck_assert_uint_lt(seen[i], UINT64_MAX / 4);
        for (size_t j = 0; j < i; j++)
            ck_assert_uint_ne(seen[i], seen[j]);
    }
}
END_TEST

/* --- Requirements --------------------------------------------------------- */

static const struct {
    const char *missing;
    enum hr_wss_scope scope;
    int status;
    const char *remedy;
} lacks[] = {
    {CONTEXT "schemes/1/action", HR_WSS_PROCESSES, -ENOENT, "CONFIG_DAMON_VADDR"},
    {CONTEXT "monitoring_attrs/nr_regions/min", HR_WSS_PROCESSES, -ENOENT, ""},
    {TAG, HR_WSS_PROCESSES, -ENOENT, ""},
    {"proc/42/statm", HR_WSS_PROCESSES, -ESRCH, "no such process"},
    {KDAMONDS "nr_kdamonds", HR_WSS_PROCESSES, -ENOENT, "CONFIG_DAMON_SYSFS=y"},
};

START_TEST(reports_what_is_missing_and_leaves_nothing)
{
    open_wss(lacks[_i].scope);
    tree_remove(tree, lacks[_i].missing);
    int status = begin(1000);
    ck_assert_msg(status == lacks[_i].status, "%d", status);
    ck_assert_msg(strstr(reason.text, lacks[_i].remedy) != NULL, "%s", reason.text);
    if (strcmp(lacks[_i].missing, KDAMONDS "nr_kdamonds") != 0)
        ck_assert_int_eq(content(KDAMONDS "nr_kdamonds")[0], '0');
}
END_TEST

static const struct {
    const char *text; /* NULL: there is none */
    int status;
    const char *remedy;
} hidden[] = {
    {NULL, -ENOENT, "can't read the addresses of memory from /proc/iomem: No such file"},
    {"00000000-00000000 : System RAM\n", -EACCES, "add CAP_SYS_ADMIN"},
};

/* DAMON's files may be accessible to others than root, /proc/iomem isn't. */
START_TEST(does_not_begin_without_knowing_where_memory_is)
{
    if (hidden[_i].text != NULL)
        tree_write(tree, "proc/iomem", "%s", hidden[_i].text);
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_DAMON, HR_WSS_PROCESSES, &reason), 0);
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_DAMON, HR_WSS_SYSTEM, &reason), hidden[_i].status);
    ck_assert_msg(strstr(reason.text, hidden[_i].remedy) != NULL, "%s", reason.text);
}
END_TEST

START_TEST(reports_a_kind_of_memory_that_the_kernel_lacks)
{
    tree_write(tree, CONTEXT "avail_operations", "fvaddr\n");
    open_wss(HR_WSS_PROCESSES);
    ck_assert_int_eq(begin(1000), -ENOENT);
    ck_assert_ptr_nonnull(strstr(reason.text, "CONFIG_DAMON_VADDR=y"));
    assert_left_as_found();
}
END_TEST

START_TEST(measures_no_cgroups)
{
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_DAMON, HR_WSS_CGROUP, &reason), -EOPNOTSUPP);
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_DAMON, HR_WSS_PROCESSES, &reason), 0);
    tree_remove(tree, KDAMONDS "nr_kdamonds");
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_DAMON, HR_WSS_PROCESSES, &reason), -ENOENT);
}
END_TEST

/* --- Physical memory ------------------------------------------------------ */

static const struct {
    const char *text;
    int status;
    size_t count;
    struct hr_damon_region last;
} maps[] = {
    {"", 0, 0, {0, 0}},
    {"00001000-0009fbff : System RAM\n", 0, 1, {0x1000, 0x9fc00}},
    {"0-f : PCI\n  1000-1fff : System RAM\nab000-abfff : System RAM\n", 0, 2, {0xab000, 0xac000}},
    {"1000-1fff : dax0.0\n  1000-1fff : System RAM (kmem)\n", 0, 1, {0x1000, 0x2000}},
    {"1000-1fff : System ROM\n", 0, 0, {0, 0}},
    {"0-0 : Reserved\n0-0 : System RAM\n", -EACCES, 0, {0, 0}},
    {"2000-1fff : System RAM\n", -EBADMSG, 0, {0, 0}},
    {"1000-2fff : System RAM\n2000-3fff : System RAM\n", -EBADMSG, 0, {0, 0}},
    {"1000-ffffffffffffffff : System RAM\n", -EBADMSG, 0, {0, 0}},
    {"1000-1fff : System RAM\n3000-3fff : System RAM\n5000-5fff : System RAM\n",
     -EBADMSG,
     0,
     {0, 0}},
    {"1000-1fff : System RAM", -EBADMSG, 0, {0, 0}},
    {"1000-1fff: System RAM\n", -EBADMSG, 0, {0, 0}},
    {"1000 : System RAM\n", -EBADMSG, 0, {0, 0}},
    {"x\n", -EBADMSG, 0, {0, 0}},
};

START_TEST(parses_where_memory_is)
{
    struct hr_damon_region ranges[2];
    size_t count = 99;

    ck_assert_int_eq(hr_damon_parse_iomem(maps[_i].text, strlen(maps[_i].text), ranges, 2, &count),
                     maps[_i].status);
    if (maps[_i].status < 0) {
        ck_assert_uint_eq(count, 99);
        return;
    }
    ck_assert_uint_eq(count, maps[_i].count);
    if (count > 0) {
        ck_assert_uint_eq(ranges[count - 1].start, maps[_i].last.start);
        ck_assert_uint_eq(ranges[count - 1].end, maps[_i].last.end);
    }
}
END_TEST

static const struct {
    struct hr_damon_region ranges[2];
    size_t parts;
    int status;
    size_t count;
    struct hr_damon_region first, last;
} divisions[] = {
    {{{0, 0x10000}, {0x20000, 0x30000}}, 8, 0, 8, {0, 0x4000}, {0x2c000, 0x30000}},
    {{{0, 0x10000}, {0x20000, 0x30000}}, 1000, 0, 32, {0, 0x1000}, {0x2f000, 0x30000}},
    {{{0, 0x10000}, {0x20000, 0x30000}}, 7, 0, 8, {0, 0x5000}, {0x2f000, 0x30000}},
    {{{0x800, 0x2800}, {0x3001, 0x4fff}}, 9, 0, 1, {0x1000, 0x2000}, {0x1000, 0x2000}},
    {{{0, 0x1000}, {0x2000, 0x2000}}, 1, 0, 1, {0, 0x1000}, {0, 0x1000}},
    {{{0, 0x800}, {0x2000, 0x2100}}, 1, -ENODATA, 0, {0, 0}, {0, 0}},
};

START_TEST(divides_memory_at_pages)
{
    struct hr_damon_region *regions = NULL;
    size_t count = 0;

    ck_assert_int_eq(hr_damon_divide_ranges(divisions[_i].ranges, 2, divisions[_i].parts, 4096,
                                            &regions, &count),
                     divisions[_i].status);
    ck_assert_uint_eq(count, divisions[_i].count);
    if (count == 0)
        return;
    ck_assert_mem_eq(&regions[0], &divisions[_i].first, sizeof(regions[0]));
    ck_assert_mem_eq(&regions[count - 1], &divisions[_i].last, sizeof(regions[0]));
    free(regions);
}
END_TEST

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
    TCase *tests = tcase_create("wss damon");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, monitors_processes);
    tcase_add_loop_test(tests, chooses_intervals_by_the_window, 0, ROWS(intervals));
    tcase_add_loop_test(tests, refuses_windows_that_it_cannot_measure, 0, ROWS(limits));
    tcase_add_test(tests, monitors_physical_memory);
    tcase_add_test(tests, reads_a_long_map_of_memory);
    tcase_add_test(tests, waits_for_the_end_of_the_interval);
    tcase_add_test(tests, can_be_read_without_waiting);
    tcase_add_test(tests, can_be_interrupted);
    tcase_add_test(tests, takes_the_next_interval_when_it_is_read_late);
    tcase_add_test(tests, waits_for_one_interval_only_where_the_kernel_answers_late);
    tcase_add_test(tests, gives_up_on_an_interval_without_end);
    tcase_add_test(tests, reports_no_more_than_is_resident);
    tcase_add_test(tests, counts_what_processes_may_share_once);
    tcase_add_test(tests, counts_processes_that_ended);
    tcase_add_test(tests, leaves_alone_what_others_use);
    tcase_add_loop_test(tests, leaves_alone_what_the_kernel_uses_itself, 0, 3);
    tcase_add_test(tests, notices_that_another_process_took_it);
    tcase_add_test(tests, notices_that_another_process_switched_it_off);
    tcase_add_test(tests, takes_away_what_one_of_ours_left_behind);
    tcase_add_test(tests, leaves_what_a_living_process_uses);
    tcase_add_test(tests, reports_that_it_may_not_look);
    tcase_add_test(tests, recognizes_a_number_that_was_used_again);
    tcase_add_loop_test(tests, looks_into_other_containers, 0, ROWS(containers));
    tcase_add_loop_test(tests, leaves_what_may_be_in_use, 0, ROWS(foreign));
    tcase_add_test(tests, starts_and_stops_none_but_its_own);
    tcase_add_test(tests, no_two_measurements_have_the_same_tag);
    tcase_add_loop_test(tests, reports_what_is_missing_and_leaves_nothing, 0, ROWS(lacks));
    tcase_add_loop_test(tests, does_not_begin_without_knowing_where_memory_is, 0, ROWS(hidden));
    tcase_add_test(tests, reports_a_kind_of_memory_that_the_kernel_lacks);
    tcase_add_test(tests, measures_no_cgroups);
    tcase_add_loop_test(tests, parses_where_memory_is, 0, ROWS(maps));
    tcase_add_loop_test(tests, divides_memory_at_pages, 0, ROWS(divisions));
    tcase_set_timeout(tests, 30);
    return run_suite("wss damon", tests);
}
