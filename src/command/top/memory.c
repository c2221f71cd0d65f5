/* SPDX-License-Identifier: MIT */
#include "top/memory.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/host.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/container.h"
#include "headroom/instance.h"
#include "headroom/limits.h"
#include "headroom/utf8.h"

/* Limits are changed by hand. */
#define LIMITS_EVERY_NS (10 * HR_NS_PER_S)

/* Descriptors: for the socket, the terminal and the like; and for a group, its directory here and
 * in the hierarchy of the memory controller. */
enum { OTHER_DESCRIPTORS = 64, DESCRIPTORS_OF_GROUP = 2 };

/* What is kept of a group. */
struct member {
    char name[HR_INSTANCE_SIZE];
    const struct hr_cgroup *group;
    struct hr_limits *limits; /* NULL: not shown yet, or not to be opened */
    uint64_t read_ns;         /* when the limit was read; 0: never */
    double limit;             /* NaN: none, or not known */
};

struct memory_reader {
    const struct hr_root *root;
    char *host;
    struct hr_cgroup_set *set;             /* NULL: not open */
    struct hr_container_names *containers; /* NULL: containers are named by their paths */
    bool by_perf_event;                    /* the set's hierarchy, where there is no cgroup2 */
    struct member **members;               /* by name, if they are sorted */
    size_t count, capacity;
    bool sorted;
};

/* --- Groups --------------------------------------------------------------- */

static void name_member(struct memory_reader *reader, struct member *member,
                        const struct hr_cgroup *group)
{
    const char *failed;
    char *name = NULL;

    if (reader->containers != NULL)
        (void)hr_container_name(reader->containers, group->path, &name, &failed);
    hr_instance_make(name != NULL ? name : group->path, group->path, false, member->name);
    free(name);
}

static void add_member(struct memory_reader *reader, struct hr_cgroup *group)
{
    if (HR_ARRAY_RESERVE(reader->members, reader->capacity, reader->count + 1) != 0)
        return;
    struct member *member = calloc(1, sizeof(*member));
    if (member == NULL)
        return;
    name_member(reader, member, group);
    member->group = group;
    member->limit = NAN;
    group->data = member;
    reader->members[reader->count++] = member;
}

static void remove_member(struct memory_reader *reader, struct hr_cgroup *group)
{
    struct member *member = group->data;
    for (size_t i = 0; i < reader->count; i++) {
        if (reader->members[i] == member)
            reader->members[i] = reader->members[--reader->count];
    }
    hr_limits_close(member->limits);
    free(member);
    group->data = NULL;
}

static void on_event(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    struct memory_reader *reader = context;
    reader->sorted = false;
    if (event == HR_CGROUP_POPULATED)
        add_member(reader, group);
    else if (event == HR_CGROUP_EMPTIED && group->data != NULL)
        remove_member(reader, group);
}

/* The groups that descriptors suffice for. */
static size_t most_groups(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur <= OTHER_DESCRIPTORS + DESCRIPTORS_OF_GROUP)
        return 1;
    return (size_t)(limit.rlim_cur - OTHER_DESCRIPTORS) / DESCRIPTORS_OF_GROUP;
}

static void open_set(struct memory_reader *reader)
{
    static const char *const all[] = {"**"};
    const struct hr_cgroup_options options = {
        .controller = reader->by_perf_event ? "perf_event" : NULL,
        .patterns = all,
        .pattern_count = 1,
        .max_count = most_groups(),
        .event = on_event,
        .context = reader,
    };
    hr_cgroup_set_open(reader->root, &options, &reader->set);
}

/* Without cgroup2 the rows are those of cgroup_perf. */
static void read_set(struct memory_reader *reader)
{
    for (int hierarchies = 0; hierarchies < 2; hierarchies++) {
        if (reader->set == NULL)
            open_set(reader);
        if (reader->set == NULL || hr_cgroup_set_read(reader->set) != -ENOENT)
            return;
        hr_cgroup_set_close(reader->set);
        reader->set = NULL;
        reader->by_perf_event = !reader->by_perf_event;
    }
}

int memory_open(const struct hr_root *root, const char *host, unsigned runtimes,
                struct memory_reader **reader)
{
    struct memory_reader *opened = calloc(1, sizeof(*opened));
    char *copied = strdup(host);
    if (opened == NULL || copied == NULL) {
        free(opened);
        free(copied);
        return -ENOMEM;
    }
    if (runtimes != 0 && hr_container_names_open(root, runtimes, &opened->containers) < 0)
        opened->containers = NULL;
    opened->root = root;
    opened->host = copied;
    *reader = opened;
    return 0;
}

void memory_close(struct memory_reader *reader)
{
    if (reader == NULL)
        return;
    hr_cgroup_set_close(reader->set);
    hr_container_names_close(reader->containers);
    free(reader->members);
    free(reader->host);
    free(reader);
}

/* --- A row ---------------------------------------------------------------- */

static int compare_members(const void *a, const void *b)
{
    return strcmp((*(struct member *const *)a)->name, (*(struct member *const *)b)->name);
}

/* A name that two groups would have is that of the first that collectd saw, whichever that is. */
static struct member *find_member(const struct memory_reader *reader, const char *name)
{
    struct member wanted, *key = &wanted;
    if (strlen(name) >= sizeof(wanted.name))
        return NULL;
    strcpy(wanted.name, name);
    struct member **found = reader->count == 0 ? NULL
                                               : bsearch(&key, reader->members, reader->count,
                                                         sizeof(*reader->members), compare_members);
    if (found == NULL)
        return NULL;
    size_t at = (size_t)(found - reader->members);
    bool twice = (at > 0 && compare_members(found - 1, found) == 0) ||
                 (at + 1 < reader->count && compare_members(found + 1, found) == 0);
    return twice ? NULL : *found;
}

static void read_limit(struct member *member)
{
    struct hr_limit limit;
    uint64_t now = hr_clock_ns();
    if (member->read_ns != 0 && now - member->read_ns < LIMITS_EVERY_NS)
        return;
    bool known = hr_limits_read(member->limits, &limit) == 0;
    member->limit = known && limit.value != HR_NO_LIMIT ? (double)limit.value : NAN;
    member->read_ns = now;
}

static void fill_row(struct memory_reader *reader, struct row *row)
{
    uint64_t bytes;
    struct member *member = find_member(reader, row->group);
    if (member == NULL)
        return;
    if (member->limits == NULL)
        hr_limits_open(reader->root, member->group, &member->limits);
    if (member->limits == NULL || hr_limits_read_usage(member->limits, &bytes) != 0)
        return;
    read_limit(member);
    row->values[column_find("memory_used_bytes")] = (double)bytes;
    row->values[column_find("memory_limit_bytes")] = member->limit;
}

void memory_fill(struct memory_reader *reader, struct table *table)
{
    read_set(reader);
    if (!reader->sorted && reader->count > 1)
        qsort(reader->members, reader->count, sizeof(*reader->members), compare_members);
    reader->sorted = true;
    for (size_t i = 0; i < table->count; i++) {
        if (host_is(table->rows[i].host, reader->host) && row_is_of_group(&table->rows[i]))
            fill_row(reader, &table->rows[i]);
    }
}

bool memory_is_of(const struct memory_reader *reader, const char *host)
{
    return host_is(host, reader->host);
}

/* Counts the groups that have a name, each "_" of which may be a slash, from a place in it on.
 * @param path  the name; has slashes before that place. @param found  receives the last one. */
static size_t count_named(const struct hr_root *root, char *path, char *from,
                          char found[HR_INSTANCE_SIZE])
{
    size_t count = 0;

    if (hr_cgroup_find(root, path) == 0) {
        snprintf(found, HR_INSTANCE_SIZE, "%s", path);
        count++;
    }
    for (char *at = from; (at = strchr(at, '_')) != NULL; at++) {
        *at = '\0';
        const bool is_there = at > from && at[1] != '\0' && hr_cgroup_find(root, path) == 0;
        *at = '/';
        if (is_there)
            count += count_named(root, path, at + 1, found);
        *at = '_';
    }
    return count;
}

static bool find_named(const struct hr_root *root, const char *instance,
                       char found[HR_INSTANCE_SIZE])
{
    char path[HR_INSTANCE_SIZE];

    snprintf(path, sizeof(path), "%s", instance);
    return path[0] != '\0' && count_named(root, path, path, found) == 1;
}

static bool has_processes(const struct memory_reader *reader, const char *path)
{
    for (size_t i = 0; i < reader->count; i++)
        if (strcmp(reader->members[i]->group->path, path) == 0)
            return true;
    return hr_cgroup_set_counts(reader->set).excess > 0;
}

enum group_state memory_find_state(const struct memory_reader *reader, const char *host,
                                   const char *instance, const char *path)
{
    char found[HR_INSTANCE_SIZE];

    if (reader->by_perf_event || reader->set == NULL || !host_is(host, reader->host))
        return GROUP_UNKNOWN;
    if (path[0] == '\0') {
        if (!find_named(reader->root, instance, found))
            return GROUP_UNKNOWN;
        path = found;
    }
    const int status = hr_cgroup_find(reader->root, path);
    if (status != 0)
        return status == -ENOENT ? GROUP_GONE : GROUP_UNKNOWN;
    return has_processes(reader, path) ? GROUP_THERE : GROUP_EMPTY;
}

const char *memory_find_path(const struct memory_reader *reader, const char *host,
                             const char *instance)
{
    const struct member *member =
        reader->sorted && host_is(host, reader->host) ? find_member(reader, instance) : NULL;
    return member != NULL ? member->group->path : NULL;
}

void memory_describe_groups(const struct memory_reader *reader, const struct table *table,
                            char *text, size_t size)
{
    bool is_here = false;
    for (size_t i = 0; i < table->count; i++)
        is_here |= host_is(table->rows[i].host, reader->host);
    text[0] = '\0';
    if (!is_here)
        return;
    hr_cgroup_describe_nearest(reader->root, reader->by_perf_event ? "perf_event" : NULL, "*", text,
                               size);
    hr_utf8_make_safe(text);
}
