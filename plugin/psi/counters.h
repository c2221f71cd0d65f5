/* SPDX-License-Identifier: MIT */
/*
 * psi/counters.h - how often each armed trigger has fired: counted by the thread of the alerts,
 * published by the read callback.
 */
#ifndef HEADROOM_PLUGIN_PSI_COUNTERS_H
#define HEADROOM_PLUGIN_PSI_COUNTERS_H

#include "collectd.h"

#include "plugin.h"

#include <sys/queue.h>

/** The counter of one trigger. Its texts must outlive its being shown. */
struct psi_counter {
    const char *instance;
    const char *type_instance;
    int64_t events;
    bool shown;
    TAILQ_ENTRY(psi_counter) entry;
};

/** The counters that are shown, which means published. */
struct psi_counters {
    pthread_mutex_t lock;
    TAILQ_HEAD(, psi_counter) shown;
    size_t shown_count;
    struct psi_counter_copy *copies; /**< of the read callback alone */
    size_t capacity;
};

void psi_counters_init(struct psi_counters *counters);

/** Frees the counters; none may be shown. */
void psi_counters_end(struct psi_counters *counters);

/** Publishes a counter from now on; no longer. */
void psi_counters_show(struct psi_counters *counters, struct psi_counter *counter);
void psi_counters_hide(struct psi_counters *counters, struct psi_counter *counter);

/** Counts an event. */
void psi_counters_count(struct psi_counters *counters, struct psi_counter *counter);

/** Submits all that are shown. The lock isn't held meanwhile. */
void psi_counters_publish(struct psi_counters *counters, cdtime_t time);

#endif
