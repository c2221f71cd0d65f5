/* SPDX-License-Identifier: MIT */
#include "psi/takers.h"

#include <stdio.h>
#include <string.h>

#include "common/message.h"
#include "headroom/array.h"

#define NAMED_MAX     5
#define NAMED_PART    10  /* of the longest wait */
#define WORTH_KEEPING 100 /* of the whole wait */

static const char *const words[HR_BLAME_TAKER_COUNT] = {
    [HR_BLAME_ITSELF] = "itself",
    [HR_BLAME_OTHER] = "other tasks",
    [HR_BLAME_KWORKER] = "kworkers",
    [HR_BLAME_KSOFTIRQD] = "ksoftirqd",
    [HR_BLAME_MIGRATION] = "migration threads",
    [HR_BLAME_RCU] = "RCU threads",
    [HR_BLAME_RECLAIM] = "kswapd",
    [HR_BLAME_IRQ_THREAD] = "interrupt threads",
    [HR_BLAME_KERNEL] = "kernel threads",
    [HR_BLAME_INTERRUPTS] = "interrupts",
    [HR_BLAME_STEAL] = "the hypervisor",
    [HR_BLAME_LIMIT] = "its limit",
    [HR_BLAME_IDLE] = "waking up",
    [HR_BLAME_UNKNOWN] = "unattributed",
};

#define LIMITS "limits" /* of the system */

struct sum {
    enum hr_blame_taker kind;
    uint64_t group; /* of HR_BLAME_GROUP */
    uint64_t wait_ns;
};

struct sums {
    struct sum *list;
    size_t count, capacity;
};

/* --- Adding up ------------------------------------------------------------ */

/* Who had the CPU, as seen by those whose waits are added up. */
static struct sum taker_of(const struct hr_blame_cell *cell, const struct psi_watched *watched,
                           const struct psi_takers_of *of)
{
    struct sum taker = {.kind = cell->taker, .group = cell->group, .wait_ns = cell->wait_ns};

    /* All groups together are the system, where each group that ran is a taker. */
    if (of->path == NULL && taker.kind == HR_BLAME_ITSELF) {
        taker.kind = HR_BLAME_GROUP;
        taker.group = cell->waiter;
    }
    if (taker.kind == HR_BLAME_GROUP && taker.group == of->top)
        taker.kind = HR_BLAME_OTHER;
    else if (taker.kind == HR_BLAME_GROUP && of->path != NULL &&
             psi_watched_is_below(watched, taker.group, of->path))
        taker.kind = HR_BLAME_ITSELF;
    else if (taker.kind == HR_BLAME_GROUP && psi_watched_find(watched, taker.group) == NULL)
        taker.kind = HR_BLAME_OTHER;
    if (taker.kind != HR_BLAME_GROUP)
        taker.group = 0;
    return taker;
}

static int add_to_sums(struct sums *sums, const struct sum *taker)
{
    for (size_t i = 0; i < sums->count; i++)
        if (sums->list[i].kind == taker->kind && sums->list[i].group == taker->group) {
            sums->list[i].wait_ns += taker->wait_ns;
            return 0;
        }
    int status = HR_ARRAY_RESERVE(sums->list, sums->capacity, sums->count + 1);
    if (status == 0)
        sums->list[sums->count++] = *taker;
    return status;
}

static bool is_counted(const struct hr_blame_cell *cell, const struct psi_watched *watched,
                       const struct psi_takers_of *of)
{
    return of->path == NULL || psi_watched_is_below(watched, cell->waiter, of->path);
}

static int add_up(const struct hr_blame_matrix *interval, const struct psi_watched *watched,
                  const struct psi_takers_of *of, struct sums *sums)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < interval->count; i++)
        if (is_counted(&interval->cells[i], watched, of)) {
            const struct sum taker = taker_of(&interval->cells[i], watched, of);
            status = add_to_sums(sums, &taker);
        }
    return status;
}

/* --- The worst ------------------------------------------------------------ */

static int compare_sums(const void *first, const void *second)
{
    const struct sum *a = first, *b = second;
    const bool a_known = a->kind != HR_BLAME_UNKNOWN, b_known = b->kind != HR_BLAME_UNKNOWN;

    if (a_known != b_known)
        return a_known ? -1 : 1;
    if (a->wait_ns != b->wait_ns)
        return a->wait_ns > b->wait_ns ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool is_word(const char *name)
{
    for (int i = 0; i < HR_BLAME_TAKER_COUNT; i++)
        if (words[i] != NULL && strcmp(name, words[i]) == 0)
            return true;
    return strcmp(name, LIMITS) == 0;
}

static const char *slash_before(const char *name)
{
    return is_word(last_component(name)) ? "/" : "";
}

static void name_group(const struct psi_watched_group *group, struct psi_taker *taker)
{
    const char *path = group->path, *before = slash_before(path);
    const int room = PSI_TAKER_NAME_SIZE - 1 - (int)strlen(before);

    if (strlen(path) > (size_t)room)
        hr_instance_make(path, path, false, taker->name);
    else
        snprintf(taker->name, sizeof(taker->name), "%s%.*s", before, room, path);
    if (!message_is_path(group->instance, path))
        snprintf(taker->container, sizeof(taker->container), "%s%.*s",
                 slash_before(group->instance), HR_INSTANCE_SIZE - 1, group->instance);
}

static void name_taker(const struct psi_watched *watched, const struct psi_takers_of *of,
                       const struct sum *sum, struct psi_taker *taker)
{
    const char *word = of->path == NULL && sum->kind == HR_BLAME_LIMIT ? LIMITS : words[sum->kind];
    const struct psi_watched_group *group =
        sum->kind == HR_BLAME_GROUP ? psi_watched_find(watched, sum->group) : NULL;

    *taker = (struct psi_taker){.is_group = group != NULL, .wait_ns = sum->wait_ns};
    if (group != NULL)
        name_group(group, taker);
    else
        snprintf(taker->name, sizeof(taker->name), "%s", word);
}

static void take_worst(const struct sums *sums, const struct psi_watched *watched,
                       const struct psi_takers_of *of, struct psi_takers *takers)
{
    for (size_t i = 0; i < sums->count; i++)
        takers->wait_ns += sums->list[i].wait_ns;
    for (size_t i = 0; i < sums->count && takers->count < PSI_TAKERS_MAX; i++)
        if (sums->list[i].wait_ns * WORTH_KEEPING >= takers->wait_ns)
            name_taker(watched, of, &sums->list[i], &takers->list[takers->count++]);
}

void psi_takers_sum(const struct hr_blame_matrix *interval, const struct psi_watched *watched,
                    const struct psi_takers_of *of, struct psi_takers *takers)
{
    struct sums sums = {0};

    takers->count = 0;
    takers->wait_ns = 0;
    takers->interval_ns = interval->time_ns;
    if (add_up(interval, watched, of, &sums) == 0 && sums.count > 0) {
        qsort(sums.list, sums.count, sizeof(*sums.list), compare_sums);
        take_worst(&sums, watched, of, takers);
    }
    free(sums.list);
}

/* --- For messages --------------------------------------------------------- */

/* What users call it: a group by its container, or its path; or the word. */
static const char *full_name_of(const struct psi_taker *taker)
{
    return taker->container[0] != '\0' ? taker->container : taker->name;
}

static const char *leaf_of(const struct psi_taker *taker)
{
    const char *name = full_name_of(taker);
    const bool is_short = taker->is_group && name[0] != '/';

    return is_short ? last_component(name) : name;
}

const char *psi_takers_short_name(const struct psi_takers *takers, size_t index)
{
    const char *leaf = leaf_of(&takers->list[index]);
    const char *name = full_name_of(&takers->list[index]);

    if (strlen(name) >= HR_INSTANCE_SIZE)
        return leaf; /* there would be no room for more */
    for (size_t i = 0; i < takers->count; i++)
        if (i != index && strcmp(leaf_of(&takers->list[i]), leaf) == 0)
            return name;
    return leaf;
}

size_t psi_takers_count_named(const struct psi_takers *takers)
{
    size_t count = 0;

    while (count < takers->count && count < NAMED_MAX &&
           takers->list[count].wait_ns * NAMED_PART >= takers->list[0].wait_ns)
        count++;
    return count;
}
