/* SPDX-License-Identifier: MIT */
/*
 * cgroup/node.h - the directories that a set of cgroups knows: their memory, their two indexes,
 * their watches, the queues of those to list or read again, and when to retry those that can't be
 * read. cgroup/set.c selects among them, cgroup/populated.c has what becomes of selected ones.
 */
#ifndef HEADROOM_COLLECTORS_CGROUP_NODE_H
#define HEADROOM_COLLECTORS_CGROUP_NODE_H

#include <sys/queue.h>

#include "cgroup/glob.h"
#include "cgroup/inotify.h"
#include "cgroup/subdirectories.h"
#include "headroom/cgroup.h"

struct hr_node;

/** An inotify watch on a directory or on its cgroup.events. */
struct hr_node_watch {
    int descriptor; /**< 0: none */
    struct hr_node *node;
};

/** What isn't done for a node until it is retried. */
enum hr_node_backoff { BACK_OFF_LISTING = 1, BACK_OFF_EVENTS = 2, BACK_OFF_ALL = 3 };

/** A directory that is selected, or may have selected ones below. */
struct hr_node {
    struct hr_cgroup group; /**< first, so that a group's address is its node's */
    struct hr_cgroup_set *set;
    struct hr_node *parent;
    bool selected;     /**< else only directories below may be selected */
    bool has_below;    /**< a pattern may match below */
    bool seen;         /**< by the current listing */
    bool was_listed;   /**< once at least, all of it */
    uint64_t found_ns; /**< when; 0: it was there before */
    bool listing_queued;
    bool events_queued;
    unsigned backed_off; /**< of enum hr_node_backoff */
    int error;           /**< why: 0, or a negative errno */
    uint64_t retry_at_ns;
    uint64_t retried_at_ns;
    uint64_t retry_delay_ns;
    size_t unfollowed_count; /**< its children that aren't followed */
    unsigned watches_missing;
    struct hr_node_watch directory; /**< children created and removed; wanted if has_below */
    struct hr_node_watch events;    /**< populated or not; wanted if selected */
    LIST_HEAD(, hr_node) children;
    LIST_ENTRY(hr_node) sibling;
    LIST_ENTRY(hr_node) any;           /**< in set->nodes */
    TAILQ_ENTRY(hr_node) listing;      /**< in set->listings, if listing_queued */
    TAILQ_ENTRY(hr_node) event;        /**< in set->events, if events_queued */
    TAILQ_ENTRY(hr_node) by_populated; /**< in set->populated, set->excess_queue or set->young */
    TAILQ_ENTRY(hr_node) by_retry;     /**< in set->backed_off, if backed_off */
};

TAILQ_HEAD(hr_nodes, hr_node);

struct hr_cgroup_set {
    const struct hr_root *root;
    struct hr_cgroup_options options; /**< without its texts, which belong to the caller */
    char *controller;                 /**< NULL: always cgroup2 */
    struct hr_globs patterns;
    bool *matched; /**< of each pattern: whether it ever matched */
    struct hr_globs excludes;
    int mount; /**< -1: not found yet */
    struct hr_node *top;
    LIST_HEAD(, hr_node) nodes;
    size_t node_count;
    void *by_id;         /**< tsearch(3) tree of struct hr_node */
    void *by_descriptor; /**< tsearch(3) tree of struct hr_node_watch */
    struct hr_nodes listings;
    struct hr_nodes events;
    struct hr_nodes populated;
    struct hr_nodes excess_queue; /**< of groups above max_count */
    struct hr_nodes young;        /**< by found_ns */
    struct hr_nodes backed_off;
    struct hr_inotify *inotify; /**< NULL: there is none, and everything is polled */
    struct hr_scan scan;
    uint64_t rescan_at_ns;
    bool rescan_now;
    struct hr_cgroup_counts counts;
};

/** Creates a node below a parent (NULL: the top). @return NULL for lack of memory. */
struct hr_node *hr_node_new(struct hr_cgroup_set *set, struct hr_node *parent, const char *name,
                            uint64_t id);

/** Frees a node without children, and removes its watches. */
void hr_node_free(struct hr_node *node);

/** @return the node of that inode number, or NULL. */
struct hr_node *hr_node_find(const struct hr_cgroup_set *set, uint64_t id);

/** @return the child of a listing's entry, or NULL. */
struct hr_node *hr_node_find_child(const struct hr_node *parent, const struct hr_scan_entry *entry);

/** Opens the node's directory by its path. @return -ENODEV if that is no longer this directory. */
int hr_node_open(const struct hr_node *node);

/** Queues a node whose directory must be listed, unless that was backed off from; or removes it
 * from the queue. */
void hr_node_queue_listing(struct hr_node *node);
void hr_node_unqueue_listing(struct hr_node *node);

/** Queues a node whose cgroup.events must be read, unless that was backed off from; or removes it
 * from the queue. */
void hr_node_queue_events(struct hr_node *node);
void hr_node_unqueue_events(struct hr_node *node);

/** Adds the watches that the node wants and lacks, and counts those that can't be added. */
void hr_node_add_watches(struct hr_node *node, int dirfd);

/**
 * Backs off from a directory that can't be read, so that it costs nothing at each read: what failed
 * isn't done again until hr_node_queue_retries() finds that it is due. That is after a second, and
 * after twice the time, up to 64 seconds, whenever it fails right after a retry. What isn't the
 * directory's own failure (descriptors, memory), and the top, is retried at the next read.
 *
 * @param error  a negative errno; 0: it has children that aren't followed.
 */
void hr_node_back_off(struct hr_node *node, enum hr_node_backoff what, int error);

/** Queues the nodes whose time to be retried has come. */
void hr_node_queue_retries(struct hr_cgroup_set *set);

/** Queues the nodes whose watches report events. @return as hr_inotify_read(). */
int hr_node_read_watches(struct hr_cgroup_set *set);

#endif
