/* SPDX-License-Identifier: MIT */
#include "psi/problems.h"

#include "common/complaint.h"
#include "common/log.h"
#include "utils/common/common.h"

#include <errno.h>

#define PLUGIN "psi"

#define IRQ (1u << HR_PSI_IRQ)

static enum psi_problem_kind kind_of(int status)
{
    switch (status) {
    case -ENOENT:
        return PSI_PROBLEM_ABSENT;
    case -EOPNOTSUPP:
        return PSI_PROBLEM_OFF;
    case -EACCES:
    case -EPERM:
        return PSI_PROBLEM_PERMISSION;
    case -EBADMSG:
    case -ENODATA:
        return PSI_PROBLEM_TEXT;
    case -EMFILE:
    case -ENFILE:
        return PSI_PROBLEM_DESCRIPTORS;
    default:
        return PSI_PROBLEM_OTHER;
    }
}

void psi_problems_add(struct psi_problems *problems, const char *group,
                      const struct hr_psi_snapshot *snapshot)
{
    const int *status = snapshot->status;
    bool counted[PSI_PROBLEM_COUNT] = {false};

    problems->reopened += snapshot->reopened_count;
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++) {
        if (status[i] == 0) {
            problems->fine |= 1u << i;
            problems->files++;
        }
        if (status[i] == 0 || status[i] == -ECANCELED || status[i] == -ENODEV)
            continue;
        enum psi_problem_kind kind = kind_of(status[i]);
        struct psi_problem_state *state = &problems->kinds[kind];
        state->resources |= 1u << i;
        state->status = status[i];
        if (group == NULL || counted[kind])
            continue;
        counted[kind] = true;
        if (state->groups++ == 0)
            sstrncpy(state->example, group, sizeof(state->example));
    }
}

/* "cpu, memory, io" */
static void list_resources(unsigned resources, char *buffer, size_t size)
{
    size_t used = 0;

    buffer[0] = '\0';
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT && used < size; i++)
        if (resources & (1u << i))
            used += snprintf(buffer + used, size - used, "%s%s", used > 0 ? ", " : "",
                             hr_psi_resource_name(i));
}

static void warn_of_resources(unsigned resources, const char *place, const char *reason)
{
    char names[64];

    if (resources == 0)
        return;
    list_resources(resources, names, sizeof(names));
    WARNING(PLUGIN ": %s pressure of %s can't be read: %s.", names, place, reason);
}

/* irq pressure may have a cause of its own, unless nothing can be read; then it has its own line.
 */
static void warn_kind(const struct psi_problems *problems, const struct psi_problem_state *state,
                      unsigned resources, const char *place, bool is_system)
{
    struct hr_reason shared, of_irq;

    if (resources == 0)
        return;
    hr_psi_explain(state->status, HR_PSI_CPU, is_system, &shared);
    hr_psi_explain(state->status, HR_PSI_IRQ, is_system, &of_irq);
    const bool is_alike = (state->resources & ~IRQ) != 0 && problems->fine == 0;
    if (!is_alike && strcmp(of_irq.text, shared.text) != 0) {
        warn_of_resources(resources & IRQ, place, of_irq.text);
        resources &= ~IRQ;
    }
    warn_of_resources(resources, place, shared.text);
}

void psi_problems_log_system(struct psi_problems *problems)
{
    unsigned resolved = 0;

    for (int kind = 0; kind < PSI_PROBLEM_COUNT; kind++) {
        struct psi_problem_state *state = &problems->kinds[kind];
        warn_kind(problems, state, state->resources & ~state->logged_resources, "the system", true);
        resolved |= state->logged_resources & problems->fine;
        state->logged_resources = state->resources;
        state->resources = 0;
    }
    if (resolved != 0) {
        char names[64];
        list_resources(resolved, names, sizeof(names));
        INFO(PLUGIN ": %s pressure of the system is being read again.", names);
    }
    problems->fine = 0;
}

static void log_reopened(struct psi_problems *problems)
{
    if (problems->reopened == 0 && problems->reopened_logged && problems->files > 0) {
        INFO(PLUGIN ": all %zu pressure files are kept open now.", problems->files);
        problems->reopened_logged = false;
    }
    if (tally_should_log(&problems->logged_reopened, problems->reopened)) {
        problems->reopened_logged = true;
        NOTICE(PLUGIN ": there are too few file descriptors, so %zu of %zu pressure files are "
                      "reopened at each interval, which costs more: raise LimitNOFILE= of "
                      "collectd's service (ulimit -n).",
               problems->reopened, problems->files);
    }
    problems->reopened = 0;
    problems->files = 0;
}

void psi_problems_log_cgroups(struct psi_problems *problems)
{
    char place[384];

    for (int kind = 0; kind < PSI_PROBLEM_COUNT; kind++) {
        struct psi_problem_state *state = &problems->kinds[kind];
        if (tally_should_log(&state->logged_groups, state->groups)) {
            if (state->groups == 1)
                snprintf(place, sizeof(place), "cgroup %s", state->example);
            else
                snprintf(place, sizeof(place), "%zu cgroups (such as %s)", state->groups,
                         state->example);
            warn_kind(problems, state, state->resources, place, false);
        }
        state->resources = 0;
        state->groups = 0;
    }
    problems->fine = 0;
    log_reopened(problems);
}
