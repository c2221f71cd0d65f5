/* SPDX-License-Identifier: MIT */
/*
 * perf_event/pfm.h - events by libpfm4's names: the kernel's generic events and those of the CPU.
 *
 * libpfm4 inspects the running machine, regardless of the root. Source: libpfm(3).
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_PFM_H
#define HEADROOM_COLLECTORS_PERF_EVENT_PFM_H

#include "perf_event/suggest.h"

/** @return 0, or -EIO. */
int hr_perf_pfm_initialize(void);

/**
 * Encodes a name. The name of a generic event of the kernel means that event, even if a PMU has an
 * event of the same name. Hypervisors and guests are counted, too, unless the name says otherwise.
 *
 * @param attr  undefined on failure.
 * @return 0; -ENOENT if libpfm4 knows no such event on this machine; -EINVAL if it knows the event,
 *         but not what follows its name; -ENOMEM. The error is filled on failure, except for
 *         -ENOMEM.
 */
int hr_perf_pfm_encode(struct hr_text name, struct perf_event_attr *attr,
                       struct hr_perf_event_error *error);

/** Encodes a generic event of the kernel. @return whether the name is one. */
bool hr_perf_pfm_encode_generic(struct hr_text name, struct perf_event_attr *attr);

/** Suggests events of this machine, or unit masks if only the unit mask is unknown. */
void hr_perf_pfm_suggest(struct hr_text name, struct hr_perf_suggestions *suggestions);

#endif
