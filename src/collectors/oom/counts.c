/* SPDX-License-Identifier: MIT */
#include "oom/counts.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/array.h"
#include "headroom/root.h"
#include "room/keyed.h"
#include "room/memory_limit.h"
#include "room/vmstat.h"

/* So often all counts are read, at most, until none changes meanwhile. */
#define ROUNDS 4

/* What the kernel says of a group. */
struct numbers {
    uint64_t kills;             /* in it and below it */
    uint64_t own_kills;         /* in it; 0 before Linux 5.2 */
    uint64_t own_out_of_memory; /* how often its limit left nothing */
};

/* A group, or at the top the machine. */
struct counted {
    char *path; /* first, see compare_paths() */
    struct counted *parent;
    LIST_HEAD(, counted) children;
    LIST_ENTRY(counted) sibling;
    unsigned users; /* hr_oom_counts_add(), and its children */
    int watch;      /* 0: none */
    uint64_t inode; /* of memory.events; 0: it has none */
    struct numbers base, now;
    uint64_t reported, own_reported; /* since base */
    uint64_t missing, own_missing;   /* not reported, while they are attributed */
};

struct hr_oom_counts {
    const struct hr_root *root;
    int mount; /* the memory controller's; -1: none */
    int version;
    int status; /* of /proc/vmstat */
    struct hr_inotify *inotify;
    struct counted *machine;
    void *by_path; /* tsearch(3) tree of struct counted */
};

/* --- The kernel's counts ------------------------------------------------------------ */

static uint64_t subtract(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

static int open_file(const struct hr_oom_counts *counts, const char *path, const char *name)
{
    char file[PATH_MAX + 32];

    if (counts->mount < 0)
        return -ENOENT;
    snprintf(file, sizeof(file), "%s%s%s", path, *path != '\0' ? "/" : "", name);
    int fd = openat(counts->mount, file, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int read_keys(int fd, struct hr_keyed *keys, size_t count)
{
    char text[1024];
    size_t length;

    int status = hr_text_read_and_close(fd, text, sizeof(text), &length);
    return status < 0 ? status : hr_keyed_parse_flat(text, length, keys, count);
}

/* A group that is made again has other files, whose counts begin at 0. Not inline: its buffers
 * would be those of each level of groups. */
__attribute__((noinline)) static void read_group(const struct hr_oom_counts *counts,
                                                 struct counted *group)
{
    struct hr_keyed all = {.name = "oom_kill"}, own[] = {{.name = "oom_kill"}, {.name = "oom"}};
    struct stat file;
    int fd = open_file(counts, group->path, "memory.events");

    if (fd < 0)
        return;
    const uint64_t inode = fstat(fd, &file) == 0 ? file.st_ino : 0;
    if (read_keys(fd, &all, 1) < 0)
        return;
    if (inode != group->inode)
        group->base = (struct numbers){0};
    group->inode = inode;
    read_keys(open_file(counts, group->path, "memory.events.local"), own, 2);
    group->now = (struct numbers){all.value, own[0].value, own[1].value};
}

static void find_missing(struct counted *group)
{
    group->missing = subtract(group->now.kills, group->base.kills + group->reported);
    group->own_missing =
        subtract(group->now.own_kills, group->base.own_kills + group->own_reported);
}

/* Without a count of the machine's, all that is known is that of the topmost groups. */
static uint64_t sum_topmost(const struct hr_oom_counts *counts)
{
    uint64_t missing = 0;
    struct counted *group;

    LIST_FOREACH(group, &counts->machine->children, sibling)
    {
        read_group(counts, group);
        find_missing(group);
        missing += group->missing;
    }
    return counts->machine->base.kills + counts->machine->reported + missing;
}

uint64_t hr_oom_counts_read_machine(struct hr_oom_counts *counts)
{
    uint64_t kills;

    counts->status = hr_vmstat_read_oom_kills(counts->root, &kills);
    counts->machine->now.kills = counts->status == 0 ? kills : sum_topmost(counts);
    find_missing(counts->machine);
    return counts->machine->missing;
}

uint64_t hr_oom_counts_total(const struct hr_oom_counts *counts)
{
    return counts->machine->now.kills;
}

static void read_below(const struct hr_oom_counts *counts, struct counted *group)
{
    struct counted *child;

    LIST_FOREACH(child, &group->children, sibling)
    {
        read_group(counts, child);
        find_missing(child);
        read_below(counts, child);
    }
}

/* What is counted meanwhile would be the machine's alone, or a group's alone. */
uint64_t hr_oom_counts_read(struct hr_oom_counts *counts)
{
    uint64_t before, missing = hr_oom_counts_read_machine(counts);
    unsigned round = 0;

    do {
        before = missing;
        read_below(counts, counts->machine);
        missing = hr_oom_counts_read_machine(counts);
    } while (missing != before && ++round < ROUNDS);
    return missing;
}

static void rebase_group(struct counted *group)
{
    struct counted *child;

    group->base = group->now;
    group->reported = group->own_reported = 0;
    LIST_FOREACH(child, &group->children, sibling)
    rebase_group(child);
}

static bool is_reported(const struct counted *group)
{
    const struct counted *child;

    if (group->now.kills > group->base.kills + group->reported)
        return false;
    LIST_FOREACH(child, &group->children, sibling)
    if (!is_reported(child))
        return false;
    return true;
}

bool hr_oom_counts_rebase(struct hr_oom_counts *counts, bool is_forced)
{
    if (!is_forced && !is_reported(counts->machine))
        return false;
    rebase_group(counts->machine);
    return true;
}

/* --- Attributing --------------------------------------------------------------------- */

struct list {
    struct hr_oom_place *places;
    size_t count, capacity;
    int status;
};

static void add_place(struct list *list, const struct counted *group, bool is_exact, uint64_t count)
{
    if (count == 0 || list->status < 0)
        return;
    list->status = HR_ARRAY_RESERVE(list->places, list->capacity, list->count + 1);
    if (list->status == 0)
        list->places[list->count++] = (struct hr_oom_place){group->path, is_exact, count};
}

/* The number of kills whose group is known. */
static uint64_t sum_known(const struct counted *group)
{
    const struct counted *child;
    uint64_t sum = group->own_missing;

    LIST_FOREACH(child, &group->children, sibling)
    sum += child->missing;
    return sum;
}

/* Of too many, some were reported for a group above only: which isn't known. */
static void attribute_kills(const struct counted *group, uint64_t count, struct list *list)
{
    const uint64_t known = sum_known(group);
    const struct counted *child;

    if (known > count) {
        add_place(list, group, false, count);
        return;
    }
    LIST_FOREACH(child, &group->children, sibling)
    attribute_kills(child, child->missing, list);
    add_place(list, group, true, group->own_missing);
    add_place(list, group, false, count - known);
}

int hr_oom_counts_attribute(const struct hr_oom_counts *counts, uint64_t most,
                            struct hr_oom_place **places, size_t *count)
{
    struct list list = {.status = 0};

    attribute_kills(counts->machine,
                    counts->machine->missing < most ? counts->machine->missing : most, &list);
    if (list.status < 0) {
        free(list.places);
        return list.status;
    }
    *places = list.places;
    *count = list.count;
    return 0;
}

/* --- Groups --------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct counted *find_group(const struct hr_oom_counts *counts, const char *path)
{
    struct counted **found = tfind(&path, &counts->by_path, compare_paths);

    return found != NULL ? *found : NULL;
}

static void watch_group(struct hr_oom_counts *counts, struct counted *group)
{
    char file[PATH_MAX];

    if (counts->inotify == NULL || group->parent != counts->machine || group->watch > 0)
        return;
    snprintf(file, sizeof(file), "%s/memory.events", group->path);
    const int added = hr_inotify_add_watch(counts->inotify, counts->mount, file, IN_MODIFY);
    group->watch = added > 0 ? added : 0;
}

void hr_oom_counts_watch(struct hr_oom_counts *counts, struct hr_inotify *inotify)
{
    struct counted *group;

    counts->inotify = inotify;
    LIST_FOREACH(group, &counts->machine->children, sibling)
    watch_group(counts, group);
}

static void release_group(struct hr_oom_counts *counts, struct counted *group)
{
    struct counted *parent = group->parent;

    if (--group->users > 0)
        return;
    if (group->watch > 0)
        hr_inotify_remove_watch(counts->inotify, group->watch);
    tdelete(group, &counts->by_path, compare_paths);
    if (parent != NULL) {
        LIST_REMOVE(group, sibling);
        release_group(counts, parent);
    }
    free(group->path);
    free(group);
}

static struct counted *create_group(struct hr_oom_counts *counts, const char *path,
                                    struct counted *parent)
{
    struct counted *group = calloc(1, sizeof(*group));
    char *copy = strdup(path);

    if (group == NULL || copy == NULL) {
        free(group);
        free(copy);
        return NULL;
    }
    group->path = copy;
    if (tsearch(group, &counts->by_path, compare_paths) == NULL) {
        free(group);
        free(copy);
        return NULL;
    }
    group->parent = parent;
    if (parent == NULL)
        return group;
    LIST_INSERT_HEAD(&parent->children, group, sibling);
    parent->users++;
    read_group(counts, group);
    group->base = group->now;
    watch_group(counts, group);
    return group;
}

/* @param path  is cut meanwhile: with a copy at each level deep groups would exhaust the stack.
 * @return the group, counted from now on, with one more user; NULL if memory is short. */
static struct counted *get_group(struct hr_oom_counts *counts, char *path)
{
    struct counted *group = find_group(counts, path), *parent;

    if (group == NULL) {
        char *end = strrchr(path, '/');
        if (end == NULL)
            end = path; /* the machine's is always found */
        const char kept = *end;
        *end = '\0';
        parent = get_group(counts, path);
        *end = kept;
        if (parent == NULL)
            return NULL;
        group = create_group(counts, path, parent);
        release_group(counts, parent); /* the child has it */
    }
    if (group != NULL)
        group->users++;
    return group;
}

int hr_oom_counts_add(struct hr_oom_counts *counts, const char *path)
{
    char copy[PATH_MAX];

    if (strlen(path) >= sizeof(copy))
        return 0; /* it can't be opened */
    strcpy(copy, path);
    return get_group(counts, copy) != NULL ? 0 : -ENOMEM;
}

void hr_oom_counts_remove(struct hr_oom_counts *counts, const char *path)
{
    struct counted *group = find_group(counts, path);

    if (group != NULL)
        release_group(counts, group);
}

/* --- Kills --------------------------------------------------------------------------- */

/* The nearest counted group: that of the path, or one above. */
static struct counted *find_nearest(const struct hr_oom_counts *counts, const char *path)
{
    char above[PATH_MAX];
    struct counted *group;

    snprintf(above, sizeof(above), "%s", path);
    while ((group = find_group(counts, above)) == NULL) {
        char *slash = strrchr(above, '/');
        *(slash != NULL ? slash : above) = '\0';
    }
    return group;
}

void hr_oom_counts_mark_reported(struct hr_oom_counts *counts, const char *path, bool is_exact)
{
    struct counted *group = find_nearest(counts, path);

    if (is_exact && strcmp(group->path, path) == 0)
        group->own_reported++;
    for (; group != NULL; group = group->parent)
        group->reported++;
}

size_t hr_oom_counts_find_limit(const struct hr_oom_counts *counts, const char *path,
                                const char **limit)
{
    size_t count = 0;

    *limit = NULL;
    for (const struct counted *group = find_nearest(counts, path); group != NULL;
         group = group->parent)
        if (group->now.own_out_of_memory > group->base.own_out_of_memory)
            *limit = ++count == 1 ? group->path : NULL;
    return count;
}

uint64_t hr_oom_counts_read_limit(const struct hr_oom_counts *counts, const char *path)
{
    const char *name = counts->version == 1 ? "memory.limit_in_bytes" : "memory.max";
    char text[64];
    size_t length;
    uint64_t bytes;

    if (hr_text_read_and_close(open_file(counts, path, name), text, sizeof(text), &length) < 0 ||
        hr_memory_limit_parse(text, length, &bytes) < 0)
        return UINT64_MAX;
    return bytes;
}

/* --- Opening and closing -------------------------------------------------------------- */

int hr_oom_counts_status(const struct hr_oom_counts *counts)
{
    return counts->status;
}

int hr_oom_counts_version(const struct hr_oom_counts *counts)
{
    return counts->version;
}

int hr_oom_counts_open(const struct hr_root *root, struct hr_oom_counts **counts)
{
    struct hr_oom_counts *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->root = root;
    opened->machine = create_group(opened, "", NULL);
    if (opened->machine == NULL) {
        free(opened);
        return -ENOMEM;
    }
    opened->machine->users = 1;
    opened->mount = hr_root_open_cgroup(root, "memory", &opened->version);
    if (opened->mount < 0)
        opened->version = 0;
    hr_oom_counts_read_machine(opened);
    opened->machine->base = opened->machine->now;
    *counts = opened;
    return 0;
}

static void free_below(struct counted *group)
{
    struct counted *child;

    while ((child = LIST_FIRST(&group->children)) != NULL) {
        LIST_REMOVE(child, sibling);
        free_below(child);
        free(child->path);
        free(child);
    }
}

static void free_nothing(__attribute__((unused)) void *node)
{
}

void hr_oom_counts_close(struct hr_oom_counts *counts)
{
    if (counts == NULL)
        return;
    tdestroy(counts->by_path, free_nothing);
    free_below(counts->machine);
    free(counts->machine->path);
    free(counts->machine);
    if (counts->mount >= 0)
        close(counts->mount);
    free(counts);
}
