/* SPDX-License-Identifier: MIT */
#include "cgroup/node.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "headroom/clock.h"

#define FIRST_DELAY_NS HR_NS_PER_S
#define LAST_DELAY_NS  (64 * HR_NS_PER_S)

static int compare_ids(const void *a, const void *b)
{
    const struct hr_cgroup *left = a, *right = b; /* a node begins with its group */

    return (left->id > right->id) - (left->id < right->id);
}

static int compare_descriptors(const void *a, const void *b)
{
    const struct hr_node_watch *left = a, *right = b;

    return (left->descriptor > right->descriptor) - (left->descriptor < right->descriptor);
}

struct hr_node *hr_node_find(const struct hr_cgroup_set *set, uint64_t id)
{
    const struct hr_cgroup key = {.id = id};
    struct hr_node **found = tfind(&key, &set->by_id, compare_ids);

    return found != NULL ? *found : NULL;
}

static const char *get_name(const struct hr_node *node)
{
    const char *slash = strrchr(node->group.path, '/');

    return slash != NULL ? slash + 1 : node->group.path;
}

struct hr_node *hr_node_find_child(const struct hr_node *parent, const struct hr_scan_entry *entry)
{
    struct hr_node *node = hr_node_find(parent->set, entry->id);

    if (node == NULL || node->parent != parent || strcmp(get_name(node), entry->name) != 0)
        return NULL;
    return node;
}

/* What the first listing of a directory finds may have been there for long, unless the directory is
 * new itself. */
static uint64_t find_time(const struct hr_node *parent)
{
    const bool was_there = parent == NULL || (parent->found_ns == 0 && !parent->was_listed);

    return was_there ? 0 : hr_clock_ns();
}

struct hr_node *hr_node_new(struct hr_cgroup_set *set, struct hr_node *parent, const char *name,
                            uint64_t id)
{
    const char *above = parent != NULL ? parent->group.path : "";
    struct hr_node *node = calloc(1, sizeof(*node));
    char *path;

    if (node == NULL)
        return NULL;
    if (asprintf(&path, "%s%s%s", above, above[0] != '\0' ? "/" : "", name) < 0) {
        free(node);
        return NULL;
    }
    node->group = (struct hr_cgroup){.path = path, .id = id, .dirfd = -1};
    node->set = set;
    node->parent = parent;
    node->found_ns = find_time(parent);
    LIST_INIT(&node->children);
    if (tsearch(node, &set->by_id, compare_ids) == NULL) {
        free(path);
        free(node);
        return NULL;
    }
    LIST_INSERT_HEAD(&set->nodes, node, any);
    set->node_count++;
    if (parent != NULL)
        LIST_INSERT_HEAD(&parent->children, node, sibling);
    return node;
}

void hr_node_queue_listing(struct hr_node *node)
{
    if (node->listing_queued || (node->backed_off & BACK_OFF_LISTING) != 0)
        return;
    node->listing_queued = true;
    TAILQ_INSERT_TAIL(&node->set->listings, node, listing);
}

void hr_node_queue_events(struct hr_node *node)
{
    if (node->events_queued || (node->backed_off & BACK_OFF_EVENTS) != 0)
        return;
    node->events_queued = true;
    TAILQ_INSERT_TAIL(&node->set->events, node, event);
}

void hr_node_unqueue_listing(struct hr_node *node)
{
    if (node->listing_queued)
        TAILQ_REMOVE(&node->set->listings, node, listing);
    node->listing_queued = false;
}

void hr_node_unqueue_events(struct hr_node *node)
{
    if (node->events_queued)
        TAILQ_REMOVE(&node->set->events, node, event);
    node->events_queued = false;
}

int hr_node_open(const struct hr_node *node)
{
    const char *path = node->group.path[0] != '\0' ? node->group.path : ".";
    int fd = openat(node->set->mount, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;

    if (fd < 0)
        return errno == ENOENT ? -ENODEV : -errno;
    if (fstat(fd, &status) < 0 || status.st_ino != node->group.id) {
        close(fd);
        return -ENODEV;
    }
    return fd;
}

static void count_missing_watch(struct hr_node *node, int error)
{
    node->watches_missing++;
    node->set->counts.unwatched++;
    node->set->counts.watch_error = error;
}

static void add_watch(struct hr_node *node, struct hr_node_watch *watch, int dirfd,
                      const char *name, uint32_t mask)
{
    struct hr_cgroup_set *set = node->set;

    if (watch->descriptor != 0)
        return;
    if (set->inotify == NULL) {
        count_missing_watch(node, set->counts.watch_error);
        return;
    }
    int descriptor = hr_inotify_add_watch(set->inotify, dirfd, name, mask);
    if (descriptor == -ENOENT && name != NULL)
        return; /* there is no such file (version 1), or it was just removed */
    if (descriptor < 0) {
        count_missing_watch(node, descriptor);
        return;
    }
    watch->descriptor = descriptor;
    watch->node = node;
    struct hr_node_watch **entry = tsearch(watch, &set->by_descriptor, compare_descriptors);
    if (entry == NULL || *entry != watch) {
        hr_inotify_remove_watch(set->inotify, descriptor);
        watch->descriptor = 0;
        count_missing_watch(node, -ENOMEM);
    }
}

static void remove_watch(struct hr_node *node, struct hr_node_watch *watch)
{
    if (watch->descriptor == 0)
        return;
    tdelete(watch, &node->set->by_descriptor, compare_descriptors);
    hr_inotify_remove_watch(node->set->inotify, watch->descriptor);
    watch->descriptor = 0;
}

static void reset_missing_watches(struct hr_node *node)
{
    node->set->counts.unwatched -= node->watches_missing;
    node->watches_missing = 0;
}

void hr_node_add_watches(struct hr_node *node, int dirfd)
{
    reset_missing_watches(node);
    if (node->has_below) /* groups of version 1 can be renamed */
        add_watch(node, &node->directory, dirfd, NULL,
                  IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR);
    if (node->selected)
        add_watch(node, &node->events, dirfd, "cgroup.events", IN_MODIFY);
}

static void mark_changed_node(int descriptor, void *context)
{
    struct hr_cgroup_set *set = context;
    struct hr_node_watch key = {.descriptor = descriptor};
    struct hr_node_watch **found = tfind(&key, &set->by_descriptor, compare_descriptors);

    if (found == NULL)
        return; /* an event that was queued before the watch was removed */
    struct hr_node *node = (*found)->node;
    if (*found == &node->directory)
        hr_node_queue_listing(node);
    else
        hr_node_queue_events(node);
}

int hr_node_read_watches(struct hr_cgroup_set *set)
{
    return set->inotify != NULL ? hr_inotify_read(set->inotify, mark_changed_node, set) : 0;
}

static bool is_own_failure(const struct hr_node *node, int error)
{
    return node->parent != NULL && error != -EMFILE && error != -ENFILE && error != -ENOMEM;
}

/* A node that fails long after its last retry has recovered in between. */
static uint64_t next_delay(const struct hr_node *node, uint64_t now)
{
    const uint64_t last = node->retry_delay_ns;

    if (now > node->retried_at_ns + last)
        return FIRST_DELAY_NS;
    return 2 * last < LAST_DELAY_NS ? 2 * last : LAST_DELAY_NS;
}

static void set_retry_time(struct hr_node *node, int error)
{
    uint64_t now = hr_clock_ns();

    if (!is_own_failure(node, error)) {
        node->retry_at_ns = now;
    } else if (node->backed_off == 0) {
        node->retry_delay_ns = next_delay(node, now);
        node->retry_at_ns = now + node->retry_delay_ns;
    }
}

void hr_node_back_off(struct hr_node *node, enum hr_node_backoff what, int error)
{
    struct hr_cgroup_set *set = node->set;

    set_retry_time(node, error);
    if (node->backed_off == 0)
        TAILQ_INSERT_TAIL(&set->backed_off, node, by_retry);
    node->backed_off |= what;
    if ((what & BACK_OFF_LISTING) != 0)
        hr_node_unqueue_listing(node);
    if ((what & BACK_OFF_EVENTS) != 0)
        hr_node_unqueue_events(node);
    if (error == 0)
        return;
    set->counts.unreadable += node->error == 0;
    node->error = error;
    if (set->inotify != NULL)
        reset_missing_watches(node); /* the retry adds them */
}

static void end_backoff(struct hr_node *node)
{
    if (node->backed_off == 0)
        return;
    node->set->counts.unreadable -= node->error != 0;
    node->backed_off = 0;
    node->error = 0;
    TAILQ_REMOVE(&node->set->backed_off, node, by_retry);
}

void hr_node_queue_retries(struct hr_cgroup_set *set)
{
    uint64_t now = hr_clock_ns();
    struct hr_node *node = TAILQ_FIRST(&set->backed_off);

    while (node != NULL) {
        struct hr_node *next = TAILQ_NEXT(node, by_retry);
        if (node->retry_at_ns <= now) {
            end_backoff(node);
            node->retried_at_ns = now;
            if (node->has_below)
                hr_node_queue_listing(node);
            if (node->selected)
                hr_node_queue_events(node);
        }
        node = next;
    }
}

void hr_node_free(struct hr_node *node)
{
    end_backoff(node);
    remove_watch(node, &node->directory);
    remove_watch(node, &node->events);
    reset_missing_watches(node);
    hr_node_unqueue_listing(node);
    hr_node_unqueue_events(node);
    tdelete(node, &node->set->by_id, compare_ids);
    node->set->counts.unfollowed -= node->unfollowed_count;
    node->set->node_count--;
    LIST_REMOVE(node, any);
    if (node->parent != NULL)
        LIST_REMOVE(node, sibling);
    free((char *)node->group.path);
    free(node);
}
