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

/* "auto" needs one of the methods. */
static void check_auto(const struct hr_root *root, enum hr_wss_scope scope,
                       struct findings *findings)
{
    char facility[64];
    struct hr_reason reason;
    bool works = false;

    for (int method = 0; method < HR_WSS_METHOD_COUNT && !works; method++)
        works = hr_wss_measures(method, scope) && hr_wss_probe(root, method, scope, &reason) == 0;
    snprintf(facility, sizeof(facility), "method auto, of %s", scopes[scope]);
    if (works)
        findings_add(findings, FINDING_WORKS, facility, NULL, NULL);
    else
        findings_add(findings, FINDING_LACKS, facility, "no method works for it",
                     "make one of them work: headroom doctor --all lists what each lacks");
}

void doctor_check_wss(const struct hr_root *root, const struct usage *usage,
                      struct findings *findings)
{
    const struct usage_wss *wss = &usage->wss;

    for (int method = 0; method < HR_WSS_METHOD_COUNT; method++)
        for (int scope = 0; scope < HR_WSS_SCOPE_COUNT; scope++) {
            findings_use(findings, wss->methods[method][scope]);
            if (hr_wss_measures(method, scope))
                check_method(root, method, scope, findings);
        }
    for (int scope = 0; scope < HR_WSS_SCOPE_COUNT; scope++) {
        findings_use(findings, wss->methods[HR_WSS_AUTO][scope]);
        check_auto(root, scope, findings);
    }
}
