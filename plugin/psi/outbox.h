/*
 * psi/outbox.h - notifications on their way out, at most so many a second.
 *
 * What tells of a stall is held back where there is no room, and a summary tells how many were;
 * when none was for a second, that is told, too. Room is given when a stall happens: what names who
 * waits goes out a little later, so that a second may see more than the limit.
 *
 * What ends an alarm must go out, be it later: it waits for its turn, and nothing overtakes it.
 *
 * Dispatching runs collectd's handlers of notifications, in this thread: no lock may be held.
 */
#ifndef HEADROOM_PLUGIN_PSI_OUTBOX_H
#define HEADROOM_PLUGIN_PSI_OUTBOX_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "psi/notification.h"

struct psi_outbox {
    atomic_bool is_closed; /**< nothing goes out any more */
    size_t limit;          /**< a second; the summary comes on top */
    uint64_t second_ns;    /**< when the second under way began */
    size_t sent;           /**< in it, or promised */
    size_t held;           /**< in it */
    bool has_held;         /**< in a second before, and that it is over was not told yet */
    int held_severity;     /**< the worst of these */
    char example[256];     /**< the last of these */
    STAILQ_HEAD(, psi_letter) queue;
};

/** Begins. */
void psi_outbox_init(struct psi_outbox *outbox, size_t limit);

/** Lets nothing out any more, so that nobody has to wait for handlers; any thread may. */
void psi_outbox_close(struct psi_outbox *outbox);

/** Ends, when it is closed. */
void psi_outbox_end(struct psi_outbox *outbox);

/** Asks for room for the notification of a stall. @return whether there is; else it is counted. */
bool psi_outbox_reserve(struct psi_outbox *outbox, const struct psi_subject *subject);

/** Dispatches a notification for which there was room, and ends its metadata. */
void psi_outbox_send(struct psi_outbox *outbox, notification_t *notice);

/** Dispatches a notification as soon as there is room, and ends its metadata. */
void psi_outbox_queue(struct psi_outbox *outbox, notification_t *notice);

/** When psi_outbox_tick() has something to do; UINT64_MAX: never. */
uint64_t psi_outbox_deadline(const struct psi_outbox *outbox);

/** Does what is due. */
void psi_outbox_tick(struct psi_outbox *outbox);

#endif
