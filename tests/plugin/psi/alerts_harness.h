/*
 * alerts_harness.h - what tests of the alerts of the plugin psi share, on top of plugin_harness.h:
 * the pressure of a tree grows while the plugin's thread reads it, and notifications come by and
 * by.
 */
#ifndef HEADROOM_TESTS_PLUGIN_PSI_ALERTS_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_PSI_ALERTS_HARNESS_H

#include "support/plugin_harness.h"

/** How long is waited for what has to come, however busy the machine is. */
#define ALERTS_PATIENCE_MS 10000

/** Begins as harness_set_up() does; the end is harness_tear_down(). */
void alerts_set_up(void);

/* --- Pressure; a group of NULL is the system -------------------------------- */

/** Makes a pressure file, which can grow. The plugin must not watch it yet. */
void alerts_prepare(const char *group, const char *resource);

/** Makes a group whose memory pressure can grow, and that has processes only when it is whole. */
void alerts_add_group(const char *group, bool populated);

/** Lets a total grow by so much, or more if another has grown meanwhile. */
void alerts_stall(const char *group, const char *resource, uint64_t stalled_us);

/* --- What came of it --------------------------------------------------------- */

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

/* --- What a notification says ------------------------------------------------ */

/** A piece of metadata; NULL if there is none of that name. */
const notification_meta_t *alerts_meta(const notification_t *notice, const char *name);

/** How many pieces there are. */
size_t alerts_count_meta(const notification_t *notice);

/** A piece that has to be there, and be a text, or a double. */
const char *alerts_meta_text(const notification_t *notice, const char *name);
double alerts_meta_number(const notification_t *notice, const char *name);

/** Asserts that a text is in the message. */
void alerts_assert_message(const notification_t *notice, const char *part);

#endif
