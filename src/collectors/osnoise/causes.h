/* SPDX-License-Identifier: MIT */
/*
 * osnoise/causes.h - which functions of the kernel ran within an interference: what a kworker
 * worked on, which timers an interrupt was for, what another CPU asked this one to do.
 *
 * The kernel records a function when it begins; beside it, if another CPU asked for it, what did;
 * and an interference when it ends. Interferences are nested, so of the functions that were
 * recorded since an interference began, those of what interrupted it are taken already: the rest
 * are its own.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_CAUSES_H
#define HEADROOM_COLLECTORS_OSNOISE_CAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "osnoise/records.h"

/** What has the names of functions. */
struct hr_osnoise_namer {
    /** @return the name of the function at an address, valid until the next call; NULL: it isn't
     * known. */
    const char *(*name)(void *context, uint64_t function);
    /** Prints a sender. */
    void (*sender)(void *context, const struct hr_osnoise_ipi_sender *sender,
                   char text[HR_OSNOISE_SENDER]);
    void *context;
};

/** How many functions of an interference are kept: those that took longest. */
#define HR_OSNOISE_SPANS 4

/** The functions of an interference. All zeros: none is known. */
struct hr_osnoise_spans {
    struct hr_osnoise_span {
        uint64_t function; /**< its address */
        uint64_t span_ns;  /**< until the next one, or the end of the interference; gross */
        bool has_sender;   /**< it is known what asked for it: */
        struct hr_osnoise_ipi_sender sender;
    } of[HR_OSNOISE_SPANS];
    size_t count;
    bool has_more;
};

/** Adds those of another interference. */
void hr_osnoise_spans_add(struct hr_osnoise_spans *spans, const struct hr_osnoise_spans *more);

/** Sorts them, the longest first. */
void hr_osnoise_spans_sort(struct hr_osnoise_spans *spans);

/** How many functions of a CPU are kept at a time: as deep as interferences are nested, and as many
 * as there are in each. */
#define HR_OSNOISE_PENDING 64

/** The functions of a CPU that belong to no interference yet. Initially all zeros. */
struct hr_osnoise_causes {
    struct hr_osnoise_pending {
        uint64_t time_ns, function, request;
        bool in_irq, has_sender;
        struct hr_osnoise_ipi_sender sender;
    } pending[HR_OSNOISE_PENDING]; /**< by time */
    size_t count;
    /** A request whose function hasn't begun yet. */
    uint64_t request; /**< 0: none */
    struct hr_osnoise_ipi_sender sender;
};

/** Adds a record HR_OSNOISE_RECORD_CAUSE or HR_OSNOISE_RECORD_IPI. If there are too many functions,
 * the oldest is forgotten. */
void hr_osnoise_causes_add(struct hr_osnoise_causes *causes,
                           const struct hr_osnoise_record *record);

/** Takes those of an interference that has ended. @param record  HR_OSNOISE_RECORD_PART. */
struct hr_osnoise_spans hr_osnoise_causes_take(struct hr_osnoise_causes *causes,
                                               const struct hr_osnoise_record *record);

/** Forgets all, as records were lost. */
void hr_osnoise_causes_forget(struct hr_osnoise_causes *causes);

#endif
