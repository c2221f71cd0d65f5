/* SPDX-License-Identifier: MIT */
/*
 * collectors/cgroup/set_harness.h - a set of the cgroups of a tree of files, and the events that it
 * reports.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_CGROUP_SET_HARNESS_H
#define HEADROOM_TESTS_COLLECTORS_CGROUP_SET_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#include "headroom/cgroup.h"
#include "headroom/root.h"
#include "support/tree.h"

/* The events as one line: "+a ^a" for added and populated, "va -a" for emptied and removed. */
extern char story[4096];

extern struct tree *tree;
extern struct hr_root *root;
extern struct hr_cgroup_set *set; /* NULL, or closed by tear_down() */

/* The fixture of each test. */
void set_up(void);
void tear_down(void);

/* Opens a set, whose events go to the story. @param exclude  may be NULL. */
void open_set(const char *const *patterns, size_t count, const char *exclude, size_t max,
              uint64_t rescan_ns);

/* For hr_cgroup_options of a test's own; the context is the story. */
void record_event(struct hr_cgroup *group, enum hr_cgroup_event event, void *context);

/* Opens a set of one pattern and reads it. */
void follow_groups(const char *pattern);

/* Reads the set, which must succeed. */
void read_set(void);

/* That the story is this; it begins again. */
void assert_story(const char *expected);

/* That the counts are these, and hr_cgroup_set_next() agrees with them. */
void assert_counts(size_t selected, size_t populated, size_t excess);

#endif
