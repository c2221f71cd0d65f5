/* SPDX-License-Identifier: MIT */
/*
 * psi/takers.h - who took the CPU while tasks of a group waited for it, the worst first, in words
 * for users.
 */
#ifndef HEADROOM_PLUGIN_PSI_TAKERS_H
#define HEADROOM_PLUGIN_PSI_TAKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/blame.h"
#include "headroom/instance.h"
#include "psi/watched.h"

#define PSI_TAKERS_MAX 10

/** The path of a container in a pod has some 200 bytes. */
#define PSI_TAKER_NAME_SIZE 512

struct psi_taker {
    /** Of a group its path, or its name in series if that is too long, with a slash before it if
     * its last component is such a word; else a word such as "itself". Not safe to show. */
    char name[PSI_TAKER_NAME_SIZE];
    /** Of a group whose name in series says something else than its path, such as the name of its
     * container, that name, with a slash before it if it is such a word; else "". */
    char container[HR_INSTANCE_SIZE + 1];
    bool is_group;
    uint64_t wait_ns; /**< above 0 */
};

/** The longest wait first, but what isn't attributed last. */
struct psi_takers {
    uint64_t interval_ns; /**< in which they took it */
    uint64_t wait_ns;     /**< for how long tasks waited in it, all of them added up */
    size_t count;
    struct psi_taker list[PSI_TAKERS_MAX];
};

/** Whose waits are added up. */
struct psi_takers_of {
    const char *path; /**< a group, with those below it; NULL: all that are watched */
    uint64_t top;     /**< the id of the root cgroup, whose tasks are of no watched group */
};

/**
 * Adds up who took the CPU in an interval. What is less than a hundredth of the wait is left out.
 *
 * @param takers  always filled in; empty if memory is short, or nothing waited.
 */
void psi_takers_sum(const struct hr_blame_matrix *interval, const struct psi_watched *watched,
                    const struct psi_takers_of *of, struct psi_takers *takers);

/** The name of a taker for a message, not safe to show: of a group that of its container, or the
 * last component of its path, or all of it where that is a word for another taker, or another group
 * has the same; unless it is longer than names in series. */
const char *psi_takers_short_name(const struct psi_takers *takers, size_t index);

/** How many of them a message names: those with a tenth of the longest wait or more, at most five.
 */
size_t psi_takers_count_named(const struct psi_takers *takers);

#endif
