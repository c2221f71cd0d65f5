/*
 * psi/counters.h - how often each armed trigger has fired: counted by the thread of the alerts,
 * published by the read callback.
 */
#ifndef HEADROOM_PLUGIN_PSI_COUNTERS_H
#define HEADROOM_PLUGIN_PSI_COUNTERS_H

#include "collectd.h"

#include "plugin.h"

#include <sys/queue.h>

/** One trigger's. Its texts must stay as long as it is shown. */
struct psi_counter {
    const char *instance;
    const char *type_instance;
    int64_t events;
    bool shown;
    TAILQ_ENTRY(psi_counter) entry;
};

/** All that are shown. */
struct psi_counters {
    pthread_mutex_t lock;
    TAILQ_HEAD(, psi_counter) shown;
    size_t shown_count;
    struct psi_counter_copy *copies; /**< the publisher's own */
    size_t capacity;
};

void psi_counters_init(struct psi_counters *counters);

/** No counter may be shown any more. */
void psi_counters_end(struct psi_counters *counters);

/** Publishes a counter from now on, or no longer. */
void psi_counters_show(struct psi_counters *counters, struct psi_counter *counter);
void psi_counters_hide(struct psi_counters *counters, struct psi_counter *counter);

/** Counts an event. */
void psi_counters_count(struct psi_counters *counters, struct psi_counter *counter);

/** Submits all that are shown. Nobody has to wait for that. */
void psi_counters_publish(struct psi_counters *counters, cdtime_t time);

#endif
