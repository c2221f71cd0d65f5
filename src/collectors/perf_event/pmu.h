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
    int status; /* 0, or what reading its files came to */
    uint32_t type;
    bool has_cpus;    /* of the CPUs themselves, and these only: their kind of core */
    bool has_cpumask; /* of a package or the like, read on one CPU of it */
    struct hr_cpu_set cpus;
};

/** By type, then by name. All zeros is none. */
struct hr_perf_pmus {
    struct hr_perf_pmu *list;
    size_t count;
    size_t capacity;
};

/**
 * Reads type, cpus and cpumask of each PMU. Where the folder is missing there are none; an entry
 * without a type is passed over; one that is not understood is kept, with its status.
 *
 * @param pmus  receives them; the caller ends them with hr_perf_pmus_free().
 * @return 0, -ENOMEM, or the negative errno of reading the folder.
 */
int hr_perf_pmus_read(const struct hr_root *root, struct hr_perf_pmus *pmus);

void hr_perf_pmus_free(struct hr_perf_pmus *pmus);

/** @return NULL if there is none of this name. */
const struct hr_perf_pmu *hr_perf_pmus_find(const struct hr_perf_pmus *pmus, struct hr_text name);

/** @return NULL if there is none of this type. */
const struct hr_perf_pmu *hr_perf_pmus_find_type(const struct hr_perf_pmus *pmus, uint32_t type);

/** Tells whether it counts what the CPUs do. */
bool hr_perf_pmu_is_core(const struct hr_perf_pmu *pmu);

/** Parses a file "type". @return 0, -EBADMSG. */
int hr_perf_pmu_type_parse(const char *text, size_t length, uint32_t *type);

/**
 * Encodes what stands between the slashes.
 *
 * @param attr  receives type and the config words; they are undefined on failure.
 * @return as hr_perf_terms_encode(), or the PMU's own status.
 */
int hr_perf_pmu_encode(const struct hr_root *root, const struct hr_perf_pmu *pmu,
                       struct hr_text terms, struct perf_event_attr *attr,
                       struct hr_perf_terms *found, struct hr_perf_event_error *error);

/**
 * Offers, for "pmu/terms/" with a PMU that isn't there, those of a similar name that know the
 * terms.
 */
void hr_perf_pmus_suggest(const struct hr_root *root, const struct hr_perf_pmus *pmus,
                          struct hr_text name, struct hr_text terms,
                          struct hr_perf_suggestions *suggestions);

/** Offers what may stand for the one of the terms that the PMU doesn't know. */
void hr_perf_pmu_suggest(const struct hr_root *root, const struct hr_perf_pmu *pmu,
                         struct hr_text terms, const struct hr_perf_terms *found,
                         struct hr_perf_suggestions *suggestions);

/** Offers the PMUs' events that are called just so. */
void hr_perf_pmus_suggest_events(const struct hr_root *root, const struct hr_perf_pmus *pmus,
                                 struct hr_text name, struct hr_perf_suggestions *suggestions);

#endif
