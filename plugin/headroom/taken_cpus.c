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

/* If collectd had none of these series, and has as many in all as then, it isn't searched again. */
void taken_cpus_begin(struct taken_cpus *taken, cdtime_t time)
{
    taken->time = time;
    taken->is_listed = taken->are_none && uc_get_size() == taken->cache_size;
}

/* @return what of a name follows a beginning; NULL: it begins otherwise, or is NULL itself. */
static const char *skip(const char *name, const char *beginning)
{
    const size_t length = strlen(beginning);

    return name != NULL && strncmp(name, beginning, length) == 0 ? name + length : NULL;
}

/* Whether its rate is of an interval as long as ours, and not of one long ago. */
static bool is_of_interval(const struct taken_cpus *taken, uc_iter_t *cache, cdtime_t *time)
{
    const cdtime_t own = plugin_get_interval();
    cdtime_t interval;

    return uc_iterator_get_interval(cache, &interval) == 0 && interval == own &&
           uc_iterator_get_time(cache, time) == 0 && *time + 2 * own > taken->time;
}

static bool add_name(struct taken_cpus *taken, const char *name, cdtime_t time)
{
    const size_t size = strlen(name) + 1;

    if (HR_ARRAY_RESERVE(taken->text, taken->text_capacity, taken->text_size + size) != 0 ||
        HR_ARRAY_RESERVE(taken->names, taken->capacity, taken->count + 1) != 0)
        return false;
    memcpy(taken->text + taken->text_size, name, size);
    taken->names[taken->count++] = (struct taken_cpus_name){taken->text_size, time};
    taken->text_size += size;
    return true;
}

/* The names are the cache's own, a tree of them, so that they come in order; it is locked while
 * they are walked. If memory is too short for one none is known, as without it parts would be
 * wrong. */
static void list_names(struct taken_cpus *taken)
{
    bool has_memory = true;
    cdtime_t time;
    char *name;

    taken->cache_size = uc_get_size();
    taken->count = taken->text_size = 0;
    uc_iter_t *cache = uc_get_iterator();
    taken->is_listed = taken->are_none = cache != NULL;
    while (cache != NULL && has_memory && uc_iterator_next(cache, &name) == 0) {
        if (skip(skip(name, hostname_g), SERIES_BEGIN) == NULL || strstr(name, TAKEN_BEGIN) == NULL)
            continue;
        taken->are_none = false;
        if (is_of_interval(taken, cache, &time))
            has_memory = add_name(taken, name, time);
    }
    uc_iterator_destroy(cache);
    if (!has_memory)
        taken->count = 0;
}

static const char *name_at(const struct taken_cpus *taken, size_t i)
{
    return taken->text + taken->names[i].begin;
}

/* The first name that isn't before a text. */
static size_t find_first(const struct taken_cpus *taken, const char *text)
{
    return HR_ARRAY_FIND_FIRST(taken->count, i, strcmp(name_at(taken, i), text) < 0);
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

/* Finds the taker that a series is of. @param begin  as the names of all of its group begin.
 * @return whether it is of one. */
static bool find_taker(const char *name, const char *begin, char taker[DATA_MAX_NAME_LEN])
{
    const char *word = skip(name, begin), *by = skip(word, BY);

    if (by != NULL)
        word = by;
    const char *end = word + strlen(word) - strlen(TAKEN_END);
    if (end <= word || strcmp(end, TAKEN_END) != 0)
        return false;
    snprintf(taker, DATA_MAX_NAME_LEN, "%.*s", (int)(end - word), word);
    return true;
}

/* The psi plugin gives a group of a kind's name another one. */
static enum hr_blame_taker kind_of(const char *taker)
{
    enum hr_blame_taker kind;

    return hr_blame_taker_find(taker, &kind) ? kind : HR_BLAME_GROUP;
}

/* Whether the psi plugin has a value of it in each interval. */
static bool is_always_there(const char *taker)
{
    switch (kind_of(taker)) {
    case HR_BLAME_ITSELF:
    case HR_BLAME_LIMIT:
    case HR_BLAME_INTERRUPTS:
    case HR_BLAME_STEAL:
    case HR_BLAME_OTHER:
    case HR_BLAME_UNKNOWN:
        return true;
    default:
        return false;
    }
}

/* A taker that isn't one of the greatest any more is part of "other": its last value is of an
 * interval before. @return when the last interval ended of which all is there. */
static cdtime_t find_time(const struct taken_cpus *taken, size_t first, size_t end,
                          const char *begin)
{
    char taker[DATA_MAX_NAME_LEN];
    cdtime_t time = 0;

    for (size_t i = first; i < end; i++)
        if (find_taker(name_at(taken, i), begin, taker) && is_always_there(taker) &&
            (time == 0 || taken->names[i].time < time))
            time = taken->names[i].time;
    return time;
}

/* While collectd still writes an interval's values some are of the one before. @return the sum of
 * all. */
static double read_rates(const struct taken_cpus *taken, const char *instance,
                         struct taken_cpus_parts *parts)
{
    char begin[3 * DATA_MAX_NAME_LEN];
    double sum = 0;

    snprintf(begin, sizeof(begin), "%s" SERIES_BEGIN "%s" TAKEN_BEGIN, hostname_g, instance);
    const size_t first = find_first(taken, begin);
    size_t end = first;
    while (end < taken->count && skip(name_at(taken, end), begin) != NULL)
        end++;
    const cdtime_t time = find_time(taken, first, end, begin);
    for (size_t i = first; i < end && parts->count < TAKEN_CPUS_MOST; i++) {
        struct taken_cpus_part *part = &parts->list[parts->count];
        if (taken->names[i].time < time || !find_taker(name_at(taken, i), begin, part->taker))
            continue;
        part->kind = kind_of(part->taker);
        part->pct = read_rate(name_at(taken, i));
        sum += part->pct;
        parts->count++;
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
    free(taken->names);
    free(taken->text);
    *taken = (struct taken_cpus){.names = NULL};
}
