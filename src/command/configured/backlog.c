/* SPDX-License-Identifier: MIT */
#include "configured/backlog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#include "headroom/quantity.h"
#include "headroom/utf8.h"

/* Without an interval, as of other machines' values, or of a long window's. */
#define LATE_ELSE_S 600

/* However long the interval is: the first values come at once. */
#define SETTLED_MAX_S 600

#define SEE "see \"Slow writers\" in collectd-headroom(5)"

/* --- What is seen --------------------------------------------------------- */

/* collectd makes its socket when it starts, and removes an older one. */
static double started_s(const char *socket)
{
    struct stat status;

    return stat(socket, &status) == 0 ? (double)status.st_mtim.tv_sec : NAN;
}

struct backlog_seen backlog_look(const char *socket, double newest_s)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (struct backlog_seen){
        .now_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
        .newest_s = newest_s,
        .started_s = started_s(socket),
    };
}

/* --- What is configured --------------------------------------------------- */

/* The shortest of our plugins that have values in each; wss may measure for longer. INFINITY: none
 * is loaded. */
static double interval_s(const struct usage *usage)
{
    double interval = INFINITY;

    if (usage == NULL)
        return interval;
    if (usage->psi.loaded)
        interval = fmin(interval, usage->psi.interval);
    if (usage->perf.loaded)
        interval = fmin(interval, usage->perf.interval);
    if (usage->osnoise.loaded)
        interval = fmin(interval, usage->osnoise.interval);
    if (usage->headroom.loaded)
        interval = fmin(interval, usage->headroom.interval);
    return interval;
}

static double late_after_s(const struct usage *usage)
{
    const double interval = interval_s(usage);

    return isfinite(interval) ? 2 * interval + 10 : LATE_ELSE_S;
}

/* The first values take an interval or two, many descriptors some more. */
static double settled_after_s(const struct usage *usage)
{
    return fmin(fmax(6 * interval_s(usage), 30), SETTLED_MAX_S);
}

/* A mail server that hangs keeps the write threads as a writer does: thresholds notify in them. */
static bool is_writer(const char *plugin)
{
    static const char *const names[] = {"amqp",    "amqp1",     "csv",    "mqtt",
                                        "network", "rrdcached", "rrdtool"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcasecmp(plugin, names[i]) == 0)
            return true;
    return strncasecmp(plugin, "write_", strlen("write_")) == 0 ||
           strcasecmp(plugin, "notify_email") == 0;
}

static bool is_named_before(const struct usage *usage, size_t index)
{
    const char *name = config_text(&usage->config.children[index]);

    for (size_t i = 0; i < index; i++)
        if (usage_loads(usage, &usage->config.children[i]) &&
            strcasecmp(config_text(&usage->config.children[i]), name) == 0)
            return true;
    return false;
}

static bool is_writer_to_list(const struct usage *usage, size_t index)
{
    const struct config_item *item = &usage->config.children[index];

    return usage_loads(usage, item) && is_writer(config_text(item)) &&
           !is_named_before(usage, index);
}

/* " (rrdtool, csv)", " (rrdtool, csv, ...)"; "" if none is known. */
static void list_writers(const struct usage *usage, char *text, size_t size)
{
    const size_t count = usage != NULL ? usage->config.child_count : 0;
    bool fits = true;
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && fits; i++) {
        if (!is_writer_to_list(usage, i))
            continue;
        const char *name = config_text(&usage->config.children[i]);
        fits = used + strlen(name) + sizeof(" (, ...)") <= size;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used == 0 ? " (" : ", ",
                                 fits ? name : "...");
    }
    if (used > 0)
        snprintf(text + used, size - used, ")");
    hr_utf8_make_safe(text);
}

/* By default it makes them itself, in a write thread. */
static bool rrdtool_makes_others_wait(const struct usage *usage)
{
    return usage != NULL && usage->rrdtool &&
           !config_boolean(config_find_of_plugin(&usage->config, "rrdtool", "CreateFilesAsync"),
                           false);
}

/* When the file that was changed last was, of those that still have something. */
static double changed_s(const struct config_item *item)
{
    struct stat status;
    double changed = 0;
    const char *last = "";

    for (size_t i = 0; i < item->child_count; i++) {
        const struct config_item *child = &item->children[i];
        changed = fmax(changed, changed_s(child));
        if (child->path == NULL || strcmp(child->path, last) == 0)
            continue;
        last = child->path;
        if (stat(last, &status) == 0)
            changed = fmax(changed, (double)status.st_mtim.tv_sec);
    }
    return changed;
}

/* So that it may load other plugins than collectd has. */
static bool was_changed_later(const struct usage *usage, const struct backlog_seen *seen)
{
    return changed_s(&usage->config) > seen->started_s;
}

/* Each of our plugins but wss has some values in any case. */
static bool lacks_values_for_long(const struct usage *usage, const struct backlog_seen *seen)
{
    return isnan(seen->newest_s) && isfinite(interval_s(usage)) &&
           seen->now_s - seen->started_s > settled_after_s(usage) &&
           !was_changed_later(usage, seen);
}

/* --- Words ---------------------------------------------------------------- */

static void set_reason(struct hr_reason *reason, const char *cause, const char *remedy)
{
    *reason = (struct hr_reason){.remedy_at = strlen(cause) + strlen(": ")};
    snprintf(reason->text, sizeof(reason->text), "%s: %s", cause, remedy);
}

static const char *remedy_of(const struct usage *usage)
{
    return rrdtool_makes_others_wait(usage)
               ? "rrdtool makes a file of each new series first; with CreateFilesAsync true in its "
                 "block nothing waits for that; " SEE
               : "find the one that is slow, and limit what waits by WriteQueueLimitHigh and "
                 "WriteQueueLimitLow; " SEE;
}

enum backlog_state backlog_find(const struct usage *usage, const struct backlog_seen *seen,
                                struct hr_reason *reason)
{
    const double late = seen->now_s - seen->newest_s;
    char writers[96], cause[256];

    *reason = (struct hr_reason){.text = ""};
    list_writers(usage, writers, sizeof(writers));
    if (late > late_after_s(usage))
        snprintf(cause, sizeof(cause),
                 "collectd is %s behind, as what it reads waits for its writers%s",
                 hr_quantity_seconds(late).text, writers);
    else if (lacks_values_for_long(usage, seen))
        snprintf(cause, sizeof(cause),
                 "collectd has no values at all, %s after its start, as its writers%s hang or are "
                 "far behind",
                 hr_quantity_seconds(seen->now_s - seen->started_s).text, writers);
    else
        return BACKLOG_NONE;
    set_reason(reason, cause, remedy_of(usage));
    return BACKLOG_BEHIND;
}

enum backlog_state backlog_explain_absence(const struct usage *usage,
                                           const struct backlog_seen *seen, const char *of,
                                           struct hr_reason *reason)
{
    const double running = seen->now_s - seen->started_s;
    char cause[400];

    if (backlog_find(usage, seen, reason) == BACKLOG_BEHIND)
        return BACKLOG_BEHIND;
    snprintf(cause, sizeof(cause), "collectd has no values of %s yet", of);
    const size_t length = strlen(cause);
    if (was_changed_later(usage, seen)) {
        snprintf(cause + length, sizeof(cause) - length,
                 ", as its configuration was changed after it was started");
        set_reason(reason, cause, "restart it");
        return BACKLOG_OUTDATED;
    }
    if (running <= settled_after_s(usage)) {
        snprintf(cause + length, sizeof(cause) - length, ", as it was started %s ago",
                 hr_quantity_seconds(fmax(running, 0)).text);
        set_reason(reason, cause, "the first values take an interval or two");
        return BACKLOG_STARTED;
    }
    snprintf(cause + length, sizeof(cause) - length, ", though configured in %s", usage->path);
    hr_utf8_make_safe(cause);
    set_reason(reason, cause, "see its log, and headroom doctor");
    return BACKLOG_UNEXPLAINED;
}
