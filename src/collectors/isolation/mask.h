/* SPDX-License-Identifier: MIT */
/*
 * isolation/mask.h - sets of CPUs as masks: "3", "ffffffff,00000003".
 */
#ifndef HEADROOM_COLLECTORS_ISOLATION_MASK_H
#define HEADROOM_COLLECTORS_ISOLATION_MASK_H

#include "headroom/cpu_set.h"

/**
 * Parses a mask, with or without a newline at its end.
 *
 * @return 0; -EBADMSG; -ERANGE for a CPU of HR_CPU_MAX or more. The set is untouched on failure.
 */
int hr_cpu_mask_parse(const char *text, size_t length, struct hr_cpu_set *set);

/** Prints a mask. @return 0, or -E2BIG if it doesn't fit. */
int hr_cpu_mask_format(const struct hr_cpu_set *set, char *text, size_t size);

#endif
