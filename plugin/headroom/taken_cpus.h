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

#include "headroom/blame_taker.h"

struct taken_cpus_name {
    size_t begin;  /**< in the text */
    cdtime_t time; /**< of its last value */
};

/** The names of all these series of an interval, in order; all zeros: none. */
struct taken_cpus {
    cdtime_t time;     /**< when the interval ended */
    bool is_listed;    /**< they are those of this interval */
    bool are_none;     /**< when they were listed, collectd had none, of any age or interval, */
    size_t cache_size; /**< and so many series in all */
    char *text;        /**< the names one after the other, each with a NUL */
    size_t text_size, text_capacity;
    struct taken_cpus_name *names;
    size_t count, capacity;
};

/** A part of the time that a group's tasks waited for a CPU, in the psi plugin's last interval. */
struct taken_cpus_part {
    enum hr_blame_taker kind;
    char taker[DATA_MAX_NAME_LEN]; /**< a group's instance, or the name of the kind */
    double pct;                    /**< 0..100; of all parts 100 together */
};

/** More than the psi plugin has of a group. */
#define TAKEN_CPUS_MOST 32

/** The greatest first. */
struct taken_cpus_parts {
    struct taken_cpus_part list[TAKEN_CPUS_MOST];
    size_t count;
};

/** Begins an interval. @param time  of its values. */
void taken_cpus_begin(struct taken_cpus *taken, cdtime_t time);

/**
 * Finds who had the CPUs that a group waited for. The first call in an interval looks through all
 * series that collectd has; but if there were none of these, only once it has more, or fewer.
 *
 * @param instance   of the group.
 * @param stall_pct  how much of the time any of its tasks waited, those of groups below, too.
 * @return whether that is known: the psi plugin has the same interval as this one, whose read
 *         callback this is, and its last one is of half of that time at least. Of a group above
 *         others that are selected, it has the group's own tasks only.
 */
bool taken_cpus_find(struct taken_cpus *taken, const char *instance, double stall_pct,
                     struct taken_cpus_parts *parts);

void taken_cpus_free(struct taken_cpus *taken);

#endif
