/* SPDX-License-Identifier: MIT */
#include "headroom/takers.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "common/message.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"

/* Takers with a smaller share aren't named: of the growth of memory, and of waiting time. */
#define WORTH_NAMING_PCT 1

/* The same for CPU time, in CPUs. */
#define WORTH_NAMING_CPUS 0.01

struct taker {
    const char *path;
    const char *name; /* in messages */
    double amount;    /* NAN: not known */
};

void takers_binding_path(const struct subject *subject, const struct hr_room *room, char *path,
                         size_t size)
{
    path[0] = '\0';
    if (room->bound == HR_ROOM_MACHINE || subject->path == NULL)
        return;
    snprintf(path, size, "%.*s", (int)hr_cgroup_above_length(subject->path, room->level),
             subject->path);
}

/* --- Amounts ------------------------------------------------------------------------ */

static double grown_memory(const struct subject *subject)
{
    return subject->room[SUBJECT_MEMORY].status == 0
               ? subject->memory_level - subject->memory_before
               : NAN;
}

static double used_cpus(const struct subject *subject)
{
    return subject->room[SUBJECT_CPU].status == 0 ? subject->room[SUBJECT_CPU].used : NAN;
}

static double cpu_stall(const struct subject *subject)
{
    return subject->stall_pct[SUBJECT_CPU];
}

static double memory_stall(const struct subject *subject)
{
    return subject->stall_pct[SUBJECT_MEMORY];
}

static double io_stall(const struct subject *subject)
{
    return subject->stall_pct[SUBJECT_IO];
}

static double (*const amount_of[TAKERS_RANKING_COUNT])(const struct subject *) = {
    [TAKERS_CPU] = used_cpus,       [TAKERS_MEMORY] = grown_memory,
    [TAKERS_CPU_WAITS] = cpu_stall, [TAKERS_MEMORY_WAITS] = memory_stall,
    [TAKERS_IO_WAITS] = io_stall,
};

static const int waits_of[SUBJECT_ROOM_COUNT] = {
    [SUBJECT_CPU] = TAKERS_CPU_WAITS,
    [SUBJECT_MEMORY] = TAKERS_MEMORY_WAITS,
    [SUBJECT_IO] = TAKERS_IO_WAITS,
};

/* --- Ranking ------------------------------------------------------------------------ */

static int byte_of(char byte)
{
    return byte == '/' ? 1 : (unsigned char)byte;
}

/* The order in which a group is followed at once by the groups in it. */
static int compare_paths(const void *left, const void *right)
{
    const char *a = ((const struct taker *)left)->path, *b = ((const struct taker *)right)->path;

    while (*a != '\0' && *a == *b)
        a++, b++;
    return byte_of(*a) - byte_of(*b);
}

/* What isn't known comes last. */
static int compare_amounts(const void *left, const void *right)
{
    const double a = ((const struct taker *)left)->amount;
    const double b = ((const struct taker *)right)->amount;

    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0);
    return (a < b) - (a > b);
}

/* What a group takes is what those in it take, if these are measured, too. */
static void keep_lowest(struct takers_ranking *ranking)
{
    size_t kept = 0;

    for (size_t i = 0; i < ranking->count; i++) {
        const struct taker *taker = &ranking->list[i];
        if (i + 1 == ranking->count || !hr_cgroup_is_within(taker[1].path, taker->path))
            ranking->list[kept++] = *taker;
    }
    ranking->count = kept;
}

static int list_groups(struct hr_cgroup_set *groups, double (*amount)(const struct subject *),
                       struct takers_ranking *ranking)
{
    struct hr_cgroup *group = NULL;
    size_t capacity = 0;

    while (groups != NULL && (group = hr_cgroup_set_next(groups, group)) != NULL) {
        const struct subject *subject = group->data;
        if (subject == NULL || subject->source == NULL)
            continue;
        if (HR_ARRAY_RESERVE(ranking->list, capacity, ranking->count + 1) < 0)
            return -ENOMEM;
        ranking->list[ranking->count++] = (struct taker){
            .path = group->path,
            .name =
                message_is_path(subject->instance, group->path) ? group->path : subject->instance,
            .amount = amount(subject),
        };
    }
    return 0;
}

static const struct takers_ranking *rank_by(struct takers *takers, int by)
{
    struct takers_ranking *ranking = &takers->rankings[by];

    if (ranking->is_made)
        return ranking;
    ranking->is_made = true;
    if (list_groups(takers->groups, amount_of[by], ranking) < 0)
        ranking->count = 0;
    if (ranking->count == 0)
        return ranking;
    qsort(ranking->list, ranking->count, sizeof(*ranking->list), compare_paths);
    keep_lowest(ranking);
    qsort(ranking->list, ranking->count, sizeof(*ranking->list), compare_amounts);
    return ranking;
}

void takers_clear(struct takers *takers)
{
    for (int i = 0; i < TAKERS_RANKING_COUNT; i++) {
        free(takers->rankings[i].list);
        takers->rankings[i] = (struct takers_ranking){.list = NULL};
    }
}

/* The next of those within a group. @param after  NULL: the first. @return NULL: there is none. */
static const struct taker *next_within(const struct takers_ranking *ranking, const char *above,
                                       const struct taker *after)
{
    for (size_t i = after != NULL ? (size_t)(after - ranking->list) + 1 : 0; i < ranking->count;
         i++)
        if (hr_cgroup_is_within(ranking->list[i].path, above))
            return &ranking->list[i];
    return NULL;
}

/* --- In words ------------------------------------------------------------------------- */

static double sum_within(const struct takers_ranking *ranking, const char *above)
{
    const struct taker *taker = NULL;
    double sum = 0;

    while ((taker = next_within(ranking, above, taker)) != NULL && taker->amount >= 1)
        sum += taker->amount;
    return sum;
}

static void append_memory(const struct takers_ranking *ranking, const char *above, size_t count,
                          struct message *message)
{
    const double sum = sum_within(ranking, above);
    const char *before = "; taking: ";
    const struct taker *taker = NULL;

    for (; count > 0 && (taker = next_within(ranking, above, taker)) != NULL; count--) {
        const double pct = taker->amount >= 1 ? 100 * taker->amount / sum : 0;
        if (pct < WORTH_NAMING_PCT ||
            !message_append(message, "%s%s %.0f %%", before, taker->name, pct))
            return;
        before = ", ";
    }
}

static void append_cpus(const struct takers_ranking *ranking, const char *above, size_t count,
                        struct message *message)
{
    const char *before = "; taking: ";
    const struct taker *taker = NULL;

    for (; count > 0 && (taker = next_within(ranking, above, taker)) != NULL; count--) {
        if (!(taker->amount >= WORTH_NAMING_CPUS) ||
            !message_append(message, taker->amount < 9.95 ? "%s%s %.2g CPUs" : "%s%s %.0f CPUs",
                            before, taker->name, taker->amount))
            return;
        before = ", ";
    }
}

void takers_append(struct takers *takers, const struct subject *subject, int resource,
                   struct message *message)
{
    char above[PATH_MAX];

    takers_binding_path(subject, &subject->room[resource], above, sizeof(above));
    if (resource == SUBJECT_CPU)
        append_cpus(rank_by(takers, TAKERS_CPU), above, takers->count, message);
    else if (resource == SUBJECT_MEMORY)
        append_memory(rank_by(takers, TAKERS_MEMORY), above, takers->count, message);
}

/* Whether there are groups, and the amount of each is known. */
static bool are_known(const struct takers_ranking *ranking, const char *above)
{
    const struct taker *last = NULL;

    for (const struct taker *next = NULL; (next = next_within(ranking, above, last)) != NULL;)
        last = next;
    return last != NULL && !isnan(last->amount);
}

void takers_append_waiting(struct takers *takers, const struct subject *subject, int resource,
                           struct message *message)
{
    const struct takers_ranking *ranking = rank_by(takers, waits_of[resource]);
    const char *before = "; waiting: ";
    const struct taker *taker = NULL;
    char above[PATH_MAX];

    takers_binding_path(subject, &subject->room[resource], above, sizeof(above));
    for (size_t i = 0; i < takers->count; i++) {
        taker = next_within(ranking, above, taker);
        if (taker == NULL || !(taker->amount >= WORTH_NAMING_PCT))
            break;
        if (!message_append(message, "%s%s %.0f %%", before, taker->name, taker->amount))
            return;
        before = ", ";
    }
    if (*before == ';')
        message_append(message, "; waiting: %s",
                       are_known(ranking, above) ? "none yet" : "not known");
}
