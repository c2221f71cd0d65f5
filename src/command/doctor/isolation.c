/* SPDX-License-Identifier: MIT */
#include "doctor/isolation.h"

#include <errno.h>
#include <string.h>

#include "headroom/isolation.h"

static const char *const features[HR_ISOLATION_ASPECT_COUNT] = {
    [HR_ISOLATION_TASKS] = "isolation from tasks that aren't put there",
    [HR_ISOLATION_IRQS] = "isolation from interrupts of devices",
    [HR_ISOLATION_NEW_IRQS] = "isolation from interrupts of devices that come later",
    [HR_ISOLATION_THREADS] = "isolation from threads of the kernel that can run elsewhere",
    [HR_ISOLATION_WORKQUEUES] = "isolation from unbound work of the kernel",
    [HR_ISOLATION_WATCHDOG] = "isolation from the watchdog of lockups",
    [HR_ISOLATION_TICKS] = "isolation from ticks while one task runs",
    [HR_ISOLATION_TIMERS] = "isolation from timers that can expire elsewhere",
    [HR_ISOLATION_RCU] = "isolation from callbacks of RCU",
};

/* Why an aspect can't be examined. */
static void add_unknown(struct findings *findings, enum hr_isolation_aspect aspect, int status)
{
    if (status == -ESRCH)
        findings_add(findings, FINDING_UNTRIED, features[aspect],
                     "the kernel's threads can't be seen",
                     "run it as root, and outside of containers");
    else
        findings_add(findings, FINDING_UNTRIED, features[aspect], strerror(-status), NULL);
}

static void add_aspect(struct findings *findings, const struct hr_isolation *isolation,
                       enum hr_isolation_aspect aspect)
{
    bool is_disturbed = false;

    for (size_t i = 0; i < isolation->fault_count; i++) {
        const struct hr_isolation_fault *fault = &isolation->faults[i];
        if (fault->aspect != aspect)
            continue;
        findings_add(findings, FINDING_LACKS, features[aspect], fault->cause, fault->remedy);
        is_disturbed = true;
    }
    if (isolation->status[aspect] < 0)
        add_unknown(findings, aspect, isolation->status[aspect]);
    else if (!is_disturbed)
        findings_add(findings, FINDING_WORKS, features[aspect], NULL, NULL);
}

static int find_cpus(const struct hr_root *root, const struct hr_cpu_choice *choice,
                     struct hr_cpu_set *cpus, struct hr_reason *reason)
{
    int status = hr_cpu_choice_find(choice, root, cpus);

    *reason = (struct hr_reason){.error = status};
    if (status < 0)
        snprintf(reason->text, sizeof(reason->text),
                 "can't read which CPUs are isolated (isolated and nohz_full in "
                 "/sys/devices/system/cpu: %s)",
                 strerror(-status));
    if (status < 0 || hr_cpu_set_count(cpus) > 0)
        return status;
    *reason = (struct hr_reason){.error = -ENXIO};
    snprintf(reason->text, sizeof(reason->text), "%s", hr_cpu_choice_explain_none(choice));
    return -ENXIO;
}

int isolation_check(const struct hr_root *root, const struct hr_cpu_choice *choice,
                    struct findings *findings, struct hr_reason *reason)
{
    struct hr_isolation isolation = {.faults = NULL};
    struct hr_cpu_set cpus;

    int status = find_cpus(root, choice, &cpus, reason);
    if (status == 0)
        status = hr_isolation_check(root, &cpus, &isolation, reason);
    for (int i = 0; status == 0 && i < HR_ISOLATION_ASPECT_COUNT; i++)
        add_aspect(findings, &isolation, (enum hr_isolation_aspect)i);
    hr_isolation_free(&isolation);
    return status;
}

/* --- Summary -------------------------------------------------------------- */

/* The worst of what there is of it. */
static enum finding_state find_state(const struct findings *findings, const char *feature)
{
    enum finding_state state = FINDING_UNTRIED; /* there was no room for it */
    bool is_known = false;

    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].feature, feature) == 0 &&
            (!is_known || state != FINDING_LACKS)) {
            state = findings->items[i].state;
            is_known = true;
        }
    return state;
}

void isolation_summarize(const struct findings *findings, char *text, size_t size)
{
    size_t of[FINDING_STATE_COUNT] = {0};
    char unknown[48] = "";

    for (int i = 0; i < HR_ISOLATION_ASPECT_COUNT; i++)
        of[find_state(findings, features[i])]++;
    if (of[FINDING_UNTRIED] > 0)
        snprintf(unknown, sizeof(unknown), ", %zu can't be examined", of[FINDING_UNTRIED]);
    snprintf(text, size, "Of %d kinds of disturbance %zu can't happen, %zu can%s",
             HR_ISOLATION_ASPECT_COUNT, of[FINDING_WORKS], of[FINDING_LACKS], unknown);
}
