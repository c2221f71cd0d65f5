/* SPDX-License-Identifier: MIT */
/*
 * headroom/takers.h - which groups take what another lacks, and which wait for it.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_TAKERS_H
#define HEADROOM_PLUGIN_HEADROOM_TAKERS_H

#include "common/message.h"
#include "headroom/cgroup.h"
#include "headroom/subject.h"
#include "headroom/taken_cpus.h"

struct hr_root;

/** What groups are ranked by. */
enum {
    TAKERS_CPU,
    TAKERS_GROWTH, /**< of memory */
    TAKERS_SIZE,
    TAKERS_CPU_WAITS,
    TAKERS_MEMORY_WAITS,
    TAKERS_IO_WAITS,
    TAKERS_RANKING_COUNT
};

/** All groups by one amount, the greatest first. */
struct takers_ranking {
    bool is_made;
    struct taker *list;
    size_t count; /**< 0: there are none, or memory is short */
    char *shared; /**< of CPU time: the path of the group within which shares by weight are known;
                       NULL: they aren't yet */
    double shared_cpus; /**< what these are shares of; 0: they can't be known */
};

/** How many groups can be named. */
#define TAKERS_MOST 10

/** Who takes and who waits in one interval. The groups are ranked when that is asked for first; the
 * caller ends it with takers_clear(). */
struct takers {
    const struct hr_root *root;
    struct hr_cgroup_set *groups; /**< that are measured; NULL: none. Their data is a struct
                                     subject, or NULL */
    size_t count;                 /**< how many are named at most; TAKERS_MOST or fewer */
    size_t cpus;                  /**< of the machine; 0: not known */
    struct takers_ranking rankings[TAKERS_RANKING_COUNT]; /**< initially all zeros */
    size_t threads;                                       /**< whose affinity may be read */
    struct taken_cpus *taken;                             /**< of this interval */
};

/** Frees the rankings. */
void takers_clear(struct takers *takers);

/** Copies the path of the group whose limit binds, "" of the machine. */
void takers_binding_path(const struct subject *subject, const struct hr_room *room, char *path,
                         size_t size);

/**
 * Appends who takes, in the group whose limit binds: of memory those that grew, by their part of
 * all growth there; where none did those that have most; of both what memory.low or memory.min
 * protects doesn't count. Of CPUs that a group lacks those that had them while it waited, by their
 * parts of that time, where the psi plugin measures it; else those that use more than their share
 * by weight, or where that isn't known, as within a cpuset, or none does, those that use most. Of
 * I/O nothing.
 *
 * @param resource  SUBJECT_CPU, …
 */
void takers_append(struct takers *takers, const struct subject *subject, int resource,
                   struct message *message);

/** Appends who of these waits, from 1 % of the time on, for a CPU not counting waits for itself; or
 * that none does; or that this isn't known of all of them. */
void takers_append_waiting(struct takers *takers, const struct subject *subject, int resource,
                           struct message *message);

#endif
