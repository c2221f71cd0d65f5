/* SPDX-License-Identifier: MIT */
/*
 * cgroup_perf/events.h - the events of the plugin cgroup_perf: the lines of the option Event, the
 * names of their series, and their ratios.
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
    double max;    /**< maximum of the type, or INFINITY */
    size_t group;
    size_t numerator, denominator; /**< indexes of events of the group */
};

/** One event of one line. */
struct perf_series {
    const struct hr_perf_event *event;
    bool published;                  /**< false: an earlier event has the same name */
    char running[DATA_MAX_NAME_LEN]; /**< type instance "EVENT-running" */
};

struct perf_events {
    /* The configuration. */
    char ***lines; /**< each ends in NULL */
    size_t line_count, line_capacity;

    /* Those of a line are a group. */
    struct hr_perf_event_group *groups;
    size_t group_count;
    size_t known_count; /**< events that this machine knows; others have no encoding */
    size_t event_count;
    struct perf_series **series; /**< of each group, by event */
    struct perf_ratio *ratios;
    size_t ratio_count, ratio_capacity;
    bool ratios_named; /**< by what can be counted */
};

/** Parses an option Event. @return 0, or -1 with a message logged. */
int perf_events_option(struct perf_events *events, const oconfig_item_t *item);

/**
 * Looks up the configured events, or the default ones, which need no PMU. Logs each event that this
 * machine doesn't know, with similar names; it is looked up again by perf_events_update(). Replaces
 * the results of the previous call.
 *
 * @return the number of unknown events, or -1 if events can't be looked up, which is logged.
 */
int perf_events_look_up(struct perf_events *events, const struct hr_root *root);

/**
 * Looks up again which CPUs count the events, and those that this machine didn't know; logs if that
 * has changed.
 *
 * @param changed  receives whether it has, also on failure, for hr_perf_update_events().
 * @return 0, or why some of them can't be looked up, which is not logged.
 */
int perf_events_update(struct perf_events *events, const struct hr_root *root, bool *changed);

/**
 * Gives the name of a ratio that has one of an earlier line, such as "ipc", if that line can't be
 * counted; once, when that is known.
 *
 * @param perf  of the groups of events; a target was read.
 */
void perf_events_name_ratios(struct perf_events *events, const struct hr_perf *perf);

void perf_events_end(struct perf_events *events);

#endif
