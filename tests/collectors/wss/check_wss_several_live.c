/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss_several_live.c - known answers of the referenced method of several
 * processes, on the running kernel: memory that they share, and processes that begin meanwhile.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "headroom/root.h"
#include "headroom/wss.h"
#include "support/suite.h"
#include "support/tlb_flushers.h"
#include "support/toucher_process.h"

#define MIB ((double)(1 << 20))

#define MEMBERS    20
#define NEWCOMERS  100
#define SHARED_MIB 32
#define PART_MIB   8

/* What a process has of its own at most: its stack, and what it wrote to since fork(2); and how
 * much of the program and its libraries all touch. */
#ifdef __SANITIZE_ADDRESS__
#define OWN_MIB 4 /* with what the sanitizer keeps of each page */
#else
#define OWN_MIB 0.3
#endif
#define PROGRAM_MIB 2

static struct hr_root *root;
static struct hr_wss *wss;
static struct hr_reason reason;
static struct hr_wss_sample sample;
static struct member {
    pid_t pid;
    int orders,
        answers; /* it touches its memory once for each byte in the first pipe, and answers */
} members[NEWCOMERS + 1];
static struct toucher toucher;
static char name[16];
static bool reads_first; /* what another has written: that maps several pages at once */

static void set_up(void)
{
    wss = NULL;
    reads_first = false;
    memset(members, 0, sizeof(members));
    toucher = (struct toucher){0};
    snprintf(name, sizeof(name), "hrm%d", (int)getpid());
    ck_assert_int_eq(hr_root_open("/", &root), 0);
}

static void end_member(int index)
{
    struct member *member = &members[index];

    if (member->pid <= 0)
        return;
    kill(member->pid, SIGKILL);
    waitpid(member->pid, NULL, 0);
    close(member->orders);
    close(member->answers);
    member->pid = 0;
}

static void tear_down(void)
{
    for (int i = 0; i <= NEWCOMERS; i++)
        end_member(i);
    toucher_end(&toucher);
    hr_wss_close(wss);
    hr_root_close(root);
}

static void pause_ms(long milliseconds)
{
    struct timespec wait = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    nanosleep(&wait, NULL);
}

static char *map_memory(size_t mib, int flags)
{
    char *memory = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        exit(1);
    madvise(memory, mib << 20, MADV_NOHUGEPAGE);
    return memory;
}

static void touch(volatile char *memory, size_t mib)
{
    for (size_t i = 0; i < mib << 20; i += 4096)
        if (!reads_first || memory[i] == 0)
            memory[i] = 1;
}

static void be_member(volatile char *memory, size_t mib, int orders, int answers)
{
    char byte = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, name);
    do
        touch(memory, mib);
    while (write(answers, &byte, 1) == 1 && read(orders, &byte, 1) == 1);
    _exit(1);
}

static void await_answer(const struct member *member)
{
    char byte;

    ck_assert_int_eq(read(member->answers, &byte, 1), 1);
}

/* Starts a process, and waits until it has touched all of its memory. @param memory  NULL: that of
 * its own. */
static void start_member(int index, char *memory, size_t mib)
{
    int orders[2], answers[2];

    ck_assert_int_eq(pipe(orders) | pipe(answers), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(orders[1]);
        be_member(memory != NULL ? memory : map_memory(mib, MAP_PRIVATE), mib, orders[0],
                  answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    members[index] = (struct member){pid, orders[1], answers[0]};
    await_answer(&members[index]);
}

static void touch_again(void)
{
    for (int i = 0; i <= NEWCOMERS; i++)
        if (members[i].pid > 0)
            ck_assert_int_eq(write(members[i].orders, "", 1), 1);
    for (int i = 0; i <= NEWCOMERS; i++)
        if (members[i].pid > 0)
            await_answer(&members[i]);
}

static void open_members(void)
{
    struct hr_wss_options options = {
        .target = {.scope = HR_WSS_PROCESSES,
                   .processes = {.by = HR_PROCESS_BY_NAME, .text = name}},
        .method = HR_WSS_REFERENCED,
    };

    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
}

static void begin(void)
{
    ck_assert_int_eq(hr_wss_begin(wss, 1, &reason), 0);
}

/* A page that is in a TLB is touched without a trace: so they do it again. */
static double read_mib(double expected_mib)
{
    double seen_mib = 0;

    for (int i = 0; i < 50 && seen_mib < expected_mib; i++) {
        touch_again();
        pause_ms(20);
        ck_assert_int_eq(hr_wss_read(wss, 1, &sample, &reason), 0);
        seen_mib = (double)sample.referenced_bytes / MIB;
    }
    return seen_mib;
}

/* With as much again for what else there is. */
static bool has_room_for(size_t mib)
{
    char line[128];
    size_t kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "MemAvailable: %zu", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    if (kib / 1024 >= 2 * mib)
        return true;
    printf("# not tried: %zu MiB in a machine that has %zu left\n", mib, kib / 1024);
    return false;
}

/* --- Memory that they share ----------------------------------------------- */

static const size_t shared_mib[] = {SHARED_MIB, 1024};

START_TEST(counts_shared_memory_once)
{
    const size_t mib = shared_mib[_i];

    if (!has_room_for(mib))
        return;
    char *shared = map_memory(mib, MAP_SHARED);
    reads_first = true;
    for (int i = 0; i < MEMBERS; i++)
        start_member(i, shared, mib);
    open_members();
    begin();
    double seen_mib = read_mib((double)mib);
    ck_assert_uint_eq(sample.process_count, MEMBERS);
    ck_assert_double_ge(seen_mib, (double)mib);
    ck_assert_double_le(seen_mib, (double)mib + PROGRAM_MIB + MEMBERS * OWN_MIB);
    ck_assert_double_ge((double)sample.rss_bytes / MIB, (double)(MEMBERS * mib));
}
END_TEST

/* Each has mapped what it touches itself: nothing is shared, though all have the same memory. */
START_TEST(counts_parts_of_shared_memory)
{
    char *shared = map_memory(PART_MIB * MEMBERS, MAP_SHARED);

    for (size_t i = 0; i < MEMBERS; i++)
        start_member((int)i, shared + (i * PART_MIB << 20), PART_MIB);
    open_members();
    begin();
    double seen_mib = read_mib(PART_MIB * MEMBERS);
    ck_assert_double_ge(seen_mib, PART_MIB * MEMBERS);
    ck_assert_double_le(seen_mib, PART_MIB * MEMBERS + PROGRAM_MIB + MEMBERS * OWN_MIB);
}
END_TEST

/* --- Newcomers ------------------------------------------------------------ */

static const struct {
    int count;
    size_t mib; /* of each */
} newcomers[] = {{MEMBERS, PART_MIB}, {NEWCOMERS, 10}};

/* All of a newcomer's memory was touched, but what it has from fork(2) and left alone. */
START_TEST(counts_newcomers)
{
    const int count = newcomers[_i].count + 1;
    const double all_mib = (double)newcomers[_i].mib * count;

    if (!has_room_for((size_t)all_mib))
        return;
    char *inherited = map_memory(SHARED_MIB, MAP_PRIVATE);
    touch(inherited, SHARED_MIB);
    start_member(0, NULL, newcomers[_i].mib);
    open_members();
    begin();
    for (int i = 1; i < count; i++)
        start_member(i, NULL, newcomers[_i].mib);
    double seen_mib = read_mib(all_mib);
    ck_assert_uint_eq(sample.process_count, count);
    ck_assert_double_ge(seen_mib, all_mib);
    ck_assert_double_le(seen_mib, all_mib + PROGRAM_MIB + count * OWN_MIB);
}
END_TEST

/* It touched all that it holds, though only a part again and again. */
START_TEST(counts_a_newcomer_that_runs_another_program)
{
    const double all_mib = PART_MIB + SHARED_MIB;

    start_member(0, NULL, PART_MIB);
    open_members();
    begin();
    setenv("TOUCHER_NAME", name, 1);
    toucher = toucher_start(-1, "anon", SHARED_MIB, PART_MIB, NULL);
    unsetenv("TOUCHER_NAME");
    double seen_mib = read_mib(all_mib);
    ck_assert_uint_eq(sample.process_count, 2);
    ck_assert_double_ge(seen_mib, all_mib);
    ck_assert_double_le(seen_mib, all_mib + 2 * (PROGRAM_MIB + OWN_MIB));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss_several_live");

    if (access("/proc/self/clear_refs", W_OK) < 0) {
        puts("1..0 # SKIP this kernel has no /proc/PID/clear_refs");
        return 0;
    }
    start_tlb_flushers();
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, counts_shared_memory_once, 0, 2);
    tcase_add_test(tests, counts_parts_of_shared_memory);
    tcase_add_loop_test(tests, counts_newcomers, 0, 2);
    tcase_add_test(tests, counts_a_newcomer_that_runs_another_program);
    return run_suite("wss_several_live", tests);
}
