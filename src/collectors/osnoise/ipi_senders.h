/* SPDX-License-Identifier: MIT */
/*
 * osnoise/ipi_senders.h - who asks a CPU to run a function (an IPI), in the instance of a run.
 *
 * A hist trigger keeps, of each CPU, the last request and its sender until a function begins there;
 * then the kernel records an event of our own on that CPU, with both, so that the sender of another
 * request isn't taken for this one's. Nothing is recorded on the CPUs of senders.
 *
 * Requests aren't kept by their addresses: of those that wake a task, or wait for the function's
 * end, it is in the task's own memory, so that there is no end of these.
 *
 * That event is defined for the whole kernel, once for all runs; it is recorded only where an
 * instance enables it, of two runs at a time in both.
 *
 * Sources: include/trace/events/csd.h (since Linux 6.5); Documentation/trace/histogram.rst
 * (inter-event hist triggers); kernel/trace/trace_events_hist.c (save_hist_vars: variables hold
 * their instance).
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_IPI_SENDERS_H
#define HEADROOM_COLLECTORS_OSNOISE_IPI_SENDERS_H

#include "headroom/osnoise.h"
#include "osnoise/records.h"
#include "osnoise/tracefs.h"

/** The event, and its fields. */
#define HR_OSNOISE_IPI_SYSTEM "synthetic"
#define HR_OSNOISE_IPI_EVENT  "headroom_ipi"

/**
 * Has an instance record senders; if the kernel can't, the run goes on without them.
 *
 * @param asked  a filter of the events of senders: which CPUs they ask; "": any.
 * @param begun  a filter of the functions that begin; "": any.
 */
void hr_osnoise_ipi_senders_record(const struct hr_tracefs *tracefs, const char *instance,
                                   const char *asked, const char *begun);

/** Removes what would keep an instance from being removed, and the event if no other run needs it.
 */
void hr_osnoise_ipi_senders_remove(const struct hr_tracefs *tracefs, const char *instance);

/** Prints a sender: "perf[423] on CPU 0", "an interrupt on CPU 0". */
void hr_osnoise_ipi_sender_print(const struct hr_root *root,
                                 const struct hr_osnoise_ipi_sender *sender,
                                 char text[HR_OSNOISE_SENDER]);

#endif
