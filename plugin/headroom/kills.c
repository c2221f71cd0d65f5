/* SPDX-License-Identifier: MIT */
#include "headroom/kills.h"

#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <sys/queue.h>

#include "common/complaint.h"
#include "common/dispatcher.h"
#include "common/log.h"
#include "common/thread.h"
#include "headroom/clock.h"
#include "headroom/kill_message.h"
#include "utils/common/common.h"

#define PLUGIN "headroom"

/* Notifications per second, as those of <Alert>. */
#define PER_SECOND 20

/* When to look whether handlers have taken some, while too many wait. */
#define FULL_NS HR_NS_PER_S

/* A group that is measured. */
struct measured {
    const char *path; /* first, see compare_paths() */
    const char *instance;
};

/* A notification that can't be queued yet. */
struct waiting {
    notification_t notice;
    STAILQ_ENTRY(waiting) entry;
};

struct kills {
    struct thread thread;
    struct dispatcher *dispatcher;
    struct complaint counts, log;

    pthread_mutex_t lock; /* of what follows */
    struct hr_oom *oom;
    void *by_path; /* tsearch(3) tree of struct measured */

    uint64_t number; /* the thread's own, as what follows: of the last kill */
    STAILQ_HEAD(, waiting) waiting;
};

/* --- Groups ------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* @return the instance of the nearest measured group; NULL: there is none. */
static const char *find_instance(const struct kills *kills, const char *path)
{
    char above[PATH_MAX], *slash;
    const char *key = above;

    sstrncpy(above, path, sizeof(above));
    for (;;) {
        struct measured **found = tfind(&key, &kills->by_path, compare_paths);
        if (found != NULL)
            return (*found)->instance;
        if ((slash = strrchr(above, '/')) == NULL)
            return NULL;
        *slash = '\0';
    }
}

void kills_add_group(struct kills *kills, const char *path, const char *instance)
{
    struct measured *added = malloc(sizeof(*added));

    if (added == NULL)
        return; /* its name is then made of its path */
    *added = (struct measured){path, instance};
    pthread_mutex_lock(&kills->lock);
    struct measured **found = tsearch(added, &kills->by_path, compare_paths);
    if (found == NULL || *found != added)
        free(added);
    hr_oom_add_group(kills->oom, path);
    pthread_mutex_unlock(&kills->lock);
}

void kills_remove_group(struct kills *kills, const char *path)
{
    pthread_mutex_lock(&kills->lock);
    struct measured **found = tfind(&path, &kills->by_path, compare_paths), *removed = NULL;
    if (found != NULL) {
        removed = *found;
        tdelete(&path, &kills->by_path, compare_paths);
    }
    hr_oom_remove_group(kills->oom, path);
    pthread_mutex_unlock(&kills->lock);
    free(removed);
}

/* --- Notifying ---------------------------------------------------------------------- */

/* @return whether it was queued. */
static bool queue_notification(struct kills *kills, notification_t *notice)
{
    return dispatcher_can_queue(kills->dispatcher) &&
           dispatcher_queue_beginning(kills->dispatcher, ++kills->number, 0, notice);
}

static void defer_notification(struct kills *kills, notification_t *notice)
{
    struct waiting *added = malloc(sizeof(*added));

    if (added == NULL) {
        plugin_notification_meta_free(notice->meta);
        ERROR(PLUGIN ": an OOM kill isn't reported: out of memory.");
        return;
    }
    added->notice = *notice;
    STAILQ_INSERT_TAIL(&kills->waiting, added, entry);
}

static void report_kill(const struct hr_oom_kill *kill, void *context)
{
    struct kills *kills = context;
    notification_t notice;

    kill_message_init(&notice, kill, find_instance(kills, kill->path),
                      hr_oom_sources(kills->oom).version);
    if (!STAILQ_EMPTY(&kills->waiting) || !queue_notification(kills, &notice))
        defer_notification(kills, &notice);
}

/* @return whether none waits any more. */
static bool queue_waiting(struct kills *kills)
{
    struct waiting *first;

    while ((first = STAILQ_FIRST(&kills->waiting)) != NULL) {
        if (!queue_notification(kills, &first->notice))
            return false;
        STAILQ_REMOVE_HEAD(&kills->waiting, entry);
        free(first);
    }
    return true;
}

/* --- What can't be known ------------------------------------------------------------ */

static const char *log_remedy(int status)
{
    switch (status) {
    case -EPERM:
    case -EACCES:
        return "run collectd as root, or with CAP_SYSLOG";
    case -EMFILE:
    case -ENFILE:
        return "raise LimitNOFILE= of collectd's service (ulimit -n)";
    default:
        return "let collectd have the host's /dev/kmsg, as in a container";
    }
}

static void log_without_log(struct kills *kills, const struct hr_oom_sources *sources)
{
    const int status = sources->log_status;
    const char *cause = status == -ENODATA ? "it isn't the kernel's" : STRERROR(-status);

    if (sources->version == 2)
        complaint_log(&kills->log, LOG_NOTICE, status,
                      PLUGIN
                      ": OOM: notifications lack names and order of the killed processes, as "
                      "/dev/kmsg can't be read: %s: %s.",
                      cause, log_remedy(status));
    else
        complaint_log(&kills->log, LOG_NOTICE, status,
                      PLUGIN ": OOM: only the number of kills on the machine is known, as "
                             "/dev/kmsg can't be read: %s: %s.",
                      cause, log_remedy(status));
}

static void log_without_counts(struct kills *kills, const struct hr_oom_sources *sources)
{
    const int status = sources->count_status;
    const char *cause = status == -ENODATA ? "it isn't there" : STRERROR(-status);

    if (sources->log_status == 0 || sources->version == 2)
        complaint_log(&kills->counts, LOG_WARNING, status,
                      PLUGIN
                      ": OOM: kills that aren't in the kernel's log are reported only for selected "
                      "cgroups of cgroup2, as oom_kill in /proc/vmstat can't be read: %s.",
                      cause);
    else
        complaint_log(&kills->counts, LOG_ERR, status,
                      PLUGIN ": OOM: no kill can be reported, as neither /dev/kmsg (%s: %s) nor "
                             "oom_kill in /proc/vmstat (%s) can be read.",
                      STRERROR(-sources->log_status), log_remedy(sources->log_status), cause);
}

static void log_sources(struct kills *kills, const struct hr_oom_sources *sources)
{
    if (sources->count_status == 0)
        complaint_resolve(&kills->counts, PLUGIN ": OOM: oom_kill in /proc/vmstat is being read.");
    else
        log_without_counts(kills, sources);
    if (sources->log_status < 0 && (sources->count_status == 0 || sources->version == 2))
        log_without_log(kills, sources);
}

/* --- The thread --------------------------------------------------------------------- */

/* While too many wait, new ones stay with the kernel. */
static uint64_t read_kills(struct kills *kills)
{
    if (!queue_waiting(kills))
        return hr_clock_ns() + FULL_NS;
    pthread_mutex_lock(&kills->lock);
    const uint64_t next_ns = hr_oom_read(kills->oom, report_kill, kills);
    const struct hr_oom_sources sources = hr_oom_sources(kills->oom);
    pthread_mutex_unlock(&kills->lock);
    log_sources(kills, &sources);
    return next_ns;
}

static void *kills_main(void *context)
{
    struct kills *kills = context;
    const int fd = hr_oom_fd(kills->oom);
    uint64_t next_ns = 0;

    while (thread_wait_until(&kills->thread, next_ns, STAILQ_EMPTY(&kills->waiting) ? fd : -1))
        next_ns = read_kills(kills);
    return NULL;
}

/* --- Opening and closing ------------------------------------------------------------ */

static int start_kills(struct kills *kills, const struct hr_root *root)
{
    int status = dispatcher_open(PLUGIN, PER_SECOND, NULL, &kills->dispatcher);

    if (status == 0)
        status = hr_oom_open(root, &kills->oom);
    if (status == 0)
        status = thread_open(&kills->thread);
    if (status == 0)
        status = thread_start(&kills->thread, kills_main, kills, "headroom oom");
    return status;
}

int kills_open(const struct hr_root *root, struct kills **kills)
{
    struct kills *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    thread_init(&opened->thread);
    pthread_mutex_init(&opened->lock, NULL);
    STAILQ_INIT(&opened->waiting);
    int status = start_kills(opened, root);
    if (status < 0) {
        kills_close(opened);
        return status;
    }
    *kills = opened;
    return 0;
}

/* A handler that hangs keeps the dispatcher. */
void kills_close(struct kills *kills)
{
    struct waiting *first;

    if (kills == NULL)
        return;
    thread_stop(&kills->thread);
    dispatcher_close(kills->dispatcher);
    while ((first = STAILQ_FIRST(&kills->waiting)) != NULL) {
        STAILQ_REMOVE_HEAD(&kills->waiting, entry);
        plugin_notification_meta_free(first->notice.meta);
        free(first);
    }
    hr_oom_close(kills->oom);
    tdestroy(kills->by_path, free);
    pthread_mutex_destroy(&kills->lock);
    free(kills);
}
