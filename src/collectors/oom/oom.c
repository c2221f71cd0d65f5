/* SPDX-License-Identifier: MIT */
#include "headroom/oom.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cgroup/inotify.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "oom/counts.h"
#include "oom/kill_log.h"
#include "oom/kmsg.h"
#include "oom/kmsg_record.h"
#include "oom/victim.h"

/* How often the machine's count is compared with what the log had; without a log, how often it is
 * read, in case inotify reports nothing. */
#define CHECK_NS      (10 * HR_NS_PER_S)
#define CHECK_SOON_NS HR_NS_PER_S

/* After records that have nothing of a kill the log isn't read for so long: it may be a busy one.
 */
#define PAUSE_NS (10 * HR_NS_PER_MS)

/* So many kills are reported together. */
#define BATCH 16

struct hr_oom {
    const struct hr_root *root;
    int epoll;
    int log_fd; /* -1: there is no log */
    bool is_paused;
    struct hr_oom_sources sources;
    struct hr_inotify *inotify; /* NULL with a log */
    struct hr_oom_counts *counts;
    uint64_t
        missing_ns; /* since when there are kills that the log doesn't have; 0: there are none */
    uint64_t seen_kills; /* the machine's count then */
    uint64_t check_ns;   /* when to compare next */
    bool is_behind;      /* the counts are to be rebased */
    struct hr_kill_log log;
    struct hr_kmsg_record record;
    char text[HR_KMSG_SIZE];
    struct hr_kill_logged *kills; /* BATCH, of which so many are to be reported */
    size_t count;
};

struct reporter {
    void (*report)(const struct hr_oom_kill *kill, void *context);
    void *context;
};

/* --- The log --------------------------------------------------------------------------- */

static void listen_to_log(struct hr_oom *oom, bool is_paused)
{
    struct epoll_event event = {.events = is_paused ? 0 : EPOLLIN};

    if (oom->log_fd < 0 || oom->is_paused == is_paused)
        return;
    epoll_ctl(oom->epoll, EPOLL_CTL_MOD, oom->log_fd, &event);
    oom->is_paused = is_paused;
}

/* Without the log groups are watched. */
static void watch_groups(struct hr_oom *oom)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (oom->sources.version != 2)
        return;
    oom->sources.watch_status = hr_inotify_open(&oom->inotify);
    if (oom->sources.watch_status < 0)
        return;
    if (epoll_ctl(oom->epoll, EPOLL_CTL_ADD, hr_inotify_fd(oom->inotify), &event) < 0)
        oom->sources.watch_status = -errno;
    hr_oom_counts_watch(oom->counts, oom->inotify);
}

static void close_log(struct hr_oom *oom, int status)
{
    close(oom->log_fd);
    oom->log_fd = -1;
    oom->sources.log_status = status;
    watch_groups(oom);
}

/* The path is taken from /proc while the victim ends, so at once. */
static void add_message(struct hr_oom *oom, bool *is_near)
{
    struct hr_kill_logged *logged = &oom->kills[oom->count];

    if (!oom->record.is_kernels)
        return;
    *is_near |= hr_kill_log_is_near(oom->record.message);
    if (!hr_kill_log_add(&oom->log, oom->record.message, logged))
        return;
    *is_near = true;
    if (logged->is_again) { /* it was counted again, too */
        hr_oom_counts_mark_reported(oom->counts, logged->kill.path, logged->kill.is_exact);
        return;
    }
    oom->count++;
    if (logged->has_path || !hr_oom_victim_find(oom->root, oom->sources.version, &logged->kill))
        return;
    logged->has_path = logged->kill.is_exact = true;
    hr_kill_log_fill_limit(&oom->log, &logged->kill);
}

/* What was overwritten may have been kills. */
static void read_log(struct hr_oom *oom, uint64_t now_ns)
{
    bool is_near = false, is_empty = true;
    size_t length;
    int status = oom->log_fd >= 0 ? 0 : -EAGAIN;

    while (oom->count < BATCH && (status == 0 || status == -EPIPE)) {
        status = hr_kmsg_read(oom->log_fd, oom->text, sizeof(oom->text), &length);
        if (status == -EPIPE)
            oom->check_ns = now_ns;
        if (status != 0)
            continue;
        is_empty = false;
        if (hr_kmsg_record_parse(oom->text, length, &oom->record) == 0)
            add_message(oom, &is_near);
    }
    if (status < 0 && status != -EAGAIN)
        close_log(oom, status);
    listen_to_log(oom, !is_near && !is_empty);
}

/* --- Groups and limits ---------------------------------------------------------------- */

/* Shortens a path to that of the group that both are in. */
static void find_common(char *path, const char *other)
{
    while (!hr_cgroup_is_within(other, path)) {
        char *slash = strrchr(path, '/');
        *(slash != NULL ? slash : path) = '\0';
    }
}

/* Where all kills were that aren't reported yet. */
static void find_common_group(struct hr_oom *oom, char path[PATH_MAX], bool *is_exact)
{
    struct hr_oom_place *places;
    size_t count;

    path[0] = '\0';
    *is_exact = false;
    if (hr_oom_counts_attribute(oom->counts, UINT64_MAX, &places, &count) < 0)
        return;
    if (count > 0)
        snprintf(path, PATH_MAX, "%s", places[0].path);
    *is_exact = count == 1 && places[0].is_exact;
    for (size_t i = 1; i < count; i++)
        find_common(path, places[i].path);
    free(places);
}

static void find_limit(const struct hr_oom *oom, struct hr_oom_kill *kill)
{
    const char *limit;
    const size_t count = hr_oom_counts_find_limit(oom->counts, kill->path, &limit);

    /* a group that isn't counted may have one of its own */
    if (count == 1 && kill->is_exact) {
        kill->limit = HR_OOM_OF_GROUP;
        snprintf(kill->limit_path, sizeof(kill->limit_path), "%s", limit);
    }
}

static bool is_incomplete(const struct hr_kill_logged *logged)
{
    return !logged->has_path || logged->kill.limit == HR_OOM_OF_SOME;
}

static bool are_incomplete(const struct hr_oom *oom)
{
    for (size_t i = 0; i < oom->count; i++)
        if (is_incomplete(&oom->kills[i]))
            return true;
    return false;
}

static void mark_reported(struct hr_oom *oom, bool has_path)
{
    for (size_t i = 0; i < oom->count; i++)
        if (oom->kills[i].has_path == has_path)
            hr_oom_counts_mark_reported(oom->counts, oom->kills[i].kill.path,
                                        oom->kills[i].kill.is_exact);
}

/* The kernel counts a kill before it logs it. */
static void complete_logged_kills(struct hr_oom *oom)
{
    uint64_t missing = 0, unknown = 0;
    char path[PATH_MAX];
    bool is_exact;

    mark_reported(oom, true);
    oom->is_behind |= oom->count > 0;
    if (!are_incomplete(oom))
        return;
    missing = hr_oom_counts_read(oom->counts);
    find_common_group(oom, path, &is_exact);
    for (size_t i = 0; i < oom->count; i++) {
        struct hr_kill_logged *logged = &oom->kills[i];
        if (!logged->has_path) {
            unknown++;
            memcpy(logged->kill.path, path, sizeof(path));
            logged->kill.is_exact = is_exact;
            hr_kill_log_fill_limit(&oom->log, &logged->kill);
        }
        if (logged->kill.limit == HR_OOM_OF_SOME)
            find_limit(oom, &logged->kill);
    }
    mark_reported(oom, false);
    if (missing <= unknown)
        oom->is_behind = !hr_oom_counts_rebase(oom->counts, false);
}

/* --- What the log doesn't have --------------------------------------------------------- */

static void report_place(struct hr_oom *oom, const struct hr_oom_place *place,
                         const struct reporter *reporter)
{
    struct hr_oom_kill kill = {
        .is_exact = place->is_exact, .resident_bytes = UINT64_MAX, .limit_bytes = UINT64_MAX};
    const char *limit;

    snprintf(kill.path, sizeof(kill.path), "%s", place->path);
    if (place->is_exact && hr_oom_counts_find_limit(oom->counts, place->path, &limit) == 0)
        kill.limit = HR_OOM_OF_MACHINE; /* of all that it could be */
    else
        find_limit(oom, &kill);
    if (kill.limit == HR_OOM_OF_GROUP)
        kill.limit_bytes = hr_oom_counts_read_limit(oom->counts, kill.limit_path);
    for (uint64_t i = 0; i < place->count; i++) {
        hr_oom_counts_mark_reported(oom->counts, kill.path, kill.is_exact);
        reporter->report(&kill, reporter->context);
    }
}

static void report_missing(struct hr_oom *oom, uint64_t most, const struct reporter *reporter)
{
    struct hr_oom_place *places;
    size_t count;

    hr_oom_counts_read(oom->counts);
    if (hr_oom_counts_attribute(oom->counts, most, &places, &count) < 0)
        return;
    for (size_t i = 0; i < count; i++)
        report_place(oom, &places[i], reporter);
    free(places);
    oom->is_behind = !hr_oom_counts_rebase(oom->counts, false);
}

/* How many the log doesn't have. What was counted within the last second may still come. */
static uint64_t count_lost(const struct hr_oom *oom, uint64_t missing, uint64_t now_ns)
{
    const uint64_t newer = hr_oom_counts_total(oom->counts) - oom->seen_kills;

    if (oom->log_fd < 0)
        return missing > 0 ? UINT64_MAX : 0;
    if (oom->missing_ns == 0 || now_ns - oom->missing_ns < CHECK_SOON_NS)
        return 0;
    return missing > newer ? missing - newer : 0;
}

static void note_missing(struct hr_oom *oom, uint64_t missing, uint64_t now_ns)
{
    if (missing == 0) {
        oom->missing_ns = 0;
    } else if (oom->missing_ns == 0 || now_ns - oom->missing_ns >= CHECK_SOON_NS) {
        oom->missing_ns = now_ns;
        oom->seen_kills = hr_oom_counts_total(oom->counts);
    }
}

static void report_unlogged_kills(struct hr_oom *oom, uint64_t now_ns,
                                  const struct reporter *reporter)
{
    const bool has_log = oom->log_fd >= 0;

    if (has_log && now_ns < oom->check_ns)
        return;
    const uint64_t missing = hr_oom_counts_read_machine(oom->counts);
    const uint64_t lost = count_lost(oom, missing, now_ns);
    if (lost > 0)
        report_missing(oom, lost, reporter);
    else if (missing == 0 && oom->is_behind && hr_oom_counts_read(oom->counts) == 0)
        oom->is_behind = !hr_oom_counts_rebase(oom->counts, true);
    note_missing(oom, lost > 0 ? missing - (missing < lost ? missing : lost) : missing, now_ns);
    oom->check_ns = now_ns + (has_log && oom->missing_ns == 0 ? CHECK_NS : CHECK_SOON_NS);
}

/* --- Reading --------------------------------------------------------------------------- */

static void report_logged(struct hr_oom *oom, const struct reporter *reporter)
{
    for (size_t i = 0; i < oom->count; i++) {
        struct hr_oom_kill *kill = &oom->kills[i].kill;
        if (kill->limit == HR_OOM_OF_GROUP && kill->limit_bytes == UINT64_MAX)
            kill->limit_bytes = hr_oom_counts_read_limit(oom->counts, kill->limit_path);
        reporter->report(kill, reporter->context);
    }
}

static void discard_event(__attribute__((unused)) int descriptor,
                          __attribute__((unused)) void *context)
{
}

uint64_t hr_oom_read(struct hr_oom *oom,
                     void (*report)(const struct hr_oom_kill *kill, void *context), void *context)
{
    const struct reporter reporter = {report, context};
    const uint64_t now_ns = hr_clock_ns();

    if (oom->inotify != NULL)
        hr_inotify_read(oom->inotify, discard_event, NULL);
    oom->count = 0;
    read_log(oom, now_ns);
    complete_logged_kills(oom);
    report_logged(oom, &reporter);
    if (oom->count == 0)
        report_unlogged_kills(oom, now_ns, &reporter);
    else if (oom->check_ns > now_ns + CHECK_SOON_NS)
        oom->check_ns = now_ns + CHECK_SOON_NS;
    oom->sources.count_status = hr_oom_counts_status(oom->counts);
    if (oom->count == BATCH)
        return now_ns;
    return oom->is_paused && now_ns + PAUSE_NS < oom->check_ns ? now_ns + PAUSE_NS : oom->check_ns;
}

/* --- Opening and closing --------------------------------------------------------------- */

int hr_oom_add_group(struct hr_oom *oom, const char *path)
{
    return oom->sources.version == 2 ? hr_oom_counts_add(oom->counts, path) : 0;
}

void hr_oom_remove_group(struct hr_oom *oom, const char *path)
{
    if (oom->sources.version == 2)
        hr_oom_counts_remove(oom->counts, path);
}

int hr_oom_fd(const struct hr_oom *oom)
{
    return oom->epoll;
}

struct hr_oom_sources hr_oom_sources(const struct hr_oom *oom)
{
    return oom->sources;
}

/* What happens meanwhile is counted, and not in the log. */
static int open_sources(struct hr_oom *oom)
{
    struct epoll_event event = {.events = EPOLLIN};
    int status = hr_oom_counts_open(oom->root, &oom->counts);

    if (status < 0)
        return status;
    oom->sources.count_status = hr_oom_counts_status(oom->counts);
    oom->sources.version = hr_oom_counts_version(oom->counts);
    oom->log_fd = hr_kmsg_open(oom->root);
    if (oom->log_fd >= 0 && epoll_ctl(oom->epoll, EPOLL_CTL_ADD, oom->log_fd, &event) < 0) {
        close(oom->log_fd);
        oom->log_fd = -ENODATA; /* a regular file */
    }
    if (oom->log_fd >= 0)
        return 0;
    oom->sources.log_status = oom->log_fd;
    oom->log_fd = -1;
    watch_groups(oom);
    return 0;
}

int hr_oom_open(const struct hr_root *root, struct hr_oom **oom)
{
    struct hr_oom *opened = calloc(1, sizeof(*opened));
    int status = -ENOMEM;

    if (opened == NULL)
        return -ENOMEM;
    opened->root = root;
    opened->log_fd = -1;
    opened->kills = calloc(BATCH, sizeof(*opened->kills));
    opened->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (opened->epoll < 0)
        status = -errno;
    else if (opened->kills != NULL)
        status = open_sources(opened);
    if (status < 0) {
        hr_oom_close(opened);
        return status;
    }
    *oom = opened;
    return 0;
}

void hr_oom_close(struct hr_oom *oom)
{
    if (oom == NULL)
        return;
    hr_oom_counts_close(oom->counts);
    hr_inotify_close(oom->inotify);
    if (oom->log_fd >= 0)
        close(oom->log_fd);
    if (oom->epoll >= 0)
        close(oom->epoll);
    free(oom->kills);
    free(oom);
}
