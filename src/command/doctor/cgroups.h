/* SPDX-License-Identifier: MIT */
/*
 * doctor/cgroups.h - which cgroups the plugins select, and under which names: `headroom doctor
 * --cgroups`.
 */
#ifndef HEADROOM_COMMAND_DOCTOR_CGROUPS_H
#define HEADROOM_COMMAND_DOCTOR_CGROUPS_H

#include <stdio.h>

#include "configured/selected.h"
#include "doctor/findings.h"
#include "headroom/root.h"

/** @return how many cgroups with processes a plugin selects; 0 also if they can't be listed. */
size_t cgroups_count(const struct hr_root *root, const struct cgroups_of_plugin *of);

/**
 * Adds a finding for each Cgroup option of cgroups_next_unmatched(); or that all match, if there is
 * one.
 */
void cgroups_check(const struct hr_root *root, const struct cgroups_of_plugin *of,
                   struct findings *findings);

/**
 * Prints patterns that match nothing, those in one line that needn't; the cgroups with processes
 * that a plugin selects, each with its name in series; and what it doesn't select.
 *
 * @param count  of plugins; none: all cgroups with processes, with the name that they'd have.
 * @return 0, or the negative errno of writing.
 */
int cgroups_print(FILE *out, const struct hr_root *root, const struct cgroups_of_plugin *of,
                  size_t count);

#endif
