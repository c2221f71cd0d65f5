/* SPDX-License-Identifier: MIT */
/*
 * configured/used_features.h - what of the plugins a configuration of collectd uses.
 */
#ifndef HEADROOM_COMMAND_CONFIGURED_USED_FEATURES_H
#define HEADROOM_COMMAND_CONFIGURED_USED_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/config.h"
#include "configured/selection.h"
#include "headroom/cpu_choice.h"
#include "headroom/osnoise.h"
#include "headroom/perf_choice.h"
#include "headroom/psi.h"
#include "headroom/wss.h"

struct usage_psi {
    bool loaded, system, resources[HR_PSI_RESOURCE_COUNT], resources_given, irq_asked;
    size_t reports; /**< kinds of series: 1 or 2 */
    bool percents;  /**< is one of them */
    bool averages;
    bool system_triggers, group_triggers; /**< that the kernel watches */
    size_t system_trigger_count, group_trigger_count;
    bool top_tasks[HR_PSI_RESOURCE_COUNT];
    bool cpu_triggers, blame_off, blame_always; /**< who took the CPU */
    size_t top_groups; /**< how many groups TopGroups names in all; 0: all groups have series */
    double interval;
    struct usage_selection groups;
};

struct usage_perf {
    bool loaded, system, running, per_cpu;
    bool require_events; /**< it doesn't start without one of them */
    enum hr_perf_counting counting;
    struct hr_cpu_choice cpus;
    struct usage_texts events;
    struct usage_texts lines; /**< of each event: the first one of the same option */
    size_t max_files;
    double interval;
    struct usage_selection groups;
};

/** Targets of wss: by scope the methods that are asked for, and HR_WSS_AUTO; and the blocks Process
 * and System. */
struct usage_wss {
    bool loaded, methods[HR_WSS_METHOD_COUNT + 1][HR_WSS_SCOPE_COUNT];
    struct usage_items blocks;
    double interval;
    struct usage_selection groups;
};

/** How a block of wss, or the option that a pattern is of, is measured. */
struct usage_wss_target {
    enum hr_wss_scope scope;
    enum hr_wss_method method;
    bool aging;
    size_t window_count; /**< at least 1 */
    double longest_s;    /**< of the windows; 0: the interval */
};

struct usage_osnoise {
    bool loaded, modes[HR_OSNOISE_MODE_COUNT];
    bool keeps_priority[HR_OSNOISE_MODE_COUNT]; /**< the workload has the one that the kernel gives
                                                   it */
    struct hr_cpu_choice cpus;
    size_t sources;
    double interval;
};

struct usage_headroom {
    bool loaded, system, oom;
    double interval;
    struct usage_items lines; /**< its options Trouble; Cgroup blocks may have others */
    const char *state_file;   /**< NULL: the default */
    struct usage_selection groups;
};

struct usage {
    struct config_item config;   /**< owns the texts */
    struct config_faults faults; /**< what of it can't be read */
    const char *found;           /**< the configuration; NULL: there is none */
    const char *path; /**< the same, if it loads any of our plugins; NULL: all is tried */
    const char *root; /**< the plugins' option Root; NULL: none */
    struct usage_psi psi;
    struct usage_perf perf;
    struct usage_wss wss;
    struct usage_osnoise osnoise;
    struct usage_headroom headroom;
    bool graphite, rrdtool, csv; /**< writers that are loaded */
    bool exec, threshold;        /**< are loaded */
    bool logfile;                /**< is loaded */
    const char *log;             /**< the file that it writes; NULL: not known */
    struct usage_items handlers; /**< the options NotificationExec of exec */
};

/**
 * Reads a configuration, as far as it can be read.
 *
 * @param path   NULL: collectd's own, the first that is there of the usual places.
 * @param usage  receives what it uses, for usage_free(), whatever is returned.
 * @param fault  receives, on failure, which file it was.
 * @return 0, also if there is none in the usual places, or it loads none of our plugins: path is
 * then NULL; otherwise as config_read(): what is included and can't be read is among the faults.
 */
int usage_read(const char *path, struct usage *usage, struct config_fault *fault);

/** @return a directory that a relative path of an Include within a plugin's block is looked for in;
 * NULL: there are no more. */
const char *usage_include_directory(const struct usage *usage, size_t index);

/** collectd's BaseDir, where the plugins keep what they know. */
const char *usage_base_dir(const struct usage *usage);

/** @return the file in which the headroom plugin saves what it knows of trends, for free(); NULL:
 * memory is short. */
char *usage_history_path(const struct usage *usage);

/** Whether an item of the configuration, a child of `config`, loads the plugin that its first value
 * names. */
bool usage_loads(const struct usage *usage, const struct config_item *item);

/** Whether one of them loads that plugin. */
bool usage_loads_plugin(const struct usage *usage, const char *plugin);

/** Prints on standard error why usage_read() has failed. @param title  the subcommand's argv[0]. */
void usage_report_fault(const char *title, const struct config_fault *fault, int status);

void usage_free(struct usage *usage);

/** @param item  Process, System or Cgroup. */
struct usage_wss_target usage_wss_target(const struct config_item *item);

#endif
