/* SPDX-License-Identifier: MIT */
/*
 * doctor/perf_none.c - the cgroup_perf plugin in a build without libpfm4.
 */
#include "doctor/checks.h"

void doctor_check_cgroup_perf(const struct hr_root *root, const struct usage *usage,
                              struct findings *findings)
{
    (void)root;
    (void)usage;
    findings_add(findings, FINDING_LACKS, "counting events", "headroom was built without libpfm4",
                 "build it with libpfm4 (libpfm4-dev)");
}

void doctor_find_events(const struct hr_root *root, const struct usage_perf *usage,
                        struct doctor_events *events)
{
    (void)root;
    (void)usage;
    *events = (struct doctor_events){.clock_count = 0};
}
