/* SPDX-License-Identifier: MIT */
/*
 * psi/taken.h - the series of one group that say who took the CPU from it: counters that grow by
 * each interval.
 *
 * The sum of them all is for how long the tasks of the group waited. Those that took the most have
 * a series of their own, see common/ranking.h; so their number is bounded, whatever runs beside.
 */
#ifndef HEADROOM_PLUGIN_PSI_TAKEN_H
#define HEADROOM_PLUGIN_PSI_TAKEN_H

#include "common/submit.h"
#include "headroom/blame.h"
#include "psi/watched.h"

/** How many takers of a group have a series of their own. */
#define PSI_TAKEN_TOP 5

struct psi_blame;
struct psi_groups;
struct psi_taken;

/** Measures what was taken from each group since the last call, and submits it; with set_lock held.
 * Without Blame "always", nothing happens. @param blame  may be NULL. */
void psi_taken_sample(struct psi_blame *blame, struct psi_groups *groups, cdtime_t time);

/** @return NULL if memory is short. */
struct psi_taken *psi_taken_new(void);

/** NULL is allowed. */
void psi_taken_free(struct psi_taken *taken);

/**
 * Adds what an interval has of the group, and ends it.
 *
 * @param id  of the group.
 */
void psi_taken_add(struct psi_taken *taken, const struct hr_blame_matrix *interval, uint64_t id,
                   const struct psi_watched *watched);

/**
 * Submits what the counters that weren't submitted when the interval began had then, so that it
 * counts: collectd has no rate of a series' first value.
 *
 * @param before  of when it began; with time 0, nothing is submitted.
 */
void psi_taken_publish_begin(struct psi_taken *taken, const struct submission *before);

/** Submits the counters, at the end of the interval. */
void psi_taken_publish(struct psi_taken *taken, const struct submission *submission);

#endif
