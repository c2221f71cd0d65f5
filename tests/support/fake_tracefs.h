/* SPDX-License-Identifier: MIT */
/*
 * support/fake_tracefs.h - a stand-in for tracefs: files in a tree (see support/tree.h), which
 * behave as Linux 6.12's do where it matters for setting up the osnoise tracer; of later kernels
 * there is the option TIMERLAT_ALIGN.
 *
 * The program's calls openat, read, write, mkdirat and unlinkat come here; so do those of a plugin
 * that it opens, if it exports its symbols (-rdynamic). For files outside the fake, and
 * before fake_tracefs_begin(), they are the C library's.
 *
 * Files are named below tracefs: "osnoise/cpus", "instances/x/tracing_on". Any error in here ends
 * the program with a message.
 *
 * What it does as the kernel:
 * - osnoise/cpus takes lists with patterns, of CPUs below 1024 and 255 bytes at most, and prints
 *   ranges; it is read at once or not at all. The runtime is never above the period.
 *   osnoise/options prints all options after one was written.
 * - A new instance has its files, one that is removed takes them along; while any of them is open
 *   it can't be removed, and with a trace_pipe_raw its tracer not be changed either. timerlat and
 * osnoise exclude each other.
 * - O_TRUNC empties only a `trigger`; a hist trigger that is appended gets an empty table, and one
 *   with ":clear" must exist already, and clears it. Of events of sched the fake knows only
 *   "traceoff if …", and no exit of a process is an event. What is written to trace_marker is in
 *   trace as of the thread FAKE_TRACEFS_PID.
 * - At its end a trace_pipe_raw gives EAGAIN.
 *
 * What it doesn't: run anything. Records and tables are written by the test.
 */
#ifndef HEADROOM_TESTS_SUPPORT_FAKE_TRACEFS_H
#define HEADROOM_TESTS_SUPPORT_FAKE_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

#include "support/tree.h"

/** The PID that the kernel records with markers. */
#define FAKE_TRACEFS_PID "4711"

/* Its path in the tree. */
#define FAKE_TRACEFS "sys/kernel/tracing"

/** Creates it, with the kernel's defaults; and sys/devices/system/cpu/online. */
void fake_tracefs_begin(struct tree *tree, unsigned cpu_count);

/** The calls are the C library's again. The tree keeps the files. */
void fake_tracefs_end(void);

/** Sets a file as if another program had: the text as it is, and its newline. */
__attribute__((format(printf, 2, 3))) void fake_tracefs_set(const char *file, const char *format,
                                                            ...);

/** The contents of a file; "" if there is none. Valid until the next call in the same thread. */
const char *fake_tracefs_get(const char *file);

/** Whether there is such a file or directory. */
bool fake_tracefs_has(const char *file);

/** Sets the tracers that the kernel, and instances made from now on, offer: a line. */
void fake_tracefs_offer(const char *tracers);

/** Removes an event from the kernel, and from instances made from now on, such as
 * "sched/sched_process_exit". */
void fake_tracefs_remove_event(const char *event);

/** The ID of the event osnoise:osnoise_sample, once it is there. */
#define FAKE_TRACEFS_SAMPLE 221

/** Adds that event, which Linux 6.15 and later have, to the kernel and to instances made from now
 * on. Its fields are at 8: u64 runtime, noise, max_sample; int hw_count, irq_count, nmi_count,
 * softirq_count, thread_count. */
void fake_tracefs_add_sample_event(void);

/** Creates an instance as another program. */
void fake_tracefs_add_instance(const char *name);

/** Removes an instance as another program, even with open files. */
void fake_tracefs_remove_instance(const char *name);

/** Finds an instance. @param pattern  of its name, see fnmatch(3). @param file  receives
 * "instances/NAME"; untouched if there is none. @return whether there is one. */
bool fake_tracefs_find_instance(const char *pattern, char *file, size_t size);

/** In place of an errno: the call seems to succeed, but does nothing. */
#define FAKE_TRACEFS_IGNORED (-1)

/** From now on writing a file, or making or removing a directory, fails with an errno; 0: no more.
 * @param file  its name, or a pattern of it; "*" is any text, slashes included. */
void fake_tracefs_fail(const char *file, int error);

/** Makes the nth write, creation or removal from now on fail, 1 being the next. 0: none. */
void fake_tracefs_fail_nth(unsigned nth, int error);

/** Whether that call has failed. */
bool fake_tracefs_failed(void);

/** The calls since the last call of this, a line each: "osnoise/cpus=0-1\n", "+instances/x\n",
 * "-instances/x\n". Valid until the next call. */
const char *fake_tracefs_log(void);

/** Appends raw pages to an instance's trace_pipe_raw of a CPU. */
void fake_tracefs_add_pages(const char *instance, unsigned cpu, const void *pages, size_t size);

#endif
