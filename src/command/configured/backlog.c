/* SPDX-License-Identifier: MIT */
#include "configured/backlog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "configured/selected.h"
#include "headroom/psi.h"
#include "headroom/quantity.h"
#include "headroom/root.h"
#include "headroom/utf8.h"

/* Without an interval, as of other machines' values, or of a long window's. */
#define LATE_ELSE_S 600

/* However long the interval is: the first values come at once. */
#define SETTLED_MAX_S 600

/* In percent: whoever needs a CPU mostly has to wait for it. */
#define BUSY_PCT 50

#define SEE "see \"Slow writers\" in collectd-headroom(5)"

/* --- What is seen --------------------------------------------------------- */

static double seconds(const struct timespec *time)
{
    return (double)time->tv_sec + (double)time->tv_nsec / 1e9;
}

/* collectd makes its socket when it starts, and removes an older one. */
static double started_s(const char *socket)
{
    struct stat status;

    return stat(socket, &status) == 0 ? seconds(&status.st_mtim) : NAN;
}

/* Tasks that are pinned may wait while other CPUs idle. */
static bool are_cpus_busy(void)
{
    double load;

    return getloadavg(&load, 1) == 1 && load >= (double)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The kernel's average over a minute. */
static double find_cpu_wait(void)
{
    const struct hr_psi_options options = {.resources[HR_PSI_CPU] = true};
    struct hr_psi_sample sample = {.time_ns = 0};
    struct hr_psi *psi = NULL;
    struct hr_root *root;
    int status = hr_root_open("/", &root);

    if (status < 0)
        return NAN;
    status = hr_psi_open_system(root, &options, &psi);
    if (status == 0)
        status = hr_psi_read_resource(psi, HR_PSI_CPU, &sample);
    hr_psi_close(psi);
    hr_root_close(root);
    return status == 0 ? sample.stall[HR_PSI_SOME].avg60_pct : NAN;
}

struct backlog_seen backlog_look(const char *socket, double newest_s)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (struct backlog_seen){
        .now_s = seconds(&now),
        .newest_s = newest_s,
        .started_s = started_s(socket),
        .cpu_wait = are_cpus_busy() ? find_cpu_wait() : NAN,
    };
}

/* --- What is configured --------------------------------------------------- */

/* A plugin of ours, in the order of cgroups_find_selections(). */
struct reader {
    bool reads;  /* it is loaded, and reads in each interval; wss may measure for longer */
    bool system; /* and has values whatever cgroups there are */
    double interval;
};

static void list_readers(const struct usage *usage, struct reader readers[CGROUPS_PLUGIN_COUNT])
{
    readers[0] = (struct reader){usage->psi.loaded, usage->psi.system, usage->psi.interval};
    readers[1] = (struct reader){usage->perf.loaded, usage->perf.system, usage->perf.interval};
    readers[2] = (struct reader){.reads = false};
    readers[3] = (struct reader){usage->osnoise.loaded, true, usage->osnoise.interval};
    readers[4] =
        (struct reader){usage->headroom.loaded, usage->headroom.system, usage->headroom.interval};
}

/* The shortest interval of our plugins. INFINITY: none is loaded. */
static double interval_s(const struct usage *usage)
{
    struct reader readers[CGROUPS_PLUGIN_COUNT];
    double interval = INFINITY;

    if (usage == NULL)
        return interval;
    list_readers(usage, readers);
    for (size_t i = 0; i < CGROUPS_PLUGIN_COUNT; i++)
        if (readers[i].reads)
            interval = fmin(interval, readers[i].interval);
    return interval;
}

/* The same of those that have something to measure now. Looks for their cgroups, so that it is to
 * be asked for last. */
static double measured_interval_s(const struct usage *usage)
{
    struct cgroups_of_plugin of[CGROUPS_PLUGIN_COUNT];
    struct reader readers[CGROUPS_PLUGIN_COUNT];
    double interval = INFINITY;
    struct hr_root *root;

    if (usage == NULL || hr_root_open(usage->root != NULL ? usage->root : "/", &root) < 0)
        return interval;
    list_readers(usage, readers);
    cgroups_find_selections(usage, of);
    for (size_t i = 0; i < CGROUPS_PLUGIN_COUNT; i++)
        if (readers[i].reads && readers[i].interval < interval &&
            (readers[i].system || cgroups_are_there(root, &of[i])))
            interval = readers[i].interval;
    hr_root_close(root);
    return interval;
}

/* Before collectd forgets what isn't updated, after two intervals, unless these are short. */
static double late_after_s(double interval)
{
    return isfinite(interval) ? 1.5 * interval + 5 : LATE_ELSE_S;
}

static bool is_late(const struct usage *usage, double late_s)
{
    return late_s > late_after_s(interval_s(usage)) &&
           late_s > late_after_s(measured_interval_s(usage));
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
            changed = fmax(changed, seconds(&status.st_mtim));
    }
    return changed;
}

/* So that it may load other plugins than collectd has. */
static bool was_changed_later(const struct usage *usage, const struct backlog_seen *seen)
{
    return changed_s(&usage->config) > seen->started_s;
}

bool backlog_can_compare(const struct usage *usage, const struct backlog_seen *seen)
{
    return seen->now_s - seen->started_s > settled_after_s(usage) /* false of NaN */ &&
           !was_changed_later(usage, seen);
}

/* The causes that remain are that they wait, and that nothing is read. */
static bool lacks_values_for_long(const struct usage *usage, const struct backlog_seen *seen)
{
    return isnan(seen->newest_s) && isfinite(interval_s(usage)) &&
           seen->now_s - seen->started_s > settled_after_s(usage) &&
           !was_changed_later(usage, seen) && isfinite(measured_interval_s(usage));
}

/* --- Words ---------------------------------------------------------------- */

static void set_reason(struct hr_reason *reason, const char *cause, const char *remedy)
{
    *reason = (struct hr_reason){.remedy_at = strlen(cause) + strlen(": ")};
    snprintf(reason->text, sizeof(reason->text), "%s: %s", cause, remedy);
}

/* What took the time isn't seen from outside: a machine whose CPUs are busy, or a writer, or read
 * threads that hang. */
static void explain_lateness(const struct usage *usage, const struct backlog_seen *seen,
                             struct hr_reason *reason)
{
    char writers[96], busy[80] = "", cause[192], remedy[256];

    list_writers(usage, writers, sizeof(writers));
    if (seen->cpu_wait >= BUSY_PCT)
        snprintf(busy, sizeof(busy),
                 ", on a machine whose tasks wait for a CPU %.0f %% of the time", seen->cpu_wait);
    snprintf(cause, sizeof(cause), "collectd is %s behind%s",
             hr_quantity_seconds(seen->now_s - seen->newest_s).text, busy);
    if (busy[0] != '\0')
        snprintf(remedy, sizeof(remedy),
                 "%s has who takes it; if it lasts without, a writer may be slow%s; " SEE,
                 seen->takers != NULL ? seen->takers : "headroom top", writers);
    else if (rrdtool_makes_others_wait(usage))
        snprintf(remedy, sizeof(remedy),
                 "rrdtool may be making a file of each new series, which nothing waits for with "
                 "CreateFilesAsync true in its block; " SEE);
    else
        snprintf(remedy, sizeof(remedy),
                 "if a writer is slow%s, limit what waits for it by WriteQueueLimitHigh and "
                 "WriteQueueLimitLow; " SEE,
                 writers);
    set_reason(reason, cause, remedy);
}

/* So does a kernel that has nothing to read, as without PSI. */
static void explain_lack(const struct usage *usage, double running_s, struct hr_reason *reason)
{
    char writers[96], cause[256];

    list_writers(usage, writers, sizeof(writers));
    snprintf(cause, sizeof(cause),
             "collectd has no values at all, %s after its start, as either what it reads waits for "
             "its writers%s, or nothing is read",
             hr_quantity_seconds(running_s).text, writers);
    set_reason(reason, cause, "see its log, and \"Slow writers\" in collectd-headroom(5)");
}

enum backlog_state backlog_find(const struct usage *usage, const struct backlog_seen *seen,
                                struct hr_reason *reason)
{
    const double late = seen->now_s - seen->newest_s;

    *reason = (struct hr_reason){.text = ""};
    if (is_late(usage, late))
        explain_lateness(usage, seen, reason);
    else if (lacks_values_for_long(usage, seen))
        explain_lack(usage, seen->now_s - seen->started_s, reason);
    else
        return BACKLOG_NONE;
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
