/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss_referenced.c - the referenced method of several processes, in a tree of
 * files: memory that they share, and that of which their group isn't charged.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "headroom/root.h"
#include "headroom/wss.h"
#include "support/suite.h"
#include "support/tree.h"
#include "wss/touched.h"

#define KIB UINT64_C(1024)

#define BACKENDS 20

static struct tree *tree;
static struct hr_root *root;
static struct hr_wss *wss;
static struct hr_reason reason;
static struct hr_wss_sample sample;

/* A line of maps, up to the permissions and from there. */
#define SHARED "7f0000000000-7f0200000000 rw-s 00000000 00:01 4711   /SYSV00000001 (deleted)"
#define OWN    "55a000000000-55a000100000 rw-p 00000000 00:00 0      [heap]"

#define MAPPING "%s\nSize: 4 kB\nRss: %d kB\nPss: %d kB\nReferenced: %d kB\nVmFlags: rd wr\n"

/* A process with memory of its own, and shared memory, amounts in KiB. */
static void write_memory(int pid, int rss, int pss, int touched, int own)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/smaps", pid);
    tree_write(tree, path, MAPPING MAPPING, SHARED, rss, pss, touched, OWN, own, own, own);
    snprintf(path, sizeof(path), "proc/%d/smaps_rollup", pid);
    tree_write(tree, path,
               "1-2 ---p 0 00:00 0 [rollup]\nRss: %d kB\nPss: %d kB\nReferenced: %d kB\n",
               rss + own, pss + own, touched + own);
    tree_set_shareable(tree, pid, (uint64_t)(rss + own) * KIB, (uint64_t)rss * KIB);
}

static void add_process(int pid, const char *name, uint64_t started)
{
    char path[64];

    tree_add_process(tree, &(struct tree_process){.pid = pid, .name = name, .started = started});
    snprintf(path, sizeof(path), "proc/%d/clear_refs", pid);
    tree_write(tree, path, "%s", "");
}

static void set_up(void)
{
    tree = tree_new();
    wss = NULL;
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    add_process(1, "init", 1);
    write_memory(1, 4, 4, 4, 4);
    for (int i = 0; i < BACKENDS; i++)
        add_process(100 + i, "postgres", 500);
}

static void tear_down(void)
{
    hr_wss_close(wss);
    hr_root_close(root);
    tree_free(tree);
}

static void open_backends(uint64_t max_rss_bytes)
{
    const struct hr_wss_options options = {
        .target = {.scope = HR_WSS_PROCESSES,
                   .processes = {.by = HR_PROCESS_BY_NAME, .text = "postgres"}},
        .method = HR_WSS_REFERENCED,
        .max_rss_bytes = max_rss_bytes,
    };

    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
}

static void open_group(void)
{
    const struct hr_wss_options options = {
        .target = {.scope = HR_WSS_CGROUP, .cgroup = "a.slice"},
        .method = HR_WSS_REFERENCED,
        .max_rss_bytes = 1 << 30,
    };

    tree_add_group(tree, "a.slice", false);
    tree_write(tree, TREE_CGROUPS "/a.slice/cgroup.procs", "100\n101\n");
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
}

static int begin(void)
{
    return hr_wss_begin(wss, 1000000000, &reason);
}

static int read_sample(void)
{
    return hr_wss_read(wss, 1000000000, &sample, &reason);
}

/* --- Adding up ------------------------------------------------------------ */

/* Three processes, each with a mapping: its start, the file's inode and offset, and amounts. */
static const struct {
    struct {
        uint64_t start, inode, offset, rss, pss, touched;
    } mappings[3];
    uint64_t sum;
} sums[] = {
    {{{0}}, 0},
    /* private */
    {{{1, 0, 0, 50, 50, 10}, {2, 0, 0, 50, 50, 20}, {1, 0, 0, 50, 50, 30}}, 60},
    /* of all three: the same pages; others; some touch nothing */
    {{{1, 7, 0, 90, 30, 90}, {2, 7, 0, 90, 30, 90}, {3, 7, 0, 90, 30, 90}}, 90},
    {{{1, 7, 0, 30, 30, 30}, {2, 7, 0, 30, 30, 20}, {3, 7, 0, 30, 30, 10}}, 60},
    {{{1, 7, 0, 90, 30, 90}, {2, 7, 0, 90, 30, 0}, {3, 7, 0, 90, 30, 0}}, 90},
    {{{1, 7, 0, 90, 30, 60}, {2, 7, 0, 90, 30, 60}, {3, 7, 0, 90, 30, 60}}, 60},
    /* shared with others than these three */
    {{{1, 7, 0, 90, 9, 90}, {2, 7, 0, 90, 9, 40}, {3, 7, 0, 90, 9, 0}}, 90},
    /* shared in part: 30 of 60 are one's own */
    {{{1, 7, 0, 60, 40, 60}, {2, 7, 0, 60, 40, 60}, {3, 7, 0, 60, 40, 60}}, 120},
    /* other files, other parts, and the copy of a process that forked */
    {{{1, 7, 0, 90, 30, 90}, {1, 8, 0, 90, 30, 80}, {1, 7, 4096, 90, 30, 70}}, 240},
    {{{1, 0, 0, 90, 30, 90}, {1, 0, 0, 90, 30, 90}, {1, 0, 0, 90, 30, 90}}, 90},
    {{{1, 0, 0, 90, 30, 90}, {2, 0, 0, 90, 30, 90}, {1, 0, 0, 90, 30, 90}}, 180},
};

START_TEST(adds_shared_memory_once)
{
    struct hr_wss_touched touched = {0};

    for (int i = 0; i < 3; i++) {
        const struct hr_smaps_mapping mapping = {
            .start = sums[_i].mappings[i].start,
            .inode = sums[_i].mappings[i].inode,
            .offset = sums[_i].mappings[i].offset,
            .sums = {true, true, true, sums[_i].mappings[i].rss, sums[_i].mappings[i].pss,
                     sums[_i].mappings[i].touched},
        };
        ck_assert_int_eq(hr_wss_touched_add(&touched, &mapping), 0);
    }
    ck_assert_uint_eq(hr_wss_touched_bytes(&touched), sums[_i].sum);
    hr_wss_touched_free(&touched);
}
END_TEST

/* More mappings than the table has room for at first. */
START_TEST(adds_up_many_mappings)
{
    struct hr_wss_touched touched = {0};
    struct hr_smaps_mapping mapping = {.sums = {true, true, true, 40, 10, 20}};

    for (int round = 0; round < 3; round++)
        for (uint64_t i = 0; i < 5000; i++) {
            mapping.start = i << 12;
            mapping.inode = i % 2;
            mapping.offset = i << 21;
            ck_assert_int_eq(hr_wss_touched_add(&touched, &mapping), 0);
        }
    ck_assert_uint_eq(hr_wss_touched_bytes(&touched), 5000 * 20);
    hr_wss_touched_free(&touched);
}
END_TEST

/* --- Processes ------------------------------------------------------------ */

/* 8 GiB of shared memory, all of which each process touches, and 100 KiB of its own. */
START_TEST(counts_shared_memory_once)
{
    for (int i = 0; i < BACKENDS; i++)
        write_memory(100 + i, 8 << 20, (8 << 20) / BACKENDS, 8 << 20, 100);
    open_backends(0);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_uint_eq(sample.process_count, BACKENDS);
    ck_assert_uint_eq(sample.referenced_bytes, (8 << 20) * KIB + BACKENDS * 100 * KIB);
    ck_assert_uint_eq(sample.rss_bytes, BACKENDS * ((8 << 20) + 100) * KIB);
    ck_assert_uint_eq(sample.pss_bytes, BACKENDS * ((8 << 20) / BACKENDS + 100) * KIB);
    ck_assert(sample.has_rss && sample.has_pss);
}
END_TEST

static const struct {
    const char *flags, *written; /* of our own first mapping, and to clear_refs */
} kernels[] = {
    {"VmFlags: rd ex mr mw me sd \n", "1"},
    {"VmFlags: rd ex mr mw me \n", "14"},
    {"VmFlags: rd ex mr mw me\n", "14"},
    {"VmFlags: rd ex mr mw me ", "1"}, /* incomplete */
    {"", "1"},
};

/* Pages that stay in a TLB get no new bit; flushing them is free where no soft-dirty bits are. */
START_TEST(flushes_tlbs_where_that_is_free)
{
    char path[PATH_MAX], written[8] = "";

    write_memory(100, 4, 4, 4, 4);
    tree_write(tree, "proc/self/smaps", "%s\nRss: 4 kB\n%s%s", OWN, kernels[_i].flags,
               _i == 1 ? SHARED "\nVmFlags: rd sd\n" : "");
    open_backends(0);
    ck_assert_int_eq(begin(), 0);
    snprintf(path, sizeof(path), "%s/proc/100/clear_refs", tree_path(tree));
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(written, sizeof(written), file));
    fclose(file);
    ck_assert_str_eq(written, kernels[_i].written);
}
END_TEST

/* One process's own part isn't known: all that it touches is its working set. */
START_TEST(counts_all_of_a_single_process)
{
    for (int i = 1; i < BACKENDS; i++) {
        char path[32];
        snprintf(path, sizeof(path), "proc/%d", 100 + i);
        tree_remove(tree, path);
    }
    write_memory(100, 4096, 4096 / BACKENDS, 2048, 100);
    open_backends(0);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_uint_eq(sample.referenced_bytes, 2148 * KIB);
}
END_TEST

START_TEST(counts_shared_memory_once_for_the_limit)
{
    for (int i = 0; i < BACKENDS; i++)
        write_memory(100 + i, 4096, 4096 / BACKENDS, 0, 100);
    open_backends((4096 + BACKENDS * 100) * KIB);
    ck_assert_int_eq(begin(), 0);
    write_memory(100, 4100, 4096 / BACKENDS, 0, 100);
    ck_assert_int_eq(begin(), -EFBIG);
}
END_TEST

/* --- A cgroup ------------------------------------------------------------- */

static const struct {
    const char *current; /* NULL: there is no such file */
    uint64_t touched_kib;
} charges[] = {
    {NULL, 4096 + 200},         {"1048576\n", 1024}, {"999999999999\n", 4096 + 200},
    {"nonsense\n", 4096 + 200}, {"0\n", 4096 + 200},
};

/* What is charged to another group can't be taken away from this one. */
START_TEST(touches_no_more_than_it_is_charged_for)
{
    for (int i = 0; i < 2; i++)
        write_memory(100 + i, 8192, 4096, 4096, 100);
    open_group();
    if (charges[_i].current != NULL)
        tree_write(tree, TREE_CGROUPS "/a.slice/memory.current", "%s", charges[_i].current);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_uint_eq(sample.referenced_bytes, charges[_i].touched_kib * KIB);
}
END_TEST

START_TEST(is_limited_by_what_a_group_is_charged_for)
{
    for (int i = 0; i < 2; i++)
        write_memory(100 + i, 4, 4, 4, 1 << 20);
    open_group();
    ck_assert_int_eq(begin(), -EFBIG);
    tree_write(tree, TREE_CGROUPS "/a.slice/memory.current", "%" PRIu64 "\n", 1024 * 1024 * KIB);
    ck_assert_int_eq(begin(), 0);
    tree_write(tree, TREE_CGROUPS "/a.slice/memory.current", "%" PRIu64 "\n",
               1024 * 1024 * KIB + 1);
    ck_assert_int_eq(begin(), -EFBIG);
}
END_TEST

/* --- Newcomers ------------------------------------------------------------ */

/* A process began, another ended, and one that isn't of the target began, too. */
START_TEST(counts_newcomers)
{
    for (int i = 0; i < BACKENDS; i++)
        write_memory(100 + i, 4096, 4096 / BACKENDS, 0, 4);
    open_backends(0);
    ck_assert_int_eq(begin(), 0);
    add_process(300, "postgres", 600);
    write_memory(300, 4096, 4096 / BACKENDS, 1024, 2000);
    add_process(301, "other", 600);
    write_memory(301, 4, 4, 4, 50000);
    tree_remove(tree, "proc/100");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(read_sample(), 0);
        ck_assert_uint_eq(sample.process_count, BACKENDS);
        ck_assert_uint_eq(sample.ended_count, 1);
        ck_assert_uint_eq(sample.referenced_bytes, (1024 + 2000 + (BACKENDS - 1) * 4) * KIB);
    }
    tree_remove(tree, "proc/300");
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_uint_eq(sample.referenced_bytes, (BACKENDS - 1) * 4 * KIB);
}
END_TEST

START_TEST(counts_newcomers_when_all_others_have_ended)
{
    char path[32];

    for (int i = 0; i < BACKENDS; i++)
        write_memory(100 + i, 4, 4, 4, 4);
    open_backends(0);
    ck_assert_int_eq(begin(), 0);
    for (int i = 0; i < BACKENDS; i++) {
        snprintf(path, sizeof(path), "proc/%d", 100 + i);
        tree_remove(tree, path);
    }
    ck_assert_int_eq(read_sample(), -ESRCH);
    add_process(300, "postgres", 600);
    write_memory(300, 4, 4, 4, 1000);
    /* The names that were read serve for a tenth of the time since the beginning. */
    int status = read_sample();
    for (int i = 0; i < 10000 && status == -ESRCH; i++) {
        usleep(1000);
        status = read_sample();
    }
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(sample.referenced_bytes, 1004 * KIB);
}
END_TEST

static uint64_t now_ticks(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) /
           (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* A process that was moved into the group touched what another group is charged for. */
START_TEST(counts_only_those_that_began_in_the_group)
{
    for (int i = 0; i < 2; i++)
        write_memory(100 + i, 4, 4, 0, 4);
    open_group();
    ck_assert_int_eq(begin(), 0);
    add_process(300, "moved", 600);
    write_memory(300, 4, 4, 0, 1000);
    add_process(301, "new", now_ticks());
    write_memory(301, 4, 4, 0, 500);
    tree_write(tree, TREE_CGROUPS "/a.slice/cgroup.procs", "100\n101\n300\n301\n");
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_uint_eq(sample.process_count, 3);
    ck_assert_uint_eq(sample.left_count, 0);
    ck_assert_uint_eq(sample.referenced_bytes, 508 * KIB);
}
END_TEST

/* --- Virtual machines ----------------------------------------------------- */

static void add_link(int pid, int fd, const char *target)
{
    char path[128];

    snprintf(path, sizeof(path), "proc/%d/fd", pid);
    tree_add_directory(tree, path);
    snprintf(path, sizeof(path), "%s/proc/%d/fd/%d", tree_path(tree), pid, fd);
    ck_assert_int_eq(symlink(target, path), 0);
}

static const struct {
    const char *first, *second; /* what its descriptors are */
    bool has_kvm;
    int status;
} guests[] = {
    {"/dev/null", "anon_inode:kvm-vm", true, -EOPNOTSUPP},
    {"anon_inode:kvm-vm", "socket:[1]", true, -EOPNOTSUPP},
    {"/dev/kvm", "anon_inode:kvm-vcpu:0", true, 0},
    {"anon_inode:kvm-vm2", "anon_inode:kvm-v", true, 0},
    {"anon_inode:kvm-vm", "anon_inode:kvm-vm", false, 0}, /* never looked at */
};

START_TEST(refuses_virtual_machines)
{
    for (int i = 0; i < BACKENDS; i++)
        write_memory(100 + i, 4, 4, 4, 4);
    if (guests[_i].has_kvm)
        tree_add_directory(tree, "sys/module/kvm");
    open_backends(0);
    ck_assert_int_eq(begin(), 0);
    add_link(107, 3, guests[_i].first);
    add_link(107, 4, guests[_i].second);
    ck_assert_int_eq(begin(), guests[_i].status);
    if (guests[_i].status == 0)
        return;
    ck_assert_ptr_nonnull(strstr(reason.text, "postgres[107] runs a virtual machine"));
    ck_assert_ptr_nonnull(strstr(reason.text, "choose idle or damon"));
}
END_TEST

static const struct {
    const char *name;
    enum hr_wss_scope scope;
    enum hr_wss_method takes;
} machines[] = {
    {"postgres", HR_WSS_PROCESSES, HR_WSS_DAMON},
    {"init", HR_WSS_PROCESSES, HR_WSS_REFERENCED},
    {"nothing", HR_WSS_PROCESSES, HR_WSS_REFERENCED},
    {"", HR_WSS_CGROUP, HR_WSS_LRU_GEN},
};

START_TEST(takes_another_method_for_virtual_machines)
{
    struct hr_wss_options options = {
        .target = {.scope = machines[_i].scope,
                   .processes = {.by = HR_PROCESS_BY_NAME, .text = machines[_i].name},
                   .cgroup = "a.slice"},
        .method = HR_WSS_AUTO,
    };

    tree_add_group(tree, "a.slice", false);
    tree_write(tree, TREE_CGROUPS "/a.slice/cgroup.procs", "100\n");
    tree_write(tree, "sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "0\n");
    tree_write(tree, "sys/kernel/mm/lru_gen/enabled", "0x0007\n");
    tree_write(tree, "sys/kernel/debug/lru_gen", "%s", "");
    tree_add_directory(tree, "sys/module/kvm");
    add_link(100, 3, "anon_inode:kvm-vm");
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    begin();
    ck_assert_int_eq(hr_wss_method(wss), machines[_i].takes);
}
END_TEST

/* --- DAMON ---------------------------------------------------------------- */

#define KDAMONDS "/sys/kernel/mm/damon/admin/kdamonds"
#define STAT     "/sys/module/damon_stat/parameters/enabled"

/* While it is at work, large folios count as a whole. */
START_TEST(notices_damon)
{
    write_memory(1, 4, 4, 4, 4);
    const struct hr_wss_options options = {
        .target = {.scope = HR_WSS_PROCESSES, .processes = {.by = HR_PROCESS_BY_PID, .pid = 1}},
        .method = HR_WSS_REFERENCED,
    };

    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_ptr_null(sample.damon_path);
    tree_write(tree, KDAMONDS "/nr_kdamonds", "2\n");
    tree_write(tree, KDAMONDS "/0/state", "off\n");
    tree_write(tree, KDAMONDS "/1/state", "off\n");
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_ptr_null(sample.damon_path);
    tree_write(tree, KDAMONDS "/1/state", "on\n");
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_str_eq(sample.damon_path, KDAMONDS);
    tree_write(tree, KDAMONDS "/nr_kdamonds", "0\n");
    tree_write(tree, STAT, "Y\n");
    ck_assert_int_eq(read_sample(), 0);
    ck_assert_str_eq(sample.damon_path, STAT);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof(array[0]))

int main(void)
{
    TCase *tests = tcase_create("wss_referenced");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, adds_shared_memory_once, 0, COUNT(sums));
    tcase_add_test(tests, adds_up_many_mappings);
    tcase_add_test(tests, counts_shared_memory_once);
    tcase_add_loop_test(tests, flushes_tlbs_where_that_is_free, 0,
                        sizeof(kernels) / sizeof(kernels[0]));
    tcase_add_test(tests, counts_all_of_a_single_process);
    tcase_add_test(tests, counts_shared_memory_once_for_the_limit);
    tcase_add_loop_test(tests, touches_no_more_than_it_is_charged_for, 0, COUNT(charges));
    tcase_add_test(tests, is_limited_by_what_a_group_is_charged_for);
    tcase_add_test(tests, counts_newcomers);
    tcase_add_test(tests, counts_newcomers_when_all_others_have_ended);
    tcase_add_test(tests, counts_only_those_that_began_in_the_group);
    tcase_add_loop_test(tests, refuses_virtual_machines, 0, COUNT(guests));
    tcase_add_loop_test(tests, takes_another_method_for_virtual_machines, 0, COUNT(machines));
    tcase_add_test(tests, notices_damon);
    return run_suite("wss_referenced", tests);
}
