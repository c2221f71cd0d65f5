/* SPDX-License-Identifier: MIT */
/*
 * doctor/blame_none.c - the same in a build without libbpf.
 */
#include "doctor/checks.h"

void doctor_check_blame(struct findings *findings)
{
    findings_add(findings, FINDING_LACKS, "naming who took the CPU",
                 "headroom was built without libbpf",
                 "build it with that library (libbpf-dev) and clang");
}
