/* SPDX-License-Identifier: MIT */
#include "support/fake_cache.h"

#include <stdlib.h>
#include <string.h>

#include "utils_cache.h"

#define MAX_SERIES 32

static struct {
    const char *name;
    double number;
    cdtime_t time, interval;
} cached[MAX_SERIES];
static size_t cached_count;

struct uc_iter_s {
    size_t next;
};

/* In the order of the names, as collectd has them. */
static size_t find_or_add(const char *name)
{
    size_t i = 0;

    while (i < cached_count && strcmp(cached[i].name, name) < 0)
        i++;
    if (i < cached_count && strcmp(cached[i].name, name) == 0)
        return i;
    if (cached_count == MAX_SERIES)
        abort();
    memmove(&cached[i + 1], &cached[i], (cached_count++ - i) * sizeof(*cached));
    memset(&cached[i], 0, sizeof(*cached));
    cached[i].name = name;
    return i;
}

void fake_cache_set(const char *name, double number)
{
    cached[find_or_add(name)].number = number;
}

void fake_cache_set_time(const char *name, cdtime_t time)
{
    cached[find_or_add(name)].time = time;
}

void fake_cache_set_interval(const char *name, cdtime_t interval)
{
    cached[find_or_add(name)].interval = interval;
}

void fake_cache_forget(void)
{
    cached_count = 0;
}

size_t uc_get_size(void)
{
    return cached_count;
}

uc_iter_t *uc_get_iterator(void)
{
    return calloc(1, sizeof(uc_iter_t));
}

void uc_iterator_destroy(uc_iter_t *iter)
{
    free(iter);
}

/* The name is the cache's own: what utils_cache.h says of a copy isn't so in any collectd. */
int uc_iterator_next(uc_iter_t *iter, char **ret_name)
{
    if (iter->next == cached_count)
        return -1;
    *ret_name = (char *)cached[iter->next++].name;
    return 0;
}

int uc_iterator_get_time(uc_iter_t *iter, cdtime_t *ret_time)
{
    const cdtime_t time = cached[iter->next - 1].time;

    *ret_time = time != 0 ? time : cdtime();
    return 0;
}

int uc_iterator_get_interval(uc_iter_t *iter, cdtime_t *ret_interval)
{
    const cdtime_t interval = cached[iter->next - 1].interval;

    *ret_interval = interval != 0 ? interval : plugin_get_interval();
    return 0;
}

int uc_iterator_get_values(uc_iter_t *iter, value_t **ret_values, size_t *ret_num)
{
    *ret_values = malloc(sizeof(**ret_values));
    if (*ret_values == NULL)
        abort();
    (*ret_values)->gauge = cached[iter->next - 1].number;
    *ret_num = 1;
    return 0;
}

int uc_get_rate_by_name(const char *name, gauge_t **ret_values, size_t *ret_values_num)
{
    for (size_t i = 0; i < cached_count; i++)
        if (strcmp(cached[i].name, name) == 0) {
            *ret_values = malloc(sizeof(**ret_values));
            if (*ret_values == NULL)
                abort();
            **ret_values = cached[i].number;
            *ret_values_num = 1;
            return 0;
        }
    return -1;
}
