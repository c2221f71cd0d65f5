/* SPDX-License-Identifier: MIT */
#include "headroom/takers.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "headroom/array.h"

/* What is less isn't named: of the growth, and of the time. */
#define WORTH_NAMING_PCT 1

/* And CPUs. */
#define WORTH_NAMING_CPUS 0.01

struct taker {
    const char *path;
    double amount; /* NAN: not known */
};

/* Those who take, the greatest first. */
struct ranking {
    struct taker *list;
    size_t count, capacity;
    double sum;
};

void takers_binding_path(const struct subject *subject, const struct hr_room *room, char *path,
                         size_t size)
{
    path[0] = '\0';
    if (room->bound == HR_ROOM_MACHINE || subject->path == NULL)
        return;
    size_t length = strlen(subject->path);
    for (size_t level = room->level; level > 0 && length > 0; level--)
        while (length > 0 && subject->path[--length] != '/')
            continue;
    snprintf(path, size, "%.*s", (int)length, subject->path);
}

/* Whether a group is in another; all are in "". */
static bool is_within(const char *path, const char *above)
{
    const size_t length = strlen(above);

    return length == 0 ||
           (strncmp(path, above, length) == 0 && (path[length] == '\0' || path[length] == '/'));
}

/* --- Ranking ------------------------------------------------------------------------ */

static int byte_of(char byte)
{
    return byte == '/' ? 1 : (unsigned char)byte;
}

/* The order in which the groups in a group follow it at once. */
static int compare_paths(const void *left, const void *right)
{
    const char *a = ((const struct taker *)left)->path, *b = ((const struct taker *)right)->path;

    while (*a != '\0' && *a == *b)
        a++, b++;
    return byte_of(*a) - byte_of(*b);
}

static int compare_amounts(const void *left, const void *right)
{
    const struct taker *a = left, *b = right;

    return (a->amount < b->amount) - (a->amount > b->amount);
}

/* What a group takes is what those in it take, if these are measured, too. */
static void keep_lowest(struct ranking *ranking, double least)
{
    size_t kept = 0;

    for (size_t i = 0; i < ranking->count; i++) {
        const struct taker *taker = &ranking->list[i];
        if (i + 1 < ranking->count && is_within(taker[1].path, taker->path))
            continue;
        if (!(taker->amount >= least))
            continue;
        ranking->sum += taker->amount;
        ranking->list[kept++] = *taker;
    }
    ranking->count = kept;
}

static double grown_memory(const struct subject *subject)
{
    return subject->room[SUBJECT_MEMORY].status == 0
               ? subject->room[SUBJECT_MEMORY].needed - subject->memory_before
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

/* The caller frees the list; it is empty for lack of memory. */
static struct ranking rank_all(const struct takers *takers, const struct subject *subject,
                               const struct hr_room *room,
                               double (*amount_of)(const struct subject *), double least)
{
    struct ranking ranking = {.list = NULL};
    struct hr_cgroup *group = NULL;
    char binding[PATH_MAX];

    takers_binding_path(subject, room, binding, sizeof(binding));
    while (takers->groups != NULL && (group = hr_cgroup_set_next(takers->groups, group)) != NULL) {
        const struct subject *other = group->data;
        if (other == NULL || other->source == NULL || !is_within(group->path, binding))
            continue;
        if (HR_ARRAY_RESERVE(ranking.list, ranking.capacity, ranking.count + 1) < 0)
            break;
        ranking.list[ranking.count++] = (struct taker){group->path, amount_of(other)};
    }
    if (ranking.count == 0)
        return ranking;
    qsort(ranking.list, ranking.count, sizeof(*ranking.list), compare_paths);
    keep_lowest(&ranking, least);
    qsort(ranking.list, ranking.count, sizeof(*ranking.list), compare_amounts);
    if (ranking.count > takers->count)
        ranking.count = takers->count;
    return ranking;
}

/* --- In words ------------------------------------------------------------------------- */

static void append_memory(const struct ranking *ranking, struct message *message)
{
    const char *before = "; taking: ";

    for (size_t i = 0; i < ranking->count; i++) {
        const double pct = 100 * ranking->list[i].amount / ranking->sum;
        if (pct < WORTH_NAMING_PCT ||
            !message_append(message, "%s%s %.0f %%", before, ranking->list[i].path, pct))
            return;
        before = ", ";
    }
}

static void append_cpus(const struct ranking *ranking, struct message *message)
{
    const char *before = "; taking: ";

    for (size_t i = 0; i < ranking->count; i++) {
        const struct taker *taker = &ranking->list[i];
        if (!message_append(message, taker->amount < 9.95 ? "%s%s %.2g CPUs" : "%s%s %.0f CPUs",
                            before, taker->path, taker->amount))
            return;
        before = ", ";
    }
}

void takers_append(const struct takers *takers, const struct subject *subject, int resource,
                   struct message *message)
{
    const struct hr_room *room = &subject->room[resource];
    const bool is_cpu = resource == SUBJECT_CPU;
    const struct ranking ranking = rank_all(
        takers, subject, room, is_cpu ? used_cpus : grown_memory, is_cpu ? WORTH_NAMING_CPUS : 1);

    if (is_cpu)
        append_cpus(&ranking, message);
    else
        append_memory(&ranking, message);
    free(ranking.list);
}

void takers_append_waiting(const struct takers *takers, const struct subject *subject, int resource,
                           struct message *message)
{
    const struct ranking ranking =
        rank_all(takers, subject, &subject->room[resource],
                 resource == SUBJECT_CPU ? cpu_stall : memory_stall, WORTH_NAMING_PCT);
    const char *before = "; waiting: ";

    if (ranking.count == 0)
        message_append(message, "; waiting: none yet");
    for (size_t i = 0; i < ranking.count; i++) {
        const struct taker *taker = &ranking.list[i];
        if (!message_append(message, "%s%s %.0f %%", before, taker->path, taker->amount))
            break;
        before = ", ";
    }
    free(ranking.list);
}
