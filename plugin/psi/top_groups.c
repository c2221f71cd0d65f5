/* SPDX-License-Identifier: MIT */
#include "psi/top_groups.h"

#include <stdlib.h>
#include <strings.h>

#include "common/options.h"

#define PLUGIN "psi"

static const struct {
    const char *word;
    enum hr_psi_resource resource;
    enum hr_psi_level level;
} ranks[PSI_TOP_RANKS] = {
    {"cpu-some", HR_PSI_CPU, HR_PSI_SOME},       {"cpu-full", HR_PSI_CPU, HR_PSI_FULL},
    {"memory-some", HR_PSI_MEMORY, HR_PSI_SOME}, {"memory-full", HR_PSI_MEMORY, HR_PSI_FULL},
    {"io-some", HR_PSI_IO, HR_PSI_SOME},         {"io-full", HR_PSI_IO, HR_PSI_FULL},
    {"irq-full", HR_PSI_IRQ, HR_PSI_FULL},
};

/* --- The option ----------------------------------------------------------- */

int psi_top_option(struct psi_top_options *options, const oconfig_item_t *item)
{
    if (option_check(PLUGIN, item) < 0)
        return -1;
    for (int i = 0; i < PSI_TOP_RANKS; i++)
        if (strcasecmp(item->values[1].value.string, ranks[i].word) == 0)
            options->most[i] = (size_t)item->values[0].value.number;
    return 0;
}

bool psi_top_is_limited(const struct psi_top_options *options)
{
    for (int i = 0; i < PSI_TOP_RANKS; i++)
        if (options->most[i] > 0)
            return true;
    return false;
}

const char *psi_top_find_unsampled(const struct psi_top_options *options,
                                   const bool sampled[HR_PSI_RESOURCE_COUNT])
{
    for (int i = 0; i < PSI_TOP_RANKS; i++)
        if (options->most[i] > 0 && !sampled[ranks[i].resource])
            return ranks[i].word;
    return NULL;
}

/* --- Choosing ------------------------------------------------------------- */

/* 0 where it isn't known. */
static double average(const struct psi_top_candidate *candidate, int rank)
{
    const enum hr_psi_resource resource = ranks[rank].resource;

    if (candidate->snapshot->status[resource] != 0)
        return 0;
    return candidate->snapshot->sample[resource].stall[ranks[rank].level].avg60_pct;
}

static int compare_averages(const void *first, const void *second, void *rank)
{
    const double a = average(first, *(int *)rank), b = average(second, *(int *)rank);

    return (a < b) - (a > b);
}

static int compare_times(const void *first, const void *second, void *rank)
{
    const struct psi_top_candidate *one = first, *other = second;
    const cdtime_t a = one->standing->worst_time[*(int *)rank];
    const cdtime_t b = other->standing->worst_time[*(int *)rank];

    return (a < b) - (a > b);
}

/* Times after this one are from before the clock was set back. */
static void choose_by(int rank, size_t most, struct psi_top_candidate *candidates, size_t count,
                      cdtime_t time)
{
    const cdtime_t hold = TIME_T_TO_CDTIME_T(PSI_TOP_HOLD_S);

    qsort_r(candidates, count, sizeof(*candidates), compare_averages, &rank);
    for (size_t i = 0; i < count; i++) {
        cdtime_t *worst_time = &candidates[i].standing->worst_time[rank];
        if (i < most && average(&candidates[i], rank) > 0)
            *worst_time = time;
        else if (*worst_time > time)
            *worst_time = 0;
    }
    qsort_r(candidates, count, sizeof(*candidates), compare_times, &rank);
    for (size_t i = 0; i < count && i < 2 * most; i++) {
        struct psi_top_standing *standing = candidates[i].standing;
        const cdtime_t worst_time = standing->worst_time[rank];
        standing->is_top |= worst_time > 0 && time - worst_time <= hold;
    }
}

void psi_top_choose(const struct psi_top_options *options, struct psi_top_candidate *candidates,
                    size_t count, cdtime_t time)
{
    for (size_t i = 0; i < count; i++) {
        struct psi_top_standing *standing = candidates[i].standing;
        standing->was_top = standing->is_top;
        standing->is_top = false;
    }
    for (int i = 0; count > 0 && i < PSI_TOP_RANKS; i++)
        if (options->most[i] > 0)
            choose_by(i, options->most[i], candidates, count, time);
}
