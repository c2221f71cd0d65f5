/* SPDX-License-Identifier: MIT */
/*
 * plugin/osnoise/life_harness.h - the plugin osnoise in the stand-in daemon, over a stand-in for
 * tracefs with two CPUs, and what a kernel recorded; on top of plugin_harness.h.
 */
#ifndef HEADROOM_TESTS_PLUGIN_OSNOISE_LIFE_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_OSNOISE_LIFE_HARNESS_H

#include "support/plugin_harness.h"

/** The file of the tracer's settings, in the tree. */
#define STATE "headroom-osnoise.state"

/** The tree has no threads of the kernel that could get another priority, which the first reading
 * would log. */
#define WITHOUT_THREADS "Priority \"o:0\"\n"

/** Only the recorded samples come: that is logged after three periods, of a second at least. */
#define PERIOD   "Period 1000\n" WITHOUT_THREADS
#define WORKLOAD "CPUs \"1\"\nThreshold 0.00002\n" PERIOD

/** Logged of the recorded page, behind its values. */
#define LOST " were overwritten before they were read: "

/** The tracer's settings before a test: cpus, period_us, runtime_us, … */
#define SETTINGS 8
extern char original[SETTINGS][256];

/** Has each test begin with a tracefs of its own. */
void add_life_fixture(TCase *tests);

/** Opens the plugin once more, after fake_shutdown(), as a new run of collectd does. */
void start_again(void);

bool tree_has(const char *file);

/** All settings but one are as they were; NULL: all. */
void assert_restored(const char *except);

void await_log(size_t count, const char *containing);

void await_value(const char *identifier);

/** It comes behind the values of its reading. */
void await_notification(void);

/** A path within the instance of a process. */
const char *in_instance_of(pid_t pid, const char *file);

/** The tracer runs; it's the last thing to be set. */
void await_run(pid_t pid);

/** Its samples are recorded; it has no tracer. */
void await_attached(void);

/** Of CPU 1, in the instance of this process. */
void add_recorded_page(void);
void set_recorded_tables(void);

#endif
