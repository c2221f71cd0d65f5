/* SPDX-License-Identifier: MIT */
/*
 * doctor/usage.h - what of the plugins a configuration of collectd uses.
 */
#ifndef HEADROOM_COMMAND_DOCTOR_USAGE_H
#define HEADROOM_COMMAND_DOCTOR_USAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/config.h"
#include "headroom/osnoise.h"
#include "headroom/psi.h"
#include "headroom/wss.h"

/** Texts of the configuration, whose memory they are. */
struct usage_texts {
    const char **list;
    size_t count, capacity;
};

/** Which cgroups a plugin selects. */
struct usage_selection {
    struct usage_texts patterns;
    struct usage_texts templates; /**< of each pattern, or NULL */
    struct usage_texts options;   /**< of each pattern: the first one of the same option */
    struct usage_texts excludes;
    size_t max_count;
};

struct usage_psi {
    bool loaded, system, resources[HR_PSI_RESOURCE_COUNT], resources_given, irq_asked;
    size_t reports; /**< kinds of series: 1 or 2 */
    bool percents;  /**< is one of them */
    bool averages;
    bool system_triggers, group_triggers; /**< that the kernel watches */
    size_t system_trigger_count, group_trigger_count;
    bool top_tasks[HR_PSI_RESOURCE_COUNT];
    double interval;
    struct usage_selection groups;
};

struct usage_perf {
    bool loaded, system, running, per_cpu;
    struct usage_texts events;
    struct usage_texts lines; /**< of each event: the first one of the same option */
    size_t max_files;
    double interval;
    struct usage_selection groups;
};

/** Targets of wss by scope, and how many are no patterns; the methods are those that are asked for,
 * and HR_WSS_AUTO. */
struct usage_wss {
    bool loaded, methods[HR_WSS_METHOD_COUNT + 1][HR_WSS_SCOPE_COUNT];
    size_t blocks, processes; /**< the latter are of the former */
    double interval;
    struct usage_selection groups;
};

struct usage_osnoise {
    bool loaded, modes[HR_OSNOISE_MODE_COUNT];
    size_t sources;
    double interval;
};

struct usage {
    struct config_item config; /**< owns the texts */
    const char *path;          /**< of the configuration; NULL: there is none, and all is tried */
    const char *root;          /**< the plugins' option Root; NULL: none */
    struct usage_psi psi;
    struct usage_perf perf;
    struct usage_wss wss;
    struct usage_osnoise osnoise;
    bool graphite, rrdtool; /**< writers that are loaded */
};

/**
 * Reads a configuration.
 *
 * @param path   NULL: collectd's own, the first that is there of the usual places.
 * @param usage  receives what it uses, for usage_free(), whatever is returned.
 * @param fault  receives, on failure, which file it was.
 * @return 0, also if there is none in the usual places, or it loads none of our plugins: path is
 * then NULL; otherwise as config_read(), or -ENOMEM.
 */
int usage_read(const char *path, struct usage *usage, struct config_fault *fault);

void usage_free(struct usage *usage);

#endif
