/* SPDX-License-Identifier: MIT */
#include "headroom/taken_cpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/array.h"
#include "utils_cache.h"

/* As the psi plugin names them: "HOST/psi-INSTANCE/derive-cpu_taken_by_TAKER_us", and
 * "…/derive-cpu_taken_unattributed_us". */
#define SERIES_BEGIN "/psi-"
#define TAKEN_BEGIN  "/derive-cpu_taken_"
#define BY           "by_"
#define TAKEN_END    "_us"

/* @return what of a name follows a beginning; NULL: it begins otherwise, or is NULL itself. */
static const char *skip(const char *name, const char *beginning)
{
    const size_t length = strlen(beginning);

    return name != NULL && strncmp(name, beginning, length) == 0 ? name + length : NULL;
}

/* @return whether it is such a series of the group, and which part. */
static bool parse_name(const char *name, const char *instance, struct taken_cpus_part *part)
{
    const char *taker =
        skip(skip(skip(skip(name, hostname_g), SERIES_BEGIN), instance), TAKEN_BEGIN);
    const char *by = skip(taker, BY);

    if (taker == NULL)
        return false;
    if (by != NULL)
        taker = by;
    const size_t length = strlen(taker), end = strlen(TAKEN_END);
    if (length <= end || strcmp(taker + length - end, TAKEN_END) != 0)
        return false;
    *part = (struct taken_cpus_part){.pct = 0};
    snprintf(part->taker, sizeof(part->taker), "%.*s", (int)(length - end), taker);
    return true;
}

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

/* The names are the cache's own, and it is locked while they are walked. */
static void list_names(const char *instance, struct taken_cpus *taken)
{
    uc_iter_t *cache = uc_get_iterator();
    struct taken_cpus_part part;
    char *name;

    while (cache != NULL && uc_iterator_next(cache, &name) == 0)
        if (parse_name(name, instance, &part) &&
            HR_ARRAY_RESERVE(taken->parts, taken->capacity, taken->count + 1) == 0)
            taken->parts[taken->count++] = part;
    uc_iterator_destroy(cache);
}

static double read_rates(const char *instance, struct taken_cpus *taken)
{
    double sum = 0;

    for (size_t i = 0; i < taken->count; i++) {
        struct taken_cpus_part *part = &taken->parts[i];
        char name[4 * DATA_MAX_NAME_LEN];
        const bool is_by = strcmp(part->taker, "unattributed") != 0;
        snprintf(name, sizeof(name), "%s" SERIES_BEGIN "%s" TAKEN_BEGIN "%s%s" TAKEN_END,
                 hostname_g, instance, is_by ? BY : "", part->taker);
        part->pct = read_rate(name);
        sum += part->pct;
    }
    return sum;
}

static int compare(const void *left, const void *right)
{
    const struct taken_cpus_part *a = left, *b = right;

    return (a->pct < b->pct) - (a->pct > b->pct);
}

bool taken_cpus_read(const char *instance, struct taken_cpus *taken)
{
    list_names(instance, taken);
    const double sum = read_rates(instance, taken);
    if (!(sum > 0))
        return false;
    for (size_t i = 0; i < taken->count; i++)
        taken->parts[i].pct *= 100 / sum;
    qsort(taken->parts, taken->count, sizeof(*taken->parts), compare);
    return true;
}

void taken_cpus_free(struct taken_cpus *taken)
{
    free(taken->parts);
    *taken = (struct taken_cpus){.parts = NULL};
}
