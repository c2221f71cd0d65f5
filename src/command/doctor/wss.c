/* SPDX-License-Identifier: MIT */
/*
 * doctor/wss.c - what of the plugin wss works: each method, for each scope that it can measure.
 */
#include "doctor/checks.h"

#include <errno.h>
#include <string.h>

#include "headroom/wss.h"

static const char *const scopes[HR_WSS_SCOPE_COUNT] = {
    [HR_WSS_PROCESSES] = "processes",
    [HR_WSS_CGROUP] = "cgroups",
    [HR_WSS_SYSTEM] = "the system",
};

static void check_method(const struct hr_root *root, enum hr_wss_method method,
                         enum hr_wss_scope scope, struct findings *findings)
{
    char facility[64];
    struct hr_reason reason;

    int status = hr_wss_probe(root, method, scope, &reason);
    snprintf(facility, sizeof(facility), "method %s, of %s", hr_wss_method_name(method),
             scopes[scope]);
    if (status == 0)
        findings_add(findings, FINDING_WORKS, facility, NULL, NULL);
    else if (reason.error == -EMFILE && strstr(reason.text, ": ") == NULL)
        findings_add(findings, FINDING_LACKS, facility, DOCTOR_NO_DESCRIPTORS);
    else
        findings_add_reason(findings, FINDING_LACKS, facility, &reason);
}

void doctor_check_wss(const struct hr_root *root, struct findings *findings)
{
    for (int method = 0; method < HR_WSS_METHOD_COUNT; method++)
        for (int scope = 0; scope < HR_WSS_SCOPE_COUNT; scope++)
            if (hr_wss_measures(method, scope))
                check_method(root, method, scope, findings);
}
