/* SPDX-License-Identifier: MIT */
/*
 * headroom/taken_cpus.h - who had the CPUs that a group waited for, as the psi plugin measures it
 * with Blame "always": its series of the group, as collectd has them.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_TAKEN_CPUS_H
#define HEADROOM_PLUGIN_HEADROOM_TAKEN_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "collectd.h"

#include "plugin.h"

/** A part of the time that a group's tasks waited for a CPU, in the psi plugin's last interval. */
struct taken_cpus_part {
    char taker[DATA_MAX_NAME_LEN]; /**< a group's instance, or "itself", "limit", "kworkers", … */
    double pct;                    /**< 0..100; of all parts 100 together */
};

/** All zeros is empty. */
struct taken_cpus {
    struct taken_cpus_part *parts; /**< the greatest first */
    size_t count, capacity;
};

/**
 * Reads who had the CPUs that a group waited for. It looks through all series that collectd has, so
 * it is for alarms rather than for intervals.
 *
 * @param instance  of the group.
 * @param taken     the caller ends it with taken_cpus_free(), whatever is returned.
 * @return whether that is known: it is measured, and the group waited.
 */
bool taken_cpus_read(const char *instance, struct taken_cpus *taken);

void taken_cpus_free(struct taken_cpus *taken);

#endif
