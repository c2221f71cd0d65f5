/* SPDX-License-Identifier: MIT */
/*
 * doctor/isolation.h - what disturbs CPUs that are to be left alone: `headroom doctor --cpus`.
 */
#ifndef HEADROOM_COMMAND_DOCTOR_ISOLATION_H
#define HEADROOM_COMMAND_DOCTOR_ISOLATION_H

#include <stdio.h>

#include "doctor/findings.h"
#include "headroom/cpu_choice.h"
#include "headroom/reason.h"
#include "headroom/root.h"

/**
 * Adds a finding of each kind of disturbance that there is none of; of others one or more, with
 * what is to be moved and the command that moves it.
 *
 * @return 0, or a negative errno, with the reason: which CPUs these are can't be found, or there
 *         are none.
 */
int isolation_check(const struct hr_root *root, const struct hr_cpu_choice *choice,
                    struct findings *findings, struct hr_reason *reason);

/** Prints how many kinds of disturbance there are none of, in one sentence without an end. */
void isolation_summarize(const struct findings *findings, char *text, size_t size);

#endif
