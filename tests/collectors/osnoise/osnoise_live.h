/* SPDX-License-Identifier: MIT */
/*
 * osnoise/osnoise_live.h - what tests of the osnoise tracer on the running kernel share: direct
 * access to the kernel's files, and a run of the collector.
 *
 * The settings of the tracer are for the whole machine, and the tests change them as other programs
 * would: run them in the emulated machine only.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_OSNOISE_OSNOISE_LIVE_H
#define HEADROOM_TESTS_COLLECTORS_OSNOISE_OSNOISE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/osnoise.h"
#include "headroom/root.h"

#define LIVE_STATE_PATH "/run/headroom-test.osnoise"

/* --- The kernel's files --------------------------------------------------- */

/** Reads a file, by its path below tracefs or its absolute one; fails if it can't be read. */
void live_get(const char *file, char *text, size_t size);

/** Writes a text with one write(2). @return 0 or the negative errno. */
int live_try(const char *file, const char *text);

/** Likewise, and fails if that fails. */
void live_set(const char *file, const char *text);

/** Whether a file's text has a word, such as an option's name. */
bool live_has_word(const char *file, const char *word);

#define LIVE_LISTING 16384

/** Lists all that a run must leave as it was: every file of osnoise/, tracing_thresh,
 * current_tracer, tracing_on and the instances. A line each. */
void live_list(char listing[LIVE_LISTING]);

/** How many threads of the workload there are: those named osnoise/N or timerlat/N. */
unsigned live_count_workers(void);

/** Whether a thread osnoise/N runs for a CPU. */
bool live_has_worker(unsigned cpu);

/** Creates an instance as another program, with a tracer; "nop" for none. */
void live_instance_make(const char *name, const char *tracer);

/** Removes it, which ends its tracer. */
void live_instance_remove(const char *name);

void live_sleep_ms(uint64_t ms);
uint64_t live_now_ns(void);

/* --- A run ---------------------------------------------------------------- */

struct live {
    struct hr_root *root;
    struct hr_osnoise_options options; /**< see live_set_up(); change them before live_open() */
    struct hr_osnoise *osnoise;        /**< NULL: not open */
    struct hr_osnoise_reading reading;
    uint64_t read_ns;  /**< when live_begin() or live_read() was last called */
    uint64_t since_ns; /**< from the call before until the last live_read() had returned: all that
                          can have been read; elapsed_ns ends before the kernel's tables are read */
    struct hr_reason reason;
    char before[LIVE_LISTING]; /**< as it was when the test began */
};

/** A test's. */
extern struct live live;

/** Whether tests of a mode can run here; if not, prints so as TAP. */
bool live_can_run(enum hr_osnoise_mode mode);

/** Puts the tracer to its defaults, whatever a test before has left. The options are those of the
 * workload on CPUs 0 and 1, for 0.1 s of each 0.2 s. */
void live_set_up(void);

/** Closes, and compares what is left with live.before. */
void live_tear_down(void);

void live_assert_restored(void);

/** "0-1" */
void live_choose_cpus(const char *list);

void live_open(void);

/** Opens and begins; fails with the reason. */
void live_begin(void);

/** Reads; fails with the reason. */
void live_read(void);

/** Ends; fails with the reason. */
void live_end(void);

/** A CPU's row in the reading; fails if it has none. */
const struct hr_osnoise_cpu *live_cpu(unsigned cpu);

#endif
