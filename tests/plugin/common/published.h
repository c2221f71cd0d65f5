/* SPDX-License-Identifier: MIT */
/*
 * plugin/common/published.h - which groups the last read of a plugin has published.
 */
#ifndef HEADROOM_TESTS_PLUGIN_COMMON_PUBLISHED_H
#define HEADROOM_TESTS_PLUGIN_COMMON_PUBLISHED_H

#include <stddef.h>

/** All values of a group of psi in its first read, and in later ones. */
#define FIRST 6
#define LATER 12

/** How many values of the last read have an instance. */
size_t count_of(const char *instance);

void assert_instance(const char *instance, size_t count);

/** The first instance of the last read that isn't the system's. */
const char *only_instance(void);

/** Adds groups "PREFIX0000", "PREFIX0001", ..., with processes. */
void add_groups(const char *prefix, int count);

#endif
