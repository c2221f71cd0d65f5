/* SPDX-License-Identifier: MIT */
#include "psi/groups.h"

#include <errno.h>

#include "common/absence.h"
#include "common/log.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"

#define PLUGIN "psi"

/* --- Rules ---------------------------------------------------------------- */

size_t psi_groups_count_rules(const struct psi_groups *groups, bool of_system)
{
    size_t count = 0;

    for (size_t i = 0; i < groups->rule_count; i++)
        count += groups->rule_states[i].rule->of_system == of_system;
    return count;
}

size_t psi_groups_init_alerts(struct psi_groups *groups, struct psi_alert *alerts,
                              const char *instance, const struct hr_cgroup *group)
{
    size_t count = 0;

    for (size_t i = 0; i < groups->rule_count; i++)
        if (groups->rule_states[i].rule->of_system == (group == NULL))
            psi_alert_init(&alerts[count++], &groups->rule_states[i], instance, group);
    return count;
}

/* Room for the timers of one more group's alerts. */
static int reserve_timers(struct psi_groups *groups, size_t count)
{
    size_t of_system = psi_groups_count_rules(groups, true);

    if (count == 0)
        return 0; /* there may be no rule at all */
    return timers_reserve(&groups->rule_states[0].context->timers,
                          of_system + groups->alert_count + count);
}

/* --- Groups --------------------------------------------------------------- */

static void add_group(struct psi_groups *groups, struct hr_cgroup *group)
{
    const size_t count = psi_groups_count_rules(groups, false);
    const char *instance = selection_name(groups->selection, group);
    struct psi_group *added = NULL;

    if (instance != NULL && reserve_timers(groups, count) == 0 &&
        HR_ARRAY_RESERVE(groups->candidates, groups->candidate_capacity, groups->count + 1) == 0)
        added = calloc(1, sizeof(*added) + count * sizeof(added->alerts[0]));
    if (added == NULL) {
        if (instance != NULL)
            ERROR(PLUGIN ": cgroup %s is left out: out of memory.", group->path);
        selection_unname(groups->selection, instance);
        return;
    }
    added->series.instance = instance;
    added->alert_count = psi_groups_init_alerts(groups, added->alerts, instance, group);
    groups->alert_count += count;
    groups->count++;
    group->data = added;
}

/* What it waits from now on is known, though its values weren't read yet. */
static void note_begin(const struct psi_groups *groups, struct psi_group *of_group)
{
    of_group->has_begun = groups->is_begun && of_group->series.psi != NULL;
    if (of_group->has_begun)
        hr_psi_read(of_group->series.psi, &of_group->begun);
}

static void begin_series(const struct psi_groups *groups, const struct hr_cgroup *group)
{
    struct psi_group *of_group = group->data;

    of_group->is_young = selection_is_young(groups->selection, group);
    of_group->standing.is_top |=
        !of_group->is_young && !psi_top_is_limited(&groups->series_options->top);
    if (!of_group->is_young &&
        psi_series_open_cgroup(&of_group->series, groups->series_options, group) < 0)
        ERROR(PLUGIN ": cgroup %s is left out: out of memory.", group->path);
    note_begin(groups, of_group);
}

void psi_groups_begin_series(struct psi_groups *groups)
{
    struct hr_cgroup *group = NULL;

    while ((group = hr_cgroup_set_next(groups->set, group)) != NULL) {
        const struct psi_group *of_group = group->data;
        if (of_group == NULL || !of_group->is_young)
            continue;
        begin_series(groups, group);
        groups->changes += !of_group->is_young;
    }
}

bool psi_group_is_read(const struct hr_cgroup *group)
{
    const struct psi_group *of_group = group->data;

    return of_group != NULL && of_group->series.psi != NULL;
}

/* Why it has no series, for the end of an alarm of a threshold; a group that is empty has another
 * reason. */
static void note_choice(const struct psi_group *group)
{
    if (group->standing.is_top != group->standing.was_top)
        absence_note(group->series.instance,
                     group->standing.is_top ? ABSENCE_UNKNOWN : ABSENCE_OUTRANKED);
}

static void choose_series(struct psi_groups *groups, cdtime_t time)
{
    struct hr_cgroup *group = NULL;
    size_t count = 0;

    while ((group = hr_cgroup_set_next(groups->set, group)) != NULL) {
        struct psi_group *of_group = group->data;
        if (psi_group_is_read(group))
            groups->candidates[count++] = (struct psi_top_candidate){
                .snapshot = &of_group->series.latest, .standing = &of_group->standing};
        else if (of_group != NULL)
            of_group->standing.is_top = false;
    }
    psi_top_choose(&groups->series_options->top, groups->candidates, count, time);
    while ((group = hr_cgroup_set_next(groups->set, group)) != NULL)
        if (psi_group_is_read(group))
            note_choice(group->data);
}

void psi_groups_choose_series(struct psi_groups *groups, cdtime_t time)
{
    if (psi_top_is_limited(&groups->series_options->top))
        choose_series(groups, time);
}

static void start_group(struct psi_groups *groups, struct hr_cgroup *group)
{
    struct psi_group *started = group->data;

    begin_series(groups, group);
    for (size_t i = 0; i < started->alert_count; i++)
        psi_alert_arm(&started->alerts[i]);
}

static void stop_group(struct psi_groups *groups, struct psi_group *stopped)
{
    if (stopped->series.psi != NULL && stopped->standing.is_top && !groups->is_closing)
        psi_series_sample_last(&stopped->series, groups->series_options);
    psi_series_close(&stopped->series);
    for (size_t i = 0; i < stopped->alert_count; i++)
        psi_alert_disarm(&stopped->alerts[i], "no process is left in it");
}

static void remove_group(struct psi_groups *groups, struct psi_group *removed)
{
    for (size_t i = 0; i < removed->alert_count; i++)
        psi_alert_disarm(&removed->alerts[i], "it was removed");
    groups->alert_count -= removed->alert_count;
    groups->count--;
    selection_unname(groups->selection, removed->series.instance);
    SLIST_INSERT_HEAD(&groups->removed, removed, removed);
}

void psi_groups_free_removed(struct psi_groups *groups)
{
    struct psi_group *removed;

    while ((removed = SLIST_FIRST(&groups->removed)) != NULL) {
        SLIST_REMOVE_HEAD(&groups->removed, removed);
        psi_taken_free(removed->taken);
        free(removed);
    }
}

static void handle_cgroup_event(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    struct psi_groups *groups = context;

    groups->changes++;
    if (group->data == NULL && event != HR_CGROUP_ADDED)
        return;
    switch (event) {
    case HR_CGROUP_ADDED:
        add_group(groups, group);
        break;
    case HR_CGROUP_POPULATED:
        start_group(groups, group);
        break;
    case HR_CGROUP_EMPTIED:
        stop_group(groups, group->data);
        break;
    case HR_CGROUP_REMOVED:
        remove_group(groups, group->data);
        break;
    }
}

/* --- Opening and closing -------------------------------------------------- */

int psi_groups_open(struct psi_groups *groups, const struct hr_root *root,
                    struct selection *selection, const struct psi_series_options *series_options,
                    struct psi_rule_state *rule_states, size_t rule_count)
{
    groups->selection = selection;
    groups->series_options = series_options;
    groups->rule_states = rule_states;
    groups->rule_count = rule_count;
    /* Triggers are for all groups, and so is who took the CPU from them. */
    if (rule_count > 0)
        return selection_open_all(selection, root, handle_cgroup_event, groups, &groups->set);
    return selection_open(selection, root, handle_cgroup_event, groups, &groups->set);
}

void psi_groups_close(struct psi_groups *groups)
{
    if (groups->set == NULL)
        return;
    groups->is_closing = true;
    hr_cgroup_set_close(groups->set);
    groups->set = NULL;
    psi_groups_free_removed(groups);
    free(groups->candidates);
    groups->candidates = NULL;
    groups->candidate_capacity = 0;
}
