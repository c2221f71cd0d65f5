/* SPDX-License-Identifier: MIT */
/*
 * collectors/oom/check_oom_live.c - kills by the running kernel, of version 1 and 2, against what
 * the kernel itself counts and logs: each is reported once, in order, with the right group, or one
 * above it, and the right limit, though groups are gone at once.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/room/stall_harness.h"
#include "headroom/clock.h"
#include "headroom/oom.h"
#include "headroom/root.h"
#include "support/suite.h"

#define MIB   ((size_t)1 << 20)
#define MANY  100
#define LIMIT "4194304"

/* Nothing goes on if it takes so many turns of 10 ms. */
#define PATIENCE 6000

static struct hr_oom *oom;
static struct hr_oom_kill *kills;
static _Atomic size_t kill_count;
static _Atomic bool must_end;
static pthread_t reader;
static bool is_reading;

static pid_t victims[MANY];
static size_t victim_count;
static int log_fd; /* what the kernel logs, read independently */

/* --- Reading ------------------------------------------------------------------------- */

static bool is_victim(int pid)
{
    for (size_t i = 0; i < victim_count; i++)
        if (victims[i] == pid)
            return true;
    return false;
}

/* Other tests on the machine may have kills, too: those of names that are known are not ours. */
static void take(const struct hr_oom_kill *kill, __attribute__((unused)) void *context)
{
    if (kill->name[0] != '\0' && strncmp(kill->name, "check_oom", 9) != 0)
        return;
    if (kill_count < 2 * MANY)
        kills[kill_count++] = *kill;
}

static void *read_until_end(__attribute__((unused)) void *context)
{
    struct pollfd polled = {.fd = hr_oom_fd(oom), .events = POLLIN};

    while (!must_end) {
        const uint64_t next_ns = hr_oom_read(oom, take, NULL), now_ns = hr_clock_ns();
        const uint64_t wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
        poll(&polled, 1, wait_ns < 20 * HR_NS_PER_MS ? (int)(wait_ns / HR_NS_PER_MS) : 20);
    }
    return NULL;
}

static void begin(void)
{
    ck_assert_int_eq(hr_oom_open(root, &oom), 0);
    ck_assert_int_eq(hr_oom_add_group(oom, groups_path(groups)), 0);
    ck_assert_int_eq(pthread_create(&reader, NULL, read_until_end, NULL), 0);
    is_reading = true;
}

static void end_reading(void)
{
    if (!is_reading)
        return;
    must_end = true;
    pthread_join(reader, NULL);
    is_reading = false;
}

/* Also a second that none more come in. */
static void await_kills(size_t count)
{
    for (int i = 0; i < PATIENCE && kill_count < count; i++)
        usleep(10000);
    usleep(1500000);
    end_reading();
    ck_assert_uint_eq(kill_count, count);
}

/* --- Processes ------------------------------------------------------------------------ */

static void eat(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (bytes > 64 * MIB)
        madvise(memory, bytes, MADV_HUGEPAGE); /* that is quicker */
    for (size_t at = 0; memory != MAP_FAILED && at < bytes; at += 4096)
        memory[at] = 1;
    _exit(1);
}

static void start_eater(const char *name, size_t bytes)
{
    const pid_t pid = fork_into_group(name);

    if (pid == 0)
        eat(bytes);
    victims[victim_count++] = pid;
}

static void await_death(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void limit(const char *name)
{
    limit_group(name, "memory.max", LIMIT, "memory.limit_in_bytes", LIMIT);
    limit_group(name, "memory.swap.max", "0", NULL, NULL);
}

/* Ends one process after the other, and removes its group at once. */
static void kill_many(void)
{
    char name[16];

    for (size_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "g%zu", i);
        make_group(name);
        limit(name);
    }
    for (size_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "g%zu", i);
        start_eater(name, 64 * MIB);
    }
    for (size_t i = 0; i < MANY; i++) {
        await_death(victims[i]);
        snprintf(name, sizeof(name), "g%zu", i);
        remove_group(name);
    }
}

/* --- What the kernel says --------------------------------------------------------------- */

static unsigned count_by_kernel(void)
{
    char text[512];
    const int fd = openat(groups_dirfd(groups), "memory.events", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return MANY; /* version 1: as many as were killed */
    const ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    ck_assert_int_gt(length, 0);
    text[length] = '\0';
    return (unsigned)strtoul(strstr(text, "oom_kill ") + 9, NULL, 10);
}

/* The next of our victims in the kernel's log. */
static int next_logged(void)
{
    char record[8192];
    ssize_t length;

    while ((length = read(log_fd, record, sizeof(record) - 1)) > 0 ||
           (length < 0 && errno == EPIPE)) {
        record[length > 0 ? length : 0] = '\0';
        const char *killed = strstr(record, "Killed process ");
        const int pid = killed != NULL ? atoi(killed + 15) : 0;
        if (pid > 0 && is_victim(pid))
            return pid;
    }
    return 0;
}

/* --- Life --------------------------------------------------------------------------------- */

static void set_up(void)
{
    set_up_groups("memory");
    kills = calloc(2 * MANY, sizeof(*kills));
    kill_count = victim_count = 0;
    must_end = false;
    log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(log_fd, 0);
    lseek(log_fd, 0, SEEK_END);
}

static void tear_down(void)
{
    end_reading();
    hr_oom_close(oom);
    free(kills);
    close(log_fd);
    tear_down_groups();
}

/* --- Tests ---------------------------------------------------------------------------------- */

static void assert_below_ours(const struct hr_oom_kill *kill)
{
    const char *ours = groups_path(groups);

    if (kill->is_exact)
        ck_assert(strncmp(kill->path, ours, strlen(ours)) == 0);
    else
        ck_assert(kill->path[0] == '\0' || strcmp(kill->path, ours) == 0);
}

static void assert_group_of_victim(const struct hr_oom_kill *kill)
{
    char path[128];
    size_t index = 0;

    if (!kill->is_exact)
        return;
    while (victims[index] != kill->pid)
        index++;
    snprintf(path, sizeof(path), "%s/g%zu", groups_path(groups), index);
    ck_assert_str_eq(kill->path, path);
    if (kill->limit == HR_OOM_OF_GROUP)
        ck_assert_str_eq(kill->limit_path, path);
    else
        ck_assert_int_eq(kill->limit, HR_OOM_OF_SOME);
}

START_TEST(many_groups_that_are_gone_at_once)
{
    size_t exact_count = 0;

    begin();
    ck_assert_int_eq(hr_oom_sources(oom).log_status, 0);
    kill_many();
    await_kills(MANY);
    ck_assert_uint_eq(count_by_kernel(), MANY);
    for (size_t i = 0; i < kill_count; i++) {
        ck_assert_int_eq(kills[i].pid, next_logged());
        ck_assert_uint_gt(kills[i].resident_bytes, MIB);
        ck_assert_uint_lt(kills[i].resident_bytes, 16 * MIB);
        assert_below_ours(&kills[i]);
        assert_group_of_victim(&kills[i]);
        exact_count += kills[i].is_exact;
    }
    ck_assert_int_eq(next_logged(), 0);
    ck_assert_uint_ge(exact_count, 10); /* those that the kernel logs with their groups */
    fprintf(stderr, "# the groups of %zu of %d are known\n", exact_count, MANY);
}
END_TEST

START_TEST(limit_of_a_group_above)
{
    char path[128];

    make_parent("p");
    make_group("p/a");
    limit("p");
    begin();
    start_eater("p/a", 64 * MIB);
    await_death(victims[0]);
    await_kills(1);
    snprintf(path, sizeof(path), "%s/p/a", groups_path(groups));
    ck_assert_str_eq(kills[0].path, path);
    ck_assert_int_eq(kills[0].pid, victims[0]);
    ck_assert_int_eq(kills[0].limit, HR_OOM_OF_GROUP);
    path[strlen(path) - 2] = '\0';
    ck_assert_str_eq(kills[0].limit_path, path);
    ck_assert_uint_eq(kills[0].limit_bytes, 4 * MIB);
}
END_TEST

/* memory.oom.group: all tasks. */
START_TEST(all_tasks_of_a_group)
{
    make_group("g0");
    limit("g0");
    limit_group("g0", "memory.oom.group", "1", NULL, NULL);
    begin();
    const pid_t other = fork_into_group("g0");
    if (other == 0)
        for (;;)
            pause();
    victims[victim_count++] = other;
    start_eater("g0", 64 * MIB);
    await_death(victims[1]);
    await_death(other);
    await_kills(2);
    for (size_t i = 0; i < kill_count; i++) {
        ck_assert(is_victim(kills[i].pid));
        ck_assert(kills[i].pid != kills[!i].pid);
        if (kills[i].is_exact)
            ck_assert_str_eq(strrchr(kills[i].path, '/'), "/g0");
    }
}
END_TEST

/* A plain user. */
START_TEST(without_the_log)
{
    ck_assert_int_eq(seteuid(65534), 0);
    begin();
    ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(hr_oom_sources(oom).log_status, -EPERM);
    kill_many();
    await_kills(MANY);
    for (size_t i = 0; i < kill_count; i++) {
        ck_assert_str_eq(kills[i].name, "");
        assert_below_ours(&kills[i]);
        if (hr_oom_sources(oom).version == 2)
            ck_assert_str_ne(kills[i].path, "");
    }
}
END_TEST

/* All of the emulated machine's memory. */
START_TEST(the_machine_ran_out_of_memory)
{
    char path[128];

    make_group("g0");
    begin();
    const pid_t pid = fork_into_group("g0");
    if (pid == 0) {
        const int fd = open("/proc/self/oom_score_adj", O_WRONLY);
        if (write(fd, "1000", 4) == 4)
            eat((size_t)64 << 30);
        _exit(1);
    }
    victims[victim_count++] = pid;
    await_death(pid);
    await_kills(1);
    snprintf(path, sizeof(path), "%s/g0", groups_path(groups));
    ck_assert_str_eq(kills[0].path, path);
    ck_assert_int_eq(kills[0].pid, pid);
    ck_assert_int_eq(kills[0].limit, HR_OOM_OF_MACHINE);
}
END_TEST

/* --- Where it can run ------------------------------------------------------------------------ */

static const char *const sysctl = "/proc/sys/kernel/dmesg_restrict";

static bool is_restricted(void)
{
    char value = '0';
    int fd = open(sysctl, O_RDWR | O_CLOEXEC);

    if (fd >= 0 && getenv("HEADROOM_EMULATED") != NULL && write(fd, "1", 1) < 0)
        perror(sysctl);
    if (fd >= 0 && pread(fd, &value, 1, 0) < 1)
        value = '0';
    if (fd >= 0)
        close(fd);
    return value == '1';
}

/* Version 1 has no memory.oom.group. */
static bool has_version_2(void)
{
    struct hr_root *live;
    int version = 0, mount;

    if (hr_root_open("/", &live) < 0)
        return false;
    mount = hr_root_open_cgroup(live, "memory", &version);
    if (mount >= 0)
        close(mount);
    hr_root_close(live);
    return version == 2;
}

static const char *why_not_here(void)
{
    const char *reason = why_not("memory", "memory.max", "memory.limit_in_bytes");

    if (reason == NULL && access("/dev/kmsg", R_OK) < 0)
        reason = "/dev/kmsg can't be read";
    return reason;
}

int main(void)
{
    const char *reason = why_not_here();
    TCase *tests = tcase_create("oom_live");

    if (reason != NULL) {
        printf("1..0 # SKIP %s\n", reason);
        return 0;
    }
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    /* In this order: the kernel logs the limits of ten kills within five seconds. */
    tcase_add_test(tests, limit_of_a_group_above);
    if (has_version_2())
        tcase_add_test(tests, all_tasks_of_a_group);
    if (getenv("HEADROOM_EMULATED") != NULL)
        tcase_add_test(tests, the_machine_ran_out_of_memory);
    tcase_add_test(tests, many_groups_that_are_gone_at_once);
    if (is_restricted())
        tcase_add_test(tests, without_the_log);
    return run_suite("oom_live", tests);
}
