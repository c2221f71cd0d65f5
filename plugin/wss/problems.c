/* SPDX-License-Identifier: MIT */
#include "wss/problems.h"

#include <errno.h>

#include "common/complaint.h"
#include "common/log.h"
#include "utils/common/common.h"

#define PLUGIN "wss"

enum wss_finding wss_problems_classify(int status, bool by_file)
{
    switch (status) {
    case -ESRCH:
    case -ECHILD:
    case -ENODEV:
        return WSS_ABSENT;
    case -ENOENT:
        return by_file ? WSS_ABSENT : WSS_NO_METHOD;
    case -EFBIG:
    case -ETIME:
        return WSS_LIMITED;
    case -EEXIST:
        return WSS_OVERLAPS;
    default:
        return WSS_FAILS;
    }
}

static int severity_of(enum wss_finding finding, int error)
{
    if (finding == WSS_NO_METHOD)
        return LOG_ERR;
    return finding == WSS_ABSENT || error == -ENODATA ? LOG_NOTICE : LOG_WARNING;
}

/* Prints when to expect a retry. */
static void print_retry(enum wss_finding finding, uint64_t retry_ns, char *buffer, size_t size)
{
    switch (finding) {
    case WSS_LIMITED:
        snprintf(buffer, size, " Retrying in %g s, then less and less often, down to once an hour.",
                 (double)retry_ns / 1e9);
        break;
    case WSS_NO_METHOD:
        snprintf(buffer, size, " Retrying every 5 minutes.");
        break;
    case WSS_ABSENT:
        snprintf(buffer, size, " Looking for it at each interval.");
        break;
    case WSS_OVERLAPS:
    case WSS_FAILS:
        snprintf(buffer, size, " Retrying at each interval.");
        break;
    case WSS_FINE:
    case WSS_PARTLY:
    case WSS_FINDINGS:
        buffer[0] = '\0';
        break;
    }
}

static void log_target_problem(struct wss_target_status *status, const char *label,
                               enum wss_finding finding, const struct hr_reason *reason,
                               uint64_t retry_ns)
{
    char retry[128];

    print_retry(finding, retry_ns, retry, sizeof(retry));
    complaint_log(&status->complaint, severity_of(finding, reason->error),
                  (int)finding << 16 | -reason->error, PLUGIN ": %s is%s measured%s: %s.%s", label,
                  finding == WSS_PARTLY ? "" : " not", finding == WSS_PARTLY ? " in part" : "",
                  reason->text, retry);
}

static void count_cgroup_problem(struct wss_problems *problems, struct wss_target_status *status,
                                 const char *label, enum wss_finding finding,
                                 const struct hr_reason *reason)
{
    if (status->finding != WSS_FINE)
        problems->groups[status->finding].count--;
    status->finding = finding;
    if (finding == WSS_FINE)
        return;
    problems->groups[finding].count++;
    snprintf(problems->groups[finding].example, sizeof(problems->groups[finding].example), "%s",
             label);
    snprintf(problems->groups[finding].reason, sizeof(problems->groups[finding].reason), "%s",
             reason != NULL ? reason->text : "");
}

void wss_problems_report(struct wss_problems *problems, struct wss_target_status *status,
                         const char *label, enum wss_finding finding,
                         const struct hr_reason *reason, uint64_t retry_ns)
{
    if (problems != NULL)
        count_cgroup_problem(problems, status, label, finding, reason);
    else
        log_target_problem(status, label, finding, reason, retry_ns);
}

void wss_problems_clear(struct wss_problems *problems, struct wss_target_status *status,
                        const char *label)
{
    if (problems != NULL)
        count_cgroup_problem(problems, status, label, WSS_FINE, NULL);
    else
        complaint_resolve(&status->complaint, PLUGIN ": %s is being measured now.", label);
}

/* --- Cgroups -------------------------------------------------------------- */

/* Logs how many cgroups have a problem. */
static void log_cgroup_problem(struct wss_problems *problems, enum wss_finding finding)
{
    const size_t count = problems->groups[finding].count;
    struct complaint *complaint = &problems->groups[finding].complaint;

    if (count == 0)
        complaint_resolve(
            complaint, PLUGIN ": the cgroups such as %s are %s.", problems->groups[finding].example,
            finding == WSS_PARTLY ? "measured in full again, or gone" : "measured again, or gone");
    if (!tally_should_log(&problems->groups[finding].tally, count))
        return;
    complaint->cause = 1;
    plugin_log(finding == WSS_NO_METHOD ? LOG_ERR : LOG_WARNING,
               PLUGIN ": %zu cgroup%s%s measured%s, such as %s: %s.", count,
               count == 1 ? " is" : "s are", finding == WSS_PARTLY ? "" : " not",
               finding == WSS_PARTLY ? " in part" : "", problems->groups[finding].example,
               problems->groups[finding].reason);
}

void wss_problems_log(struct wss_problems *problems)
{
    /* Not WSS_ABSENT: cgroups and their processes may come and go. */
    static const enum wss_finding logged[] = {WSS_LIMITED, WSS_OVERLAPS, WSS_NO_METHOD, WSS_PARTLY,
                                              WSS_FAILS};

    for (size_t i = 0; i < STATIC_ARRAY_SIZE(logged); i++)
        log_cgroup_problem(problems, logged[i]);
}
