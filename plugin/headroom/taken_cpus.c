/* SPDX-License-Identifier: MIT */
#include "headroom/taken_cpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/array.h"
#include "utils_cache.h"

/* As the psi plugin names them: "HOST/psi-INSTANCE/derive-cpu_taken_by_TAKER_us", and
 * "…/derive-cpu_taken_unattributed_us", in microseconds. */
#define SERIES_BEGIN "/psi-"
#define TAKEN_BEGIN  "/derive-cpu_taken_"
#define BY           "by_"
#define TAKEN_END    "_us"

#define US_PER_S_PER_PCT 1e4

/* --- Names -------------------------------------------------------------------------- */

/* @return what of a name follows a beginning; NULL: it begins otherwise, or is NULL itself. */
static const char *skip(const char *name, const char *beginning)
{
    const size_t length = strlen(beginning);

    return name != NULL && strncmp(name, beginning, length) == 0 ? name + length : NULL;
}

/* The names are the cache's own, and it is locked while they are walked. What memory is too short
 * for is left out. */
static void list_names(struct taken_cpus *taken)
{
    uc_iter_t *cache = uc_get_iterator();
    char *name;

    taken->is_listed = true;
    while (cache != NULL && uc_iterator_next(cache, &name) == 0) {
        if (skip(skip(name, hostname_g), SERIES_BEGIN) == NULL ||
            strstr(name, TAKEN_BEGIN) == NULL ||
            HR_ARRAY_RESERVE(taken->names, taken->capacity, taken->count + 1) != 0)
            continue;
        taken->names[taken->count] = strdup(name);
        taken->count += taken->names[taken->count] != NULL;
    }
    uc_iterator_destroy(cache);
}

/* @return the taker of a series of the group, which ends with TAKEN_END; NULL: it is another one.
 */
static const char *find_taker(const char *name, const char *instance)
{
    const char *taker =
        skip(skip(skip(skip(name, hostname_g), SERIES_BEGIN), instance), TAKEN_BEGIN);
    const char *by = skip(taker, BY);

    if (by != NULL)
        taker = by;
    if (taker == NULL || strlen(taker) <= strlen(TAKEN_END) ||
        strcmp(taker + strlen(taker) - strlen(TAKEN_END), TAKEN_END) != 0)
        return NULL;
    return taker;
}

/* --- Parts -------------------------------------------------------------------------- */

/* What it grew by in a second, of the last interval; 0: not known. */
static double read_rate(const char *name)
{
    gauge_t *rates = NULL;
    size_t count = 0;

    if (uc_get_rate_by_name(name, &rates, &count) != 0)
        return 0;
    const double rate = count > 0 && rates[0] > 0 ? rates[0] : 0;
    free(rates);
    return rate;
}

/* @return the sum of all. */
static double read_rates(const struct taken_cpus *taken, const char *instance,
                         struct taken_cpus_parts *parts)
{
    double sum = 0;

    for (size_t i = 0; i < taken->count && parts->count < TAKEN_CPUS_MOST; i++) {
        const char *taker = find_taker(taken->names[i], instance);
        if (taker == NULL)
            continue;
        struct taken_cpus_part *part = &parts->list[parts->count++];
        part->pct = read_rate(taken->names[i]);
        snprintf(part->taker, sizeof(part->taker), "%.*s", (int)(strlen(taker) - strlen(TAKEN_END)),
                 taker);
        sum += part->pct;
    }
    return sum;
}

static int compare(const void *left, const void *right)
{
    const struct taken_cpus_part *a = left, *b = right;

    return (a->pct < b->pct) - (a->pct > b->pct);
}

bool taken_cpus_find(struct taken_cpus *taken, const char *instance, double stall_pct,
                     struct taken_cpus_parts *parts)
{
    parts->count = 0;
    if (!taken->is_listed)
        list_names(taken);
    const double sum = read_rates(taken, instance, parts);
    if (!(sum > 0 && sum >= stall_pct / 2 * US_PER_S_PER_PCT))
        return false;
    for (size_t i = 0; i < parts->count; i++)
        parts->list[i].pct *= 100 / sum;
    qsort(parts->list, parts->count, sizeof(*parts->list), compare);
    return true;
}

void taken_cpus_free(struct taken_cpus *taken)
{
    for (size_t i = 0; i < taken->count; i++)
        free(taken->names[i]);
    free(taken->names);
    *taken = (struct taken_cpus){.names = NULL};
}
