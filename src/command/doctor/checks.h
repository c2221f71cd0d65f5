/* SPDX-License-Identifier: MIT */
/*
 * doctor/checks.h - the checks of `headroom doctor`. Each plugin has a function that tries what the
 * plugin needs, and adds its findings to the list.
 *
 * A check leaves the machine as it was: whatever it arms, opens or makes, it closes or removes at
 * once.
 */
#ifndef HEADROOM_COMMAND_DOCTOR_CHECKS_H
#define HEADROOM_COMMAND_DOCTOR_CHECKS_H

#include "configured/used_features.h"
#include "doctor/cgroups.h"
#include "doctor/costs.h"
#include "doctor/findings.h"
#include "headroom/cgroup.h"
#include "headroom/perf_choice.h"
#include "headroom/root.h"

#include <signal.h>

/** How many cgroups are counted; the plugins' default of MaxCgroups. */
#define DOCTOR_MAX_CGROUPS 1000

/** On how many cgroups a feature is tried: one may be about to end, or have it disabled. */
#define DOCTOR_SAMPLES 8

/** A cgroup that was made to try things on. While it is there, signals that would end the program
 * wait, so that it doesn't stay. */
struct doctor_own_group {
    int mount; /**< where it is; -1: there is none */
    char name[32];
    sigset_t signals;
};

/** Cgroups to try things on. */
struct doctor_groups {
    struct hr_cgroup_set *set;
    int status; /**< of finding them; -ENOENT: the hierarchy isn't mounted */
    /** With processes; if there are none, one without; if there is none, and we may, our own. */
    struct hr_cgroup *samples[DOCTOR_SAMPLES];
    size_t sample_count;
    struct hr_cgroup *spare;
    struct hr_cgroup_counts counts;
    struct doctor_own_group own;
};

/**
 * Finds cgroups.
 *
 * @param controller  whose hierarchy; NULL: cgroup2.
 * @param groups      always filled; the caller ends it with doctor_groups_close().
 */
void doctor_groups_open(const struct hr_root *root, const char *controller,
                        struct doctor_groups *groups);

void doctor_groups_close(struct doctor_groups *groups);

/** Adds that a feature can't be tried, as there is no cgroup, with the cause. */
void doctor_add_missing_group(struct findings *findings, const char *feature,
                              const struct doctor_groups *groups);

/** Adds whether cgroup2 is mounted and can be listed. */
void doctor_add_mount(struct findings *findings, const struct doctor_groups *groups);

/** Cause and remedy where file descriptors ran out. */
#define DOCTOR_NO_DESCRIPTORS                                                                      \
    "file descriptors ran out", "raise LimitNOFILE= of collectd's service (ulimit -n)"

/** Who took the CPU. Loading the programs takes a tenth of a second, so they are loaded only if
 * that is used, see findings_use(), or all is to be tried. */
void doctor_check_blame(struct findings *findings);

void doctor_check_psi(const struct hr_root *root, const struct usage *usage,
                      struct findings *findings);
void doctor_check_cgroup_perf(const struct hr_root *root, const struct usage *usage,
                              struct findings *findings);
void doctor_check_wss(const struct hr_root *root, const struct usage *usage,
                      struct findings *findings);
void doctor_check_osnoise(const struct hr_root *root, const struct usage *usage,
                          struct findings *findings);
void doctor_check_headroom(const struct hr_root *root, const struct usage *usage,
                           struct findings *findings);

/** Adds whether what the headroom plugin knows of trends is there after a restart of collectd. */
void doctor_check_history(const struct usage *usage, struct findings *findings);

/** Adds what of the configuration can't be read, and options that the plugin doesn't know.
 * @param plugin  whose block has them; NULL: what no plugin's block includes, and what else keeps
 *                collectd from starting. */
void doctor_check_configuration(const struct usage *usage, const char *plugin,
                                struct findings *findings);

/**
 * Adds options of a plugin that don't go together.
 *
 * @param usage  of which the plugin accepts each value.
 */
void doctor_check_combinations(const struct usage *usage, const char *plugin,
                               struct findings *findings);

/** Adds blocks of a plugin that have the name of an earlier one, where it takes one of each name.
 */
void doctor_check_names(const struct usage *usage, const char *plugin, struct findings *findings);

/** Adds what doctor_check_combinations() does, of osnoise. */
void doctor_check_osnoise_options(const struct usage *usage, struct findings *findings);

/** Adds why options of a block don't go together, in the plugin's words. @param remedy  NULL: it
 * knows none. */
void doctor_add_combination(struct findings *findings, const struct config_item *block,
                            const char *cause, const char *remedy);

/** @return the next block of a plugin; NULL: there are no more. @param next  0 at first. */
const struct config_item *doctor_next_block(const struct usage *usage, const char *plugin,
                                            size_t *next);

/** @return the index of an option's value among the words that it accepts; `otherwise` if a block
 * hasn't the option. */
int doctor_word(const char *plugin, const char *key, const struct config_item *block,
                const char *option, int otherwise);

/** @return an option's seconds in microseconds; `otherwise` if a block hasn't the option. */
uint64_t doctor_us(const struct config_item *block, const char *option, uint64_t otherwise);

/** Whether a plugin, in any case of letters, is one of headroom's. */
bool doctor_is_plugin(const char *name);

/** Adds plugins that the configuration loads, and that aren't installed; and blocks of plugins
 * whose names are misspelt, or that are loaded only later, or if they are ours, not at all. */
void doctor_check_plugins(const struct usage *usage, struct findings *findings);

/** Adds that the host's name can't be looked up, where collectd would. That may take seconds. */
void doctor_check_host_name(const struct usage *usage, struct findings *findings);

/** Adds whether the values of a collectd that runs come in time, if it can be asked. */
void doctor_check_writers(const struct usage *usage, struct findings *findings);

/** Adds writers that are loaded, and by which collectd may crash, or groups can't be distinguished.
 */
void doctor_check_receivers(const struct usage *usage, struct findings *findings);

/** Adds whether the programs that collectd's exec plugin runs for notifications have what they
 * need.
 * @param is_named  the user asks for that; then also if it runs none. */
void doctor_check_handlers(const struct usage *usage, bool is_named, struct findings *findings);

/** What cgroup_perf counts on this machine. */
struct doctor_events {
    struct usage_texts texts; /**< those of the configuration that can be counted */
    /** The clocks that are added to the events of each cgroup on each CPU: one a line with events
     * of a PMU, where the kernel needs it (hr_perf_is_running_time_right()). */
    size_t clock_count;
    struct hr_perf_choice choice; /**< how they are counted; `why` is "" where that is configured */
    struct hr_reason obstacle;    /**< to BPF, where it would be chosen */
    size_t bpf_bytes;             /**< by BPF: memory of the kernel */
    size_t exception_files;       /**< by BPF: descriptors of lines that it can't count */
    size_t cpu_count;             /**< on which they are counted */
};

/**
 * Tries the events of cgroup_perf, each on the machine as a whole.
 *
 * @param events  receives those that this machine counts; the caller frees the list.
 */
void doctor_find_events(const struct hr_root *root, const struct usage_perf *usage,
                        struct doctor_events *events);

/**
 * Lists what wss measures: each block, and for each pattern how many cgroups it selects.
 *
 * @param of       how it selects cgroups.
 * @param targets  receives them, with the methods that "auto" chooses here; the caller frees it.
 * @return their number; 0 also if memory is short.
 */
size_t doctor_wss_targets(const struct hr_root *root, const struct cgroups_of_plugin *of,
                          const struct usage_wss *wss, struct costs_of_target **targets);

#endif
