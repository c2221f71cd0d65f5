/* SPDX-License-Identifier: MIT */
#include "psi/taken.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ranking.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/instance.h"
#include "psi/blame.h"
#include "psi/groups.h"

#define PLUGIN "psi"

#define BEGINNING "cpu_taken_by_"

/* Of what has no other name. */
static const char *const fixed[HR_BLAME_TAKER_COUNT] = {
    [HR_BLAME_ITSELF] = "cpu_taken_by_itself_us",
    [HR_BLAME_INTERRUPTS] = "cpu_taken_by_interrupts_us",
    [HR_BLAME_STEAL] = "cpu_taken_by_steal_us",
    [HR_BLAME_LIMIT] = "cpu_taken_by_limit_us",
    [HR_BLAME_OTHER] = "cpu_taken_by_other_us",
    [HR_BLAME_UNKNOWN] = "cpu_taken_unattributed_us",
};

/* All but the ranking's counters, of those that have a fixed name. */
struct counters {
    uint64_t ns[HR_BLAME_TAKER_COUNT];
};

struct psi_taken {
    struct ranking *ranking;
    const struct ranked_name *ranked; /* of the last interval */
    size_t ranked_count;
    struct counters fixed, submitted;
    cdtime_t time; /* of what was submitted; 0: nothing yet */
};

struct psi_taken *psi_taken_new(void)
{
    struct psi_taken *taken = calloc(1, sizeof(*taken));

    if (taken == NULL)
        return NULL;
    taken->ranking = ranking_new(PSI_TAKEN_TOP);
    if (taken->ranking != NULL)
        return taken;
    free(taken);
    return NULL;
}

void psi_taken_free(struct psi_taken *taken)
{
    if (taken == NULL)
        return;
    ranking_free(taken->ranking);
    free(taken);
}

/* --- Names ---------------------------------------------------------------- */

/* The series of a taker. */
static void name_series(const char *taker, const char *path, bool is_group,
                        char series[HR_INSTANCE_SIZE])
{
    enum { ROOM = HR_INSTANCE_SIZE - sizeof(BEGINNING "_us") };
    char name[HR_INSTANCE_SIZE];
    enum hr_blame_taker other; /* that a group has the name of */

    hr_instance_make_part(taker, path, is_group && hr_blame_taker_find(taker, &other), ROOM, name);
    snprintf(series, HR_INSTANCE_SIZE, BEGINNING "%.*s_us", ROOM, name);
}

static void add_ranked(struct psi_taken *taken, const struct hr_blame_cell *cell,
                       const struct psi_watched *watched)
{
    const struct psi_watched_group *group =
        cell->taker == HR_BLAME_GROUP ? psi_watched_find(watched, cell->group) : NULL;
    const char *word = hr_blame_taker_name(cell->taker);
    char series[HR_INSTANCE_SIZE];

    if (cell->taker == HR_BLAME_GROUP && (group == NULL || group->is_young)) {
        taken->fixed.ns[HR_BLAME_OTHER] += cell->wait_ns;
        return;
    }
    if (group != NULL)
        name_series(group->instance, group->path, true, series);
    else
        name_series(word, word, false, series);
    ranking_add(taken->ranking, series, cell->wait_ns);
}

/* --- An interval ---------------------------------------------------------- */

/* The first cell of a waiter, or where it would be. */
static size_t find_waiter(const struct hr_blame_matrix *interval, uint64_t id)
{
    return HR_ARRAY_FIND_FIRST(interval->count, i, interval->cells[i].waiter < id);
}

void psi_taken_add(struct psi_taken *taken, const struct hr_blame_matrix *interval, uint64_t id,
                   const struct psi_watched *watched)
{
    for (size_t i = find_waiter(interval, id);
         i < interval->count && interval->cells[i].waiter == id; i++) {
        const struct hr_blame_cell *cell = &interval->cells[i];
        if (fixed[cell->taker] != NULL)
            taken->fixed.ns[cell->taker] += cell->wait_ns;
        else
            add_ranked(taken, cell, watched);
    }
    taken->ranked_count = ranking_end(taken->ranking, &taken->ranked);
}

static void submit_counter(const struct submission *submission, const char *name, uint64_t ns)
{
    submit_derive(submission, "derive", name, (int64_t)(ns / 1000));
}

static void submit_fixed(const struct counters *counters, const struct submission *submission)
{
    for (int i = 0; i < HR_BLAME_TAKER_COUNT; i++)
        if (fixed[i] != NULL)
            submit_counter(submission, fixed[i], counters->ns[i]);
}

/* A little later, as the group may be another one that was made under the same name since. */
void psi_taken_publish_begin(struct psi_taken *taken, const struct submission *before)
{
    const bool is_new = taken->time != before->time;
    struct submission begin = *before;

    if (before->time == 0)
        return;
    begin.time++;
    for (size_t i = 0; i < taken->ranked_count; i++)
        if (is_new || taken->ranked[i].is_new)
            submit_counter(&begin, taken->ranked[i].text, taken->ranked[i].counted_before_ns);
    if (is_new)
        submit_fixed(&taken->submitted, &begin);
}

void psi_taken_publish(struct psi_taken *taken, const struct submission *submission)
{
    for (size_t i = 0; i < taken->ranked_count; i++)
        submit_counter(submission, taken->ranked[i].text, taken->ranked[i].counted_ns);
    taken->submitted = taken->fixed;
    taken->submitted.ns[HR_BLAME_OTHER] += ranking_other_ns(taken->ranking);
    submit_fixed(&taken->submitted, submission);
    taken->time = submission->time;
}

/* --- All groups ----------------------------------------------------------- */

struct sample {
    struct psi_groups *groups;
    cdtime_t time;
};

static struct submission submission_of(const struct psi_group *group, cdtime_t time)
{
    return (struct submission){.plugin = PLUGIN, .instance = group->series.instance, .time = time};
}

/* While a group has no series its counters stand still. */
static bool has_taken(const struct psi_group *group)
{
    return group != NULL && group->standing.is_top && group->taken != NULL;
}

/* All beginnings come first, as collectd's threads may write two values of one series in either
 * order if one follows the other at once. */
static void publish_all(const struct hr_blame_matrix *interval, const struct psi_watched *watched,
                        void *context)
{
    const struct sample *sample = context;
    struct psi_groups *groups = sample->groups;
    struct hr_cgroup *group = NULL;

    while ((group = hr_cgroup_set_next(groups->set, group)) != NULL) {
        struct psi_group *of_group = group->data;
        if (of_group != NULL && of_group->standing.is_top && of_group->taken == NULL)
            of_group->taken = psi_taken_new();
        if (!has_taken(of_group))
            continue;
        const struct submission before = submission_of(of_group, groups->taken_time);
        psi_taken_add(of_group->taken, interval, group->id, watched);
        psi_taken_publish_begin(of_group->taken, &before);
    }
    while ((group = hr_cgroup_set_next(groups->set, group)) != NULL) {
        struct psi_group *of_group = group->data;
        if (!has_taken(of_group))
            continue;
        const struct submission now = submission_of(of_group, sample->time);
        psi_taken_publish(of_group->taken, &now);
    }
    groups->taken_time = sample->time;
}

void psi_taken_sample(struct psi_blame *blame, struct psi_groups *groups, cdtime_t time)
{
    struct sample sample = {groups, time};

    if (groups->set == NULL || !psi_blame_has_series(blame))
        return;
    psi_blame_update_groups(blame, groups->set, groups->changes);
    psi_blame_sample(blame, publish_all, &sample);
}
