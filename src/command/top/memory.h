/* SPDX-License-Identifier: MIT */
/*
 * top/memory.h - the memory that the groups of this machine have, and their limits, beside what
 * collectd has of them.
 *
 * Read from the cgroups themselves, so only of groups whose name is that of their path or of their
 * container, and of the host that we run on, if that has the same name in collectd.
 */
#ifndef HEADROOM_COMMAND_TOP_MEMORY_H
#define HEADROOM_COMMAND_TOP_MEMORY_H

#include "top/table.h"

struct hr_root;
struct memory_reader;

/**
 * @param root      must outlive the reader.
 * @param host      this machine's name, see gethostname(2).
 * @param runtimes  whose names containers have, as of hr_container_names_open().
 * @param reader    the caller ends it with memory_close(); untouched on failure.
 * @return 0 or -ENOMEM.
 */
int memory_open(const struct hr_root *root, const char *host, unsigned runtimes,
                struct memory_reader **reader);

/** NULL is allowed. */
void memory_close(struct memory_reader *reader);

/**
 * Sets the columns of a table that are read here. What can't be read, or isn't a group's only
 * name, stays absent. Limits are read again every ten seconds.
 *
 * It takes 5 microseconds a row, and 10 for each level of its path when limits are read; the first
 * call finds all groups of the machine.
 */
void memory_fill(struct memory_reader *reader, struct table *table);

/** @return whether a host of collectd is this machine. */
bool memory_is_of(const struct memory_reader *reader, const char *host);

/** What has become of a group. */
enum group_state {
    GROUP_UNKNOWN,
    GROUP_GONE,  /**< there is no such cgroup */
    GROUP_EMPTY, /**< no process is in it */
    GROUP_THERE  /**< with processes, or too many groups have some to know of each */
};

/**
 * Finds what has become of a group, as of the last memory_fill(). Only in cgroup2.
 *
 * @param path  one that memory_find_path() has returned before; "": not known, then a group that
 *              is there is found by its name, if no other has that.
 */
enum group_state memory_find_state(const struct memory_reader *reader, const char *host,
                                   const char *instance, const char *path);

/** @return the path of the group with processes that has this name in series by it; NULL: it isn't
 * known. Valid until the next memory_fill(). */
const char *memory_find_path(const struct memory_reader *reader, const char *host,
                             const char *instance);

/**
 * Describes which cgroups there are, for a table that has none: "there are: system.slice,
 * user.slice".
 *
 * @param text  receives it, safe to show; "" if they can't be listed, or the table is of other
 * hosts.
 */
void memory_describe_groups(const struct memory_reader *reader, const struct table *table,
                            char *text, size_t size);

#endif
