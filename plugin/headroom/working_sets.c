/* SPDX-License-Identifier: MIT */
#include "headroom/working_sets.h"

#include "collectd.h"

#include "plugin.h"

#include <math.h>

#include "headroom/array.h"
#include "headroom/clock.h"
#include "headroom/room.h"
#include "utils_cache.h"

/* Windows are of seconds to minutes. */
#define REFRESH_NS (60 * HR_NS_PER_S)

/* What was touched earlier needn't be needed now; but a window may be longer, and the next value
 * comes, and is seen, a little after that. */
#define AGE_MAX_S 600
#define LATE_S    120

/* As the plugin wss names them. */
#define SERIES_BEGIN "/wss-"
#define WINDOW_BEGIN "/memory-referenced-"
#define PROCESSES    "/count-processes"

/* A Process block's series have no window in their names: then `name` is empty. */
struct window {
    char instance[DATA_MAX_NAME_LEN], name[16];
    cdtime_t time;
    double bytes;
};

static int compare(const void *left, const void *right)
{
    const struct window *a = left, *b = right;

    return strcmp(a->instance, b->instance);
}

/* Takes apart "HOST/wss-INSTANCE/memory-referenced-WINDOW". */
static bool parse_name(const char *name, struct window *window)
{
    const size_t host = strlen(hostname_g);

    if (strncmp(name, hostname_g, host) != 0 ||
        strncmp(name + host, SERIES_BEGIN, strlen(SERIES_BEGIN)) != 0)
        return false;
    const char *instance = name + host + strlen(SERIES_BEGIN), *end = strchr(instance, '/');
    if (end == NULL || (size_t)(end - instance) >= sizeof(window->instance))
        return false;
    const bool is_window = strncmp(end, WINDOW_BEGIN, strlen(WINDOW_BEGIN)) == 0;
    if (!is_window && strcmp(end, PROCESSES) != 0)
        return false;
    snprintf(window->name, sizeof(window->name), "%s", is_window ? end + strlen(WINDOW_BEGIN) : "");
    memcpy(window->instance, instance, (size_t)(end - instance));
    window->instance[end - instance] = '\0';
    return true;
}

static bool read_value(uc_iter_t *cache, double *number)
{
    value_t *values = NULL;
    size_t count;

    if (uc_iterator_get_values(cache, &values, &count) != 0)
        return false;
    if (count > 0)
        *number = values[0].gauge;
    free(values);
    return count > 0;
}

static void add(struct working_sets *sets, uc_iter_t *cache, const char *name)
{
    struct window window;

    if (parse_name(name, &window) && read_value(cache, &window.bytes) &&
        uc_iterator_get_time(cache, &window.time) == 0 &&
        HR_ARRAY_RESERVE(sets->windows, sets->capacity, sets->count + 1) == 0)
        sets->windows[sets->count++] = window;
}

bool working_sets_refresh(struct working_sets *sets)
{
    const uint64_t now_ns = hr_clock_ns();
    char *name;

    if (now_ns < sets->due_ns)
        return false;
    sets->due_ns = now_ns + REFRESH_NS;
    sets->count = 0;
    uc_iter_t *cache = uc_get_iterator();
    /* The name is the cache's own: it isn't the copy that utils_cache.h says. */
    while (cache != NULL && uc_iterator_next(cache, &name) == 0)
        add(sets, cache, name);
    uc_iterator_destroy(cache);
    if (sets->count > 1)
        qsort(sets->windows, sets->count, sizeof(*sets->windows), compare);
    return true;
}

static size_t find_first(const struct working_sets *sets, const char *instance)
{
    return HR_ARRAY_FIND_FIRST(sets->count, i, strcmp(sets->windows[i].instance, instance) < 0);
}

/* @return the length of the longest window; 0: there is none. */
static double longest_s(const struct hr_room_working_set *set)
{
    return set->count > 0 ? set->window_s[set->count - 1] : 0;
}

/* Windows of a set end one after the other. @param ended  when the longest did. */
static bool is_old(const struct hr_room_working_set *set, cdtime_t ended)
{
    const cdtime_t now = cdtime();
    const double age_s = now > ended ? CDTIME_T_TO_DOUBLE(now - ended) : 0;

    return age_s > fmax(AGE_MAX_S, longest_s(set)) + LATE_S;
}

void working_sets_find(const struct working_sets *sets, const char *instance,
                       struct hr_room_working_set *set)
{
    cdtime_t ended = 0;

    set->count = 0;
    for (size_t i = find_first(sets, instance);
         i < sets->count && strcmp(sets->windows[i].instance, instance) == 0; i++) {
        const struct window *window = &sets->windows[i];
        if (window->name[0] == '\0') {
            set->count = 0;
            return;
        }
        const double longest_before_s = longest_s(set);
        hr_room_working_set_add(set, window->name, window->bytes);
        if (longest_s(set) > longest_before_s)
            ended = window->time;
    }
    if (is_old(set, ended))
        set->count = 0;
}

void working_sets_clear(struct working_sets *sets)
{
    free(sets->windows);
    *sets = (struct working_sets){.windows = NULL};
}
