/* SPDX-License-Identifier: MIT */
/*
 * support/plugin_harness.h - set-up and tear-down of all tests of a plugin: the plugin in the
 * stand-in daemon, over a tree of files.
 */
#ifndef HEADROOM_TESTS_SUPPORT_PLUGIN_HARNESS_H
#define HEADROOM_TESTS_SUPPORT_PLUGIN_HARNESS_H

#include "support/fake_collectd.h"

#include <check.h>

#include "support/tree.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/** The plugin under test; each program defines it. */
extern const char *const harness_plugin;

/** The tree of the running test. */
extern struct tree *tree;

/** Makes the tree and opens the plugin. */
void harness_set_up(void);

/** Shuts down the plugin and removes the tree; asserts that no value was rejected, no text cut off,
 * no descriptor left open, and that each logged line is a sentence with the plugin's name; that
 * lines and notifications are safe to show. */
void harness_tear_down(void);

/** Configures the plugin, by the lines within its block, to read the tree, and initializes it. */
void harness_begin(const char *options);

/** The same for the live machine's "/". */
void harness_begin_live(const char *options);

/** Reads once; asserts that the callback returns 0, as it must. */
void harness_read(void);

/** Lets real time pass; shares of an interval are of real time. */
void harness_sleep(unsigned milliseconds);

/** The number published under an identifier; asserts that it is there. */
double harness_number(const char *identifier);

/** Asserts that so many values of the last read match a pattern of fnmatch(3). */
#define harness_assert_count(pattern, count) ck_assert_uint_eq(fake_count(pattern), count)

/** Asserts that so many lines were logged since the last call, each containing a text; forgets
 * them. */
void harness_assert_logs(size_t count, const char *containing);

/** Asserts that the plugin's shared object exports module_register and nothing else. */
void harness_assert_exports_one_symbol(void);

/** Opens so many descriptors that the plugin keeps no more files open. */
void harness_run_short_of_descriptors(void);

/** Closes them. */
void harness_release_descriptors(void);

/** @return metadata of a notification, by their name; NULL: it has none. */
const notification_meta_t *harness_find_meta(const notification_t *notice, const char *name);

#endif
