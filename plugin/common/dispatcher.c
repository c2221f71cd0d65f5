/* SPDX-License-Identifier: MIT */
#include "common/dispatcher.h"

#include <errno.h>
#include <pthread.h>
#include <sys/queue.h>

#include "common/complaint.h"
#include "common/thread.h"
#include "headroom/clock.h"

/* An end waits for so long, as handlers that are programs run side by side: that of an alarm's end
 * must not overtake that of its beginning. */
#define END_NS HR_NS_PER_S

/* A handler that hangs doesn't hold up the shutdown for longer. */
#define STOP_S 5

struct queued {
    uint64_t alarm;
    uint64_t ready_ns; /* of an end: when it may be dispatched */
    notification_t notice;
    STAILQ_ENTRY(queued) entry;
};

STAILQ_HEAD(queue, queued);

struct dispatcher {
    const char *plugin;
    size_t per_second;
    struct thread thread; /* is woken when something was queued */

    pthread_mutex_t lock; /* of what follows */
    struct queue beginnings, ends;
    size_t beginning_count;
    uint64_t ending; /* the alarm whose end a handler has at the moment; 0: none */
    bool is_stopped;
    struct complaint is_full;

    uint64_t second_ns; /* the thread's own: when the current second began */
    size_t sent_count;  /* in it */
};

/* --- The thread ----------------------------------------------------------- */

/* The ends of an alarm whose beginning is being dispatched wait a little longer. */
static struct queued *take_beginning(struct dispatcher *dispatcher)
{
    struct queued *next = STAILQ_FIRST(&dispatcher->beginnings), *end;

    if (next == NULL)
        return NULL;
    STAILQ_REMOVE_HEAD(&dispatcher->beginnings, entry);
    dispatcher->beginning_count--;
    STAILQ_FOREACH(end, &dispatcher->ends, entry)
    if (end->alarm == next->alarm)
        end->ready_ns = hr_clock_ns() + END_NS;
    return next;
}

static struct queued *take_end(struct dispatcher *dispatcher)
{
    const uint64_t now_ns = hr_clock_ns();
    struct queued *next;

    STAILQ_FOREACH(next, &dispatcher->ends, entry)
    if (next->ready_ns <= now_ns)
        break;
    if (next == NULL)
        return NULL;
    STAILQ_REMOVE(&dispatcher->ends, next, queued, entry);
    dispatcher->ending = next->alarm;
    return next;
}

static struct queued *take_next(struct dispatcher *dispatcher)
{
    struct queued *next = NULL;

    pthread_mutex_lock(&dispatcher->lock);
    if (!dispatcher->is_stopped)
        next = take_beginning(dispatcher);
    if (!dispatcher->is_stopped && next == NULL)
        next = take_end(dispatcher);
    pthread_mutex_unlock(&dispatcher->lock);
    return next;
}

/* @return when the next end may be dispatched; UINT64_MAX: none waits. */
static uint64_t find_next_ready(struct dispatcher *dispatcher)
{
    uint64_t ready_ns = UINT64_MAX;
    const struct queued *end;

    pthread_mutex_lock(&dispatcher->lock);
    STAILQ_FOREACH(end, &dispatcher->ends, entry)
    if (end->ready_ns < ready_ns)
        ready_ns = end->ready_ns;
    pthread_mutex_unlock(&dispatcher->lock);
    return ready_ns;
}

static void dispatch(struct dispatcher *dispatcher, struct queued *queued)
{
    plugin_dispatch_notification(&queued->notice);
    pthread_mutex_lock(&dispatcher->lock);
    dispatcher->ending = 0;
    pthread_mutex_unlock(&dispatcher->lock);
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
            return find_next_ready(dispatcher);
        dispatcher->sent_count++;
        dispatch(dispatcher, next);
        free_queued(next);
    }
    return dispatcher->second_ns + HR_NS_PER_S;
}

static void *dispatcher_main(void *context)
{
    struct dispatcher *dispatcher = context;
    uint64_t next_ns = UINT64_MAX;

    while (thread_wait_until(&dispatcher->thread, next_ns, -1))
        next_ns = send_what_waits(dispatcher);
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

bool dispatcher_has_beginning(struct dispatcher *dispatcher, uint64_t alarm)
{
    pthread_mutex_lock(&dispatcher->lock);
    bool found = find(&dispatcher->beginnings, alarm) != NULL;
    pthread_mutex_unlock(&dispatcher->lock);
    return found;
}

bool dispatcher_has_end(struct dispatcher *dispatcher, uint64_t alarm)
{
    pthread_mutex_lock(&dispatcher->lock);
    bool found = dispatcher->ending == alarm || find(&dispatcher->ends, alarm) != NULL;
    pthread_mutex_unlock(&dispatcher->lock);
    return found;
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
    bool is_half_empty = dispatcher->beginning_count < DISPATCHER_CAPACITY / 2;
    pthread_mutex_unlock(&dispatcher->lock);
    if (is_stopped)
        return false;
    if (is_half_empty)
        complaint_resolve(&dispatcher->is_full, "%s: new alarms can be reported again.",
                          dispatcher->plugin);
    else if (!has_room)
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
        *queued =
            (struct queued){.alarm = alarm, .ready_ns = hr_clock_ns() + END_NS, .notice = *notice};
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
    thread_wake(&dispatcher->thread);
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
    thread_wake(&dispatcher->thread);
    return true;
}

/* --- Life ----------------------------------------------------------------- */

static int start(struct dispatcher *dispatcher)
{
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

bool dispatcher_stop(struct dispatcher *dispatcher)
{
    if (dispatcher == NULL)
        return true;
    pthread_mutex_lock(&dispatcher->lock);
    dispatcher->is_stopped = true;
    pthread_mutex_unlock(&dispatcher->lock);
    return thread_stop_within(&dispatcher->thread, STOP_S);
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
    if (!dispatcher_stop(dispatcher))
        return; /* the handler has it */
    empty_queue(&dispatcher->beginnings);
    empty_queue(&dispatcher->ends);
    pthread_mutex_destroy(&dispatcher->lock);
    free(dispatcher);
}
