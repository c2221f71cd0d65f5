/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf_event/event_source.h - adds the PMUs of a machine to a tree, from
 * tests/fixtures/event_source, where each machine is one file, printed by:
 *
 *     cd /sys/bus/event_source/devices
 *     for pmu in *; do
 *         grep -r "" "$pmu"/{type,cpus,cpumask,format,events} 2>/dev/null
 *     done | LC_ALL=C sort
 */
#ifndef HEADROOM_TESTS_COLLECTORS_PERF_EVENT_EVENT_SOURCE_H
#define HEADROOM_TESTS_COLLECTORS_PERF_EVENT_EVENT_SOURCE_H

#include "support/tree.h"

/* The directory of the PMUs in a tree. */
#define EVENT_SOURCE "sys/bus/event_source/devices"

enum event_source_shape {
    EVENT_SOURCE_DIRECTORIES, /**< each PMU is a directory there, as in a copy */
    EVENT_SOURCE_LINKS /**< each PMU is a symbolic link to a directory elsewhere, as in sysfs */
};

/** Adds the PMUs of a machine to a tree. An error ends the program. */
void event_source_add(struct tree *tree, const char *machine, enum event_source_shape shape);

#endif
