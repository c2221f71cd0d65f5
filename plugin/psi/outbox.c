/* SPDX-License-Identifier: MIT */
#include "psi/outbox.h"

#include "headroom/clock.h"

struct psi_queued_notification {
    notification_t notice;
    STAILQ_ENTRY(psi_queued_notification) entry;
};

void psi_outbox_init(struct psi_outbox *outbox, size_t limit)
{
    outbox->limit = limit;
    STAILQ_INIT(&outbox->queue);
}

void psi_outbox_close(struct psi_outbox *outbox)
{
    atomic_store(&outbox->is_closed, true);
}

void psi_outbox_end(struct psi_outbox *outbox)
{
    while (!STAILQ_EMPTY(&outbox->queue)) {
        struct psi_queued_notification *queued = STAILQ_FIRST(&outbox->queue);
        STAILQ_REMOVE_HEAD(&outbox->queue, entry);
        plugin_notification_meta_free(queued->notice.meta);
        free(queued);
    }
}

/* --- The limit ------------------------------------------------------------ */

/* Sends the summary of a second, or the OKAY after the last summary. */
static void send_summary(struct psi_outbox *outbox)
{
    notification_t notice;

    if (outbox->held > 0)
        psi_notification_held(&notice, outbox->held_severity, outbox->held, outbox->limit,
                              outbox->example);
    else if (outbox->has_held)
        psi_notification_none_held(&notice, outbox->limit);
    else
        return;
    outbox->has_held = outbox->held > 0;
    outbox->held = 0;
    psi_outbox_send(outbox, &notice);
}

static void start_second(struct psi_outbox *outbox)
{
    uint64_t now_ns = hr_clock_ns();

    if (outbox->second_ns != 0 && now_ns < outbox->second_ns + HR_NS_PER_S)
        return;
    outbox->second_ns = now_ns;
    outbox->sent = 0;
    send_summary(outbox);
}

static void hold_back(struct psi_outbox *outbox, const struct psi_subject *subject)
{
    int severity = subject->rule->severity;

    /* collectd's severities: the worse, the lower */
    if (outbox->held == 0 || severity < outbox->held_severity)
        outbox->held_severity = severity;
    outbox->held++;
    psi_notification_title(subject, outbox->example, sizeof(outbox->example));
}

bool psi_outbox_reserve(struct psi_outbox *outbox, const struct psi_subject *subject)
{
    if (atomic_load(&outbox->is_closed))
        return false;
    psi_outbox_tick(outbox);
    if (outbox->sent >= outbox->limit) {
        hold_back(outbox, subject);
        return false;
    }
    outbox->sent++;
    return true;
}

/* --- Dispatching ---------------------------------------------------------- */

void psi_outbox_send(struct psi_outbox *outbox, notification_t *notice)
{
    notice->time = cdtime();
    if (!atomic_load(&outbox->is_closed))
        plugin_dispatch_notification(notice);
    plugin_notification_meta_free(notice->meta);
    notice->meta = NULL;
}

/* The queue goes first, so a place can be reserved only while it is empty. */
static void send_queued(struct psi_outbox *outbox)
{
    while (!STAILQ_EMPTY(&outbox->queue) && outbox->sent < outbox->limit) {
        struct psi_queued_notification *queued = STAILQ_FIRST(&outbox->queue);
        STAILQ_REMOVE_HEAD(&outbox->queue, entry);
        outbox->sent++;
        psi_outbox_send(outbox, &queued->notice);
        free(queued);
    }
}

void psi_outbox_queue(struct psi_outbox *outbox, notification_t *notice)
{
    struct psi_queued_notification *queued = malloc(sizeof(*queued));

    if (queued == NULL) {
        psi_outbox_send(outbox, notice); /* over the limit, but not lost */
        return;
    }
    queued->notice = *notice;
    STAILQ_INSERT_TAIL(&outbox->queue, queued, entry);
    psi_outbox_tick(outbox);
}

uint64_t psi_outbox_deadline(const struct psi_outbox *outbox)
{
    if (outbox->held == 0 && !outbox->has_held && STAILQ_EMPTY(&outbox->queue))
        return UINT64_MAX;
    return outbox->second_ns + HR_NS_PER_S;
}

void psi_outbox_tick(struct psi_outbox *outbox)
{
    start_second(outbox);
    send_queued(outbox);
}
