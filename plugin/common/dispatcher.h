/* SPDX-License-Identifier: MIT */
/*
 * common/dispatcher.h - hands notifications to collectd's handlers, in a thread of its own: a
 * handler that is slow or hangs delays nothing but later notifications.
 *
 * Beginnings of alarms go before their ends, so that a thousand ends don't hide a new alarm; but of
 * one alarm all stay in their order. At most so many are dispatched per second, as collectd's exec
 * plugin forks for each; the others wait. The ends that wait are bounded by the alarms that have
 * begun, the beginnings by DISPATCHER_CAPACITY. An end waits a second, and so long after its
 * beginning was dispatched: handlers that are programs run side by side.
 *
 * A beginning waits until it is on record that the alarm is open, so that a crash doesn't leave it
 * open at the receivers; but for half a second at most, as the disk may be what is stalled.
 *
 * But for dispatcher_set_saved() and dispatcher_stop(), one thread may use a dispatcher at a time.
 */
#ifndef HEADROOM_PLUGIN_COMMON_DISPATCHER_H
#define HEADROOM_PLUGIN_COMMON_DISPATCHER_H

#include "collectd.h"

#include "plugin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How many beginnings may wait. */
#define DISPATCHER_CAPACITY 1000

struct dispatcher;

/**
 * Opens a dispatcher and starts its thread.
 *
 * @param plugin      the plugin's name, for messages and the thread's; kept.
 * @param per_second  the limit.
 * @param option      the plugin's option that sets it, for messages; kept. NULL: there is none.
 * @return 0 or a negative errno.
 */
int dispatcher_open(const char *plugin, size_t per_second, const char *option,
                    struct dispatcher **dispatcher);

/**
 * Stops dispatching, after the notification that a handler has at the moment. Those that wait are
 * never dispatched; no beginning can be queued any more, but ends can, and what
 * waits may be listed. NULL is allowed.
 *
 * @return false if a handler has hung for five seconds: then the dispatcher must not be closed.
 */
bool dispatcher_stop(struct dispatcher *dispatcher);

/** Stops, if it hasn't been, and frees the dispatcher, unless a handler hangs, which keeps it. NULL
 * is allowed. */
void dispatcher_close(struct dispatcher *dispatcher);

/**
 * Queues the beginning of an alarm, or that it lasts.
 *
 * @param alarm   identifies the alarms of one series, which come one after the other; not 0.
 * @param record  the number of the record that the alarm is open, see dispatcher_set_saved(); 0:
 *                it doesn't wait for one.
 * @param notice  copied; its metadata is taken over, also on failure.
 * @return whether it was queued. That the queue is full is logged, once until it shortens.
 */
bool dispatcher_queue_beginning(struct dispatcher *dispatcher, uint64_t alarm, uint64_t record,
                                notification_t *notice);

/** All records up to this one are saved, or can't be. May be called by any thread. */
void dispatcher_set_saved(struct dispatcher *dispatcher, uint64_t record);

/** Queues the end of an alarm, as dispatcher_queue_beginning() does.
 * @return false for lack of memory. */
bool dispatcher_queue_end(struct dispatcher *dispatcher, uint64_t alarm, notification_t *notice);

/** Whether a beginning could be queued now. That the queue is full is logged, as above. */
bool dispatcher_can_queue(struct dispatcher *dispatcher);

/** Withdraws the end of an alarm that goes on after all. @return whether the end still waited. */
bool dispatcher_withdraw_end(struct dispatcher *dispatcher, uint64_t alarm);

/** Alarms of which something hasn't been dispatched yet; each list is sorted. */
struct dispatcher_waiting {
    uint64_t *beginnings, *ends;
    size_t beginning_count, end_count;
    uint64_t current; /**< of which a handler has something at the moment; 0: none */
};

/** Lists what waits. @return 0; -ENOMEM: it is empty. */
int dispatcher_list_waiting(struct dispatcher *dispatcher, struct dispatcher_waiting *waiting);

/** Whether a beginning, or an end, of an alarm waits. That which a handler has doesn't. */
bool dispatcher_waiting_has_beginning(const struct dispatcher_waiting *waiting, uint64_t alarm);
bool dispatcher_waiting_has_end(const struct dispatcher_waiting *waiting, uint64_t alarm);

void dispatcher_waiting_free(struct dispatcher_waiting *waiting);

#endif
