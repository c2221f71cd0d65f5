/* SPDX-License-Identifier: MIT */
#include "cgroup/populated.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/clock.h"

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
 * reads, the opposite would lose the group. */
int hr_populated_read(int dirfd, bool *populated)
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

static bool is_below_max_count(const struct hr_cgroup_set *set)
{
    return set->options.max_count == 0 || set->counts.populated < set->options.max_count;
}

static bool keep_directory(struct hr_node *node, int *dirfd)
{
    if (*dirfd < 0 || !hr_descriptor_keep(dirfd, HR_KEEP_DIRECTORY))
        return false;
    node->group.dirfd = *dirfd;
    *dirfd = -1;
    return true;
}

static void mark_populated(struct hr_node *node, int *dirfd)
{
    struct hr_cgroup_set *set = node->set;

    node->group.populated = true;
    TAILQ_INSERT_TAIL(&set->populated, node, by_populated);
    set->counts.populated++;
    if (!keep_directory(node, dirfd))
        set->counts.reopened++;
    report_event(node, HR_CGROUP_POPULATED);
}

static void mark_emptied(struct hr_node *node)
{
    struct hr_cgroup_set *set = node->set;

    node->group.populated = false;
    TAILQ_REMOVE(&set->populated, node, by_populated);
    set->counts.populated--;
    report_event(node, HR_CGROUP_EMPTIED);
    if (node->group.dirfd < 0)
        set->counts.reopened--;
    hr_descriptor_close(&node->group.dirfd);
}

static void queue_excess(struct hr_node *node)
{
    node->group.excess = true;
    TAILQ_INSERT_TAIL(&node->set->excess_queue, node, by_populated);
    node->set->counts.excess++;
}

static void unqueue_excess(struct hr_node *node)
{
    node->group.excess = false;
    TAILQ_REMOVE(&node->set->excess_queue, node, by_populated);
    node->set->counts.excess--;
}

bool hr_cgroup_has_age(const struct hr_cgroup *group, uint64_t age_ns)
{
    const struct hr_node *node = (const struct hr_node *)group;

    return age_ns == 0 || node->found_ns == 0 || hr_clock_ns() - node->found_ns >= age_ns;
}

static bool is_old_enough(const struct hr_node *node)
{
    return hr_cgroup_has_age(&node->group, node->set->options.min_age_ns);
}

/* Most are populated as soon as they are found, so the place is near the end. */
static void add_young(struct hr_node *node)
{
    struct hr_nodes *young = &node->set->young;
    struct hr_node *before = TAILQ_LAST(young, hr_nodes);

    while (before != NULL && before->found_ns > node->found_ns)
        before = TAILQ_PREV(before, hr_nodes, by_populated);
    if (before != NULL)
        TAILQ_INSERT_AFTER(young, before, node, by_populated);
    else
        TAILQ_INSERT_HEAD(young, node, by_populated);
    node->group.young = true;
    node->set->counts.young++;
}

static void remove_young(struct hr_node *node)
{
    node->group.young = false;
    TAILQ_REMOVE(&node->set->young, node, by_populated);
    node->set->counts.young--;
}

static void set_empty(struct hr_node *node)
{
    if (node->group.populated)
        mark_emptied(node);
    else if (node->group.excess)
        unqueue_excess(node);
    else if (node->group.young)
        remove_young(node);
}

void hr_populated_set(struct hr_node *node, bool populated, int *dirfd)
{
    struct hr_cgroup_set *set = node->set;

    if (!populated)
        set_empty(node);
    else if (node->group.populated && node->group.dirfd < 0)
        set->counts.reopened -= keep_directory(node, dirfd);
    else if (node->group.populated || node->group.excess || node->group.young)
        return;
    else if (!is_old_enough(node))
        add_young(node);
    else if (is_below_max_count(set) && TAILQ_EMPTY(&set->excess_queue))
        mark_populated(node, dirfd);
    else
        queue_excess(node);
}

/* Those that are old enough queue for one of max_count places, if only for a moment. */
static void queue_old_enough(struct hr_cgroup_set *set)
{
    struct hr_node *oldest;

    while ((oldest = TAILQ_FIRST(&set->young)) != NULL && is_old_enough(oldest)) {
        remove_young(oldest);
        queue_excess(oldest);
    }
}

void hr_populated_promote(struct hr_cgroup_set *set)
{
    queue_old_enough(set);
    while (!TAILQ_EMPTY(&set->excess_queue) && is_below_max_count(set)) {
        struct hr_node *node = TAILQ_FIRST(&set->excess_queue);
        int dirfd = hr_node_open(node);
        unqueue_excess(node);
        if (dirfd != -ENODEV)
            mark_populated(node, &dirfd);
        hr_descriptor_close(&dirfd);
    }
}

void hr_populated_select(struct hr_node *node)
{
    node->selected = true;
    node->set->counts.selected++;
    report_event(node, HR_CGROUP_ADDED);
}

void hr_populated_deselect(struct hr_node *node)
{
    set_empty(node);
    report_event(node, HR_CGROUP_REMOVED);
    node->set->counts.selected--;
}
