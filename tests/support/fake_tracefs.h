/* SPDX-License-Identifier: MIT */
/*
 * fake_tracefs.h - a stand-in for tracefs: files in a tree (see tree.h), which behave as Linux
 * 6.12's do where it matters to who sets up the tracer osnoise.
 *
 * The calls openat, read, write, mkdirat and unlinkat of the program come here; so do those of a
 * plugin that it opens, if it exports its symbols (-export-dynamic). Beyond the fake, and before
 * fake_tracefs_begin(), they are what they always are.
 *
 * Files are named below the folder of tracefs: "osnoise/cpus", "instances/x/tracing_on". Whatever
 * goes wrong in here ends the program with a message.
 *
 * What it does as the kernel:
 * - osnoise/cpus takes lists with patterns, of CPUs below 1024 and 255 bytes at most, and prints
 * ranges; it is read in one go or not at all. The runtime is never above the period.
 * osnoise/options prints all options after one was written.
 * - A new instance has its files, one that is removed takes them along, and while it has a
 *   trace_pipe_raw open it is busy. timerlat and osnoise exclude each other.
 * - O_TRUNC empties only a `trigger`; a hist trigger that is appended gets an empty table, and one
 *   with ":clear" must be there already, and empties it. Of events of sched the fake knows only
 *   "traceoff if …", and nobody's exit is an event.
 * - At its end a trace_pipe_raw gives EAGAIN.
 *
 * What it doesn't: run anything. Records and tables are a test's to write.
 */
#ifndef HEADROOM_TESTS_SUPPORT_FAKE_TRACEFS_H
#define HEADROOM_TESTS_SUPPORT_FAKE_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

#include "support/tree.h"

/* Where it is in the tree. */
#define FAKE_TRACEFS "sys/kernel/tracing"

/** Makes it, with the kernel's defaults; and sys/devices/system/cpu/online. */
void fake_tracefs_begin(struct tree *tree, unsigned cpu_count);

/** The calls are again what they always are. The tree keeps the files. */
void fake_tracefs_end(void);

/** Sets a file as if somebody else had: whatever the text, and its newline. */
__attribute__((format(printf, 2, 3))) void fake_tracefs_set(const char *file, const char *format,
                                                            ...);

/** What a file has in it; "" if there is none. Valid until the next call, of the same thread. */
const char *fake_tracefs_get(const char *file);

/** Whether there is such a file or folder. */
bool fake_tracefs_has(const char *file);

/** The tracers that the kernel, and instances made from now on, offer: a line. */
void fake_tracefs_offer(const char *tracers);

/** The kernel, and instances made from now on, lack an event, such as
 * "sched/sched_process_exit". */
void fake_tracefs_remove_event(const char *event);

/** Somebody else makes an instance. */
void fake_tracefs_add_instance(const char *name);

/** Somebody else removes it, whoever has its files open. */
void fake_tracefs_remove_instance(const char *name);

/** In place of an errno: it seems to go well, but nothing is done. */
#define FAKE_TRACEFS_IGNORED (-1)

/** From now on writing a file, or making or removing a folder, fails with an errno; 0: no more. */
void fake_tracefs_fail(const char *file, int error);

/** The nth write, making or removing from now on fails, 1 being the next. 0: none does. */
void fake_tracefs_fail_nth(unsigned nth, int error);

/** Whether that came to pass. */
bool fake_tracefs_failed(void);

/** What was tried since this was called before, a line each: "osnoise/cpus=0-1\n",
 * "+instances/x\n", "-instances/x\n". Valid until the next call. */
const char *fake_tracefs_log(void);

/** Appends raw pages to an instance's trace_pipe_raw of a CPU. */
void fake_tracefs_add_pages(const char *instance, unsigned cpu, const void *pages, size_t size);

#endif
