/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/fake_blame.h - a stand-in for libbpf: maps in memory, and no program.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_BLAME_FAKE_BLAME_H
#define HEADROOM_TESTS_COLLECTORS_BLAME_FAKE_BLAME_H

#include "blame/calls.h"

#define FAKE_ENTRIES 64

struct fake_map {
    size_t key_size, value_size, most, count;
    char keys[FAKE_ENTRIES][16], values[FAKE_ENTRIES][24];
};

/** One for each test: set up by fake_blame_new(). */
struct fake_blame {
    struct fake_map maps[BLAME_MAP_COUNT];
    struct blame_settings settings;
    int load_error, attach_error, copy_error;
    size_t loaded, attached, detached, lasting_counted; /**< how often */
    uint64_t lasting_unsplit_ns; /**< of the waits that last, each time that they are counted */
};

extern struct fake_blame fake_blame;

extern const struct hr_blame_calls fake_blame_calls;

/** Empties the maps, and clears the errors. */
void fake_blame_new(void);

/** The number of a watched group in cells; 0: it isn't watched. */
uint32_t fake_blame_number(uint64_t id);

/** Whether the waits of a group are measured. */
bool fake_blame_is_measured(uint64_t id);

/** Sets a cell, as the programs do. */
void fake_blame_set(uint32_t waiter, uint32_t taker, uint64_t ns);

/** Adds to a cell, as the programs do: lost if there is no room. */
void fake_blame_add(uint32_t waiter, uint32_t taker, uint64_t ns);

#endif
