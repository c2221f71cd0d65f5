/* SPDX-License-Identifier: MIT */
/*
 * cgroup_perf/events.h - what the plugin cgroup_perf counts: the lines of option Event, how their
 * series are called, and which ratios can be made of them.
 */
#ifndef HEADROOM_PLUGIN_CGROUP_PERF_EVENTS_H
#define HEADROOM_PLUGIN_CGROUP_PERF_EVENTS_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/perf.h"
#include "headroom/perf_event.h"

struct hr_root;

/** A ratio of two events of one line. */
struct perf_ratio {
    const char *type; /**< "ipc" or "cache_ratio" */
    char type_instance[DATA_MAX_NAME_LEN];
    double factor; /**< value = factor * numerator / denominator */
    double max;    /**< more can't be: the type's, or INFINITY */
    size_t group;
    size_t numerator, denominator; /**< events of the group */
};

/** One event of one line. */
struct perf_series {
    const struct hr_perf_event *event;
    bool published;                  /**< false: an earlier line publishes the same */
    char running[DATA_MAX_NAME_LEN]; /**< type instance "EVENT-running" */
};

struct perf_events {
    /* As configured. */
    char ***lines; /**< each ends in NULL */
    size_t line_count, line_capacity;

    /* As this machine knows them: the events of a line are a group. */
    struct hr_perf_event_group *groups;
    size_t group_count;
    struct perf_series **series; /**< of each group, by event */
    struct perf_ratio *ratios;
    size_t ratio_count, ratio_capacity;
};

/** Takes an option Event. @return 0 or -1, and logged. */
int perf_events_option(struct perf_events *events, const oconfig_item_t *item);

/**
 * Looks the events up; without any, those of a machine without a PMU. Logs each that this machine
 * doesn't know, with those it does; the rest is there all the same. What was looked up before is
 * given up.
 *
 * @return how many are unknown, or -1 if nothing can be looked up, which is logged.
 */
int perf_events_look_up(struct perf_events *events, const struct hr_root *root);

void perf_events_end(struct perf_events *events);

#endif
