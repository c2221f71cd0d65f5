/* SPDX-License-Identifier: MIT */
#include "psi/counters.h"

#include "common/submit.h"
#include "headroom/array.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

/* What is published, copied so that the lock isn't held while collectd dispatches it. */
struct psi_counter_copy {
    char instance[DATA_MAX_NAME_LEN];
    char type_instance[DATA_MAX_NAME_LEN];
    int64_t events;
};

void psi_counters_init(struct psi_counters *counters)
{
    *counters = (struct psi_counters){.shown_count = 0};
    pthread_mutex_init(&counters->lock, NULL);
    TAILQ_INIT(&counters->shown);
}

void psi_counters_end(struct psi_counters *counters)
{
    pthread_mutex_destroy(&counters->lock);
    free(counters->copies);
}

void psi_counters_show(struct psi_counters *counters, struct psi_counter *counter)
{
    if (counter->shown)
        return;
    pthread_mutex_lock(&counters->lock);
    counter->shown = true;
    counters->shown_count++;
    TAILQ_INSERT_TAIL(&counters->shown, counter, entry);
    pthread_mutex_unlock(&counters->lock);
}

void psi_counters_hide(struct psi_counters *counters, struct psi_counter *counter)
{
    if (!counter->shown)
        return;
    pthread_mutex_lock(&counters->lock);
    counter->shown = false;
    counters->shown_count--;
    TAILQ_REMOVE(&counters->shown, counter, entry);
    pthread_mutex_unlock(&counters->lock);
}

void psi_counters_count(struct psi_counters *counters, struct psi_counter *counter)
{
    pthread_mutex_lock(&counters->lock);
    counter->events++;
    pthread_mutex_unlock(&counters->lock);
}

static size_t copy_counters(struct psi_counters *counters)
{
    struct psi_counter *counter;
    size_t count = 0;

    pthread_mutex_lock(&counters->lock);
    if (HR_ARRAY_RESERVE(counters->copies, counters->capacity, counters->shown_count) == 0)
        TAILQ_FOREACH(counter, &counters->shown, entry)
        {
            struct psi_counter_copy *copy = &counters->copies[count++];
            sstrncpy(copy->instance, counter->instance, sizeof(copy->instance));
            sstrncpy(copy->type_instance, counter->type_instance, sizeof(copy->type_instance));
            copy->events = counter->events;
        }
    pthread_mutex_unlock(&counters->lock);
    return count;
}

void psi_counters_publish(struct psi_counters *counters, cdtime_t time)
{
    size_t count = copy_counters(counters);

    for (size_t i = 0; i < count; i++) {
        const struct psi_counter_copy *copy = &counters->copies[i];
        const struct submission submission = {
            .plugin = PLUGIN, .instance = copy->instance, .time = time};
        submit_derive(&submission, "derive", copy->type_instance, copy->events);
    }
}
