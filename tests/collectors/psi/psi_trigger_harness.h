/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/psi_trigger_harness.h - a trigger on the memory pressure of a tree, by a clock
 * that stands still until a test moves it. To be linked with --wrap of clock_gettime().
 */
#ifndef HEADROOM_TESTS_COLLECTORS_PSI_PSI_TRIGGER_HARNESS_H
#define HEADROOM_TESTS_COLLECTORS_PSI_PSI_TRIGGER_HARNESS_H

#include <check.h>
#include <stdint.h>

#include "headroom/psi_trigger.h"
#include "headroom/root.h"
#include "support/tree.h"

#define SECOND 1000000

/** A window that doesn't end during a test, however busy the machine is. */
#define LONG (10 * SECOND)

/** The initial total. */
#define BEGINNING UINT64_C(5000000000)

extern uint64_t clock_us; /**< the collector's clock */
extern struct tree *tree;
extern struct hr_root *root;
extern struct hr_psi_trigger *trigger; /**< closed after each test */
extern uint64_t total_us;              /**< of the system's memory, some; full has half of it */

/** Has each test begin with a new tree. */
void add_trigger_fixture(TCase *tests);

int open_trigger(enum hr_psi_trigger_mode mode, uint64_t stall_us, uint64_t window_us);

void begin_polling(uint64_t stall_us, uint64_t window_us);

void add_stall(uint64_t stalled_us);

int read_trigger(struct hr_psi_event *event);

void sleep_ms(unsigned milliseconds);

/** Reads, and expects no event. */
void assert_quiet(uint32_t events);

void wait_until_due(void);

/** Adds a stall before each read until there is an event, which must come. */
void grow_until_event(uint64_t stalled_us, struct hr_psi_event *event);

#endif
