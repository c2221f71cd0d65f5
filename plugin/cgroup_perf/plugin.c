/* SPDX-License-Identifier: MIT */
/*
 * cgroup_perf/plugin.c - the plugin cgroup_perf: performance counters of the system and of cgroups.
 */
#include "collectd.h"

#include "plugin.h"

#include <errno.h>

#include "cgroup_perf/events.h"
#include "cgroup_perf/exceptions.h"
#include "cgroup_perf/problems.h"
#include "cgroup_perf/slices.h"
#include "cgroup_perf/values.h"
#include "common/log.h"
#include "common/missing.h"
#include "common/open_files.h"
#include "common/options.h"
#include "common/selection.h"
#include "common/submit.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/perf.h"
#include "headroom/perf_choice.h"
#include "headroom/reason.h"
#include "headroom/root.h"
#include "utils/common/common.h"

#define PLUGIN "cgroup_perf"

/* How often events are looked up again that this machine doesn't know, or where that failed. */
#define UPDATE_INTERVAL TIME_T_TO_CDTIME_T(60)

/* The series of one cgroup. */
struct series {
    const char *instance;
    struct hr_perf_target *target; /* NULL until the cgroup is populated */
    cdtime_t submitted;            /* time of the interval of the last values */
};

/* The instance of a removed cgroup whose last values are of this interval. */
struct ended {
    struct ended *next;
    char instance[DATA_MAX_NAME_LEN];
};

static struct {
    bool system;
    bool require_events;
    int counting; /* enum hr_perf_counting */
    size_t max_files;
    struct hr_cpu_choice cpus;
    struct perf_values_options publishing;
    char *root;
} config = {
    .system = true,
    .max_files = 8192,
    .publishing = {.running = true},
};

static struct perf_events events;
static bool events_found; /* events were looked up since the configuration */
static struct selection *selection;
static struct hr_root *root;
static struct hr_perf *perf; /* NULL if there is nothing to count */
static struct hr_perf_target *system_target;
static struct hr_cgroup_set *groups; /* NULL without a Cgroup option */
static struct perf_problems problems;
static struct exceptions exceptions;
static struct ended *ended;
static bool started;
static bool first_read; /* what was there first was read */
static bool just_open;  /* in this interval what is read was opened a moment before */
static bool undecided;  /* until the selected groups are known; `perf` has no targets */
static bool may_change; /* "auto", by descriptors: what is to be counted may become too much */
static bool cpus_known;
static unsigned cpu_changes; /* when the CPUs of events were looked up */
static bool update_failed;
static cdtime_t update_time;
static cdtime_t now; /* of the interval that is being read; 0: none */

/* --- Configuration -------------------------------------------------------- */

static int configure_option(const oconfig_item_t *item)
{
    if (strcasecmp(item->key, "System") == 0)
        return option_boolean(PLUGIN, item, &config.system);
    if (strcasecmp(item->key, "Event") == 0)
        return perf_events_option(&events, item);
    if (strcasecmp(item->key, "RequireEvents") == 0)
        return option_boolean(PLUGIN, item, &config.require_events);
    if (strcasecmp(item->key, "CPUs") == 0)
        return option_cpus(PLUGIN, item, &config.cpus);
    if (strcasecmp(item->key, "Counting") == 0)
        return option_word(PLUGIN, item, &config.counting);
    if (strcasecmp(item->key, "ReportPerCPU") == 0)
        return option_boolean(PLUGIN, item, &config.publishing.per_cpu);
    if (strcasecmp(item->key, "ReportRunning") == 0)
        return option_boolean(PLUGIN, item, &config.publishing.running);
    if (strcasecmp(item->key, "MaxFiles") == 0)
        return option_count(PLUGIN, item, &config.max_files);
    if (strcasecmp(item->key, "Root") == 0)
        return option_root(PLUGIN, item, &config.root);

    int status = selection_option(selection, item);
    if (status > 0)
        option_warn_unknown(PLUGIN, item);
    return status < 0 ? -1 : 0;
}

static int open_root(void)
{
    const char *path = config.root != NULL ? config.root : "/";

    hr_root_close(root);
    root = NULL;
    int status = hr_root_open(path, &root);
    if (status < 0)
        log_start_failure(PLUGIN, status, path);
    return status;
}

static int look_up_events(void)
{
    int unknown = perf_events_look_up(&events, root);

    events_found = unknown >= 0;
    return unknown;
}

static struct hr_perf_options perf_options(void)
{
    return (struct hr_perf_options){
        .groups = events.groups,
        .group_count = events.group_count,
        .max_files = config.max_files,
        .max_targets = selection_max(selection),
        .slice_wall_ns = slices_longest_ns(),
        .cpus = config.cpus,
    };
}

static int open_by_descriptors(void)
{
    const struct hr_perf_options options = perf_options();

    open_files_raise_limit(PLUGIN, config.max_files);
    return events.group_count > 0 ? hr_perf_open(root, &options, &perf) : 0;
}

/* BPF needs none, but for lines that are exceptions. */
static void raise_limit_by_bpf(void)
{
    open_files_raise_limit(PLUGIN, hr_perf_files(perf).of_group > 0 ? config.max_files : 0);
}

static void note_exceptions(void)
{
    if (exceptions_log(&exceptions, &events, perf))
        raise_limit_by_bpf();
}

static int open_by_bpf(struct hr_reason *reason)
{
    const struct hr_perf_options options = perf_options();
    int status = events.group_count > 0 ? hr_perf_open_bpf(root, &options, &perf, reason) : 0;

    if (status == 0 && perf != NULL)
        raise_limit_by_bpf();
    return status;
}

static int open_perf(void)
{
    struct hr_reason reason;

    if (config.counting != HR_PERF_BPF)
        return open_by_descriptors();
    if (open_by_bpf(&reason) == 0)
        return 0;
    WARNING(PLUGIN ": can't count by BPF (Counting), so descriptors are used: %s.", reason.text);
    return open_by_descriptors();
}

static int read_cpus_and_counts(void)
{
    int status = hr_perf_read(perf);

    cpus_known = cpus_known || status == 0;
    perf_problems_log_cpus(&problems, status, cpus_known);
    if (status == 0)
        perf_problems_log_left_out(&problems, hr_perf_cpu_count(perf));
    return status;
}

/* PMUs have files with their CPUs, which change with those that are online; and PMUs and
 * tracepoints come with modules. At first, too: a CPU may have gone since they were looked up,
 * before it was known which are online. */
static void update_events(void)
{
    const unsigned changes = hr_perf_cpu_changes(perf);
    const bool is_known = events.known_count == events.event_count && !update_failed;
    bool changed;

    if (changes == cpu_changes && (is_known || cdtime() - update_time < UPDATE_INTERVAL))
        return;
    cpu_changes = changes;
    update_time = cdtime();
    int status = perf_events_update(&events, root, &changed);
    update_failed = status < 0;
    perf_problems_log_update(&problems, status);
    if (changed)
        hr_perf_update_events(perf);
}

/* Opens the events once for the machine, to find out whether each can be counted. */
static int try_events(void)
{
    struct hr_perf_target *target;
    int status = hr_perf_target_open_system(perf, &target);

    if (status < 0)
        return status;
    status = hr_perf_target_read(target);
    perf_problems_record(&problems, &events, target, NULL, status);
    perf_problems_log(&problems, &events, perf, root);
    status = status == -EINPROGRESS ? 0 : status; /* that was enough to try */
    for (size_t g = 0; g < events.group_count && status == 0; g++)
        for (size_t e = 0; e < events.groups[g].count && status == 0; e++)
            status = config.system || !events.groups[g].events[e]->whole_machine
                         ? hr_perf_status(perf, HR_PERF_SYSTEM, g, e)
                         : -EINVAL;
    hr_perf_target_close(target);
    return status;
}

static int require_events(void)
{
    int status = open_by_descriptors();

    if (status == 0 && perf != NULL)
        status = read_cpus_and_counts();
    if (status == 0 && perf != NULL)
        status = try_events();
    hr_perf_close(perf);
    perf = NULL;
    return status;
}

/* Events are looked up by cgroup_perf_init(), after all blocks, so that errors are logged once; but
 * here if they are required, as only a refused configuration keeps collectd from starting. */
static int cgroup_perf_config(oconfig_item_t *block)
{
    for (int i = 0; i < block->children_num; i++)
        if (configure_option(&block->children[i]) < 0)
            return -1;
    events_found = false;
    if (open_root() < 0)
        return -1;
    if (!config.require_events)
        return 0;
    int unknown = look_up_events();
    if (unknown < 0)
        return -1;
    if (unknown > 0 || require_events() < 0) {
        ERROR(PLUGIN ": RequireEvents is true, and not all events can be counted.");
        return -1;
    }
    return 0;
}

/* --- Values --------------------------------------------------------------- */

static void submit_values(const char *instance, const struct hr_perf_target *target)
{
    const struct submission submission = {.plugin = PLUGIN, .instance = instance, .time = now};
    struct perf_values_options publishing = config.publishing;

    publishing.totals_only = just_open;
    perf_events_name_ratios(&events, perf);
    perf_values_submit(&submission, &events, target, &publishing);
}

/* At most once per interval: a cgroup may be recreated with the name of a removed one. */
static void submit_group(struct series *series)
{
    if (series->submitted == now)
        return;
    series->submitted = now;
    submit_values(series->instance, series->target);
}

static void read_system(void)
{
    if (system_target == NULL)
        return;
    int status = hr_perf_target_read(system_target);
    if (now == 0) /* that was to open it: see open_and_read_first() */
        return;
    perf_problems_record(&problems, &events, system_target, NULL, status);
    submit_values("system", system_target);
}

static void read_group(const struct hr_cgroup *group)
{
    struct series *series = group->data;

    if (series == NULL || series->target == NULL)
        return;
    int status = hr_perf_target_read(series->target);
    if (now == 0)
        return;
    perf_problems_record(&problems, &events, series->target, group->path, status);
    submit_group(series);
}

static void free_ended(void)
{
    while (ended != NULL) {
        struct ended *next = ended->next;
        free(ended);
        ended = next;
    }
}

static void read_groups(void)
{
    if (groups == NULL)
        return;
    selection_read(selection, groups);
    for (struct hr_cgroup *group = NULL; (group = hr_cgroup_set_next(groups, group)) != NULL;)
        read_group(group);
    free_ended();
}

/* --- Groups --------------------------------------------------------------- */

static bool has_ended(const char *instance)
{
    for (const struct ended *one = ended; one != NULL; one = one->next)
        if (strcmp(one->instance, instance) == 0)
            return true;
    return false;
}

static void create_series(struct hr_cgroup *group)
{
    const char *instance = selection_name(selection, group);
    struct series *series = instance != NULL ? calloc(1, sizeof(*series)) : NULL;

    if (series == NULL) {
        selection_unname(selection, instance);
        return; /* out of memory, which was logged */
    }
    series->instance = instance;
    series->submitted = has_ended(instance) ? now : 0;
    group->data = series;
}

static void open_target(struct hr_cgroup *group)
{
    struct series *series = group->data;

    if (undecided || series == NULL || series->target != NULL)
        return;
    if (hr_perf_target_open_cgroup(perf, group, &series->target) < 0)
        ERROR(PLUGIN ": cgroup %s is left out: out of memory.", group->path);
}

/* Publishes the values since the last interval now, as the cgroup may never be read again. */
static void pause_series(struct series *series)
{
    if (series->target == NULL)
        return;
    hr_perf_target_pause(series->target);
    if (now != 0)
        submit_group(series);
}

/* The name may be reused within the interval. */
static void remember_ended(const struct series *series)
{
    struct ended *one = now != 0 && series->submitted == now ? malloc(sizeof(*one)) : NULL;

    if (one == NULL)
        return;
    sstrncpy(one->instance, series->instance, sizeof(one->instance));
    one->next = ended;
    ended = one;
}

static void end_series(struct series *series)
{
    remember_ended(series);
    hr_perf_target_close(series->target);
    selection_unname(selection, series->instance);
    free(series);
}

static void handle_cgroup_event(struct hr_cgroup *group, enum hr_cgroup_event event,
                                __attribute__((unused)) void *context)
{
    if (event == HR_CGROUP_ADDED)
        create_series(group);
    if (group->data == NULL)
        return;
    switch (event) {
    case HR_CGROUP_ADDED:
        break;
    case HR_CGROUP_POPULATED:
        open_target(group);
        break;
    case HR_CGROUP_EMPTIED:
        pause_series(group->data);
        break;
    case HR_CGROUP_REMOVED:
        end_series(group->data);
        break;
    }
}

/* --- Counting "auto" ------------------------------------------------------ */

static struct hr_perf_demand find_demand(void)
{
    struct hr_perf_demand demand = {.system = config.system};

    if (groups == NULL)
        return demand;
    demand.groups = hr_cgroup_set_counts(groups).populated;
    demand.nested = config.system || hr_cgroup_set_is_nested(groups);
    return demand;
}

static struct hr_perf_choice find_choice(const struct hr_perf_demand *demand)
{
    const struct hr_perf_need need = hr_perf_find_need(perf, demand);
    struct hr_perf_choice choice;

    hr_perf_choose(&need, &choice);
    return choice;
}

/* It is tried once. @param began  whether descriptors were used before. */
static void change_to_bpf(const struct hr_perf_choice *choice, bool began)
{
    struct hr_reason reason;

    may_change = false;
    if (hr_perf_change_to_bpf(perf, &reason) == 0) {
        raise_limit_by_bpf();
        perf_problems_change_to_bpf(&problems);
        if (began)
            INFO(PLUGIN ": counting by BPF from now on (Counting \"auto\"): %s.", choice->why);
        else
            INFO(PLUGIN ": counting by BPF (Counting \"auto\"): %s.", choice->why);
        note_exceptions();
        return;
    }
    plugin_log(choice->fits ? LOG_INFO : LOG_WARNING,
               PLUGIN ": counting by descriptors (Counting \"auto\"), though %s, as BPF can't "
                      "be used: %s.",
               choice->why, reason.text);
}

/* Changes to BPF as soon as that would be chosen; there is no way back, as BPF continues the
 * totals. Called after the targets were read, so that an interval's values are all counted the same
 * way. */
static void reconsider_counting(void)
{
    if (!may_change)
        return;
    const struct hr_perf_demand demand = find_demand();
    const struct hr_perf_choice choice = find_choice(&demand);
    if (choice.counting == HR_PERF_DESCRIPTORS)
        return;
    change_to_bpf(&choice, true);
}

static int open_system(void)
{
    return perf != NULL && config.system ? hr_perf_target_open_system(perf, &system_target) : 0;
}

/* First, when the selected groups are known, and something is to be counted. */
static void choose_counting_once(void)
{
    struct hr_cgroup *group = NULL;

    if (groups != NULL)
        selection_read(selection, groups);
    const struct hr_perf_demand demand = find_demand();
    if (!demand.system && demand.groups == 0)
        return;
    const struct hr_perf_choice choice = find_choice(&demand);
    undecided = false;
    may_change = choice.counting == HR_PERF_DESCRIPTORS;
    if (may_change)
        INFO(PLUGIN ": counting by descriptors (Counting \"auto\"): %s.", choice.why);
    else
        change_to_bpf(&choice, false);
    if (open_system() < 0)
        ERROR(PLUGIN ": the machine is left out: out of memory.");
    while (groups != NULL && (group = hr_cgroup_set_next(groups, group)) != NULL)
        open_target(group);
}

/* What is there is opened, which may last, before the time of the interval is taken and all of it
 * is read: what was counted meanwhile is then no part of the first rates. */
static void open_and_read_first(void)
{
    slices_lengthen_first(perf);
    read_system();
    read_groups();
    first_read = just_open = true;
}

/* --- Callbacks ------------------------------------------------------------ */

static int cgroup_perf_read(__attribute__((unused)) user_data_t *data)
{
    missing_end_overdue_alarms(0);
    if (perf == NULL)
        return 0;
    read_cpus_and_counts();
    if (!cpus_known)
        return 0;
    update_events();
    note_exceptions();
    if (undecided && hr_perf_cpu_count(perf) > 0)
        choose_counting_once();
    if (!first_read && !undecided)
        open_and_read_first();
    now = cdtime();
    read_system();
    read_groups();
    reconsider_counting();
    perf_problems_log(&problems, &events, perf, root);
    just_open = false;
    now = 0;
    return 0;
}

static void stop_counting(void)
{
    hr_cgroup_set_close(groups);
    groups = NULL;
    hr_perf_target_close(system_target);
    system_target = NULL;
    hr_perf_close(perf);
    perf = NULL;
    exceptions = (struct exceptions){0};
    cpu_changes = 0;
    started = cpus_known = first_read = just_open = undecided = may_change = update_failed = false;
}

static int cgroup_perf_shutdown(void)
{
    missing_close();
    stop_counting();
    perf_events_end(&events);
    selection_free(selection);
    selection = NULL;
    hr_root_close(root);
    root = NULL;
    free(config.root);
    config.root = NULL;
    return 0;
}

static int start_counting(void)
{
    int status = open_perf();

    undecided = perf != NULL && config.counting == HR_PERF_AUTO;
    if (status == 0 && !undecided)
        status = open_system();
    if (status == 0 && perf != NULL)
        status = selection_open(selection, root, handle_cgroup_event, NULL, &groups);
    if (status < 0) {
        log_start_failure(PLUGIN, status, NULL);
        stop_counting();
    }
    return status;
}

static int cgroup_perf_init(void)
{
    if (started)
        return 0; /* collectd may call this more than once */
    /* Without a <Plugin> block, cgroup_perf_config() was not called. */
    if (root == NULL && open_root() < 0)
        return -1;
    if ((!events_found && look_up_events() < 0) || start_counting() < 0)
        return -1;
    started = true;
    if (events.known_count == 0)
        WARNING(PLUGIN ": there is nothing to count: this machine knows none of the events.");
    else if (!config.system && selection_is_empty(selection))
        WARNING(PLUGIN
                ": there is nothing to count: System is false, and no Cgroup is configured.");
    return plugin_register_complex_read(NULL, PLUGIN, cgroup_perf_read, 0, NULL);
}

void module_register(void)
{
    selection = selection_new(PLUGIN, "perf_event");
    if (selection == NULL) {
        ERROR(PLUGIN ": out of memory.");
        return;
    }
    plugin_register_complex_config(PLUGIN, cgroup_perf_config);
    plugin_register_init(PLUGIN, cgroup_perf_init);
    plugin_register_shutdown(PLUGIN, cgroup_perf_shutdown);
    missing_register(PLUGIN);
}
