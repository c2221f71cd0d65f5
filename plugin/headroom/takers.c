/* SPDX-License-Identifier: MIT */
#include "headroom/takers.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/entitlement.h"
#include "headroom/quantity.h"

/* Takers with a smaller share aren't named: of the growth of memory, and of waiting time. */
#define WORTH_NAMING_PCT 1

/* The same for CPU time, in CPUs. */
#define WORTH_NAMING_CPUS 0.01

/* Less growth of all groups together is none. */
#define WORTH_NAMING_BYTES (1 << 20)

/* What is protected is read of so many groups at most, two files a level, in the read callback. */
#define READ_MOST 32

struct taker {
    const struct hr_cgroup *group;
    double amount; /* NAN: not known */
    double excess; /* of CPU time, beyond its share; where these aren't known, the amount */
};

/* One that is to be named, and by how much it takes. */
struct named {
    const struct taker *taker;
    double amount;
};

/* A container has its name. */
static const char *name_of(const struct taker *taker)
{
    const struct subject *subject = taker->group->data;

    return message_is_path(subject->instance, taker->group->path) ? taker->group->path
                                                                  : subject->instance;
}

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

static double used_memory(const struct subject *subject)
{
    return subject->room[SUBJECT_MEMORY].status == 0 ? subject->memory_level : NAN;
}

static double used_cpus(const struct subject *subject)
{
    return subject->room[SUBJECT_CPU].status == 0 ? subject->room[SUBJECT_CPU].used : NAN;
}

/* Who takes a CPU from others waits for it, too, but mostly for itself. */
static double cpu_stall(const struct subject *subject)
{
    return subject->stall_pct[SUBJECT_CPU] - subject->stalls.cpu_by_itself_pct;
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
    [TAKERS_CPU] = used_cpus,
    [TAKERS_GROWTH] = grown_memory,
    [TAKERS_SIZE] = used_memory,
    [TAKERS_CPU_WAITS] = cpu_stall,
    [TAKERS_MEMORY_WAITS] = memory_stall,
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
static int order_of(const struct hr_cgroup *left, const struct hr_cgroup *right)
{
    const char *a = left->path, *b = right->path;

    while (*a != '\0' && *a == *b)
        a++, b++;
    return byte_of(*a) - byte_of(*b);
}

static int compare_paths(const void *left, const void *right)
{
    return order_of(((const struct taker *)left)->group, ((const struct taker *)right)->group);
}

static int compare_contenders(const void *left, const void *right)
{
    return order_of(((const struct hr_cpu_contender *)left)->group,
                    ((const struct hr_cpu_contender *)right)->group);
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
        if (i + 1 == ranking->count ||
            !hr_cgroup_is_within(taker[1].group->path, taker->group->path))
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
        ranking->list[ranking->count++] = (struct taker){group, amount(subject), 0};
    }
    return 0;
}

static struct takers_ranking *rank_by(struct takers *takers, int by)
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
        free(takers->rankings[i].shared);
        takers->rankings[i] = (struct takers_ranking){.list = NULL};
    }
}

/* The next of those within a group. @param after  NULL: the first. @return NULL: there is none. */
static const struct taker *next_within(const struct takers_ranking *ranking, const char *above,
                                       const struct taker *after)
{
    for (size_t i = after != NULL ? (size_t)(after - ranking->list) + 1 : 0; i < ranking->count;
         i++)
        if (hr_cgroup_is_within(ranking->list[i].group->path, above))
            return &ranking->list[i];
    return NULL;
}

/* Keeps those that take most. */
static void add_named(struct named *named, size_t *count, size_t most, const struct named *added)
{
    size_t at = *count;

    while (at > 0 && named[at - 1].amount < added->amount)
        at--;
    if (at == most)
        return;
    if (*count < most)
        ++*count;
    for (size_t i = *count - 1; i > at; i--)
        named[i] = named[i - 1];
    named[at] = *added;
}

/* --- Memory --------------------------------------------------------------------------- */

static double sum_within(const struct takers_ranking *ranking, const char *above)
{
    const struct taker *taker = NULL;
    double sum = 0;

    while ((taker = next_within(ranking, above, taker)) != NULL && taker->amount >= 1)
        sum += taker->amount;
    return sum;
}

/* What of its amount, growth or all, isn't protected from the others within a group. The kernel
 * compares what is protected with all that the group has in memory, caches too; what is swapped out
 * isn't protected. */
static double unprotected(const struct takers *takers, const struct taker *taker, const char *above)
{
    const struct subject *subject = taker->group->data;
    uint64_t bytes = 0;

    if (hr_memory_protection_read(takers->root, taker->group, above, &bytes) < 0)
        bytes = 0; /* a group without protection, or that is gone */
    return fmin(taker->amount,
                fmax(subject->memory_bytes - (double)bytes, 0) + subject->swapped_bytes);
}

/* The groups come by what they take with what is protected. So without protection that is read of
 * no more of them than may be named. */
static size_t find_unprotected(const struct takers *takers, const struct takers_ranking *ranking,
                               const char *above, struct named named[TAKERS_MOST])
{
    const struct taker *taker = NULL;
    size_t count = 0;

    for (int i = 0; i < READ_MOST; i++) {
        taker = next_within(ranking, above, taker);
        if (taker == NULL || !(taker->amount >= 1) ||
            (count == takers->count && taker->amount <= named[count - 1].amount))
            break;
        const struct named next = {taker, unprotected(takers, taker, above)};
        if (next.amount >= 1)
            add_named(named, &count, takers->count, &next);
    }
    return count;
}

/* @return whether any was named. */
static bool append_growth(struct takers *takers, const struct takers_ranking *ranking,
                          const char *above, double sum, struct message *message)
{
    struct named named[TAKERS_MOST];
    const size_t count = find_unprotected(takers, ranking, above, named);
    size_t i = 0;

    for (; i < count && 100 * named[i].amount >= WORTH_NAMING_PCT * sum; i++)
        if (!message_append(message, "%s%s %.0f %%", i == 0 ? "; taking: " : ", ",
                            name_of(named[i].taker), 100 * named[i].amount / sum))
            return true;
    return i > 0;
}

static void append_size(struct takers *takers, const char *above, struct message *message)
{
    const struct takers_ranking *ranking = rank_by(takers, TAKERS_SIZE);
    struct named named[TAKERS_MOST];
    const size_t count = find_unprotected(takers, ranking, above, named);
    const double sum = sum_within(ranking, above);

    for (size_t i = 0; i < count && 100 * named[i].amount >= WORTH_NAMING_PCT * sum; i++)
        if (!message_append(message, "%s%s %s", i == 0 ? "; taking: " : ", ",
                            name_of(named[i].taker), hr_quantity_bytes(named[i].amount).text))
            return;
}

static void append_memory(struct takers *takers, const char *above, struct message *message)
{
    const struct takers_ranking *growth = rank_by(takers, TAKERS_GROWTH);
    const struct taker *first = next_within(growth, above, NULL);
    const double sum = sum_within(growth, above);

    if (sum >= WORTH_NAMING_BYTES && append_growth(takers, growth, above, sum, message))
        return;
    /* What a group has that its own limit binds, with none in it, has been said. */
    if (first != NULL && strcmp(first->group->path, above) != 0)
        append_size(takers, above, message);
}

/* --- CPU time ------------------------------------------------------------------------- */

/* Lists those that use any. @return their number; 0 also if memory is short. */
static size_t list_contenders(const struct takers_ranking *ranking, const char *above,
                              struct hr_cpu_contender **contenders)
{
    const struct taker *taker = NULL;
    size_t count = 0;

    *contenders = calloc(ranking->count + 1, sizeof(**contenders));
    while (*contenders != NULL && (taker = next_within(ranking, above, taker)) != NULL &&
           taker->amount >= WORTH_NAMING_CPUS)
        (*contenders)[count++].group = taker->group;
    if (count > 1)
        qsort(*contenders, count, sizeof(**contenders), compare_contenders);
    return count;
}

static double fair_share(const struct hr_cpu_contender *contenders, size_t count,
                         const struct taker *taker)
{
    const struct hr_cpu_contender key = {.group = taker->group};
    const struct hr_cpu_contender *found =
        bsearch(&key, contenders, count, sizeof(*contenders), compare_contenders);

    return found != NULL ? found->fair_cpus : INFINITY;
}

/* @return whether any uses more than its share. */
static bool subtract_shares(struct takers_ranking *ranking,
                            const struct hr_cpu_contender *contenders, size_t count)
{
    bool is_any = false;

    for (size_t i = 0; i < ranking->count; i++) {
        struct taker *taker = &ranking->list[i];
        taker->excess = taker->amount - fair_share(contenders, count, taker);
        is_any |= taker->excess >= WORTH_NAMING_CPUS;
    }
    return is_any;
}

/* Once for all groups that the same binds. */
static void find_excess(struct takers *takers, struct takers_ranking *ranking, const char *above,
                        double cpus)
{
    struct hr_cpu_contender *contenders = NULL;

    if (ranking->shared != NULL && strcmp(ranking->shared, above) == 0 &&
        ranking->shared_cpus == cpus)
        return;
    free(ranking->shared);
    ranking->shared = strdup(above);
    ranking->shared_cpus = cpus;
    const size_t count = list_contenders(ranking, above, &contenders);
    if (cpus <= 0 || count < 2 || hr_cpu_divide(takers->root, above, cpus, contenders, count) < 0 ||
        !subtract_shares(ranking, contenders, count))
        for (size_t i = 0; i < ranking->count; i++)
            ranking->list[i].excess = ranking->list[i].amount;
    free(contenders);
}

/* Who of the machine's groups shares the CPUs of a cpuset isn't known. @return 0: nothing. */
static double cpus_to_divide(const struct takers *takers, const struct hr_room *room)
{
    return room->bound == HR_ROOM_MACHINE && room->limit < (double)takers->cpus ? 0 : room->limit;
}

static void append_cpus(struct takers *takers, const char *above, double cpus,
                        struct message *message)
{
    struct takers_ranking *ranking = rank_by(takers, TAKERS_CPU);
    struct named named[TAKERS_MOST];
    const struct taker *taker = NULL;
    size_t count = 0;

    find_excess(takers, ranking, above, cpus);
    while ((taker = next_within(ranking, above, taker)) != NULL)
        if (taker->excess >= WORTH_NAMING_CPUS)
            add_named(named, &count, takers->count, &(struct named){taker, taker->excess});
    for (size_t i = 0; i < count; i++) {
        const double used = named[i].taker->amount;
        if (!message_append(message, "%s%s %s", i == 0 ? "; taking: " : ", ",
                            name_of(named[i].taker), hr_quantity_cpus(used).text))
            return;
    }
}

/* The path of a group that is measured here, too; else the psi plugin's own name. */
static const char *find_name(const struct takers *takers, const struct taken_cpus_part *part)
{
    struct hr_cgroup *group = NULL;

    while (part->kind == HR_BLAME_GROUP &&
           (group = hr_cgroup_set_next(takers->groups, group)) != NULL) {
        const struct subject *subject = group->data;
        if (subject != NULL && strcmp(subject->instance, part->taker) == 0)
            return message_name_group(part->taker, group->path);
    }
    return part->taker;
}

/* @return whether it is measured who took the CPUs from it. */
static bool append_taken(struct takers *takers, const struct subject *subject,
                         struct message *message)
{
    struct taken_cpus_parts parts;

    if (!taken_cpus_find(takers->taken, subject->instance, subject->stall_pct[SUBJECT_CPU], &parts))
        return false;
    for (size_t i = 0; i < parts.count && i < takers->count; i++) {
        const struct taken_cpus_part *part = &parts.list[i];
        if (!(part->pct >= WORTH_NAMING_PCT) ||
            !message_append(message, "%s%s %.0f %%", i == 0 ? "; taking: " : ", ",
                            find_name(takers, part), part->pct))
            break;
    }
    return true;
}

/* --- In words ------------------------------------------------------------------------- */

void takers_append(struct takers *takers, const struct subject *subject, int resource,
                   struct message *message)
{
    const struct hr_room *room = &subject->room[resource];
    char above[PATH_MAX];

    takers_binding_path(subject, room, above, sizeof(above));
    if (resource == SUBJECT_CPU && room->bound == HR_ROOM_MACHINE && subject->path != NULL &&
        append_taken(takers, subject, message))
        return;
    if (resource == SUBJECT_CPU)
        append_cpus(takers, above, cpus_to_divide(takers, room), message);
    else if (resource == SUBJECT_MEMORY)
        append_memory(takers, above, message);
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
        if (!message_append(message, "%s%s %.0f %%", before, name_of(taker), taker->amount))
            return;
        before = ", ";
    }
    if (*before == ';')
        message_append(message, "; waiting: %s",
                       are_known(ranking, above) ? "none yet" : "not known");
}
