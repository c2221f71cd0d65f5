/* SPDX-License-Identifier: MIT */
#include "common/dispatcher.h"

#include <errno.h>
#include <pthread.h>
#include <sys/queue.h>

#include "common/complaint.h"
#include "common/thread.h"
#include "headroom/clock.h"

/* How long the end of an alarm is held back: handlers that are programs run side by side, and that
 * of the end must not overtake that of the beginning. */
#define END_NS HR_NS_PER_S

/* How long the beginning of an alarm waits at most until it is saved. */
#define HOLD_NS (HR_NS_PER_S / 2)

/* How long a handler that hangs may delay the shutdown. */
#define STOP_S 5

struct queued {
    uint64_t alarm;
    uint64_t record;   /* of a beginning: what must be saved first */
    uint64_t ready_ns; /* when it may be dispatched; a beginning then even if it isn't saved */
    notification_t notice;
    STAILQ_ENTRY(queued) entry;
};

STAILQ_HEAD(queue, queued);

struct dispatcher {
    const char *plugin;
    size_t per_second;
    const char *option;   /* of that limit; NULL: it is fixed */
    struct thread thread; /* is woken when something was queued */

    pthread_mutex_t lock; /* of what follows, up to is_full */
    struct queue beginnings, ends;
    size_t beginning_count;
    size_t end_count;
    uint64_t saved;   /* the last record */
    uint64_t current; /* the alarm whose notification a handler has now; 0: none */
    bool is_stopped;
    struct complaint is_full;

    uint64_t second_ns; /* used by the thread only: when the current second began */
    size_t sent_count;  /* in it */
};

/* --- The thread ----------------------------------------------------------- */

/* The ends of an alarm whose beginning is being dispatched wait a little longer. */
static struct queued *take_beginning(struct dispatcher *dispatcher)
{
    struct queued *next = STAILQ_FIRST(&dispatcher->beginnings), *end;

    if (next->record > dispatcher->saved && next->ready_ns > hr_clock_ns())
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
    dispatcher->end_count--;
    return next;
}

static struct queued *take_next(struct dispatcher *dispatcher)
{
    struct queued *next = NULL;

    pthread_mutex_lock(&dispatcher->lock);
    if (!dispatcher->is_stopped)
        next = STAILQ_EMPTY(&dispatcher->beginnings) ? take_end(dispatcher)
                                                     : take_beginning(dispatcher);
    dispatcher->current = next != NULL ? next->alarm : 0;
    pthread_mutex_unlock(&dispatcher->lock);
    return next;
}

/* @return when the next may be dispatched; UINT64_MAX: none waits. */
static uint64_t find_next_ready(struct dispatcher *dispatcher)
{
    uint64_t ready_ns = UINT64_MAX;
    const struct queued *next;

    pthread_mutex_lock(&dispatcher->lock);
    if ((next = STAILQ_FIRST(&dispatcher->beginnings)) != NULL)
        ready_ns = next->ready_ns;
    else
        STAILQ_FOREACH(next, &dispatcher->ends, entry)
    if (next->ready_ns < ready_ns)
        ready_ns = next->ready_ns;
    pthread_mutex_unlock(&dispatcher->lock);
    return ready_ns;
}

static void dispatch_queued(struct dispatcher *dispatcher, struct queued *queued)
{
    plugin_dispatch_notification(&queued->notice);
    pthread_mutex_lock(&dispatcher->lock);
    dispatcher->current = 0;
    pthread_mutex_unlock(&dispatcher->lock);
}

static void free_queued(struct queued *queued)
{
    plugin_notification_meta_free(queued->notice.meta);
    free(queued);
}

/* @return when the next may be sent, UINT64_MAX: none waits. */
static uint64_t dispatch_ready(struct dispatcher *dispatcher)
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
        dispatch_queued(dispatcher, next);
        free_queued(next);
    }
    return dispatcher->second_ns + HR_NS_PER_S;
}

static void *dispatcher_main(void *context)
{
    struct dispatcher *dispatcher = context;
    uint64_t next_ns = UINT64_MAX;

    while (thread_wait_until(&dispatcher->thread, next_ns, -1))
        next_ns = dispatch_ready(dispatcher);
    return NULL;
}

/* --- Queueing ------------------------------------------------------------- */

static struct queued *find_queued(struct queue *queue, uint64_t alarm)
{
    struct queued *queued;

    STAILQ_FOREACH(queued, queue, entry)
    if (queued->alarm == alarm)
        break;
    return queued;
}

bool dispatcher_withdraw_end(struct dispatcher *dispatcher, uint64_t alarm)
{
    pthread_mutex_lock(&dispatcher->lock);
    struct queued *queued = find_queued(&dispatcher->ends, alarm);
    if (queued != NULL) {
        STAILQ_REMOVE(&dispatcher->ends, queued, queued, entry);
        dispatcher->end_count--;
    }
    pthread_mutex_unlock(&dispatcher->lock);
    if (queued != NULL)
        free_queued(queued);
    return queued != NULL;
}

bool dispatcher_can_queue(struct dispatcher *dispatcher)
{
    pthread_mutex_lock(&dispatcher->lock);
    bool is_stopped = dispatcher->is_stopped;
    bool can_queue = dispatcher->beginning_count < DISPATCHER_CAPACITY;
    bool is_half_empty = dispatcher->beginning_count < DISPATCHER_CAPACITY / 2;
    pthread_mutex_unlock(&dispatcher->lock);
    if (is_stopped)
        return false;
    if (is_half_empty)
        complaint_resolve(&dispatcher->is_full, "%s: new alarms can be reported again.",
                          dispatcher->plugin);
    else if (!can_queue)
        complaint_log(
            &dispatcher->is_full, LOG_WARNING, 1,
            "%s: %d notifications are queued, so new alarms aren't reported until the queue "
            "shortens: a notification handler (such as headroom-mail) is slow or hangs, or there "
            "are more than %zu a second%s%s.",
            dispatcher->plugin, DISPATCHER_CAPACITY, dispatcher->per_second,
            dispatcher->option != NULL ? ", the limit by " : "",
            dispatcher->option != NULL ? dispatcher->option : "");
    return can_queue;
}

static struct queued *make_queued(uint64_t alarm, uint64_t wait_ns, notification_t *notice)
{
    struct queued *queued = malloc(sizeof(*queued));

    if (queued != NULL)
        *queued =
            (struct queued){.alarm = alarm, .ready_ns = hr_clock_ns() + wait_ns, .notice = *notice};
    else
        plugin_notification_meta_free(notice->meta);
    notice->meta = NULL;
    return queued;
}

bool dispatcher_queue_beginning(struct dispatcher *dispatcher, uint64_t alarm, uint64_t record,
                                notification_t *notice)
{
    struct queued *queued = make_queued(alarm, HOLD_NS, notice);

    if (queued == NULL)
        return false;
    if (!dispatcher_can_queue(dispatcher)) {
        free_queued(queued);
        return false;
    }
    queued->record = record;
    pthread_mutex_lock(&dispatcher->lock);
    STAILQ_INSERT_TAIL(&dispatcher->beginnings, queued, entry);
    dispatcher->beginning_count++;
    pthread_mutex_unlock(&dispatcher->lock);
    thread_wake(&dispatcher->thread);
    return true;
}

bool dispatcher_queue_end(struct dispatcher *dispatcher, uint64_t alarm, notification_t *notice)
{
    struct queued *queued = make_queued(alarm, END_NS, notice);

    if (queued == NULL)
        return false;
    pthread_mutex_lock(&dispatcher->lock);
    STAILQ_INSERT_TAIL(&dispatcher->ends, queued, entry);
    dispatcher->end_count++;
    pthread_mutex_unlock(&dispatcher->lock);
    thread_wake(&dispatcher->thread);
    return true;
}

void dispatcher_set_saved(struct dispatcher *dispatcher, uint64_t record)
{
    pthread_mutex_lock(&dispatcher->lock);
    if (record > dispatcher->saved)
        dispatcher->saved = record;
    if (!dispatcher->is_stopped) /* its descriptor may be closed by now */
        thread_wake(&dispatcher->thread);
    pthread_mutex_unlock(&dispatcher->lock);
}

/* --- What waits ----------------------------------------------------------- */

static int compare_alarms(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* @param alarms  has room. */
static void list_queue(const struct queue *queue, uint64_t *alarms)
{
    const struct queued *queued;
    size_t count = 0;

    STAILQ_FOREACH(queued, queue, entry)
    alarms[count++] = queued->alarm;
    qsort(alarms, count, sizeof(*alarms), compare_alarms);
}

/* What is allocated while the lock is held is small. */
int dispatcher_list_waiting(struct dispatcher *dispatcher, struct dispatcher_waiting *waiting)
{
    pthread_mutex_lock(&dispatcher->lock);
    *waiting = (struct dispatcher_waiting){
        .beginnings = calloc(dispatcher->beginning_count + 1, sizeof(uint64_t)),
        .ends = calloc(dispatcher->end_count + 1, sizeof(uint64_t)),
        .beginning_count = dispatcher->beginning_count,
        .end_count = dispatcher->end_count,
        .current = dispatcher->current,
    };
    bool has_memory = waiting->beginnings != NULL && waiting->ends != NULL;
    if (has_memory) {
        list_queue(&dispatcher->beginnings, waiting->beginnings);
        list_queue(&dispatcher->ends, waiting->ends);
    }
    pthread_mutex_unlock(&dispatcher->lock);
    if (has_memory)
        return 0;
    dispatcher_waiting_free(waiting);
    return -ENOMEM;
}

static bool has_alarm(const uint64_t *alarms, size_t count, uint64_t alarm)
{
    return count > 0 && bsearch(&alarm, alarms, count, sizeof(*alarms), compare_alarms) != NULL;
}

bool dispatcher_waiting_has_beginning(const struct dispatcher_waiting *waiting, uint64_t alarm)
{
    return has_alarm(waiting->beginnings, waiting->beginning_count, alarm);
}

bool dispatcher_waiting_has_end(const struct dispatcher_waiting *waiting, uint64_t alarm)
{
    return has_alarm(waiting->ends, waiting->end_count, alarm);
}

void dispatcher_waiting_free(struct dispatcher_waiting *waiting)
{
    free(waiting->beginnings);
    free(waiting->ends);
    *waiting = (struct dispatcher_waiting){.current = 0};
}

/* --- Opening and closing -------------------------------------------------- */

static int start_dispatcher(struct dispatcher *dispatcher)
{
    int status = thread_open(&dispatcher->thread);
    char name[16]; /* the kernel's limit */

    if (status < 0)
        return status;
    snprintf(name, sizeof(name), "%s notify", dispatcher->plugin);
    return thread_start(&dispatcher->thread, dispatcher_main, dispatcher, name);
}

int dispatcher_open(const char *plugin, size_t per_second, const char *option,
                    struct dispatcher **dispatcher)
{
    struct dispatcher *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->plugin = plugin;
    opened->per_second = per_second;
    opened->option = option;
    thread_init(&opened->thread);
    pthread_mutex_init(&opened->lock, NULL);
    STAILQ_INIT(&opened->beginnings);
    STAILQ_INIT(&opened->ends);
    int status = start_dispatcher(opened);
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
