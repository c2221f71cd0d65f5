/* SPDX-License-Identifier: MIT */
/*
 * perf_event/pmu.h - the PMUs in /sys/bus/event_source/devices.
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices*.
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_PMU_H
#define HEADROOM_COLLECTORS_PERF_EVENT_PMU_H

#include "headroom/root.h"
#include "perf_event/suggest.h"
#include "perf_event/terms.h"

struct hr_perf_pmu {
    char *name;
    int status; /* of reading its files */
    uint32_t type;
    bool has_cpus;    /* it has a file cpus: the PMU of one kind of core */
    bool has_cpumask; /* it has a file cpumask: the PMU of a package or the like, read on one CPU */
    struct hr_cpu_set cpus;
};

/** Sorted by type, then by name. All zeros: empty. */
struct hr_perf_pmus {
    struct hr_perf_pmu *list;
    size_t count;
    size_t capacity;
};

/**
 * Reads type, cpus and cpumask of each PMU. Without the directory there are none; an entry without
 * a type is skipped; an entry that can't be parsed is kept, with its status.
 *
 * @param pmus  receives them; the caller frees them with hr_perf_pmus_free().
 * @return 0, -ENOMEM, or the negative errno of reading the directory.
 */
int hr_perf_pmus_read(const struct hr_root *root, struct hr_perf_pmus *pmus);

void hr_perf_pmus_free(struct hr_perf_pmus *pmus);

/** @return the PMU of this name, or NULL. */
const struct hr_perf_pmu *hr_perf_pmus_find(const struct hr_perf_pmus *pmus, struct hr_text name);

/** @return the PMU of this type, or NULL. */
const struct hr_perf_pmu *hr_perf_pmus_find_type(const struct hr_perf_pmus *pmus, uint32_t type);

/** Whether this is the PMU of the CPUs, or of one kind of core. */
bool hr_perf_pmu_is_core(const struct hr_perf_pmu *pmu);

/** Parses a file "type". @return 0, -EBADMSG. */
int hr_perf_pmu_type_parse(const char *text, size_t length, uint32_t *type);

/**
 * Encodes the terms between the slashes.
 *
 * @param attr  receives type and the config words, which are undefined on failure.
 * @return as hr_perf_terms_encode(), or the PMU's own status.
 */
int hr_perf_pmu_encode(const struct hr_root *root, const struct hr_perf_pmu *pmu,
                       struct hr_text terms, struct perf_event_attr *attr,
                       struct hr_perf_terms *found, struct hr_perf_event_error *error);

/**
 * Suggests, for "pmu/terms/" with an unknown PMU, PMUs of a similar name that have these terms.
 */
void hr_perf_pmus_suggest(const struct hr_root *root, const struct hr_perf_pmus *pmus,
                          struct hr_text name, struct hr_text terms,
                          struct hr_perf_suggestions *suggestions);

/** Suggests names for the term that the PMU doesn't know. */
void hr_perf_pmu_suggest(const struct hr_root *root, const struct hr_perf_pmu *pmu,
                         struct hr_text terms, const struct hr_perf_terms *found,
                         struct hr_perf_suggestions *suggestions);

/** Suggests the events of PMUs that have exactly this name. */
void hr_perf_pmus_suggest_events(const struct hr_root *root, const struct hr_perf_pmus *pmus,
                                 struct hr_text name, struct hr_perf_suggestions *suggestions);

#endif
