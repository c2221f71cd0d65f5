/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_root.c - the root directory: opening files beneath it, and finding cgroup
 * mounts.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct tree *tree;
static struct hr_root *root;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_root_close(root);
    tree_free(tree);
}

/* No symbolic link leads out of the root. */
START_TEST(stays_in_the_root)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/proc/out", tree_path(tree));
    ck_assert_int_eq(symlink("/etc", path), 0);
    ck_assert_int_eq(hr_root_openat(root, "proc/out/passwd", O_RDONLY), -ENOENT);
    ck_assert_int_eq(hr_root_openat(root, "../../../../../../etc/passwd", O_RDONLY), -ENOENT);
    int fd = hr_root_openat(root, "/proc/pressure/cpu", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    close(fd);
    tree_remove(tree, "proc/out");
    ck_assert_int_eq(hr_root_open("/no/such", &root), -ENOENT);
}
END_TEST

/* Renames a file for ever. */
__attribute__((noreturn)) static void rename_for_ever(void)
{
    char names[2][512];

    for (int i = 0; i < 2; i++)
        snprintf(names[i], sizeof(names[i]), "%s/%d", tree_path(tree), i);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0;; i ^= 1)
        rename(names[i], names[i ^ 1]);
}

/* While anything is renamed or mounted, openat2() may fail with EAGAIN. */
START_TEST(goes_on_while_files_are_renamed)
{
    tree_write(tree, "0", "%s", "");
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        rename_for_ever();
    for (int i = 0; i < 5000; i++) {
        int fd = hr_root_openat(root, "proc/../proc/pressure/cpu", O_RDONLY);
        ck_assert_int_ge(fd, 0);
        close(fd);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
END_TEST

#define V2      "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
#define HYBRID  "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nosuid 0 0\n"
#define SYSTEMD "cgroup /sys/fs/cgroup/systemd cgroup rw,xattr,name=systemd 0 0\n"
#define CPU     "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n"
#define PERF    "cgroup /sys/fs/cgroup/perf_event cgroup rw,nosuid,relatime,perf_event 0 0\n"
#define ALL     "cgroup /sys/fs/all\\040in\\040one cgroup rw,cpu,perf_event,pids 0 0\n"

static const struct {
    const char *mounts;
    const char *controller;
    int version; /* or a negative errno */
    const char *place;
} hierarchies[] = {
    {V2, "perf_event", 2, "sys/fs/cgroup"},
    {V2, NULL, 2, "sys/fs/cgroup"},
    {PERF, "perf_event", 1, "sys/fs/cgroup/perf_event"},
    {PERF, NULL, -ENOENT, NULL},
    {PERF, "cpu", -ENOENT, NULL},
    {SYSTEMD CPU PERF HYBRID, "perf_event", 1, "sys/fs/cgroup/perf_event"},
    {HYBRID SYSTEMD CPU PERF, "perf_event", 1, "sys/fs/cgroup/perf_event"},
    {SYSTEMD CPU PERF HYBRID, NULL, 2, "sys/fs/cgroup/unified"},
    {SYSTEMD CPU HYBRID, "perf_event", 2, "sys/fs/cgroup/unified"},
    {SYSTEMD CPU, "perf_event", -ENOENT, NULL},
    {"", "perf_event", -ENOENT, NULL},
    /* with other controllers */
    {CPU HYBRID, "cpuacct", 1, "sys/fs/cgroup/cpu,cpuacct"},
    {CPU HYBRID, "cpu", 1, "sys/fs/cgroup/cpu,cpuacct"},
    {CPU HYBRID, "acct", 2, "sys/fs/cgroup/unified"},
    {ALL HYBRID, "perf_event", 1, "sys/fs/all in one"},
    {ALL HYBRID, "pids", 1, "sys/fs/all in one"},
    {ALL HYBRID, "perf", 2, "sys/fs/cgroup/unified"},
    /* a hierarchy's name is no controller, nor is an option of another file system */
    {"cgroup /sys/fs/cgroup/systemd cgroup rw,name=perf_event 0 0\n" HYBRID, "perf_event", 2,
     "sys/fs/cgroup/unified"},
    {"x /sys/fs/cgroup/systemd overlay rw,perf_event 0 0\n" HYBRID, "perf_event", 2,
     "sys/fs/cgroup/unified"},
    /* mounted twice, once where it can't be opened */
    {"cgroup /gone cgroup rw,perf_event 0 0\n" PERF HYBRID, "perf_event", 1,
     "sys/fs/cgroup/perf_event"},
    /* or where it isn't permitted, or no directory, as by a mount of a file over it */
    {"cgroup /proc/1/mounts cgroup rw,perf_event 0 0\n" PERF HYBRID, "perf_event", 1,
     "sys/fs/cgroup/perf_event"},
    {"cgroup2 /proc/1/mounts cgroup2 rw 0 0\n" HYBRID, NULL, 2, "sys/fs/cgroup/unified"},
    {"cgroup2 /proc/1/mounts cgroup2 rw 0 0\ncgroup2 /gone cgroup2 rw 0 0\n", NULL, -ENOTDIR, NULL},
    {"cgroup2 /gone cgroup2 rw 0 0\ncgroup2 /proc/1/mounts cgroup2 rw 0 0\n", NULL, -ENOTDIR, NULL},
    /* version 1 has the controller, so that it isn't cgroup2's, though it can't be opened */
    {"cgroup /gone cgroup rw,perf_event 0 0\n" HYBRID, "perf_event", -ENOENT, NULL},
    {"cgroup /proc cgroup rw,perf_event 0 0\n" HYBRID, "perf_event", -ENOENT, NULL},
};

/* Adds all hierarchies of the mount tables above. */
static void add_hierarchies(const char *mounts)
{
    tree_write(tree, "proc/1/mounts", "%s", mounts);
    tree_write(tree, "sys/fs/cgroup/unified/cgroup.procs", "1\n");
    tree_write(tree, "sys/fs/cgroup/systemd/cgroup.procs", "1\n");
    tree_write(tree, "sys/fs/cgroup/cpu,cpuacct/cgroup.procs", "1\n");
    tree_write(tree, "sys/fs/cgroup/perf_event/cgroup.procs", "1\n");
    tree_write(tree, "sys/fs/all in one/cgroup.procs", "1\n");
}

START_TEST(finds_the_hierarchy_of_a_controller)
{
    struct stat opened, expected;
    int version = 4711;

    add_hierarchies(hierarchies[_i].mounts);
    int fd = hr_root_open_cgroup(root, hierarchies[_i].controller, &version);
    if (hierarchies[_i].version < 0) {
        ck_assert_int_eq(fd, hierarchies[_i].version);
        ck_assert_int_eq(version, 4711);
        return;
    }
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(version, hierarchies[_i].version);
    int place = hr_root_openat(root, hierarchies[_i].place, O_PATH);
    ck_assert_int_eq(fstat(place, &expected), 0);
    ck_assert_int_eq(fstat(fd, &opened), 0);
    ck_assert_uint_eq(opened.st_ino, expected.st_ino);
    ck_assert_int_ge(fcntl(fd, F_GETFD) & FD_CLOEXEC, 1);
    close(place);
    close(fd);
    fd = hr_root_open_cgroup(root, hierarchies[_i].controller, NULL);
    ck_assert_int_ge(fd, 0);
    close(fd);
}
END_TEST

START_TEST(finds_no_hierarchy_without_a_mount_table)
{
    tree_remove(tree, "proc/1/mounts");
    ck_assert_int_eq(hr_root_open_cgroup(root, "perf_event", NULL), -ENOENT);
    ck_assert_int_eq(hr_root_open_cgroup2(root), -ENOENT);
}
END_TEST

/* The first mount of cgroup2 that this machine lists; false if it lists none. */
static bool find_cgroup2(struct stat *found)
{
    FILE *table = setmntent("/proc/self/mounts", "r");
    const struct mntent *entry;
    bool is_found = false;

    ck_assert_ptr_nonnull(table);
    while (!is_found && (entry = getmntent(table)) != NULL)
        is_found = strcmp(entry->mnt_type, "cgroup2") == 0 && stat(entry->mnt_dir, found) == 0;
    endmntent(table);
    return is_found;
}

/* By libcgroup, too, where this was built with it. */
START_TEST(finds_cgroup2_of_this_machine)
{
    struct hr_root *live;
    struct stat listed, opened;

    ck_assert_int_eq(hr_root_open("/", &live), 0);
    int fd = hr_root_open_cgroup2(live);
    if (find_cgroup2(&listed)) {
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(fstat(fd, &opened), 0);
        ck_assert_uint_eq(opened.st_dev, listed.st_dev);
        ck_assert_uint_eq(opened.st_ino, listed.st_ino);
        close(fd);
    } else {
        ck_assert_int_eq(fd, -ENOENT);
    }
    hr_root_close(live);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("root");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, stays_in_the_root);
    tcase_add_test(tests, goes_on_while_files_are_renamed);
    tcase_add_loop_test(tests, finds_the_hierarchy_of_a_controller, 0, COUNT(hierarchies));
    tcase_add_test(tests, finds_no_hierarchy_without_a_mount_table);
    tcase_add_test(tests, finds_cgroup2_of_this_machine);
    return run_suite("root", tests);
}
