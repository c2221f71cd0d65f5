/* SPDX-License-Identifier: MIT */
/*
 * osnoise/run_harness.h - what tests of runs of the osnoise tracer share: a run over a stand-in for
 * tracefs, on a machine of four CPUs, on all of which threads can run. Any error in here fails the
 * test.
 *
 * For programs linked with --wrap=hr_osnoise_find_reachable_cpus.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_OSNOISE_RUN_HARNESS_H
#define HEADROOM_TESTS_COLLECTORS_OSNOISE_RUN_HARNESS_H

#include <check.h>

#include "headroom/osnoise.h"
#include "headroom/root.h"
#include "support/tree.h"

/** Of the current test; those that the collector takes for its results are empty at first. */
extern struct tree *tree;
extern struct hr_root *root;
extern struct hr_reason reason;
extern struct hr_osnoise *osnoise;
extern struct hr_osnoise_reading reading;

/** The CPUs on which threads were run last, to find whether they can. */
extern struct hr_cpu_set tested_cpus;

/** Those of them on which they can't, in the next run. */
extern struct hr_cpu_set occupied_cpus;

/** The path of the state file, and the trace instance below tracefs that find_instance() found;
 * "" at first. */
extern char state_path[256], instance[96];

/** The settings before the run, as list_settings() lists them. */
extern char settings_before[4096];

/** A test case, each test of which has all this. */
TCase *new_run_tests(const char *name);

/* --- The run -------------------------------------------------------------- */

/** Good options: 10 ms in each second, a threshold of 1 us, no singles, no sources. @param cpus  as
 * hr_cpu_choice_parse() takes them; "": all. */
struct hr_osnoise_options options_of(enum hr_osnoise_mode mode, const char *cpus);

/** Opens `osnoise`. */
void open_run(const struct hr_osnoise_options *options);

/** Finds the instance of a process's run. */
void find_instance(pid_t pid);

/** Opens it, begins and finds its instance. */
void begin_run(const struct hr_osnoise_options *options);

/** Likewise, with options_of(). */
void begin_mode(enum hr_osnoise_mode mode, const char *cpus);

/** Reads into `reading`. */
void read_run(void);

/* --- Other runs ----------------------------------------------------------- */

/** Locks an instance, as the process of another run has it. @return a descriptor: closing it
 * releases the lock. */
int lock_instance(const char *name);

/* --- What it has done ----------------------------------------------------- */

/** All settings of the tracer that a run may change, a line each. Valid until the next call. */
const char *list_settings(void);

/** The contents of a file of our instance. */
const char *instance_file(const char *file);

/** Asserts that the settings are those before the run, and neither instance nor state is left. */
void assert_restored(void);

/** Asserts the error in `reason`, and that a text is in its text. */
void assert_reason(int error, const char *part);

#endif
