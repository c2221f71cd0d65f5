/* SPDX-License-Identifier: MIT */
/*
 * blame/calls.h - libbpf's calls: the BPF programs, and their maps.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_CALLS_H
#define HEADROOM_COLLECTORS_BLAME_CALLS_H

#include <linux/types.h>
#include <stddef.h>

#include "blame/shared.h"
#include "headroom/blame.h"

/** The programs' maps that this side reads or writes, see blame/state.bpf.h. */
enum blame_map {
    BLAME_MAP_CONTROL, /**< 0 → struct blame_control */
    BLAME_MAP_STATUS,  /**< 0 → struct blame_status */
    BLAME_MAP_WATCHED, /**< id of a cgroup → its number, __u32, with BLAME_MEASURED or not */
    BLAME_MAP_CELLS,   /**< struct blame_key → nanoseconds, __u64 */
    BLAME_MAP_NAMES,   /**< tid → struct blame_name */
    BLAME_MAP_COUNT
};

/** The most entries of each map. */
struct blame_sizes {
    size_t entries[BLAME_MAP_COUNT];
};

/** The calls return 0 or a negative errno. An object is what load() returned. */
struct hr_blame_calls {
    int (*load)(const struct blame_settings *settings, const struct blame_sizes *sizes,
                void **object);
    void (*unload)(void *object);
    int (*attach)(void *object);
    void (*detach)(void *object);
    int (*lookup)(void *object, enum blame_map map, const void *key, void *value);
    int (*update)(void *object, enum blame_map map, const void *key, const void *value);
    int (*remove)(void *object, enum blame_map map, const void *key);
    /** Counts waits that last until now; while it is attached. */
    int (*count_lasting)(void *object);
    /** Copies all entries of a map. @param count  receives how many; keys and values have room for
     * the map's size. */
    int (*copy)(void *object, enum blame_map map, void *keys, void *values, size_t *count);
};

/** Those of libbpf, for the running kernel. */
extern const struct hr_blame_calls hr_blame_kernel_calls;

#endif
