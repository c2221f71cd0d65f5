/* SPDX-License-Identifier: MIT */
#include "common/dispatcher.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "common/complaint.h"
#include "common/thread.h"
#include "headroom/clock.h"

struct queued {
    uint64_t alarm;
    notification_t notice;
    STAILQ_ENTRY(queued) entry;
};

STAILQ_HEAD(queue, queued);

struct dispatcher {
    const char *plugin;
    size_t per_second;
    struct thread thread;
    int wake_fd; /* readable when something was queued; -1 */

    pthread_mutex_t lock; /* of what follows */
    struct queue beginnings, ends;
    size_t beginning_count;
    bool is_stopped;
    struct complaint is_full;

    uint64_t second_ns; /* the thread's own: when the current second began */
    size_t sent_count;  /* in it */
};

/* --- The thread ----------------------------------------------------------- */

static struct queued *take_next(struct dispatcher *dispatcher)
{
    struct queued *next = NULL;

    pthread_mutex_lock(&dispatcher->lock);
    if (!dispatcher->is_stopped && (next = STAILQ_FIRST(&dispatcher->beginnings)) != NULL) {
        STAILQ_REMOVE_HEAD(&dispatcher->beginnings, entry);
        dispatcher->beginning_count--;
    } else if (!dispatcher->is_stopped && (next = STAILQ_FIRST(&dispatcher->ends)) != NULL) {
        STAILQ_REMOVE_HEAD(&dispatcher->ends, entry);
    }
    pthread_mutex_unlock(&dispatcher->lock);
    return next;
}

static void free_queued(struct queued *queued)
{
    plugin_notification_meta_free(queued->notice.meta);
    free(queued);
}

/* @return when the next may be sent, UINT64_MAX: none waits. */
static uint64_t send_what_waits(struct dispatcher *dispatcher)
{
    struct queued *next;
    uint64_t now_ns = hr_clock_ns();

    if (now_ns - dispatcher->second_ns >= HR_NS_PER_S) {
        dispatcher->second_ns = now_ns;
        dispatcher->sent_count = 0;
    }
    while (dispatcher->sent_count < dispatcher->per_second) {
        if ((next = take_next(dispatcher)) == NULL)
            return UINT64_MAX;
        dispatcher->sent_count++;
        plugin_dispatch_notification(&next->notice);
        free_queued(next);
    }
    return dispatcher->second_ns + HR_NS_PER_S;
}

/* While the limit is reached, what is queued doesn't wake the thread. */
static void *dispatcher_main(void *context)
{
    struct dispatcher *dispatcher = context;
    eventfd_t count;
    uint64_t next_ns = UINT64_MAX;

    while (thread_wait_until(&dispatcher->thread, next_ns,
                             next_ns == UINT64_MAX ? dispatcher->wake_fd : -1)) {
        eventfd_read(dispatcher->wake_fd, &count);
        next_ns = send_what_waits(dispatcher);
    }
    return NULL;
}

/* --- Queueing ------------------------------------------------------------- */

static struct queued *find(struct queue *queue, uint64_t alarm)
{
    struct queued *queued;

    STAILQ_FOREACH(queued, queue, entry)
    if (queued->alarm == alarm)
        break;
    return queued;
}

static bool has(struct dispatcher *dispatcher, struct queue *queue, uint64_t alarm)
{
    pthread_mutex_lock(&dispatcher->lock);
    bool found = find(queue, alarm) != NULL;
    pthread_mutex_unlock(&dispatcher->lock);
    return found;
}

bool dispatcher_has_beginning(struct dispatcher *dispatcher, uint64_t alarm)
{
    return has(dispatcher, &dispatcher->beginnings, alarm);
}

bool dispatcher_has_end(struct dispatcher *dispatcher, uint64_t alarm)
{
    return has(dispatcher, &dispatcher->ends, alarm);
}

bool dispatcher_withdraw_end(struct dispatcher *dispatcher, uint64_t alarm)
{
    pthread_mutex_lock(&dispatcher->lock);
    struct queued *queued = find(&dispatcher->ends, alarm);
    if (queued != NULL)
        STAILQ_REMOVE(&dispatcher->ends, queued, queued, entry);
    pthread_mutex_unlock(&dispatcher->lock);
    if (queued != NULL)
        free_queued(queued);
    return queued != NULL;
}

bool dispatcher_has_room(struct dispatcher *dispatcher)
{
    pthread_mutex_lock(&dispatcher->lock);
    bool is_stopped = dispatcher->is_stopped;
    bool has_room = dispatcher->beginning_count < DISPATCHER_CAPACITY;
    pthread_mutex_unlock(&dispatcher->lock);
    if (is_stopped)
        return false;
    if (has_room)
        complaint_resolve(&dispatcher->is_full, "%s: new alarms can be reported again.",
                          dispatcher->plugin);
    else
        complaint_log(
            &dispatcher->is_full, LOG_WARNING, 1,
            "%s: %d notifications wait, so further alarms are reported only once there is "
            "room, if they last: a notification handler is slow or hangs (mail.conf and "
            "the like), or there are more than MaxNotificationsPerSecond (%zu).",
            dispatcher->plugin, DISPATCHER_CAPACITY, dispatcher->per_second);
    return has_room;
}

static struct queued *make_queued(uint64_t alarm, notification_t *notice)
{
    struct queued *queued = malloc(sizeof(*queued));

    if (queued != NULL)
        *queued = (struct queued){.alarm = alarm, .notice = *notice};
    else
        plugin_notification_meta_free(notice->meta);
    notice->meta = NULL;
    return queued;
}

bool dispatcher_begin(struct dispatcher *dispatcher, uint64_t alarm, notification_t *notice)
{
    struct queued *queued = make_queued(alarm, notice);

    if (queued == NULL)
        return false;
    if (!dispatcher_has_room(dispatcher)) {
        free_queued(queued);
        return false;
    }
    pthread_mutex_lock(&dispatcher->lock);
    STAILQ_INSERT_TAIL(&dispatcher->beginnings, queued, entry);
    dispatcher->beginning_count++;
    pthread_mutex_unlock(&dispatcher->lock);
    eventfd_write(dispatcher->wake_fd, 1);
    return true;
}

bool dispatcher_end(struct dispatcher *dispatcher, uint64_t alarm, notification_t *notice)
{
    struct queued *queued = make_queued(alarm, notice);

    if (queued == NULL)
        return false;
    pthread_mutex_lock(&dispatcher->lock);
    STAILQ_INSERT_TAIL(&dispatcher->ends, queued, entry);
    pthread_mutex_unlock(&dispatcher->lock);
    eventfd_write(dispatcher->wake_fd, 1);
    return true;
}

/* --- Life ----------------------------------------------------------------- */

static int start(struct dispatcher *dispatcher)
{
    dispatcher->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (dispatcher->wake_fd < 0)
        return -errno;
    int status = thread_open(&dispatcher->thread);
    if (status < 0)
        return status;
    return thread_start(&dispatcher->thread, dispatcher_main, dispatcher, "hr notify");
}

int dispatcher_open(const char *plugin, size_t per_second, struct dispatcher **dispatcher)
{
    struct dispatcher *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->plugin = plugin;
    opened->per_second = per_second;
    opened->wake_fd = -1;
    thread_init(&opened->thread);
    pthread_mutex_init(&opened->lock, NULL);
    STAILQ_INIT(&opened->beginnings);
    STAILQ_INIT(&opened->ends);
    int status = start(opened);
    if (status < 0) {
        dispatcher_close(opened);
        return status;
    }
    *dispatcher = opened;
    return 0;
}

void dispatcher_stop(struct dispatcher *dispatcher)
{
    if (dispatcher == NULL)
        return;
    pthread_mutex_lock(&dispatcher->lock);
    dispatcher->is_stopped = true;
    pthread_mutex_unlock(&dispatcher->lock);
    thread_stop(&dispatcher->thread);
}

static void empty_queue(struct queue *queue)
{
    struct queued *queued;

    while ((queued = STAILQ_FIRST(queue)) != NULL) {
        STAILQ_REMOVE_HEAD(queue, entry);
        free_queued(queued);
    }
}

void dispatcher_close(struct dispatcher *dispatcher)
{
    if (dispatcher == NULL)
        return;
    dispatcher_stop(dispatcher);
    empty_queue(&dispatcher->beginnings);
    empty_queue(&dispatcher->ends);
    if (dispatcher->wake_fd >= 0)
        close(dispatcher->wake_fd);
    pthread_mutex_destroy(&dispatcher->lock);
    free(dispatcher);
}
