/* SPDX-License-Identifier: MIT */
/*
 * wss/targets.h - what the plugin wss measures and how, as it is configured: the blocks Process,
 * System and Cgroup.
 */
#ifndef HEADROOM_PLUGIN_WSS_TARGETS_H
#define HEADROOM_PLUGIN_WSS_TARGETS_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/wss.h"

#define WSS_MAX_WINDOWS 8

struct hr_root;

/** One block, or one pattern of cgroups. */
struct wss_target {
    enum hr_wss_scope scope;
    char *label;                        /**< of a process the block's; "system"; the pattern */
    struct hr_process_choice processes; /**< its text is owned */
    enum hr_wss_method method;
    bool aging;
    size_t window_count;                  /**< 0: one, the plugin's interval */
    uint64_t windows_ms[WSS_MAX_WINDOWS]; /**< ascending */
    unsigned logged_methods; /**< a bit for each that "auto" chose; used by the worker */
};

struct wss_targets {
    struct wss_target *blocks; /**< processes and the system, in their order */
    size_t block_count;
    struct wss_target *patterns; /**< by the pattern's index in the selection */
    size_t pattern_count;
};

/** Takes a Process or System option. @return 0; 1: it is neither; -1: refused, and logged. */
int wss_targets_option(struct wss_targets *targets, const oconfig_item_t *item);

/** Takes an option of a pattern, see selection_on_option(). @param context  the targets. */
int wss_targets_pattern_option(const char *block, size_t pattern, const oconfig_item_t *item,
                               void *context);

/** Adds a pattern of the selection, whether it had options or not. @return 0 or -1. */
int wss_targets_add_pattern(struct wss_targets *targets, size_t pattern, const char *label);

/** Checks for targets with more windows than their method, if available, can read. @return 0; -1:
 * there are, and it is logged. */
int wss_targets_check_windows(const struct wss_targets *targets, const struct hr_root *root);

/** Whether measuring a target changes what others measure of the same memory. @param method  its
 * own, or the one chosen for HR_WSS_AUTO; false if it isn't known before that. */
bool wss_target_disturbs(const struct wss_target *target, enum hr_wss_method method);

/** Frees all targets and leaves none. */
void wss_targets_free(struct wss_targets *targets);

#endif
