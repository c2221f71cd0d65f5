/* SPDX-License-Identifier: MIT */
#include "report/shares.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/client.h"
#include "common/identifier.h"
#include "common/short_name.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"

/* The psi plugin's: derive-cpu_taken_by_TAKER_us, in microseconds a second. */
#define TAKEN_BY  "cpu_taken_by_"
#define TAKEN_END "_us"

#define PCT_PER_US_PER_S 1e-4

static void free_share(struct share *share)
{
    free(share->group);
    free(share->name);
}

void shares_free(struct shares *shares)
{
    for (size_t i = 0; i < shares->count; i++)
        free_share(&shares->list[i]);
    *shares = (struct shares){.count = 0};
}

/* Keeps the greatest. */
static int add_share(struct shares *shares, const struct share *share)
{
    const double pct = share->pct;
    size_t at = shares->count;

    while (at > 0 && shares->list[at - 1].pct < pct)
        at--;
    if (!(pct >= WORTH_NAMING_PCT) || at == SHARES_MOST)
        return 0;
    struct share copy = {strdup(share->group), strdup(share->name), pct};
    if (copy.group == NULL || copy.name == NULL) {
        free_share(&copy);
        return -ENOMEM;
    }
    if (shares->count == SHARES_MOST)
        free_share(&shares->list[--shares->count]);
    memmove(&shares->list[at + 1], &shares->list[at], (shares->count - at) * sizeof(*shares->list));
    shares->list[at] = copy;
    shares->count++;
    return 0;
}

static int add_row(struct shares *shares, const struct room_row *row, double pct)
{
    return add_share(shares, &(struct share){row->group, (char *)room_name(row), pct});
}

/* The path of one that has no row isn't known. */
static int add_taker(struct shares *shares, const struct rooms *rooms, const char *host,
                     const char *taker, size_t length, double pct)
{
    char group[128], name[SHORT_NAME_SIZE];

    snprintf(group, sizeof(group), "%.*s", (int)length, taker);
    for (size_t i = 0; i < rooms->count; i++)
        if (strcmp(rooms->rows[i].group, group) == 0 && strcmp(rooms->rows[i].host, host) == 0)
            return add_row(shares, &rooms->rows[i], pct);
    short_name(group, NULL, name);
    return add_share(shares, &(struct share){group, name, pct});
}

/* --- From collectd ---------------------------------------------------------------- */

/* Series of who took the CPU from whom, and of which rows that is wanted. */
struct taken {
    const struct rooms *rooms;
    struct shares *const *taking;
    char **names;
    size_t count, capacity;
};

/* The taker that a series is of; NULL: it is another series. */
static const char *find_taker(const struct identifier *parts, size_t *length)
{
    const struct piece *type = &parts->type_instance;
    const size_t head = strlen(TAKEN_BY), tail = strlen(TAKEN_END);

    if (!piece_is(&parts->plugin, "psi") || !piece_is(&parts->type, "derive") ||
        type->length <= head + tail || memcmp(type->start, TAKEN_BY, head) != 0 ||
        memcmp(type->start + type->length - tail, TAKEN_END, tail) != 0)
        return NULL;
    *length = type->length - head - tail;
    return type->start + head;
}

/* The row from whose group it was taken, of those that are wanted; NULL: of none. */
static struct shares *find_taking(const struct taken *taken, const struct identifier *parts,
                                  const struct room_row **row)
{
    for (size_t i = 0; i < taken->rooms->count; i++) {
        *row = &taken->rooms->rows[i];
        if (taken->taking[i] != NULL && piece_is(&parts->instance, (*row)->group) &&
            piece_is(&parts->host, (*row)->host))
            return taken->taking[i];
    }
    return NULL;
}

static int collect_taken(void *context, const char *text)
{
    struct taken *taken = context;
    const struct room_row *row;
    struct identifier parts;
    size_t length;

    if (identifier_parse(text, &parts) != 0 || find_taker(&parts, &length) == NULL ||
        find_taking(taken, &parts, &row) == NULL)
        return 0;
    if (HR_ARRAY_RESERVE(taken->names, taken->capacity, taken->count + 1) != 0)
        return -ENOMEM;
    taken->names[taken->count] = strdup(text);
    return taken->names[taken->count++] != NULL ? 0 : -ENOMEM;
}

static int add_taken(const struct taken *taken, const char *text, double us_per_s)
{
    const struct room_row *row;
    struct identifier parts;
    size_t length;

    identifier_parse(text, &parts);
    struct shares *taking = find_taking(taken, &parts, &row);
    const char *taker = find_taker(&parts, &length);
    taking->unknown.text[0] = '\0';
    return add_taker(taking, taken->rooms, row->host, taker, length, us_per_s * PCT_PER_US_PER_S);
}

static int fetch_taken(struct client *client, const struct taken *taken)
{
    double *numbers = calloc(taken->count + 1, sizeof(*numbers));
    int status = numbers == NULL
                     ? -ENOMEM
                     : client_get(client, (const char *const *)taken->names, numbers, taken->count);

    for (size_t i = 0; i < taken->rooms->count; i++)
        if (taken->taking[i] != NULL)
            snprintf(taken->taking[i]->unknown.text, sizeof(taken->taking[i]->unknown.text),
                     "headroom blame measures it, or Blame \"always\" of the psi plugin");
    for (size_t i = 0; status == 0 && i < taken->count; i++)
        status = add_taken(taken, taken->names[i], numbers[i]);
    free(numbers);
    return status;
}

int shares_fetch_cpu_takers(struct client *client, const struct rooms *rooms,
                            struct shares *const *taking)
{
    struct taken taken = {.rooms = rooms, .taking = taking};

    int status = client_list(client, collect_taken, &taken);
    if (status == 0)
        status = fetch_taken(client, &taken);
    for (size_t i = 0; i < taken.count; i++)
        free(taken.names[i]);
    free(taken.names);
    return status;
}

/* --- From the rows ------------------------------------------------------------------ */

static bool is_within(const struct place *place, const char *above)
{
    return place->group != NULL && hr_cgroup_is_within(place->group->path, above);
}

static bool is_counted(const struct places *places, const char *above, size_t row)
{
    return is_within(&places->rows[row], above) && !places->rows[row].has_inner;
}

int shares_rank_memory(const struct rooms *rooms, const struct places *places, const char *above,
                       struct shares *taking)
{
    double sum = 0;
    int status = 0;

    for (size_t i = 0; i < rooms->count; i++)
        if (is_counted(places, above, i) && !isnan(rooms->rows[i].values[ROOM_NEED]))
            sum += rooms->rows[i].values[ROOM_NEED];
    for (size_t i = 0; i < rooms->count && sum > 0 && status == 0; i++) {
        const struct room_row *row = &rooms->rows[i];
        if (is_counted(places, above, i))
            status = add_row(taking, row, 100 * row->values[ROOM_NEED] / sum);
    }
    return status;
}

/* Who waits for a CPU by its own limit, or for itself, waits for nothing that others take. */
static bool is_for_others(const struct room_cause *cause)
{
    return strcmp(cause->resource, "cpu") != 0 ||
           (strcmp(cause->name, "limit") != 0 && strcmp(cause->name, "itself") != 0);
}

static double stalled_pct(const struct room_row *row, const char *resource)
{
    double sum = 0;

    for (size_t i = 0; i < row->cause_count; i++)
        if (strcmp(row->causes[i].resource, resource) == 0 && is_for_others(&row->causes[i]) &&
            !isnan(row->causes[i].pct))
            sum += row->causes[i].pct;
    return sum;
}

int shares_rank_waiting(const struct rooms *rooms, const struct places *places, const char *above,
                        const char *resource, size_t except, struct shares *waiting)
{
    int status = 0;

    for (size_t i = 0; i < rooms->count && status == 0; i++) {
        const struct room_row *row = &rooms->rows[i];
        if (i != except && is_counted(places, above, i))
            status = add_row(waiting, row, stalled_pct(row, resource));
    }
    return status;
}
