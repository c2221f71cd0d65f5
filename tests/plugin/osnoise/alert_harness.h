/* SPDX-License-Identifier: MIT */
/*
 * plugin/osnoise/alert_harness.h - the alert of the plugin osnoise, over the stand-in for the
 * dispatcher: readings for it, and what it notifies of.
 */
#ifndef HEADROOM_TESTS_PLUGIN_OSNOISE_ALERT_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_OSNOISE_ALERT_HARNESS_H

#include "support/fake_collectd.h"

#include <check.h>

#include "osnoise/alert.h"
#include "support/tree.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

extern struct osnoise_alert *alert;

/** Of the next restart_alert(): a FAILURE above 50 us, a minute, and no time to claim alarms. */
extern struct osnoise_alert_options alert_options;

/** CPUs 3, 4 and 8191, with the file "state" in the tree. */
extern struct hr_osnoise_options measured;

/** What readings have of what was recorded; NULL, as at first: nothing. And something. */
extern const struct hr_osnoise_traces *alert_traces;
extern const struct hr_osnoise_traces *const alert_traces_there;

extern struct tree *tree;

/** Fixture. */
void alert_set_up(void);
void alert_tear_down(void);

/** Closes it, and opens it as a new run of collectd does. */
void restart_alert(void);

/** Metadata of a notification: an entry, or NULL; and of a type, which it must have. */
const notification_meta_t *meta(const notification_t *notice, const char *name);
double meta_double(const notification_t *notice, const char *name);
uint64_t meta_count(const notification_t *notice, const char *name);
const char *meta_text(const notification_t *notice, const char *name);

/** A second of CPUs 3, 4 and 8191, with so many samples of each, and single noises. */
void take_as(enum hr_osnoise_cpu_state state, uint64_t samples,
             const struct hr_osnoise_single_noise *single_noises, size_t count);

/** The same with a sample. */
void take(const struct hr_osnoise_single_noise *single_noises, size_t count);

/** The same with one single noise. */
void take_one(unsigned cpu, uint64_t duration_us);

/** Seconds without a noise; within a period: no sample comes. */
void pass(int seconds);
void pass_in_period(int seconds);

/** The last notification. */
const notification_t *last(void);

#endif
