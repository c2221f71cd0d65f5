/* SPDX-License-Identifier: MIT */
/*
 * plugin/headroom/headroom_harness.h - common parts of the tests of the plugin headroom, on top of
 * plugin_harness.h: a tree with a machine and the group "a", neither of which used anything, and a
 * clock that stands still.
 */
#ifndef HEADROOM_TESTS_PLUGIN_HEADROOM_HEADROOM_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_HEADROOM_HEADROOM_HARNESS_H

#include "support/plugin_harness.h"

#include "headroom/clock.h"
#include "support/frozen_clock.h"
#include "support/room_tree.h"

/** What the clock says when a test begins. */
#define BEGUN_NS (1000 * HR_NS_PER_S)

/** Fixture. */
void headroom_set_up(void);
void headroom_tear_down(void);

/** Lets an interval pass, and reads. */
void headroom_pass(unsigned seconds);

/** Has the group "a" use so much memory that can't be dropped, for so many intervals of 10 s. */
void headroom_use_memory(unsigned mib, unsigned intervals);

/** How many notifications of a severity there were. */
size_t headroom_count_notices(int severity);

/** Waits for the so many-th notification of a severity: another thread dispatches them, and an end
 * waits a second for its handlers, so that the clock goes on. */
const notification_t *headroom_await_notice(int severity, size_t number);

/** Asserts that a notification's message has a text in it. */
void headroom_assert_says(const notification_t *notice, const char *text);

#endif
