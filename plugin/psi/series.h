/* SPDX-License-Identifier: MIT */
/*
 * psi/series.h - the values of one group, or of the system: read, and submitted.
 */
#ifndef HEADROOM_PLUGIN_PSI_SERIES_H
#define HEADROOM_PLUGIN_PSI_SERIES_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/psi.h"
#include "headroom/stall_cause.h"

/** The kinds of series that the option Report chooses of. */
enum psi_report { PSI_REPORT_PERCENT, PSI_REPORT_TOTAL, PSI_REPORT_COUNT };

/** What is published. */
struct psi_series_options {
    bool averages;
    bool reports[PSI_REPORT_COUNT];
    bool reports_given; /**< rather than by default */
    bool resources[HR_PSI_RESOURCE_COUNT];
    bool resources_given; /**< rather than by default */
};

/** The series of one group, or of the system. */
struct psi_series {
    const char *instance;
    struct hr_psi *psi; /**< NULL: not open */
    struct hr_psi_snapshot previous;
    bool has_previous;
    uint64_t sampled_ns;
};

/** Opens the system's files. @return 0 or a negative errno. */
int psi_series_open_system(struct psi_series *series, const struct psi_series_options *options,
                           const struct hr_root *root);

/** Opens a group's files. @return 0 or -ENOMEM. */
int psi_series_open_cgroup(struct psi_series *series, const struct psi_series_options *options,
                           const struct hr_cgroup *group);

/** Submits the share of the time since the previous read in which the machine's CPUs were idle,
 * where it is known. @param previous  that read, which this one replaces. */
void psi_series_sample_idle(const struct psi_series_options *options, const struct hr_root *root,
                            cdtime_t time, struct hr_stall_machine_cpus *previous);

/** Closes the files, and forgets the previous snapshot. */
void psi_series_close(struct psi_series *series);

/** Reads and submits. @param snapshot  receives what was read. */
void psi_series_sample(struct psi_series *series, const struct psi_series_options *options,
                       cdtime_t time, struct hr_psi_snapshot *snapshot);

/** Reads and submits for the last time, as the group has become empty. A percentage of less than a
 * second is left out: the totals have it. */
void psi_series_sample_last(struct psi_series *series, const struct psi_series_options *options);

#endif
