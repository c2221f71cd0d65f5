/* SPDX-License-Identifier: MIT */
/*
 * doctor/blame.c - whether it can be measured who took the CPU: the BPF programs are loaded,
 * attached and removed again.
 */
#include "headroom/blame.h"

#include "doctor/checks.h"

void doctor_check_blame(struct findings *findings)
{
    static const char facility[] = "naming who took the CPU";
    const struct hr_blame_options options = {.max_groups = 1};
    struct hr_reason reason = {0};
    struct hr_blame *blame;
    int status = hr_blame_open(&options, &blame, &reason);

    if (status == 0) {
        status = hr_blame_attach(blame, &reason);
        hr_blame_close(blame);
    }
    if (status == 0)
        findings_add(findings, FINDING_WORKS, facility, NULL, NULL);
    else
        findings_add_reason(findings, FINDING_LACKS, facility, &reason);
}
