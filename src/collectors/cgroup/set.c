/* SPDX-License-Identifier: MIT */
#include "headroom/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "cgroup/populated.h"
#include "headroom/clock.h"
#include "headroom/root.h"

#define DEFAULT_RESCAN_NS (300 * HR_NS_PER_S)
#define LEAST_MAX_EMPTY   10000

/* --- Patterns ------------------------------------------------------------- */

int hr_cgroup_pattern_check(const char *pattern, size_t *wildcards, const char **reason)
{
    struct hr_glob *glob;
    const char *fault = NULL;

    int status = hr_glob_compile(pattern, &glob, &fault);
    if (status < 0) {
        if (reason != NULL && fault != NULL)
            *reason = fault;
        return status;
    }
    if (wildcards != NULL)
        *wildcards = hr_glob_wildcards(glob);
    hr_glob_free(glob);
    return 0;
}

/* --- Nodes ---------------------------------------------------------------- */

/* Removes a node and all below it. */
static void remove_node(struct hr_node *node)
{
    while (!LIST_EMPTY(&node->children))
        remove_node(LIST_FIRST(&node->children));
    if (node->selected)
        hr_populated_deselect(node);
    hr_node_free(node);
}

static bool has_processes(const struct hr_node *node)
{
    return node->group.populated || node->group.excess || node->group.young;
}

/* Directories that are followed, but whose groups have no processes. */
static size_t count_idle(const struct hr_cgroup_set *set)
{
    const struct hr_cgroup_counts *counts = &set->counts;

    return set->node_count - 1 - counts->populated - counts->excess - counts->young;
}

static bool has_too_many_idle(const struct hr_cgroup_set *set)
{
    return set->options.max_empty > 0 && count_idle(set) > set->options.max_empty;
}

/* Its parent is listed again after a while. */
static void stop_following(struct hr_node *node)
{
    node->parent->unfollowed_count++;
    node->set->counts.unfollowed++;
    hr_node_back_off(node->parent, BACK_OFF_LISTING, 0);
    remove_node(node);
}

/* Beyond max_empty only what has a process in it or below it is worth following. */
static bool is_worth_following(const struct hr_node *node, int dirfd)
{
    bool populated = false;

    return !has_too_many_idle(node->set) ||
           (dirfd >= 0 && hr_populated_read(dirfd, &populated) == 0 && populated);
}

static void update_populated(struct hr_node *node, int dirfd, int *spare)
{
    bool populated;
    int status = hr_populated_read(dirfd, &populated);

    if (status < 0) /* unknown, so it stays as it was */
        hr_node_back_off(node, BACK_OFF_EVENTS, status);
    else
        hr_populated_set(node, populated, spare);
}

/* Opens, watches and, if a pattern selects it, selects a new node. */
static void follow_node(struct hr_node *node, bool selected)
{
    int dirfd = hr_node_open(node);

    if (dirfd == -ENODEV) {
        remove_node(node); /* its directory is gone again */
        return;
    }
    if (!is_worth_following(node, dirfd)) {
        stop_following(node);
        hr_descriptor_close(&dirfd);
        return;
    }
    if (selected)
        hr_populated_select(node);
    if (dirfd < 0) {
        hr_node_back_off(node, BACK_OFF_ALL, dirfd);
        return;
    }
    hr_node_add_watches(node, dirfd);
    if (node->has_below)
        hr_node_queue_listing(node);
    if (selected)
        update_populated(node, dirfd, &dirfd);
    hr_descriptor_close(&dirfd);
}

/* --- Listings ------------------------------------------------------------- */

static void remove_unseen_children(struct hr_node *parent)
{
    struct hr_node *child = LIST_FIRST(&parent->children);

    while (child != NULL) {
        struct hr_node *next = LIST_NEXT(child, sibling);
        if (!child->seen)
            remove_node(child);
        child = next;
    }
}

/* @param first  the first pattern that matches; others may, too. */
static void mark_matched(struct hr_cgroup_set *set, const char *path, size_t first)
{
    for (size_t i = first; i < set->patterns.count; i++)
        if (!set->matched[i])
            set->matched[i] = i == first || hr_glob_match(set->patterns.list[i], path);
}

static int add_child(struct hr_node *parent, const struct hr_scan_entry *entry)
{
    struct hr_cgroup_set *set = parent->set;
    struct hr_node *former = hr_node_find(set, entry->id);

    /* A directory has one path only: the one that had this inode number elsewhere is gone. */
    if (former == set->top)
        return 0;
    if (former != NULL)
        remove_node(former);
    struct hr_node *node = hr_node_new(set, parent, entry->name, entry->id);
    if (node == NULL)
        return -ENOMEM;

    const char *path = node->group.path;
    node->group.pattern = hr_globs_find(&set->patterns, path);
    node->has_below = hr_globs_match_below(&set->patterns, path);
    mark_matched(set, path, node->group.pattern);
    bool selected = node->group.pattern < set->patterns.count &&
                    hr_globs_find(&set->excludes, path) == set->excludes.count;
    if (selected || node->has_below)
        follow_node(node, selected);
    else
        remove_node(node);
    return 0;
}

/* Adds and removes children according to the listing of a directory. */
static int update_children(struct hr_node *parent, const struct hr_scan *scan)
{
    struct hr_node *child;

    LIST_FOREACH(child, &parent->children, sibling)
    child->seen = false;
    for (size_t i = 0; i < scan->count; i++) {
        child = hr_node_find_child(parent, &scan->entries[i]);
        if (child != NULL)
            child->seen = true;
    }
    remove_unseen_children(parent);
    parent->set->counts.unfollowed -= parent->unfollowed_count;
    parent->unfollowed_count = 0;
    for (size_t i = 0; i < scan->count; i++) {
        if (hr_node_find_child(parent, &scan->entries[i]) != NULL)
            continue;
        int status = add_child(parent, &scan->entries[i]);
        if (status < 0)
            return status;
    }
    parent->was_listed = true;
    return 0;
}

static bool is_known_leaf(const struct hr_node *node)
{
    struct stat status;

    /* A directory without a watch must be listed after the watch is added, not before. */
    return node->directory.descriptor != 0 && LIST_EMPTY(&node->children) &&
           node->unfollowed_count == 0 && node->parent != NULL &&
           fstatat(node->set->mount, node->group.path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           status.st_ino == node->group.id && status.st_nlink == 2;
}

/* Watched first, so that no change after the listing is missed. */
static int read_subdirectories(struct hr_node *node, int dirfd)
{
    hr_node_add_watches(node, dirfd);
    return hr_scan_read(dirfd, &node->set->scan);
}

static int list_node(struct hr_node *node)
{
    struct hr_cgroup_set *set = node->set;

    if (is_known_leaf(node)) {
        node->was_listed = true;
        return 0;
    }
    int fd = hr_node_open(node);
    int status = fd < 0 ? fd : read_subdirectories(node, fd);
    hr_descriptor_close(&fd);
    if (status == -ENODEV && node != set->top) {
        remove_node(node);
        return 0;
    }
    return status < 0 ? status : update_children(node, &set->scan);
}

/* Lists the queued directories, and those queued meanwhile. A directory that can't be listed keeps
 * its known children. */
static int list_queued(struct hr_cgroup_set *set)
{
    int result = 0;

    while (!TAILQ_EMPTY(&set->listings)) {
        struct hr_node *node = TAILQ_FIRST(&set->listings);
        hr_node_unqueue_listing(node);
        int status = list_node(node);
        if (status < 0)
            hr_node_back_off(node, BACK_OFF_LISTING, status);
        if (status == -ENOMEM)
            result = status;
    }
    return set->top->error != 0 ? set->top->error : result;
}

/* --- Updates --------------------------------------------------------------- */

static void update_node(struct hr_node *node)
{
    int opened = node->group.dirfd < 0 ? hr_node_open(node) : -1;
    int dirfd = node->group.dirfd < 0 ? opened : node->group.dirfd;

    if (dirfd >= 0) {
        hr_node_add_watches(node, dirfd);
        update_populated(node, dirfd, &opened);
    } else if (dirfd == -ENODEV) {
        hr_populated_set(node, false, &opened);
    } else {
        hr_node_back_off(node, BACK_OFF_ALL, dirfd);
    }
    hr_descriptor_close(&opened);
    if (!has_processes(node) && has_too_many_idle(node->set))
        stop_following(node);
}

static void update_queued_nodes(struct hr_cgroup_set *set)
{
    while (!TAILQ_EMPTY(&set->events)) {
        struct hr_node *node = TAILQ_FIRST(&set->events);
        hr_node_unqueue_events(node);
        update_node(node);
    }
    hr_populated_promote(set);
}

/* Queues all nodes, or only those that inotify doesn't cover. */
static void queue_nodes(struct hr_cgroup_set *set, bool only_unwatched)
{
    struct hr_node *node;

    LIST_FOREACH(node, &set->nodes, any)
    {
        if (only_unwatched && node->watches_missing == 0)
            continue;
        if (node->has_below)
            hr_node_queue_listing(node);
        if (node->selected)
            hr_node_queue_events(node);
    }
}

static void open_inotify(struct hr_cgroup_set *set)
{
    if (set->inotify != NULL || set->options.once)
        return;
    int status = hr_inotify_open(&set->inotify);
    if (status < 0)
        set->counts.watch_error = status;
}

/* Starts at the top of a hierarchy. @param mount  its directory, taken over. */
static int start_at_mount(struct hr_cgroup_set *set, int mount)
{
    struct stat status;

    if (fstat(mount, &status) < 0) {
        int error = -errno;
        close(mount);
        return error;
    }
    set->mount = mount;
    open_inotify(set);
    set->top = hr_node_new(set, NULL, "", status.st_ino);
    if (set->top == NULL) {
        hr_descriptor_close(&set->mount);
        return -ENOMEM;
    }
    set->top->has_below = true;
    hr_node_add_watches(set->top, mount);
    hr_node_queue_listing(set->top);
    set->rescan_at_ns = hr_clock_ns() + set->options.rescan_ns;
    return 0;
}

static int open_hierarchy(struct hr_cgroup_set *set)
{
    int mount = hr_root_open_cgroup(set->root, set->controller, NULL);

    return mount < 0 ? mount : start_at_mount(set, mount);
}

static void close_hierarchy(struct hr_cgroup_set *set)
{
    remove_node(set->top);
    set->top = NULL;
    hr_descriptor_close(&set->mount);
}

static bool is_same_directory(int a, int b)
{
    struct stat first, second;

    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* A controller leaves cgroup2 when version 1 is mounted with it, and may return when that is
 * unmounted, while the open directory stays as it was. cgroup2 itself never changes. */
static int follow_moved_controller(struct hr_cgroup_set *set)
{
    if (set->controller == NULL)
        return 0;
    int mount = hr_root_open_cgroup(set->root, set->controller, NULL);
    if (mount < 0 && mount != -ENOENT)
        return 0; /* unknown for now */
    if (mount >= 0 && is_same_directory(mount, set->mount)) {
        close(mount);
        return 0;
    }
    close_hierarchy(set);
    return mount < 0 ? mount : start_at_mount(set, mount);
}

/* Queues what inotify doesn't report. */
static int queue_scans(struct hr_cgroup_set *set)
{
    uint64_t now = hr_clock_ns();

    hr_node_queue_retries(set);
    if (set->rescan_now || now >= set->rescan_at_ns) {
        queue_nodes(set, false);
        set->rescan_now = false;
        set->rescan_at_ns = now + set->options.rescan_ns;
        return follow_moved_controller(set);
    }
    if (set->counts.unwatched > 0)
        queue_nodes(set, true);
    return 0;
}

int hr_cgroup_set_read_events(struct hr_cgroup_set *set)
{
    if (set->mount < 0)
        return 0;
    if (hr_node_read_watches(set) < 0)
        set->rescan_now = true; /* events were lost */
    update_queued_nodes(set);
    return set->rescan_now || !TAILQ_EMPTY(&set->listings);
}

int hr_cgroup_set_read(struct hr_cgroup_set *set)
{
    if (set->mount < 0) {
        int status = open_hierarchy(set);
        if (status < 0)
            return status;
    }
    open_inotify(set);
    hr_cgroup_set_read_events(set);
    int status = queue_scans(set);
    if (status < 0)
        return status;
    status = list_queued(set);
    update_queued_nodes(set);
    if (set->counts.unwatched == 0)
        set->counts.watch_error = 0;
    return status;
}

/* --- The set -------------------------------------------------------------- */

/* Copies a text, which may be NULL. */
static int copy_text(const char *text, char **copy)
{
    if (text == NULL)
        return 0;
    *copy = strdup(text);
    return *copy != NULL ? 0 : -ENOMEM;
}

static int allocate_matched(struct hr_cgroup_set *set)
{
    set->matched = calloc(set->patterns.count + 1, sizeof(*set->matched));
    return set->matched != NULL ? 0 : -ENOMEM;
}

static size_t default_max_empty(size_t max_count)
{
    return max_count == 0 || max_count > LEAST_MAX_EMPTY / 10 ? 10 * max_count : LEAST_MAX_EMPTY;
}

int hr_cgroup_set_open(const struct hr_root *root, const struct hr_cgroup_options *options,
                       struct hr_cgroup_set **set)
{
    struct hr_cgroup_set *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->root = root;
    opened->options = *options;
    opened->options.controller = NULL;
    opened->options.patterns = opened->options.excludes = NULL;
    if (opened->options.rescan_ns == 0)
        opened->options.rescan_ns = DEFAULT_RESCAN_NS;
    if (opened->options.max_empty == 0)
        opened->options.max_empty = default_max_empty(options->max_count);
    opened->mount = -1;
    LIST_INIT(&opened->nodes);
    TAILQ_INIT(&opened->listings);
    TAILQ_INIT(&opened->events);
    TAILQ_INIT(&opened->populated);
    TAILQ_INIT(&opened->excess_queue);
    TAILQ_INIT(&opened->young);
    TAILQ_INIT(&opened->backed_off);
    int status = copy_text(options->controller, &opened->controller);
    if (status == 0)
        status = hr_globs_compile(options->patterns, options->pattern_count, &opened->patterns);
    if (status == 0)
        status = allocate_matched(opened);
    if (status == 0)
        status = hr_globs_compile(options->excludes, options->exclude_count, &opened->excludes);
    if (status < 0) {
        hr_cgroup_set_close(opened);
        return status;
    }
    *set = opened;
    return 0;
}

void hr_cgroup_set_close(struct hr_cgroup_set *set)
{
    if (set == NULL)
        return;
    if (set->top != NULL)
        remove_node(set->top);
    hr_inotify_close(set->inotify);
    hr_descriptor_close(&set->mount);
    hr_scan_free(&set->scan);
    hr_globs_free(&set->patterns);
    hr_globs_free(&set->excludes);
    free(set->matched);
    free(set->controller);
    free(set);
}

int hr_cgroup_set_fd(const struct hr_cgroup_set *set)
{
    return set->mount >= 0 && set->inotify != NULL ? hr_inotify_fd(set->inotify) : -1;
}

struct hr_cgroup *hr_cgroup_set_next(struct hr_cgroup_set *set, const struct hr_cgroup *previous)
{
    struct hr_node *next = previous == NULL
                               ? TAILQ_FIRST(&set->populated)
                               : TAILQ_NEXT((const struct hr_node *)previous, by_populated);

    return next != NULL ? &next->group : NULL;
}

bool hr_cgroup_is_gone(const struct hr_cgroup *group)
{
    const struct hr_node *node = (const struct hr_node *)group;
    struct stat status;

    if (fstatat(node->set->mount, group->path, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT;
    return status.st_ino != group->id;
}

bool hr_cgroup_set_is_nested(const struct hr_cgroup_set *set)
{
    const struct hr_node *node;

    TAILQ_FOREACH(node, &set->populated, by_populated)
    {
        for (const struct hr_node *above = node->parent; above != NULL; above = above->parent)
            if (above->group.populated)
                return true;
    }
    return false;
}

struct hr_cgroup_counts hr_cgroup_set_counts(const struct hr_cgroup_set *set)
{
    struct hr_cgroup_counts counts = set->counts;
    struct hr_node *node;

    TAILQ_FOREACH(node, &set->backed_off, by_retry)
    {
        if (node->error == 0)
            continue;
        counts.read_error = node->error;
        counts.unreadable_path = node->group.path;
        break;
    }
    return counts;
}

bool hr_cgroup_set_matched(const struct hr_cgroup_set *set, size_t pattern)
{
    return set->matched[pattern];
}

int hr_cgroup_wildcard(const struct hr_cgroup *group, size_t number, const char **text,
                       size_t *length)
{
    const struct hr_node *node = (const struct hr_node *)group;
    const struct hr_glob *glob = node->set->patterns.list[group->pattern];

    return hr_glob_capture(glob, group->path, number, text, length) ? 0 : -ENOENT;
}
