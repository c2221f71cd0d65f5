/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_room_rules.c - what is said of groups whose course is known, by headroom and by the
 * rules that others use, in compressed time: how often a load without a leak is taken for one, when
 * a leak is expected to end, and how much memory a group needs, against what it used in the hour
 * after that.
 *
 *     bench_room_rules [GROUPS [HOURS]]      of each load; default: 5 72
 *
 * Each is measured twice: of groups without files, and beside files that are read once and fill the
 * cache up to the limit, of which the kernel keeps one half as active.
 */
#include <math.h>

#include "bench.h"
#include "headroom/clock.h"
#include "headroom/forecast.h"
#include "report/advice.h"
#include "report/trend.h"
#include "support/baselines.h"
#include "support/loads.h"

#define POINT_S 20
#define HOUR    3600.0
#define DAY     (24 * HOUR)
#define UNIT    (10.0 * 1048576) /* of a level, so that groups need 600 MiB to 1 GiB */

/* --- A group ------------------------------------------------------------------------ */

struct memory {
    double needed, current, inactive_file, active_file; /* bytes */
};

static struct memory make_memory(double needed, double limit, bool has_files)
{
    const double files = has_files ? fmax(limit - needed, 0) : 0;

    return (struct memory){needed, needed + files, files / 2, files / 2};
}

static double highest_limit(int group, int count)
{
    return (110 + 40.0 * group / count) * UNIT;
}

static struct hr_outlook update(struct hr_forecast *forecast, double t, double level, double limit)
{
    struct hr_outlook outlook;

    hr_forecast_update(forecast, (uint64_t)((t + 123456) * 1e9), level, limit, &outlook);
    return outlook;
}

/* --- Loads that don't leak ------------------------------------------------------------ */

enum { OURS, SQUARES, SQUARES_OF_CURRENT, FORECASTS };

static void count_false(size_t load, int group, int groups, int episodes[FORECASTS])
{
    const double begin = loads_begin(load, group, groups), limit = highest_limit(group, groups);
    struct least_squares of_need = {.count = 0}, of_current = {.count = 0};
    bool was[FORECASTS] = {false};
    struct hr_forecast forecast;
    double files = 0;

    hr_forecast_init(&forecast, POINT_S * HR_NS_PER_S);
    for (double t = 0; t < 6 * HOUR; t += LOADS_STEP_S) {
        const double need = loads_level(load, begin + t) * UNIT;
        files = fmin(files + 0.5 * UNIT, fmax(limit - need, 0)); /* read once, 0.5 MiB/s */
        const bool is[FORECASTS] = {
            update(&forecast, t, need, limit).is_trend,
            least_squares_expects(&of_need, need, limit),
            least_squares_expects(&of_current, need + files, limit),
        };
        for (int i = 0; i < FORECASTS; i++) {
            episodes[i] += is[i] && !was[i];
            was[i] = is[i];
        }
    }
}

static void print_false(int groups)
{
    int all[FORECASTS] = {0};

    printf("False episodes, of %d groups in 6 hours, by\n"
           "                    headroom  least squares  the same, of memory.current\n",
           groups);
    for (size_t load = 0; load < LOADS_COUNT; load++) {
        int episodes[FORECASTS] = {0};
        for (int group = 0; group < groups; group++)
            count_false(load, group, groups, episodes);
        printf("%-18s  %8d  %13d  %13d\n", loads_name(load), episodes[OURS], episodes[SQUARES],
               episodes[SQUARES_OF_CURRENT]);
        for (int i = 0; i < FORECASTS; i++)
            all[i] += episodes[i];
    }
    printf("%-18s  %8d  %13d  %13d\n\n", "all", all[OURS], all[SQUARES], all[SQUARES_OF_CURRENT]);
}

/* --- Leaks ---------------------------------------------------------------------------- */

static double no_noise(double t)
{
    (void)t;
    return 0;
}

static double noise(double t)
{
    (void)t;
    return 2 * loads_normal();
}

static double garbage(double t)
{
    return 10 * fmod(t, 120) / 120 + loads_normal();
}

static const struct {
    const char *name;
    double (*noise)(double t);
} leaks[] = {{"clean", no_noise}, {"noisy", noise}, {"garbage", garbage}};

#define LEAKS (sizeof(leaks) / sizeof(leaks[0]))

/* The errors of the time that is left at half of a leak's life, in percent; NAN: nothing is
 * expected. */
static void expect_end(size_t leak, double life_s, int group, double errors[FORECASTS])
{
    struct least_squares of_need = {.count = 0}, of_current = {.count = 0};
    double expected[FORECASTS] = {NAN, NAN, NAN}, left_s = INFINITY;
    struct hr_forecast forecast;

    loads_seed((uint64_t)group * 7919 + leak);
    hr_forecast_init(&forecast, POINT_S * HR_NS_PER_S);
    for (double t = 0; left_s > life_s / 2; t += LOADS_STEP_S) {
        const double grown = 200 * fmax(t - 2 * HOUR, 0) / life_s, limit = 250;
        const double need = 50 + leaks[leak].noise(t) + grown;
        const struct hr_outlook outlook = update(&forecast, t, need, limit);
        expected[OURS] = outlook.is_trend ? outlook.trouble_s : NAN;
        expected[SQUARES] = LOADS_STEP_S * least_squares_left(&of_need, need, limit);
        expected[SQUARES_OF_CURRENT] = LOADS_STEP_S * least_squares_left(&of_current, limit, limit);
        left_s = 2 * HOUR + life_s - t;
    }
    for (int i = 0; i < FORECASTS; i++)
        errors[i] = isfinite(expected[i]) ? 100 * fabs(expected[i] - left_s) / left_s : NAN;
}

static void print_error(double *errors, int count)
{
    double known[1000];
    size_t known_count = 0;

    for (int i = 0; i < count; i++)
        if (!isnan(errors[i]))
            known[known_count++] = errors[i];
    if (known_count == 0)
        printf("  %16s", "nothing");
    else
        printf("  %5.0f %% of %4.0f %%", median(known, known_count),
               100.0 * (double)known_count / count);
}

static void print_leaks(int groups)
{
    static const double lives_s[] = {1800, 3600, 14400};

    printf(
        "Median error of the time that is left at half of a leak's life, and of how many groups "
        "it is said, by\n"
        "                            headroom     least squares  of memory.current, with files\n");
    for (size_t i = 0; i < LEAKS * 3; i++) {
        double errors[FORECASTS][1000], of_group[FORECASTS];
        for (int group = 0; group < groups; group++) {
            expect_end(i / 3, lives_s[i % 3], group, of_group);
            for (int j = 0; j < FORECASTS; j++)
                errors[j][group] = of_group[j];
        }
        printf("%-8s %5.0f min", leaks[i / 3].name, lives_s[i % 3] / 60);
        for (int j = 0; j < FORECASTS; j++)
            print_error(errors[j], groups);
        putchar('\n');
    }
    putchar('\n');
}

/* --- How much a group needs ------------------------------------------------------------- */

enum { ADVICE, COARSE, VPA, AUTOPILOT, WORKING_SET, RULES };

static const char *const rules[] = {"headroom", "without a profile", "VPA", "Autopilot",
                                    "without inactive"};

struct score {
    int asked, said, violated;
    double slack; /* sum of what was too much, in percent of what was used most in the next hour */
};

/* What report makes of what the plugin has saved. */
static double advise(const struct hr_forecast *forecast, const struct hr_outlook *outlook,
                     const struct memory *memory, bool has_profile, double limit)
{
    const double used = memory->needed + (has_profile ? 0 : memory->active_file);
    const struct hr_room room = {
        .needed = memory->needed, .used = used, .attainable = limit, .bound = HR_ROOM_MEMORY_MAX};
    struct trend trend = {.outlook = *outlook, .slope_per_s = NAN, .point_s = POINT_S};
    struct advice advice;
    double point_s = POINT_S;

    for (size_t i = 0; i < HR_FORECAST_WINDOWS; i++, point_s *= HR_FORECAST_LONGER)
        if (forecast->windows[i].is_fit) {
            trend.point_s = point_s;
            trend.slope_per_s = (double)forecast->windows[i].slope / point_s;
        }
    trend.highest = hr_forecast_highest(forecast);
    advice_make(&room, &trend, &advice);
    return advice.none.text[0] == '\0' ? advice.bytes : NAN;
}

static void score(struct score *score, double said, double most)
{
    score->asked++;
    if (isnan(said))
        return;
    score->said++;
    score->violated += said < most;
    score->slack += 100 * (said / most - 1);
}

/* Scores what was said at the beginning of each hour, after the first day. */
static void judge(size_t load, int group, int groups, double hours, bool has_files,
                  struct score scores[RULES])
{
    const double begin = loads_begin(load, group, groups), limit = highest_limit(group, groups);
    static struct baseline_peaks days, parts;
    struct hr_forecast forecast;
    double said[RULES] = {0}, most = 0;

    days = (struct baseline_peaks){.part_s = DAY};
    parts = (struct baseline_peaks){.part_s = 300};
    hr_forecast_init(&forecast, POINT_S * HR_NS_PER_S);
    for (double t = 0; t <= hours * HOUR; t += LOADS_STEP_S) {
        const double need = loads_level(load, begin + t) * UNIT;
        const struct memory memory = make_memory(need, limit, has_files);
        const struct hr_outlook outlook = update(&forecast, t, need, limit);
        const double set = memory.current - memory.inactive_file;
        baseline_peaks_add(&days, t, set);
        baseline_peaks_add(&parts, t, memory.current);
        most = fmax(most, need);
        if (t < DAY || fmod(t, HOUR) >= LOADS_STEP_S)
            continue;
        for (int i = 0; t > DAY && i < RULES; i++)
            score(&scores[i], said[i], most);
        said[ADVICE] = advise(&forecast, &outlook, &memory, true, limit);
        said[COARSE] = advise(&forecast, &outlook, &memory, false, limit);
        said[VPA] = baseline_vpa(&days);
        said[AUTOPILOT] = baseline_autopilot(&parts);
        said[WORKING_SET] = 1.15 * set;
        most = 0;
    }
}

static void print_score(const char *name, const struct score scores[RULES])
{
    printf("%-18s", name);
    for (int i = 0; i < RULES; i++)
        if (scores[i].said == 0)
            printf("  %18s", "nothing");
        else
            printf("  %5.1f %% %+4.0f %% %3.0f %%", 100.0 * scores[i].violated / scores[i].said,
                   scores[i].slack / scores[i].said, 100.0 * scores[i].said / scores[i].asked);
    putchar('\n');
}

static void print_needs(int groups, double hours, bool has_files)
{
    struct score all[RULES] = {{.asked = 0}};

    printf("How much a group needs, %s: too little in so many hours, too much on average, and how "
           "often it is said, by\n%18s",
           has_files ? "beside files that are read once (headroom: with a profile of wss)"
                     : "without files",
           "");
    for (int i = 0; i < RULES; i++)
        printf("  %18s", rules[i]);
    putchar('\n');
    for (size_t load = 0; load < LOADS_COUNT; load++) {
        struct score scores[RULES] = {{.asked = 0}};
        for (int group = 0; group < groups; group++)
            judge(load, group, groups, hours, has_files, scores);
        print_score(loads_name(load), scores);
        for (int i = 0; i < RULES; i++) {
            all[i].asked += scores[i].asked;
            all[i].said += scores[i].said;
            all[i].violated += scores[i].violated;
            all[i].slack += scores[i].slack;
        }
    }
    print_score("all", all);
    putchar('\n');
}

int main(int argc, char **argv)
{
    const int groups = argc > 1 ? atoi(argv[1]) : 5;
    const double hours = argc > 2 ? atof(argv[2]) : 72;

    errno = EINVAL;
    require(groups >= 1 && groups <= 1000, "groups");
    require(hours > 24 && hours * HOUR / 300 < BASELINE_PEAKS, "hours");
    print_false(groups);
    print_leaks(groups);
    print_needs(groups, hours, false);
    print_needs(groups, hours, true);
    return 0;
}
