/* SPDX-License-Identifier: MIT */
/*
 * doctor/blame.c - whether it can be measured who took the CPU: the BPF programs are loaded,
 * attached and removed again.
 */
#include "headroom/blame.h"

#include "doctor/checks.h"

static int try_programs(struct hr_reason *reason)
{
    const struct hr_blame_options options = {.max_groups = 1};
    struct hr_blame *blame;
    int status = hr_blame_open(&options, &blame, reason);

    if (status < 0)
        return status;
    status = hr_blame_attach(blame, reason);
    hr_blame_close(blame);
    return status;
}

void doctor_check_blame(struct findings *findings)
{
    static const char feature[] = "naming who took the CPU";
    struct hr_reason reason = {0};

    if (!findings->used && !findings->tries_unused)
        findings_add(findings, FINDING_UNTRIED, feature,
                     "its programs are loaded only where it is used",
                     "headroom doctor --all tries it anyway");
    else if (try_programs(&reason) == 0)
        findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
    else
        findings_add_reason(findings, FINDING_LACKS, feature, &reason);
}
