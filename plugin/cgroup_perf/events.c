/* SPDX-License-Identifier: MIT */
#include "cgroup_perf/events.h"

#include <errno.h>
#include <math.h>

#include "common/log.h"
#include "common/options.h"
#include "headroom/array.h"
#include "utils/common/common.h"

#define PLUGIN "cgroup_perf"

/* Counted without an option Event: these need no PMU. */
static const char *const default_line[] = {"task-clock", "context-switches", "cpu-migrations",
                                           "page-faults", NULL};

/* --- Lines ---------------------------------------------------------------- */

static void free_line(char **line)
{
    for (size_t i = 0; line != NULL && line[i] != NULL; i++)
        free(line[i]);
    free(line);
}

static int append_line(struct perf_events *events, const char *const *texts, size_t count)
{
    char **line = calloc(count + 1, sizeof(*line));
    bool complete = line != NULL && HR_ARRAY_RESERVE(events->lines, events->line_capacity,
                                                     events->line_count + 1) == 0;

    for (size_t i = 0; i < count && complete; i++)
        complete = (line[i] = strdup(texts[i])) != NULL;
    if (!complete) {
        free_line(line);
        ERROR(PLUGIN ": out of memory.");
        return -1;
    }
    events->lines[events->line_count++] = line;
    return 0;
}

int perf_events_option(struct perf_events *events, const oconfig_item_t *item)
{
    const char *texts[HR_PERF_GROUP_MAX];

    if (option_check(PLUGIN, item) < 0)
        return -1;
    for (int i = 0; i < item->values_num; i++)
        texts[i] = item->values[i].value.string;
    return append_line(events, texts, (size_t)item->values_num);
}

/* --- Lookup --------------------------------------------------------------- */

static void log_unknown_event(const char *text, int status, const struct hr_perf_event_error *error)
{
    char nearest[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < error->nearest_count && used < sizeof(nearest); i++)
        used += snprintf(nearest + used, sizeof(nearest) - used, "%s%s",
                         i == 0 ? " Similar names: " : ", ", error->nearest[i]);
    ERROR(PLUGIN ": event \"%s\" can't be counted: %s.%s%s", text,
          status == -ENOMEM ? "out of memory" : error->reason, nearest,
          error->nearest_count > 0 ? "." : "");
}

/* Looks up one line. @param unknown  incremented for each unknown event. @return 0 or -ENOMEM. */
static int look_up_line(const struct hr_perf_vocabulary *vocabulary, const char *const *line,
                        struct hr_perf_event_group *group, int *unknown)
{
    struct hr_perf_event_error error = {0};
    size_t length = 0;

    while (line[length] != NULL)
        length++;
    struct hr_perf_event **found = calloc(length, sizeof(struct hr_perf_event *));
    if (found == NULL)
        return -ENOMEM;
    group->count = 0;
    group->events = found;
    for (size_t i = 0; i < length; i++) {
        int status = hr_perf_event_find(vocabulary, line[i], &found[group->count], &error);
        if (status < 0) {
            log_unknown_event(line[i], status, &error);
            (*unknown)++;
            status = hr_perf_event_new_unknown(line[i], &found[group->count]);
        }
        if (status < 0)
            return status;
        group->count++;
    }
    return 0;
}

/* --- Series --------------------------------------------------------------- */

/* @return an earlier event, in the same line or one before, with the same label; or NULL. */
static const struct hr_perf_event *find_same_label(const struct perf_events *events, size_t number,
                                                   size_t event)
{
    const char *label = events->groups[number].events[event]->label;

    for (size_t g = 0; g <= number; g++) {
        const struct hr_perf_event_group *group = &events->groups[g];
        const size_t count = g < number ? group->count : event;
        for (size_t e = 0; e < count; e++)
            if (strcmp(group->events[e]->label, label) == 0)
                return group->events[e];
    }
    return NULL;
}

static void log_duplicate(const struct hr_perf_event *event, const struct hr_perf_event *first)
{
    if (hr_perf_event_is_same(event, first))
        INFO(PLUGIN ": event \"%s\" is configured more than once; perf-%s is published once.",
             event->text, event->label);
    else
        WARNING(PLUGIN ": event \"%s\" is not published, as perf-%s is already \"%s\". Give it "
                       "another name with the term name=.",
                event->text, event->label, first->text);
}

static int name_series(struct perf_events *events, size_t number)
{
    const struct hr_perf_event_group *group = &events->groups[number];
    struct perf_series *series = calloc(group->count, sizeof(*series));

    if (series == NULL)
        return -ENOMEM;
    events->series[number] = series;
    for (size_t e = 0; e < group->count; e++) {
        const struct hr_perf_event *event = group->events[e];
        const struct hr_perf_event *first = find_same_label(events, number, e);
        series[e].event = event;
        series[e].published = first == NULL;
        ssnprintf(series[e].running, sizeof(series[e].running), "%s-running", event->label);
        if (first != NULL)
            log_duplicate(event, first);
    }
    return 0;
}

/* --- Ratios --------------------------------------------------------------- */

static bool is_on_same_side(const struct perf_event_attr *one, const struct perf_event_attr *other)
{
    return one->exclude_host == other->exclude_host && one->exclude_guest == other->exclude_guest;
}

static bool is_denominator(const struct hr_perf_event *numerator, const struct hr_perf_event *event)
{
    if (event->mode != numerator->mode || event->cache != numerator->cache ||
        !is_on_same_side(&event->encodings[0].attr, &numerator->encodings[0].attr))
        return false;
    if (numerator->role == HR_PERF_INSTRUCTIONS)
        return event->role == HR_PERF_CYCLES;
    return numerator->role == HR_PERF_CACHE_MISSES && event->role == HR_PERF_CACHE_REFERENCES;
}

static struct perf_ratio make_ratio(const struct hr_perf_event *numerator)
{
    static const char *const modes[] = {
        [HR_PERF_ANY_MODE] = "", [HR_PERF_USER] = "u", [HR_PERF_KERNEL] = "k"};
    struct perf_ratio ratio = {.type = "cache_ratio", .factor = 100, .max = 100};

    if (numerator->role == HR_PERF_CACHE_MISSES) {
        sstrncpy(ratio.type_instance, numerator->label, sizeof(ratio.type_instance));
        return ratio;
    }
    ratio.type = "ipc";
    ratio.factor = 1;
    ratio.max = INFINITY;
    const struct perf_event_attr *attr = &numerator->encodings[0].attr;
    ssnprintf(ratio.type_instance, sizeof(ratio.type_instance), "%s%s", modes[numerator->mode],
              attr->exclude_host    ? "G"
              : attr->exclude_guest ? "H"
                                    : "");
    return ratio;
}

static bool has_ratio(const struct perf_events *events, const struct perf_ratio *ratio)
{
    for (size_t i = 0; i < events->ratio_count; i++)
        if (strcmp(events->ratios[i].type, ratio->type) == 0 &&
            strcmp(events->ratios[i].type_instance, ratio->type_instance) == 0)
            return true;
    return false;
}

static int append_ratio(struct perf_events *events, const struct perf_ratio *ratio)
{
    if (HR_ARRAY_RESERVE(events->ratios, events->ratio_capacity, events->ratio_count + 1) < 0)
        return -ENOMEM;
    events->ratios[events->ratio_count++] = *ratio;
    return 0;
}

/* Adds the ratio that has this event as its numerator, if there is one. */
static int add_ratio_of(struct perf_events *events, size_t number, size_t numerator)
{
    const struct hr_perf_event_group *group = &events->groups[number];
    struct perf_ratio ratio = make_ratio(group->events[numerator]);

    for (size_t e = 0; e < group->count; e++) {
        if (!is_denominator(group->events[numerator], group->events[e]))
            continue;
        ratio.group = number;
        ratio.numerator = numerator;
        ratio.denominator = e;
        /* The same ratio of another PMU, for example. */
        if (has_ratio(events, &ratio) && events->series[number][numerator].published)
            sstrncpy(ratio.type_instance, group->events[numerator]->label,
                     sizeof(ratio.type_instance));
        return has_ratio(events, &ratio) ? 0 : append_ratio(events, &ratio);
    }
    return 0;
}

/* For the machine or for cgroups. */
static bool can_be_counted(const struct hr_perf *perf, const struct perf_ratio *ratio)
{
    for (int scope = 0; scope < HR_PERF_SCOPE_COUNT; scope++)
        if (hr_perf_status(perf, scope, ratio->group, ratio->numerator) == 0 &&
            hr_perf_status(perf, scope, ratio->group, ratio->denominator) == 0)
            return true;
    return false;
}

/* A ratio has another name than its own if an earlier one has that. */
static void take_name(struct perf_events *events, const struct hr_perf *perf, size_t number)
{
    struct perf_ratio *ratio = &events->ratios[number];
    const struct hr_perf_event_group *groups = events->groups;
    const struct perf_ratio own = make_ratio(groups[ratio->group].events[ratio->numerator]);

    for (size_t i = 0; i < number; i++) {
        struct perf_ratio *other = &events->ratios[i];
        if (strcmp(other->type, own.type) != 0 ||
            strcmp(other->type_instance, own.type_instance) != 0 || can_be_counted(perf, other))
            continue;
        sstrncpy(other->type_instance, groups[other->group].events[other->numerator]->label,
                 sizeof(other->type_instance));
        sstrncpy(ratio->type_instance, own.type_instance, sizeof(ratio->type_instance));
    }
}

static bool is_known(const struct hr_perf *perf)
{
    return hr_perf_status(perf, HR_PERF_SYSTEM, 0, 0) != -ECANCELED ||
           hr_perf_status(perf, HR_PERF_CGROUP, 0, 0) != -ECANCELED;
}

void perf_events_name_ratios(struct perf_events *events, const struct hr_perf *perf)
{
    if (events->ratios_named || !is_known(perf))
        return;
    events->ratios_named = true;
    for (size_t i = 1; i < events->ratio_count; i++)
        if (can_be_counted(perf, &events->ratios[i]))
            take_name(events, perf, i);
}

/* --- All events ----------------------------------------------------------- */

static void free_looked_up(struct perf_events *events)
{
    for (size_t g = 0; g < events->group_count; g++) {
        for (size_t e = 0; e < events->groups[g].count; e++)
            hr_perf_event_free(events->groups[g].events[e]);
        free((void *)events->groups[g].events);
        free(events->series[g]);
    }
    free(events->groups);
    free(events->series);
    free(events->ratios);
    events->groups = NULL;
    events->series = NULL;
    events->ratios = NULL;
    events->group_count = events->ratio_count = events->ratio_capacity = 0;
    events->known_count = events->event_count = 0;
    events->ratios_named = false;
}

static int add_group(struct perf_events *events, const struct hr_perf_vocabulary *vocabulary,
                     const char *const *line, int *unknown)
{
    const size_t number = events->group_count;
    struct hr_perf_event_group *group = &events->groups[number];
    int status = look_up_line(vocabulary, line, group, unknown);

    events->group_count += group->events != NULL;
    events->event_count += group->count;
    if (status == 0)
        status = name_series(events, number);
    for (size_t e = 0; e < group->count && status == 0; e++)
        status = add_ratio_of(events, number, e);
    return status;
}

static int add_groups(struct perf_events *events, const struct hr_perf_vocabulary *vocabulary)
{
    const size_t count = events->line_count > 0 ? events->line_count : 1;
    int status = 0, unknown = 0;

    events->groups = calloc(count, sizeof(*events->groups));
    events->series = calloc(count, sizeof(*events->series));
    if (events->groups == NULL || events->series == NULL)
        status = -ENOMEM;
    for (size_t i = 0; i < count && status == 0; i++) {
        const char *const *line =
            events->line_count > 0 ? (const char *const *)events->lines[i] : default_line;
        status = add_group(events, vocabulary, line, &unknown);
    }
    events->known_count = events->event_count - (size_t)unknown;
    return status < 0 ? status : unknown;
}

int perf_events_look_up(struct perf_events *events, const struct hr_root *root)
{
    struct hr_perf_vocabulary *vocabulary;

    free_looked_up(events);
    int status = hr_perf_vocabulary_open(root, &vocabulary);
    if (status == 0) {
        status = add_groups(events, vocabulary);
        hr_perf_vocabulary_close(vocabulary);
    }
    if (status < 0) {
        free_looked_up(events);
        ERROR(PLUGIN ": can't look up events: %s.", STRERROR(-status));
    }
    return status < 0 ? -1 : status;
}

static bool has_ratio_of(const struct perf_events *events, size_t number, size_t numerator)
{
    for (size_t i = 0; i < events->ratio_count; i++)
        if (events->ratios[i].group == number && events->ratios[i].numerator == numerator)
            return true;
    return false;
}

/* @return another event that is published with the same label; or NULL. */
static const struct hr_perf_event *find_published(const struct perf_events *events,
                                                  const struct hr_perf_event *event)
{
    for (size_t g = 0; g < events->group_count; g++)
        for (size_t e = 0; e < events->groups[g].count; e++) {
            const struct perf_series *other = &events->series[g][e];
            if (other->published && other->event != event &&
                strcmp(other->event->label, event->label) == 0)
                return other->event;
        }
    return NULL;
}

/* Of an event that wasn't known: its name may be another one, which may be taken, and its line may
 * have ratios now. */
static int add_known(struct perf_events *events, size_t number, size_t event)
{
    const struct hr_perf_event_group *group = &events->groups[number];
    struct perf_series *series = &events->series[number][event];
    const struct hr_perf_event *first = find_published(events, series->event);
    int status = 0;

    INFO(PLUGIN ": event \"%s\" is known now, and counted from now on.", series->event->text);
    events->known_count++;
    series->published = first == NULL;
    if (first != NULL)
        log_duplicate(series->event, first);
    ssnprintf(series->running, sizeof(series->running), "%s-running", series->event->label);
    for (size_t e = 0; e < group->count && status == 0; e++)
        if (!has_ratio_of(events, number, e))
            status = add_ratio_of(events, number, e);
    return status;
}

/* What is looked up again. */
struct update {
    const struct hr_perf_vocabulary *vocabulary;
    const struct hr_perf_event *moved; /* the first that other CPUs count now; NULL: none */
    bool changed;
};

static int update_event(struct update *update, struct perf_events *events, size_t number, size_t e)
{
    struct hr_perf_event *event = events->groups[number].events[e];
    const bool was_known = event->encoding_count > 0;
    int status = hr_perf_event_update(update->vocabulary, event);

    if (status <= 0)
        return status;
    update->changed = true;
    if (!was_known)
        return add_known(events, number, e);
    if (update->moved == NULL)
        update->moved = event;
    return 0;
}

/* @return 0, or why one of them can't be looked up. */
static int update_all(struct update *update, struct perf_events *events)
{
    int first = 0;

    for (size_t g = 0; g < events->group_count; g++)
        for (size_t e = 0; e < events->groups[g].count; e++) {
            int status = update_event(update, events, g, e);
            if (first == 0)
                first = status;
        }
    return first;
}

int perf_events_update(struct perf_events *events, const struct hr_root *root, bool *changed)
{
    struct update update = {.changed = false};
    struct hr_perf_vocabulary *vocabulary;
    int status = hr_perf_vocabulary_open(root, &vocabulary);

    if (status == 0) {
        update.vocabulary = vocabulary;
        status = update_all(&update, events);
        hr_perf_vocabulary_close(vocabulary);
    }
    if (update.moved != NULL)
        INFO(PLUGIN ": other CPUs count \"%s\" now, so counters are opened again.",
             update.moved->text);
    *changed = update.changed;
    return status;
}

void perf_events_end(struct perf_events *events)
{
    free_looked_up(events);
    for (size_t i = 0; i < events->line_count; i++)
        free_line(events->lines[i]);
    free(events->lines);
    *events = (struct perf_events){0};
}
