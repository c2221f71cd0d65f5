/* SPDX-License-Identifier: MIT */
/*
 * headroom/plugin.c - the plugin headroom: how much room the system and cgroups have left, and for
 * how long.
 */
#include "collectd.h"

#include "plugin.h"

#include <math.h>

#include "common/log.h"
#include "common/missing.h"
#include "common/open_files.h"
#include "common/options.h"
#include "common/selection.h"
#include "headroom/alert.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/history.h"
#include "headroom/kills.h"
#include "headroom/problems.h"
#include "headroom/room.h"
#include "headroom/root.h"
#include "headroom/subject.h"
#include "headroom/taken_cpus.h"
#include "headroom/task_cpus.h"
#include "headroom/trouble_lines.h"
#include "headroom/values.h"
#include "headroom/working_sets.h"
#include "utils/common/common.h"

#define PLUGIN "headroom"

/* Room by CPU time is of so many seconds: until then there is none after a start. */
#define SUMS_S 20

/* A point of the shortest forecast: a thirtieth of ten minutes. */
#define POINT_NS (20 * HR_NS_PER_S)

/* The time over which growth is attributed to takers. */
#define GROWTH_S 600.

static struct {
    bool system;
    char *root;
    uint64_t horizon_us;
    struct trouble_lines lines;
    struct alert_rule alert;
    bool notify_of_kills;
    char *state_file;
} config = {
    .system = true,
    .horizon_us = 86400 * HR_US_PER_S,
};

static struct selection *selection;
static struct hr_root *root;
static struct hr_room_machine *machine;
static struct hr_cgroup_set *groups; /* NULL without a Cgroup option */
static struct subject whole_system = {.instance = "system"};
static struct problems problems;
static struct working_sets working_sets;
static struct taken_cpus taken;
static struct alert *alert;     /* NULL without a block <Alert>, and alarms of one before */
static struct kills *kills;     /* NULL without the option OOM */
static struct history *history; /* NULL if nothing can be saved */
static bool is_closing;         /* nothing is submitted any more */

/* --- Configuration -------------------------------------------------------- */

static int configure_option(const oconfig_item_t *item)
{
    if (strcasecmp(item->key, "System") == 0)
        return option_boolean(PLUGIN, item, &config.system);
    if (strcasecmp(item->key, "Trouble") == 0)
        return trouble_lines_option(PLUGIN, item, &config.lines.of_all);
    if (strcasecmp(item->key, "Horizon") == 0)
        return option_seconds(PLUGIN, item, &config.horizon_us);
    if (strcasecmp(item->key, "Alert") == 0)
        return alert_option(item, &config.alert);
    if (strcasecmp(item->key, "OOM") == 0)
        return option_boolean(PLUGIN, item, &config.notify_of_kills);
    if (strcasecmp(item->key, "StateFile") == 0)
        return option_state_file(PLUGIN, item, &config.state_file);
    if (strcasecmp(item->key, "Root") == 0)
        return option_root(PLUGIN, item, &config.root);

    int status = selection_option(selection, item);
    if (status > 0)
        option_warn_unknown(PLUGIN, item);
    return status < 0 ? -1 : 0;
}

static int headroom_config(oconfig_item_t *block)
{
    for (int i = 0; i < block->children_num; i++)
        if (configure_option(&block->children[i]) < 0)
            return -1;
    return 0;
}

/* --- Reading -------------------------------------------------------------- */

static struct submission submission_of(const struct subject *subject, cdtime_t time)
{
    return (struct submission){.plugin = PLUGIN, .instance = subject->instance, .time = time};
}

static void store_reading(struct subject *subject, const struct hr_room_reading *reading)
{
    static const enum hr_psi_resource resources[] = {
        [SUBJECT_CPU] = HR_PSI_CPU, [SUBJECT_MEMORY] = HR_PSI_MEMORY, [SUBJECT_IO] = HR_PSI_IO};
    const double share = fmin(CDTIME_T_TO_DOUBLE(plugin_get_interval()) / GROWTH_S, 1);

    subject->room[SUBJECT_CPU] = reading->cpu;
    subject->room[SUBJECT_MEMORY] = reading->memory;
    subject->room[SUBJECT_IO] = reading->io.room;
    subject->io_kind = reading->io.kind;
    subject->outlook = reading->outlook;
    subject->is_own_trend = reading->is_own_trend;
    subject->is_trend_of_room = reading->is_trend_of_room;
    for (int i = 0; i < SUBJECT_ROOM_COUNT; i++)
        subject->stall_pct[i] =
            reading->has_stall[resources[i]] ? reading->stall_pct[resources[i]] : NAN;
    if (reading->memory.status != 0)
        return;
    subject->memory_level = reading->memory_level;
    subject->memory_bytes = reading->memory_bytes;
    subject->swapped_bytes = reading->swapped_bytes;
    if (subject->has_memory_before)
        subject->memory_before += share * (subject->memory_level - subject->memory_before);
    else
        subject->memory_before = subject->memory_level;
    subject->has_memory_before = true;
}

static void read_subject(struct subject *subject, const struct hr_cgroup *group, cdtime_t time,
                         struct hr_room_reading *reading)
{
    const struct submission submission = submission_of(subject, time);

    if (hr_room_read(subject->source, &subject->lines, reading) < 0)
        return; /* removed */
    values_submit(&submission, reading, (double)config.horizon_us / HR_US_PER_S,
                  &subject->was_in_trouble);
    stalls_submit(&subject->stalls, subject->source, root, group, reading, &taken, &submission);
    store_reading(subject, reading);
}

static void read_system(cdtime_t time)
{
    struct hr_room_reading reading;

    read_subject(&whole_system, NULL, time, &reading);
    problems_log_system(&problems, &reading);
}

static void take_working_sets(void)
{
    struct hr_room_working_set set;
    struct hr_cgroup *group = NULL;

    if (!working_sets_refresh(&working_sets))
        return;
    while ((group = hr_cgroup_set_next(groups, group)) != NULL) {
        const struct subject *subject = group->data;
        if (subject == NULL || subject->source == NULL)
            continue;
        working_sets_find(&working_sets, subject->instance, &set);
        hr_room_set_working_set(subject->source, &set);
    }
}

static void read_groups(cdtime_t time)
{
    struct hr_room_reading reading;
    struct hr_cgroup *group = NULL;

    while ((group = hr_cgroup_set_next(groups, group)) != NULL) {
        struct subject *subject = group->data;
        if (subject == NULL || subject->source == NULL)
            continue; /* memory was short, which was logged */
        read_subject(subject, group, time, &reading);
        problems_add(&problems, group->path, &reading);
    }
    problems_log_groups(&problems);
}

static void evaluate_alerts(void)
{
    struct takers others = {.root = root,
                            .groups = groups,
                            .count = config.alert.top_takers,
                            .cpus = hr_room_machine_cpus(machine),
                            .threads = TASK_CPUS_THREADS,
                            .taken = &taken};
    struct hr_cgroup *group = NULL;

    if (whole_system.source != NULL)
        alert_evaluate(alert, &whole_system, &others);
    while (groups != NULL && (group = hr_cgroup_set_next(groups, group)) != NULL) {
        struct subject *subject = group->data;
        if (subject != NULL && subject->source != NULL)
            alert_evaluate(alert, subject, &others);
    }
    takers_clear(&others);
    alert_save(alert);
}

/* The time is taken after the groups are up to date: what one did last before it emptied is older
 * than what another does under the same name. */
static int headroom_read(__attribute__((unused)) user_data_t *data)
{
    missing_end_overdue_alarms(TIME_T_TO_CDTIME_T(SUMS_S));
    if (groups != NULL)
        selection_read(selection, groups);
    cdtime_t time = cdtime();
    taken_cpus_begin(&taken, time);
    hr_room_machine_read(machine);
    if (whole_system.source != NULL)
        read_system(time);
    if (groups != NULL) {
        take_working_sets();
        read_groups(time);
    }
    if (alert != NULL)
        evaluate_alerts();
    if (history != NULL)
        history_save_due(history);
    return 0;
}

/* --- Groups --------------------------------------------------------------- */

/* A point is the higher of two levels at least, so that one that comes late leaves no gap. */
static uint64_t point_ns(void)
{
    const uint64_t two_intervals_ns = 2 * CDTIME_T_TO_NS(plugin_get_interval());

    return two_intervals_ns > POINT_NS ? two_intervals_ns : POINT_NS;
}

static void add_group(struct hr_cgroup *group)
{
    const char *instance = selection_name(selection, group);
    struct subject *added = instance != NULL ? calloc(1, sizeof(*added)) : NULL;

    if (added == NULL) {
        if (instance != NULL)
            ERROR(PLUGIN ": cgroup %s is left out: out of memory.", group->path);
        selection_unname(selection, instance);
        return;
    }
    added->instance = instance;
    added->path = group->path;
    added->lines = trouble_lines_of_group(&config.lines, group->pattern);
    group->data = added;
    if (kills != NULL)
        kills_add_group(kills, added->path, instance);
}

static void start_group(struct hr_cgroup *group)
{
    struct subject *subject = group->data;

    if (hr_room_open(machine, group, point_ns(), &subject->source) < 0)
        ERROR(PLUGIN ": cgroup %s is left out: out of memory.", group->path);
    else if (alert != NULL)
        alert_resume(alert, subject);
}

/* What emptied it may have been the kernel. */
static void stop_group(struct subject *subject)
{
    struct hr_room_reading reading;
    const struct submission submission = submission_of(subject, cdtime());

    if (subject->source == NULL)
        return;
    if (!is_closing && hr_room_read(subject->source, &subject->lines, &reading) == 0)
        values_submit_kills(&submission, &reading);
    if (!is_closing && alert != NULL)
        alert_end(alert, subject, "it has no process any more");
    hr_room_close(subject->source);
    subject->source = NULL;
    subject->has_memory_before = false;
    stalls_clear(&subject->stalls);
}

static void remove_group(struct subject *subject)
{
    if (kills != NULL)
        kills_remove_group(kills, subject->path);
    selection_unname(selection, subject->instance);
    free(subject);
}

static void handle_cgroup_event(struct hr_cgroup *group, enum hr_cgroup_event event,
                                __attribute__((unused)) void *context)
{
    if (group->data == NULL && event != HR_CGROUP_ADDED)
        return;
    switch (event) {
    case HR_CGROUP_ADDED:
        add_group(group);
        break;
    case HR_CGROUP_POPULATED:
        start_group(group);
        break;
    case HR_CGROUP_EMPTIED:
        stop_group(group->data);
        break;
    case HR_CGROUP_REMOVED:
        remove_group(group->data);
        break;
    }
}

/* --- Callbacks ------------------------------------------------------------ */

static void stop_measuring(void)
{
    is_closing = true;
    history_close(history);
    history = NULL;
    alert_close(alert);
    alert = NULL;
    memset(whole_system.alarm, 0, sizeof(whole_system.alarm));
    hr_cgroup_set_close(groups);
    groups = NULL;
    kills_close(kills);
    kills = NULL;
    hr_room_close(whole_system.source);
    whole_system.source = NULL;
    stalls_clear(&whole_system.stalls);
    hr_room_machine_close(machine);
    machine = NULL;
    working_sets_clear(&working_sets);
    taken_cpus_free(&taken);
    hr_root_close(root);
    root = NULL;
    is_closing = false;
}

static int headroom_shutdown(void)
{
    missing_close();
    stop_measuring();
    selection_free(selection);
    selection = NULL;
    trouble_lines_free(&config.lines);
    free(config.root);
    config.root = NULL;
    free(config.state_file);
    config.state_file = NULL;
    return 0;
}

static int start_measuring(const char *path)
{
    int status = hr_root_open(path, &root);

    if (status < 0) {
        ERROR(PLUGIN ": can't use %s as root directory: %s.", path, STRERROR(-status));
        return status;
    }
    status = hr_room_machine_open(root, &machine);
    if (status == 0)
        history = history_open(config.state_file, machine, point_ns());
    whole_system.lines = trouble_lines_of_system(&config.lines);
    if (status == 0 && config.system)
        status = hr_room_open(machine, NULL, point_ns(), &whole_system.source);
    if (status == 0)
        status = alert_open(&config.alert, config.state_file, root, &alert);
    if (alert != NULL && whole_system.source != NULL)
        alert_resume(alert, &whole_system);
    if (status == 0 && config.notify_of_kills)
        status = kills_open(root, &kills);
    if (status == 0)
        status = selection_open(selection, root, handle_cgroup_event, NULL, &groups);
    if (status < 0)
        ERROR(PLUGIN ": can't start: %s.", STRERROR(-status));
    return status;
}

static int headroom_init(void)
{
    if (root != NULL)
        return 0; /* collectd may call this again */
    if (!config.system && selection_is_empty(selection))
        WARNING(PLUGIN ": there is nothing to sample: System is false and there is no Cgroup.");
    open_files_raise_limit(PLUGIN, 0);
    if (start_measuring(config.root != NULL ? config.root : "/") < 0) {
        stop_measuring();
        return -1;
    }
    return plugin_register_complex_read(NULL, PLUGIN, headroom_read, 0, NULL);
}

void module_register(void)
{
    selection = selection_new(PLUGIN, NULL);
    if (selection == NULL) {
        ERROR(PLUGIN ": out of memory.");
        return;
    }
    selection_on_option(selection, trouble_lines_pattern_option, &config.lines);
    plugin_register_complex_config(PLUGIN, headroom_config);
    plugin_register_init(PLUGIN, headroom_init);
    plugin_register_shutdown(PLUGIN, headroom_shutdown);
    missing_register(PLUGIN);
}
