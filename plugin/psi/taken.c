/* SPDX-License-Identifier: MIT */
#include "psi/taken.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ranking.h"
#include "headroom/cgroup.h"
#include "headroom/hash.h"
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

struct psi_taken {
    struct ranking *ranking;
    uint64_t fixed_ns[HR_BLAME_TAKER_COUNT]; /* of those that have such a name */
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

/* Whether a group has a name that means something else here. */
static bool is_reserved(const char *name)
{
    for (int i = 0; i < HR_BLAME_TAKER_COUNT; i++)
        if (strcmp(name, hr_blame_taker_name(i)) == 0)
            return true;
    return false;
}

/* The series of a taker; what is too long has a hash in its place. */
static void name_series(const char *taker, const char *path, bool is_group,
                        char series[HR_INSTANCE_SIZE])
{
    const size_t room = HR_INSTANCE_SIZE - sizeof(BEGINNING "_us");
    char name[HR_INSTANCE_SIZE];

    hr_instance_make(taker, path, is_group && is_reserved(taker), name);
    size_t kept = strlen(name);
    char mark[10] = "";
    if (kept > room) {
        kept = room - (sizeof(mark) - 1);
        while (kept > 0 && (name[kept] & 0xc0) == 0x80) /* within a character */
            kept--;
        snprintf(mark, sizeof(mark), "~%08x", hr_hash(path));
    }
    snprintf(series, HR_INSTANCE_SIZE, BEGINNING "%.*s%s_us", (int)kept, name, mark);
}

static void add_ranked(struct psi_taken *taken, const struct hr_blame_cell *cell,
                       const struct psi_watched *watched)
{
    const struct psi_watched_group *group =
        cell->taker == HR_BLAME_GROUP ? psi_watched_find(watched, cell->group) : NULL;
    const char *word = hr_blame_taker_name(cell->taker);
    char series[HR_INSTANCE_SIZE];

    if (cell->taker == HR_BLAME_GROUP && group == NULL) {
        taken->fixed_ns[HR_BLAME_OTHER] += cell->wait_ns;
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
    size_t low = 0, high = interval->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (interval->cells[middle].waiter < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void psi_taken_add(struct psi_taken *taken, const struct hr_blame_matrix *interval, uint64_t id,
                   const struct psi_watched *watched)
{
    for (size_t i = find_waiter(interval, id);
         i < interval->count && interval->cells[i].waiter == id; i++) {
        const struct hr_blame_cell *cell = &interval->cells[i];
        if (fixed[cell->taker] != NULL)
            taken->fixed_ns[cell->taker] += cell->wait_ns;
        else
            add_ranked(taken, cell, watched);
    }
}

void psi_taken_publish(struct psi_taken *taken, const struct submission *submission)
{
    const struct ranked_name *ranked;
    const size_t count = ranking_end(taken->ranking, &ranked);

    for (size_t i = 0; i < count; i++)
        submit_derive(submission, "derive", ranked[i].text, (int64_t)(ranked[i].counted_ns / 1000));
    for (int i = 0; i < HR_BLAME_TAKER_COUNT; i++) {
        uint64_t ns = taken->fixed_ns[i];
        if (i == HR_BLAME_OTHER)
            ns += ranking_other_ns(taken->ranking);
        if (fixed[i] != NULL)
            submit_derive(submission, "derive", fixed[i], (int64_t)(ns / 1000));
    }
}

/* --- All groups ----------------------------------------------------------- */

struct sample {
    const struct psi_groups *groups;
    cdtime_t time;
};

static void publish_all(const struct hr_blame_matrix *interval, const struct psi_watched *watched,
                        void *context)
{
    const struct sample *sample = context;
    struct hr_cgroup *group = NULL;

    while ((group = hr_cgroup_set_next(sample->groups->set, group)) != NULL) {
        struct psi_group *of_group = group->data;
        if (of_group == NULL)
            continue;
        const struct submission submission = {
            .plugin = PLUGIN, .instance = of_group->series.instance, .time = sample->time};
        if (of_group->taken == NULL)
            of_group->taken = psi_taken_new();
        if (of_group->taken == NULL)
            continue;
        psi_taken_add(of_group->taken, interval, group->id, watched);
        psi_taken_publish(of_group->taken, &submission);
    }
}

void psi_taken_sample(struct psi_blame *blame, const struct psi_groups *groups, cdtime_t time)
{
    struct sample sample = {groups, time};

    if (groups->set == NULL)
        return;
    psi_blame_update_groups(blame, groups->set, groups->changes);
    psi_blame_sample(blame, publish_all, &sample);
}
