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

/* What was touched earlier needn't be needed now; but a window may be longer. */
#define AGE_MAX_S 600

/* As the plugin wss names them. */
#define SERIES_BEGIN "/wss-"
#define WINDOW_BEGIN "/memory-referenced-"
#define PROCESSES    "/count-processes"

/* Of processes, which a Process block names, the window has no name. */
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
    size_t first = 0, end = sets->count;

    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (strcmp(sets->windows[middle].instance, instance) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Windows of a set end one after the other. @param newest  when the last of them did. */
static bool is_old(const struct hr_room_working_set *set, cdtime_t newest)
{
    const cdtime_t now = cdtime();
    const double age_s = now > newest ? CDTIME_T_TO_DOUBLE(now - newest) : 0;

    return set->count > 0 && age_s > fmax(AGE_MAX_S, set->window_s[set->count - 1]);
}

void working_sets_find(const struct working_sets *sets, const char *instance,
                       struct hr_room_working_set *set)
{
    cdtime_t newest = 0;

    set->count = 0;
    for (size_t i = find_first(sets, instance);
         i < sets->count && strcmp(sets->windows[i].instance, instance) == 0; i++) {
        const struct window *window = &sets->windows[i];
        if (window->name[0] == '\0') {
            set->count = 0;
            return;
        }
        hr_room_working_set_add(set, window->name, window->bytes);
        newest = window->time > newest ? window->time : newest;
    }
    if (is_old(set, newest))
        set->count = 0;
}

void working_sets_clear(struct working_sets *sets)
{
    free(sets->windows);
    *sets = (struct working_sets){.windows = NULL};
}
