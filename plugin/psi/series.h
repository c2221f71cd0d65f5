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
#include "psi/top_groups.h"

/** The kinds of series that the option Report chooses of. */
enum psi_report { PSI_REPORT_PERCENT, PSI_REPORT_TOTAL, PSI_REPORT_COUNT };

/** What is published. */
struct psi_series_options {
    bool averages;
    bool reports[PSI_REPORT_COUNT];
    bool reports_given; /**< rather than by default */
    bool resources[HR_PSI_RESOURCE_COUNT];
    bool resources_given; /**< rather than by default */
    struct psi_top_options top;
};

/** The series of one group, or of the system. */
struct psi_series {
    const char *instance;
    struct hr_psi *psi; /**< NULL: not open */
    struct hr_psi_snapshot previous, latest;
    bool has_previous, has_latest;
    uint64_t read_ns;
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

/** Closes the files, and forgets what was read. */
void psi_series_close(struct psi_series *series);

/** Reads what is submitted next: series.latest. */
void psi_series_read(struct psi_series *series);

/** Submits what was read last. */
void psi_series_submit(const struct psi_series *series, const struct psi_series_options *options,
                       cdtime_t time);

/** Reads and submits for the last time, as the group has become empty. A percentage of less than a
 * second is left out: the totals have it. */
void psi_series_sample_last(struct psi_series *series, const struct psi_series_options *options);

#endif
