/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf_event/perf_event_harness.h - common parts of the tests of headroom/perf_event.h:
 * a tree with the PMUs of a machine, and looking up events there.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_PERF_EVENT_PERF_EVENT_HARNESS_H
#define HEADROOM_TESTS_COLLECTORS_PERF_EVENT_PERF_EVENT_HARNESS_H

#include <check.h>

#include "collectors/perf_event/event_source.h"
#include "headroom/perf_event.h"
#include "headroom/root.h"
#include "support/tree.h"

/* Machines of tests/fixtures/event_source. */
#define SKYLAKE    "5.10-x86-skylake-uncore"
#define ZEN        "5.10-x86-zen-event-split"
#define ALDER_LAKE "6.1-x86-alder-lake-hybrid"
#define BIG_LITTLE "6.1-arm-big-little"
#define NO_PMU     "6.18-x86-vm-no-pmu"

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

extern struct tree *tree;
extern struct hr_root *root;
extern struct hr_perf_vocabulary *vocabulary;
extern struct hr_perf_event *event;      /* the result of find_event() */
extern struct hr_perf_event_error error; /* the last error */

/* A test case that creates and frees the above, in which libpfm4 knows the events of all CPUs. */
TCase *perf_event_tests(void);

/* Opens the vocabulary, after adding the PMUs of a machine (NULL: none). */
void open_vocabulary(const char *machine);

/* Calls hr_perf_event_find(). */
int find_event(const char *text);

/* Calls it, and asserts that it succeeds, */
void assert_found(const char *text);

/* or that it fails and leaves the event alone. */
void assert_error(const char *text, int status, const char *reason);

#endif
