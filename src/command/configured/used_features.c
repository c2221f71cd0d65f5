/* SPDX-License-Identifier: MIT */
#include "configured/used_features.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "headroom/array.h"
#include "headroom/room_history.h"

/* Where collectd's configuration is, by distribution; and where it looks for files of its own. */
static const char *const usual_paths[] = {
    "/etc/collectd/collectd.conf",
    "/etc/collectd.conf",
    "/usr/local/etc/collectd.conf",
    "/opt/collectd/etc/collectd.conf",
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define DEFAULT_INTERVAL  10.0
#define DEFAULT_MAX_FILES 8192

static bool is_word(const char *text, const char *word)
{
    return strcasecmp(text, word) == 0;
}

/* --- Included selections -------------------------------------------------- */

static const char *base_dir(const struct config_item *config)
{
    const struct config_item *item = config_find(config, "BaseDir");

    return item != NULL ? config_text(item) : "/var/lib/collectd";
}

const char *usage_include_directory(const struct usage *usage, size_t index)
{
    static const char *const directories[] = {"/etc/collectd/collectd.conf.d", "/etc/collectd.d",
                                              "/etc/collectd"};

    if (index < COUNT(directories))
        return directories[index];
    return index == COUNT(directories) ? base_dir(&usage->config) : NULL;
}

const char *usage_base_dir(const struct usage *usage)
{
    return base_dir(&usage->config);
}

char *usage_history_path(const struct usage *usage)
{
    char *path;

    if (usage->headroom.state_file != NULL)
        return strdup(usage->headroom.state_file);
    return asprintf(&path, "%s/" HR_ROOM_HISTORY_FILE, base_dir(&usage->config)) < 0 ? NULL : path;
}

/* From where the plugins find it.
 * @param found  NULL; receives a path that the caller frees: of the file, or, where that isn't
 *               found, of the first that may be there.
 * @return 0; -ENOENT: it isn't there; the negative errno of the first that may be; or -ENOMEM. */
static int find_included(const struct usage *usage, const char *path, char **found)
{
    const char *directory;
    char *tried;
    int status = -ENOENT;

    if (path[0] == '/')
        return (*found = strdup(path)) != NULL ? 0 : -ENOMEM;
    for (size_t i = 0; status != 0 && (directory = usage_include_directory(usage, i)) != NULL;
         i++) {
        if (asprintf(&tried, "%s/%s", directory, path) < 0)
            return -ENOMEM;
        const int failure = access(tried, F_OK) == 0 ? 0 : -errno;
        if (failure == 0 || (failure != -ENOENT && *found == NULL)) {
            free(*found);
            *found = tried;
            status = failure;
        } else {
            free(tried);
        }
    }
    return status;
}

/* Reads the file of an Include within a block. @return 0, also if it can't be read, which is among
 * the faults; or -ENOMEM. */
static int read_included(struct usage *usage, const char *plugin, struct config_item *item)
{
    struct config_faults *faults = &usage->faults;
    const size_t before = faults->count;
    char *path = NULL;

    int status = find_included(usage, config_text(item), &path);
    if (status == 0)
        status = config_read(path, item, faults);
    else if (status != -ENOMEM)
        status = config_add_fault(faults, path != NULL ? path : config_text(item), 0, status);
    free(path);
    for (size_t i = before; i < faults->count; i++)
        faults->list[i].plugin = plugin;
    return status == -ENOMEM ? status : 0;
}

/* Makes the Includes of a plugin's block the parents of what they include, so that all texts are of
 * one tree. */
static int include_selections(struct usage *usage, const char *plugin, struct config_item *block)
{
    int status = 0;

    for (size_t i = 0; i < block->child_count && status == 0; i++)
        if (config_is(&block->children[i], "Include"))
            status = read_included(usage, plugin, &block->children[i]);
    return status;
}

/* --- psi ------------------------------------------------------------------ */

static int find_resource(const char *name)
{
    int resource = 0;

    while (resource < HR_PSI_RESOURCE_COUNT && !is_word(name, hr_psi_resource_name(resource)))
        resource++;
    return resource;
}

static void read_reports(struct usage_psi *psi, const struct config_item *item)
{
    psi->reports = item->value_count > 1 ? 2 : 1;
    psi->percents = false;
    for (size_t i = 0; i < item->value_count; i++)
        psi->percents = psi->percents || strcasecmp(item->values[i], "percent") == 0;
}

/* All are sampled until the option is first given. */
static void read_resources(struct usage_psi *psi, const struct config_item *item)
{
    if (!psi->resources_given)
        memset(psi->resources, 0, sizeof(psi->resources));
    psi->resources_given = true;
    for (size_t i = 0; i < item->value_count; i++) {
        int resource = find_resource(item->values[i]);
        if (resource < HR_PSI_RESOURCE_COUNT)
            psi->resources[resource] = true;
        psi->irq_asked = psi->irq_asked || resource == HR_PSI_IRQ;
    }
}

static void read_trigger(struct usage_psi *psi, const struct config_item *trigger)
{
    const struct config_item *scope = config_find(trigger, "Scope");
    const struct config_item *mode = config_find(trigger, "Mode");
    const struct config_item *resource = config_find(trigger, "Resource");
    const bool of_groups = scope != NULL && is_word(config_text(scope), "cgroups");
    const char *watcher = mode != NULL ? config_text(mode) : "auto";
    const int index = resource != NULL ? find_resource(config_text(resource)) : HR_PSI_IRQ;

    psi->system_trigger_count += !of_groups;
    psi->group_trigger_count += of_groups;
    if (of_groups && is_word(watcher, "kernel"))
        psi->group_triggers = true;
    if (!of_groups && !is_word(watcher, "poll"))
        psi->system_triggers = true;
    if (index < HR_PSI_RESOURCE_COUNT && config_number(config_find(trigger, "TopTasks"), 0) > 0)
        psi->top_tasks[index] = true;
    psi->cpu_triggers |= index == HR_PSI_CPU;
}

/* The last one counts. */
static void read_blame(struct usage_psi *psi, const struct config_item *item)
{
    psi->blame_off = is_word(config_text(item), "off");
    psi->blame_always = is_word(config_text(item), "always");
}

/* Of a pressure that is given again the last one counts. */
static void read_top_groups(struct usage_psi *psi, const struct config_item *block, size_t at)
{
    const struct config_item *item = &block->children[at];

    for (size_t i = at + 1; i < block->child_count; i++)
        if (config_is(&block->children[i], "TopGroups") && item->value_count > 1 &&
            block->children[i].value_count > 1 &&
            strcasecmp(block->children[i].values[1], item->values[1]) == 0)
            return;
    psi->top_groups += (size_t)config_number(item, 0);
}

static int read_psi(struct usage *usage, const struct config_item *block)
{
    struct usage_psi *psi = &usage->psi;

    for (size_t i = 0; i < block->child_count; i++) {
        const struct config_item *item = &block->children[i];
        if (config_is(item, "System"))
            psi->system = config_boolean(item, true);
        else if (config_is(item, "Resource"))
            read_resources(psi, item);
        else if (config_is(item, "Report"))
            read_reports(psi, item);
        else if (config_is(item, "ReportAverages"))
            psi->averages = config_boolean(item, false);
        else if (config_is(item, "Trigger"))
            read_trigger(psi, item);
        else if (config_is(item, "Blame"))
            read_blame(psi, item);
        else if (config_is(item, "TopGroups"))
            read_top_groups(psi, block, i);
    }
    return usage_selection_read(&psi->groups, block);
}

/* --- The others ----------------------------------------------------------- */

static int add_events(struct usage_perf *perf, const struct config_item *item)
{
    int status = usage_texts_add_values(&perf->events, item);

    while (status == 0 && perf->lines.count < perf->events.count)
        status = usage_texts_add(&perf->lines, config_text(item));
    return status;
}

static enum hr_perf_counting read_counting(const struct config_item *item)
{
    if (is_word(config_text(item), "bpf"))
        return HR_PERF_BPF;
    return is_word(config_text(item), "descriptors") ? HR_PERF_DESCRIPTORS : HR_PERF_AUTO;
}

static int read_perf(struct usage *usage, const struct config_item *block)
{
    struct usage_perf *perf = &usage->perf;
    int status = 0;

    for (size_t i = 0; i < block->child_count && status == 0; i++) {
        const struct config_item *item = &block->children[i];
        if (config_is(item, "System"))
            perf->system = config_boolean(item, true);
        else if (config_is(item, "Event"))
            status = add_events(perf, item);
        else if (config_is(item, "ReportRunning"))
            perf->running = config_boolean(item, true);
        else if (config_is(item, "RequireEvents"))
            perf->require_events = config_boolean(item, false);
        else if (config_is(item, "ReportPerCPU"))
            perf->per_cpu = config_boolean(item, false);
        else if (config_is(item, "CPUs"))
            hr_cpu_choice_parse(config_text(item), &perf->cpus);
        else if (config_is(item, "Counting"))
            perf->counting = read_counting(item);
        else if (config_is(item, "MaxFiles"))
            perf->max_files = (size_t)config_number(item, DEFAULT_MAX_FILES);
    }
    return status < 0 ? status : usage_selection_read(&perf->groups, block);
}

static enum hr_wss_scope scope_of(const struct config_item *item)
{
    if (config_is(item, "Process"))
        return HR_WSS_PROCESSES;
    return config_is(item, "System") ? HR_WSS_SYSTEM : HR_WSS_CGROUP;
}

struct usage_wss_target usage_wss_target(const struct config_item *item)
{
    const struct config_item *method = config_find(item, "Method");
    const struct config_item *windows = config_find(item, "Window");
    struct usage_wss_target target = {
        .scope = scope_of(item),
        .method = HR_WSS_AUTO,
        .aging = config_boolean(config_find(item, "Aging"), false),
        .window_count = 1,
    };

    if (method != NULL)
        hr_wss_method_parse(config_text(method), &target.method);
    if (windows != NULL && windows->value_count > 0) {
        target.window_count = windows->value_count;
        target.longest_s = atof(windows->values[windows->value_count - 1]);
    }
    return target;
}

static int read_wss(struct usage *usage, const struct config_item *block)
{
    struct usage_wss *wss = &usage->wss;
    int status = usage_selection_read(&wss->groups, block);

    for (size_t i = 0; i < block->child_count && status == 0; i++) {
        const struct config_item *item = &block->children[i];
        if (config_is(item, "Process") || config_is(item, "System"))
            status = usage_items_add(&wss->blocks, item);
    }
    return status;
}

static void use_method(struct usage_wss *wss, const struct config_item *item)
{
    const struct usage_wss_target target = usage_wss_target(item);

    wss->methods[target.method][target.scope] = true;
}

/* Of all blocks together, and with those of included files. */
static void find_methods(struct usage_wss *wss)
{
    for (size_t i = 0; i < wss->blocks.count; i++)
        use_method(wss, wss->blocks.list[i]);
    for (size_t i = 0; i < wss->groups.options.count; i++)
        use_method(wss, wss->groups.options.list[i]);
}

static void add_cpus(const struct config_item *item, struct hr_cpu_choice *cpus)
{
    struct hr_cpu_choice one;

    for (size_t i = 0; i < item->value_count; i++)
        if (hr_cpu_choice_parse(item->values[i], &one) == 0)
            hr_cpu_choice_add(cpus, &one);
}

/* timerlat has the kernel's rank by default, the others not. */
static void find_kept_priorities(struct usage_osnoise *osnoise, const struct config_item *priority)
{
    for (int i = 0; i < HR_OSNOISE_MODE_COUNT; i++)
        osnoise->keeps_priority[i] =
            priority == NULL
                ? i == HR_OSNOISE_TIMERLAT
                : is_word(config_text(priority), i == HR_OSNOISE_TIMERLAT ? "f:95" : "o:0");
}

static int read_osnoise(struct usage *usage, const struct config_item *block)
{
    /* A build without libtraceevent has no hr_osnoise_mode_name(). */
    static const char *const names[HR_OSNOISE_MODE_COUNT] = {
        [HR_OSNOISE_WORKLOAD] = "osnoise",  [HR_OSNOISE_HARDWARE] = "hwnoise",
        [HR_OSNOISE_SOURCES] = "sources",   [HR_OSNOISE_ATTACH] = "attach",
        [HR_OSNOISE_TIMERLAT] = "timerlat",
    };
    const struct config_item *item = config_find(block, "Mode");
    int mode = HR_OSNOISE_WORKLOAD;

    for (int i = 0; item != NULL && i < HR_OSNOISE_MODE_COUNT; i++)
        if (is_word(config_text(item), names[i]))
            mode = i;
    memset(usage->osnoise.modes, 0, sizeof(usage->osnoise.modes));
    usage->osnoise.modes[mode] = true;
    find_kept_priorities(&usage->osnoise, config_find(block, "Priority"));
    usage->osnoise.sources = (size_t)config_number(config_find(block, "Sources"), 0);
    for (size_t i = 0; i < block->child_count; i++)
        if (config_is(&block->children[i], "CPUs"))
            add_cpus(&block->children[i], &usage->osnoise.cpus);
    return 0;
}

static int read_headroom(struct usage *usage, const struct config_item *block)
{
    usage->headroom.system = config_boolean(config_find(block, "System"), usage->headroom.system);
    usage->headroom.oom = config_boolean(config_find(block, "OOM"), usage->headroom.oom);
    const struct config_item *state_file = config_find(block, "StateFile");
    int status = usage_selection_read(&usage->headroom.groups, block);

    if (state_file != NULL)
        usage->headroom.state_file = config_text(state_file);
    for (size_t i = 0; i < block->child_count && status == 0; i++)
        if (config_is(&block->children[i], "Trouble"))
            status = usage_items_add(&usage->headroom.lines, &block->children[i]);
    return status;
}

/* --- All ------------------------------------------------------------------ */

struct plugin {
    const char *name;
    bool *loaded;
    double *interval;
    int (*read)(struct usage *usage, const struct config_item *block);
};

/* Sets the plugin that an item names; returns false if it is none of headroom's. */
static bool find_plugin(struct usage *usage, const struct config_item *item, struct plugin *plugin)
{
    const struct plugin plugins[] = {
        {"psi", &usage->psi.loaded, &usage->psi.interval, read_psi},
        {"cgroup_perf", &usage->perf.loaded, &usage->perf.interval, read_perf},
        {"wss", &usage->wss.loaded, &usage->wss.interval, read_wss},
        {"osnoise", &usage->osnoise.loaded, &usage->osnoise.interval, read_osnoise},
        {"headroom", &usage->headroom.loaded, &usage->headroom.interval, read_headroom},
    };

    for (size_t i = 0; i < COUNT(plugins); i++)
        if (is_word(config_text(item), plugins[i].name)) {
            *plugin = plugins[i];
            return true;
        }
    return false;
}

/* A plugin has the interval that holds by the time it is loaded, unless its block has one. */
static void load(struct usage *usage, const struct config_item *item, double interval)
{
    const char *name = config_text(item);
    struct plugin plugin;

    if (find_plugin(usage, item, &plugin)) {
        *plugin.loaded = true;
        *plugin.interval = config_number(config_find(item, "Interval"), interval);
    }
    usage->graphite = usage->graphite || is_word(name, "write_graphite");
    usage->rrdtool = usage->rrdtool || is_word(name, "rrdtool");
    usage->csv = usage->csv || is_word(name, "csv");
    usage->exec = usage->exec || is_word(name, "exec");
    usage->threshold = usage->threshold || is_word(name, "threshold");
    usage->logfile = usage->logfile || is_word(name, "logfile");
}

static int read_exec(struct usage *usage, const struct config_item *block)
{
    int status = 0;

    for (size_t i = 0; i < block->child_count && status == 0; i++)
        if (config_is(&block->children[i], "NotificationExec"))
            status = usage_items_add(&usage->handlers, &block->children[i]);
    return status;
}

/* Also its File "stdout" is none to read. */
static void read_logfile(struct usage *usage, const struct config_item *block)
{
    const struct config_item *file = config_find(block, "File");

    if (usage->logfile && file != NULL && config_text(file)[0] == '/')
        usage->log = config_text(file);
}

static int configure(struct usage *usage, struct config_item *item)
{
    struct plugin plugin;

    if (is_word(config_text(item), "logfile"))
        read_logfile(usage, item);
    if (is_word(config_text(item), "exec"))
        return read_exec(usage, item);
    if (!find_plugin(usage, item, &plugin))
        return 0;
    const struct config_item *root = config_find(item, "Root");
    if (root != NULL)
        usage->root = config_text(root);
    int status = include_selections(usage, plugin.name, item);
    return status < 0 ? status : plugin.read(usage, item);
}

/* As far as it stands before an item. */
static bool is_auto_loading(const struct usage *usage, const struct config_item *item)
{
    bool is_auto = false;

    for (size_t i = 0; &usage->config.children[i] != item; i++)
        if (config_is(&usage->config.children[i], "AutoLoadPlugin"))
            is_auto = config_boolean(&usage->config.children[i], is_auto);
    return is_auto;
}

bool usage_loads(const struct usage *usage, const struct config_item *item)
{
    return config_is(item, "LoadPlugin") ||
           (config_is(item, "Plugin") && is_auto_loading(usage, item));
}

bool usage_loads_plugin(const struct usage *usage, const char *plugin)
{
    for (size_t i = 0; i < usage->config.child_count; i++) {
        const struct config_item *item = &usage->config.children[i];
        if (usage_loads(usage, item) && strcasecmp(config_text(item), plugin) == 0)
            return true;
    }
    return false;
}

static int interpret(struct usage *usage)
{
    double interval = DEFAULT_INTERVAL;
    int status = 0;

    for (size_t i = 0; i < usage->config.child_count && status == 0; i++) {
        struct config_item *item = &usage->config.children[i];
        if (config_is(item, "Interval"))
            interval = config_number(item, interval);
        if (usage_loads(usage, item))
            load(usage, item, interval);
        if (config_is(item, "Plugin"))
            status = configure(usage, item);
    }
    return status;
}

/* What cgroup_perf counts without an Event option. */
static int add_default_events(struct usage_perf *perf)
{
    static const char *const defaults[] = {"task-clock", "context-switches", "cpu-migrations",
                                           "page-faults"};
    int status = 0;

    for (size_t i = 0; perf->events.count == i && i < COUNT(defaults) && status == 0; i++) {
        status = usage_texts_add(&perf->events, defaults[i]);
        if (status == 0)
            status = usage_texts_add(&perf->lines, defaults[0]);
    }
    return status;
}

static void set_defaults(struct usage *usage)
{
    *usage = (struct usage){
        .psi = {.system = true, .reports = 2, .percents = true},
        .perf = {.system = true, .running = true, .max_files = DEFAULT_MAX_FILES},
        .osnoise = {.modes = {[HR_OSNOISE_WORKLOAD] = true}},
        .headroom = {.system = true},
    };
    find_kept_priorities(&usage->osnoise, NULL);
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        usage->psi.resources[i] = true;
    usage->psi.groups.max_count = usage->perf.groups.max_count = usage->wss.groups.max_count =
        usage->headroom.groups.max_count = USAGE_MAX_CGROUPS;
}

static const char *find_usual_path(void)
{
    for (size_t i = 0; i < COUNT(usual_paths); i++)
        if (access(usual_paths[i], F_OK) == 0)
            return usual_paths[i];
    return NULL;
}

/* @return as usage_read(), of what was read. */
static int interpret_all(struct usage *usage, const char *path)
{
    int status = interpret(usage);

    if (status == 0)
        status = add_default_events(&usage->perf);
    find_methods(&usage->wss);
    if (usage->psi.loaded || usage->perf.loaded || usage->wss.loaded || usage->osnoise.loaded ||
        usage->headroom.loaded)
        usage->path = path;
    return status;
}

int usage_read(const char *path, struct usage *usage, struct config_fault *fault)
{
    set_defaults(usage);
    *fault = (struct config_fault){.line = 0};
    if (path == NULL)
        path = find_usual_path();
    usage->found = path;
    if (path == NULL)
        return interpret_all(usage, NULL);
    int status = config_read(path, &usage->config, &usage->faults);
    if (status < 0 && usage->faults.count > 0)
        *fault = usage->faults.list[usage->faults.count - 1];
    int interpreted = status != -ENOMEM ? interpret_all(usage, path) : 0;
    return status < 0 ? status : interpreted;
}

void usage_report_fault(const char *title, const struct config_fault *fault, int status)
{
    if (fault->line > 0)
        fprintf(stderr, "%s: %s isn't understood: line %u\n", title, fault->path, fault->line);
    else
        fprintf(stderr, "%s: can't read %s: %s\n", title, fault->path, strerror(-status));
}

void usage_free(struct usage *usage)
{
    usage_selection_free(&usage->psi.groups);
    usage_selection_free(&usage->perf.groups);
    usage_selection_free(&usage->wss.groups);
    usage_selection_free(&usage->headroom.groups);
    free(usage->handlers.list);
    free(usage->headroom.lines.list);
    free(usage->wss.blocks.list);
    free(usage->perf.events.list);
    free(usage->perf.lines.list);
    free(usage->faults.list);
    config_free(&usage->config);
}
