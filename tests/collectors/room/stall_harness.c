/* SPDX-License-Identifier: MIT */
#include "collectors/room/stall_harness.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/root.h"
#include "psi/file.h"

#define WINDOW_US 500000
#define ROUNDS    2
#define WINDOWS   4

struct groups *groups;

struct hr_root *root;
static struct groups *limiting; /* with the controller: the same, or version 1's */
static struct hr_cgroup_set *set;
static char enable[32];

/* What version 1 calls a controller. */
static const char *name_in_version_1(const char *controller)
{
    return strcmp(controller, "io") == 0 ? "blkio" : controller;
}

static int version_of(const char *controller)
{
    int version = 0;
    int mount = hr_root_open_cgroup(root, name_in_version_1(controller), &version);

    if (mount >= 0)
        close(mount);
    return version;
}

void set_up_groups(const char *controller)
{
    ck_assert_int_eq(hr_root_open("/", &root), 0);
    groups = groups_new();
    ck_assert_ptr_nonnull(groups);
    limiting = version_of(controller) == 1 ? groups_new_v1(name_in_version_1(controller)) : groups;
    ck_assert_ptr_nonnull(limiting);
    snprintf(enable, sizeof(enable), "+%s", controller);
    if (limiting == groups)
        groups_write(groups, ".", "cgroup.subtree_control", enable);
    set = NULL;
}

void tear_down_groups(void)
{
    hr_cgroup_set_close(set);
    groups_free(groups);
    if (limiting != groups)
        groups_free(limiting);
    hr_root_close(root);
}

/* --- Groups in both hierarchies -------------------------------------------- */

void make_group(const char *name)
{
    groups_make(groups, name);
    if (limiting != groups)
        groups_make(limiting, name);
}

void remove_group(const char *name)
{
    groups_remove(groups, name);
    if (limiting != groups)
        groups_remove(limiting, name);
}

void make_parent(const char *name)
{
    make_group(name);
    if (limiting == groups)
        groups_write(groups, name, "cgroup.subtree_control", enable);
}

void limit_group(const char *name, const char *v2_file, const char *v2_text, const char *v1_file,
                 const char *v1_text)
{
    if (limiting == groups)
        groups_write(groups, name, v2_file, v2_text);
    else if (v1_file != NULL)
        groups_write(limiting, name, v1_file, v1_text);
}

void prefer(const char *name)
{
    limit_group(".", "cpu.weight", "10000", "cpu.shares", "262144");
    limit_group(name, "cpu.weight", "10000", "cpu.shares", "262144");
}

pid_t join_group(const char *name, pid_t pid)
{
    char text[32];

    snprintf(text, sizeof(text), "%d", (int)pid);
    if (limiting != groups)
        groups_write(limiting, name, "cgroup.procs", text);
    return pid;
}

pid_t fork_into_group(const char *name)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (name != NULL) {
        groups_write(groups, name, "cgroup.procs", "0");
        if (limiting != groups)
            groups_write(limiting, name, "cgroup.procs", "0");
    }
    return 0;
}

const struct hr_cgroup *find_group(const char *name)
{
    char pattern[128];
    const char *patterns[] = {pattern};
    const struct hr_cgroup_options options = {.patterns = patterns, .pattern_count = 1};
    const struct hr_cgroup *group = NULL;

    snprintf(pattern, sizeof(pattern), "%s/%s", groups_path(groups), name);
    hr_cgroup_set_close(set);
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    for (int i = 0; group == NULL && i < 1000; i++) {
        ck_assert_int_eq(hr_cgroup_set_read(set), 0);
        group = hr_cgroup_set_next(set, NULL);
        if (group == NULL)
            usleep(20000);
    }
    ck_assert_ptr_nonnull(group);
    return group;
}

/* --- A stall ---------------------------------------------------------------- */

static uint64_t read_stall_us(const struct hr_cgroup *group, enum hr_psi_resource resource)
{
    const struct hr_psi_target target = {.group = group};
    struct hr_psi_sample sample;

    int fd = hr_psi_file_open(&target, resource, -1, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(hr_psi_file_read(fd, &target, resource, &sample), 0);
    close(fd);
    return sample.stall[HR_PSI_SOME].total_us;
}

static void print_causes(const struct hr_stall_causes *causes, uint64_t stalled_us)
{
    printf("# stalled %llu us:", (unsigned long long)stalled_us);
    for (size_t i = 0; i < causes->count; i++)
        printf(" kind %d: %llu us, %llu times;", causes->list[i].kind,
               (unsigned long long)causes->list[i].stalled_us,
               (unsigned long long)causes->list[i].event_count);
    printf("\n");
    fflush(stdout);
}

/* Explains the stall of a window that has at least some; waits for it, as a busy machine, or one
 * that reads from disk, may take its time. Limits of I/O are averages, so that their window is
 * longer. */
static void attribute_window(const struct hr_cgroup *group, enum hr_psi_resource resource,
                             struct hr_stall_causes *causes)
{
    struct hr_stall_counters before, after;
    const useconds_t window_us = resource == HR_PSI_IO ? 5 * WINDOW_US : WINDOW_US;
    uint64_t stalled_us = 0;

    uint64_t was_us = read_stall_us(group, resource);
    ck_assert_int_eq(hr_stall_counters_read(root, group, resource, &before), 0);
    for (int i = 0; i < 100 && stalled_us < WINDOW_US / 10; i++) {
        usleep(window_us);
        stalled_us = read_stall_us(group, resource) - was_us;
    }
    ck_assert_int_eq(hr_stall_counters_read(root, group, resource, &after), 0);
    hr_stall_attribute(&before, &after, resource, stalled_us,
                       (after.time_ns - before.time_ns) / 1000, causes);
    print_causes(causes, stalled_us);
}

struct hr_stall_cause first_cause(const char *name, enum hr_psi_resource resource)
{
    struct hr_stall_causes causes;

    for (int i = 0; i < WINDOWS; i++) {
        attribute_window(find_group(name), resource, &causes);
        for (size_t first = 0; first < causes.count; first++)
            if (causes.list[first].kind != HR_STALL_HYPERVISOR)
                return causes.list[first];
        printf("# no cause in window %d of %d\n", i + 1, WINDOWS);
        fflush(stdout);
    }
    ck_abort_msg("no cause was given");
}

static bool has_cause(const struct hr_stall_causes *causes, enum hr_stall_kind kind)
{
    for (size_t i = 0; i < causes->count; i++)
        if (causes->list[i].kind == kind)
            return true;
    return false;
}

void expect_cause(const char *name, enum hr_psi_resource resource, enum hr_stall_kind kind)
{
    struct hr_stall_causes causes;

    for (int i = 0; i < WINDOWS; i++) {
        attribute_window(find_group(name), resource, &causes);
        if (has_cause(&causes, kind))
            return;
    }
    ck_abort_msg("the cause %d was not given", (int)kind);
}

void expect_no_cause(const char *name, enum hr_psi_resource resource)
{
    struct hr_stall_causes causes;

    attribute_window(find_group(name), resource, &causes);
    ck_assert_uint_eq(causes.count, 0);
}

/* --- What this machine can do ------------------------------------------------ */

int rounds(void)
{
    const char *text = getenv("HEADROOM_TEST_ROUNDS");

    return text != NULL ? atoi(text) : ROUNDS;
}

static bool has_file(struct groups *in, const char *name)
{
    groups_make(in, "probe");
    char path[64];
    snprintf(path, sizeof(path), "probe/%s", name);
    bool has = faccessat(groups_dirfd(in), path, F_OK, 0) == 0;
    groups_remove(in, "probe");
    return has;
}

/* Enables the controller for groups of version 2, and looks for the file in one. */
static const char *why_not_version_2(struct groups *probe, const char *controller,
                                     const char *limit)
{
    char text[256] = "", add[32];
    int fd = openat(groups_dirfd(probe), "cgroup.controllers", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0)
        close(fd);
    if (got < 0 || strstr(text, controller) == NULL)
        return "the controller isn't enabled";
    snprintf(add, sizeof(add), "+%s", controller);
    groups_write(probe, ".", "cgroup.subtree_control", add);
    return has_file(probe, limit) ? NULL : "the kernel lacks the controller's limit";
}

static const char *why_not_version_1(const char *controller, const char *limit)
{
    struct groups *v1 = groups_new_v1(name_in_version_1(controller));
    bool has_limit = v1 != NULL && has_file(v1, limit);

    if (v1 != NULL)
        groups_free(v1);
    return has_limit ? NULL : "the controller of version 1 can't be used";
}

const char *why_not(const char *controller, const char *v2_limit, const char *v1_limit)
{
    struct groups *probe = groups_new();
    const char *reason;

    if (probe == NULL)
        return "no cgroup2 hierarchy that can be written to (root is needed)";
    if (hr_root_open("/", &root) < 0)
        reason = "no root";
    else if (version_of(controller) == 1)
        reason = why_not_version_1(controller, v1_limit);
    else
        reason = why_not_version_2(probe, controller, v2_limit);
    hr_root_close(root);
    groups_free(probe);
    return reason;
}
