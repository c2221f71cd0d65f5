/* SPDX-License-Identifier: MIT */
/*
 * psi/problems.h - logs why pressure can't be read: once, with cause and remedy.
 *
 * Of the system, an error is logged when it begins and when it is over. Of cgroups, which come and
 * go by the thousand, it is logged for the first, and again only when twice as many have it.
 */
#ifndef HEADROOM_PLUGIN_PSI_PROBLEMS_H
#define HEADROOM_PLUGIN_PSI_PROBLEMS_H

#include "collectd.h"

#include "plugin.h"

#include "common/complaint.h"
#include "headroom/psi.h"

/** Kinds of errors, by their remedy. */
enum psi_problem_kind {
    PSI_PROBLEM_ABSENT,
    PSI_PROBLEM_OFF,
    PSI_PROBLEM_PERMISSION,
    PSI_PROBLEM_TEXT,
    PSI_PROBLEM_DESCRIPTORS,
    PSI_PROBLEM_OTHER,
    PSI_PROBLEM_COUNT
};

/** One kind: what was seen in this interval, and what was logged. Sets of resources are bit masks.
 */
struct psi_problem_state {
    unsigned resources;
    size_t groups;
    char example[256]; /**< the path of the first of these groups */
    int status;        /**< a negative errno */
    unsigned logged_resources;
    struct tally logged_groups;
};

/** The errors of the system, or of all groups; all zeros at first. */
struct psi_problems {
    unsigned fine; /**< resources that were read */
    size_t files;  /**< that were read */
    size_t reopened;
    bool reopened_logged; /**< which lasts */
    struct tally logged_reopened;
    struct psi_problem_state kinds[PSI_PROBLEM_COUNT];
};

/**
 * Adds the errors of one snapshot to those of this interval.
 *
 * @param group     the group's path; NULL: the system.
 * @param snapshot  its statuses 0, -ECANCELED and -ENODEV are no errors here.
 */
void psi_problems_add(struct psi_problems *problems, const char *group,
                      const struct hr_psi_snapshot *snapshot);

/** Logs what is new of the system, and starts the next interval. */
void psi_problems_log_system(struct psi_problems *problems);

/** Logs what is new of cgroups, and starts the next interval. */
void psi_problems_log_cgroups(struct psi_problems *problems);

#endif
