/* SPDX-License-Identifier: MIT */
/*
 * doctor/perf_none.c - the plugin cgroup_perf in a build without libpfm4.
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
                        struct usage_texts *events)
{
    (void)root;
    (void)usage;
    *events = (struct usage_texts){.count = 0};
}

size_t doctor_count_clocks(const struct hr_root *root, const struct usage *usage)
{
    (void)root;
    (void)usage;
    return 0;
}
