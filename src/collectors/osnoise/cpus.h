/* SPDX-License-Identifier: MIT */
/*
 * osnoise/cpus.h - which CPUs a run measures.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_CPUS_H
#define HEADROOM_COLLECTORS_OSNOISE_CPUS_H

#include "osnoise/internal.h"

/** Reads which CPUs are online. @return 0 or a negative errno, with the reason. */
int hr_osnoise_read_online(const struct hr_root *root, struct hr_cpu_set *online,
                           struct hr_reason *reason);

/**
 * Sets `cpus` of a run, by its options.
 *
 * @param theirs  those of the tracer, to which ATTACH keeps.
 * @return 0, or -ENXIO or another negative errno, with the reason.
 */
int hr_osnoise_choose_cpus(struct hr_osnoise *osnoise, const struct hr_cpu_set *theirs,
                           struct hr_reason *reason);

/** @return those of some CPUs that the machine may have: the kernel refuses lists with others. */
struct hr_cpu_set hr_osnoise_possible_cpus(const struct hr_root *root,
                                           const struct hr_cpu_set *cpus);

#endif
