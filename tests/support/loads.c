/* SPDX-License-Identifier: MIT */
#include "support/loads.h"

#include <math.h>

#define HOUR 3600.0
#define PI   3.14159265358979323846

/* --- Random numbers: always the same -------------------------------------------- */

static uint64_t state;

void loads_seed(uint64_t number)
{
    state = 88172645463325252 + number * 2654435761;
}

double loads_uniform(void)
{
    /* xorshift64 */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

double loads_normal(void)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += loads_uniform();
    return sum - 6;
}

/* --- Loads: levels of about 100 -------------------------------------------------- */

static double kept; /* of the group; 0 at first */

static double autoregression(double t)
{
    (void)t;
    kept = 0.98 * kept + loads_normal();
    return 75 + kept;
}

static double garbage_of_minutes(double t)
{
    return 60 + 40 * fmod(t, 600) / 600 + loads_normal();
}

static double garbage_of_hours(double t)
{
    return 60 + 40 * fmod(t, 1.5 * HOUR) / (1.5 * HOUR) + loads_normal() / 2;
}

static double steps(double t)
{
    if (fmod(t, HOUR) < LOADS_STEP_S)
        kept = 10 * floor(5 * loads_uniform());
    return 55 + kept + loads_normal() / 2;
}

static double cron(double t)
{
    return 60 + (fmod(t, 900) < 60 ? 35 : 0) + loads_normal();
}

static double warm_up(double t)
{
    return 95 * (1 - exp(-t / 2400)) + loads_normal() / 2;
}

static double day(double t)
{
    return 65 + 30 * sin(2 * PI * t / (24 * HOUR)) + loads_normal();
}

static double white(double t)
{
    (void)t;
    return 90 + 2 * loads_normal();
}

static const struct {
    const char *name;
    double (*level)(double t);
} loads[] = {
    {"autoregression", autoregression},
    {"garbage, 10 min", garbage_of_minutes},
    {"garbage, 90 min", garbage_of_hours},
    {"steps", steps},
    {"cron", cron},
    {"warm-up", warm_up},
    {"day", day},
    {"white noise", white},
};

_Static_assert(sizeof(loads) / sizeof(loads[0]) == LOADS_COUNT, "each load is counted");

const char *loads_name(size_t load)
{
    return loads[load].name;
}

double loads_begin(size_t load, int group, int groups)
{
    loads_seed((uint64_t)group * 1000 + load);
    kept = 0;
    return loads[load].level == warm_up ? 0 : 24 * HOUR * group / groups;
}

double loads_level(size_t load, double t)
{
    return loads[load].level(t);
}
