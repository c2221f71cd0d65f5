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

#endif
