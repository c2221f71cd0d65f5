/* SPDX-License-Identifier: MIT */
/*
 * Source: plugin/psi/notification.c:
 *
 *     cpu full: stalled 1067 ms in 2.1 s (limit 150 ms in 1 s) in c/h: neighbours (914 ms);
 *     taken in the next 0.1 s, of 91 ms that its tasks waited, by: b 82 ms, itself 9 ms;
 *     waiting: nginx[423] 66 ms
 *
 * where "at least" may stand before the stall, ", for 12 s now" behind the group, " together"
 * behind "waited", and all behind the group may be missing; of the system, "longest in c/h, 820 ms
 * of the last 9.8 s" stands in place of what is taken. It is cut at 255 bytes, between these. And
 * of its end:
 *
 *     cpu full: below 150 ms in 1 s for 30 s in c/h
 *     cpu full: no longer watched in c/h: no process is left in it
 */
#include "top/trigger_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "headroom/instance.h"

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* @return what is behind; NULL: it doesn't begin so */
static const char *skip(const char *text, const char *with)
{
    return begins_with(text, with) ? text + strlen(with) : NULL;
}

/* @return what is behind "cpu full: "; NULL: it doesn't begin so */
static const char *parse_pressure(const char *message, struct trigger_text *text)
{
    static const char *const resources[] = {"cpu", "memory", "io", "irq"};
    const char *rest = NULL;

    for (size_t i = 0; i < 4 && rest == NULL; i++) {
        rest = skip(message, resources[i]);
        snprintf(text->resource, sizeof(text->resource), "%s", resources[i]);
    }
    if (rest == NULL)
        return NULL;
    text->is_full = begins_with(rest, " full: ");
    return text->is_full ? skip(rest, " full: ") : skip(rest, " some: ");
}

/* What was measured may have begun long before what the trigger is about, and be a lower share:
 * then it is that of the limit, at least, as headroom-mail's describe_trigger() has it. */
static void find_share(double share_pct, double limit_pct, double window_s,
                       struct trigger_text *text)
{
    text->pct = fmin(100, share_pct);
    if (text->at_least || !(text->pct < limit_pct))
        return;
    text->pct = fmin(100, limit_pct);
    text->at_least = true;
    text->within_s = window_s;
}

/* "stalled 176 ms in 2.012 s (limit 150 ms in 1 s) in " */
static const char *parse_stall(const char *rest, struct trigger_text *text)
{
    double stalled_ms, elapsed_s, limit_ms, window_s;
    int used = 0;

    rest = skip(rest, "stalled ");
    if (rest == NULL)
        return NULL;
    const char *least = skip(rest, "at least ");
    text->at_least = least != NULL;
    if (least != NULL)
        rest = least;
    if (sscanf(rest, "%lf ms in %lf s (limit %lf ms in %lf%n", &stalled_ms, &elapsed_s, &limit_ms,
               &window_s, &used) != 4 ||
        used == 0 || !(stalled_ms >= 0) || !(elapsed_s > 0) || !isfinite(stalled_ms) ||
        !(limit_ms >= 0) || !(window_s > 0))
        return NULL;
    find_share(stalled_ms / 10 / elapsed_s, limit_ms / 10 / window_s, window_s, text);
    return skip(rest + used, " s) in "); /* a blank in a format matches none, too */
}

/* The name is the instance, or becomes it: each of its bytes is one there. */
static const char *skip_group(const char *rest, const char *instance)
{
    char group[HR_INSTANCE_SIZE], name[HR_INSTANCE_SIZE];
    const size_t length = strlen(instance);

    if (strcmp(instance, "system") == 0)
        return skip(rest, "the system");
    if (length >= sizeof(group) || strlen(rest) < length)
        return NULL;
    snprintf(group, sizeof(group), "%.*s", (int)length, rest);
    hr_instance_make(group, group, false, name);
    return strcmp(name, instance) == 0 ? rest + length : NULL;
}

static const char *parse_duration(const char *rest, struct trigger_text *text)
{
    unsigned long seconds;
    int used = 0;

    if (sscanf(rest, ", for %lu s now%n", &seconds, &used) != 1 || used == 0)
        return rest;
    text->duration = (struct piece){rest, (size_t)used - strlen(" now")};
    return rest + used;
}

/* Where the waiting tasks begin, or why they aren't known; the end if neither is there. */
static const char *find_tasks(const char *rest)
{
    static const char *const begins[] = {"; waiting", "; which tasks wait isn't known: "};

    for (size_t i = 0; i < 2; i++) {
        const char *at = strstr(rest, begins[i]);
        if (at != NULL)
            return at;
    }
    return rest + strlen(rest);
}

/* Finds the list of takers. @return NULL: there is none */
static const char *find_takers(const char *taken)
{
    double interval_s, waited_ms;
    int used = 0;

    if (sscanf(taken, "taken in the next %lf s, of %lf ms that its tasks waited%n", &interval_s,
               &waited_ms, &used) != 2 ||
        used == 0)
        return NULL;
    const char *together = skip(taken + used, " together");
    return skip(together != NULL ? together : taken + used, ", by: ");
}

/* ": CAUSE; taken in the next ..., by: TAKERS", up to `end`; either may be missing. */
static bool parse_findings(const char *rest, const char *end, struct trigger_text *text)
{
    static const char before[] = "; taken in the next ";

    if (rest == end)
        return true;
    rest = skip(rest, ": ");
    if (rest == NULL)
        return false;
    const char *cause_end = memmem(rest, (size_t)(end - rest), before, strlen(before));
    const char *takers = find_takers(cause_end != NULL ? cause_end + strlen("; ") : rest);
    if (takers == NULL || takers > end) {
        text->cause = (struct piece){rest, (size_t)(end - rest)};
        return true;
    }
    text->takers = (struct piece){takers, (size_t)(end - takers)};
    if (cause_end != NULL)
        text->cause = (struct piece){rest, (size_t)(cause_end - rest)};
    return true;
}

bool trigger_text_parse(const char *message, const char *instance, struct trigger_text *result)
{
    struct trigger_text text = {.resource = ""};
    const char *rest = parse_pressure(message, &text);

    if (rest != NULL)
        rest = parse_stall(rest, &text);
    if (rest != NULL)
        rest = skip_group(rest, instance);
    if (rest == NULL)
        return false;
    rest = parse_duration(rest, &text);
    const char *tasks = find_tasks(rest);
    if (!parse_findings(rest, tasks, &text))
        return false;
    text.rest = (struct piece){tasks, strlen(tasks)};
    *result = text;
    return true;
}

/* "below 150 ms in 1 s for 30 s in c/h" */
static bool parse_quiet(const char *rest, const char *instance, struct trigger_text *text)
{
    double limit_ms, window_s, quiet_s;
    int used = 0;

    if (sscanf(rest, "below %lf ms in %lf s for %lf%n", &limit_ms, &window_s, &quiet_s, &used) !=
            3 ||
        used == 0 || !(limit_ms >= 0) || !(window_s > 0) || !isfinite(limit_ms))
        return false;
    text->pct = fmin(100, limit_ms / 10 / window_s);
    rest = skip(rest + used, " s in ");
    if (rest != NULL)
        rest = skip_group(rest, instance);
    return rest != NULL && *rest == '\0';
}

/* "no longer watched in c/h: no process is left in it" */
static bool parse_unwatched(const char *rest, const char *instance, struct trigger_text *text)
{
    rest = skip(rest, "no longer watched in ");
    if (rest != NULL)
        rest = skip_group(rest, instance);
    if (rest != NULL)
        rest = skip(rest, ": ");
    if (rest == NULL)
        return false;
    text->cause = (struct piece){rest, strlen(rest)};
    return true;
}

bool trigger_end_parse(const char *message, const char *instance, struct trigger_text *result)
{
    struct trigger_text text = {.resource = ""};
    const char *rest = parse_pressure(message, &text);

    if (rest == NULL ||
        (!parse_quiet(rest, instance, &text) && !parse_unwatched(rest, instance, &text)))
        return false;
    *result = text;
    return true;
}

bool trigger_longest_find(const char *message, struct piece *group)
{
    static const char place[] = " in the system", longest[] = "longest in ",
                      end[] = " of the last ";
    const char *at = strstr(message, place);

    at = at != NULL ? strstr(at, longest) : NULL;
    if (at == NULL)
        return false;
    at += strlen(longest);
    const char *behind = strstr(at, end);
    while (behind != NULL && behind > at && strncmp(behind, ", ", 2) != 0)
        behind--;
    if (behind == NULL || behind == at)
        return false;
    *group = (struct piece){.start = at, .length = (size_t)(behind - at)};
    return true;
}
