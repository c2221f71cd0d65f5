/* SPDX-License-Identifier: MIT */
#include "report/rooms.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/client.h"
#include "common/group.h"
#include "common/identifier.h"
#include "headroom/array.h"
#include "headroom/utf8.h"
#include "report/briefs.h"
#include "report/working_set.h"

#define BY "-by-"

/* --- Series ------------------------------------------------------------------- */

static const struct {
    const char *type, *type_instance;
} series_of[ROOM_VALUE_COUNT] = {
    [ROOM_LEAST] = {"percent", "room"},
    [ROOM_CPU] = {"percent", "room-cpu"},
    [ROOM_MEMORY] = {"percent", "room-memory"},
    [ROOM_IO] = {"percent", "room-io"},
    [ROOM_CPUS_LEFT] = {"vcpu", "room"},
    [ROOM_BYTES_LEFT] = {"memory", "room"},
    [ROOM_NEED] = {"memory", "need"},
    [ROOM_LIMIT] = {"memory", "limit"},
    [ROOM_TROUBLE] = {"duration", "to_trouble"},
};

/* @return ROOM_VALUE_COUNT: it is none of these. */
static enum room_value value_of(const struct identifier *parts)
{
    int i = 0;

    while (i < ROOM_VALUE_COUNT && !(piece_is(&parts->type, series_of[i].type) &&
                                     piece_is(&parts->type_instance, series_of[i].type_instance)))
        i++;
    return (enum room_value)i;
}

/* Where "-by-" is in the type instance of a cause; NULL: it is none. */
static const char *find_by(const struct identifier *parts)
{
    if (!piece_is(&parts->type, "percent") || parts->type_instance.length == 0)
        return NULL;
    return memmem(parts->type_instance.start, parts->type_instance.length, BY, strlen(BY));
}

struct names {
    char **list;
    size_t count, capacity;
};

/* Series that are shown; of psi how idle the CPUs of each host are, and for how much of the time
 * all of a group waits for them, and one of each group; and of wss the windows, and one of what are
 * processes. */
struct found {
    struct names shown, of_cpus, of_psi, windows, processes;
};

static int append_name(struct names *names, const char *text)
{
    if (HR_ARRAY_RESERVE(names->list, names->capacity, names->count + 1) != 0)
        return -ENOMEM;
    names->list[names->count] = strdup(text);
    return names->list[names->count++] != NULL ? 0 : -ENOMEM;
}

static int collect_value(void *context, const char *text)
{
    struct found *found = context;
    struct identifier parts;

    if (identifier_parse(text, &parts) != 0 || parts.instance.length == 0)
        return 0;
    if (piece_is(&parts.plugin, "psi") && piece_is(&parts.type, "percent") &&
        piece_is(&parts.type_instance, "cpu-some"))
        return append_name(&found->of_psi, text);
    if (piece_is(&parts.plugin, "psi") && piece_is(&parts.type, "percent") &&
        (piece_is(&parts.type_instance, "cpu-idle") || piece_is(&parts.type_instance, "cpu-full")))
        return append_name(&found->of_cpus, text);
    if (working_set_window(&parts) != NULL)
        return append_name(&found->windows, text);
    if (working_set_is_of_processes(&parts))
        return append_name(&found->processes, text);
    if (!piece_is(&parts.plugin, "headroom") ||
        (value_of(&parts) == ROOM_VALUE_COUNT && find_by(&parts) == NULL))
        return 0;
    return append_name(&found->shown, text);
}

static int compare_names(const void *a, const void *b)
{
    struct identifier left, right;

    identifier_parse(*(char *const *)a, &left);
    identifier_parse(*(char *const *)b, &right);
    int order = compare_pieces(&left.host, &right.host);
    return order != 0 ? order : compare_pieces(&left.instance, &right.instance);
}

/* --- Rows ----------------------------------------------------------------------- */

static int add_row(struct rooms *rooms, const struct identifier *parts)
{
    if (HR_ARRAY_RESERVE(rooms->rows, rooms->capacity, rooms->count + 1) != 0)
        return -ENOMEM;
    struct room_row *row = &rooms->rows[rooms->count++];
    *row = (struct room_row){
        .host = strndup(parts->host.start, parts->host.length),
        .group = strndup(parts->instance.start, parts->instance.length),
        .idle_pct = NAN,
        .cpu_full_pct = NAN,
    };
    for (int i = 0; i < ROOM_VALUE_COUNT; i++)
        row->values[i] = NAN;
    if (row->host == NULL || row->group == NULL)
        return -ENOMEM;
    rooms->several_hosts |= strcmp(row->host, rooms->rows[0].host) != 0;
    return 0;
}

static int add_cause(struct room_row *row, const struct identifier *parts, double pct)
{
    const char *by = find_by(parts), *name = by + strlen(BY);
    const struct piece *both = &parts->type_instance;

    if (HR_ARRAY_RESERVE(row->causes, row->cause_capacity, row->cause_count + 1) != 0)
        return -ENOMEM;
    size_t at = row->cause_count++;
    for (; at > 0 && !(row->causes[at - 1].pct >= pct) && !isnan(pct); at--)
        row->causes[at] = row->causes[at - 1];
    struct room_cause *cause = &row->causes[at];
    *cause = (struct room_cause){
        .resource = strndup(both->start, (size_t)(by - both->start)),
        .name = strndup(name, both->length - (size_t)(name - both->start)),
        .pct = pct,
    };
    return cause->resource != NULL && cause->name != NULL ? 0 : -ENOMEM;
}

static int add_value(struct rooms *rooms, const char *text, double number)
{
    struct identifier parts;

    identifier_parse(text, &parts);
    const struct room_row *last = rooms->count > 0 ? &rooms->rows[rooms->count - 1] : NULL;
    if (last == NULL || !piece_is(&parts.host, last->host) ||
        !piece_is(&parts.instance, last->group)) {
        int status = add_row(rooms, &parts);
        if (status < 0)
            return status;
    }
    struct room_row *row = &rooms->rows[rooms->count - 1];
    const enum room_value value = value_of(&parts);
    if (value == ROOM_VALUE_COUNT)
        return add_cause(row, &parts, number);
    row->values[value] = number;
    return 0;
}

static int compare_with_row(const void *key, const void *element)
{
    const struct identifier *parts = key;
    const struct room_row *row = element;
    const struct piece host = {row->host, strlen(row->host)},
                       group = {row->group, strlen(row->group)};
    int order = compare_pieces(&parts->host, &host);

    return order != 0 ? order : compare_pieces(&parts->instance, &group);
}

/* The row of a series' group; NULL: there is none. Rows are in the order of compare_names(). */
static struct room_row *find_row(const struct rooms *rooms, const struct identifier *parts)
{
    return rooms->count == 0
               ? NULL
               : bsearch(parts, rooms->rows, rooms->count, sizeof(*rooms->rows), compare_with_row);
}

static int add_of_cpus(struct rooms *rooms, const char *text, double number)
{
    struct identifier parts;

    identifier_parse(text, &parts);
    struct room_row *row = find_row(rooms, &parts);
    if (row == NULL)
        return 0;
    if (piece_is(&parts.type_instance, "cpu-idle"))
        row->idle_pct = number;
    else
        row->cpu_full_pct = number;
    return 0;
}

static int add_window(struct rooms *rooms, const char *text, double bytes)
{
    struct identifier parts;

    identifier_parse(text, &parts);
    struct room_row *row = find_row(rooms, &parts);
    if (row == NULL)
        return 0;
    hr_room_working_set_add(&row->working_set, working_set_window(&parts), bytes);
    row->has_profile = row->working_set.count > 0;
    return 0;
}

/* Of processes, the working sets aren't those of a group of the same name. */
static void leave_out_processes(const struct names *processes, const struct rooms *rooms)
{
    struct identifier parts;

    for (size_t i = 0; i < processes->count; i++) {
        identifier_parse(processes->list[i], &parts);
        struct room_row *row = find_row(rooms, &parts);
        if (row == NULL)
            continue;
        row->working_set.count = 0;
        row->has_profile = false;
    }
}

static int fetch_values(struct client *client, const struct names *names, struct rooms *rooms,
                        int (*add)(struct rooms *rooms, const char *text, double number))
{
    double *numbers = calloc(names->count + 1, sizeof(*numbers));
    int status = numbers == NULL
                     ? -ENOMEM
                     : client_get(client, (const char *const *)names->list, numbers, names->count);

    for (size_t i = 0; status == 0 && i < names->count; i++)
        status = add(rooms, names->list[i], numbers[i]);
    free(numbers);
    return status;
}

/* Whether a host has rows, and none of them is the group's. */
static bool lacks_row(const struct rooms *rooms, const char *series)
{
    struct identifier parts;
    bool has_host = false;

    identifier_parse(series, &parts);
    for (size_t i = 0; i < rooms->count; i++)
        has_host |= piece_is(&parts.host, rooms->rows[i].host);
    return has_host && find_row(rooms, &parts) == NULL;
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

static void free_found(struct found *found)
{
    free_names(&found->shown);
    free_names(&found->of_cpus);
    free_names(&found->of_psi);
    free_names(&found->windows);
    free_names(&found->processes);
}

int rooms_fetch(struct client *client, struct rooms *rooms)
{
    struct found found = {.shown = {.list = NULL}};
    struct names *names = &found.shown;
    struct rooms fetched = {.time = (double)time(NULL)};

    int status = client_list(client, collect_value, &found);
    if (status == 0 && names->count > 1)
        qsort(names->list, names->count, sizeof(*names->list), compare_names);
    if (status == 0)
        status = fetch_values(client, names, &fetched, add_value);
    if (status == 0)
        status = fetch_values(client, &found.of_cpus, &fetched, add_of_cpus);
    if (status == 0)
        status = fetch_values(client, &found.windows, &fetched, add_window);
    leave_out_processes(&found.processes, &fetched);
    for (size_t i = 0; status == 0 && i < found.of_psi.count; i++)
        fetched.without_count += lacks_row(&fetched, found.of_psi.list[i]);
    free_found(&found);
    if (status != 0)
        rooms_free(&fetched);
    else
        *rooms = fetched;
    return status;
}

static void free_row(struct room_row *row)
{
    for (size_t i = 0; i < row->cause_count; i++) {
        free(row->causes[i].resource);
        free(row->causes[i].name);
    }
    free(row->causes);
    briefs_free(row);
    free(row->host);
    free(row->group);
    free(row->short_group);
}

void rooms_free(struct rooms *rooms)
{
    for (size_t i = 0; i < rooms->count; i++)
        free_row(&rooms->rows[i]);
    free(rooms->rows);
    *rooms = (struct rooms){.rows = NULL};
}

static bool row_is_empty(const struct room_row *row)
{
    for (int i = 0; i < ROOM_VALUE_COUNT; i++)
        if (!isnan(row->values[i]))
            return false;
    for (size_t i = 0; i < row->cause_count; i++)
        if (!isnan(row->causes[i].pct))
            return false;
    return true;
}

bool rooms_are_empty(const struct rooms *rooms)
{
    for (size_t i = 0; i < rooms->count; i++)
        if (!row_is_empty(&rooms->rows[i]))
            return false;
    return true;
}

/* --- Names ------------------------------------------------------------------------ */

const char *room_name(const struct room_row *row)
{
    return row->short_group != NULL ? row->short_group : row->group;
}

bool room_is_system(const char *group)
{
    return strcmp(group, "system") == 0;
}

/* --- Choosing and sorting ---------------------------------------------------------- */

/* @return the groups of all rows, for free(); NULL: memory is short. */
static const char **list_groups(const struct rooms *rooms)
{
    const char **groups = calloc(rooms->count + 1, sizeof(*groups));

    for (size_t i = 0; groups != NULL && i < rooms->count; i++)
        groups[i] = rooms->rows[i].group;
    return groups;
}

int rooms_choose(const struct rooms *rooms, char *const *wanted, size_t count,
                 struct group_patterns *meant, const char **missing)
{
    const char **groups = list_groups(rooms);
    int status = groups != NULL ? 0 : -ENOMEM;

    *meant = (struct group_patterns){.list = NULL};
    for (size_t i = 0; status == 0 && i < count; i++) {
        *missing = wanted[i];
        status = group_choose(wanted[i], groups, rooms->count, NAME_INSTANCE, meant);
    }
    free(groups);
    return status;
}

static bool is_any_meant(const struct group_patterns *meant, const char *group)
{
    for (size_t i = 0; i < meant->count; i++)
        if (strcmp(meant->list[i], group) == 0)
            return true;
    return false;
}

bool room_is_meant(const struct room_row *row, const struct group_patterns *meant)
{
    return meant->count == 0 || is_any_meant(meant, row->group);
}

void rooms_keep(struct rooms *rooms, const struct group_patterns *meant)
{
    size_t kept = 0;

    if (meant->count == 0)
        return;
    for (size_t i = 0; i < rooms->count; i++)
        if (is_any_meant(meant, rooms->rows[i].group))
            rooms->rows[kept++] = rooms->rows[i];
        else
            free_row(&rooms->rows[i]);
    rooms->count = kept;
    rooms->without_count = 0;
}

size_t rooms_find_only(const struct rooms *rooms, const struct group_patterns *meant)
{
    size_t found = rooms->count;

    for (size_t i = 0; i < rooms->count; i++) {
        if (!is_any_meant(meant, rooms->rows[i].group))
            continue;
        if (found < rooms->count)
            return rooms->count;
        found = i;
    }
    return found;
}

void rooms_describe(const struct rooms *rooms, char *text, size_t size)
{
    const char **groups = list_groups(rooms);

    group_describe_list(groups, groups != NULL ? rooms->count : 0, text, size);
    free(groups);
}

bool room_waits_for_cpu(const struct room_row *row)
{
    double sum = 0;

    for (size_t i = 0; i < row->cause_count; i++)
        if (strcmp(row->causes[i].resource, "cpu") == 0 && !isnan(row->causes[i].pct))
            sum += row->causes[i].pct;
    return isnan(row->values[ROOM_LEAST]) && isnan(row->values[ROOM_CPU]) &&
           sum >= WORTH_NAMING_PCT;
}

static int compare_values(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0);
    return (a > b) - (a < b);
}

/* What isn't known while a CPU is waited for is least, but for what is known to be none: as the
 * CPUs get busier, the room of who waits for them goes to none. */
static double value_to_sort(const struct room_row *row, enum room_value by)
{
    const bool is_by_cpu = by == ROOM_LEAST || by == ROOM_CPU;

    return is_by_cpu && room_waits_for_cpu(row) ? DBL_MIN : row->values[by];
}

bool room_cause_is_known(const struct room_cause *cause)
{
    return strcmp(cause->name, "unknown") != 0;
}

/* Whether it is known, and not the group itself: others, or a limit. */
static bool is_of_others(const struct room_cause *cause)
{
    return room_cause_is_known(cause) && strcmp(cause->name, "itself") != 0 && !isnan(cause->pct);
}

bool room_has_trouble_to_come(const struct room_row *row)
{
    return row->values[ROOM_TROUBLE] > 0 && row->values[ROOM_TROUBLE] < 86400;
}

double room_waited_pct(const struct room_row *row)
{
    double sum = 0;

    for (size_t i = 0; i < row->cause_count; i++)
        if (is_of_others(&row->causes[i]))
            sum += row->causes[i].pct;
    return round(sum);
}

/* Of a stall that has just begun the causes aren't known yet: all tasks of who takes a CPU rarely
 * wait at once. */
static double full_pct(const struct room_row *row)
{
    return isnan(row->cpu_full_pct) ? 0 : round(row->cpu_full_pct);
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct room_row *a = left, *b = right;
    const enum room_value by = *(const enum room_value *)context;
    int order = compare_values(value_to_sort(a, by), value_to_sort(b, by));

    if (order == 0)
        order = compare_values(room_waited_pct(b), room_waited_pct(a));
    if (order == 0)
        order = compare_values(full_pct(b), full_pct(a));
    if (order == 0)
        order = compare_values(a->values[ROOM_TROUBLE], b->values[ROOM_TROUBLE]);
    if (order == 0)
        order = strcmp(a->group, b->group);
    return order != 0 ? order : strcmp(a->host, b->host);
}

void rooms_sort(struct rooms *rooms, enum room_value by)
{
    if (rooms->count > 1)
        qsort_r(rooms->rows, rooms->count, sizeof(*rooms->rows), compare_rows, &by);
}

static const char *const binding_names[ROOM_VALUE_COUNT] = {
    [ROOM_CPU] = "cpu",
    [ROOM_MEMORY] = "memory",
    [ROOM_IO] = "io",
};

enum room_value rooms_binding(const struct room_row *row)
{
    enum room_value least = ROOM_VALUE_COUNT;

    if (isnan(row->values[ROOM_LEAST]))
        return room_waits_for_cpu(row) ? ROOM_CPU : ROOM_VALUE_COUNT;
    for (int i = ROOM_CPU; i <= ROOM_IO; i++)
        if (!isnan(row->values[i]) &&
            (least == ROOM_VALUE_COUNT || row->values[i] < row->values[least]))
            least = (enum room_value)i;
    return least;
}

void rooms_binding_names(const struct room_row *row, char names[ROOM_NAMES_SIZE])
{
    const enum room_value by = rooms_binding(row);
    size_t used = 0;

    names[0] = '\0';
    for (int i = ROOM_CPU; by != ROOM_VALUE_COUNT && i <= ROOM_IO; i++)
        if (i == (int)by || row->values[i] == row->values[by])
            used += (size_t)snprintf(names + used, ROOM_NAMES_SIZE - used, "%s%s",
                                     used > 0 ? ", " : "", binding_names[i]);
}

const char *rooms_binding_name(const struct room_row *row)
{
    const enum room_value by = rooms_binding(row);

    return by == ROOM_VALUE_COUNT ? NULL : binding_names[by];
}
