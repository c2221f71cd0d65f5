/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/alerts_harness.h - what tests of the alerts of the plugin psi share, in addition to
 * plugin_harness.h: the pressure of a tree grows while the plugin's thread reads it, and
 * notifications come later.
 */
#ifndef HEADROOM_TESTS_PLUGIN_PSI_ALERTS_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_PSI_ALERTS_HARNESS_H

#include "support/plugin_harness.h"

/** A rule whose window is long enough for a busy machine, and short enough for a test. */
#define WINDOW_MS 500
#define RULE(name, more)                                                                           \
    "<Trigger \"" name                                                                             \
    "\">\nResource \"memory\"\nStall 0.2\nWindow 0.5\nMode \"poll\"\nQuiet 1\n" more               \
    "\n</Trigger>\n"
#define OF_GROUPS "Scope \"cgroups\"\n"
#define LASTING   OF_GROUPS "Quiet 1000\n" /**< an alarm doesn't end by itself */

/** How much a stall adds to the total: enough to be reported even if the thread, on a busy machine,
 * reads it seconds later, as the time beyond the window is subtracted. */
#define STALL_US 9000000

/** How long RULE()'s quiet time is. */
#define QUIET_MS 1000

/** How long to wait for what must come, also on a busy machine. */
#define ALERTS_PATIENCE_MS 50000

/** Calls harness_set_up(), with pressure at its start; the counterpart is harness_tear_down(). */
void alerts_set_up(void);

/* --- Pressure; a group of NULL is the system -------------------------------- */

/** Makes a pressure file whose total can grow. The plugin must not have it open yet. */
void alerts_prepare(const char *group, const char *resource);

/** Makes a group whose memory pressure can grow; it is populated only when it is complete. */
void alerts_add_group(const char *group, bool populated);

/** Makes a total grow by so much, or more if another has grown meanwhile. */
void alerts_stall(const char *group, const char *resource, uint64_t stalled_us);

/** Sets the total of a group that stalls all the time. */
void alerts_stall_always(const char *group, const char *resource, uint64_t stalled_us);

/** Sets the total of a group that stalled for most of five minutes, but not in the last ten
 * seconds, and for so much of the last minute. */
void alerts_stall_until_lately(const char *group, const char *resource, uint64_t stalled_us,
                               double avg60_pct);

/** Sets the total to so much more than alerts_prepare() did. */
void alerts_set_growth(const char *group, const char *resource, uint64_t us);

/** Sets the total of a group that was made just now. */
void alerts_set_total(const char *group, const char *resource, uint64_t us);

/** Stalls, at least so many times as the counter of the trigger "m" must have, for at least a time.
 * @param instance  of the group. */
void alerts_stall_for(const char *instance, const char *group, int events, uint64_t least_ms);

/* --- Notifications and values --------------------------------------------- */

/** How many notifications there are of an instance (NULL: any), with a severity. */
size_t alerts_count(const char *instance, int severity);

/** Waits until there are so many. @return the last of them. */
const notification_t *alerts_await(const char *instance, int severity, size_t number);

/** Reads until so many values match a pattern of fnmatch(3). */
void alerts_await_count(const char *pattern, size_t count);

/** Reads until a value is published, or no longer. */
void alerts_await_value(const char *identifier, bool there);

/** A clock, in milliseconds. */
uint64_t alerts_now_ms(void);

/* --- Content of a notification -------------------------------------------- */

/** A piece of metadata; NULL if there is none of that name. */
const notification_meta_t *alerts_meta(const notification_t *notice, const char *name);

/** How many pieces there are. */
size_t alerts_count_meta(const notification_t *notice);

/** A piece that must be there, as a text or a double. */
const char *alerts_meta_text(const notification_t *notice, const char *name);
double alerts_meta_number(const notification_t *notice, const char *name);

/** Asserts that a text is in the message. */
void alerts_assert_message(const notification_t *notice, const char *part);

#endif
