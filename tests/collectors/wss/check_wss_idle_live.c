/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss_idle_live.c - the idle method on the running kernel: processes with
 * known working sets.
 *
 * HEADROOM_EMULATED  if set, no other program uses the machine: the multi-gen LRU may be disabled
 * during the test, and every kind of memory must be available
 */
#include <check.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "headroom/root.h"
#include "headroom/wss.h"
#include "memory/kpage.h"
#include "memory/page_idle.h"
#include "memory/pagemap.h"
#include "support/descriptor_shortage.h"
#include "support/groups.h"
#include "support/suite.h"
#include "support/tlb_flushers.h"
#include "support/toucher_process.h"

#define MIB       TOUCHER_MIB
#define FILE_NAME "/dev/shm/headroom-test-load"
#define LRU_GEN   "/sys/kernel/mm/lru_gen/enabled"

#define HOLD  128
#define TOUCH 64

static struct hr_root *root;
static struct groups *groups;

static void set_up(void)
{
    ck_assert_int_eq(hr_root_open("/", &root), 0);
    groups = groups_new();
    ck_assert_ptr_nonnull(groups);
    groups_write(groups, ".", "cgroup.subtree_control", "+memory");
}

static bool is_emulated(void)
{
    return getenv("HEADROOM_EMULATED") != NULL;
}

/* Enables or disables the multi-gen LRU, if the kernel has it. */
static void write_generations(const char *text)
{
    int fd = open(LRU_GEN, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, text, strlen(text)) < 0)
        warn(LRU_GEN);
    close(fd);
}

static void tear_down(void)
{
    if (is_emulated())
        write_generations("n");
    groups_free(groups);
    hr_root_close(root);
}

static struct hr_wss *open_method(const struct hr_wss_target *target)
{
    const struct hr_wss_options options = {.target = *target, .method = HR_WSS_IDLE};
    struct hr_reason reason;
    struct hr_wss *wss;

    int status = hr_wss_open(root, &options, &wss, &reason);
    ck_assert_msg(status == 0, "%s", reason.text);
    return wss;
}

static struct hr_wss *open_process(pid_t pid)
{
    const struct hr_wss_target target = {.processes = {.by = HR_PROCESS_BY_PID, .pid = pid}};

    return open_method(&target);
}

static struct hr_wss *open_group(const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s%s%s", groups_path(groups), *name != '\0' ? "/" : "", name);
    return open_method(&(struct hr_wss_target){.scope = HR_WSS_CGROUP, .cgroup = path});
}

static void begin(struct hr_wss *wss)
{
    struct hr_reason reason;

    int status = hr_wss_begin(wss, HR_NS_PER_S, &reason);
    ck_assert_msg(status == 0, "begin: %s", reason.text);
}

static struct hr_wss_sample read_sample(struct hr_wss *wss)
{
    struct hr_wss_sample sample;
    struct hr_reason reason;

    int status = hr_wss_read(wss, HR_NS_PER_S, &sample, &reason);
    ck_assert_msg(status == 0, "read: %s", reason.text);
    return sample;
}

static void pause_ms(unsigned milliseconds)
{
    usleep(milliseconds * 1000);
}

/* Touching continues meanwhile, but may be slow on a busy machine: a low reading is repeated; a
 * high one is final. */
static struct hr_wss_sample await(struct hr_wss *wss, int touch_mib)
{
    struct hr_wss_sample sample;

    pause_ms(500);
    for (int i = 0; i < 50; i++) {
        sample = read_sample(wss);
        if ((double)sample.referenced_bytes >= touch_mib * MIB * 0.98)
            break;
        pause_ms(200);
    }
    return sample;
}

static struct hr_wss_sample measure(struct hr_wss *wss, int touch_mib)
{
    begin(wss);
    return await(wss, touch_mib);
}

/* --- Known answers -------------------------------------------------------- */

struct known {
    const char *kind;
    int hold_mib, touch_mib;
};

static const struct known of_processes[] = {
    {"anon", HOLD, TOUCH},   {"huge", HOLD, TOUCH}, {"file", HOLD, TOUCH},
    {"shared", HOLD, TOUCH}, {"swap", HOLD, TOUCH}, {"still", HOLD, 0},
};
static const struct known of_groups[] = {
    {"anon", HOLD, TOUCH}, {"huge", HOLD, TOUCH}, {"file", HOLD, TOUCH}};
/* By read(2), which is the file's memory, but none of the process's. */
static const struct known unmapped = {"read", HOLD, TOUCH};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int open_procs(const char *group)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/cgroup.procs", group);
    int fd = openat(groups_dirfd(groups), path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static struct toucher start_in(const char *group, int hold_mib, int touch_mib)
{
    int procs = open_procs(group);
    struct toucher load = toucher_start(procs, "anon", hold_mib, touch_mib, NULL);

    close(procs);
    return load;
}

/* Written, as read(2) from a hole touches no page. */
static bool write_file(int mib)
{
    static char zeros[1 << 20];
    int fd = open(FILE_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool is_written = fd >= 0;

    for (int i = 0; i < mib && is_written; i++)
        is_written = write(fd, zeros, sizeof(zeros)) == (ssize_t)sizeof(zeros);
    return is_written;
}

/* The group that creates a file in memory is charged for it. */
static void make_file(int procs, int mib)
{
    int status;

    pid_t pid = fork();
    if (pid == 0) {
        if (procs >= 0 && write(procs, "0", 1) != 1)
            _exit(1);
        _exit(!write_file(mib));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

/* @return false: not possible on this machine. */
static bool start_known(int procs, const struct known *row, struct toucher *load)
{
    bool has_file = strcmp(row->kind, "file") == 0 || strcmp(row->kind, "read") == 0;

    if (has_file)
        make_file(procs, row->hold_mib);
    *load = toucher_start(procs, row->kind, row->hold_mib, row->touch_mib, FILE_NAME);
    if (has_file)
        unlink(FILE_NAME);
    if (load->pid != 0)
        return true;
    ck_assert_msg(!is_emulated(), "the emulated machine has no %s", row->kind);
    printf("# this machine has no %s\n", row->kind);
    fflush(stdout);
    return false;
}

/* 2 % of what is touched; for nothing touched, what a program needs itself. */
static void check_known(const struct known *row, const struct hr_wss_sample *sample,
                        const char *what)
{
    double mib = (double)sample->referenced_bytes / MIB, wanted = row->touch_mib;

    printf("# %s of %s: %.2f MiB of %d touched, %.1f resident, window %.3f s, scan %.3f s\n",
           row->kind, what, mib, row->touch_mib, (double)sample->rss_bytes / MIB,
           (double)sample->window_ns / 1e9, (double)sample->scan_ns / 1e9);
    fflush(stdout);
    ck_assert_double_ge(mib, wanted * 0.98);
    ck_assert_double_le(mib, wanted + 2.56);
    ck_assert(sample->has_rss);
}

START_TEST(reports_what_a_process_touches)
{
    const struct known *row = &of_processes[_i];
    struct toucher load;

    if (!start_known(-1, row, &load))
        return;
    struct hr_wss *wss = open_process(load.pid);
    struct hr_wss_sample sample = measure(wss, row->touch_mib);
    check_known(row, &sample, "a process");
    ck_assert_uint_eq(sample.process_count, 1);
    ck_assert_double_ge((double)sample.rss_bytes,
                        (strcmp(row->kind, "swap") == 0 ? TOUCH : HOLD) * MIB * 0.99);
    hr_wss_close(wss);
    toucher_end(&load);
}
END_TEST

START_TEST(reports_what_a_group_touches)
{
    const struct known *row = &of_groups[_i];
    struct toucher load;

    groups_make(groups, "a");
    int procs = open_procs("a");
    bool has_kind = start_known(procs, row, &load);
    close(procs);
    if (!has_kind)
        return;
    struct hr_wss *wss = open_group("a");
    struct hr_wss_sample sample = measure(wss, row->touch_mib);
    check_known(row, &sample, "a group");
    ck_assert_uint_eq(sample.process_count, 1);
    hr_wss_close(wss);
    toucher_end(&load);
}
END_TEST

START_TEST(passes_over_files_that_are_only_read)
{
    struct toucher load;

    groups_make(groups, "a");
    int procs = open_procs("a");
    bool has_kind = start_known(procs, &unmapped, &load);
    close(procs);
    if (!has_kind)
        return;
    struct hr_wss *wss = open_group("a");
    struct hr_wss_sample sample = measure(wss, 0);
    check_known(&(struct known){"read", HOLD, 0}, &sample, "a group");
    hr_wss_close(wss);
    toucher_end(&load);
}
END_TEST

/* Both processes of the kind "shared" map the same pages, and have a name of their own. */
START_TEST(counts_shared_pages_once)
{
    char name[HR_PROCESS_NAME_SIZE];
    const struct hr_wss_target target = {.processes = {.by = HR_PROCESS_BY_NAME, .text = name}};

    snprintf(name, sizeof(name), "pair-%d", (int)getpid());
    setenv("TOUCHER_NAME", name, 1);
    struct toucher load = toucher_start(-1, "shared", HOLD, TOUCH, NULL);
    struct hr_wss *wss = open_method(&target);
    struct hr_wss_sample sample = measure(wss, TOUCH);
    check_known(&(struct known){"shared", HOLD, TOUCH}, &sample, "two processes");
    ck_assert_uint_eq(sample.process_count, 2);
    hr_wss_close(wss);
    toucher_end(&load);
}
END_TEST

/* With generations the kernel doesn't maintain idle pages. */
START_TEST(refuses_generations)
{
    struct hr_reason reason;

    if (!is_emulated()) /* others use the machine */
        return;
    write_generations("y");
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_IDLE, HR_WSS_PROCESSES, &reason), -EBUSY);
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_IDLE, HR_WSS_CGROUP, &reason), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, LRU_GEN));
    write_generations("n");
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_IDLE, HR_WSS_CGROUP, &reason), 0);
    struct hr_wss *wss = open_process(getpid());
    begin(wss);
    write_generations("y");
    ck_assert_int_eq(hr_wss_read(wss, HR_NS_PER_S, &(struct hr_wss_sample){0}, &reason), -EBUSY);
    hr_wss_close(wss);
}
END_TEST

/* A measurement continues: what was touched stays touched, and more is added to it. */
START_TEST(adds_up_over_windows)
{
    struct toucher load = toucher_start(-1, "anon", 64, 32, NULL);
    struct hr_wss *wss = open_process(load.pid);
    struct hr_wss_sample first = measure(wss, 32);
    kill(load.pid, SIGSTOP);
    pause_ms(500);
    struct hr_wss_sample second = read_sample(wss);
    begin(wss);
    pause_ms(500);
    struct hr_wss_sample stopped = read_sample(wss);
    kill(load.pid, SIGCONT);
    ck_assert_double_ge((double)first.referenced_bytes, 32 * MIB * 0.98);
    ck_assert_uint_ge(second.referenced_bytes, first.referenced_bytes);
    ck_assert_double_le((double)second.referenced_bytes, 35 * MIB);
    /* pages of libraries are touched by others, too */
    ck_assert_double_le((double)stopped.referenced_bytes, 2.5 * MIB);
    ck_assert_uint_gt(first.scan_ns, 0);
    hr_wss_close(wss);
    toucher_end(&load);
}
END_TEST

START_TEST(distinguishes_groups_from_those_above_and_beside)
{
    groups_make(groups, "a");
    groups_write(groups, "a", "cgroup.subtree_control", "+memory");
    groups_make(groups, "a/b");
    groups_make(groups, "a/b2");
    groups_make(groups, "c");
    struct toucher above = start_in("a/b2", 48, 16);
    struct toucher below = start_in("a/b", 64, 32);
    struct toucher beside = start_in("c", 64, 64);
    struct hr_wss *both = open_group("a"), *one = open_group("a/b");
    struct hr_wss_sample of_both = measure(both, 48);
    struct hr_wss_sample of_one = measure(one, 32);
    check_known(&(struct known){"anon", 112, 48}, &of_both, "a group and two below");
    check_known(&(struct known){"anon", 64, 32}, &of_one, "one of these");
    hr_wss_close(one);
    hr_wss_close(both);
    toucher_end(&above);
    toucher_end(&below);
    toucher_end(&beside);
}
END_TEST

START_TEST(reports_that_the_target_is_gone)
{
    struct hr_wss_sample sample;
    struct hr_reason reason;
    siginfo_t info;

    groups_make(groups, "a");
    struct toucher load = start_in("a", 8, 4);
    struct hr_wss *process = open_process(load.pid), *group = open_group("a");
    begin(process);
    begin(group);
    kill(load.pid, SIGKILL);
    waitid(P_PID, (id_t)load.pid, &info, WEXITED | WNOWAIT);
    ck_assert_int_eq(hr_wss_read(process, HR_NS_PER_S, &sample, &reason), -ESRCH); /* a zombie */
    toucher_end(&load);
    ck_assert_int_eq(hr_wss_read(group, HR_NS_PER_S, &sample, &reason), -ESRCH);
    groups_remove(groups, "a");
    ck_assert_int_eq(hr_wss_read(process, HR_NS_PER_S, &sample, &reason), -ESRCH);
    ck_assert_int_eq(hr_wss_begin(process, HR_NS_PER_S, &reason), -ESRCH);
    ck_assert_int_eq(hr_wss_read(group, HR_NS_PER_S, &sample, &reason), -ENODEV);
    ck_assert_int_eq(hr_wss_begin(group, HR_NS_PER_S, &reason), -ENODEV);
    hr_wss_close(process);
    hr_wss_close(group);
}
END_TEST

START_TEST(reports_that_a_group_lacks_the_controller)
{
    struct hr_reason reason;

    groups_make(groups, "a");
    groups_make(groups, "a/b");
    struct hr_wss *wss = open_group("a/b");
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(reason.text, "cgroup.subtree_control"));
    hr_wss_close(wss);
}
END_TEST

/* --- Pages of others ------------------------------------------------------ */

#define PAIR_PAGES 4096

struct pair {
    pid_t pids[2];
};

/* Faults in a page at each request. */
__attribute__((noreturn)) static void be_one_of_pair(int input, int output)
{
    char *memory =
        mmap(NULL, PAIR_PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char byte;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    madvise(memory, PAIR_PAGES * 4096, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAIR_PAGES && read(input, &byte, 1) == 1; i++) {
        memory[i * 4096] = 1;
        if (write(output, "", 1) != 1)
            _exit(1);
    }
    for (;;)
        pause();
}

/* Two processes that fault in pages in turn, so that these are adjacent in memory: on one CPU, as
 * each CPU has free pages of its own. */
static struct pair start_pair(void)
{
    cpu_set_t cpus;
    struct pair pair;
    int to[2][2], from[2];
    char byte;

    ck_assert_int_eq(pipe(from), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pipe(to[i]), 0);
        pair.pids[i] = fork();
        if (pair.pids[i] == 0)
            be_one_of_pair(to[i][0], from[1]);
        CPU_ZERO(&cpus);
        CPU_SET(0, &cpus);
        sched_setaffinity(pair.pids[i], sizeof(cpus), &cpus); /* best effort */
    }
    for (size_t i = 0; i < 2 * (size_t)PAIR_PAGES; i++) {
        ck_assert_int_eq(write(to[i % 2][1], "", 1), 1);
        ck_assert_int_eq(read(from[0], &byte, 1), 1);
    }
    return pair;
}

static void end_pair(const struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        kill(pair->pids[i], SIGKILL);
        waitpid(pair->pids[i], NULL, 0);
    }
}

static void find_pages(pid_t pid, struct hr_page_set *pages)
{
    struct hr_process process;

    ck_assert_int_eq(hr_process_open(root, pid, &process), 0);
    ck_assert_int_eq(hr_pagemap_read(&process, 0, pages), 0);
    hr_process_close(&process);
}

static bool has_idle_bit(int bitmap, uint64_t pfn)
{
    uint64_t word;

    ck_assert_int_eq(pread(bitmap, &word, 8, (off_t)(pfn / 64 * 8)), 8);
    return word >> pfn % 64 & 1;
}

/* Counts the pages of one process, that the other doesn't have, which are marked, and those that
 * share a word with the other's. */
static uint64_t count_marked(const struct hr_page_set *one, const struct hr_page_set *other,
                             uint64_t *neighbours)
{
    int bitmap = open(HR_PAGE_IDLE_PATH, O_RDONLY);
    struct hr_page_chunk *chunk;
    uint64_t marked = 0;

    ck_assert_int_ge(bitmap, 0);
    *neighbours = 0;
    for (uint64_t pfn = 0; (chunk = hr_page_set_next(one, &pfn)) != NULL;
         pfn += HR_PAGE_CHUNK_PAGES)
        for (unsigned i = 0; hr_page_chunk_next(chunk, &i); i++) {
            if (hr_page_set_has(other, pfn + i))
                continue;
            marked += has_idle_bit(bitmap, pfn + i);
            *neighbours += hr_page_set_has(other, (pfn + i) ^ 1);
        }
    close(bitmap);
    return marked;
}

START_TEST(marks_no_page_of_another_process)
{
    struct pair pair = start_pair();
    struct hr_page_set target = {0}, bystander = {0};
    uint64_t neighbours;

    find_pages(pair.pids[0], &target);
    find_pages(pair.pids[1], &bystander);
    ck_assert_uint_eq(count_marked(&bystander, &target, &neighbours), 0);
    ck_assert_uint_gt(neighbours, PAIR_PAGES / 4);
    struct hr_wss *wss = open_process(pair.pids[0]);
    begin(wss);
    ck_assert_uint_eq(count_marked(&bystander, &target, &neighbours), 0);
    uint64_t own = count_marked(&target, &bystander, &neighbours);
    printf("# %" PRIu64 " pages of the target are marked, of its neighbour none; %" PRIu64
           " lie side by side\n",
           own, neighbours);
    fflush(stdout);
    ck_assert_uint_ge(own, PAIR_PAGES * 98 / 100);
    hr_page_set_free(&target);
    hr_page_set_free(&bystander);
    hr_wss_close(wss);
    end_pair(&pair);
}
END_TEST

/* --- Limits --------------------------------------------------------------- */

/* 256 GiB of reserved addresses, with a page in each 16 GiB present. With a kernel without
 * PAGEMAP_SCAN 512 MiB are read for that. */
START_TEST(passes_over_reserved_addresses)
{
    const size_t size = (size_t)1 << 38, step = (size_t)1 << 34;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    ck_assert_ptr_ne(memory, MAP_FAILED);
    for (size_t i = 0; i < size; i += step)
        memory[i] = 1;
    struct hr_page_set pages = {0};
    uint64_t pfn;
    int fd = open("/proc/self/pagemap", O_RDONLY);
    find_pages(getpid(), &pages);
    for (size_t i = 0; i < size; i += step) {
        ck_assert_int_eq(hr_pagemap_find(fd, (uintptr_t)memory + i, &pfn), 0);
        ck_assert(hr_page_set_has(&pages, pfn));
    }
    close(fd);
    struct hr_wss *wss = open_process(getpid());
    begin(wss);
    struct hr_wss_sample sample = read_sample(wss);
    printf("# 256 GiB reserved: %.3f s\n", (double)sample.scan_ns / 1e9);
    fflush(stdout);
    ck_assert_uint_lt(sample.scan_ns, 5 * HR_NS_PER_S);
    hr_wss_close(wss);
    hr_page_set_free(&pages);
    munmap(memory, size);
}
END_TEST

START_TEST(gives_up_in_time)
{
    const struct hr_wss_options options = {
        .target = {.processes = {.by = HR_PROCESS_BY_PID, .pid = getpid()}},
        .method = HR_WSS_IDLE,
        .max_scan_ns = 1,
    };
    struct hr_reason reason;
    struct hr_wss *wss;

    ck_assert_int_eq(hr_wss_open(root, &options, &wss, NULL), 0);
    ck_assert_int_eq(hr_wss_begin(wss, 10, &reason), -ETIME);
    hr_wss_close(wss);
}
END_TEST

START_TEST(leaves_no_descriptor_open)
{
    int before = count_descriptors();
    struct toucher load = toucher_start(-1, "anon", 8, 4, NULL);
    struct hr_wss *wss = open_process(load.pid);
    measure(wss, 4);
    hr_wss_close(wss);
    toucher_end(&load);
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

/* --- Rights --------------------------------------------------------------- */

START_TEST(reports_that_rights_are_missing)
{
    struct hr_reason reason;
    int status;

    pid_t pid = fork();
    if (pid == 0) {
        if (setuid(65534) < 0)
            _exit(1);
        status = hr_wss_probe(root, HR_WSS_IDLE, HR_WSS_PROCESSES, &reason);
        _exit(status == -EACCES && strstr(reason.text, "run as root") != NULL ? 0 : 2);
    }
    waitpid(pid, &status, 0);
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    struct hr_reason reason;
    TCase *tests = tcase_create("wss idle live");

    if (is_emulated())
        write_generations("n");
    if (hr_root_open("/", &root) < 0 ||
        hr_wss_probe(root, HR_WSS_IDLE, HR_WSS_CGROUP, &reason) < 0) {
        printf("1..0 # SKIP %s\n", reason.text);
        return 0;
    }
    hr_root_close(root);
    start_tlb_flushers();
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, reports_what_a_process_touches, 0, COUNT(of_processes));
    tcase_add_loop_test(tests, reports_what_a_group_touches, 0, COUNT(of_groups));
    tcase_add_test(tests, passes_over_files_that_are_only_read);
    tcase_add_test(tests, counts_shared_pages_once);
    tcase_add_test(tests, adds_up_over_windows);
    tcase_add_test(tests, distinguishes_groups_from_those_above_and_beside);
    tcase_add_test(tests, reports_that_the_target_is_gone);
    tcase_add_test(tests, reports_that_a_group_lacks_the_controller);
    tcase_add_test(tests, marks_no_page_of_another_process);
    tcase_add_test(tests, passes_over_reserved_addresses);
    tcase_add_test(tests, gives_up_in_time);
    tcase_add_test(tests, leaves_no_descriptor_open);
    tcase_add_test(tests, reports_that_rights_are_missing);
    tcase_add_test(tests, refuses_generations);
    int status = run_suite("wss idle live", tests);
    if (is_emulated())
        write_generations("y");
    return status;
}
