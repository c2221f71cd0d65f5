/* SPDX-License-Identifier: MIT */
/*
 * headroom/stall_hour.h - for how long tasks were stalled in the last hour, by causes; in parts of
 * five minutes, of which the latest isn't complete.
 *
 * An object has a fixed size, and nothing is allocated. It may be used by one thread at a time.
 */
#ifndef HEADROOM_STALL_HOUR_H
#define HEADROOM_STALL_HOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/psi.h"
#include "headroom/stall_cause.h"

/** The causes that are distinguished. A limit of a group above is HR_STALL_BY_LIMIT, too. */
enum hr_stall_part {
    HR_STALL_BY_LIMIT,
    HR_STALL_BY_NEIGHBOURS,
    HR_STALL_BY_ITSELF,
    HR_STALL_BY_STEAL,
    HR_STALL_BY_IRQ,
    HR_STALL_BY_RECLAIM,
    HR_STALL_BY_UNKNOWN,
    HR_STALL_PART_COUNT
};

enum hr_stall_part hr_stall_part_of(enum hr_stall_kind kind);

/** "limit", as in the series. */
const char *hr_stall_part_name(enum hr_stall_part part);

/** Twelve parts of the hour. */
#define HR_STALL_SLOTS 12

/** All zeros: nothing is known. */
struct hr_stall_hour {
    uint64_t latest; /**< the number of the latest slot */
    struct hr_stall_slot {
        uint16_t known_cs[HR_PSI_IRQ]; /**< by resource, in hundredths of a second */
        uint16_t stalled_cs[HR_PSI_IRQ][HR_STALL_PART_COUNT];
    } slots[HR_STALL_SLOTS]; /**< a ring */
};

/**
 * Adds an interval.
 *
 * @param time_ns    its end, of a clock that doesn't go back.
 * @param elapsed_s  its length, of which five minutes count at most.
 * @param pct        for how much of it tasks were stalled, by causes.
 */
void hr_stall_hour_add(struct hr_stall_hour *hour, uint64_t time_ns, enum hr_psi_resource resource,
                       double elapsed_s, const double pct[HR_STALL_PART_COUNT]);

/**
 * Sums up the hour before a time.
 *
 * @param pct  receives for how much of what is known tasks were stalled.
 * @return of how many seconds it is known; 0: of none.
 */
double hr_stall_hour_sum(const struct hr_stall_hour *hour, uint64_t time_ns,
                         enum hr_psi_resource resource, double pct[HR_STALL_PART_COUNT]);

/** Whether what was read from elsewhere may be used: it isn't later than a time. */
bool hr_stall_hour_is_valid(const struct hr_stall_hour *hour, uint64_t time_ns);

#endif
