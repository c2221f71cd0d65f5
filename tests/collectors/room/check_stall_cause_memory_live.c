/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_stall_cause_memory_live.c - lack of memory of known cause on the running
 * kernel: it must be the first that is given, in each of several rounds.
 *
 * The memory is anonymous where there is swap space, else that of a file in /var/tmp.
 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/room/stall_harness.h"
#include "support/suite.h"

#define MIB         ((size_t)1 << 20)
#define PAGE        ((size_t)4096)
#define WORKING_SET (48 * MIB)
#define LIMIT       "33554432" /* 32 MiB */

static int file = -1; /* of a working set's size, and without a name; -1: there is swap space */

static void set_up(void)
{
    set_up_groups("memory");
}

/* --- Loads --------------------------------------------------------------------- */

/* A number of /proc/meminfo, in bytes. */
static size_t read_meminfo(const char *name)
{
    char line[256];
    size_t kib = 0;
    FILE *stream = fopen("/proc/meminfo", "re");

    if (stream == NULL)
        return 0;
    while (fgets(line, sizeof(line), stream) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtoul(line + strlen(name), NULL, 10);
    fclose(stream);
    return kib << 10;
}

static bool make_file(void)
{
    static char piece[MIB];

    file = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    memset(piece, 1, sizeof(piece));
    for (size_t written = 0; written < WORKING_SET; written += sizeof(piece))
        if (write(file, piece, sizeof(piece)) != (ssize_t)sizeof(piece))
            return false;
    return fsync(file) == 0;
}

/* Never returns. */
static void touch_for_ever(size_t size)
{
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, 0);

    if (memory == MAP_FAILED)
        _exit(1);
    if (file < 0)
        madvise((char *)memory, size, MADV_NOHUGEPAGE);
    for (bool written = false;; written = true)
        for (size_t i = 0; i < size; i += PAGE)
            if (file < 0 && !written)
                memory[i] = 1;
            else
                (void)memory[i];
}

static pid_t start_toucher(const char *name, size_t size)
{
    pid_t pid = fork_into_group(name);

    if (pid == 0)
        touch_for_ever(size);
    return pid;
}

/* Whose memory was the file's before it is the group's. */
static void forget_file(void)
{
    if (file >= 0)
        ck_assert_int_eq(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
}

/* Takes memory that can't be reclaimed, and returns once it has it. */
static pid_t start_hog(size_t size)
{
    int ends[2];
    char byte;

    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork_into_group(NULL);
    if (pid == 0) {
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED || mlock(memory, size) < 0 || write(ends[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* --- Cases --------------------------------------------------------------------- */

START_TEST(finds_its_own_limit_of_memory)
{
    make_group("a");
    limit_group("a", "memory.max", LIMIT, "memory.limit_in_bytes", LIMIT);
    forget_file();
    pid_t pid = start_toucher("a", WORKING_SET);
    struct hr_stall_cause cause = first_cause("a", HR_PSI_MEMORY);
    ck_assert_int_eq(cause.kind, HR_STALL_OWN_LIMIT);
    ck_assert_int_eq(cause.limit_kind, HR_STALL_MEMORY_MAX);
    ck_assert_double_eq(cause.limit, atof(LIMIT));
    end(pid);
}
END_TEST

START_TEST(finds_the_limit_of_memory_of_the_group_above)
{
    char above[128];

    make_parent("p");
    make_group("p/a");
    limit_group("p", "memory.max", LIMIT, "memory.limit_in_bytes", LIMIT);
    forget_file();
    pid_t pid = start_toucher("p/a", WORKING_SET);
    struct hr_stall_cause cause = first_cause("p/a", HR_PSI_MEMORY);
    ck_assert_int_eq(cause.kind, HR_STALL_ANCESTOR_LIMIT);
    snprintf(above, sizeof(above), "%s/p", groups_path(groups));
    ck_assert_str_eq(cause.group, above);
    end(pid);
}
END_TEST

START_TEST(finds_the_high_limit_of_memory)
{
    make_group("a");
    limit_group("a", "memory.high", LIMIT, NULL, NULL);
    pid_t pid = start_toucher("a", WORKING_SET);
    struct hr_stall_cause cause = first_cause("a", HR_PSI_MEMORY);
    ck_assert_int_eq(cause.kind, HR_STALL_OWN_LIMIT);
    ck_assert_int_eq(cause.limit_kind, HR_STALL_MEMORY_HIGH);
    end(pid);
}
END_TEST

START_TEST(finds_the_limit_of_memory_of_a_group_below)
{
    make_parent("p");
    make_group("p/a");
    limit_group("p/a", "memory.max", LIMIT, "memory.limit_in_bytes", LIMIT);
    forget_file();
    pid_t pid = start_toucher("p/a", WORKING_SET);
    ck_assert_int_eq(first_cause("p", HR_PSI_MEMORY).kind, HR_STALL_LIMITS_BELOW);
    end(pid);
}
END_TEST

/* Its limit is far away, but a process outside leaves less than the group wants. */
static void expect_machine_reclaim(void)
{
    limit_group("a", "memory.max", "1073741824", NULL, NULL);
    pid_t pid = start_toucher("a", 2 * WORKING_SET);
    ck_assert_int_eq(first_cause("a", HR_PSI_MEMORY).kind, HR_STALL_MACHINE_RECLAIM);
    end(pid);
}

/* Then it is short of memory for another group. This one waits for its limit all the time, though
 * the machine may take more pages from it. */
static void expect_own_limit_meanwhile(void)
{
    limit_group("a", "memory.max", "16777216", NULL, NULL);
    pid_t other = start_toucher("b", 2 * WORKING_SET);
    pid_t pid = start_toucher("a", WORKING_SET);
    expect_cause("a", HR_PSI_MEMORY, HR_STALL_OWN_LIMIT);
    end(pid);
    end(other);
}

START_TEST(finds_the_machine_short_of_memory)
{
    pid_t outside = start_hog(read_meminfo("MemAvailable:") - 64 * MIB);

    make_group("a");
    make_group("b");
    for (int i = 0; i < rounds(); i++) {
        expect_machine_reclaim();
        expect_own_limit_meanwhile();
    }
    end(outside);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("live");
    const char *reason = why_not("memory", "memory.max", "memory.limit_in_bytes");
    const bool has_swap = read_meminfo("SwapTotal:") > 0;

    if (reason == NULL && !has_swap && !make_file())
        reason = "there is no swap space, and no room in /var/tmp";
    if (reason != NULL) {
        printf("1..0 # SKIP %s\n", reason);
        return 0;
    }
    tcase_add_checked_fixture(tests, set_up, tear_down_groups);
    tcase_add_loop_test(tests, finds_its_own_limit_of_memory, 0, rounds());
    tcase_add_loop_test(tests, finds_the_limit_of_memory_of_the_group_above, 0, rounds());
    tcase_add_loop_test(tests, finds_the_limit_of_memory_of_a_group_below, 0, rounds());
    /* Version 2 alone, with swap space; and nothing else needs the machine's memory. */
    if (getenv("HEADROOM_EMULATED") != NULL) {
        tcase_add_loop_test(tests, finds_the_high_limit_of_memory, 0, rounds());
        tcase_add_test(tests, finds_the_machine_short_of_memory);
    }
    tcase_set_timeout(tests, 120);
    return run_suite("live", tests);
}
