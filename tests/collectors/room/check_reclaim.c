/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_reclaim.c - taking memory from a group, in a tree of files; what the kernel
 * answers to a write is made up.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/reclaim.h"
#include "headroom/root.h"
#include "support/one_group.h"
#include "support/room_tree.h"
#include "support/suite.h"
#include "support/tree.h"

#define PARENT "a.slice"
#define GROUP  PARENT "/b.service"

static struct tree *tree;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static struct hr_reclaim *reclaim;
static struct hr_reason reason;
static char written[64];
static int answer; /* a positive errno; 0: it takes what it should */

/* In place of libc's: nothing else here writes at a position. */
ssize_t pwrite(int fd, const void *text, size_t length, off_t position)
{
    (void)fd;
    ck_assert_int_eq(position, 0);
    snprintf(written, sizeof(written), "%.*s", (int)length, (const char *)text);
    errno = answer;
    return answer != 0 ? -1 : (ssize_t)length;
}

static void write_pressure(const char *resource, const char *some10, const char *some60)
{
    char name[32], text[256];

    snprintf(name, sizeof(name), "%s.pressure", resource);
    snprintf(text, sizeof(text),
             "some avg10=%s avg60=%s avg300=9.00 total=1\n"
             "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
             some10, some60);
    room_tree_write(tree, GROUP, name, text);
}

static void write_stat(unsigned anon_mib, unsigned file_mib, unsigned refaults)
{
    char text[512];

    snprintf(text, sizeof(text),
             "anon %llu\ninactive_anon %llu\nactive_anon %llu\ninactive_file %llu\n"
             "active_file %llu\nfile_mapped 0\nslab_reclaimable %llu\n"
             "workingset_refault_anon 1\nworkingset_refault_file %u\n",
             anon_mib * MIB, anon_mib * MIB / 2, anon_mib * MIB / 2, file_mib * MIB / 4 * 3,
             file_mib * MIB / 4, 2 * MIB, refaults);
    room_tree_write(tree, GROUP, "memory.stat", text);
    snprintf(text, sizeof(text), "%llu\n", (anon_mib + file_mib + 2 + 10) * MIB);
    room_tree_write(tree, GROUP, "memory.current", text);
}

static void set_up(void)
{
    tree = tree_new();
    room_tree_add_group(tree, PARENT);
    room_tree_add_group(tree, GROUP);
    room_tree_machine(tree, 1, 1, 0);
    room_tree_write(tree, GROUP, "memory.reclaim", "");
    write_stat(100, 40, 7);
    write_pressure("memory", "0.00", "0.00");
    write_pressure("io", "0.00", "0.00");
    answer = 0;
    written[0] = '\0';
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_reclaim_close(reclaim);
    reclaim = NULL;
    hr_cgroup_set_close(set);
    set = NULL;
    hr_root_close(root);
    tree_free(tree);
}

static int open_reclaim(void)
{
    return hr_reclaim_open(root, one_group_open(root, GROUP, &set), &reclaim, &reason);
}

static struct hr_reclaim_state read_state(void)
{
    struct hr_reclaim_state state;

    ck_assert_int_eq(hr_reclaim_read(reclaim, &state, &reason), 0);
    ck_assert_int_eq(reason.error, 0);
    return state;
}

static void assert_reason(int status, const char *text)
{
    ck_assert_int_eq(reason.error, status);
    ck_assert_msg(strstr(reason.text, text) != NULL, "'%s' isn't in '%s'", text, reason.text);
}

/* --- What there is ---------------------------------------------------------------- */

START_TEST(files_and_slab_can_be_taken)
{
    ck_assert_int_eq(open_reclaim(), 0);
    const struct hr_reclaim_state state = read_state();
    ck_assert_uint_eq(state.current_bytes, 152 * MIB);
    ck_assert_uint_eq(state.takeable_bytes, 42 * MIB);
    ck_assert_uint_eq(state.refault_count, 8);
    ck_assert(state.stalled_pct[HR_PSI_MEMORY] == 0 && state.stalled_pct[HR_PSI_IO] == 0);
    ck_assert_str_eq(written, "");
}
END_TEST

/* Free swap space of the machine in MiB, limits and use of the group and of the one above; what of
 * 100 MiB can be swapped out. */
static const struct {
    unsigned free_mib;
    const char *own_max, *own_used, *above_max, *above_used;
    unsigned swappable_mib;
} swap[] = {
    {60, "max\n", "0\n", "max\n", "0\n", 60},
    {200, "max\n", "0\n", "max\n", "0\n", 100},
    {200, "31457280\n", "10485760\n", "max\n", "99999999\n", 20},
    {200, "31457280\n", "10485760\n", "5242880\n", "0\n", 5},
    {200, "0\n", "0\n", "max\n", "0\n", 0},
    {200, "max\n", "0\n", "1048576\n", "9048576\n", 0},
};

START_TEST(what_fits_swap_space_can_be_taken)
{
    room_tree_machine(tree, 1, 1, swap[_i].free_mib);
    room_tree_write(tree, GROUP, "memory.swap.max", swap[_i].own_max);
    room_tree_write(tree, GROUP, "memory.swap.current", swap[_i].own_used);
    room_tree_write(tree, PARENT, "memory.swap.max", swap[_i].above_max);
    room_tree_write(tree, PARENT, "memory.swap.current", swap[_i].above_used);
    ck_assert_int_eq(open_reclaim(), 0);
    ck_assert_uint_eq(read_state().takeable_bytes, (42 + swap[_i].swappable_mib) * MIB);
}
END_TEST

START_TEST(without_swap_accounting_the_machine_counts)
{
    room_tree_machine(tree, 1, 1, 50);
    tree_remove(tree, TREE_CGROUPS "/" GROUP "/memory.swap.max");
    tree_remove(tree, TREE_CGROUPS "/" PARENT "/memory.swap.max");
    ck_assert_int_eq(open_reclaim(), 0);
    ck_assert_uint_eq(read_state().takeable_bytes, 92 * MIB);
}
END_TEST

START_TEST(the_larger_average_counts)
{
    ck_assert_int_eq(open_reclaim(), 0);
    write_pressure("memory", "0.05", "0.30");
    write_pressure("io", "12.50", "1.00");
    const struct hr_reclaim_state state = read_state();
    ck_assert_double_eq_tol(state.stalled_pct[HR_PSI_MEMORY], 0.3, 1e-9);
    ck_assert_double_eq_tol(state.stalled_pct[HR_PSI_IO], 12.5, 1e-9);
    ck_assert(state.stalled_pct[HR_PSI_CPU] == 0);
}
END_TEST

/* Without it the first sign would be missed. */
START_TEST(without_pressure_it_fails)
{
    static const char *const resources[] = {"memory", "io"};
    struct hr_reclaim_state state = {.current_bytes = 5};

    tree_remove_pressure(tree, GROUP, resources[_i]);
    ck_assert_int_eq(open_reclaim(), 0);
    ck_assert_int_eq(hr_reclaim_read(reclaim, &state, &reason), -ENOENT);
    ck_assert_uint_eq(state.current_bytes, 5);
    assert_reason(-ENOENT, "pressure");
    write_pressure(resources[_i], "x", "0.00");
    ck_assert_int_lt(hr_reclaim_read(reclaim, &state, &reason), 0);
    ck_assert_uint_eq(state.current_bytes, 5);
}
END_TEST

START_TEST(a_text_that_is_not_understood)
{
    struct hr_reclaim_state state = {.current_bytes = 5};

    ck_assert_int_eq(open_reclaim(), 0);
    room_tree_write(tree, GROUP, "memory.stat", "active_file 1\ninactive_file 1\n");
    ck_assert_int_eq(hr_reclaim_read(reclaim, &state, &reason), -ENODATA);
    ck_assert_int_eq(reason.error, -ENODATA);
    ck_assert_uint_eq(state.current_bytes, 5);
}
END_TEST

/* --- Where it can't be ------------------------------------------------------------- */

START_TEST(without_the_controller)
{
    tree_remove(tree, TREE_CGROUPS "/" GROUP "/memory.reclaim");
    tree_remove(tree, TREE_CGROUPS "/" GROUP "/memory.current");
    ck_assert_int_eq(open_reclaim(), -ENOENT);
    assert_reason(-ENOENT, "write +memory to cgroup.subtree_control");
    ck_assert_ptr_null(reclaim);
}
END_TEST

START_TEST(an_old_kernel)
{
    tree_remove(tree, TREE_CGROUPS "/" GROUP "/memory.reclaim");
    ck_assert_int_eq(open_reclaim(), -ENOENT);
    assert_reason(-ENOENT, "Linux 5.19");
}
END_TEST

START_TEST(version_1_is_refused)
{
    tree_write(tree, "proc/1/mounts",
               "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
               "cgroup /v1/memory cgroup rw,memory 0 0\n");
    tree_write(tree, "v1/memory/cgroup.procs", "1\n");
    tree_write(tree, "v1/memory/" GROUP "/memory.usage_in_bytes", "1\n");
    tree_remove(tree, TREE_CGROUPS "/" GROUP "/memory.reclaim");
    tree_remove(tree, TREE_CGROUPS "/" GROUP "/memory.current");
    ck_assert_int_eq(open_reclaim(), -EOPNOTSUPP);
    assert_reason(-EOPNOTSUPP, "version 1");
}
END_TEST

START_TEST(a_group_that_is_gone)
{
    struct hr_reclaim_state state;
    const struct hr_cgroup *group = one_group_open(root, GROUP, &set);

    ck_assert_int_eq(hr_reclaim_open(root, group, &reclaim, &reason), 0);
    tree_remove_group(tree, GROUP);
    ck_assert_int_eq(hr_reclaim_read(reclaim, &state, &reason), -ENODEV);
    assert_reason(-ENODEV, "no such cgroup");
    hr_reclaim_close(reclaim);
    reclaim = NULL;
    ck_assert_int_eq(hr_reclaim_open(root, group, &reclaim, &reason), -ENODEV);
    assert_reason(-ENODEV, "no such cgroup");
}
END_TEST

/* --- Taking ------------------------------------------------------------------------ */

START_TEST(bytes_are_written)
{
    ck_assert_int_eq(open_reclaim(), 0);
    ck_assert_int_eq(hr_reclaim_take(reclaim, 5 * MIB, &reason), 0);
    ck_assert_str_eq(written, "5242880");
    ck_assert_int_eq(hr_reclaim_take(reclaim, 4096, NULL), 0);
    ck_assert_str_eq(written, "4096");
}
END_TEST

/* What the kernel answers, and what users are shown; nothing where that is no failure. */
static const struct {
    int error;
    const char *text;
} answers[] = {
    {EAGAIN, ""},
    {EINTR, ""},
    {EACCES, "no permission"},
    {EPERM, "run this as root"},
    {EROFS, "run this on the host"},
    {ENODEV, "no such cgroup"},
    {EINVAL, "Invalid argument"},
};

START_TEST(what_the_kernel_answers)
{
    ck_assert_int_eq(open_reclaim(), 0);
    answer = answers[_i].error;
    ck_assert_int_eq(hr_reclaim_take(reclaim, MIB, &reason), -answer);
    if (answers[_i].text[0] == '\0')
        ck_assert_int_eq(reason.error, 0);
    else
        assert_reason(-answer, answers[_i].text);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("reclaim");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, files_and_slab_can_be_taken);
    tcase_add_loop_test(tests, what_fits_swap_space_can_be_taken, 0,
                        sizeof(swap) / sizeof(swap[0]));
    tcase_add_test(tests, without_swap_accounting_the_machine_counts);
    tcase_add_test(tests, the_larger_average_counts);
    tcase_add_loop_test(tests, without_pressure_it_fails, 0, 2);
    tcase_add_test(tests, a_text_that_is_not_understood);
    tcase_add_test(tests, without_the_controller);
    tcase_add_test(tests, an_old_kernel);
    tcase_add_test(tests, version_1_is_refused);
    tcase_add_test(tests, a_group_that_is_gone);
    tcase_add_test(tests, bytes_are_written);
    tcase_add_loop_test(tests, what_the_kernel_answers, 0, sizeof(answers) / sizeof(answers[0]));
    return run_suite("reclaim", tests);
}
