/* SPDX-License-Identifier: MIT */
/*
 * psi/cause.h - the causes of a stall in words for users.
 */
#ifndef HEADROOM_PLUGIN_PSI_CAUSE_H
#define HEADROOM_PLUGIN_PSI_CAUSE_H

#include <stddef.h>

#include "headroom/stall_cause.h"

/**
 * Prints the causes, the biggest first: "its own limit (cpu.max 0.5: throttled 1180 ms), neighbours
 * (240 ms)". Names of groups are made safe.
 *
 * @param buffer  receives the text, terminated: as many whole causes as fit; "" if none is known.
 * @param size    of the buffer, above 0.
 * @return the length of the text.
 */
size_t psi_cause_print(const struct hr_stall_causes *causes, char *buffer, size_t size);

#endif
