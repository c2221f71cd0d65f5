/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/check_blame_culprit_live.c - a hidden culprit among twenty groups that share a
 * CPU, on the running kernel: it must be the first that the victim waited for, each time.
 *
 * An episode lasts until the culprit has run for some time, whatever else the machine does, and is
 * judged only if the kernel counts that it ran far longer than any other on that CPU: of those that
 * soak it one may hold it for long in the kernel. What follows from random numbers, such as who is
 * the culprit, is the same in each run.
 *
 * Environment: HEADROOM_TEST_ROUNDS, how many episodes.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/blame/blame_live.h"
#include "support/suite.h"

/* The remote one soaks another CPU. */
enum { PLAYERS = 20, SOAKERS = 3, REMOTE = 1, MEMBERS = PLAYERS + SOAKERS + REMOTE };

/* What the process of a group does. */
enum role {
    BYSTANDER, /* a little work, now and then */
    VICTIM,    /* a service that wants the CPU most of the time */
    CULPRIT,   /* wants all of it */
    SOAKER,    /* takes what is left: the CPU is never idle */
};

#define EPISODES   12
#define CULPRIT_MS 100 /* an episode lasts until the culprit has run so long */
#define JUDGED     2.5 /* it ran so many times as long as any other there but the victim */

static struct groups *groups;
static struct live live;
static _Atomic int *roles; /* shared with the processes */
static struct {
    char group[16];
    uint64_t id;
    pid_t pid;
    int counter;              /* of its time on the CPU */
    double before_ms, ran_ms; /* of that, in this episode */
} members[MEMBERS];
static int member_count, cpu;

/* --- Processes ------------------------------------------------------------ */

/* Time on the CPU: who has to wait for it has as much to do. */
static void work(long us)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const long long end_ns = now.tv_sec * 1000000000LL + now.tv_nsec + us * 1000LL;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec * 1000000000LL + now.tv_nsec < end_ns);
}

static void play(int member)
{
    for (;;)
        switch ((enum role)roles[member]) {
        case BYSTANDER:
            work(400);
            usleep(40000 + 1000 * (useconds_t)member);
            break;
        case VICTIM:
            work(3000);
            usleep(1000);
            break;
        case CULPRIT:
        case SOAKER:
            work(1000);
            break;
        }
}

static void start_member(enum role role, int on_cpu)
{
    const int member = member_count++;
    const struct sched_param none = {0};
    char number[16];
    cpu_set_t only;

    snprintf(members[member].group, sizeof(members[member].group), "group%d", member);
    groups_make(groups, members[member].group);
    members[member].id = live_id(&live, members[member].group);
    roles[member] = (int)role;
    CPU_ZERO(&only);
    CPU_SET(on_cpu, &only);
    members[member].pid = fork();
    ck_assert_int_ge(members[member].pid, 0);
    if (members[member].pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (sched_setaffinity(0, sizeof(only), &only) < 0 ||
            (role == SOAKER && on_cpu == cpu && sched_setscheduler(0, SCHED_IDLE, &none) < 0))
            _exit(1);
        play(member);
    }
    members[member].counter = live_count_time(members[member].pid);
    snprintf(number, sizeof(number), "%d", (int)members[member].pid);
    groups_write(groups, members[member].group, "cgroup.procs", number);
}

static void set_up(void)
{
    const struct hr_blame_options options = {.max_groups = MEMBERS, .lasting = true};

    cpu = live_last_cpu();
    roles = mmap(NULL, MEMBERS * sizeof(*roles), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                 -1, 0);
    ck_assert_ptr_ne((void *)roles, MAP_FAILED);
    groups = groups_new();
    live_open(&live, &options, groups);
    member_count = 0;
}

static void tear_down(void)
{
    for (int i = 0; i < member_count; i++) {
        kill(members[i].pid, SIGKILL);
        waitpid(members[i].pid, NULL, 0);
        close(members[i].counter);
    }
    live_close(&live);
    groups_free(groups);
    munmap((void *)roles, MEMBERS * sizeof(*roles));
}

/* All of the CPU is used before the culprit comes, and all of another one by a group that has
 * nothing to do with it. */
static void saturate(void)
{
    for (int i = 0; i < SOAKERS; i++)
        start_member(SOAKER, cpu);
    for (int i = 0; i < REMOTE && cpu > 0; i++)
        start_member(SOAKER, 0);
}

static void watch_members(void)
{
    uint64_t ids[MEMBERS];

    for (int i = 0; i < member_count; i++)
        ids[i] = members[i].id;
    ck_assert_int_eq(hr_blame_watch(live.blame, ids, (size_t)member_count), 0);
}

/* --- Episodes ------------------------------------------------------------- */

static void await_run(int member, double from_ms, double ms)
{
    while (live_read_time(members[member].counter) < from_ms + ms)
        usleep(5000);
}

static void begin_episode(int victim)
{
    roles[victim] = VICTIM;
    await_run(victim, live_read_time(members[victim].counter), 10);
    live_read(&live, 0);
    for (int i = 0; i < member_count; i++)
        members[i].before_ms = live_read_time(members[i].counter);
}

static void end_episode(int victim, int culprit)
{
    roles[culprit] = CULPRIT;
    await_run(culprit, members[culprit].before_ms, CULPRIT_MS);
    live_read(&live, 1);
    for (int i = 0; i < member_count; i++)
        members[i].ran_ms = live_read_time(members[i].counter) - members[i].before_ms;
    roles[culprit] = roles[victim] = BYSTANDER;
    ck_assert_int_eq(hr_blame_delta(&live.before, &live.after, &live.delta), 0);
}

/* Whether the kernel says that it was the culprit. */
static bool is_to_judge(int victim, int culprit)
{
    for (int i = 0; i < member_count && i < PLAYERS + SOAKERS; i++)
        if (i != victim && i != culprit && members[culprit].ran_ms < JUDGED * members[i].ran_ms) {
            printf("# not judged: %s ran for %.1f ms, %s, the culprit, for %.1f ms\n",
                   members[i].group, members[i].ran_ms, members[culprit].group,
                   members[culprit].ran_ms);
            return false;
        }
    return true;
}

/* The one with the most, by what was measured or, as usual monitors have it, by use of CPUs. */
static int find_first(int victim, bool by_use)
{
    double most = 0;
    int first = -1;

    for (int i = 0; i < member_count; i++) {
        const double ms =
            by_use ? members[i].ran_ms
                   : live_cell_by_id(&live, members[victim].id, HR_BLAME_GROUP, members[i].id);
        if (i != victim && ms > most) {
            most = ms;
            first = i;
        }
    }
    return first;
}

static void expect_culprit(int victim, int culprit)
{
    const double taken =
        live_cell_by_id(&live, members[victim].id, HR_BLAME_GROUP, members[culprit].id);
    const int first = find_first(victim, false);

    if (first != culprit)
        live_print(&live);
    ck_assert_msg(first == culprit,
                  "%s waited for %s first, %.1f ms for %s, the culprit, which ran %.1f ms",
                  members[victim].group, first < 0 ? "none" : members[first].group, taken,
                  members[culprit].group, members[culprit].ran_ms);
    /* One process waited, so it can't have been for longer than the other one ran. */
    ck_assert_double_le(taken, members[culprit].ran_ms * (1 + LIVE_TAKEN_PCT / 100) + LIVE_EDGE_MS);
}

static int episode_count(void)
{
    const char *text = getenv("HEADROOM_TEST_ROUNDS");

    return text != NULL && atoi(text) > 0 ? atoi(text) : EPISODES;
}

START_TEST(test_a_hidden_culprit_is_the_first)
{
    const bool saturated = _i == 1;
    const int count = episode_count();
    int judged = 0, by_use = 0;
    unsigned seed = 20261123;

    for (int i = 0; i < PLAYERS; i++)
        start_member(BYSTANDER, cpu);
    if (saturated)
        saturate();
    watch_members();
    for (int tries = 0; judged < count && tries < 20 * count; tries++) {
        const int victim = rand_r(&seed) % PLAYERS;
        const int culprit = (victim + 1 + rand_r(&seed) % (PLAYERS - 1)) % PLAYERS;
        usleep((useconds_t)(rand_r(&seed) % 30000));
        begin_episode(victim);
        end_episode(victim, culprit);
        if (!is_to_judge(victim, culprit))
            continue;
        expect_culprit(victim, culprit);
        judged++;
        by_use += find_first(victim, true) == culprit;
    }
    printf("# %s: the culprit first in %d of %d, by use of CPUs in %d\n",
           saturated ? "saturated" : "not saturated", judged, count, by_use);
    ck_assert_int_eq(judged, count);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("blame_culprit_live");
    tcase_set_timeout(tests, 600); /* only there to end what hangs */

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!live_can_measure())
        return 0;
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, test_a_hidden_culprit_is_the_first, 0, 2);
    return run_suite("blame_culprit_live", tests);
}
