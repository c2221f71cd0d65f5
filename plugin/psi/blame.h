/* SPDX-License-Identifier: MIT */
/*
 * psi/blame.h - the BPF programs that measure who took the CPU: loaded by a thread of their own,
 * and attached while something is measured, or always.
 *
 * Measuring takes a lock and calls of the kernel: not for a thread that holds the lock of the
 * alerts.
 */
#ifndef HEADROOM_PLUGIN_PSI_BLAME_H
#define HEADROOM_PLUGIN_PSI_BLAME_H

#include "collectd.h"

#include "plugin.h"

#include "psi/rule.h"
#include "psi/takers.h"

struct hr_cgroup_set;
struct hr_root;

enum psi_blame_mode { PSI_BLAME_ALERT, PSI_BLAME_ALWAYS, PSI_BLAME_OFF };

/** The option Blame; all zeros: by default. */
struct psi_blame_options {
    enum psi_blame_mode mode;
    bool is_given;
};

/** Reads the option. @return 0; -1: refused, and logged. */
int psi_blame_option(struct psi_blame_options *options, const oconfig_item_t *item);

struct psi_blame;

/** Calls psi_blame_open() if the option and the rules want it. @return NULL: nothing is measured.
 */
struct psi_blame *psi_blame_start(const struct hr_root *root,
                                  const struct psi_blame_options *options,
                                  const struct psi_rule *rules, size_t rule_count,
                                  size_t max_groups);

/** Logs that it can't be measured. @param reason  "cause: remedy". */
void psi_blame_log_unavailable(const struct psi_blame_options *options, const char *reason);

/**
 * Begins to load the programs. That they can't be loaded is logged, and nothing is measured.
 *
 * @param options     of a mode other than PSI_BLAME_OFF; copied.
 * @param max_groups  how many groups may be selected.
 * @param of_system   whether the waits of all groups are measured, too.
 * @return NULL if it can't be measured.
 */
struct psi_blame *psi_blame_open(const struct hr_root *root,
                                 const struct psi_blame_options *options, size_t max_groups,
                                 bool of_system);

/** Detaches, and unloads the programs. NULL is allowed. */
void psi_blame_close(struct psi_blame *blame);

/** Whether the programs are loaded. NULL is allowed: they aren't. */
bool psi_blame_is_ready(const struct psi_blame *blame);

/** Whether it is ready, and measures for series. NULL is allowed: it doesn't. */
bool psi_blame_has_series(const struct psi_blame *blame);

/** Takes over which groups there are, if they have changed. With a lock of the set's held.
 * @param changes  a count of the set's changes. */
void psi_blame_update_groups(struct psi_blame *blame, struct hr_cgroup_set *set, size_t changes);

/** Has the programs distinguish groups that are new, where they measure for series: before the next
 * sample, which would have what those did as of other tasks. NULL is allowed. */
void psi_blame_watch_new(struct psi_blame *blame);

/** What is measured for one alert. */
struct psi_measurement;

/**
 * Attaches the programs, unless they are, and begins to measure.
 *
 * @param id  of the group whose waits are measured, with those below it; 0: all groups.
 * @return NULL: that failed, which is logged, or it isn't known yet which groups there are.
 */
struct psi_measurement *psi_blame_begin(struct psi_blame *blame, uint64_t id);

/** Ends and frees a measurement. The programs stay attached until psi_blame_detach_unused().
 * @param takers  always filled in; may be NULL. */
void psi_blame_end(struct psi_blame *blame, struct psi_measurement *measurement,
                   struct psi_takers *takers);

/**
 * Measures with Blame "always": what was taken since the last call. The first begins.
 *
 * @param sampled  is called with what was measured, unless there was an error; it must not measure.
 */
void psi_blame_sample(struct psi_blame *blame,
                      void (*sampled)(const struct hr_blame_matrix *interval,
                                      const struct psi_watched *watched, void *context),
                      void *context);

/** Detaches the programs if nothing is measured. NULL is allowed. */
void psi_blame_detach_unused(struct psi_blame *blame);

#endif
