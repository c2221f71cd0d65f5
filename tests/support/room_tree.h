/* SPDX-License-Identifier: MIT */
/*
 * support/room_tree.h - a tree of files with what the room of groups is computed from.
 */
#ifndef HEADROOM_TESTS_SUPPORT_ROOM_TREE_H
#define HEADROOM_TESTS_SUPPORT_ROOM_TREE_H

#include "support/tree.h"

#define MIB 1048576ull

/** Rewrites a file of a group. */
void room_tree_write(struct tree *tree, const char *group, const char *file, const char *text);

/** Rewrites a group's memory: anonymous, and as much of active and of inactive files. */
void room_tree_memory(struct tree *tree, const char *group, unsigned anon_mib, unsigned file_mib);

/** Rewrites a group's cpu.stat. */
void room_tree_cpu(struct tree *tree, const char *group, uint64_t used_us, unsigned periods,
                   unsigned throttled, uint64_t throttled_us);

/** Rewrites /proc/stat and /proc/meminfo: two CPUs, each busy for so many seconds; 1,000 MiB, of
 * which 300 are available, and 100 MiB of swap space. */
void room_tree_machine(struct tree *tree, unsigned first_s, unsigned second_s,
                       unsigned swap_free_mib);

/** Makes a group with 100 MiB of anonymous memory, 40 of files, no limits, and 3 killed processes.
 */
void room_tree_add_group(struct tree *tree, const char *group);

#endif
