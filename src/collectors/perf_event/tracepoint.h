/* SPDX-License-Identifier: MIT */
/*
 * perf_event/tracepoint.h - the kernel's tracepoints, by "subsystem:name".
 *
 * Source: Documentation/trace/events.rst.
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_TRACEPOINT_H
#define HEADROOM_COLLECTORS_PERF_EVENT_TRACEPOINT_H

#include "headroom/root.h"
#include "perf_event/suggest.h"

/** Parses a file "id". @return 0, -EBADMSG. */
int hr_perf_tracepoint_id_parse(const char *text, size_t length, uint64_t *id);

/**
 * Opens the directory of tracepoints, in a tracefs that is mounted in the usual place or below
 * debugfs.
 *
 * @return a descriptor, closed by the caller; -ENODEV if no tracefs is mounted; -EACCES; or another
 *         negative errno. The error is filled on failure.
 */
int hr_perf_tracepoint_open(const struct hr_root *root, struct hr_perf_event_error *error);

/** Whether there is a subsystem of this name. */
bool hr_perf_tracepoint_has_subsystem(int events, struct hr_text subsystem);

/**
 * Looks up the id of a tracepoint.
 *
 * @param events  of hr_perf_tracepoint_open().
 * @return 0, -ENOENT, -EACCES, -EBADMSG, or another negative errno. The error is filled on failure.
 */
int hr_perf_tracepoint_find(int events, struct hr_text subsystem, struct hr_text name, uint64_t *id,
                            struct hr_perf_event_error *error);

/** Suggests tracepoints of this subsystem; if it doesn't exist, of those with a similar name. */
void hr_perf_tracepoint_suggest(int events, struct hr_text subsystem, struct hr_text name,
                                struct hr_perf_suggestions *suggestions);

/** Suggests tracepoints of exactly this name, in any subsystem. */
void hr_perf_tracepoint_suggest_in_full(int events, struct hr_text name,
                                        struct hr_perf_suggestions *suggestions);

#endif
