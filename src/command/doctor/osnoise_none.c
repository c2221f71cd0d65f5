/* SPDX-License-Identifier: MIT */
/*
 * doctor/osnoise_none.c - the osnoise plugin in a build without libtraceevent.
 */
#include "doctor/checks.h"

void doctor_check_osnoise_options(const struct usage *usage, struct findings *findings)
{
    (void)usage;
    (void)findings;
}

void doctor_check_osnoise(const struct hr_root *root, const struct usage *usage,
                          struct findings *findings)
{
    (void)root;
    (void)usage;
    findings_add(findings, FINDING_LACKS, "measuring noise",
                 "headroom was built without libtraceevent",
                 "build it with that library (libtraceevent-dev)");
}
