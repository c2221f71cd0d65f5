/* SPDX-License-Identifier: MIT */
#include "headroom/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "cgroup/node.h"
#include "headroom/clock.h"
#include "headroom/root.h"

#define DEFAULT_RESCAN_NS (300 * HR_NS_PER_S)

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

/* --- Directories, populated or empty -------------------------------------- */

/* A removed directory that is still open has no files any more; any other has this one. */
static bool is_alive(int dirfd)
{
    return faccessat(dirfd, "cgroup.procs", F_OK, AT_EACCESS) == 0;
}

int hr_cgroup_openat(const struct hr_cgroup *group, const char *name, int flags)
{
    const struct hr_node *node = (const struct hr_node *)group;
    int by_path = -1;

    if (group->dirfd < 0) {
        by_path = hr_node_open(node);
        if (by_path < 0)
            return by_path;
    }
    int dirfd = group->dirfd >= 0 ? group->dirfd : by_path;
    int fd = openat(dirfd, name, flags | O_CLOEXEC);
    int status = fd < 0 ? -errno : fd;
    /* A removed directory itself can still be opened through its descriptor. */
    if ((status == -ENOENT || (fd >= 0 && strcmp(name, ".") == 0)) && !is_alive(dirfd)) {
        hr_descriptor_close(&fd);
        status = -ENODEV;
    }
    hr_descriptor_close(&by_path);
    return status;
}

/* cgroup.events holds lines like "populated 1" and "frozen 0". */
static bool parse_populated(const char *buffer, size_t length, bool *populated)
{
    struct hr_text text = {buffer, length};
    uint64_t value;

    while (text.length > 0) {
        if (hr_text_skip(&text, "populated ") && hr_text_u64(&text, &value)) {
            *populated = value != 0;
            return true;
        }
        if (!hr_text_skip_line(&text))
            return false;
    }
    return false;
}

/* Where the kernel doesn't report it, an existing group counts as populated: that costs a few
 * reads, the opposite would lose the group.
 * @return 0, or a negative errno if it is unknown for now. */
static int read_populated(int dirfd, bool *populated)
{
    char buffer[256];
    size_t length;
    int fd = openat(dirfd, "cgroup.events", O_RDONLY | O_CLOEXEC);

    if (fd < 0 && errno != ENOENT)
        return -errno;
    int status = hr_text_read_and_close(fd < 0 ? -ENODEV : fd, buffer, sizeof(buffer), &length);
    if (status < 0 && status != -ENODEV)
        return status;
    if (status < 0 || !parse_populated(buffer, length, populated))
        *populated = is_alive(dirfd);
    return 0;
}

static void report_event(struct hr_node *node, enum hr_cgroup_event event)
{
    const struct hr_cgroup_options *options = &node->set->options;

    if (options->event != NULL)
        options->event(&node->group, event, options->context);
}

static void set_populated(struct hr_node *node, bool populated)
{
    struct hr_cgroup_set *set = node->set;

    if (node->group.populated == populated)
        return;
    node->group.populated = populated;
    if (populated) {
        TAILQ_INSERT_TAIL(&set->populated, node, populated_excess);
        set->counts.populated++;
        report_event(node, HR_CGROUP_POPULATED);
    } else {
        TAILQ_REMOVE(&set->populated, node, populated_excess);
        set->counts.populated--;
        report_event(node, HR_CGROUP_EMPTIED);
    }
}

/* An unknown state stays as it was, and is read again. */
static void reread_populated(struct hr_node *node, int dirfd)
{
    bool populated;

    if (read_populated(dirfd, &populated) == 0)
        set_populated(node, populated);
    else
        node->set->rescan_now = true;
}

/* --- Selection ------------------------------------------------------------ */

static bool has_room(const struct hr_cgroup_set *set)
{
    return set->options.max_count == 0 || set->counts.selected < set->options.max_count;
}

/* Adds the node to the set. @return whether dirfd is kept, which may move it. */
static bool select_node(struct hr_node *node, int *dirfd)
{
    struct hr_cgroup_set *set = node->set;
    bool kept = *dirfd >= 0 && hr_descriptor_keep(dirfd, HR_KEEP_DIRECTORY);

    node->role = SELECTED;
    set->counts.selected++;
    if (kept)
        node->group.dirfd = *dirfd;
    else
        set->counts.reopened++;
    report_event(node, HR_CGROUP_ADDED);
    return kept;
}

static void add_to_excess(struct hr_node *node)
{
    node->role = EXCESS;
    node->set->counts.excess++;
    TAILQ_INSERT_TAIL(&node->set->excess, node, populated_excess);
}

static void remove_from_excess(struct hr_node *node)
{
    node->role = ANCESTOR;
    node->set->counts.excess--;
    TAILQ_REMOVE(&node->set->excess, node, populated_excess);
}

static void deselect_node(struct hr_node *node)
{
    struct hr_cgroup_set *set = node->set;

    set_populated(node, false);
    report_event(node, HR_CGROUP_REMOVED);
    set->counts.selected--;
    if (node->group.dirfd < 0)
        set->counts.reopened--;
    hr_descriptor_close(&node->group.dirfd);
}

/* Removes a node and all below it. */
static void remove_node(struct hr_node *node)
{
    while (!LIST_EMPTY(&node->children))
        remove_node(LIST_FIRST(&node->children));
    if (node->role == SELECTED)
        deselect_node(node);
    else if (node->role == EXCESS)
        remove_from_excess(node);
    hr_node_free(node);
}

/* Opens, watches and, below max_count, selects a node that is new or comes from the excess. */
static void watch_and_select(struct hr_node *node, bool selected)
{
    int dirfd = hr_node_open(node);

    if (dirfd == -ENODEV) {
        remove_node(node); /* its directory is gone again */
        return;
    }
    bool kept = false;
    if (selected && has_room(node->set))
        kept = select_node(node, &dirfd);
    else if (selected)
        add_to_excess(node);
    if (dirfd < 0) {
        /* It exists but can't be opened: opening is retried, and reading the group's files
         * reports the error. */
        hr_node_count_missing_watches(node, dirfd);
        if (node->role == SELECTED)
            set_populated(node, true);
        return;
    }
    hr_node_add_watches(node, dirfd);
    if (node->role == SELECTED)
        reread_populated(node, dirfd);
    if (node->has_below)
        hr_node_queue_listing(node);
    if (!kept)
        close(dirfd);
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
    bool selected = node->group.pattern < set->patterns.count &&
                    hr_globs_find(&set->excludes, path) == set->excludes.count;
    if (selected || node->has_below)
        watch_and_select(node, selected);
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
    for (size_t i = 0; i < scan->count; i++) {
        if (hr_node_find_child(parent, &scan->entries[i]) != NULL)
            continue;
        int status = add_child(parent, &scan->entries[i]);
        if (status < 0)
            return status;
    }
    return 0;
}

static bool is_known_leaf(const struct hr_node *node)
{
    struct stat status;

    /* A directory without a watch must be listed after the watch is added, not before. */
    return node->watches_missing == 0 && node->group.dirfd >= 0 && LIST_EMPTY(&node->children) &&
           fstat(node->group.dirfd, &status) == 0 && status.st_nlink == 2;
}

static int list_node(struct hr_node *node)
{
    struct hr_cgroup_set *set = node->set;

    if (is_known_leaf(node))
        return 0;
    int fd = hr_node_open(node);
    if (fd == -ENODEV && node != set->top) {
        remove_node(node);
        return 0;
    }
    if (fd < 0)
        return fd;
    if (node->watches_missing > 0)
        hr_node_add_watches(node, fd);
    int status = hr_scan_read(fd, &set->scan);
    close(fd);
    return status < 0 ? status : update_children(node, &set->scan);
}

/* Lists the queued directories, and those queued meanwhile. A directory that can't be listed keeps
 * its known children. */
static int list_queued(struct hr_cgroup_set *set)
{
    int result = 0;

    while (!TAILQ_EMPTY(&set->listings)) {
        struct hr_node *node = TAILQ_FIRST(&set->listings);
        bool is_top = node == set->top;
        hr_node_unqueue_listing(node);
        int status = list_node(node);
        if (status < 0) {
            set->rescan_now = true;
            if (is_top || status == -ENOMEM)
                result = status;
        }
    }
    return result;
}

/* --- Updates --------------------------------------------------------------- */

static void update_node_populated(struct hr_node *node)
{
    int by_path = -1;

    if (node->group.dirfd < 0) {
        by_path = hr_node_open(node);
        if (by_path < 0) {
            node->set->rescan_now |= by_path != -ENODEV;
            return;
        }
    }
    int dirfd = node->group.dirfd >= 0 ? node->group.dirfd : by_path;
    if (node->watches_missing > 0)
        hr_node_add_watches(node, dirfd);
    reread_populated(node, dirfd);
    if (by_path >= 0 && hr_descriptor_keep(&by_path, HR_KEEP_DIRECTORY)) {
        node->group.dirfd = by_path;
        node->set->counts.reopened--;
        return;
    }
    hr_descriptor_close(&by_path);
}

static void update_queued_populated(struct hr_cgroup_set *set)
{
    while (!TAILQ_EMPTY(&set->events)) {
        struct hr_node *node = TAILQ_FIRST(&set->events);
        hr_node_unqueue_events(node);
        update_node_populated(node);
    }
}

static void promote_excess(struct hr_cgroup_set *set)
{
    while (!TAILQ_EMPTY(&set->excess) && has_room(set)) {
        struct hr_node *node = TAILQ_FIRST(&set->excess);
        remove_from_excess(node);
        watch_and_select(node, true);
    }
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
        if (node->role == SELECTED)
            hr_node_queue_events(node);
    }
}

static void open_inotify(struct hr_cgroup_set *set)
{
    if (set->inotify != NULL)
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

static int collect_changes(struct hr_cgroup_set *set)
{
    uint64_t now = hr_clock_ns();

    open_inotify(set);
    int status = hr_node_read_watches(set);
    if (status < 0 || set->rescan_now || now >= set->rescan_at_ns) {
        queue_nodes(set, false);
        set->rescan_now = false;
        set->rescan_at_ns = now + set->options.rescan_ns;
        return follow_moved_controller(set);
    }
    if (set->counts.unwatched > 0)
        queue_nodes(set, true);
    return 0;
}

int hr_cgroup_set_read(struct hr_cgroup_set *set)
{
    if (set->mount < 0) {
        int status = open_hierarchy(set);
        if (status < 0)
            return status;
    }
    int status = collect_changes(set);
    if (status < 0)
        return status;
    status = list_queued(set);
    promote_excess(set);
    int promoted = list_queued(set);
    update_queued_populated(set);
    if (set->counts.unwatched == 0)
        set->counts.watch_error = 0;
    return status < 0 ? status : promoted;
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
    opened->mount = -1;
    LIST_INIT(&opened->nodes);
    TAILQ_INIT(&opened->listings);
    TAILQ_INIT(&opened->events);
    TAILQ_INIT(&opened->populated);
    TAILQ_INIT(&opened->excess);
    int status = copy_text(options->controller, &opened->controller);
    if (status == 0)
        status = hr_globs_compile(options->patterns, options->pattern_count, &opened->patterns);
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
                               : TAILQ_NEXT((const struct hr_node *)previous, populated_excess);

    return next != NULL ? &next->group : NULL;
}

struct hr_cgroup_counts hr_cgroup_set_counts(const struct hr_cgroup_set *set)
{
    return set->counts;
}

int hr_cgroup_wildcard(const struct hr_cgroup *group, size_t number, const char **text,
                       size_t *length)
{
    const struct hr_node *node = (const struct hr_node *)group;
    const struct hr_glob *glob = node->set->patterns.list[group->pattern];

    return hr_glob_capture(glob, group->path, number, text, length) ? 0 : -ENOENT;
}
