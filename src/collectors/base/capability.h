/* SPDX-License-Identifier: MIT */
/*
 * base/capability.h - the remedy for a missing permission, whatever the thread's own capabilities.
 */
#ifndef HEADROOM_COLLECTORS_BASE_CAPABILITY_H
#define HEADROOM_COLLECTORS_BASE_CAPABILITY_H

#include <stdbool.h>
#include <stdint.h>

#include "headroom/capability.h"

/** As hr_capability_is_held(), for a given set of effective capabilities. */
bool hr_capability_is_held_in(unsigned needed, uint64_t effective);

/** As hr_capability_remedy(), for a given set of effective capabilities, a bit each as in CapEff of
 * /proc/PID/status. */
const char *hr_capability_remedy_for(unsigned needed, uint64_t effective, bool is_root,
                                     char buffer[HR_REMEDY_SIZE]);

#endif
