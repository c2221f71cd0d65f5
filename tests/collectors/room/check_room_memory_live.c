/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_room_memory_live.c - the room by memory, and the time that is left of a
 * leak, against what the kernel does when the limit is reached.
 *
 * The leak lasts 16 seconds, and the windows of the forecast are as much shorter than a plugin's.
 *
 * Environment: HEADROOM_TEST_LEAK, how many seconds it lasts instead.
 */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/room/stall_harness.h"
#include "headroom/clock.h"
#include "headroom/room.h"
#include "support/baselines.h"
#include "support/suite.h"

#define MIB   ((size_t)1 << 20)
#define LIMIT (256 * MIB)
#define STEPS 4096

#define READ_MOST (4 * LIMIT)

/* At half of the life two of the shortest windows are over, and what is left is less than four. */
#define POINTS 160

static const struct hr_room_lines lines = {{40, 10, 40, 101}};

static struct hr_room_machine *machine;
static struct hr_room_source *source;
static uint64_t life_ns; /* of a leak from nothing to the limit */

static unsigned long read_life(void)
{
    const char *seconds = getenv("HEADROOM_TEST_LEAK");

    return seconds != NULL ? strtoul(seconds, NULL, 10) : 16;
}

static void set_up(void)
{
    life_ns = read_life() * HR_NS_PER_S;
    set_up_groups("memory");
    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
}

static void tear_down(void)
{
    hr_room_close(source);
    hr_room_machine_close(machine);
    tear_down_groups();
}

/* Swap space is limited in version 2; where the tests of version 1 run there is none. */
static void limit_memory(const char *name, size_t swap)
{
    char text[32];

    snprintf(text, sizeof(text), "%zu", LIMIT);
    limit_group(name, "memory.max", text, "memory.limit_in_bytes", text);
    snprintf(text, sizeof(text), "%zu", swap);
    limit_group(name, "memory.swap.max", text, NULL, NULL);
}

static void sleep_ns(uint64_t ns)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / HR_NS_PER_S),
                                  .tv_nsec = (long)(ns % HR_NS_PER_S)};

    nanosleep(&time, NULL);
}

/* Uses more by the clock, at a constant rate, for ever. `saw` of it, at most, is given back at
 * times. */
static void leak(size_t saw)
{
    const uint64_t begin_ns = hr_clock_ns();
    char *memory = mmap(NULL, 2 * LIMIT, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *tooth = mmap(NULL, MIB + saw, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t used = 0;

    madvise(memory, 2 * LIMIT, MADV_NOHUGEPAGE);
    for (unsigned i = 0;; i++, sleep_ns(life_ns / STEPS)) {
        double share = (double)(hr_clock_ns() - begin_ns) / (double)life_ns;
        size_t wanted = (size_t)(share * (double)LIMIT);
        if (wanted > 2 * LIMIT)
            _exit(1);
        if (wanted > used)
            memset(memory + used, 1, wanted - used);
        used = wanted;
        if (saw == 0)
            continue;
        memset(tooth + saw / 16 * (i % 16), 1, saw / 16);
        if (i % 16 == 15)
            madvise(tooth, saw, MADV_DONTNEED);
    }
}

/* The slow disk of the emulated machine; or a file without contents, which are kept in memory all
 * the same. @return -1: what is mounted here has no such files, as the emulated machine's 9p. */
static int open_large_file(void)
{
    int fd = open("/dev/slow", O_RDONLY | O_CLOEXEC);

    if (fd >= 0)
        return fd;
    fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    ck_assert(fd < 0 || ftruncate(fd, READ_MOST) == 0);
    return fd;
}

/* Reads four times the limit within the life of a leak, so that files fill what is left of it. */
static void read_file(int fd)
{
    static char buffer[READ_MOST / STEPS];

    for (off_t at = 0;; at += (off_t)sizeof(buffer), sleep_ns(life_ns / STEPS))
        if (pread(fd, buffer, sizeof(buffer), at % READ_MOST) < 0)
            _exit(1);
}

/* --- What was expected ------------------------------------------------------------ */

static struct {
    uint64_t time_ns;
    struct hr_outlook outlook;
    struct hr_room room;
    double baseline_s; /* least squares of all memory, as it is: a fifth of the life */
} seen[STEPS];

/* Reads until the process is killed. @return how often. */
static size_t watch(pid_t pid, const char *name)
{
    const uint64_t pause_ns = life_ns / POINTS / 2;
    struct least_squares past = {.count = 0};
    struct hr_room_reading reading;
    size_t count = 0;

    ck_assert_int_eq(hr_room_open(machine, find_group(name), life_ns / POINTS, &source), 0);
    while (waitpid(pid, NULL, WNOHANG) == 0) {
        ck_assert_uint_lt(count, STEPS);
        hr_room_machine_read(machine);
        hr_room_read(source, &lines, &reading);
        ck_assert_int_eq(reading.memory.status, 0);
        seen[count].room = reading.memory;
        seen[count].outlook = reading.outlook;
        seen[count].baseline_s =
            least_squares_left(&past, reading.memory_bytes, LIMIT) * (double)pause_ns / HR_NS_PER_S;
        seen[count++].time_ns = hr_clock_ns();
        sleep_ns(pause_ns);
    }
    return count;
}

static uint64_t count_kills(void)
{
    struct hr_room_reading reading;

    hr_room_read(source, &lines, &reading);
    ck_assert(reading.has_oom_kills);
    return reading.oom_kill_count;
}

/* Compares what was expected at half of the life with the death. */
static void assert_expected(pid_t pid, const char *name, double tolerance)
{
    const uint64_t begin_ns = hr_clock_ns();
    size_t count = watch(pid, name), half = 0;
    const uint64_t end_ns = hr_clock_ns();

    ck_assert_uint_eq(count_kills(), 1);
    while (half + 1 < count && seen[half].time_ns < begin_ns + (end_ns - begin_ns) / 2)
        half++;
    const struct hr_outlook *outlook = &seen[half].outlook;
    double left_s = (double)(end_ns - seen[half].time_ns) / HR_NS_PER_S;
    printf("# %s: lived %.1f s; at half of it %.2f s were left, expected %.2f (%.2f..%.2f), by "
           "least squares of memory.current %.2f; used %.1f of %.1f MiB\n",
           name, (double)(end_ns - begin_ns) / HR_NS_PER_S, left_s,
           outlook->is_trend ? outlook->trouble_s : -1.0, outlook->early_s, outlook->late_s,
           seen[half].baseline_s, seen[half].room.used / MIB, seen[half].room.attainable / MIB);
    fflush(stdout);
    ck_assert(outlook->is_trend);
    ck_assert_double_eq_tol(outlook->trouble_s, left_s, tolerance * left_s);
}

START_TEST(knows_when_a_leak_ends)
{
    make_group("a");
    limit_memory("a", 0);
    pid_t pid = fork_into_group("a");
    if (pid == 0)
        leak(0);
    assert_expected(pid, "a", 0.15);
}
END_TEST

START_TEST(knows_when_a_leak_ends_at_the_limit_above)
{
    make_parent("p");
    make_group("p/a");
    limit_memory("p", 0);
    pid_t pid = fork_into_group("p/a");
    if (pid == 0)
        leak(0);
    assert_expected(pid, "p/a", 0.15);
    ck_assert_int_eq(seen[0].room.bound, HR_ROOM_MEMORY_MAX);
    ck_assert_uint_eq(seen[0].room.level, 1);
}
END_TEST

START_TEST(knows_when_a_leak_ends_whose_garbage_is_collected)
{
    make_group("a");
    limit_memory("a", 0);
    pid_t pid = fork_into_group("a");
    if (pid == 0)
        leak(16 * MIB);
    assert_expected(pid, "a", 0.35);
}
END_TEST

/* A quarter more, which is swapped out. */
START_TEST(knows_when_a_leak_ends_in_swap_space)
{
    make_group("a");
    limit_memory("a", LIMIT / 4);
    pid_t pid = fork_into_group("a");
    if (pid == 0)
        leak(0);
    assert_expected(pid, "a", 0.15);
    ck_assert_double_ge(seen[0].room.attainable, 1.25 * LIMIT);
}
END_TEST

START_TEST(knows_when_a_leak_ends_beside_files_that_are_read)
{
    const int fd = open_large_file();

    if (fd < 0)
        return;
    make_group("a");
    limit_memory("a", 0);
    pid_t reader = fork_into_group("a");
    if (reader == 0)
        read_file(fd);
    close(fd);
    pid_t pid = fork_into_group("a");
    if (pid == 0)
        leak(0);
    assert_expected(pid, "a", 0.35);
    ck_assert_int_eq(waitpid(reader, NULL, WNOHANG), 0); /* it read all the time */
    kill(reader, SIGKILL);
    waitpid(reader, NULL, 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("live");
    const char *reason = why_not("memory", "memory.max", "memory.limit_in_bytes");

    if (reason != NULL) {
        printf("1..0 # SKIP %s\n", reason);
        return 0;
    }
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, knows_when_a_leak_ends);
    tcase_add_test(tests, knows_when_a_leak_ends_at_the_limit_above);
    tcase_add_test(tests, knows_when_a_leak_ends_whose_garbage_is_collected);
    tcase_add_test(tests, knows_when_a_leak_ends_beside_files_that_are_read);
    /* Version 2 alone, with swap space. */
    if (getenv("HEADROOM_EMULATED") != NULL)
        tcase_add_test(tests, knows_when_a_leak_ends_in_swap_space);
    tcase_set_timeout(tests, 300 + 3 * (double)read_life());
    return run_suite("live", tests);
}
