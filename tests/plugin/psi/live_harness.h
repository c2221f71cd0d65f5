/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/live_harness.h - what tests of the plugin psi on the running kernel share, in addition
 * to plugin_harness.h: cgroups made for a test, which the plugin selects.
 */
#ifndef HEADROOM_TESTS_PLUGIN_PSI_LIVE_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_PSI_LIVE_HARNESS_H

#include "support/plugin_harness.h"

#include "support/groups.h"

/** The values of a group in its first read, and in later ones. */
#define FIRST 6
#define LATER 12

/** The groups of the running test. */
extern struct groups *groups;

/** A test case, each test of which has groups and the plugin. */
TCase *live_new_tests(const char *name);

/** Begins, with all of these groups, named "live." and their name. */
void live_begin(void);

/** Runs the test case, or says why it is skipped; where all is required it fails instead of being
 * skipped. @return as run_suite(). */
int live_run(const char *name, TCase *tests);

#endif
