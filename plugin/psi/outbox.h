/* SPDX-License-Identifier: MIT */
/*
 * psi/outbox.h - dispatches notifications, at most so many a second.
 *
 * Notifications of stalls over the limit are held back, and a summary gives their number; after a
 * second in which none was held back, an OKAY follows. A place is reserved when the stall happens;
 * a notification that names waiting tasks is dispatched a little later, so that a second may see
 * more than the limit.
 *
 * Notifications that end an alarm are never dropped: they are queued, and nothing overtakes them.
 *
 * Dispatching runs collectd's notification handlers in the calling thread: no lock may be held.
 */
#ifndef HEADROOM_PLUGIN_PSI_OUTBOX_H
#define HEADROOM_PLUGIN_PSI_OUTBOX_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "psi/notification.h"

struct psi_outbox {
    atomic_bool is_closed; /**< nothing is dispatched any more */
    size_t limit;          /**< a second, without the summary */
    uint64_t second_ns;    /**< when the current second began */
    size_t sent;           /**< in it, or reserved */
    size_t held;           /**< held back in it */
    bool has_held;         /**< in an earlier second, and the OKAY wasn't sent yet */
    int held_severity;     /**< the worst of those held back */
    char example[256];     /**< the last of those held back */
    STAILQ_HEAD(, psi_queued_notification) queue;
};

/** Initializes an outbox. */
void psi_outbox_init(struct psi_outbox *outbox, size_t limit);

/** Stops dispatching, so that no thread has to wait for handlers. Any thread may call it. */
void psi_outbox_close(struct psi_outbox *outbox);

/** Frees what is queued, after psi_outbox_close(). */
void psi_outbox_end(struct psi_outbox *outbox);

/** Reserves a place for the notification of a stall. @return false: it is held back, and counted.
 */
bool psi_outbox_reserve(struct psi_outbox *outbox, const struct psi_subject *subject);

/** Dispatches a notification that has a place, and frees its metadata. */
void psi_outbox_send(struct psi_outbox *outbox, notification_t *notice);

/** Dispatches a notification as soon as the limit allows, and frees its metadata. */
void psi_outbox_queue(struct psi_outbox *outbox, notification_t *notice);

/** When psi_outbox_tick() has something to do; UINT64_MAX: never. */
uint64_t psi_outbox_deadline(const struct psi_outbox *outbox);

/** Sends the summary and queued notifications that are due. */
void psi_outbox_tick(struct psi_outbox *outbox);

#endif
