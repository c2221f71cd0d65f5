/* SPDX-License-Identifier: MIT */
/*
 * perf_event/pfm.h - events by libpfm4's names: the kernel's generic ones and those of the CPU.
 *
 * libpfm4 looks at the running machine, whatever the root. Source: libpfm(3).
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_PFM_H
#define HEADROOM_COLLECTORS_PERF_EVENT_PFM_H

#include "perf_event/suggest.h"

/** @return 0, or -EIO. */
int hr_perf_pfm_initialize(void);

/**
 * Encodes a name. One that the kernel has a generic event for means that event, even if a PMU has
 * one so named. What hypervisors and guests do is counted, too, unless the name says otherwise.
 *
 * @param attr  is undefined on failure.
 * @return 0; -ENOENT if libpfm4 knows no such event of this machine's, without more to say of it
 *         than that; -EINVAL if it knows the event, but not what follows it; -ENOMEM. The error is
 *         filled on failure, but for -ENOMEM.
 */
int hr_perf_pfm_encode(struct hr_text name, struct perf_event_attr *attr,
                       struct hr_perf_event_error *error);

/** Encodes a generic event of the kernel's. @return whether the name is one. */
bool hr_perf_pfm_encode_generic(struct hr_text name, struct perf_event_attr *attr);

/** Offers events of this machine; and unit masks, where it is these that aren't known. */
void hr_perf_pfm_suggest(struct hr_text name, struct hr_perf_suggestions *suggestions);

#endif
