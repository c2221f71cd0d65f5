/* SPDX-License-Identifier: MIT */
#include "common/ranking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/hash.h"

/* The factor of the decaying sum per interval: half of it is left after 10 intervals. */
#define DECAY 0.93303299

/* How much more than a name among the top another must have to take its place. */
#define STICKINESS 1.25

/* A name whose sum is below this is gone. */
#define MIN_SCORE_NS 1000.0

struct name {
    char text[RANKING_NAME];
    uint32_t hash;
    bool is_top;         /* in the last interval */
    double score_ns;     /* the decaying sum, of past intervals */
    uint64_t fresh_ns;   /* of the current interval */
    uint64_t counted_ns; /* published under its own name */
};

struct ranking {
    size_t top;
    size_t capacity, count;
    struct name *names;
    struct ranked_name *ranked;
    uint64_t other_ns;
    uint64_t other_fresh_ns; /* of names without a place */
};

/* --- The table ------------------------------------------------------------ */

struct ranking *ranking_new(size_t top)
{
    struct ranking *ranking = calloc(1, sizeof(*ranking));

    if (ranking == NULL)
        return NULL;
    ranking->top = top;
    ranking->capacity = 4 * top + 16;
    ranking->names = calloc(ranking->capacity, sizeof(*ranking->names));
    ranking->ranked = calloc(top + 1, sizeof(*ranking->ranked));
    if (ranking->names != NULL && ranking->ranked != NULL)
        return ranking;
    ranking_free(ranking);
    return NULL;
}

void ranking_free(struct ranking *ranking)
{
    if (ranking == NULL)
        return;
    free(ranking->names);
    free(ranking->ranked);
    free(ranking);
}

static struct name *find_name(struct ranking *ranking, const char *text, uint32_t hash)
{
    for (size_t i = 0; i < ranking->count; i++)
        if (ranking->names[i].hash == hash && strcmp(ranking->names[i].text, text) == 0)
            return &ranking->names[i];
    return NULL;
}

static double current_score_ns(const struct name *name)
{
    return name->score_ns + (double)name->fresh_ns;
}

/* Whether a name is dropped before another: first one whose counter was never published, then the
 * lowest. */
static bool is_forgotten_before(const struct name *name, const struct name *other)
{
    if ((name->counted_ns == 0) != (other->counted_ns == 0))
        return name->counted_ns == 0;
    return current_score_ns(name) < current_score_ns(other);
}

/* @return the name to drop next; NULL: all are published. */
static struct name *find_least_name(struct ranking *ranking)
{
    struct name *least = NULL;

    for (size_t i = 0; i < ranking->count; i++) {
        struct name *name = &ranking->names[i];
        if (!name->is_top && (least == NULL || is_forgotten_before(name, least)))
            least = name;
    }
    return least;
}

/* @return a place for a name with so much; NULL: it is too little. */
static struct name *get_place(struct ranking *ranking, uint64_t duration_ns)
{
    if (ranking->count < ranking->capacity)
        return &ranking->names[ranking->count++];
    struct name *least = find_least_name(ranking);
    if (least == NULL || current_score_ns(least) >= (double)duration_ns)
        return NULL;
    ranking->other_fresh_ns += least->fresh_ns;
    return least;
}

void ranking_add(struct ranking *ranking, const char *text, uint64_t duration_ns)
{
    const uint32_t hash = hr_hash(text);
    struct name *name = ranking->top > 0 ? find_name(ranking, text, hash) : NULL;

    if (name == NULL && ranking->top > 0) {
        name = get_place(ranking, duration_ns);
        if (name != NULL) {
            *name = (struct name){.hash = hash};
            snprintf(name->text, sizeof(name->text), "%s", text);
        }
    }
    if (name != NULL)
        name->fresh_ns += duration_ns;
    else
        ranking->other_fresh_ns += duration_ns;
}

void ranking_add_other(struct ranking *ranking, uint64_t duration_ns)
{
    ranking->other_fresh_ns += duration_ns;
}

/* --- The end of an interval ----------------------------------------------- */

static double ranking_score(const struct name *name)
{
    return name->is_top ? name->score_ns * STICKINESS : name->score_ns;
}

/* The highest first; equals in a fixed order. */
static int compare_names(const void *a, const void *b)
{
    const struct name *one = a, *other = b;

    if (ranking_score(one) != ranking_score(other))
        return ranking_score(one) < ranking_score(other) ? 1 : -1;
    return strcmp(one->text, other->text);
}

/* After it has decayed, only a published name is kept. */
static void forget_decayed(struct ranking *ranking)
{
    size_t kept = 0;

    for (size_t i = 0; i < ranking->count; i++)
        if (ranking->names[i].score_ns >= MIN_SCORE_NS || ranking->names[i].counted_ns > 0)
            ranking->names[kept++] = ranking->names[i];
    ranking->count = kept;
}

size_t ranking_end(struct ranking *ranking, const struct ranked_name **ranked)
{
    size_t top = 0;

    for (size_t i = 0; i < ranking->count; i++) {
        struct name *name = &ranking->names[i];
        name->score_ns = name->score_ns * DECAY + (double)name->fresh_ns;
    }
    qsort(ranking->names, ranking->count, sizeof(*ranking->names), compare_names);
    for (size_t i = 0; i < ranking->count; i++) {
        struct name *name = &ranking->names[i];
        const bool was_top = name->is_top;
        name->is_top = i < ranking->top && name->score_ns >= MIN_SCORE_NS;
        if (name->is_top) {
            ranking->ranked[top++] = (struct ranked_name){
                name->text, name->counted_ns + name->fresh_ns, name->counted_ns, !was_top};
            name->counted_ns += name->fresh_ns;
        } else {
            ranking->other_ns += name->fresh_ns;
        }
        name->fresh_ns = 0;
    }
    ranking->other_ns += ranking->other_fresh_ns;
    ranking->other_fresh_ns = 0;
    forget_decayed(ranking);
    *ranked = ranking->ranked;
    return top;
}

uint64_t ranking_other_ns(const struct ranking *ranking)
{
    return ranking->other_ns;
}
