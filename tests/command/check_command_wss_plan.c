/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_wss_plan.c - the times at which `headroom wss` begins measurements and
 * reads them.
 */
#include "support/suite.h"
#include "wss/plan.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define MS UINT64_C(1000000)
#define S  (1000 * MS)

/* Runs a plan to its end, or 100 readings, each of which takes so long; keeps the turns. */
static int run_plan(const struct wss_plan *plan, uint64_t begin_ns, uint64_t read_ns,
                    struct wss_turn turns[100])
{
    uint64_t now_ns = 0, begun_ns = 0, first_ns = 0;
    int count = 0;
    while (count < 100 && wss_plan_next(plan, (size_t)count, now_ns - first_ns, &turns[count])) {
        const struct wss_turn *turn = &turns[count];
        if (turn->begins) {
            uint64_t due_ns = first_ns + turn->begin_ns;
            now_ns = (due_ns > now_ns ? due_ns : now_ns) + begin_ns;
            begun_ns = now_ns;
            first_ns = count == 0 ? begun_ns : first_ns;
        }
        uint64_t due_ns = begun_ns + turn->wait_ns;
        now_ns = (due_ns > now_ns ? due_ns : now_ns) + read_ns;
        count++;
    }
    return count;
}

START_TEST(one_snapshot)
{
    struct wss_turn turns[100];
    const struct wss_plan plan = {.mode = WSS_SNAPSHOT, .window_ns = 100 * MS};

    ck_assert_int_eq(run_plan(&plan, 30 * MS, 20 * MS, turns), 1);
    ck_assert(turns[0].begins);
    ck_assert_uint_eq(turns[0].begin_ns, 0);
    ck_assert_uint_eq(turns[0].window_ns, 100 * MS);
    ck_assert_uint_eq(turns[0].wait_ns, 100 * MS);
    ck_assert_uint_eq(wss_plan_readings(&plan), 1);
    ck_assert_uint_eq(wss_plan_longest_ns(&plan), 100 * MS);
}
END_TEST

/* Each window is twice the one before, from one beginning, however long reading takes. */
START_TEST(profile_doubles)
{
    static const uint64_t read_ns[] = {0, 8 * MS, 5 * S};
    for (int i = 0; i < COUNT(read_ns); i++) {
        struct wss_turn turns[100];
        const struct wss_plan plan = {.mode = WSS_PROFILE, .window_ns = MS, .steps = 16};

        ck_assert_int_eq(run_plan(&plan, 8 * MS, read_ns[i], turns), 16);
        for (int step = 0; step < 16; step++) {
            ck_assert_int_eq(turns[step].begins, step == 0);
            ck_assert_uint_eq(turns[step].window_ns, MS << step);
            ck_assert_uint_eq(turns[step].wait_ns, MS << step);
        }
        ck_assert_uint_eq(wss_plan_readings(&plan), 16);
        /* as in the table of 0.001 s and 16 steps that this mode is known by */
        ck_assert_uint_eq(wss_plan_longest_ns(&plan), 32768 * MS);
    }
}
END_TEST

START_TEST(profile_of_one_step)
{
    struct wss_turn turns[100];
    const struct wss_plan plan = {.mode = WSS_PROFILE, .window_ns = S, .steps = 1};

    ck_assert_int_eq(run_plan(&plan, 0, 0, turns), 1);
    ck_assert_uint_eq(wss_plan_longest_ns(&plan), S);
}
END_TEST

static const struct {
    const char *name;
    uint64_t window_ns, total_ns, read_ns;
    int count;
    size_t readings; /* announced */
    uint64_t windows_ns[8];
} growths[] = {
    {"without end", S, 0, 0, 100, 0, {S, 2 * S, 3 * S, 4 * S}},
    {"a total of whole windows", S, 3 * S, 20 * MS, 3, 3, {S, 2 * S, 3 * S}},
    {"a rest at the end", 300 * MS, S, MS, 4, 4, {300 * MS, 600 * MS, 900 * MS, S}},
    {"a total of one window", S, S, 0, 1, 1, {S}},
    {"a total hardly longer", S, S + 1, 0, 2, 2, {S, S + 1}},
    {"readings that take long miss times", S, 6 * S, 1200 * MS, 3, 6, {S, 3 * S, 5 * S}},
    {"a last reading that begins late", S, 5 * S, 1900 * MS, 3, 5, {S, 3 * S, 5 * S}},
    {"readings beyond the end", S, 2 * S, 9 * S, 1, 2, {S}},
};

START_TEST(cumulative_grows)
{
    struct wss_turn turns[100];
    const struct wss_plan plan = {.mode = WSS_CUMULATIVE,
                                  .window_ns = growths[_i].window_ns,
                                  .total_ns = growths[_i].total_ns};
    int count = run_plan(&plan, 50 * MS, growths[_i].read_ns, turns);

    ck_assert_msg(count == growths[_i].count, "%s: %d readings", growths[_i].name, count);
    ck_assert_uint_eq(wss_plan_readings(&plan), growths[_i].readings);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(turns[i].begins, i == 0);
        ck_assert_uint_eq(turns[i].wait_ns, turns[i].window_ns);
        if (i < 8 && growths[_i].windows_ns[i] != 0)
            ck_assert_msg(turns[i].window_ns == growths[_i].windows_ns[i], "%s: %d",
                          growths[_i].name, i);
    }
    if (plan.total_ns > 0)
        ck_assert_uint_eq(wss_plan_longest_ns(&plan), plan.total_ns);
    else
        ck_assert_uint_eq(wss_plan_longest_ns(&plan), WSS_SECONDS_MAX * S);
}
END_TEST

static const struct {
    const char *name;
    uint64_t window_ns, pause_ns, total_ns, begin_ns, read_ns;
    int count;
    uint64_t begins_ns[5]; /* after the beginning of the first, which itself took a while */
} repeats[] = {
    {"without end", S, 0, 0, 0, 0, 100, {0, S, 2 * S}},
    {"with pauses", S, 2 * S, 0, 0, 0, 100, {0, 3 * S, 6 * S, 9 * S}},
    {"a pause begins when all is read", S, S, 0, 0, 500 * MS, 100, {0, 2500 * MS, 5 * S}},
    {"a total", S, 0, 4 * S, 0, 0, 4, {0, S, 2 * S, 3 * S}},
    {"what little they take costs none", S, 0, 4 * S, 20 * MS, 50 * MS, 4, {0, 1050 * MS}},
    {"more than half lies within", S, 500 * MS, 2 * S, 0, 0, 2, {0, 1500 * MS}},
    {"less than half does", S, 600 * MS, 2 * S, 0, 0, 1, {0}},
    {"a total of one", S, 0, S, 0, 0, 1, {0}},
};

START_TEST(snapshots_repeat)
{
    struct wss_turn turns[100];
    const struct wss_plan plan = {.mode = WSS_SNAPSHOTS,
                                  .window_ns = repeats[_i].window_ns,
                                  .pause_ns = repeats[_i].pause_ns,
                                  .total_ns = repeats[_i].total_ns};
    int count = run_plan(&plan, repeats[_i].begin_ns, repeats[_i].read_ns, turns);

    ck_assert_msg(count == repeats[_i].count, "%s: %d snapshots", repeats[_i].name, count);
    for (int i = 0; i < count; i++) {
        ck_assert(turns[i].begins);
        ck_assert_uint_eq(turns[i].window_ns, plan.window_ns);
        ck_assert_uint_eq(turns[i].wait_ns, plan.window_ns);
        if (i < 5 && (i == 0 || repeats[_i].begins_ns[i] != 0))
            ck_assert_msg(turns[i].begin_ns == repeats[_i].begins_ns[i], "%s: %d", repeats[_i].name,
                          i);
    }
    ck_assert_uint_eq(wss_plan_readings(&plan), 1);
}
END_TEST

/* Readings of the past need no waiting, except in modes without an end. */
START_TEST(looks_back)
{
    static const bool waits[] = {[WSS_SNAPSHOT] = false,
                                 [WSS_SNAPSHOTS] = true,
                                 [WSS_CUMULATIVE] = true,
                                 [WSS_PROFILE] = false};
    struct wss_turn turns[100];
    const struct wss_plan plan = {.mode = (enum wss_mode)_i,
                                  .window_ns = S,
                                  .total_ns = 3 * S,
                                  .steps = 3,
                                  .looks_back = true};
    int count = run_plan(&plan, 0, 0, turns);

    ck_assert_int_eq(count, _i == WSS_SNAPSHOT ? 1 : 3);
    for (int i = 0; i < count; i++) {
        ck_assert_uint_eq(turns[i].wait_ns, waits[_i] ? turns[i].window_ns : 0);
        ck_assert_uint_ge(turns[i].window_ns, S);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss_plan");

    tcase_add_test(tests, one_snapshot);
    tcase_add_test(tests, profile_doubles);
    tcase_add_test(tests, profile_of_one_step);
    tcase_add_loop_test(tests, cumulative_grows, 0, COUNT(growths));
    tcase_add_loop_test(tests, snapshots_repeat, 0, COUNT(repeats));
    tcase_add_loop_test(tests, looks_back, WSS_SNAPSHOT, WSS_PROFILE + 1);
    return run_suite("wss_plan", tests);
}
